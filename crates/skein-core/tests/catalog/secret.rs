//! BR-SECRET: metadata of credentials, who binds them, and where each type goes.

use serde_json::{Value, json};
use skein_core::catalog::entry::{Entry, OwnedEntry};
use skein_core::catalog::secret::{Secret, SecretBinding, SecretChange, SecretType};
use skein_core::catalog::service::Protocol;
use skein_core::catalog::sharing::{
    EntryReferences, EntryVisibility, SharingReach, SharingRefusal, check_change, check_secret_deletion, may_see,
};
use skein_core::{Millis, RuleViolation, Viewer};

use crate::samples::{ANNA, BERT, SECRET, TOOL, assert_kept, owned, secret, sent, service, tool, tool_on};

fn change(changes: Value) -> Result<Secret, RuleViolation> {
    secret(SecretType::ApiKey).entry.change(sent::<SecretChange>(changes))
}

fn standing(secret: &OwnedEntry<Secret>) -> EntryVisibility {
    EntryVisibility { owner: secret.owner, shared: true, reach: SharingReach::of(Secret::RECORD_TYPE) }
}

/// A tool of Anna's with her secret of this type, on a service of this protocol.
fn bound(secret_type: SecretType, protocol: &str, secret_use: Value) -> Result<(), RuleViolation> {
    let service = service(json!({ "protocol": protocol }));
    let changes = json!({ "secretId": SECRET, "secretUse": secret_use });
    tool_on(&service, Some(&secret(secret_type)), changes).map(drop)
}

#[test]
fn br_secret_001_a_rotation_raises_the_version_and_keeps_no_value_holds() {
    let rotated = secret(SecretType::ApiKey).entry.rotate();
    assert_kept(&rotated);
    let expected = json!({ "name": "Weather key", "type": "api_key", "valueVersion": 2 });
    assert_eq!(Value::Object(rotated.to_data()), expected);
}

#[test]
fn br_secret_001_writing_the_value_or_its_version_as_a_field_refuses() {
    assert_eq!(change(json!({ "encryptedValue": "x" })).unwrap_err().rule(), "BR-SECRET-001");
    assert_eq!(change(json!({ "valueVersion": 9 })).unwrap_err().rule(), "BR-SECRET-001");
    let with_user = tool(json!({ "connectionParams": { "endpoint": "https://anna:pw@weather.example" } }));
    assert_eq!(with_user.unwrap_err().rule(), "BR-SECRET-001");
}

#[test]
fn br_secret_002_an_unbound_secret_is_deleted_holds() {
    assert_eq!(check_secret_deletion(EntryReferences::default()), Ok(()));
}

#[test]
fn br_secret_002_a_bound_secret_refuses_to_go() {
    let tools = EntryReferences { all: 1, by_others: 0, other_owners: 0 };
    let Err(SharingRefusal::Conflict(violation)) = check_secret_deletion(tools) else { panic!("it was deleted") };
    assert_eq!(violation.rule(), "BR-SECRET-002");
}

#[test]
fn br_secret_002a_the_owner_sees_and_renames_it_holds() {
    let kept = secret(SecretType::ApiKey);
    assert!(may_see(&Viewer::User(ANNA), standing(&kept), Millis(0)));
    assert_eq!(change(json!({ "name": "Key 2" })).unwrap().name.as_str(), "Key 2");
}

#[test]
fn br_secret_002a_to_anyone_else_it_refuses_to_exist_even_when_shared() {
    let kept = secret(SecretType::ApiKey);
    assert_eq!(check_change(&Viewer::User(BERT), standing(&kept), Millis(0)), Err(SharingRefusal::NotFound));
    assert_eq!(change(json!({ "ownerId": BERT })).unwrap_err().rule(), "BR-SECRET-002A");
}

#[test]
fn br_secret_002b_a_user_binds_an_own_secret_to_anothers_tool_holds() {
    let tool = owned(TOOL, ANNA, tool(json!({})).unwrap());
    let mine = owned(SECRET, BERT, secret(SecretType::Password).entry);
    let binding = SecretBinding::create(BERT, &tool, &mine, Protocol::Https).unwrap();
    assert_eq!(Value::Object(binding.to_data()), json!({ "toolId": TOOL, "secretId": SECRET, "definitionVersion": 1 }));
    assert!(binding.check(&tool.entry).is_ok());
    assert_kept(&binding);
}

#[test]
fn br_secret_002b_anothers_secret_or_an_own_tool_refuses() {
    let tool = owned(TOOL, ANNA, tool(json!({})).unwrap());
    let annas = secret(SecretType::ApiKey);
    let refused = |user, secret| SecretBinding::create(user, &tool, secret, Protocol::Https).unwrap_err().rule();
    assert_eq!(refused(BERT, &annas), "BR-SHARE-006");
    assert_eq!(refused(ANNA, &annas), "BR-SECRET-002B");
}

#[test]
fn br_secret_003_each_type_goes_where_its_protocol_has_a_place_holds() {
    assert_eq!(bound(SecretType::ApiKey, "http", json!({ "in": "query", "name": "key" })), Ok(()));
    let header = json!({ "in": "header", "name": "Authorization", "prefix": "Bearer " });
    assert_eq!(bound(SecretType::ApiKey, "https", header), Ok(()));
    for secret_type in SecretType::ALL {
        assert_eq!(bound(secret_type, "https", json!(null)), Ok(()));
        assert!(Protocol::ALL.into_iter().any(|protocol| !secret_type.fits(protocol)));
    }
}

#[test]
fn br_secret_003_a_type_out_of_its_place_refuses() {
    let refused = |secret_type, protocol, secret_use| bound(secret_type, protocol, secret_use).unwrap_err().rule();
    assert_eq!(refused(SecretType::Certificate, "http", json!(null)), "BR-SECRET-003");
    assert_eq!(refused(SecretType::Password, "https", json!({ "in": "query", "name": "pw" })), "BR-SECRET-003");
    let framing = ["Host", "Content-Length", "transfer-encoding", "CONNECTION", "Upgrade", "Expect", "TE"];
    for name in ["", "X Key", "X-Key\r\nHost", "X:Key"].into_iter().chain(framing) {
        assert_eq!(refused(SecretType::ApiKey, "https", json!({ "in": "header", "name": name })), "BR-SECRET-003");
    }
    let injected = json!({ "in": "header", "name": "X-Key", "prefix": "a\r\nHost: b" });
    assert_eq!(refused(SecretType::ApiKey, "https", injected), "BR-SECRET-003");
    assert_eq!(
        refused(SecretType::ApiKey, "https", json!({ "in": "query", "name": "k", "prefix": "x" })),
        "BR-SECRET-003"
    );
    assert_eq!(bound(SecretType::ApiKey, "https", json!({ "in": "query", "name": "host" })), Ok(()));
    let unbound = |name: &str| tool(json!({ "secretUse": { "in": "header", "name": name } })).map(drop);
    assert_eq!(unbound("X-Key"), Ok(()), "others may bind their own");
    assert_eq!(unbound("X Key").unwrap_err().rule(), "BR-SECRET-003");
    assert_eq!(change(json!({ "type": "password" })).unwrap_err().rule(), "BR-SECRET-003");
}
