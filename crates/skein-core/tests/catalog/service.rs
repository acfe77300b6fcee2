//! BR-SERVICE: what a service may be, and how it changes.

use serde_json::{Value, json};
use skein_core::RuleViolation;
use skein_core::catalog::entry::Entry;
use skein_core::catalog::secret::SecretType;
use skein_core::catalog::service::{Builtin, Protocol, Service, ServiceChange, ServiceDraft, ServiceType};
use skein_core::catalog::sharing::{EntryReferences, SharingRefusal, check_service_deletion};

use crate::samples::{TEMPLATE, assert_kept, endpoint_schema, secret, sent, service, service_draft, tool_on, with};

fn create(changes: Value) -> Result<Service, RuleViolation> {
    Service::create(sent(with(service_draft(), changes)))
}

fn change(changes: Value) -> Result<Service, RuleViolation> {
    service(json!({})).entry.change(sent::<ServiceChange>(changes))
}

fn refused(result: Result<Service, RuleViolation>) -> &'static str {
    result.unwrap_err().rule()
}

fn stdio_schema() -> Value {
    json!({ "type": "object", "required": ["command"], "properties": {
        "command": { "type": "string" }, "args": { "type": "array" } } })
}

fn schema_for(protocol: Protocol) -> Value {
    if protocol == Protocol::Stdio { stdio_schema() } else { endpoint_schema() }
}

fn pair(service_type: ServiceType, protocol: Protocol) -> Result<Service, RuleViolation> {
    create(json!({ "type": service_type, "protocol": protocol, "connectionSchema": schema_for(protocol) }))
}

#[test]
fn br_service_001_each_type_speaks_its_two_protocols_holds() {
    for service_type in ServiceType::ALL {
        for protocol in service_type.protocols() {
            assert_kept(&pair(service_type, protocol).unwrap());
        }
    }
}

#[test]
fn br_service_001_any_other_pair_refuses() {
    for service_type in ServiceType::ALL {
        for protocol in Protocol::ALL.into_iter().filter(|protocol| !service_type.protocols().contains(protocol)) {
            assert_eq!(refused(pair(service_type, protocol)), "BR-SERVICE-001");
        }
    }
    assert_eq!(refused(create(json!({ "protocol": null }))), "BR-SERVICE-001");
}

#[test]
fn br_service_001_changing_type_or_protocol_refuses() {
    let violation = change(json!({ "type": "rest_api", "protocol": "http" })).unwrap_err();
    assert_eq!((violation.rule(), violation.problem()), ("BR-SERVICE-001", "type, protocol cannot be changed"));
}

#[test]
fn br_service_002_a_tool_with_a_secret_holds() {
    let service = service(json!({ "requiresSecret": true }));
    let secret = secret(SecretType::ApiKey);
    assert!(tool_on(&service, Some(&secret), json!({ "secretId": secret.id })).is_ok());
}

#[test]
fn br_service_002_a_tool_without_one_refuses() {
    let service = service(json!({ "requiresSecret": true }));
    assert_eq!(tool_on(&service, None, json!({})).unwrap_err().rule(), "BR-SERVICE-002");
    assert_eq!(refused(change(json!({ "requiresSecret": false }))), "BR-SERVICE-002");
}

#[test]
fn br_service_003_setting_the_status_by_hand_refuses() {
    assert_eq!(refused(change(json!({ "status": "healthy" }))), "BR-SERVICE-003");
}

#[test]
fn br_service_004_a_service_nobody_uses_is_deleted_holds() {
    assert_eq!(check_service_deletion(EntryReferences::default()), Ok(()));
}

#[test]
fn br_service_004_a_service_with_tools_refuses_to_go() {
    let tools = EntryReferences { all: 2, by_others: 0, other_owners: 0 };
    let Err(SharingRefusal::Conflict(violation)) = check_service_deletion(tools) else { panic!("it was deleted") };
    assert_eq!(violation.rule(), "BR-SERVICE-004");
    assert!(violation.problem().contains("2 tools of yours"));
}

#[test]
fn br_service_005_a_schema_of_each_draft_holds() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        assert!(create(json!({ "connectionSchema": with(endpoint_schema(), json!({ "$schema": draft })) })).is_ok());
    }
}

#[test]
fn br_service_005_what_is_no_schema_refuses() {
    let bad = |schema| refused(create(json!({ "connectionSchema": schema })));
    assert_eq!(bad(json!({ "type": "objekt" })), "BR-SERVICE-005");
    assert_eq!(bad(json!("endpoint")), "BR-SERVICE-005");
    assert_eq!(bad(with(endpoint_schema(), json!({ "$ref": "https://example.com/s.json" }))), "BR-SERVICE-005");
    assert_eq!(refused(create(json!({ "connectionSchema": null }))), "BR-SERVICE-005");
}

#[test]
fn br_service_005_changing_the_schema_raises_its_version_holds() {
    let wider = with(endpoint_schema(), json!({ "additionalProperties": false }));
    let next = change(json!({ "connectionSchema": wider, "name": "Weather 2" })).unwrap();
    assert_eq!((next.schema_version, next.name.as_str()), (2, "Weather 2"));
    assert_eq!(change(json!({ "connectionSchema": endpoint_schema() })).unwrap().schema_version, 1);
    assert_eq!(change(json!({ "enabled": false })).unwrap().schema_version, 1);
}

#[test]
fn br_service_006_a_required_address_of_the_right_kind_holds() {
    assert!(pair(ServiceType::McpServer, Protocol::Stdio).is_ok());
    let fixed = json!({ "required": ["endpoint"], "properties": { "endpoint": { "const": "https://api.example" } } });
    assert!(create(json!({ "connectionSchema": fixed })).is_ok());
}

#[test]
fn br_service_006_a_missing_or_unfit_address_refuses() {
    let bad = |schema| refused(create(json!({ "connectionSchema": schema })));
    assert_eq!(bad(with(endpoint_schema(), json!({ "required": [] }))), "BR-SERVICE-006");
    let number = json!({ "required": ["endpoint"], "properties": { "endpoint": { "type": "number" } } });
    assert_eq!(bad(number), "BR-SERVICE-006");
    let unencrypted = json!({ "required": ["endpoint"], "properties": {
        "endpoint": { "type": "string", "default": "http://api.example" } } });
    assert_eq!(bad(unencrypted), "BR-SERVICE-006");
    let mcp = |schema| json!({ "type": "mcp_server", "protocol": "stdio", "connectionSchema": schema });
    assert_eq!(refused(create(mcp(endpoint_schema()))), "BR-SERVICE-006");
    let text_args = json!({ "required": ["command"], "properties": {
        "command": { "type": "string" }, "args": { "type": "string" } } });
    assert_eq!(refused(create(mcp(text_args))), "BR-SERVICE-006");
    assert_eq!(refused(change(json!({ "connectionSchema": { "type": "object" } }))), "BR-SERVICE-006");
}

#[test]
fn a_builtin_service_needs_no_address() {
    let draft = json!({ "type": "llm_provider", "connectionSchema": { "type": "object" } });
    let draft: ServiceDraft = sent(with(service_draft(), draft));
    let service = Service::create_builtin(draft, Builtin::OfflineModel).unwrap();
    assert_eq!(service.to_data()["builtin"], "offline_model");
    assert_kept(&service);
}

#[test]
fn a_description_stays_changes_or_goes() {
    let described = change(json!({ "description": "hourly" })).unwrap();
    let next = |changes| described.change(sent(changes)).unwrap().description;
    assert_eq!(next(json!({})), described.description);
    assert_eq!(next(json!({ "description": null })), None);
}

#[test]
fn record_data_is_as_documented() {
    let service = service(json!({ "serviceTemplateId": TEMPLATE })).entry;
    let expected = json!({
        "name": "Weather", "type": "rest_api", "protocol": "https", "connectionSchema": endpoint_schema(),
        "requiresSecret": false, "enabled": true, "schemaVersion": 1, "serviceTemplateId": TEMPLATE,
    });
    assert_eq!(Value::Object(service.to_data()), expected);
}

#[test]
fn names_are_one_line_of_up_to_a_hundred_characters() {
    let accepted = |name: &str| serde_json::from_value::<ServiceDraft>(with(service_draft(), json!({ "name": name })));
    assert!(accepted(&"é".repeat(100)).is_ok());
    for name in ["", "  ", "two\nlines", &"x".repeat(101)] {
        assert!(accepted(name).unwrap_err().to_string().contains("one line"), "{name:?}");
    }
    assert!(serde_json::from_value::<ServiceDraft>(with(service_draft(), json!({ "typ": 1 }))).is_err());
}
