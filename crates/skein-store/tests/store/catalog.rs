//! The catalog's records: made by their own acts, seen by who may see them, deleted without losing their past.

use serde_json::{Value, json};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::EventName;
use skein_core::garden::record::{Act, Record, RecordContent, RecordRefused, RecordType};
use skein_core::{RecordId, UserId, Viewer};
use skein_store::StoreError;
use skein_store::catalog::entries::{OwnershipFilter, VisibleQuery};

use crate::fixtures::{START, World, both, content, rule_of, wait_until};

pub(crate) const SYSTEM: Viewer = Viewer::System("test");

pub(crate) fn make(world: &World, viewer: &Viewer, content: RecordContent) -> Record {
    let viewer = viewer.clone();
    world.write(move |tx| tx.create_entry(&viewer, content.clone(), None))
}

pub(crate) fn shared(mut content: RecordContent) -> RecordContent {
    content.shared = true;
    content
}

pub(crate) fn service(name: &str) -> RecordContent {
    content("Service", json!({ "name": name, "type": "rest_api", "enabled": true }))
}

pub(crate) fn tool(name: &str, service: RecordId) -> RecordContent {
    let operation = json!({ "type": "rest_call" });
    let data = json!({ "name": name, "serviceId": service.to_string(), "operation": operation, "enabled": true });
    content("Tool", data)
}

/// Changes fields of a record's data, or whether it is shared.
pub(crate) fn change(world: &World, viewer: &Viewer, record: &Record, fields: Value, act: Act) -> Record {
    try_change(world, viewer, record, fields, act).unwrap()
}

pub(crate) fn try_change(
    world: &World,
    viewer: &Viewer,
    record: &Record,
    fields: Value,
    act: Act,
) -> Result<Record, StoreError> {
    let (viewer, id, hash, mut content) = (viewer.clone(), record.id, record.hash, record.content.clone());
    for (name, value) in crate::fixtures::object(fields) {
        match name.as_str() {
            "shared" => content.shared = value.as_bool().unwrap(),
            _ => drop(content.data.insert(name, value)),
        }
    }
    world.try_write(move |tx| tx.update_entry(&viewer, id, hash, content.clone(), act, None))
}

pub(crate) fn delete(world: &World, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
    let viewer = viewer.clone();
    world.try_write(move |tx| tx.delete_record(&viewer, id, None, Some("not needed".to_owned())))
}

pub(crate) fn found(world: &World, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
    let viewer = viewer.clone();
    world.try_read(move |tx| tx.record(&viewer, id))
}

fn query(record_type: &str) -> VisibleQuery {
    VisibleQuery::of(RecordType::parse(record_type).unwrap(), 100)
}

/// The names of everything a viewer sees, gathered from pages of `limit`.
fn names(world: &World, viewer: &Viewer, query: &VisibleQuery) -> Vec<String> {
    let mut query = query.clone();
    let mut names = Vec::new();
    loop {
        let (viewer, asked) = (viewer.clone(), query.clone());
        let page = world.read(move |tx| tx.records_visible(&viewer, &asked));
        assert!(page.rows.len() <= query.limit && page.rows.is_sorted_by_key(|record| record.id));
        names.extend(page.rows.iter().map(|record| record.content.name().unwrap().to_owned()));
        query.after = page.next;
        if query.after.is_none() {
            return names;
        }
    }
}

/// Writes `number` services in one transaction, every `nth` of them shared.
fn many(world: &World, viewer: &Viewer, prefix: &'static str, number: usize, nth: usize) {
    let viewer = viewer.clone();
    world.write(move |tx| {
        for index in 0..number {
            let mut content = service(&format!("{prefix}{index}"));
            content.shared = index % nth == 0;
            tx.create_entry(&viewer, content, None)?;
        }
        Ok(())
    });
}

both! {
    fn catalog_records_change_only_through_catalog_functions(world: &World) {
        let record = make(world, &world.anna, service("weather"));
        let changed = change(world, &world.anna, &record, json!({ "enabled": false }), Act::Plain);
        assert_eq!((changed.version, found(world, &world.anna, record.id).unwrap()), (2, changed));
        let seeded = make(world, &SYSTEM, shared(service("built in")));
        assert_eq!(seeded.owner, UserId::SYSTEM);
        assert_eq!(found(world, &world.bert, seeded.id).unwrap(), seeded);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_core_007_catalog_records_through_generic_record_writes_refuses(world: &World) {
        let types = ["Service", "Secret", "Tool", "ServiceTemplate", "ToolTemplate", "SecretBinding", "AllowedEndpoint"];
        for record_type in types {
            let (viewer, made) = (world.anna.clone(), content(record_type, json!({ "name": "n" })));
            let created = world.try_write(move |tx| tx.create_record(&viewer, made.clone(), None));
            assert_eq!(rule_of(created), "MG-CORE-007", "{record_type}");
        }
        for record_type in ["User", "ApiKey", "Budget"] {
            let (viewer, made) = (world.anna.clone(), content(record_type, json!({ "name": "n" })));
            let created = world.try_write(move |tx| tx.create_entry(&viewer, made.clone(), None));
            assert_eq!(rule_of(created), "MG-CORE-007", "{record_type}");
        }
        let (viewer, own) = (world.anna.clone(), world.anna.owner().into());
        assert_eq!(rule_of(world.try_write(move |tx| tx.delete_record(&viewer, own, None, None))), "MG-CORE-007");
    }

    fn mg_core_007_deleting_by_writing_a_field_refuses(world: &World) {
        for value in [json!("2026-01-01T00:00:00.000Z"), json!(null)] {
            let (viewer, made) = (world.anna.clone(), content("Budget", json!({ "deletedAt": value })));
            assert_eq!(rule_of(world.try_write(move |tx| tx.create_record(&viewer, made.clone(), None))), "MG-CORE-007");
            let (viewer, made) = (world.anna.clone(), content("Tool", json!({ "deletedAt": value })));
            assert_eq!(rule_of(world.try_write(move |tx| tx.create_entry(&viewer, made.clone(), None))), "MG-CORE-007");
            let record = make(world, &world.anna, service("weather"));
            let changed = try_change(world, &world.anna, &record, json!({ "deletedAt": value }), Act::Plain);
            assert_eq!(rule_of(changed), "MG-CORE-007");
        }
    }

    fn a_deleted_record_is_found_no_more_and_keeps_its_history(world: &World) {
        let record = make(world, &world.anna, shared(service("weather")));
        let other = make(world, &world.anna, service("other"));
        let deleted = delete(world, &world.anna, record.id).unwrap();
        assert_eq!((deleted.version, deleted.content.shared), (2, false));
        assert_eq!(deleted.content.data["deletedAt"], json!(START.to_string()));
        for viewer in [&world.anna, &world.bert, &SYSTEM] {
            assert!(matches!(found(world, viewer, record.id), Err(StoreError::NotFound(_))));
            assert!(matches!(delete(world, viewer, record.id), Err(StoreError::NotFound(_))));
        }
        let viewer = world.anna.clone();
        let service_type = RecordType::parse("Service").unwrap();
        let (listed, named) = world.read(move |tx| {
            Ok((tx.records(&viewer, &service_type, None, 10)?.rows, tx.record_named(&viewer, &service_type, "weather")?))
        });
        assert_eq!((listed, named), (vec![other], None));
        let (viewer, id) = (world.anna.clone(), record.id);
        let (history, first) = world.read(move |tx| Ok((tx.history(&viewer, id, 0, 10)?, tx.record_version(&viewer, id, 1)?)));
        assert_eq!(history.rows.len(), 2);
        assert_eq!(first.content, record.content);
        let (viewer, id) = (world.bert.clone(), record.id);
        assert!(matches!(world.try_read(move |tx| tx.history(&viewer, id, 0, 10)), Err(StoreError::NotFound(_))));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_deletion_is_based_on_a_known_state_and_for_the_owner_alone(world: &World) {
        let record = make(world, &world.anna, shared(service("weather")));
        assert!(matches!(delete(world, &world.bert, record.id), Err(StoreError::Forbidden)));
        let foreign = try_change(world, &world.bert, &record, json!({ "enabled": false }), Act::Plain);
        assert!(matches!(foreign, Err(StoreError::Forbidden)));
        let hidden = make(world, &world.anna, service("hidden"));
        assert!(matches!(try_change(world, &world.bert, &hidden, json!({ "enabled": false }), Act::Plain), Err(StoreError::NotFound(_))));
        assert!(matches!(delete(world, &world.bert, hidden.id), Err(StoreError::NotFound(_))));
        let changed = change(world, &world.anna, &record, json!({ "enabled": false }), Act::Plain);
        let (viewer, id, old) = (world.anna.clone(), record.id, record.hash);
        let stale = world.try_write(move |tx| tx.delete_record(&viewer, id, Some(old), None));
        assert!(matches!(stale, Err(StoreError::Record(RecordRefused::Conflict { .. }))), "{stale:?}");
        let (viewer, hash) = (world.anna.clone(), changed.hash);
        world.write(move |tx| tx.delete_record(&viewer, id, Some(hash), None));
        let late = try_change(world, &world.anna, &changed, json!({ "enabled": true }), Act::Plain);
        assert!(matches!(late, Err(StoreError::NotFound(_))));
    }

    fn br_secret_002a_a_shared_secret_does_not_exist_for_others_refuses(world: &World) {
        for record_type in ["Secret", "SecretBinding", "AllowedEndpoint"] {
            let data = json!({ "name": "n", "type": "api_key", "valueVersion": 1 });
            let record = make(world, &world.anna, shared(content(record_type, data)));
            assert!(matches!(found(world, &world.bert, record.id), Err(StoreError::NotFound(_))), "{record_type}");
            assert!(matches!(delete(world, &world.bert, record.id), Err(StoreError::NotFound(_))), "{record_type}");
            assert_eq!(names(world, &world.bert, &query(record_type)), Vec::<String>::new());
            assert_eq!(names(world, &world.anna, &query(record_type)), ["n"]);
        }
    }

    fn a_list_shows_what_is_own_and_what_others_share(world: &World) {
        many(world, &world.anna, "a", 7, 2);
        many(world, &world.bert, "b", 7, 3);
        let own: Vec<String> = (0..7).map(|index| format!("a{index}")).collect();
        let others: Vec<String> = [0, 3, 6].map(|index| format!("b{index}")).to_vec();
        for limit in [1, 2, 100] {
            let asked = VisibleQuery { limit, ..query("Service") };
            let seen = |whose| {
                let mut seen = names(world, &world.anna, &VisibleQuery { whose, ..asked.clone() });
                seen.sort();
                seen
            };
            assert_eq!(seen(OwnershipFilter::Own), own);
            assert_eq!(seen(OwnershipFilter::SharedByOthers), others);
            assert_eq!(seen(OwnershipFilter::Both), [own.clone(), others.clone()].concat());
        }
        let stranger = Viewer::User(UserId::from_bytes([9; 16]));
        let mut seen = names(world, &stranger, &query("Service"));
        seen.sort();
        assert_eq!(seen, ["a0", "a2", "a4", "a6", "b0", "b3", "b6"]);
    }

    fn sharing_and_deleting_move_a_record_in_and_out_of_lists(world: &World) {
        let record = make(world, &world.anna, service("weather"));
        let seen = || names(world, &world.bert, &query("Service"));
        assert!(seen().is_empty());
        let record = change(world, &world.anna, &record, json!({ "shared": true }), Act::Plain);
        assert_eq!(seen(), ["weather"]);
        let record = change(world, &world.anna, &record, json!({ "shared": false }), Act::Plain);
        assert!(seen().is_empty());
        let record = change(world, &world.anna, &record, json!({ "shared": true }), Act::Plain);
        delete(world, &world.anna, record.id).unwrap();
        assert!(seen().is_empty() && names(world, &world.anna, &query("Service")).is_empty());
        assert_eq!(world.verify(true).breaks, []);
    }

    fn lists_answer_by_kind_enabled_and_archived(world: &World) {
        for (name, kind, enabled) in [("a", "rest_api", true), ("b", "rest_api", false), ("c", "llm_provider", true)] {
            let data = json!({ "name": name, "type": kind, "enabled": enabled });
            make(world, &world.anna, content("Service", data));
        }
        let asked = |kind: Option<&str>, enabled| {
            let kind = kind.map(str::to_owned);
            let mut seen = names(world, &world.anna, &VisibleQuery { kind, enabled, limit: 1, ..query("Service") });
            seen.sort();
            seen.concat()
        };
        assert_eq!(asked(None, None), "abc");
        assert_eq!(asked(Some("rest_api"), None), "ab");
        assert_eq!(asked(None, Some(true)), "ac");
        assert_eq!(asked(Some("rest_api"), Some(false)), "b");
        assert_eq!(asked(Some("mcp_server"), None) + &asked(Some("not a kind"), None), "");
        let old = make(world, &world.anna, content("ServiceTemplate", json!({ "name": "old" })));
        make(world, &world.anna, content("ServiceTemplate", json!({ "name": "new" })));
        change(world, &world.anna, &old, json!({ "archived": true }), Act::Archived);
        assert_eq!(names(world, &world.anna, &query("ServiceTemplate")), ["new"]);
        let all = VisibleQuery { include_archived: true, ..query("ServiceTemplate") };
        assert_eq!(names(world, &world.anna, &all).len(), 2);
        assert_eq!(names(world, &world.anna, &query("Budget")), Vec::<String>::new());
    }

    fn changes_are_told_by_what_they_are(world: &World) {
        let record = make(world, &world.anna, service("weather"));
        change(world, &world.anna, &record, json!({ "enabled": false }), Act::Plain);
        delete(world, &world.anna, record.id).unwrap();
        let secret = make(world, &world.anna, content("Secret", json!({ "name": "k", "valueVersion": 1 })));
        change(world, &world.anna, &secret, json!({ "valueVersion": 2 }), Act::Rotated);
        let template = make(world, &world.anna, content("ToolTemplate", json!({ "name": "t" })));
        change(world, &world.anna, &template, json!({ "archived": true }), Act::Archived);
        let expected = [
            EventName::ServiceCreated, EventName::ServiceChanged, EventName::ServiceDeleted, EventName::SecretCreated,
            EventName::SecretRotated, EventName::ToolTemplateCreated, EventName::ToolTemplateArchived,
        ];
        let told = || {
            let viewer = world.anna.clone();
            let items = world.read(move |tx| tx.follow(&SYSTEM, Cursor::START, 100)).into_iter();
            let mine = items.filter(move |stored| stored.item.header.owner == viewer.owner());
            mine.filter_map(|stored| skein_core::garden::event::event_of(&stored.item)).map(|event| event.name).collect::<Vec<_>>()
        };
        wait_until("all changes are told", || told().len() == expected.len());
        assert_eq!(told(), expected);
    }
}
