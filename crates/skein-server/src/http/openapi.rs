//! The API document: made from what the routes say about themselves, plus what is true for all of them.
//!
//! Errors are the same everywhere, so they are added here by what kind of request a route takes, each with an
//! example, and a new route cannot forget them. `openapi/skein.json` is this document; a test keeps it current.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use skein_core::garden::event::EventName;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;

use crate::http::auth::authentication::is_question;
use crate::router;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Skein", description = "A memory and orchestration engine: every fact is kept and can be proved.\n\n\
            Not part of this API, and open to anybody: `GET /health/live`; `GET /health/ready`, which is 503 while the server \
            cannot read or write (`storage_full`, `storage_corrupt`, `unavailable`) and otherwise says in `damage` what was found \
            damaged; `GET /metrics` for Prometheus, and `/sign-in/{token}`, which is for browsers.",
        license(name = "MIT OR Apache-2.0")),
    components(schemas(crate::http::error::ErrorEnvelope, crate::garden::events::ProgressView, crate::garden::events::ResyncView)),
    tags((name = "account"), (name = "items"), (name = "relations"), (name = "records"), (name = "blobs"), (name = "bundles"),
        (name = "catalogue"), (name = "processes"), (name = "conversations"), (name = "memory"), (name = "projects"), (name = "events"), (name = "operations"),
        (name = "administration"))
)]
struct Preamble;

pub(crate) fn preamble() -> OpenApi {
    Preamble::openapi()
}

/// What a client may meet: status, code, what it is told, and whether asking again can help.
const ERRORS: [(u16, &str, &str, &str); 17] = [
    (400, "invalid_body", "The request cannot be understood.", "name: expected text"),
    (401, "unauthenticated", "Nobody known is asking.", "send a key as \"Authorization: Bearer sk_…\""),
    (403, "permission_denied", "It is there, but not for this credential.", "only an administrator may do this"),
    (404, "not_found", "Missing, or not yours to see.", "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z was not found"),
    (408, "body_too_slow", "The body did not arrive in time.", "the body did not arrive within 30 seconds"),
    (
        409,
        "idempotency_payload_mismatch",
        "It clashes with what is there.",
        "this Idempotency-Key was used for another request",
    ),
    (413, "too_large", "More than this door takes.", "a body has at most 16777216 bytes here"),
    (415, "unsupported_media_type", "The body is of the wrong kind.", "the body has to be JSON"),
    (416, "range_not_satisfiable", "There are no such bytes.", "there are fewer bytes"),
    (421, "host_not_allowed", "It was asked for by another name.", "this server does not answer to that host name"),
    (422, "rule_violation", "A rule would be broken; `rule` names it.", "the five minutes for undoing have passed"),
    (429, "rate_limited", "Too many requests; `Retry-After` says when.", "too many requests from this address"),
    (
        500,
        "internal",
        "Our fault; with `storage_damaged`, what was asked for is damaged where it is stored, and `skein verify` says where.",
        "something went wrong inside",
    ),
    (502, "answer_not_understood", "Somebody outside did not answer as they should.", "docs.example: it answered 500"),
    (503, "busy", "Not now; `Retry-After` says when.", "too much is waiting to be written; try again in a second"),
    (504, "timeout", "Somebody outside did not answer in time.", "docs.example did not answer in time"),
    (507, "storage_full", "There is no room left.", "the disk is full"),
];

/// Changes without an id in their path whose body refers to nothing that could be missing.
const NAMES_NOTHING: [&str; 12] = [
    "/api/v1/account/session",
    "/api/v1/account/sign-in-links",
    "/api/v1/allowed-endpoints",
    "/api/v1/blobs",
    "/api/v1/keys",
    "/api/v1/projects",
    "/api/v1/secrets",
    "/api/v1/service-templates",
    "/api/v1/tool-templates",
    "/api/v1/users",
    "/api/v1/vault/rotations",
    "/api/v1/verifications",
];

const UUID_OR_ULID: &str = "^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$";
const LOCAL_ID: &str = "^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{6,8}$";

/// The whole document.
pub(crate) fn document() -> Value {
    let (_, api) = router::api();
    let mut document = serde_json::to_value(&api).expect("the document is plain JSON");
    document["openapi"] = json!("3.1.0");
    document["info"]["version"] = json!(env!("CARGO_PKG_VERSION"));
    document["security"] = json!([{ "key": [] }, { "session": [] }]);
    document["components"]["securitySchemes"] = security_schemes();
    document["components"]["responses"] = error_responses();
    document["components"]["parameters"] = shared_parameters();
    document["x-events"] = events();
    require_what_is_always_there(&mut document);
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object_mut().into_iter().flatten() {
            complete(path, method, operation);
        }
    }
    document
}

/// Lists fields that may be null as required where only answers have them: they are always written. A field that is left out
/// instead says so where it is defined, by `nullable = false`.
fn require_what_is_always_there(document: &mut Value) {
    let asked = asked_schemas(document);
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    for (_, schema) in schemas.filter(|(name, _)| !asked.contains(*name)) {
        require_nullable(schema);
    }
}

/// The schemas of what clients send.
fn asked_schemas(document: &Value) -> BTreeSet<String> {
    let operations = document["paths"].as_object().into_iter().flat_map(serde_json::Map::values);
    let operations = operations.filter_map(Value::as_object).flat_map(serde_json::Map::values);
    let mut found = BTreeSet::new();
    let mut open: Vec<&Value> =
        operations.flat_map(|operation| [&operation["requestBody"], &operation["parameters"]]).collect();
    while let Some(value) = open.pop() {
        let name = value["$ref"].as_str().and_then(|text| text.strip_prefix("#/components/schemas/"));
        if let Some(name) = name.filter(|name| found.insert((*name).to_owned())) {
            open.push(&document["components"]["schemas"][name]);
        }
        match value {
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    found
}

fn require_nullable(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let named = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
            let mut nullable: Vec<Value> =
                named.filter(|(_, field)| admits_null(field)).map(|(name, _)| json!(name)).collect();
            if !nullable.is_empty() {
                let required = fields.entry("required").or_insert_with(|| json!([]));
                let required = required.as_array_mut().expect("a list of names");
                nullable.retain(|name| !required.contains(name));
                required.append(&mut nullable);
            }
            let below =
                fields.iter_mut().filter(|(name, _)| !["example", "examples", "default"].contains(&name.as_str()));
            below.for_each(|(_, value)| require_nullable(value));
        }
        Value::Array(values) => values.iter_mut().for_each(require_nullable),
        _ => {}
    }
}

fn admits_null(field: &Value) -> bool {
    let is_null = |schema: &Value| schema["type"] == "null";
    let names_null = field["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
    names_null
        || ["oneOf", "anyOf"].iter().any(|name| field[*name].as_array().is_some_and(|parts| parts.iter().any(is_null)))
}

fn security_schemes() -> Value {
    json!({
        "key": { "type": "http", "scheme": "bearer",
                 "description": "An API key (sk_…), or a token of the issuer this server was told to trust." },
        "session": { "type": "apiKey", "in": "cookie", "name": "skein_session",
                     "description": "Set by opening a one-time sign-in link." },
    })
}

fn shared_parameters() -> Value {
    json!({
        "IdempotencyKey": { "name": "Idempotency-Key", "in": "header", "required": true,
            "schema": { "type": "string", "pattern": UUID_OR_ULID }, "example": "7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d",
            "description": "A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again." },
        "Grant": { "name": "Skein-Grant", "in": "header", "required": false,
            "schema": { "type": "string" }, "description": "The grant under which an administrator looks." },
        "IfMatch": { "name": "If-Match", "in": "header", "required": false, "schema": { "type": "string" },
            "example": "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
            "description": "The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written." },
    })
}

fn error_responses() -> Value {
    let response = |(status, code, description, message): (u16, &str, &str, &str)| {
        let rule = if status == 422 { json!("MG-SOIL-005") } else { Value::Null };
        let retryable = matches!(status, 429 | 503 | 504 | 507);
        let example = json!({ "error": { "code": code, "message": message, "rule": rule, "details": {},
            "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a", "retryable": retryable } });
        let schema = json!({ "$ref": "#/components/schemas/ErrorEnvelope" });
        let content = json!({ "application/json": { "schema": schema, "example": example } });
        (format!("E{status}"), json!({ "description": description, "content": content }))
    };
    ERRORS.into_iter().map(response).collect::<BTreeMap<_, _>>().into_iter().collect()
}

fn events() -> Value {
    let named = |name: &EventName| {
        let schema = json!({ "$ref": "#/components/schemas/EventView" });
        (name.as_str().to_owned(), json!({ "description": name.meaning(), "data": schema }))
    };
    let mut events: serde_json::Map<String, Value> = EventName::ALL.iter().map(named).collect();
    let live = |description: &str, schema: &str| json!({ "description": description, "data": { "$ref": format!("#/components/schemas/{schema}") } });
    events.insert(
        "operation.progress".to_owned(),
        live("An operation has come further; not told again.", "ProgressView"),
    );
    events.insert("resync".to_owned(), live("Too much happened since; read the state anew.", "ResyncView"));
    events.into()
}

/// Adds what is true for every route of a kind.
fn complete(path: &str, method: &str, operation: &mut Value) {
    let has_body = method != "get";
    // A question that does not fit into a query is no change.
    let is_change = has_body && !is_question(path);
    for (status, ..) in ERRORS.into_iter().filter(|(status, ..)| may_answer(path, *status, has_body, is_change)) {
        let reference = json!({ "$ref": format!("#/components/responses/E{status}") });
        operation["responses"][status.to_string()] = reference;
    }
    if ["/api/v1/verifications", "/api/v1/exports", "/api/v1/index/rebuilds"].contains(&path) {
        operation["requestBody"]["required"] = json!(false);
    }
    // A grant is for looking, and for redacting.
    let is_under_grant = !is_change || path.ends_with("/redact");
    // Asking a service whether it is there is no change that could be made twice (decision A59).
    let is_repeated = is_change && !path.ends_with("/health");
    let shared =
        [("IdempotencyKey", is_repeated), ("Grant", is_under_grant), ("IfMatch", is_repeated && is_of_record(path))]
            .into_iter()
            .filter(|(_, applies)| *applies);
    let shared = shared.map(|(name, _)| json!({ "$ref": format!("#/components/parameters/{name}") }));
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.extend(shared),
        None => operation["parameters"] = shared.collect(),
    }
    if is_change && operation["responses"].get("200").is_none() {
        let made = operation["responses"].get("201").or_else(|| operation["responses"].get("202"));
        let content = made.and_then(|made| made.get("content")).cloned().unwrap_or_default();
        operation["responses"]["200"] =
            json!({ "description": "The same request was made before; this is what came out.", "content": content });
    }
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        // What stands in a path, a query or a header is there or not, and never null.
        if let Some(types) = parameter["schema"]["type"].as_array() {
            let kind = types.iter().find(|kind| **kind != "null").cloned().unwrap_or_default();
            parameter["schema"]["type"] = kind;
        }
        let name = parameter["name"].as_str().unwrap_or_default();
        if let Some((pattern, example)) = in_path(path, name).filter(|_| parameter["in"] == "path") {
            parameter["schema"]["pattern"] = json!(pattern);
            parameter["example"] = json!(example);
        }
    }
    describe_answers(operation);
}

/// Whether a path names a record, which has a hash.
fn is_of_record(path: &str) -> bool {
    let has_id = path.split('/').nth(4).is_some_and(|segment| segment.starts_with('{'));
    has_id && in_path(path, "id").is_some_and(|(pattern, _)| pattern.starts_with("^entity_"))
}

/// Whether an error can be the answer to a request of this kind.
fn may_answer(path: &str, status: u16, has_body: bool, is_change: bool) -> bool {
    match status {
        404 => path.contains('{') || has_body && !NAMES_NOTHING.contains(&path),
        408 | 413 | 415 => has_body,
        507 => is_change,
        // The only request that somebody outside is asked within; all others hand such calls to a worker.
        502 | 504 => path.ends_with("/discover"),
        416 => path == "/api/v1/blobs/{hash}",
        409 => is_change || path.ends_with("/proof") || path.ends_with("/context"),
        422 => {
            is_change
                || path.ends_with("/proof")
                || path.ends_with("/context")
                || path.ends_with("/thumbnail")
                || path.starts_with("/api/v1/relations")
                || ["/api/v1/compare", "/api/v1/records", "/api/v1/search"].contains(&path)
        }
        _ => true,
    }
}

/// Says of each answer what it is, and of bytes that they are bytes.
fn describe_answers(operation: &mut Value) {
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        for (media_type, content) in response.get_mut("content").and_then(Value::as_object_mut).into_iter().flatten() {
            if is_binary(media_type) {
                content["schema"] = json!({ "type": "string", "format": "binary" });
            }
        }
        if response.get("$ref").is_none() && response.get("description").is_none() {
            response["description"] = json!(done(status));
        }
    }
}

/// Whether answers of a media type are bytes and no text.
fn is_binary(media_type: &str) -> bool {
    media_type != "application/json" && !media_type.starts_with("text/")
}

/// How an id in a path is written, by its name or by what stands before it, and an example of it.
fn in_path(path: &str, name: &str) -> Option<(String, String)> {
    let of = |prefix: &str| {
        let pattern = format!("^{prefix}_[0-7][0-9A-HJKMNP-TV-Z]{{25}}$");
        Some((pattern, format!("{prefix}_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")))
    };
    match name {
        "turnId" => return of("turn"),
        "nodeId" => return of("item"),
        "actorId" => {
            let (pattern, example) = of("user")?;
            return Some((pattern.replacen("user", "(user|entity)", 1), example));
        }
        "localId" => return Some((LOCAL_ID.to_owned(), "01K9ZQ".to_owned())),
        _ => {}
    }
    match path.split('/').nth(3)? {
        "items" | "grants" | "nodes" => of("item"),
        "keys" => of("key"),
        "account" => of("session"),
        "relations" => of("rel"),
        "records" | "services" | "tools" | "secrets" | "service-templates" | "tool-templates" | "allowed-endpoints"
        | "processes" | "conversations" | "projects" | "actors" | "approvals" => of("entity"),
        "episodes" => of("episode"),
        "executions" => of("run"),
        "reviews" => of("review"),
        "operations" | "exports" => of("op"),
        "users" => of("user"),
        "blobs" => {
            let example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
            Some(("^[0-9a-f]{64}$".to_owned(), example.to_owned()))
        }
        _ => None,
    }
}

/// What a status says when all is well.
fn done(status: &str) -> &'static str {
    match status {
        "201" => "It was made; `Location` says where it is.",
        "202" => "It is on disk and will be done.",
        "206" => "The part that was asked for.",
        _ => "Here it is.",
    }
}

/// The document as it is committed and served.
pub fn text() -> String {
    format!("{:#}\n", document())
}

static TEXT: LazyLock<String> = LazyLock::new(text);

/// `GET /api/v1/openapi.json`.
pub(crate) async fn serve() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str()).into_response()
}
