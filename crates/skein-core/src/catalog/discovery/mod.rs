//! Makes tools from an OpenAPI 3 document: one per operation, with its schemas carried over.
//!
//! Parameters become inputs and the body becomes the input `body`; the answer's schema becomes the output's. An
//! operation that cannot be a tool is left out and named with the reason. Start at [`discover`].

mod inlined_schema;
mod operation;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::entry::{Name, OwnedEntry};
use crate::catalog::secret::{Secret, SecretPlace, SecretType, SecretUse};
use crate::catalog::tool::ToolDraft;
use crate::id::RecordId;

/// Most operations of one document.
pub const OPERATIONS_MAX: usize = 1_000;
const METHODS: [&str; 7] = ["get", "head", "options", "post", "put", "patch", "delete"];

/// What the new tools stand on.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscoveryTarget<'a> {
    pub service_id: RecordId,
    /// Without an endpoint, the document's first server is it; with a secret, an endpoint must be here.
    pub connection_params: Map<String, Value>,
    pub secret: Option<&'a OwnedEntry<Secret>>,
}

/// What was found in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscoveredTools {
    pub tools: Vec<ToolDraft>,
    pub skipped: Vec<SkippedOperation>,
}

/// An operation that cannot be a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct SkippedOperation {
    /// Such as `POST /uploads`.
    pub operation: String,
    pub reason: String,
}

/// Why nothing can be discovered from a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryRefusal {
    #[error("this is not an OpenAPI document of version 3; convert older ones first")]
    NotOpenApi3,
    #[error("the document describes no operations under paths")]
    NoOperations,
    #[error("the document describes {0} operations; at most {OPERATIONS_MAX} become tools at once")]
    TooMany(usize),
    #[error(
        "the document alone would decide where the secret is sent; \
         give connectionParams.endpoint with the address that may receive it"
    )]
    NoEndpointForSecret,
}

/// The tools that a document describes.
pub fn discover(document: &Value, ground: &DiscoveryTarget<'_>) -> Result<DiscoveredTools, DiscoveryRefusal> {
    let version = document.get("openapi").and_then(Value::as_str).unwrap_or_default();
    if !version.starts_with("3.") {
        return Err(DiscoveryRefusal::NotOpenApi3);
    }
    if ground.secret.is_some() && !ground.connection_params.contains_key("endpoint") {
        return Err(DiscoveryRefusal::NoEndpointForSecret);
    }
    let operations = operations(document);
    match operations.len() {
        0 => return Err(DiscoveryRefusal::NoOperations),
        found if found > OPERATIONS_MAX => return Err(DiscoveryRefusal::TooMany(found)),
        _ => {}
    }
    let blank = blank_draft(document, ground);
    let mut names = BTreeSet::new();
    let mut discovered = DiscoveredTools { tools: Vec::new(), skipped: Vec::new() };
    for found in operations {
        match found.to_tool(document, &blank) {
            Ok(tool) => discovered.tools.push(ToolDraft { name: unique(&found.title(), &mut names), ..tool }),
            Err(reason) => discovered.skipped.push(SkippedOperation { operation: found.place(), reason }),
        }
    }
    Ok(discovered)
}

/// One operation where it stands in the document.
struct DocumentOperation<'a> {
    method: &'static str,
    path: &'a str,
    /// What holds for all operations of the path.
    item: &'a Value,
    operation: &'a Value,
}

fn operations(document: &Value) -> Vec<DocumentOperation<'_>> {
    let mut found = Vec::new();
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let item = inlined_schema::target(document, item);
        for method in METHODS {
            if let Some(operation) = item.get(method).filter(|operation| operation.is_object()) {
                found.push(DocumentOperation { method, path, item, operation });
            }
        }
    }
    found
}

impl DocumentOperation<'_> {
    fn place(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.path)
    }

    /// What it is called: its id, else where it stands.
    fn title(&self) -> String {
        let id = self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        id.map_or_else(|| self.place(), str::to_owned)
    }
}

/// What all tools of a document share.
fn blank_draft(document: &Value, ground: &DiscoveryTarget<'_>) -> ToolDraft {
    let mut connection_params = ground.connection_params.clone();
    if let Some(endpoint) = first_server(document).filter(|_| !connection_params.contains_key("endpoint")) {
        connection_params.insert("endpoint".to_owned(), Value::String(endpoint));
    }
    let is_key = |secret: &&OwnedEntry<Secret>| secret.entry.secret_type == SecretType::ApiKey;
    ToolDraft {
        retry: None,
        pricing: None,
        name: unique("tool", &mut BTreeSet::new()),
        description: None,
        service_id: ground.service_id,
        connection_params,
        secret_id: ground.secret.map(|secret| secret.id),
        secret_use: ground.secret.filter(is_key).and_then(|_| key_place(document)),
        operation: None,
        input_schema: None,
        output_schema: None,
        enabled: true,
        shared: false,
        tool_template_id: None,
    }
}

/// The address of the first server, if it is a whole one, with its variables at their defaults.
fn first_server(document: &Value) -> Option<String> {
    let server = document.get("servers")?.get(0)?;
    let mut url = server.get("url")?.as_str()?.to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        url = url.replace(&format!("{{{name}}}"), variable.get("default")?.as_str()?);
    }
    url.contains("://").then(|| url.trim_end_matches('/').to_owned())
}

/// Where the document wants an API key: the first of its security schemes that says so.
fn key_place(document: &Value) -> Option<SecretUse> {
    let schemes = document.get("components")?.get("securitySchemes")?.as_object()?;
    schemes.values().find_map(|scheme| {
        let text = |field: &str| scheme.get(field).and_then(Value::as_str).unwrap_or_default();
        let (place, name, prefix) = match (text("type"), text("in"), text("scheme")) {
            ("apiKey", "header", _) => (SecretPlace::Header, text("name"), None),
            ("apiKey", "query", _) => (SecretPlace::Query, text("name"), None),
            ("http", _, scheme) if scheme.eq_ignore_ascii_case("bearer") => {
                (SecretPlace::Header, "Authorization", Some("Bearer ".to_owned()))
            }
            _ => return None,
        };
        Some(SecretUse { place, name: name.to_owned(), prefix })
    })
}

/// A name that no other tool of the document has.
fn unique(title: &str, taken: &mut BTreeSet<String>) -> Name {
    let stem = Name::shorten(title);
    let mut name = stem.clone();
    let mut number = 2;
    while !taken.insert(name.as_str().to_owned()) {
        name = stem.numbered(number);
        number += 1;
    }
    name
}
