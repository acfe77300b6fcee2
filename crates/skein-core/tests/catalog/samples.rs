//! Valid entries to begin from; a test says only what it is about.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use skein_core::catalog::entry::{Entry, OwnedEntry};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::operation::rest::RestCall;
use skein_core::catalog::placeholder::Inputs;
use skein_core::catalog::secret::{Secret, SecretType};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::{RecordId, RuleViolation, UserId};

pub(crate) const ANNA: UserId = UserId::from_bytes([1; 16]);
pub(crate) const BERT: UserId = UserId::from_bytes([2; 16]);

pub(crate) const SERVICE: RecordId = RecordId::from_bytes([11; 16]);
pub(crate) const SECRET: RecordId = RecordId::from_bytes([12; 16]);
pub(crate) const TOOL: RecordId = RecordId::from_bytes([13; 16]);
pub(crate) const TEMPLATE: RecordId = RecordId::from_bytes([14; 16]);

/// What a client would send.
pub(crate) fn sent<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// The object, with some members put in or taken out by `null`.
pub(crate) fn with(mut value: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else { panic!("changes are an object") };
    for (name, change) in changes {
        let members = value.as_object_mut().unwrap();
        if change.is_null() {
            members.remove(&name)
        } else {
            members.insert(name, change)
        };
    }
    value
}

pub(crate) fn owned<T>(id: RecordId, owner: UserId, entry: T) -> OwnedEntry<T> {
    OwnedEntry { id, owner, shared: false, entry }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) fn endpoint_schema() -> Value {
    json!({
        "type": "object",
        "required": ["endpoint"],
        "properties": {
            "endpoint": { "type": "string", "format": "uri" },
            "timeoutMs": { "type": "integer", "minimum": 1, "default": 5000 }
        }
    })
}

pub(crate) fn service_draft() -> Value {
    json!({ "name": "Weather", "type": "rest_api", "protocol": "https", "connectionSchema": endpoint_schema() })
}

/// Anna's service, changed as said.
pub(crate) fn service(changes: Value) -> OwnedEntry<Service> {
    owned(SERVICE, ANNA, Service::create(sent(with(service_draft(), changes))).unwrap())
}

/// Anna's secret.
pub(crate) fn secret(secret_type: SecretType) -> OwnedEntry<Secret> {
    let draft = json!({ "name": "Weather key", "type": secret_type });
    owned(SECRET, ANNA, Secret::create(sent(draft)))
}

pub(crate) fn tool_draft() -> Value {
    json!({
        "name": "Forecast",
        "serviceId": SERVICE,
        "connectionParams": { "endpoint": "https://weather.example/v1" },
        "operation": {
            "type": "rest_call",
            "method": "GET",
            "path": "/cities/{{city}}/forecast",
            "query": { "days": "{{days}}" }
        },
        "inputSchema": { "type": "object", "properties": { "city": {}, "days": {} }, "required": ["city"] },
        "outputSchema": { "type": "object" }
    })
}

pub(crate) fn tool_on(
    service: &OwnedEntry<Service>,
    secret: Option<&OwnedEntry<Secret>>,
    changes: Value,
) -> Result<Tool, RuleViolation> {
    Tool::create(sent(with(tool_draft(), changes)), ANNA, service, secret)
}

/// Anna's tool on her service.
pub(crate) fn tool(changes: Value) -> Result<Tool, RuleViolation> {
    tool_on(&service(json!({})), None, changes)
}

pub(crate) fn rest_call(changes: Value) -> Result<RestCall, RuleViolation> {
    let call = with(json!({ "type": "rest_call", "method": "POST", "path": "/" }), changes);
    match Operation::parse(&call)? {
        Operation::RestCall(call) => Ok(*call),
        other => panic!("not a rest call: {other:?}"),
    }
}

pub(crate) fn inputs(value: Value) -> Inputs {
    object(value)
}

/// Keeping an entry and reading it back gives the same entry.
pub(crate) fn assert_kept<T: Entry + PartialEq + std::fmt::Debug>(entry: &T) {
    assert_eq!(T::from_data(&entry.to_data()).as_ref(), Some(entry));
}
