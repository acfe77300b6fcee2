//! Valid processes to begin from; a test says only what it is about.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use skein_core::flow::plan::{Plan, VariableScope};
use skein_core::flow::process::Process;
use skein_core::{RecordId, RuleViolation, UserId};

pub(crate) const ANNA: UserId = UserId::from_bytes([1; 16]);
pub(crate) const BERT: UserId = UserId::from_bytes([2; 16]);
pub(crate) const SEARCH: RecordId = RecordId::from_bytes([11; 16]);
pub(crate) const MODEL: RecordId = RecordId::from_bytes([12; 16]);
pub(crate) const OTHER: RecordId = RecordId::from_bytes([13; 16]);

/// What a client would send.
pub(crate) fn sent<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The object, with some members put in or taken out by `null`.
pub(crate) fn with(mut value: Value, changes: Value) -> Value {
    for (name, change) in object(changes) {
        let members = value.as_object_mut().unwrap();
        if change.is_null() {
            members.remove(&name)
        } else {
            members.insert(name, change)
        };
    }
    value
}

/// A step that calls the search with nothing, changed as said; its variable is its id.
pub(crate) fn step(id: &str, changes: Value) -> Value {
    with(json!({ "id": id, "toolId": SEARCH, "output": { "variable": id } }), changes)
}

/// A search, then a model that reads what was found.
pub(crate) fn process_draft() -> Value {
    json!({
        "name": "Answer",
        "initialContext": ["question"],
        "steps": [
            step("found", json!({ "inputs": { "query": "{question}" } })),
            step("answer", json!({ "toolId": MODEL, "inputs": { "prompt": "{question}: {step.found}" } })),
        ],
        "outputTemplate": "{{answer}}",
    })
}

pub(crate) fn process(changes: Value) -> Result<Process, RuleViolation> {
    Process::create(sent(with(process_draft(), changes)))
}

/// A process of these steps that takes `question` and answers with nothing.
pub(crate) fn of_steps(steps: Value) -> Result<Process, RuleViolation> {
    process(json!({ "steps": steps, "outputTemplate": "" }))
}

pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, RuleViolation>) -> &'static str {
    result.unwrap_err().rule()
}

/// The inputs of the first of two steps after `found`, whose value is given.
pub(crate) fn inputs(inputs: Value, question: Value, found: Value) -> Result<Map<String, Value>, RuleViolation> {
    let steps = json!([step("found", json!({})), step("next", json!({ "inputs": inputs }))]);
    let plan = Plan::of(&of_steps(steps)?)?;
    let (context, outputs) = (object(json!({ "question": question })), BTreeMap::from([("found".to_owned(), found)]));
    plan.inputs(1, &VariableScope { context: &context, outputs: &outputs, error: None })
}
