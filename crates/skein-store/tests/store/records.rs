//! Beliefs: versions, conflicts, history, state at any version or time, notifications.

use serde_json::json;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::changed_fields;
use skein_core::garden::item::ItemType;
use skein_core::garden::record::{Record, RecordRefused};
use skein_core::{RecordId, Viewer};
use skein_store::StoreError;
use skein_store::settings::setting_value;
use skein_store::timeline::items::ItemQuery;
use skein_store::timeline::records::RecordVersion;

use crate::fixtures::{START, World, both, content, wait_until};

const FOLLOWER: Viewer = Viewer::System("test");

const SYSTEM: Viewer = Viewer::System("test");

fn create(world: &World, amount: i64, filler: usize) -> Record {
    let viewer = world.anna.clone();
    let content = content("Budget", json!({ "amount": amount, "text": "x".repeat(filler) }));
    world.write(move |tx| tx.create_record(&viewer, content.clone(), None))
}

fn change(world: &World, record: &Record, amount: i64) -> Result<Record, StoreError> {
    let (viewer, id, hash) = (world.anna.clone(), record.id, record.hash);
    let mut content = record.content.clone();
    content.data.insert("amount".into(), json!(amount));
    world.try_write(move |tx| tx.update_record(&viewer, id, hash, content.clone(), Some("because".into())))
}

/// A record with `versions` versions, a millisecond apart; version n has amount n.
fn grown(world: &World, versions: i64, filler: usize) -> RecordId {
    let mut record = create(world, 1, filler);
    for amount in 2..=versions {
        world.clock.advance(1);
        record = change(world, &record, amount).unwrap();
    }
    record.id
}

fn changes(world: &World, viewer: &Viewer, after: Cursor) -> Vec<RecordVersion> {
    let viewer = viewer.clone();
    world.read(move |tx| tx.record_changes(&viewer, after, 100))
}

both! {
    fn mg_core_001_versions_in_the_store_holds(world: &World) {
        let first = create(world, 1, 0);
        let second = change(world, &first, 2).unwrap();
        assert_eq!((second.version, second.previous_hash), (2, Some(first.hash)));
        let (viewer, id) = (world.anna.clone(), first.id);
        assert_eq!(world.read(move |tx| tx.record(&viewer, id)), second);
    }

    fn mg_core_001_a_skipped_version_refuses(world: &World) {
        let record = create(world, 1, 0);
        change(world, &record, 2).unwrap();
        assert!(world.tamper("UPDATE records SET version = 0 WHERE type = 'Budget'").is_err());
        world.tamper("UPDATE records SET version = 9 WHERE type = 'Budget'").unwrap();
        let found = world.verify(true).breaks;
        assert!(found.iter().any(|broken| broken.table == "records" && broken.problem.contains("version")), "{found:?}");
    }

    fn mg_core_002_the_first_of_two_changes_holds(world: &World) {
        let record = create(world, 1, 0);
        assert!(change(world, &record, 2).is_ok());
    }

    fn mg_core_002_the_second_of_two_changes_refuses(world: &World) {
        let record = create(world, 1, 0);
        let current = change(world, &record, 2).unwrap();
        match change(world, &record, 3) {
            Err(StoreError::Record(RecordRefused::Conflict { current: found, based_on, .. })) => {
                assert_eq!((found, based_on), (current.hash, record.hash));
            }
            other => panic!("expected a conflict, got {other:?}"),
        }
    }

    fn of_many_concurrent_changes_exactly_one_wins(world: &World) {
        let record = create(world, 0, 0);
        let outcomes: Vec<bool> = std::thread::scope(|scope| {
            let racers: Vec<_> = (1..=8).map(|amount| scope.spawn({ let record = &record; move || change(world, record, amount).is_ok() })).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
        let (viewer, id) = (world.anna.clone(), record.id);
        assert_eq!(world.read(move |tx| tx.record(&viewer, id)).version, 2);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_core_003_every_change_leaves_a_delta_holds(world: &World) {
        let record = grown(world, 3, 0);
        let viewer = world.anna.clone();
        let query = ItemQuery { item_type: Some(ItemType::ENTITY_DELTA), limit: 100, ..ItemQuery::default() };
        let deltas = world.read(move |tx| tx.items(&viewer, &query)).rows;
        let mine = deltas.iter().filter(|delta| delta.item.document().unwrap()["entityId"] == json!(record.to_string()));
        assert_eq!(mine.count(), 3);
    }

    fn mg_core_003_a_refused_change_leaves_no_delta_refuses(world: &World) {
        let record = create(world, 1, 0);
        let current = change(world, &record, 2).unwrap();
        assert!(change(world, &record, 3).is_err());
        let (viewer, id) = (world.anna.clone(), current.id);
        assert_eq!(world.read(move |tx| tx.history(&viewer, id, 0, 10)).rows.len(), 2);
    }

    fn mg_core_004_any_version_and_time_is_rebuilt_holds(world: &World) {
        for filler in [0, 9_000] {
            let start = skein_core::Millis(START.0 + if filler == 0 { 0 } else { 39 });
            let id = grown(world, 40, filler);
            for version in [1, 2, 16, 17, 18, 33, 40] {
                let viewer = world.anna.clone();
                let content = world.read(move |tx| tx.record_at_version(&viewer, id, version));
                assert_eq!(content.data["amount"], json!(version));
                let viewer = world.anna.clone();
                let at = start.plus(version - 1);
                assert_eq!(world.read(move |tx| tx.record_at_time(&viewer, id, at)).0, version);
            }
        }
    }

    fn mg_core_004_a_version_that_never_was_refuses(world: &World) {
        let id = grown(world, 2, 0);
        for version in [0, 3, -1] {
            let viewer = world.anna.clone();
            let missing = world.try_read(move |tx| tx.record_at_version(&viewer, id, version));
            assert!(matches!(missing, Err(StoreError::NotFound(_))), "{version}");
        }
        let viewer = world.anna.clone();
        assert!(world.try_read(move |tx| tx.record_at_time(&viewer, id, START.plus(-1))).is_err());
    }

    fn two_versions_can_be_compared(world: &World) {
        let id = grown(world, 2, 0);
        let viewer = world.anna.clone();
        let (old, new) = world.read(move |tx| {
            Ok((tx.record_at_version(&viewer, id, 1)?, tx.record_at_version(&viewer, id, 2)?))
        });
        assert_eq!(serde_json::to_value(changed_fields(Some(&old), &new)).unwrap(), json!({ "amount": [1, 2] }));
    }

    fn mg_core_005_records_and_items_keep_their_own_ids_holds(world: &World) {
        let record = create(world, 1, 0);
        assert!(record.id.to_string().starts_with("entity_"));
        assert!(world.note("fact").item.header.id.to_string().starts_with("item_"));
    }

    fn mg_core_005_a_record_read_as_an_item_refuses(world: &World) {
        let record = create(world, 1, 0);
        let (viewer, id) = (world.anna.clone(), skein_core::ItemId::from_bytes(*record.id.as_bytes()));
        assert!(matches!(world.try_read(move |tx| tx.item(&viewer, id)), Err(StoreError::NotFound(_))));
        assert!(record.id.to_string().parse::<skein_core::ItemId>().is_err());
    }

    fn mg_core_007_keys_users_and_settings_change_by_their_own_acts_holds(world: &World) {
        let viewer = world.anna.clone();
        let key = world.write(move |tx| tx.create_key(&viewer, "k", skein_core::account::Scope::Read, skein_core::Digest::of(b"k")));
        let viewer = world.anna.clone();
        world.write(move |tx| tx.revoke_key(&viewer, key));
    }

    fn mg_core_007_writing_a_record_of_skeins_own_type_refuses(world: &World) {
        for (record_type, data) in [
            ("User", json!({ "name": "bert", "role": "admin" })),
            ("ApiKey", json!({ "scope": "admin", "keyHash": "0".repeat(64) })),
            ("Setting", json!({ "name": "retention", "value": 1 })),
            ("TimeOverride", json!({ "itemId": world.note("hers").item.header.id.to_string(), "canonicalAt": null })),
        ] {
            let (viewer, made) = (world.bert.clone(), content(record_type, data));
            let changed = made.clone();
            let created = world.try_write(move |tx| tx.create_record(&viewer, made.clone(), None));
            assert_eq!(crate::fixtures::rule_of(created), "MG-CORE-007", "{record_type}");
            let viewer = world.bert.clone();
            let updated = world.try_write(move |tx| {
                let own: RecordId = viewer.owner().into();
                let hash = tx.record(&viewer, own)?.hash;
                tx.update_record(&viewer, own, hash, changed.clone(), None)
            });
            assert_eq!(crate::fixtures::rule_of(updated), "MG-CORE-007", "{record_type}");
        }
    }

    fn names_and_reasons_are_bounded_alike(world: &World) {
        let viewer = world.anna.clone();
        let long = content("Budget", json!({ "name": "n".repeat(1_001) }));
        assert!(world.try_write(move |tx| tx.create_record(&viewer, long.clone(), None)).is_err());
        for reason in ["r".repeat(4_001), "\0".to_owned()] {
            let viewer = world.anna.clone();
            let made = content("Budget", json!({ "name": "n".repeat(1_000) }));
            assert!(world.try_write(move |tx| tx.create_record(&viewer, made.clone(), Some(reason.clone()))).is_err());
        }
        let (viewer, made) = (world.anna.clone(), content("Budget", json!({ "name": "ü".repeat(500) })));
        assert!(world.try_write(move |tx| tx.create_record(&viewer, made.clone(), None)).is_ok());
    }

    fn mg_delta_003_changes_are_told_in_order_holds(world: &World) {
        let id = grown(world, 3, 0);
        wait_until("all three changes are told", || changes(world, &world.anna, Cursor::START).iter().filter(|told| told.record == id).count() == 3);
        let told = changes(world, &world.anna, Cursor::START);
        let told: Vec<_> = told.iter().filter(|told| told.record == id).collect();
        assert_eq!(told.iter().map(|told| told.version).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(told.windows(2).all(|pair| pair[1].previous_hash == Some(pair[0].hash)));
    }

    fn mg_delta_003_changes_of_others_are_not_told_refuses(world: &World) {
        let id = grown(world, 2, 0);
        wait_until("the changes are told", || changes(world, &world.anna, Cursor::START).iter().any(|told| told.record == id));
        assert!(changes(world, &world.bert, Cursor::START).iter().all(|told| told.record != id));
    }

    fn a_follower_of_skeins_own_goes_on_where_it_stopped(world: &World) {
        grown(world, 2, 0);
        wait_until("the changes are told", || changes(world, &world.anna, Cursor::START).len() == 3);
        let last = changes(world, &world.anna, Cursor::START)[2].cursor;
        world.write(move |tx| tx.acknowledge(&FOLLOWER, "follower", last));
        let id = create(world, 5, 0).id;
        let from = world.read(|tx| tx.cursor(&FOLLOWER, "follower"));
        wait_until("the new record is told", || changes(world, &world.anna, from).iter().map(|told| told.record).eq([id]));
    }

    fn a_follower_of_skeins_own_never_goes_backwards(world: &World) {
        let (early, late) = (Cursor { tx: 0, position: 5 }, Cursor { tx: 0, position: 9 });
        world.write(move |tx| { tx.acknowledge(&FOLLOWER, "follower", late)?; tx.acknowledge(&FOLLOWER, "follower", early) });
        assert_eq!(world.read(|tx| tx.cursor(&FOLLOWER, "follower")), late);
        assert_eq!(world.read(|tx| tx.cursor(&FOLLOWER, "another")), Cursor::START);
    }

    fn sharing_shows_a_record_and_lets_nobody_else_change_it(world: &World) {
        let record = create(world, 1, 0);
        let (viewer, id) = (world.bert.clone(), record.id);
        assert!(world.try_read(move |tx| tx.record(&viewer, id)).is_err());
        let (viewer, hash, mut content) = (world.anna.clone(), record.hash, record.content.clone());
        content.shared = true;
        let shared = content.clone();
        let record = world.write(move |tx| tx.update_record(&viewer, id, hash, shared.clone(), None));
        let (viewer, hash) = (world.bert.clone(), record.hash);
        let seen = { let viewer = viewer.clone(); world.read(move |tx| tx.record(&viewer, id)) };
        assert_eq!(seen.content, content);
        let past = { let viewer = viewer.clone(); world.try_read(move |tx| tx.record_at_version(&viewer, id, 1)) };
        assert!(matches!(past, Err(StoreError::NotFound(_))), "sharing showed what was there before");
        content.data.insert("amount".into(), json!(0));
        let refused = world.try_write(move |tx| tx.update_record(&viewer, id, hash, content.clone(), None));
        assert!(matches!(refused, Err(StoreError::Forbidden)));
    }

    fn settings_have_one_value_and_a_history(world: &World) {
        for value in [json!(5), json!({ "deep": true })] {
            world.write(move |tx| tx.set_setting(&SYSTEM, "limit", &value, None));
        }
        let current = world.read(|tx| tx.setting(&SYSTEM, "limit")).unwrap();
        assert_eq!(setting_value(&current), Some(&json!({ "deep": true })));
        assert_eq!(world.read(|tx| tx.setting(&SYSTEM, "other")), None);
        let viewer = world.anna.clone();
        assert!(matches!(world.try_write(move |tx| tx.set_setting(&viewer, "limit", &json!(0), None)), Err(StoreError::Forbidden)));
    }

    fn a_key_opens_until_it_is_revoked(world: &World) {
        use skein_core::account::{Role, Scope};
        let hash = skein_core::Digest::of(b"sk_secret");
        let viewer = world.anna.clone();
        let key = world.write(move |tx| tx.create_key(&viewer, "laptop", Scope::Write, hash));
        let holder = world.read(move |tx| tx.key_holder(&SYSTEM, hash)).unwrap();
        assert_eq!((holder.key, holder.user, holder.role, holder.scope), (key, world.anna.owner(), Role::User, Scope::Write));
        world.write(move |tx| tx.touch_key(&SYSTEM, key));
        assert_eq!(world.read(move |tx| tx.key_last_used(&SYSTEM, key)), Some(START));
        let viewer = world.bert.clone();
        assert!(world.try_write(move |tx| tx.revoke_key(&viewer, key)).is_err());
        let viewer = world.anna.clone();
        world.write(move |tx| tx.revoke_key(&viewer, key));
        assert_eq!(world.read(move |tx| tx.key_holder(&SYSTEM, hash)), None);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_key_is_held_with_the_time_at_which_it_expires(world: &World) {
        use skein_core::account::Scope;
        let ends = [None, Some(START.plus(-1)), Some(START.plus(1))];
        for (n, expires_at) in (0_u8..).zip(ends) {
            let (viewer, hash) = (world.anna.clone(), skein_core::Digest::of(&[n]));
            let key = world.write(move |tx| tx.create_key_until(&viewer, "k", Scope::Read, hash, expires_at));
            let holder = world.read(move |tx| tx.key_holder(&SYSTEM, hash)).unwrap();
            assert_eq!((holder.key, holder.expires_at), (key, expires_at), "who holds it is told; who may use it is judged");
            let viewer = world.anna.clone();
            let record = world.read(move |tx| tx.record(&viewer, RecordId::from_bytes(*key.as_bytes())));
            assert_eq!(record.content.data.contains_key("expiresAt"), expires_at.is_some(), "as keys were before");
        }
        assert_eq!(world.verify(true).breaks, []);
    }
}
