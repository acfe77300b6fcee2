//! BR-TOOL: what a tool needs, declares and keeps.

use serde_json::{Value, json};
use skein_core::RuleViolation;
use skein_core::catalog::entry::{Entry, OwnedEntry};
use skein_core::catalog::secret::SecretType;
use skein_core::catalog::tool::{Tool, ToolChange, ToolDraft};

use crate::samples::{
    ANNA, BERT, SECRET, SERVICE, assert_kept, endpoint_schema, secret, sent, service, tool, tool_draft, tool_on, with,
};

fn change(changes: Value) -> Result<Tool, RuleViolation> {
    tool(json!({})).unwrap().change(sent::<ToolChange>(changes), ANNA, &service(json!({})), None)
}

fn params(changes: Value) -> Result<Tool, RuleViolation> {
    tool(json!({ "connectionParams": with(json!({ "endpoint": "https://weather.example/v1" }), changes) }))
}

fn refused(result: Result<Tool, RuleViolation>) -> &'static str {
    result.unwrap_err().rule()
}

#[test]
fn br_tool_001_parameters_that_fit_are_kept_with_the_defaults_holds() {
    let tool = tool(json!({})).unwrap();
    assert_kept(&tool);
    let expected = json!({ "endpoint": "https://weather.example/v1", "timeoutMs": 5000 });
    assert_eq!(Value::Object(tool.connection_params.clone()), expected);
    assert_eq!(tool.to_data()["definitionVersion"], 1);
}

#[test]
fn br_tool_001_parameters_that_do_not_fit_refuses() {
    assert_eq!(refused(params(json!({ "endpoint": null }))), "BR-TOOL-001");
    assert_eq!(refused(params(json!({ "endpoint": "not an address" }))), "BR-TOOL-001");
    let violation = params(json!({ "timeoutMs": 0 })).unwrap_err();
    assert!(violation.problem().contains("/timeoutMs"), "{violation}");
    assert_eq!(refused(params(json!({ "timeoutMs": "soon" }))), "BR-TOOL-001");
    assert_eq!(refused(change(json!({ "serviceId": SERVICE }))), "BR-TOOL-001");
}

#[test]
fn br_tool_001_an_operation_of_another_kind_of_service_refuses() {
    let query = json!({ "type": "graph_query", "query": "RETURN 1" });
    assert_eq!(refused(tool(json!({ "operation": query }))), "BR-TOOL-001");
}

#[test]
fn br_tool_001_a_secret_among_the_parameters_is_taken_out_holds() {
    let asking = with(endpoint_schema(), json!({ "required": ["endpoint", "secretId"] }));
    let service = service(json!({ "connectionSchema": asking }));
    let inside = json!({ "connectionParams": { "endpoint": "https://weather.example", "secretId": SECRET } });
    let tool = tool_on(&service, Some(&secret(SecretType::ApiKey)), inside).unwrap();
    assert_eq!(tool.secret_id, Some(SECRET));
    assert!(!tool.connection_params.contains_key("secretId"));
}

#[test]
fn br_tool_001_two_secrets_or_none_that_is_one_refuses() {
    let mut draft: ToolDraft = sent(with(tool_draft(), json!({ "secretId": SECRET })));
    draft.connection_params.insert("secretId".into(), json!(SERVICE));
    assert_eq!(draft.clone().take_secret().unwrap_err().rule(), "BR-TOOL-001");
    draft.connection_params.insert("secretId".into(), json!("sk-12345"));
    let violation = draft.take_secret().unwrap_err();
    assert!(!violation.to_string().contains("sk-12345"), "a value sent by mistake is not repeated");
}

#[test]
fn br_service_006_an_endpoint_of_another_scheme_refuses() {
    for endpoint in ["http://weather.example", "ftp://weather.example", "https://", "https://a/#b", "https:///x"] {
        assert_eq!(refused(params(json!({ "endpoint": endpoint }))), "BR-SERVICE-006", "{endpoint}");
    }
    for endpoint in ["HTTPS://weather.example", "https://[::1]:8443/v1", "https://weather.example?v=1"] {
        assert!(params(json!({ "endpoint": endpoint })).is_ok(), "{endpoint}");
    }
}

#[test]
fn br_tool_002_every_variable_declared_holds() {
    assert!(tool(json!({})).is_ok());
    let unused = json!({ "type": "object", "properties": { "city": {}, "days": {}, "unit": {} } });
    assert!(tool(json!({ "inputSchema": unused })).is_ok());
}

#[test]
fn br_tool_002_an_undeclared_variable_refuses_by_name() {
    let violation = tool(json!({ "inputSchema": { "properties": { "days": {} } } })).unwrap_err();
    assert_eq!((violation.rule(), violation.problem()), ("BR-TOOL-002", "the inputSchema does not declare city"));
    assert_eq!(refused(tool(json!({ "inputSchema": true }))), "BR-TOOL-002");
    assert_eq!(refused(tool(json!({ "inputSchema": { "type": "nonsense" } }))), "BR-TOOL-002");
    assert_eq!(refused(tool(json!({ "operation": null }))), "BR-TOOL-002");
    assert_eq!(refused(tool(json!({ "operation": { "type": "rest_call" } }))), "BR-TOOL-002");
}

#[test]
fn br_tool_003_a_valid_output_schema_holds() {
    assert!(tool(json!({ "outputSchema": { "type": "array", "items": { "type": "string" } } })).is_ok());
}

#[test]
fn br_tool_003_an_invalid_output_schema_refuses() {
    assert_eq!(refused(tool(json!({ "outputSchema": { "type": "nonsense" } }))), "BR-TOOL-003");
    assert_eq!(refused(change(json!({ "outputSchema": { "minimum": "low" } }))), "BR-TOOL-003");
}

#[test]
fn br_tool_009_setting_the_status_by_hand_refuses() {
    assert_eq!(refused(change(json!({ "status": "healthy" }))), "BR-TOOL-009");
}

#[test]
fn what_the_tool_does_is_versioned_and_its_name_is_not() {
    let version = |changes| change(changes).unwrap().definition_version;
    assert_eq!(version(json!({ "name": "Other", "enabled": false, "description": "x" })), 1);
    assert_eq!(version(json!({ "outputSchema": { "type": "object" } })), 1);
    assert_eq!(version(json!({ "outputSchema": { "type": "array" } })), 2);
    assert_eq!(version(json!({ "connectionParams": { "endpoint": "https://other.example" } })), 2);
}

#[test]
fn a_secret_is_bound_and_let_go() {
    let (service, secret) = (service(json!({})), secret(SecretType::Password));
    let bound = tool_on(&service, Some(&secret), json!({ "secretId": SECRET })).unwrap();
    let kept = bound.change(sent(json!({ "name": "x" })), ANNA, &service, Some(&secret)).unwrap();
    assert_eq!((kept.secret_id, kept.definition_version), (Some(SECRET), 1));
    let free = bound.change(sent(json!({ "secretId": null })), ANNA, &service, None).unwrap();
    assert_eq!(free.secret_id, None);
}

#[test]
fn a_changed_service_may_no_longer_fit() {
    let stricter = with(endpoint_schema(), json!({ "required": ["endpoint", "region"] }));
    let next = service(json!({})).entry.change(sent(json!({ "connectionSchema": stricter }))).unwrap();
    assert_eq!(tool(json!({})).unwrap().check_fits(&next).unwrap_err().rule(), "BR-TOOL-001");
}

#[test]
fn a_tool_whose_service_was_taken_back_is_renamed_and_switched_off_but_not_on() {
    let tool = tool(json!({})).unwrap();
    let taken_back = OwnedEntry { owner: BERT, ..service(json!({})) };
    let change = |tool: &Tool, changes| tool.change(sent(changes), ANNA, &taken_back, None);
    let off = change(&tool, json!({ "name": "Broken", "enabled": false })).unwrap();
    assert_eq!(refused(change(&off, json!({ "enabled": true }))), "BR-SHARE-005");
    assert_eq!(refused(change(&tool, json!({ "outputSchema": true }))), "BR-SHARE-005");
}

/// A tool that posted and must not be repeated, and what became of it.
fn past_and_now(now: Value) -> (Tool, Tool) {
    let operation = json!({ "type": "rest_call", "method": "POST", "path": "/forecasts" });
    let past = tool(json!({ "description": "Orders a forecast", "operation": operation, "retry": "never" })).unwrap();
    let key = secret(SecretType::ApiKey);
    let is_bound = now.get("secretId").is_some();
    let now = with(json!({ "name": "Forecasts", "enabled": false, "description": "Reads one", "retry": "safe" }), now);
    (past, tool_on(&service(json!({})), is_bound.then_some(&key), now).unwrap())
}

#[test]
fn br_step_007_what_a_version_did_is_called_as_it_may_be_now_holds() {
    let (past, now) = past_and_now(json!({ "secretId": SECRET }));
    let defined = now.clone().defined_as(past.clone()).unwrap();
    assert_eq!(
        (&defined.operation, defined.retry, &defined.description),
        (&past.operation, past.retry, &past.description)
    );
    assert_eq!((&defined.name, defined.enabled, defined.secret_id), (&now.name, false, Some(SECRET)));
}

#[test]
fn br_step_007_a_version_that_went_elsewhere_before_the_secret_was_bound_refuses() {
    let elsewhere = json!({ "endpoint": "https://other.example" });
    let (past, now) = past_and_now(json!({ "connectionParams": elsewhere, "secretId": SECRET }));
    assert_eq!(refused(now.defined_as(past)), "BR-STEP-007");
    let (past, now) = past_and_now(json!({ "connectionParams": elsewhere }));
    assert!(now.defined_as(past).is_ok(), "nothing is sent there that was not before");
}

/// A tool that asks a model.
fn model(params: Value, operation: Value) -> Result<Tool, RuleViolation> {
    let service = service(json!({ "type": "llm_provider" }));
    let params = with(json!({ "endpoint": "https://models.example/v1" }), params);
    let operation = with(json!({ "type": "llm_call", "promptTemplate": "" }), operation);
    tool_on(&service, None, json!({ "connectionParams": params, "operation": operation }))
}

#[test]
fn br_tool_002_what_a_model_is_sent_holds() {
    let sampling = json!({ "model": "m", "temperature": 0.5, "maxTokens": 9, "top_p": 0.5, "seed": 4 });
    assert!(model(sampling, json!({})).unwrap().takes_tools());
    let schema = json!({ "type": "json_schema", "json_schema": { "name": "n", "schema": {} } });
    for format in [schema, json!({ "type": "text" })] {
        assert!(model(json!({ "dialect": "anthropic", "top_p": 0.5 }), json!({ "responseFormat": format })).is_ok());
    }
    assert!(!model(json!({}), json!({ "api": "completions" })).unwrap().takes_tools());
}

#[test]
fn br_tool_002_what_no_model_would_be_sent_refuses() {
    for (params, operation) in [
        (json!({ "dialect": "anthropic" }), json!({ "responseFormat": { "type": "json_object" } })),
        (json!({}), json!({ "api": "messages", "responseFormat": { "type": "json_object" } })),
        (json!({ "dialect": "anthropic", "seed": 4 }), json!({})),
        (json!({ "top_p": "high" }), json!({})),
        (json!({ "seed": 0.5 }), json!({})),
        (json!({ "maxTokens": "many" }), json!({})),
        (json!({ "temperature": "hot" }), json!({})),
        (json!({ "model": 4 }), json!({})),
    ] {
        assert_eq!(refused(model(params.clone(), operation.clone())), "BR-TOOL-002", "{params} {operation}");
    }
}

#[test]
fn br_tool_002_prices_of_tokens_on_a_tool_that_uses_none_refuses() {
    let prices = json!({ "currency": "USD", "inputPerMillion": 3 });
    assert_eq!(refused(tool(json!({ "pricing": prices }))), "BR-TOOL-002");
    assert_eq!(refused(change(json!({ "pricing": prices }))), "BR-TOOL-002");
    assert!(tool(json!({ "pricing": { "currency": "USD", "perCall": 3 } })).is_ok());
}
