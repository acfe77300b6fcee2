//! BR-SHARE: who sees, uses and changes an entry, and what unsharing and deleting do to others.

use serde_json::json;
use skein_core::catalog::entry::{Entry, OwnedEntry};
use skein_core::catalog::secret::{Secret, SecretType};
use skein_core::catalog::service::{Service, ServiceDraft};
use skein_core::catalog::sharing::{
    AffectedEntries, EntryReferences, EntryVisibility, SharingReach, SharingRefusal, check_change,
    check_service_deletion, check_tool_deletion, may_see, unshare_warning,
};
use skein_core::catalog::template::{ServiceTemplate, ToolTemplate};
use skein_core::catalog::tool::{Tool, ToolDraft};
use skein_core::garden::record::{Act, ChangeNote, create};
use skein_core::{Millis, Viewer};

use crate::samples::{
    ANNA, BERT, SECRET, SERVICE, owned, secret, sent, service, service_draft, tool_draft, tool_on, with,
};

const KINDS: [&str; 5] = [
    Service::RECORD_TYPE,
    Tool::RECORD_TYPE,
    ServiceTemplate::RECORD_TYPE,
    ToolTemplate::RECORD_TYPE,
    Secret::RECORD_TYPE,
];

fn annas(record_type: &str, shared: bool) -> EntryVisibility {
    EntryVisibility { owner: ANNA, shared, reach: SharingReach::of(record_type) }
}

fn change_by(user: skein_core::UserId, standing: EntryVisibility) -> Result<(), SharingRefusal> {
    check_change(&Viewer::User(user), standing, Millis(0))
}

#[test]
fn br_share_001_entries_begin_private_holds() {
    assert!(!sent::<ServiceDraft>(service_draft()).shared);
    assert!(!sent::<ToolDraft>(tool_draft()).shared);
    assert!(KINDS.iter().all(|kind| change_by(ANNA, annas(kind, false)).is_ok()));
}

#[test]
fn br_share_001_a_private_entry_refuses_to_exist_for_others() {
    for kind in KINDS {
        assert!(!may_see(&Viewer::User(BERT), annas(kind, false), Millis(0)));
        assert_eq!(change_by(BERT, annas(kind, false)), Err(SharingRefusal::NotFound));
    }
}

#[test]
fn br_share_002_a_shared_entry_is_seen_by_everyone_and_names_its_owner_holds() {
    let record = {
        let content = service(json!({})).entry.to_content(true);
        let note = ChangeNote { author: ANNA, reason: None, act: Act::Plain };
        create(SERVICE, ANNA, content, note, Millis(0)).unwrap().0
    };
    let seen = OwnedEntry::<Service>::from_record(&record).unwrap();
    assert_eq!((seen.id, seen.owner, seen.shared), (SERVICE, ANNA, true));
    assert_eq!(EntryVisibility::of(&record), annas(Service::RECORD_TYPE, true));
    assert!(may_see(&Viewer::User(BERT), EntryVisibility::of(&record), Millis(0)));
    assert_eq!(OwnedEntry::<Tool>::from_record(&record), None);
}

#[test]
fn br_share_002_others_refuses_to_change_what_is_shared() {
    let Err(SharingRefusal::Forbidden(violation)) = change_by(BERT, annas(Tool::RECORD_TYPE, true)) else {
        panic!("it was changed")
    };
    assert_eq!(violation.rule(), "BR-SHARE-003");
}

#[test]
fn br_share_003_visible_if_owned_or_shared_holds() {
    for (kind, shared) in KINDS.iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let by_sharing = shared && *kind != Secret::RECORD_TYPE;
        assert!(may_see(&Viewer::User(ANNA), annas(kind, shared), Millis(0)));
        assert_eq!(may_see(&Viewer::User(BERT), annas(kind, shared), Millis(0)), by_sharing);
    }
}

#[test]
fn br_share_003_naming_another_owner_refuses() {
    let violation = service(json!({})).entry.change(sent(json!({ "ownerId": BERT }))).unwrap_err();
    assert_eq!(violation.rule(), "BR-SHARE-003");
}

#[test]
fn br_share_004_what_others_do_not_use_is_deleted_holds() {
    assert_eq!(check_service_deletion(EntryReferences::default()), Ok(()));
}

#[test]
fn br_share_004_what_others_use_refuses_to_go_with_the_reason() {
    let tools = EntryReferences { all: 5, by_others: 3, other_owners: 1 };
    let Err(SharingRefusal::Conflict(violation)) = check_service_deletion(tools) else { panic!("it was deleted") };
    assert_eq!(violation.rule(), "BR-SHARE-004");
    assert_eq!(violation.problem(), "3 tools of 1 user depend on this service");
}

#[test]
fn br_share_005_a_tool_on_anothers_shared_service_holds() {
    let shared = OwnedEntry { shared: true, owner: BERT, ..service(json!({})) };
    assert!(tool_on(&shared, None, json!({})).is_ok());
}

#[test]
fn br_share_005_a_tool_on_anothers_private_service_refuses() {
    let private = OwnedEntry { owner: BERT, ..service(json!({})) };
    assert_eq!(tool_on(&private, None, json!({})).unwrap_err().rule(), "BR-SHARE-005");
}

#[test]
fn br_share_006_an_own_secret_is_bound_holds() {
    let tool = tool_on(&service(json!({})), Some(&secret(SecretType::Password)), json!({ "secretId": SECRET }));
    assert_eq!(tool.unwrap().secret_id, Some(SECRET));
}

#[test]
fn br_share_006_anothers_secret_refuses_to_be_bound_even_when_shared() {
    let berts = OwnedEntry { shared: true, ..owned(SECRET, BERT, secret(SecretType::Password).entry) };
    let tool = tool_on(&service(json!({})), Some(&berts), json!({ "secretId": SECRET }));
    assert_eq!(tool.unwrap_err().rule(), "BR-SHARE-006");
}

#[test]
fn br_share_009_unsharing_warns_with_counts_holds() {
    let affected = AffectedEntries { processes: 4, users: 2, ..AffectedEntries::default() };
    let warning = unshare_warning(affected).unwrap();
    assert_eq!((warning.affected_process_count, warning.affected_user_count), (4, 2));
    assert!(warning.message.starts_with("4 processes owned by 2 users depend on this resource"));
    let one = unshare_warning(AffectedEntries { tools: 1, users: 1, ..AffectedEntries::default() }).unwrap();
    assert!(one.message.starts_with("1 tool owned by 1 user depends"), "{}", one.message);
    let several = unshare_warning(AffectedEntries { tools: 2, bindings: 1, ..affected }).unwrap();
    let told = "4 processes, 2 tools and 1 secret binding owned by 2 users depend on this resource and will fail until it \
        is shared again";
    assert_eq!(several.message, told);
}

#[test]
fn br_share_009_without_users_elsewhere_it_refuses_to_warn() {
    assert_eq!(unshare_warning(AffectedEntries::default()), None);
    assert!(serde_json::from_value::<ToolDraft>(with(tool_draft(), json!({ "shared": false }))).is_ok());
}

#[test]
fn br_tool_004_a_tool_that_nothing_uses_is_deleted_holds() {
    assert_eq!(check_tool_deletion(EntryReferences::default(), false), Ok(()));
}

#[test]
fn br_tool_004_a_tool_of_a_step_or_of_an_open_run_refuses() {
    let own = EntryReferences { all: 1, by_others: 0, other_owners: 0 };
    let rule = |found, is_in_open_run| match check_tool_deletion(found, is_in_open_run).unwrap_err() {
        SharingRefusal::Conflict(violation) => violation.rule(),
        other => panic!("{other:?}"),
    };
    assert_eq!(rule(own, false), "BR-TOOL-004");
    assert_eq!(rule(EntryReferences::default(), true), "BR-TOOL-004");
    assert_eq!(rule(EntryReferences { all: 2, by_others: 1, other_owners: 1 }, false), "BR-SHARE-004");
}
