//! A request to a REST API: method, path, query, headers and body, with places to fill in.
//!
//! Inputs come from anywhere, so each goes in by the law of its place: a path keeps its segments, a query its pairs, a
//! header its line, a JSON body its structure. Start at [`RestCall::render`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::json_template::JsonTemplate;
use crate::catalog::placeholder::{Inputs, PlaceholderText, plain};
use crate::catalog::selector::OutputMapping;
use crate::rule::RuleViolation;

/// Most query parameters, and most headers, of one call.
const FIELDS_MAX: usize = 100;
/// Longest path with its query, in bytes; servers take no more.
const TARGET_BYTES_MAX: usize = 16 << 10;
/// Longest value of a header, in bytes.
const HEADER_BYTES_MAX: usize = 8 << 10;

/// Headers that frame a message or choose its receiver; the connection writes them itself.
pub(crate) const FRAMING_HEADERS: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
    "expect",
];
/// Headers that carry a credential; those come from a secret.
const CREDENTIAL_HEADERS: [&str; 2] = ["authorization", "proxy-authorization"];

/// What is asked of the resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    Get,
    Head,
    Options,
    Post,
    Put,
    Patch,
    Delete,
}

impl HttpMethod {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether asking twice is the same as asking once and changes nothing.
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyFormat {
    Json,
    Text,
    /// `name=value&…`, as an HTML form sends it.
    Form,
}

/// How an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accept {
    #[default]
    Json,
    Text,
}

/// A request with places to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestCall {
    pub method: HttpMethod,
    /// Begins with `/` and is appended to the endpoint.
    pub path: PlaceholderText,
    /// A list repeats its parameter; one that is absent or `null` is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, JsonTemplate>,
    /// One that is a single absent input is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, PlaceholderText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<JsonTemplate>,
    /// Without it, a body that is text around placeholders is text, and any other is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_format: Option<BodyFormat>,
    #[serde(default)]
    pub accept: Accept,
    /// How the answer becomes the output; without it the whole body is the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<OutputMapping>,
}

/// A request ready to be sent to an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedRest {
    pub method: HttpMethod,
    /// Percent-encoded; begins with `/`.
    pub path: String,
    /// Not yet encoded; see [`Self::target`].
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Option<RenderedBody>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RenderedBody {
    Json(Value),
    Text(String),
    Form(Vec<(String, String)>),
}

impl RestCall {
    pub(super) fn check(&self) -> Result<(), RuleViolation> {
        check_path(&self.path)?;
        self.headers.iter().try_for_each(|(name, value)| check_header(name, value))?;
        let names: BTreeSet<String> = self.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        if names.len() < self.headers.len() || names.len() > FIELDS_MAX || self.query.len() > FIELDS_MAX {
            let problem = "headers are named once, and there are at most 100 of them and of query parameters";
            return Err(refused(problem, "name fewer, and each header once"));
        }
        if self.body.is_some() && self.method.is_safe() {
            let problem = format!("{} has no body", self.method.as_str());
            return Err(refused(problem, "leave the body out, or use POST, PUT, PATCH or DELETE"));
        }
        if self.body_format.is_some() && self.body.is_none() {
            return Err(refused("there is a bodyFormat, but no body", "give a body, or no bodyFormat"));
        }
        Ok(())
    }

    pub(super) fn variables(&self, into: &mut BTreeSet<String>) {
        self.path.variables(into);
        self.query.values().chain(&self.body).for_each(|outline| outline.variables(into));
        self.headers.values().for_each(|text| text.variables(into));
    }

    /// The request with every place filled.
    pub fn render(&self, inputs: &Inputs) -> Result<RenderedRest, RuleViolation> {
        let body = self.render_body(inputs)?;
        let rendered = RenderedRest {
            method: self.method,
            path: self.render_path(inputs)?,
            query: pairs(&self.query, inputs)?,
            headers: self.render_headers(inputs, body.as_ref())?,
            body,
        };
        if rendered.target().len() > TARGET_BYTES_MAX {
            return Err(refused("the path and its query are longer than 16 KiB", "send long inputs in a body"));
        }
        Ok(rendered)
    }

    /// The answer's body as the tool's output.
    pub fn output(&self, answer: Value) -> Value {
        match &self.result {
            Some(mapping) => mapping.apply(&answer),
            None => answer,
        }
    }

    fn render_path(&self, inputs: &Inputs) -> Result<String, RuleViolation> {
        let path = self.path.render(inputs, |value, into| match value {
            Value::String(text) if text.is_empty() => Err(refused("an input of the path is empty", "give it a value")),
            Value::Array(_) | Value::Object(_) => {
                Err(refused("an input of the path is a list or an object", "give a text or a number"))
            }
            scalar => {
                percent_encode(&plain(scalar), into);
                Ok(())
            }
        })?;
        refuse_dot_segments(&path)?;
        Ok(path)
    }

    fn render_headers(
        &self,
        inputs: &Inputs,
        body: Option<&RenderedBody>,
    ) -> Result<Vec<(String, String)>, RuleViolation> {
        let mut headers = Vec::with_capacity(self.headers.len() + 2);
        for (name, text) in &self.headers {
            let is_absent = text.sole_place().is_some_and(|path| path.find(inputs).is_none_or(Value::is_null));
            if !is_absent {
                headers.push((name.clone(), header_value(name, text, inputs)?));
            }
        }
        let accept = if self.accept == Accept::Json { "application/json" } else { "text/plain, */*;q=0.5" };
        let defaults = [Some(("accept", accept)), body.map(|body| ("content-type", body.media_type()))];
        for (name, value) in defaults.into_iter().flatten() {
            if !headers.iter().any(|(named, _)| named.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(headers)
    }

    fn render_body(&self, inputs: &Inputs) -> Result<Option<RenderedBody>, RuleViolation> {
        let Some(outline) = &self.body else { return Ok(None) };
        let Some(value) = outline.render(inputs)? else { return Ok(None) };
        Ok(Some(match self.body_format.unwrap_or_else(|| usual_format(outline)) {
            BodyFormat::Json => RenderedBody::Json(value),
            BodyFormat::Text => RenderedBody::Text(plain(&value)),
            BodyFormat::Form => RenderedBody::Form(members(&value)?),
        }))
    }
}

impl RenderedRest {
    /// What follows the endpoint: the path, and the query if there is one, both encoded.
    pub fn target(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, encode_pairs(&self.query)) }
    }
}

impl RenderedBody {
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Text(_) => "text/plain; charset=utf-8",
            Self::Form(_) => "application/x-www-form-urlencoded",
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Text(text) => text.clone().into_bytes(),
            Self::Form(pairs) => encode_pairs(pairs).into_bytes(),
        }
    }
}

/// Whether a text is a header's name: a token of RFC 9110.
pub fn is_header_name(name: &str) -> bool {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_token)
}

fn usual_format(body: &JsonTemplate) -> BodyFormat {
    match body {
        JsonTemplate::Text(text) if text.sole_place().is_none() => BodyFormat::Text,
        _ => BodyFormat::Json,
    }
}

fn check_path(path: &PlaceholderText) -> Result<(), RuleViolation> {
    let source = String::from(path.clone());
    if !source.starts_with('/') || source.starts_with("//") || !path.literals().all(is_path_text) {
        let problem = "a path begins with one / and is percent-encoded; its query has a place of its own";
        return Err(refused(problem, "write for example /cities/{{city}}, and what follows a ? under query"));
    }
    refuse_dot_segments(&source)
}

/// What may stand in a path as it is; a `%` begins a whole encoded byte, so that no input can finish one.
fn is_path_text(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !"?#\\\"<>^`{|}".contains(c);
    let is_byte = |after: &str| after.len() >= 2 && after.bytes().take(2).all(|b| b.is_ascii_hexdigit());
    text.chars().all(is_plain) && text.split('%').skip(1).all(is_byte)
}

/// Segments of dots walk up the path when the address is read, also when they are percent-encoded.
fn refuse_dot_segments(path: &str) -> Result<(), RuleViolation> {
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(is_dots) {
        return Err(refused("a segment of the path would be . or ..", "give a value that is more than dots"));
    }
    Ok(())
}

fn check_header(name: &str, value: &PlaceholderText) -> Result<(), RuleViolation> {
    let lower = name.to_ascii_lowercase();
    if CREDENTIAL_HEADERS.contains(&lower.as_str()) {
        let problem = format!("the header {name} carries a credential");
        return Err(RuleViolation::new("BR-SECRET-001", problem, "keep it as a secret and bind it to the tool"));
    }
    if !is_header_name(name) || FRAMING_HEADERS.contains(&lower.as_str()) {
        let problem = format!("{name:?} is not a header that a tool sets");
        return Err(refused(problem, "name a header such as X-Request-Id"));
    }
    if value.literals().all(is_header_text) { Ok(()) } else { Err(refused_header(name)) }
}

fn header_value(name: &str, text: &PlaceholderText, inputs: &Inputs) -> Result<String, RuleViolation> {
    let value = text.render_plain(inputs)?;
    if is_header_text(&value) && value.len() <= HEADER_BYTES_MAX { Ok(value) } else { Err(refused_header(name)) }
}

/// Printable ASCII: nothing that could end the line.
fn is_header_text(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

fn refused_header(name: &str) -> RuleViolation {
    let problem = format!("the value of the header {name} does not fit one line");
    refused(problem, "give printable ASCII, up to 8 KiB")
}

fn pairs(fields: &BTreeMap<String, JsonTemplate>, inputs: &Inputs) -> Result<Vec<(String, String)>, RuleViolation> {
    let mut pairs = Vec::with_capacity(fields.len());
    for (name, outline) in fields {
        if let Some(value) = outline.render(inputs)? {
            push_pairs(name, &value, &mut pairs);
        }
    }
    Ok(pairs)
}

fn members(form: &Value) -> Result<Vec<(String, String)>, RuleViolation> {
    let fields =
        form.as_object().ok_or_else(|| refused("the body of a form is an object", "give its fields by name"))?;
    let mut pairs = Vec::with_capacity(fields.len());
    fields.iter().for_each(|(name, value)| push_pairs(name, value, &mut pairs));
    Ok(pairs)
}

fn push_pairs(name: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Array(values) => into.extend(values.iter().map(|value| (name.to_owned(), plain(value)))),
        single => into.push((name.to_owned(), plain(single))),
    }
}

fn encode_pairs(pairs: &[(String, String)]) -> String {
    let mut encoded = String::new();
    for (name, value) in pairs {
        if !encoded.is_empty() {
            encoded.push('&');
        }
        percent_encode(name, &mut encoded);
        encoded.push('=');
        percent_encode(value, &mut encoded);
    }
    encoded
}

/// Everything but the unreserved characters of RFC 3986.
fn percent_encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            write!(into, "%{byte:02X}").expect("writing to a String cannot fail");
        }
    }
}

fn refused(problem: impl Into<String>, remedy: &'static str) -> RuleViolation {
    RuleViolation::new("BR-TOOL-002", problem, remedy)
}
