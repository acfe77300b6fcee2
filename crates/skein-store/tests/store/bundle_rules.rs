//! Tests that imported content obeys the same rules as content written by requests.

use serde_json::{Value, json};
use skein_core::canonical::{self, Escape};
use skein_core::garden::item::{Item, ItemDraft, ItemType};
use skein_core::garden::record::{self, Act, ChangeNote};
use skein_core::garden::relation::{Endpoint, Relation, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{ItemId, Millis, RecordId, RelationId, Viewer};
use skein_store::StoreError;
use skein_store::bundle::{Authority, BadBundle};
use skein_store::timeline::items::ItemQuery;

use crate::bundle::{event, export_all, try_import, unzip};
use crate::bundle_refusals::{Forged, created, made_up, refusal};
use crate::fixtures::{START, World, both, content, note, object, rule_of, user};
use crate::tree::{after, conversation, say};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn now(world: &World) -> Millis {
    world.read(|tx| Ok(tx.now()))
}

/// An item of Anna's that no act wrote.
fn forged(world: &World, number: u8, item_type: &str, data: Value, at: Millis) -> Item {
    let draft = ItemDraft::recorded(ItemType::parse(item_type).unwrap(), &object(data));
    draft.realize(ItemId::from_bytes([number; 16]), user(&world.anna), at)
}

/// Which rule Anna breaks by bringing some items after everything she has.
fn breach(world: &World, items: &[&Item]) -> &'static str {
    refused(world, Forged::of(&export_all(world, user(&world.anna))), items)
}

fn refused(world: &World, bundle: Forged, items: &[&Item]) -> &'static str {
    let bundle = items.iter().fold(bundle, |bundle, item| bundle.and(item)).zip();
    rule_of(Err::<(), _>(refusal(world, &bundle, &Authority::Owner(world.anna.clone()))))
}

fn stated(world: &World, item_type: &str, data: Value) -> &'static str {
    breach(world, &[&forged(world, 0xE1, item_type, data, now(world))])
}

fn tombstone(world: &World, number: u8, target: ItemId, at: Millis) -> Item {
    forged(world, number, "Tombstone", json!({ "itemId": target.to_string(), "reason": "undo" }), at)
}

/// An edge as a document: from, to, and what it says.
#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn edge(kind: &str, [source, target]: [Endpoint; 2], confidence: Value, metadata: Value) -> Value {
    json!({
        "relationId": RelationId::from_bytes([0xE2; 16]).to_string(), "kind": kind, "confidence": confidence, "metadata": metadata,
        "source": source.id_text(), "sourceType": source.kind().as_str(),
        "target": target.id_text(), "targetType": target.kind().as_str(),
    })
}

/// Which rule an edge breaks; the bundle is right but for that.
fn related(world: &World, edge: &Value) -> (&'static str, String) {
    let item = forged(world, 0xE1, "RelationCreated", edge.clone(), now(world));
    let line = json!({
        "id": edge["relationId"], "owner": user(&world.anna).to_string(), "kind": edge["kind"],
        "source": { "id": edge["source"], "type": edge["sourceType"] },
        "target": { "id": edge["target"], "type": edge["targetType"] },
        "confidence": edge["confidence"], "metadata": edge["metadata"], "realizedAt": now(world).to_string(),
    });
    let bundle = Forged::of(&export_all(world, user(&world.anna))).and(&item);
    let bundle = bundle.with("relations.jsonl", |lines| {
        lines.push(canonical::to_string(&line, Escape::Unicode));
        lines.sort_by_key(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string());
    });
    let error = refusal(world, &bundle.zip(), &Authority::Owner(world.anna.clone()));
    let told = error.to_string();
    (rule_of(Err::<(), _>(error)), told)
}

fn notes<const N: usize>(world: &World) -> [Endpoint; N] {
    [(); N].map(|()| Endpoint::Item(world.note("n").item.header.id))
}

fn relate(world: &World, kind: RelationKind, source: Endpoint, target: Endpoint) -> Relation {
    let viewer = world.anna.clone();
    let draft = RelationDraft::new(kind, source, target, RelationAttributes::default()).unwrap();
    world.write(move |tx| tx.relate(&viewer, &draft))
}

/// A store that has what Anna had so far, and her history without what only her first store testifies to.
fn moved(world: &World) -> World {
    let other = World::sqlite();
    other.clock.advance(DAY_MS);
    try_import(&other, &export_all(world, user(&world.anna)), &Authority::Installation).unwrap();
    other
}

fn without_events(bundle: &[u8]) -> Forged {
    Forged::of(bundle).with("items.jsonl", |lines| lines.retain(|line| !line.contains(r#""type":"SystemEvent""#)))
}

/// Everything Anna may do on her own, in another store than the one that will judge it.
fn go_on(world: &World) {
    let viewer = world.anna.clone();
    let [cause, effect] = notes(world);
    relate(world, RelationKind::Triggers, cause, effect);
    let undone = world.note("taken back").item.header.id;
    world.clock.advance(299_000);
    let loose = relate(world, RelationKind::Mentions, effect, cause);
    let kept = relate(world, RelationKind::LinkedWith, cause, effect);
    world.write(move |tx| {
        tx.undo_item(&viewer, undone)?;
        tx.edit_relation(&viewer, loose.id, &RelationAttributes::inferred(1.0 / 3.0))?;
        tx.remove_relation(&viewer, loose.id, "wrong")?;
        tx.edit_relation(
            &viewer,
            kept.id,
            &RelationAttributes { confidence: None, metadata: object(json!({ "why": "ü" })) },
        )?;
        let long =
            |number: i64| content("Budget", json!({ "name": "b", "text": "x".repeat(10_000), "number": number }));
        let mut budget = tx.create_record(&viewer, long(0), Some("because".to_owned()))?;
        for number in 1..20 {
            budget = tx.update_record(&viewer, budget.id, budget.hash, long(number), None)?;
        }
        let about = RelationDraft::new(
            RelationKind::Mentions,
            cause,
            Endpoint::Entity(budget.id),
            RelationAttributes::default(),
        )?;
        tx.relate(&viewer, &about)?;
        tx.delete_record(&viewer, budget.id, None, Some("over".to_owned()))?;
        let raw = ItemDraft::received(ItemType::parse("SensorReading")?, vec![0, 255])?;
        let other = ItemDraft::stated(ItemType::parse("Weather2")?, object(json!({ "x": -0.0 })), None)?;
        tx.append_items(&viewer, &[raw, other, note("long ago", Some(Millis(-1)))])?;
        tx.redact_item(&viewer, undone, "asked for")?;
        let Endpoint::Item(effect) = effect else { unreachable!("notes are items") };
        tx.override_canonical_time(&viewer, effect, Some(Millis(7)))?;
        tx.override_canonical_time(&viewer, effect, None)
    });
}

both! {
    fn mg_soil_002_what_a_user_did_elsewhere_keeps_its_times_holds(world: &World) {
        world.note("before");
        let other = moved(world);
        go_on(world);
        let bundle = without_events(&export_all(world, user(&world.anna))).zip();
        let own = Authority::Owner(world.anna.clone());
        assert!(try_import(&other, &bundle, &own).unwrap().added > 30);
        assert_eq!(try_import(&other, &bundle, &own).unwrap().added, 0);
        assert_eq!(other.verify(true).breaks, []);
        let part = |bundle: &[u8], name: &str| unzip(bundle).remove(name).unwrap();
        let there = export_all(&other, user(&world.anna));
        for name in ["items.jsonl", "records.jsonl", "relations.jsonl"] {
            assert!(part(&there, name) == part(&bundle, name), "{name} came back in another way");
        }
    }

    fn mg_soil_002_a_time_before_what_came_before_it_refuses(world: &World) {
        let early = |at| forged(world, 0xE1, "Note", json!({ "description": "n" }), at);
        assert_eq!(breach(world, &[&early(Millis(1_000_000_000_000))]), "MG-SOIL-002");
        // Alone in its bundle, it is not older than its owner.
        let alone = Forged::of(&export_all(world, user(&world.anna))).with("items.jsonl", Vec::clear);
        let alone = alone.with("records.jsonl", Vec::clear);
        assert_eq!(refused(world, alone, &[&early(Millis(START.0 - DAY_MS))]), "MG-SOIL-002");
        world.clock.advance(DAY_MS);
        world.note("a day later");
        assert_eq!(breach(world, &[&early(START)]), "MG-SOIL-002");
    }

    fn mg_soil_004_names_that_are_reserved_refuses(world: &World) {
        assert_eq!(stated(world, "Weather2", json!({ "replies_to": "x" })), "MG-SOIL-004");
        assert_eq!(stated(world, "Weather2", json!({ "_hidden": 1 })), "MG-SOIL-004");
    }

    fn mg_soil_009_a_note_that_is_none_refuses(world: &World) {
        assert_eq!(stated(world, "Note", json!({ "title": 3 })), "MG-SOIL-009");
        assert_eq!(stated(world, "Note", json!({ "description": "d", "title": 3 })), "MG-SOIL-009");
    }

    fn mg_soil_003_what_skein_writes_by_itself_or_otherwise_refuses(world: &World) {
        let [target] = notes(world);
        for item_type in ["Node", "Episode", "ToolCall", "ToolResult", "PathMoved", "NodeMarked", "SystemEvent"] {
            let item = forged(world, 0xE1, item_type, json!({}), now(world));
            let bundle = Forged::of(&export_all(world, user(&world.anna))).and(&item).zip();
            refusal(world, &bundle, &Authority::Owner(world.anna.clone()));
        }
        let more = json!({ "itemId": target.id_text(), "reason": "undo", "by": "somebody" });
        assert_eq!(stated(world, "Tombstone", more), "MG-SOIL-003");
    }

    fn mg_soil_005_what_cannot_be_undone_is_not_undone_by_a_bundle_refuses(world: &World) {
        let talk = conversation(world, "dialogue");
        let node = say(world, talk, after(None, skein_core::tree::turn::Speaker::User), "hello").id;
        let viewer = world.anna.clone();
        let told = world.write(move |tx| tx.append_item(&viewer, &event("session.started"))).item.header.id;
        let old = world.note("old").item.header.id;
        for target in [node.into(), told] {
            assert_eq!(breach(world, &[&tombstone(world, 0xE1, target, now(world))]), "MG-SOIL-005");
        }
        world.clock.advance(300_001);
        // Whatever time it says: what is here was here.
        for at in [START, now(world)] {
            assert_eq!(breach(world, &[&tombstone(world, 0xE1, old, at)]), "MG-SOIL-005");
        }
        let viewer = world.anna.clone();
        let shown = world.read(move |tx| tx.items(&viewer, &ItemQuery { limit: 1_000, ..ItemQuery::default() })).rows;
        assert!([node.into(), told, old].iter().all(|id| shown.iter().any(|stored| stored.item.header.id == *id)));
    }

    fn mg_soil_005_what_is_brought_is_undone_in_its_own_time_and_once_refuses(world: &World) {
        let brought = forged(world, 0xE1, "Note", json!({ "description": "brought" }), START);
        let id = brought.header.id;
        let (late, in_time) = (START.plus(300_001), START.plus(300_000));
        world.clock.advance(DAY_MS);
        assert_eq!(breach(world, &[&brought, &tombstone(world, 0xE2, id, late)]), "MG-SOIL-005");
        let twice = [&brought, &tombstone(world, 0xE2, id, in_time), &tombstone(world, 0xE3, id, in_time)];
        assert_eq!(breach(world, &twice), "MG-SOIL-005");
        let bundle = Forged::of(&export_all(world, user(&world.anna))).and(twice[0]).and(twice[1]).zip();
        assert_eq!(try_import(world, &bundle, &Authority::Owner(world.anna.clone())).unwrap().added, 2);
    }

    fn mg_soil_010_a_payload_is_destroyed_once_refuses(world: &World) {
        let target = world.note("secret").item;
        let viewer = world.anna.clone();
        world.write(move |tx| tx.redact_item(&viewer, target.header.id, "asked for"));
        let again = json!({ "itemId": target.header.id.to_string(), "payloadHash": target.payload_hash.to_string(), "reason": "r" });
        assert_eq!(stated(world, "Redaction", again), "MG-SOIL-010");
    }

    fn mg_soil_006_a_corrected_time_is_one_record_of_a_time_refuses(world: &World) {
        let (target, viewer) = (world.note("n").item.header.id, world.anna.clone());
        let says = |more: Value| {
            let mut data = object(json!({ "itemId": target.to_string(), "canonicalAt": START.to_string() }));
            data.extend(object(more));
            created(user(&world.anna), RecordId::from_bytes([0xDD; 16]), content("TimeOverride", Value::Object(data))).1
        };
        assert_eq!(breach(world, &[&says(json!({ "name": "more" }))]), "MG-SOIL-006");
        world.write(move |tx| tx.override_canonical_time(&viewer, target, Some(Millis(5))));
        assert_eq!(breach(world, &[&says(json!({}))]), "MG-SOIL-006");
    }

    fn mg_core_007_a_record_is_changed_by_its_owner_and_deleted_by_the_act_for_it_refuses(world: &World) {
        let (anna, id) = (user(&world.anna), RecordId::from_bytes([0xDD; 16]));
        let gone = json!({ "name": "b", "deletedAt": START.to_string() });
        assert_eq!(breach(world, &[&created(anna, id, content("Budget", gone)).1]), "MG-CORE-007");
        let (budget, made) = created(anna, id, content("Budget", json!({ "name": "b" })));
        let change = |author, act, data| {
            let note = ChangeNote { author, reason: None, act };
            let (_, delta) = record::update(&budget, budget.hash, content("Budget", data), note, START).unwrap().unwrap();
            let mut item = made_up(anna, delta.to_draft());
            item.header.id = ItemId::from_bytes([0xEF; 16]);
            item.hash = item.header.hash(&item.payload_hash);
            item
        };
        let backdated = change(anna, Act::Deleted, json!({ "name": "b", "deletedAt": Millis(0).to_string() }));
        assert_eq!(breach(world, &[&made, &backdated]), "MG-CORE-007");
        let anothers = change(user(&world.bert), Act::Plain, json!({ "name": "c" }));
        assert_eq!(breach(world, &[&made, &anothers]), "MG-SOIL-003");
    }

    fn mg_rel_004_structural_edges_in_a_bundle_refuses_change(world: &World) {
        let [cause, effect] = notes(world);
        let [old, new] = [(); 2].map(|()| Endpoint::Log(conversation(world, "dialogue").into()));
        let frozen = [relate(world, RelationKind::Triggers, cause, effect), relate(world, RelationKind::Continues, new, old)];
        for relation in frozen {
            let mut removal = Value::Object(relation.to_document());
            removal["reason"] = json!("r");
            let edit = json!({ "relationId": relation.id.to_string(), "confidence": 0.9, "metadata": { "inferred": true } });
            let removed = |lines: &mut Vec<String>| lines.retain(|line| !line.contains(&relation.id.to_string()));
            let everything = || Forged::of(&export_all(world, user(&world.anna)));
            let removal = forged(world, 0xE1, "RelationRemoved", removal, now(world));
            assert_eq!(refused(world, everything().with("relations.jsonl", removed), &[&removal]), "MG-REL-004");
            let edit = forged(world, 0xE1, "RelationEdited", edit, now(world));
            assert_eq!(refused(world, everything(), &[&edit]), "MG-REL-004");
        }
    }

    fn mg_rel_005_ends_that_the_act_refuses_are_refused_in_a_bundle_refuses(world: &World) {
        let [first, second] = notes(world);
        let anothers = Endpoint::Item(world.note_by(&world.bert, "Bert's").item.header.id);
        let missing = Endpoint::Item(ItemId::from_bytes([0x77; 16]));
        let Endpoint::Item(item) = second else { unreachable!("notes are items") };
        let bert = world.bert.clone();
        let project = content("Project", json!({ "name": "p", "isDefault": false }));
        let project = Endpoint::Entity(world.write(move |tx| tx.create_of_tree(&bert, project.clone())).id);
        let talk = RecordId::from(conversation(world, "dialogue"));
        for (kind, ends) in [
            ("mentions", [first, first]),
            ("mentions", [first, Endpoint::Fragment { item, position: 2 }]),
            ("mentions", [first, Endpoint::Artifact(talk)]),
            ("groups_with", [Endpoint::Entity(talk), project]),
            ("groups_with", [Endpoint::Entity(talk), Endpoint::Entity(talk)]),
            ("triggers", [second, first]),
            ("supercedes", [first, second]),
            ("continues", [first, second]),
        ] {
            assert_eq!(related(world, &edge(kind, ends, Value::Null, json!({}))).0, "MG-REL-005", "{kind}");
        }
        let told = [anothers, missing].map(|end| {
            let (rule, told) = related(world, &edge("mentions", [first, end], Value::Null, json!({})));
            (rule, told.replace(&end.id_text(), "it"))
        });
        assert_eq!(told[0].0, "MG-REL-005");
        assert_eq!(told[0], told[1], "what is another's is not told from what is nowhere");
    }

    fn mg_rel_005_the_order_here_counts_and_not_that_of_the_bundle_refuses(world: &World) {
        let [first, second] = notes(world);
        let swapped = |lines: &mut Vec<String>| {
            let place = |end: Endpoint| lines.iter().position(|line| line.contains(&format!(r#""id":"{}""#, end.id_text()))).unwrap();
            let (first, second) = (place(first), place(second));
            lines.swap(first, second);
        };
        let bundle = Forged::of(&export_all(world, user(&world.anna))).with("items.jsonl", swapped);
        let edge = edge("triggers", [second, first], Value::Null, json!({}));
        let item = forged(world, 0xE1, "RelationCreated", edge, now(world));
        assert_eq!(refused(world, bundle, &[&item]), "MG-REL-005");
    }

    fn mg_rel_007_a_confidence_in_a_bundle_refuses(world: &World) {
        let ends = notes(world);
        let rule = |kind, confidence, metadata| related(world, &edge(kind, ends, json!(confidence), metadata)).0;
        assert_eq!(rule("mentions", 7.0, json!({ "inferred": true })), "MG-REL-007");
        assert_eq!(rule("replies_to", 0.5, json!({ "inferred": true })), "MG-REL-007");
        assert_eq!(rule("mentions", 0.5, json!({})), "MG-REL-009");
    }

    fn mg_rel_001_a_second_cause_in_a_bundle_refuses(world: &World) {
        let [first, second, third] = notes(world);
        relate(world, RelationKind::Triggers, first, third);
        assert_eq!(related(world, &edge("triggers", [second, third], Value::Null, json!({}))).0, "MG-REL-001");
        // Also where the bundle leaves out the first one.
        let item = forged(world, 0xE1, "RelationCreated", edge("triggers", [second, third], Value::Null, json!({})), now(world));
        let bundle = Forged::of(&export_all(world, user(&world.anna)));
        let bundle = bundle.with("items.jsonl", |lines| lines.retain(|line| !line.contains("RelationCreated")));
        assert_eq!(refused(world, bundle, &[&item]), "MG-REL-001");
    }

    fn an_edge_of_another_owner_keeps_its_id_and_is_not_told(world: &World) {
        let ends = notes(world);
        let bert = world.bert.clone();
        let [source, target] = [(); 2].map(|()| Endpoint::Item(world.note_by(&world.bert, "n").item.header.id));
        let draft = RelationDraft::new(RelationKind::Mentions, source, target, RelationAttributes::default()).unwrap();
        let taken = world.write(move |tx| tx.relate(&bert, &draft)).id;
        let mut edge = edge("mentions", ends, Value::Null, json!({}));
        edge["relationId"] = json!(taken.to_string());
        let item = forged(world, 0xE1, "RelationCreated", edge, now(world));
        let bundle = Forged::of(&export_all(world, user(&world.anna))).and(&item).zip();
        let error = refusal(world, &bundle, &Authority::Owner(world.anna.clone()));
        assert!(matches!(error, StoreError::Bundle(BadBundle::Unusable { item: named }) if named == item.header.id), "{error}");
    }

    fn what_a_seal_of_this_installation_covers_is_not_judged_again(world: &World) {
        let (viewer, old) = (world.anna.clone(), world.note("taken back").item.header.id);
        let tombstone = world.write(move |tx| tx.undo_item(&viewer, old)).item.header.id;
        world.seal();
        world.clock.advance(DAY_MS);
        let bundle = export_all(world, user(&world.anna));
        let lost = |table: &str, column: &str| format!("DELETE FROM {table} WHERE {column} = {}", world.hex(tombstone.as_bytes()));
        world.tamper_unguarded(&lost("item_marks", "tombstone")).unwrap();
        assert_eq!(world.tamper_unguarded(&lost("items", "id")), Ok(1));
        assert_eq!(try_import(world, &bundle, &Authority::Owner(world.anna.clone())).unwrap().added, 1);
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.item(&viewer, old)).tombstone, Some(tombstone));
    }

    fn an_administrator_restores_what_an_older_skein_wrote(world: &World) {
        let item = forged(world, 0xE1, "Note", json!({ "title": 3 }), Millis(1_000_000_000_000));
        let bundle = Forged::of(&export_all(world, user(&world.anna))).and(&item).zip();
        assert_eq!(try_import(world, &bundle, &Authority::Installation).unwrap().added, 1);
        let (viewer, id): (Viewer, _) = (world.anna.clone(), item.header.id);
        assert_eq!(world.read(move |tx| tx.item(&viewer, id)).item, item);
    }
}
