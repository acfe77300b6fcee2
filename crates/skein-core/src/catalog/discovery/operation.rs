//! Turns one operation of an OpenAPI document into the draft of a tool.

use serde_json::{Map, Value, json};

use crate::catalog::discovery::DocumentOperation;
use crate::catalog::discovery::inlined_schema::{Inliner, target};
use crate::catalog::entry::Description;
use crate::catalog::operation::Operation;
use crate::catalog::placeholder::is_variable_name;
use crate::catalog::tool::{self, ToolDraft};

/// The input that holds a request's body.
const BODY: &str = "body";
/// Methods whose body, if one is described, means nothing.
const WITHOUT_BODY: [&str; 3] = ["get", "head", "options"];
/// Header parameters that OpenAPI describes elsewhere.
const DESCRIBED_ELSEWHERE: [&str; 3] = ["accept", "content-type", "authorization"];

impl DocumentOperation<'_> {
    /// The tool it becomes, or why it cannot be one.
    pub(super) fn to_tool(&self, document: &Value, blank: &ToolDraft) -> Result<ToolDraft, String> {
        let mut making = DraftedOperation::new(self, Inliner::new(document));
        for parameter in self.parameters(document) {
            making.take_parameter(parameter)?;
        }
        if let Some(body) = self.operation.get("requestBody").filter(|_| !WITHOUT_BODY.contains(&self.method)) {
            making.take_body(target(document, body))?;
        }
        let output_schema = making.take_answer(self.answer(document));
        let draft = ToolDraft {
            description: self.description(),
            operation: Some(making.operation()),
            input_schema: Some(making.input_schema()),
            output_schema: Some(output_schema),
            ..blank.clone()
        };
        check(&draft)?;
        Ok(draft)
    }

    /// The path's parameters, and the operation's own in their place where both describe the same one.
    fn parameters<'a>(&'a self, document: &'a Value) -> Vec<&'a Value> {
        let listed = |of: &'a Value| of.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let key = |parameter: &Value| (parameter.get("in").cloned(), parameter.get("name").cloned());
        let own: Vec<&Value> = listed(self.operation).map(|parameter| target(document, parameter)).collect();
        let inherited = listed(self.item).map(|parameter| target(document, parameter));
        let is_replaced = |parameter: &&Value| own.iter().any(|own| key(own) == key(parameter));
        inherited.filter(|parameter| !is_replaced(parameter)).chain(own.iter().copied()).collect()
    }

    /// The answer of the best case.
    fn answer<'a>(&'a self, document: &'a Value) -> Option<&'a Value> {
        let responses = self.operation.get("responses")?.as_object()?;
        let success = responses.iter().find(|(status, _)| status.starts_with('2'));
        let answer = success.map(|(_, answer)| answer).or_else(|| responses.get("default"))?;
        Some(target(document, answer))
    }

    fn description(&self) -> Option<Description> {
        let text = |field: &str| self.operation.get(field).and_then(Value::as_str).map(str::trim);
        let texts: Vec<&str> = ["summary", "description"].into_iter().filter_map(text).collect();
        let whole = texts.join("\n\n");
        (!whole.is_empty()).then(|| Description::shorten(&whole))
    }
}

/// A call and its inputs, as far as they are known.
struct DraftedOperation<'a> {
    inliner: Inliner<'a>,
    call: Map<String, Value>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    inputs: Map<String, Value>,
    required: Vec<String>,
}

impl<'a> DraftedOperation<'a> {
    fn new(found: &DocumentOperation<'_>, inliner: Inliner<'a>) -> Self {
        let call = json!({ "type": "rest_call", "method": found.method.to_uppercase(), "path": found.path });
        let Value::Object(call) = call else { unreachable!("a call is an object") };
        let (query, headers, inputs) = (Map::new(), Map::new(), Map::new());
        Self { inliner, call, query, headers, inputs, required: Vec::new() }
    }

    fn take_parameter(&mut self, parameter: &Value) -> Result<(), String> {
        let text = |field: &str| parameter.get(field).and_then(Value::as_str).unwrap_or_default();
        let (place, name) = (text("in"), text("name"));
        let is_required = parameter.get("required") == Some(&Value::Bool(true));
        if place == "header" && DESCRIBED_ELSEWHERE.contains(&name.to_ascii_lowercase().as_str()) {
            return Ok(());
        }
        if !["path", "query", "header"].contains(&place) {
            return if is_required { Err(format!("the parameter {name} stands in {place}")) } else { Ok(()) };
        }
        let schema = parameter.get("schema").or_else(|| media(parameter).map(|(_, schema)| schema));
        let mut schema = self.inliner.inline(schema.unwrap_or(&Value::Bool(true)));
        describe(&mut schema, text("description"));
        let input = self.declare(name, schema, is_required || place == "path");
        let value = Value::String(format!("{{{{{input}}}}}"));
        match place {
            "path" => self.fill_path(name, &input)?,
            "query" => _ = self.query.insert(name.to_owned(), value),
            _ => _ = self.headers.insert(name.to_owned(), value),
        }
        Ok(())
    }

    fn fill_path(&mut self, name: &str, input: &str) -> Result<(), String> {
        let path = self.call["path"].as_str().unwrap_or_default();
        let place = format!("{{{name}}}");
        if !path.contains(&place) {
            return Err(format!("the path has no place for {name}"));
        }
        let filled = path.replace(&place, &format!("{{{{{input}}}}}"));
        self.call.insert("path".to_owned(), Value::String(filled));
        Ok(())
    }

    /// Declares an input for something of this name and says what it is called.
    fn declare(&mut self, name: &str, schema: Value, is_required: bool) -> String {
        let stem = variable_name(name);
        let numbered = (2..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let input = names.find(|name| !self.inputs.contains_key(name)).expect("numbers do not run out");
        self.inputs.insert(input.clone(), schema);
        if is_required {
            self.required.push(input.clone());
        }
        input
    }

    fn take_body(&mut self, body: &Value) -> Result<(), String> {
        let is_required = body.get("required") == Some(&Value::Bool(true));
        let Some((media_type, schema)) = media(body) else {
            return if is_required { Err("its body is neither JSON nor text nor a form".to_owned()) } else { Ok(()) };
        };
        let format = body_format(media_type).expect("only such media are chosen");
        let schema = self.inliner.inline(schema);
        let input = self.declare(BODY, schema, is_required);
        self.call.insert(BODY.to_owned(), Value::String(format!("{{{{{input}}}}}")));
        self.call.insert("bodyFormat".to_owned(), json!(format));
        if format == "json" && media_type != "application/json" {
            self.headers.insert("content-type".to_owned(), json!(media_type));
        }
        Ok(())
    }

    /// The schema of the answer's body; what is not described may be anything.
    fn take_answer(&mut self, answer: Option<&Value>) -> Value {
        match answer.and_then(media) {
            Some((media_type, schema)) if body_format(media_type) == Some("json") => self.inliner.inline(schema),
            Some(_) => {
                self.call.insert("accept".to_owned(), json!("text"));
                json!({ "type": "string" })
            }
            None => Value::Bool(true),
        }
    }

    fn operation(&self) -> Value {
        let mut call = self.call.clone();
        call.insert("query".to_owned(), Value::Object(self.query.clone()));
        call.insert("headers".to_owned(), Value::Object(self.headers.clone()));
        Value::Object(call)
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": self.inputs,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}

/// The rules that a tool's definition must satisfy, asked now so that an unusable operation is named.
fn check(draft: &ToolDraft) -> Result<(), String> {
    let operation = Operation::parse(draft.operation.as_ref().unwrap_or(&Value::Null));
    let nothing = Value::Bool(true);
    let schema = |schema: &Option<Value>| schema.clone().unwrap_or(nothing.clone());
    let checked = operation.and_then(|operation| {
        tool::check_definition(&operation, &schema(&draft.input_schema), &schema(&draft.output_schema))
    });
    checked.map_err(|violation| violation.to_string())
}

/// The medium that serves best among those described: JSON, then a form, then text.
fn media(described: &Value) -> Option<(&str, &Value)> {
    let content = described.get("content")?.as_object()?;
    ["json", "form", "text"].into_iter().find_map(|wanted| {
        let (media_type, medium) = content.iter().find(|(media_type, _)| body_format(media_type) == Some(wanted))?;
        Some((media_type.as_str(), medium.get("schema").unwrap_or(&Value::Bool(true))))
    })
}

fn body_format(media_type: &str) -> Option<&'static str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Some("json"),
        "application/x-www-form-urlencoded" => Some("form"),
        other if other.ends_with("+json") => Some("json"),
        other if other.starts_with("text/") => Some("text"),
        _ => None,
    }
}

/// `X-Request-Id` as `X_Request_Id`.
fn variable_name(name: &str) -> String {
    let legal = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' });
    let word: String = legal.take(100).collect();
    if is_variable_name(&word) { word } else { format!("_{word}") }
}

fn describe(schema: &mut Value, description: &str) {
    if let Value::Object(schema) = schema
        && !description.is_empty()
        && !schema.contains_key("description")
    {
        schema.insert("description".to_owned(), json!(description));
    }
}
