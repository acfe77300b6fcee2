//! Facts: appending, reading along both clocks, undo, corrected times, redaction, tenancy.

use serde_json::json;
use skein_core::flow::tool_call::large_output;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::garden::undo::UNDO_WINDOW_MS;
use skein_core::{ItemId, Millis, Viewer};
use skein_store::StoreError;
use skein_store::timeline::items::{Direction, ItemClock, ItemQuery, StoredItem};

use crate::fixtures::{START, World, both, note, object, rule_of, user};

fn texts(items: &[StoredItem]) -> Vec<String> {
    let text = |item: &StoredItem| item.item.document().unwrap()["description"].as_str().unwrap().to_owned();
    items.iter().map(text).collect()
}

/// Walks all pages of Anna's notes.
fn listed(world: &World, query: &ItemQuery) -> Vec<String> {
    let mut query = ItemQuery { item_type: Some(ItemType::NOTE), ..query.clone() };
    let mut all = Vec::new();
    loop {
        let (viewer, asked) = (world.anna.clone(), query.clone());
        let page = world.read(move |tx| tx.items(&viewer, &asked));
        all.extend(texts(&page.rows));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return all,
        }
    }
}

fn at(world: &World, text: &str, canonical: i64) -> ItemId {
    let (viewer, draft) = (world.anna.clone(), note(text, Some(Millis(canonical))));
    world.clock.advance(1);
    world.write(move |tx| tx.append_item(&viewer, &draft)).item.header.id
}

both! {
    fn an_item_reads_back_as_it_was_written(world: &World) {
        let written = world.note("ein Gruß 🐦");
        let (viewer, id) = (world.anna.clone(), written.item.header.id);
        let read = world.read(move |tx| tx.item(&viewer, id));
        assert_eq!(read, written);
        assert_eq!(read.item.header.owner, user(&world.anna));
    }

    fn a_look_shows_what_became_of_an_item_since_the_last_look(world: &World) {
        let written = world.note("not for ever");
        let id = written.item.header.id;
        let look = |viewer: &Viewer| {
            let viewer = viewer.clone();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(world.store.look_up(move |tx| tx.item(&viewer, id)))
        };
        let anna = || look(&world.anna).unwrap();
        assert_eq!((anna(), anna()), (written.clone(), written));
        assert!(matches!(look(&world.bert), Err(StoreError::NotFound(_))));
        let viewer = world.anna.clone();
        world.write(move |tx| tx.override_canonical_time(&viewer, id, Some(Millis(7))));
        assert_eq!(anna().canonical_at, Millis(7));
        let viewer = world.anna.clone();
        let tombstone = world.write(move |tx| tx.undo_item(&viewer, id)).item.header.id;
        assert_eq!(anna().tombstone, Some(tombstone));
        let viewer = world.anna.clone();
        world.write(move |tx| tx.redact_item(&viewer, id, "asked for").map(drop));
        assert_eq!(anna().item.payload, None);
    }

    fn raw_bytes_are_kept_compressed_and_read_back_the_same(world: &World) {
        let bytes = b"{\"id\":\"r1\"}\r\n".repeat(5_000);
        let draft = ItemDraft::received(ItemType::parse("SensorReading").unwrap(), bytes.clone()).unwrap();
        let viewer = world.anna.clone();
        let id = world.write(move |tx| tx.append_item(&viewer, &draft)).item.header.id;
        let viewer = world.anna.clone();
        let read = world.read(move |tx| tx.item(&viewer, id));
        assert_eq!(read.item.payload.unwrap().bytes(), bytes);
        let longer_than_a_tenth = format!("SELECT 1 FROM items WHERE length(payload) > {}", bytes.len() / 10);
        assert_eq!(world.tamper(&format!("UPDATE meta SET value = value WHERE EXISTS ({longer_than_a_tenth})")), Ok(0));
    }

    fn a_batch_is_all_or_nothing(world: &World) {
        let viewer = world.anna.clone();
        let drafts: Vec<ItemDraft> = (0..250).map(|number| note(&number.to_string(), None)).collect();
        let stored = world.write(move |tx| tx.append_items(&viewer, &drafts));
        assert!(stored.windows(2).all(|pair| pair[0].cursor < pair[1].cursor));
        let viewer = world.anna.clone();
        let failed = world.try_write(move |tx| {
            tx.append_item(&viewer, &note("lost", None))?;
            Err::<(), _>(StoreError::Busy)
        });
        assert!(matches!(failed, Err(StoreError::Busy)));
        assert_eq!(listed(world, &ItemQuery { limit: 100, ..ItemQuery::default() }).len(), 250);
    }

    fn mg_soil_001_items_are_appended_and_stay_holds(world: &World) {
        let first = world.note("first");
        world.note("second");
        let (viewer, id) = (world.anna.clone(), first.item.header.id);
        assert_eq!(world.read(move |tx| tx.item(&viewer, id)), first);
    }

    fn mg_soil_001_updating_or_deleting_an_item_refuses(world: &World) {
        world.note("mine");
        for sql in ["UPDATE items SET type = 'Other'", "UPDATE items SET canonical_at = 0", "DELETE FROM items"] {
            let refused = world.tamper(sql).unwrap_err();
            assert!(refused.contains("MG-SOIL-001"), "{sql}: {refused}");
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_sec_003_the_audit_trail_survives_undo_and_redaction_holds(world: &World) {
        let [undone, redacted] = ["a", "b"].map(|text| world.note(text).item.header.id);
        let viewer = world.anna.clone();
        world.write(move |tx| {
            tx.undo_item(&viewer, undone)?;
            tx.redact_item(&viewer, redacted, "asked for")
        });
        let viewer = world.anna.clone();
        let (first, second) = world.read(move |tx| Ok((tx.item(&viewer, undone)?, tx.item(&viewer, redacted)?)));
        assert!(first.tombstone.is_some() && first.item.payload.is_some());
        assert!(second.item.payload.is_none());
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_sec_003_tampering_with_the_audit_trail_refuses(world: &World) {
        world.note("evidence");
        assert!(world.tamper("DELETE FROM items WHERE type = 'Note'").is_err());
        assert!(world.tamper("UPDATE items SET payload_hash = hash").is_err());
    }

    fn mg_soil_002_two_clocks_per_item_holds(world: &World) {
        let viewer = world.anna.clone();
        let stored = world.write(move |tx| tx.append_item(&viewer, &note("then", Some(Millis(5)))));
        assert_eq!((stored.item.header.realized_at, stored.canonical_at), (START, Millis(5)));
        assert_eq!(world.note("now").canonical_at, START);
    }

    fn mg_soil_002_a_stated_time_does_not_move_the_recorded_one_refuses(world: &World) {
        let id = at(world, "future", 9_999_999_999_999);
        let viewer = world.anna.clone();
        let stored = world.read(move |tx| tx.item(&viewer, id));
        assert_eq!(stored.item.header.realized_at, START.plus(1));
    }

    fn mg_soil_005_undo_hides_the_item_holds(world: &World) {
        let (kept, gone) = (world.note("kept"), world.note("gone"));
        let (viewer, id) = (world.anna.clone(), gone.item.header.id);
        world.clock.advance(UNDO_WINDOW_MS);
        let tombstone = world.write(move |tx| tx.undo_item(&viewer, id)).item.header.id;
        assert_eq!(listed(world, &ItemQuery { limit: 10, ..ItemQuery::default() }), ["kept"]);
        assert_eq!(listed(world, &ItemQuery { limit: 10, include_hidden: true, ..ItemQuery::default() }).len(), 2);
        let viewer = world.anna.clone();
        let superseding = world.read(move |tx| tx.superseding(&viewer, id));
        assert_eq!(superseding, Some(Endpoint::Item(tombstone)));
        assert_eq!(world.verify(true).breaks, []);
        assert_ne!(kept.item.header.id, id);
    }

    fn mg_soil_005_what_supersedes_or_is_superseded_is_undone_holds(world: &World) {
        let [old, new, newer] = ["old", "new", "newer"].map(|text| world.note(text).item.header.id);
        let relate = |source, target| {
            let (source, target) = (Endpoint::Item(source), Endpoint::Item(target));
            let draft = RelationDraft::new(RelationKind::Supercedes, source, target, RelationAttributes::default()).unwrap();
            let viewer = world.anna.clone();
            world.write(move |tx| tx.relate(&viewer, &draft));
        };
        let undo = |id| {
            let viewer = world.anna.clone();
            world.write(move |tx| tx.undo_item(&viewer, id));
        };
        let superseding = |id| {
            let viewer = world.anna.clone();
            world.read(move |tx| tx.superseding(&viewer, id))
        };
        relate(new, old);
        undo(new);
        assert_eq!(superseding(old), None, "what was undone supersedes nothing");
        relate(newer, old);
        undo(old);
        assert_eq!(superseding(old), Some(Endpoint::Item(newer)));
        undo(newer);
        assert_eq!(superseding(old), None);
        assert!(listed(world, &ItemQuery { limit: 10, ..ItemQuery::default() }).is_empty());
        world.seal();
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_soil_005_undo_too_late_twice_or_by_another_refuses(world: &World) {
        let id = world.note("mine").item.header.id;
        let viewer = world.bert.clone();
        assert!(matches!(world.try_write(move |tx| tx.undo_item(&viewer, id)), Err(StoreError::NotFound(_))));
        let once = world.note("once").item.header.id;
        let viewer = world.anna.clone();
        world.write(move |tx| tx.undo_item(&viewer, once));
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.undo_item(&viewer, once))), "MG-SOIL-005");
        world.clock.advance(UNDO_WINDOW_MS + 1);
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.undo_item(&viewer, id))), "MG-SOIL-005");
    }

    fn mg_soil_006_a_corrected_time_is_applied_by_reads_holds(world: &World) {
        at(world, "b", 2_000);
        let moved = at(world, "a", 9_000);
        at(world, "c", 3_000);
        let along = ItemQuery { along: ItemClock::Canonical, limit: 1, ..ItemQuery::default() };
        assert_eq!(listed(world, &along), ["b", "c", "a"]);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.override_canonical_time(&viewer, moved, Some(Millis(1_000))));
        assert_eq!(listed(world, &along), ["a", "b", "c"]);
        let backward = ItemQuery { direction: Direction::Backward, ..along.clone() };
        assert_eq!(listed(world, &backward), ["c", "b", "a"]);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.override_canonical_time(&viewer, moved, None));
        assert_eq!(listed(world, &along), ["b", "c", "a"]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_soil_006_the_stored_time_itself_refuses_to_change(world: &World) {
        let id = at(world, "a", 9_000);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.override_canonical_time(&viewer, id, Some(Millis(1_000))));
        let viewer = world.anna.clone();
        let stored = world.read(move |tx| tx.item(&viewer, id));
        assert_eq!((stored.item.header.canonical_at, stored.canonical_at), (Millis(9_000), Millis(1_000)));
        let viewer = world.bert.clone();
        let refused = world.try_write(move |tx| tx.override_canonical_time(&viewer, id, Some(Millis(1))));
        assert!(matches!(refused, Err(StoreError::NotFound(_))));
    }

    fn mg_soil_008_unknown_types_are_kept_holds(world: &World) {
        let draft = ItemDraft::stated(ItemType::parse("Zebra").unwrap(), object(json!({ "stripes": 40 })), None).unwrap();
        let viewer = world.anna.clone();
        let written = world.write(move |tx| tx.append_item(&viewer, &draft));
        let viewer = world.anna.clone();
        let read = world.read(move |tx| tx.item(&viewer, written.item.header.id));
        assert_eq!(read.item.document().unwrap()["stripes"], 40);
    }

    fn mg_soil_008_an_unknown_type_posing_as_structure_refuses(world: &World) {
        let data = object(json!({ "itemId": ItemId::from_bytes([1; 16]).to_string() }));
        assert!(ItemDraft::stated(ItemType::TOMBSTONE, data.clone(), None).is_err());
        let draft = ItemDraft::stated(ItemType::parse("Tombstone2").unwrap(), data, None).unwrap();
        let viewer = world.anna.clone();
        world.write(move |tx| tx.append_item(&viewer, &draft));
        assert_eq!(world.tamper("DELETE FROM item_marks"), Ok(0));
    }

    fn mg_soil_010_redaction_destroys_the_payload_and_verifies_holds(world: &World) {
        let id = world.note("the secret word is albatross").item.header.id;
        world.seal();
        let viewer = world.anna.clone();
        world.write(move |tx| tx.redact_item(&viewer, id, "a secret"));
        assert_eq!(world.tamper("UPDATE meta SET value = value WHERE (SELECT count(*) FROM items WHERE payload IS NULL) = 1").map(|rows| rows > 0), Ok(true));
        let report = world.verify(true);
        assert_eq!((report.breaks, report.redacted), (vec![], 1));
    }

    fn mg_soil_010_redaction_by_another_or_of_structure_refuses(world: &World) {
        let id = world.note("mine").item.header.id;
        let viewer = world.bert.clone();
        assert!(matches!(world.try_write(move |tx| tx.redact_item(&viewer, id, "why")), Err(StoreError::NotFound(_))));
        world.seal();
        let viewer = world.anna.clone();
        let query = ItemQuery { item_type: Some(ItemType::SEAL), limit: 1, ..ItemQuery::default() };
        let seal = world.read(move |tx| tx.items(&viewer, &query)).rows[0].item.header.id;
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.redact_item(&viewer, seal, "why"))), "MG-SOIL-010");
    }

    fn a_stranger_finds_nothing(world: &World) {
        let id = world.note("private").item.header.id;
        let viewer = world.bert.clone();
        assert!(matches!(world.try_read(move |tx| tx.item(&viewer, id)), Err(StoreError::NotFound(_))));
        let (viewer, owner) = (world.bert.clone(), user(&world.anna));
        let query = ItemQuery { limit: 10, ..ItemQuery::default() };
        assert!(world.try_read(move |tx| tx.items_of(&viewer, owner, &query)).is_err());
        let viewer = world.bert.clone();
        let follow = world.try_read(move |tx| tx.follow(&viewer, skein_core::garden::cursor::Cursor::START, 10));
        assert!(matches!(follow, Err(StoreError::Forbidden)));
    }

    fn a_granted_admin_reads_until_the_grant_ends(world: &World) {
        let id = world.note("private").item.header.id;
        let grant = skein_core::account::Grant { item: id, owner: user(&world.anna), until: START.plus(10) };
        let admin = Viewer::Admin { user: user(&world.bert), grant };
        let viewer = admin.clone();
        assert!(world.try_read(move |tx| tx.item(&viewer, id)).is_ok());
        let viewer = admin.clone();
        assert!(world.try_write(move |tx| tx.undo_item(&viewer, id)).is_err());
        world.clock.advance(10);
        assert!(world.try_read(move |tx| tx.item(&admin, id)).is_err());
    }

    fn a_page_of_large_items_ends_early_and_goes_on(world: &World) {
        let large = "x".repeat(1_000_000);
        for _ in 0..20 {
            world.note(&large);
        }
        let query = ItemQuery { item_type: Some(ItemType::NOTE), limit: 100, ..ItemQuery::default() };
        let (viewer, first) = (world.anna.clone(), query.clone());
        let page = world.read(move |tx| tx.items(&viewer, &first));
        assert!((16..20).contains(&page.rows.len()) && page.next.is_some());
        assert_eq!(listed(world, &query).len(), 20);
    }

    fn many_items_of_one_moment_are_paged_through(world: &World) {
        let viewer = world.anna.clone();
        let drafts: Vec<ItemDraft> = (0..50).map(|number| note(&number.to_string(), Some(Millis(7)))).collect();
        world.write(move |tx| tx.append_items(&viewer, &drafts));
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        for along in [ItemClock::Realized, ItemClock::Canonical] {
            let forward = ItemQuery { along, limit: 7, ..ItemQuery::default() };
            assert_eq!(listed(world, &forward), names);
            let backward = ItemQuery { direction: Direction::Backward, ..forward };
            assert_eq!(listed(world, &backward), names.iter().rev().cloned().collect::<Vec<_>>());
        }
    }

    fn a_correction_by_skein_itself_stays_with_the_items_owner(world: &World) {
        let id = at(world, "a", 9_000);
        world.write(move |tx| tx.override_canonical_time(&Viewer::System("test"), id, Some(Millis(1_000))));
        let along = ItemQuery { along: ItemClock::Canonical, limit: 10, ..ItemQuery::default() };
        assert_eq!(listed(world, &along), ["a"]);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.override_canonical_time(&viewer, id, None));
        let viewer = world.anna.clone();
        assert!(world.try_write(move |tx| tx.override_canonical_time(&viewer, id, Some(Millis(i64::MAX)))).is_err());
    }

    fn pages_cover_everything_once_in_both_directions(world: &World) {
        for number in 0..25 {
            at(world, &format!("{number:02}"), 1_000 - number % 3);
        }
        let forward = ItemQuery { limit: 4, ..ItemQuery::default() };
        let names: Vec<String> = (0..25).map(|number| format!("{number:02}")).collect();
        assert_eq!(listed(world, &forward), names);
        let backward = ItemQuery { direction: Direction::Backward, ..forward.clone() };
        assert_eq!(listed(world, &backward), names.iter().rev().cloned().collect::<Vec<_>>());
        let canonical = ItemQuery { along: ItemClock::Canonical, ..forward.clone() };
        let mut sorted = listed(world, &canonical);
        assert!(sorted[..8].iter().all(|name| name.parse::<i64>().unwrap() % 3 == 2));
        sorted.sort();
        assert_eq!(sorted, names);
        let span = ItemQuery { from: Some(START.plus(2)), until: Some(START.plus(5)), ..forward };
        assert_eq!(listed(world, &span), ["01", "02", "03"]);
    }
}

#[test]
fn a_clock_set_back_does_not_run_backwards() {
    let world = World::sqlite();
    world.note("first");
    world.clock.advance(-5_000);
    assert_eq!(world.note("second").item.header.realized_at, START);
}

both! {
    fn what_calls_said_and_gave_is_destroyed_on_demand_and_the_rest_holds(world: &World) {
        let viewer = world.anna.clone();
        let ids = world.write(move |tx| {
            let call = tx.append_item(&viewer, &ItemDraft::recorded(ItemType::TOOL_CALL, &object(json!({ "inputs": {} }))))?;
            let large = large_output(&json!({ "text": "x".repeat(2 << 20) }))?;
            Ok([call.item.header.id, tx.append_item(&viewer, &large)?.item.header.id])
        });
        let kept = world.read({ let viewer = world.anna.clone(); move |tx| tx.item(&viewer, ids[1]) });
        assert_eq!(kept.item.payload.unwrap().bytes().len(), (2 << 20) + 11);
        assert_eq!(world.verify(true).breaks, []);
        for id in ids {
            let viewer = world.anna.clone();
            world.write(move |tx| tx.redact_item(&viewer, id, "asked for"));
        }
        assert_eq!(world.verify(true).breaks, []);
    }
}

#[test]
fn a_destroyed_payload_leaves_sqlites_log_although_writing_never_rests() {
    let world = World::sqlite();
    let id = world.note("CANARY-TO-BE-DESTROYED").item.header.id;
    let log = world.folder.path().join("skein.db-wal");
    let is_in_log = || std::fs::read(&log).unwrap().windows(22).any(|bytes| bytes == b"CANARY-TO-BE-DESTROYED");
    assert!(is_in_log());
    let viewer = world.anna.clone();
    world.write(move |tx| tx.redact_item(&viewer, id, "asked for"));
    // Whoever is answered next comes after the log was cut off.
    world.note("next");
    assert!(!is_in_log());
}
