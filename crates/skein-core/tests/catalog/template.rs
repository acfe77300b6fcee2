//! BR-TEMPLATE: blueprints never change, and what is made from them stands on its own.

use serde_json::{Value, json};
use skein_core::RuleViolation;
use skein_core::catalog::entry::OwnedEntry;
use skein_core::catalog::secret::SecretType;
use skein_core::catalog::service::{Service, ServiceChange};
use skein_core::catalog::template::{ServiceTemplate, TemplateChange, ToolTemplate};
use skein_core::catalog::tool::{Tool, ToolDraft};

use crate::samples::{
    ANNA, BERT, SECRET, SERVICE, TEMPLATE, assert_kept, endpoint_schema, owned, secret, sent, service, service_draft,
    tool_draft, with,
};

fn service_template() -> OwnedEntry<ServiceTemplate> {
    let draft = with(service_draft(), json!({ "requiresSecret": true }));
    owned(TEMPLATE, ANNA, ServiceTemplate::create(sent(draft)).unwrap())
}

fn tool_template() -> OwnedEntry<ToolTemplate> {
    let draft = with(tool_draft(), json!({ "serviceId": null, "connectionParams": null }));
    owned(TEMPLATE, ANNA, ToolTemplate::create(sent(draft)).unwrap())
}

/// What is left of a tool's draft when a template gives the rest.
fn bare_tool_draft() -> ToolDraft {
    let changes = json!({ "operation": null, "inputSchema": null, "outputSchema": null });
    sent(with(tool_draft(), changes))
}

fn instance(changes: Value) -> Result<Service, RuleViolation> {
    let draft = with(json!({ "name": "Mine", "serviceTemplateId": TEMPLATE }), changes);
    Service::create(service_template().instantiate(sent(draft))?)
}

fn archived() -> TemplateChange {
    sent(json!({ "archived": true }))
}

#[test]
fn br_template_001_any_user_makes_one_holds() {
    assert_kept(&service_template().entry);
    assert_kept(&tool_template().entry);
}

#[test]
fn br_template_001_a_broken_blueprint_refuses() {
    let refused = |changes| ServiceTemplate::create(sent(with(service_draft(), changes))).unwrap_err().rule();
    assert_eq!(refused(json!({ "protocol": "bolt" })), "BR-SERVICE-001");
    assert_eq!(refused(json!({ "connectionSchema": { "type": 7 } })), "BR-SERVICE-005");
    assert_eq!(refused(json!({ "connectionSchema": {} })), "BR-SERVICE-006");
    let structure = json!({ "operation": { "type": "graph_query", "query": "RETURN 1" } });
    assert_eq!(tool_template().entry.change(&sent(structure)).unwrap_err().rule(), "BR-TEMPLATE-003");
}

#[test]
fn br_template_002_an_instance_is_a_whole_copy_that_names_its_template_holds() {
    let service = instance(json!({})).unwrap();
    assert_eq!((&service.connection_schema, service.requires_secret), (&endpoint_schema(), true));
    assert_eq!(service.service_template_id, Some(TEMPLATE));
    let draft = tool_template().instantiate(bare_tool_draft()).unwrap();
    let tool = Tool::create(draft, ANNA, &crate::samples::service(json!({})), None).unwrap();
    assert_eq!(tool.operation, tool_template().entry.operation);
    assert_eq!(tool.tool_template_id, Some(TEMPLATE));
}

#[test]
fn br_template_002_another_structure_or_another_template_refuses() {
    assert_eq!(instance(json!({ "protocol": "http" })).unwrap_err().rule(), "BR-TEMPLATE-002");
    assert!(instance(json!({ "protocol": "https" })).is_ok());
    let moved = instance(json!({})).unwrap().change(sent::<ServiceChange>(json!({ "serviceTemplateId": SERVICE })));
    assert_eq!(moved.unwrap_err().rule(), "BR-TEMPLATE-002");
}

#[test]
fn br_template_003_archiving_and_sharing_change_holds() {
    let change: TemplateChange = sent(json!({ "archived": true, "shared": true }));
    assert!(service_template().entry.change(&change).unwrap().archived);
    assert_eq!(change.shared, Some(true));
}

#[test]
fn br_template_003_any_other_field_refuses_and_all_are_listed() {
    let change: TemplateChange = sent(json!({ "name": "x", "connectionSchema": {}, "archived": true }));
    let violation = service_template().entry.change(&change).unwrap_err();
    assert_eq!(violation.rule(), "BR-TEMPLATE-003");
    assert_eq!(violation.problem(), "name, connectionSchema cannot be changed");
}

#[test]
fn br_template_004_an_instance_stands_on_the_users_own_secret_holds() {
    let mine = owned(SERVICE, BERT, instance(json!({})).unwrap());
    let berts = owned(SECRET, BERT, secret(SecretType::ApiKey).entry);
    let draft = ToolDraft { secret_id: Some(SECRET), ..tool_template().instantiate(bare_tool_draft()).unwrap() };
    assert!(Tool::create(draft, BERT, &mine, Some(&berts)).is_ok());
}

#[test]
fn br_template_004_the_template_owners_secret_refuses_to_come_along() {
    let mine = owned(SERVICE, BERT, instance(json!({})).unwrap());
    let annas = secret(SecretType::ApiKey);
    let draft = ToolDraft { secret_id: Some(SECRET), ..tool_template().instantiate(bare_tool_draft()).unwrap() };
    assert_eq!(Tool::create(draft, BERT, &mine, Some(&annas)).unwrap_err().rule(), "BR-SHARE-006");
}

#[test]
fn br_template_006_archiving_is_reversible_and_leaves_instances_alone_holds() {
    let before = instance(json!({})).unwrap();
    let restored = service_template().entry.change(&archived()).unwrap().change(&sent(json!({ "archived": false })));
    assert_eq!(restored.unwrap(), service_template().entry);
    assert_eq!(instance(json!({})).unwrap(), before);
}

#[test]
fn br_template_006_an_archived_template_refuses_new_instances() {
    let template = service_template();
    let template = OwnedEntry { entry: template.entry.change(&archived()).unwrap(), ..template };
    let draft = json!({ "name": "Mine", "serviceTemplateId": TEMPLATE });
    assert_eq!(template.instantiate(sent(draft)).unwrap_err().rule(), "BR-TEMPLATE-006");
    let template = tool_template();
    let template = OwnedEntry { entry: template.entry.change(&archived()).unwrap(), ..template };
    assert_eq!(template.instantiate(bare_tool_draft()).unwrap_err().rule(), "BR-TEMPLATE-006");
}

#[test]
fn a_template_knows_no_service() {
    assert!(serde_json::from_value::<ServiceTemplate>(json!(service(json!({})).entry)).is_err());
}
