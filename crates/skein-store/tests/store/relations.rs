//! Edges: uniqueness by kind, what may change, chains, tenancy.

use serde_json::json;
use skein_core::flow::execution::item_payload::{CausalLink, CausalLinkKind, ExecutionMoved};
use skein_core::garden::item::ItemType;
use skein_core::garden::relation::{Endpoint, Relation, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{ExecutionId, ItemId, RecordId, RelationId, Viewer};
use skein_store::timeline::items::ItemQuery;
use skein_store::timeline::relations::RelationSide;
use skein_store::{StoreError, Tx};

use crate::fixtures::{World, both, content, rule_of};

fn item(world: &World) -> Endpoint {
    Endpoint::Item(world.note("n").item.header.id)
}

fn id_of(endpoint: Endpoint) -> ItemId {
    match endpoint {
        Endpoint::Item(id) => id,
        other => panic!("{other:?} is not an item"),
    }
}

fn log(world: &World) -> Endpoint {
    Endpoint::Log(crate::tree::conversation(world, "dialogue").into())
}

fn project(world: &World) -> Endpoint {
    let viewer = world.anna.clone();
    let project = content("Project", json!({ "name": "p", "isDefault": false }));
    Endpoint::Entity(world.write(move |tx| tx.create_of_tree(&viewer, project.clone())).id)
}

fn relate(world: &World, kind: RelationKind, source: Endpoint, target: Endpoint) -> Result<Relation, StoreError> {
    let viewer = world.anna.clone();
    let draft = RelationDraft::new(kind, source, target, RelationAttributes::default()).unwrap();
    world.try_write(move |tx| tx.relate(&viewer, &draft))
}

/// Writes a relation as it was written before its ends were looked at.
pub(crate) fn relate_as_before(tx: &mut Tx<'_>, viewer: &Viewer, draft: RelationDraft) -> Result<Relation, StoreError> {
    let id = RelationId::new(tx.now(), tx.entropy());
    tx.append_item(viewer, &draft.to_item(id))?;
    Ok(draft.into_relation(id, tx.now()))
}

fn count(world: &World, of: Endpoint, side: RelationSide, kind: RelationKind) -> usize {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.relations(&viewer, of, side, Some(kind), None, 100)).rows.len()
}

/// Items of which each triggers the next.
fn chain(world: &World, length: usize) -> Vec<Endpoint> {
    let items: Vec<Endpoint> = (0..length).map(|_| item(world)).collect();
    for pair in items.windows(2) {
        relate(world, RelationKind::Triggers, pair[0], pair[1]).unwrap();
    }
    items
}

both! {
    fn what_a_person_said_came_of_a_call_does_not_stop_the_run_that_made_it(world: &World) {
        let [call, claimed, result] = [item(world), item(world), item(world)];
        relate(world, RelationKind::ResultOf, claimed, call).unwrap();
        let link = CausalLink { kind: CausalLinkKind::ResultOf, source: id_of(result), target: id_of(call) };
        let moved = ExecutionMoved { run_id: ExecutionId::from_bytes([7; 16]), steps: Vec::new(), calls: Vec::new(), links: vec![link] };
        let (viewer, draft) = (world.anna.clone(), moved.to_draft().unwrap());
        world.write(move |tx| tx.append_item(&viewer, &draft));
        let viewer = world.anna.clone();
        let kept = world.read(move |tx| tx.relations(&viewer, call, RelationSide::Incoming, Some(RelationKind::ResultOf), None, 10));
        assert_eq!(kept.rows.iter().map(|kept| kept.source).collect::<Vec<_>>(), [claimed]);
        // A person's second one is refused as ever, and made anew all is as it was.
        assert_eq!(rule_of(relate(world, RelationKind::ResultOf, result, call)), "MG-REL-001");
        world.seal();
        assert_eq!(world.verify(true).breaks, Vec::new());
    }

    fn mg_rel_001_one_cause_and_one_successor_per_target_holds(world: &World) {
        let [a, b, c] = [item(world), item(world), item(world)];
        relate(world, RelationKind::Triggers, a, b).unwrap();
        relate(world, RelationKind::Triggers, a, c).unwrap();
        relate(world, RelationKind::Supercedes, c, b).unwrap();
    }

    fn mg_rel_001_a_second_cause_or_successor_refuses(world: &World) {
        let [a, b, c, d] = [item(world), item(world), item(world), item(world)];
        relate(world, RelationKind::Triggers, a, c).unwrap();
        assert_eq!(rule_of(relate(world, RelationKind::Triggers, b, c)), "MG-REL-001");
        relate(world, RelationKind::Supercedes, c, a).unwrap();
        assert_eq!(rule_of(relate(world, RelationKind::Supercedes, d, a)), "MG-REL-001");
        assert_eq!(count(world, c, RelationSide::Incoming, RelationKind::Triggers), 1);
    }

    fn mg_rel_002_many_replies_to_one_parent_holds(world: &World) {
        let [parent, one, two] = [item(world), item(world), item(world)];
        relate(world, RelationKind::RepliesTo, one, parent).unwrap();
        relate(world, RelationKind::RepliesTo, two, parent).unwrap();
        let [old, new, newer] = [log(world), log(world), log(world)];
        relate(world, RelationKind::Continues, new, old).unwrap();
        relate(world, RelationKind::Continues, newer, old).unwrap();
        assert_eq!(count(world, parent, RelationSide::Incoming, RelationKind::RepliesTo), 2);
    }

    fn mg_rel_002_a_second_parent_refuses(world: &World) {
        let [a, b, reply] = [item(world), item(world), item(world)];
        relate(world, RelationKind::RepliesTo, reply, a).unwrap();
        assert_eq!(rule_of(relate(world, RelationKind::RepliesTo, reply, b)), "MG-REL-002");
    }

    fn mg_rel_003_many_to_many_holds(world: &World) {
        let [a, b, c] = [item(world), item(world), item(world)];
        for (source, target) in [(a, b), (a, c), (c, b), (a, b)] {
            relate(world, RelationKind::Mentions, source, target).unwrap();
        }
        assert_eq!(count(world, a, RelationSide::Outgoing, RelationKind::Mentions), 3);
        assert_eq!(count(world, b, RelationSide::Incoming, RelationKind::Mentions), 3);
    }

    fn mg_rel_003_the_same_edge_twice_of_a_kind_that_is_not_among_them_refuses(world: &World) {
        let [a, b] = [item(world), item(world)];
        relate(world, RelationKind::Triggers, a, b).unwrap();
        assert_eq!(rule_of(relate(world, RelationKind::Triggers, a, b)), "MG-REL-001");
        for kind in [RelationKind::Mentions, RelationKind::DerivedFrom, RelationKind::Contains] {
            relate(world, kind, a, b).unwrap();
            relate(world, kind, a, b).unwrap();
        }
        let (conversation, project) = (log(world), project(world));
        relate(world, RelationKind::GroupsWith, conversation, project).unwrap();
        relate(world, RelationKind::GroupsWith, conversation, project).unwrap();
    }

    fn mg_rel_004_an_inference_is_corrected_and_withdrawn_holds(world: &World) {
        let [a, b] = [item(world), item(world)];
        let id = relate(world, RelationKind::Mentions, a, b).unwrap().id;
        let viewer = world.anna.clone();
        world.write(move |tx| tx.edit_relation(&viewer, id, &RelationAttributes::inferred(0.25)));
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.relation(&viewer, id)).qualities, RelationAttributes::inferred(0.25));
        let viewer = world.anna.clone();
        world.write(move |tx| tx.remove_relation(&viewer, id, "wrong"));
        assert_eq!(count(world, a, RelationSide::Outgoing, RelationKind::Mentions), 0);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_rel_004_a_cause_refuses_to_be_changed_or_removed(world: &World) {
        let [a, b] = [item(world), item(world)];
        let id = relate(world, RelationKind::Triggers, a, b).unwrap().id;
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.edit_relation(&viewer, id, &RelationAttributes::default()))), "MG-REL-004");
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.remove_relation(&viewer, id, "no"))), "MG-REL-004");
    }

    fn mg_rel_005_ends_that_exist_holds(world: &World) {
        let [a, conversation] = [item(world), log(world)];
        let Endpoint::Log(id) = conversation else { unreachable!() };
        relate(world, RelationKind::Mentions, a, conversation).unwrap();
        relate(world, RelationKind::Mentions, a, Endpoint::Entity(id)).unwrap();
        relate(world, RelationKind::GroupsWith, conversation, project(world)).unwrap();
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_rel_005_a_fragment_named_before_is_read_holds(world: &World) {
        let [a, b] = [item(world), item(world)];
        let (viewer, fragment) = (world.anna.clone(), Endpoint::Fragment { item: id_of(b), position: 2 });
        let draft = RelationDraft::new(RelationKind::Mentions, a, fragment, RelationAttributes::default()).unwrap();
        let id = world.write(move |tx| relate_as_before(tx, &viewer, draft.clone())).id;
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.relation(&viewer, id)).target, fragment);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_rel_005_an_end_of_another_kind_refuses(world: &World) {
        let (note, conversation, project) = (item(world), log(world), project(world));
        let (Endpoint::Log(log), Endpoint::Entity(record)) = (conversation, project) else { unreachable!() };
        let fragment = Endpoint::Fragment { item: id_of(item(world)), position: 2 };
        for (kind, source, target) in [
            (RelationKind::Mentions, note, fragment),
            (RelationKind::Mentions, note, Endpoint::Artifact(record)),
            (RelationKind::Mentions, note, Endpoint::Log(record)),
            (RelationKind::Continues, Endpoint::Log(record), conversation),
            (RelationKind::GroupsWith, note, project),
            (RelationKind::GroupsWith, conversation, note),
            (RelationKind::GroupsWith, conversation, Endpoint::Entity(log)),
        ] {
            assert_eq!(rule_of(relate(world, kind, source, target)), "MG-REL-005", "{kind} {source:?} {target:?}");
        }
    }

    fn mg_rel_005_ends_missing_foreign_or_in_the_wrong_order_refuses(world: &World) {
        let [early, late] = [item(world), item(world)];
        let nowhere = Endpoint::Item(ItemId::from_bytes([9; 16]));
        let no_record = Endpoint::Entity(RecordId::from_bytes([9; 16]));
        let foreign = Endpoint::Item(world.note_by(&world.bert, "his").item.header.id);
        for end in [nowhere, no_record, foreign] {
            assert_eq!(rule_of(relate(world, RelationKind::Mentions, early, end)), "MG-REL-005");
        }
        assert_eq!(rule_of(relate(world, RelationKind::Triggers, late, early)), "MG-REL-005");
        assert_eq!(rule_of(relate(world, RelationKind::Supercedes, early, late)), "MG-REL-005");
    }

    fn mg_rel_005_records_in_the_order_they_were_made_holds(world: &World) {
        let (old, note, new) = (project(world), item(world), project(world));
        relate(world, RelationKind::Supercedes, new, note).unwrap();
        relate(world, RelationKind::Supercedes, note, old).unwrap();
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_rel_005_records_against_the_order_they_were_made_refuses(world: &World) {
        let (old, note, new) = (project(world), item(world), project(world));
        for (source, target) in [(old, new), (old, note), (note, new)] {
            assert_eq!(rule_of(relate(world, RelationKind::Supercedes, source, target)), "MG-REL-005");
        }
    }

    fn mg_rel_008_a_conversation_is_found_by_its_id_whatever_its_end_is_called_holds(world: &World) {
        let (old, new, project) = (log(world), log(world), project(world));
        relate(world, RelationKind::Continues, new, old).unwrap();
        relate(world, RelationKind::GroupsWith, new, project).unwrap();
        let Endpoint::Log(id) = new else { unreachable!() };
        for of in [new, Endpoint::Entity(id)] {
            assert_eq!(count(world, of, RelationSide::Outgoing, RelationKind::Continues), 1);
            assert_eq!(count(world, of, RelationSide::Outgoing, RelationKind::GroupsWith), 2, "one by either name");
            let viewer = world.anna.clone();
            let chain = world.read(move |tx| tx.chain(&viewer, of, RelationSide::Outgoing, RelationKind::Continues, 10));
            assert_eq!(chain.iter().map(|step| step.endpoint).collect::<Vec<_>>(), [old]);
        }
    }

    fn mg_rel_006_making_editing_and_removing_are_items_holds(world: &World) {
        let [a, b] = [item(world), item(world)];
        let id = relate(world, RelationKind::Mentions, a, b).unwrap().id;
        let viewer = world.anna.clone();
        world.write(move |tx| {
            tx.edit_relation(&viewer, id, &RelationAttributes::inferred(0.5))?;
            tx.remove_relation(&viewer, id, "done")
        });
        for item_type in [ItemType::RELATION_CREATED, ItemType::RELATION_EDITED, ItemType::RELATION_REMOVED] {
            let query = ItemQuery { item_type: Some(item_type), limit: 10, ..ItemQuery::default() };
            let viewer = world.anna.clone();
            assert_eq!(world.read(move |tx| tx.items(&viewer, &query)).rows.len(), 1);
        }
    }

    fn mg_rel_006_a_refused_relation_leaves_no_item_refuses(world: &World) {
        let [a, b, c] = [item(world), item(world), item(world)];
        relate(world, RelationKind::Triggers, a, c).unwrap();
        assert!(relate(world, RelationKind::Triggers, b, c).is_err());
        let query = ItemQuery { item_type: Some(ItemType::RELATION_CREATED), limit: 10, ..ItemQuery::default() };
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.items(&viewer, &query)).rows.len(), 1);
    }

    fn mg_rel_008_chains_are_followed_both_ways_in_one_query_holds(world: &World) {
        let items = chain(world, 40);
        let viewer = world.anna.clone();
        let (first, last) = (items[0], items[39]);
        let effects = world.read(move |tx| tx.chain(&viewer, first, RelationSide::Outgoing, RelationKind::Triggers, 1_000));
        assert_eq!(effects.iter().map(|step| step.endpoint).collect::<Vec<_>>(), items[1..]);
        assert_eq!(effects.last().unwrap().distance, 39);
        let viewer = world.anna.clone();
        let causes = world.read(move |tx| tx.chain(&viewer, last, RelationSide::Incoming, RelationKind::Triggers, 1_000));
        assert_eq!(causes.len(), 39);
        let viewer = world.anna.clone();
        let id = id_of(last);
        assert_eq!(world.read(move |tx| tx.root_cause(&viewer, id)), first);
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.triggering(&viewer, id)), Some(items[38]));
        let viewer = world.anna.clone();
        let id = id_of(first);
        assert_eq!(world.read(move |tx| tx.root_cause(&viewer, id)), first);
    }

    fn mg_rel_008_chains_stop_at_the_limit_and_at_other_owners_refuses(world: &World) {
        let items = chain(world, 10);
        let (viewer, first) = (world.anna.clone(), items[0]);
        let short = world.read(move |tx| tx.chain(&viewer, first, RelationSide::Outgoing, RelationKind::Triggers, 3));
        assert_eq!(short.len(), 3);
        let viewer = world.bert.clone();
        assert_eq!(world.read(move |tx| tx.chain(&viewer, first, RelationSide::Outgoing, RelationKind::Triggers, 100)), []);
    }

    fn mg_rel_009_indexed_mentions_say_that_they_were_inferred_holds(world: &World) {
        let [a, b] = [item(world), item(world)];
        let viewer = world.anna.clone();
        let draft = RelationDraft::new(RelationKind::Mentions, a, b, RelationAttributes::inferred(0.95)).unwrap();
        let id = world.write(move |tx| tx.relate(&viewer, &draft)).id;
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.relation(&viewer, id)).qualities.metadata["inferred"], json!(true));
        let (viewer, id) = (world.anna.clone(), id_of(a));
        assert_eq!(world.read(move |tx| tx.mentions(&viewer, id)), [b]);
    }

    fn mg_rel_009_an_unmarked_inference_refuses(world: &World) {
        let [a, b] = [item(world), item(world)];
        let unmarked = RelationAttributes { confidence: Some(0.5), ..RelationAttributes::default() };
        assert!(RelationDraft::new(RelationKind::Mentions, a, b, unmarked.clone()).is_err());
        let id = relate(world, RelationKind::Mentions, a, b).unwrap().id;
        let viewer = world.anna.clone();
        assert_eq!(rule_of(world.try_write(move |tx| tx.edit_relation(&viewer, id, &unmarked))), "MG-REL-009");
    }

    fn a_mesh_with_circles_is_walked_once(world: &World) {
        let layers: Vec<[Endpoint; 2]> = (0..12).map(|_| [item(world), item(world)]).collect();
        for pair in layers.windows(2) {
            for source in pair[0] {
                for target in pair[1] {
                    relate(world, RelationKind::Mentions, source, target).unwrap();
                }
            }
        }
        relate(world, RelationKind::Mentions, layers[11][0], layers[0][0]).unwrap();
        let (viewer, first) = (world.anna.clone(), layers[0][0]);
        let reached = world.read(move |tx| tx.chain(&viewer, first, RelationSide::Outgoing, RelationKind::Mentions, 100_000));
        assert_eq!(reached.len(), 22, "everything but the start and its sibling");
        assert!(reached.windows(2).all(|pair| pair[0].distance <= pair[1].distance));
    }

    fn one_owners_edges_do_not_stand_in_anothers_way(world: &World) {
        let viewer = world.anna.clone();
        let mut shared = content("Budget", json!({}));
        shared.shared = true;
        let hers = world.write(move |tx| tx.create_record(&viewer, shared.clone(), None)).id;
        for viewer in [world.bert.clone(), world.anna.clone()] {
            let own = { let viewer = viewer.clone(); world.write(move |tx| tx.create_record(&viewer, content("Budget", json!({})), None)).id };
            let draft = RelationDraft::new(RelationKind::Supercedes, Endpoint::Entity(own), Endpoint::Entity(hers), RelationAttributes::default()).unwrap();
            world.write(move |tx| tx.relate(&viewer, &draft));
        }
    }
}
