//! Checks every answer of the suite against the API document: its status, its media type, its headers and its body.
//!
//! The document is what clients are generated from, so an answer that it does not describe is a fault of one of the two. A field
//! that the document does not name is one as well. Start at [`check_head`] and [`check_body`].

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::document::followed;

const API: &str = "/api/v1";
const JSON: &str = "application/json";
/// As it is committed; another test compares it with what the routes say.
const DOCUMENT: &str = include_str!("../../../../openapi/skein.json");
/// The document itself stands in no document.
const DOCUMENT_PATH: &str = "/api/v1/openapi.json";
const ENVELOPE: &str = "#/components/schemas/ErrorEnvelope";
/// Answers to what is no operation: a path or a method that does not exist, or a request that is refused before.
const OUTSIDE: [u16; 7] = [400, 401, 403, 404, 405, 421, 429];

static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

/// What was asked for, taken before the request is sent.
#[derive(Debug, Clone)]
pub(crate) struct RequestCase {
    method: Method,
    path: String,
}

impl RequestCase {
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        Self { method: request.method().clone(), path: request.uri().path().to_owned() }
    }

    fn is_listed(&self) -> bool {
        self.path.starts_with(API) && self.path != DOCUMENT_PATH
    }
}

/// Panics where the document does not list the status or the media type of an answer.
pub(crate) fn check_head(asked: &RequestCase, status: StatusCode, headers: &HeaderMap) {
    if !asked.is_listed() {
        return;
    }
    let Some(response) = CONTRACT.response(asked, status) else { return };
    let served = media_type(headers);
    let contents = response["content"].as_object();
    let is_described = match (contents.filter(|contents| !contents.is_empty()), served) {
        (None, served) => served.is_none() || status == StatusCode::NOT_MODIFIED,
        (Some(contents), Some(served)) => contents.contains_key(served) || contents.contains_key("*/*"),
        (Some(_), None) => asked.method == Method::HEAD,
    };
    let listed = contents.map(|contents| contents.keys().collect::<Vec<_>>());
    hold(is_described, || format!("{asked:?} {status}: the document lists {listed:?} and not {served:?}"));
}

/// Panics where the body of an answer is not of the schema that the document gives for it.
pub(crate) fn check_body(asked: &RequestCase, status: StatusCode, headers: &HeaderMap, text: &str) {
    let is_json = media_type(headers) == Some(JSON);
    if !asked.is_listed() || asked.method == Method::HEAD || !is_json {
        return;
    }
    let response = CONTRACT.response(asked, status);
    let schema = response.map_or_else(|| json!({ "$ref": ENVELOPE }), |found| found["content"][JSON]["schema"].clone());
    let body: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{asked:?} {status}: not JSON: {text}"));
    let problems = CONTRACT.problems(&schema, &body);
    hold(problems.is_empty(), || format!("{asked:?} {status} is not as the document says: {problems:#?}\n{body:#}"));
}

/// Panics where the data of an event is not as the document lists it under `x-events`.
pub(crate) fn check_event(name: &str, data: &Value) {
    let schema = &CONTRACT.document["x-events"][name]["data"];
    hold(schema.is_object(), || format!("the document does not list the event {name}"));
    let problems = CONTRACT.problems(schema, data);
    hold(problems.is_empty(), || format!("the event {name} is not as the document says: {problems:#?}\n{data:#}"));
}

fn hold(is_as_described: bool, fault: impl FnOnce() -> String) {
    assert!(is_as_described, "{}", fault());
}

/// The part before the first `;`.
fn media_type(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    text.split(';').next().map(str::trim)
}

/// The document, and the validators made of it so far.
struct Contract {
    document: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    fn read() -> Self {
        let document = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        Self { document, validators: Mutex::default() }
    }

    /// What the document says of an answer; nothing for what is no operation.
    fn response(&self, asked: &RequestCase, status: StatusCode) -> Option<&Value> {
        let Some(operation) = self.operation(asked) else {
            let is_refused = OUTSIDE.contains(&status.as_u16());
            hold(is_refused, || format!("{asked:?} is in no document and was answered with {status}"));
            return None;
        };
        let described = &operation["responses"][status.as_str()];
        let listed: Vec<_> = operation["responses"].as_object().into_iter().flat_map(Map::keys).collect();
        hold(described.is_object(), || format!("{asked:?}: the document lists {listed:?} and not {status}"));
        Some(followed(&self.document, described))
    }

    /// The operation of a request: of several paths that fit, the one with fewer parameters.
    fn operation(&self, asked: &RequestCase) -> Option<&Value> {
        let method = if asked.method == Method::HEAD { "get".to_owned() } else { asked.method.as_str().to_lowercase() };
        let paths = self.document["paths"].as_object()?.iter();
        let fitting = paths.filter(|(template, methods)| fits(template, &asked.path) && methods.get(&method).is_some());
        let (_, methods) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        methods.get(&method)
    }

    /// How a value differs from a schema of the document.
    fn problems(&self, schema: &Value, value: &Value) -> Vec<String> {
        let validator = self.validator(schema);
        let wrong = validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path()));
        let mut problems: Vec<String> = wrong.collect();
        self.find_unnamed(&[schema], value, "", &mut problems);
        problems
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let make = || {
            let whole = self.with_components(schema);
            let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
            Arc::new(options.build(&whole).unwrap_or_else(|problem| panic!("{schema} is no schema: {problem}")))
        };
        Arc::clone(validators.entry(schema.to_string()).or_insert_with(make))
    }

    /// A schema with every component that it leads to.
    fn with_components(&self, schema: &Value) -> Value {
        let mut components = BTreeMap::new();
        self.gather(schema, &mut components);
        json!({ "allOf": [schema], "components": { "schemas": components } })
    }

    fn gather<'a>(&'a self, value: &'a Value, components: &mut BTreeMap<&'a str, &'a Value>) {
        match value {
            Value::Object(fields) => {
                let name = fields.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
                if let Some(name) = name.filter(|name| !components.contains_key(name)) {
                    let component = &self.document["components"]["schemas"][name];
                    components.insert(name, component);
                    self.gather(component, components);
                }
                fields.values().for_each(|value| self.gather(value, components));
            }
            Value::Array(values) => values.iter().for_each(|value| self.gather(value, components)),
            _ => {}
        }
    }

    /// Finds fields that none of the schemas of a value names.
    fn find_unnamed(&self, schemas: &[&Value], value: &Value, at: &str, found: &mut Vec<String>) {
        let mut plain = Vec::new();
        for schema in schemas {
            self.flatten(schema, &mut plain);
        }
        match value {
            Value::Object(fields) => {
                let is_open = plain.iter().any(|schema| takes_any_field(schema));
                for (name, value) in fields {
                    let named = plain.iter().filter_map(|schema| schema["properties"].get(name));
                    let more =
                        plain.iter().map(|schema| &schema["additionalProperties"]).filter(|more| more.is_object());
                    let below: Vec<&Value> = named.chain(more).collect();
                    match (below.is_empty(), is_open) {
                        (true, true) => {}
                        (true, false) => found.push(format!("{at}/{name}: the document does not name this field")),
                        (false, _) => self.find_unnamed(&below, value, &format!("{at}/{name}"), found),
                    }
                }
            }
            Value::Array(values) => {
                let items: Vec<&Value> = plain.iter().filter_map(|schema| schema.get("items")).collect();
                // An array whose items are not described holds anything.
                let described = values.iter().filter(|_| !items.is_empty());
                described.for_each(|value| self.find_unnamed(&items, value, &format!("{at}/*"), found));
            }
            _ => {}
        }
    }

    /// The schemas that stand behind references and combinations.
    fn flatten<'a>(&'a self, schema: &'a Value, plain: &mut Vec<&'a Value>) {
        let schema = followed(&self.document, schema);
        let combined = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|name| schema[name].as_array());
        combined.flatten().for_each(|part| self.flatten(part, plain));
        plain.push(schema);
    }
}

/// Whether a schema says nothing of the fields of an object.
fn takes_any_field(schema: &Value) -> bool {
    let is_combination = ["allOf", "oneOf", "anyOf"].iter().any(|name| schema.get(name).is_some());
    let is_of_objects = match &schema["type"] {
        Value::String(name) => name == "object",
        Value::Array(names) => names.contains(&json!("object")),
        _ => !is_combination,
    };
    let names_none = schema.get("properties").is_none() && schema["additionalProperties"] != json!(false);
    is_of_objects && names_none
        || schema["additionalProperties"] == json!(true)
        || schema["additionalProperties"].is_object()
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let fit = |(part, given): (&&str, &&str)| part == given || part.starts_with('{');
    template.len() == path.len() && template.iter().zip(&path).all(fit)
}

mod tests {
    use super::*;

    fn asked(method: &str, path: &str) -> RequestCase {
        RequestCase { method: method.parse().unwrap(), path: path.to_owned() }
    }

    fn headers(media_type: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, media_type.parse().unwrap())])
    }

    fn panics(check: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(check).is_err()
    }

    const ENTRY: &str = "/api/v1/blobs";

    fn uploaded() -> Value {
        json!({ "hash": "00", "size": 1, "mediaType": "a/b", "itemId": "item_1", "operationId": "op_1" })
    }

    fn check(status: u16, media_type: &str, body: &Value) {
        let (asked, status, headers) =
            (asked("POST", ENTRY), StatusCode::from_u16(status).unwrap(), headers(media_type));
        check_head(&asked, status, &headers);
        check_body(&asked, status, &headers, &body.to_string());
    }

    #[test]
    fn an_answer_as_the_document_says_is_taken() {
        check(201, "application/json; charset=utf-8", &uploaded());
    }

    #[test]
    fn a_status_or_a_media_type_that_is_not_listed_is_a_fault() {
        assert!(panics(|| check(418, JSON, &uploaded())));
        assert!(panics(|| check(201, "text/plain", &uploaded())));
        assert!(panics(|| check_head(&asked("GET", "/api/v1/nothing"), StatusCode::OK, &HeaderMap::new())));
    }

    #[test]
    fn a_field_that_is_missing_or_null_or_not_named_is_a_fault() {
        let changed = |change: fn(&mut Map<String, Value>)| {
            let mut body = uploaded();
            change(body.as_object_mut().unwrap());
            panics(move || check(201, JSON, &body))
        };
        assert!(changed(|fields| drop(fields.remove("hash"))));
        assert!(changed(|fields| drop(fields.insert("hash".to_owned(), Value::Null))));
        assert!(changed(|fields| drop(fields.insert("hush".to_owned(), json!("x")))));
    }
}
