//! Tests the refusals of conversations, by rule; a refusal writes nothing.

use serde_json::json;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::{Source, SourceRole, TreeSummary};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, Viewer};
use skein_store::tree::adjacent_nodes::AdjacentKind;
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::{StoreError, Tx};

use crate::bundle::count;
use crate::fixtures::{World, both, content};
use crate::tree::{after, conversation, conversation_of, marked, placing, refusal, said, say, try_say};

/// Tries something that must be refused, sees that nothing was written, and says by which rule.
pub(crate) fn refused<T: std::fmt::Debug + Send + 'static>(
    world: &World,
    attempt: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
) -> String {
    let before = count(world);
    let rule = refusal(world.try_write(attempt));
    assert_eq!(count(world), before, "{rule}: something was written");
    rule
}

pub(crate) fn refused_say(world: &World, id: ConversationId, position: NodePosition) -> String {
    let (viewer, placing) = (world.anna.clone(), placing(world, id, position));
    let reserve = (viewer.clone(), placing.clone());
    let rule = refused(world, move |tx| tx.append_node(&viewer, &placing, &said("never")));
    let (viewer, placing) = reserve;
    assert_eq!(refused(world, move |tx| tx.reserve_node(&viewer, &placing)), rule);
    rule
}

pub(crate) fn me(viewer: &Viewer) -> ActorId {
    ActorId::from(viewer.owner())
}

/// A question with two answers and something after the first.
pub(crate) struct Talk {
    pub(crate) id: ConversationId,
    pub(crate) root: NodeId,
    pub(crate) answers: [NodeId; 2],
    pub(crate) last: NodeId,
}

pub(crate) fn talk(world: &World) -> Talk {
    let id = conversation(world, "dialogue");
    let root = say(world, id, after(None, Speaker::User), "question").id;
    let answers = ["one", "two"].map(|text| say(world, id, after(Some(root), Speaker::Agent), text).id);
    let last = say(world, id, after(Some(answers[0]), Speaker::User), "and then?").id;
    Talk { id, root, answers, last }
}

pub(crate) fn pending(world: &World, talk: &Talk) -> NodeId {
    let (viewer, placing) = (world.anna.clone(), placing(world, talk.id, after(Some(talk.last), Speaker::Agent)));
    world.write(move |tx| tx.reserve_node(&viewer, &placing)).0.id
}

pub(crate) fn fold(world: &World, id: ConversationId) {
    let viewer = world.anna.clone();
    world.write(move |tx| {
        let mut record = tx.record(&viewer, id.into())?;
        record.content.data.insert("summary".to_owned(), json!({ "text": "it was about yarn" }));
        tx.update_of_tree(&viewer, record.id, record.hash, record.content).map(drop)
    });
}

/// A way to look at something of a conversation.
type Look = fn(&mut Tx<'_>, &Viewer, ConversationId, NodeId) -> Result<usize, StoreError>;

both! {
    fn br_turn_002_a_turn_is_of_one_conversation_holds(world: &World) {
        let talk = talk(world);
        let (viewer, id) = (world.anna.clone(), talk.answers[0]);
        let turn = world.read(move |tx| { let node = tx.node(&viewer, id)?; tx.turn(&viewer, node.turn().unwrap()) });
        assert_eq!(turn.conversation, talk.id);
    }

    fn br_turn_002_an_alternative_of_a_turn_elsewhere_refuses(world: &World) {
        let [one, other] = [talk(world), talk(world)];
        let (viewer, id) = (world.anna.clone(), other.answers[0]);
        let turn = world.read(move |tx| tx.node(&viewer, id)).turn().unwrap();
        assert_eq!(refused_say(world, one.id, NodePosition::Beside { turn, parent: None }), "NotFound");
    }

    fn br_turn_003_a_second_root_turn_writes_nothing_refuses(world: &World) {
        assert_eq!(refused_say(world, talk(world).id, after(None, Speaker::User)), "BR-TURN-003");
    }

    fn br_turn_004_depth_counts_from_the_root_holds(world: &World) {
        let talk = talk(world);
        for (node, depth) in [(talk.root, 1), (talk.answers[0], 2), (talk.answers[1], 2), (talk.last, 3)] {
            let viewer = world.anna.clone();
            assert_eq!(world.read(move |tx| tx.node(&viewer, node)).label().unwrap().depth, depth);
        }
    }

    fn br_turn_004_siblings_at_another_depth_refuses(world: &World) {
        let talk = talk(world);
        let (viewer, id) = (world.anna.clone(), talk.answers[0]);
        let turn = world.read(move |tx| tx.node(&viewer, id)).turn().unwrap();
        assert_eq!(refused_say(world, talk.id, NodePosition::Beside { turn, parent: Some(talk.last) }), "BR-TURN-009");
    }

    fn br_turn_008_a_failed_generation_stays_as_an_alternative_holds(world: &World) {
        let talk = talk(world);
        let (node, viewer) = (pending(world, &talk), world.anna.clone());
        let row = world.write(move |tx| tx.fail_node(&viewer, node, "no answer"));
        let (viewer, path) = (world.anna.clone(), PathId::main_of(talk.id));
        let (_, nodes) = world.read(move |tx| tx.alternatives(&viewer, path, row.turn().unwrap(), None, None, 1_000));
        let nodes = nodes.rows;
        assert_eq!((nodes.len(), nodes[0].is_selected, nodes[0].row.status.as_str()), (1, true, "failed"));
    }

    fn br_turn_008_finishing_twice_refuses(world: &World) {
        let talk = talk(world);
        let (node, viewer) = (pending(world, &talk), world.anna.clone());
        world.write(move |tx| tx.complete_node(&viewer, node, &said("done")));
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.fail_node(&viewer, node, "late")), "Z5");
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.complete_node(&viewer, node, &said("again"))), "Z5");
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.complete_node(&viewer, talk.root, &said("never reserved"))), "Z5");
    }

    fn br_turn_009_an_alternative_answers_the_selected_node_above_holds(world: &World) {
        let talk = talk(world);
        let (viewer, id) = (world.anna.clone(), talk.last);
        let turn = world.read(move |tx| tx.node(&viewer, id)).turn().unwrap();
        let parents = [None, Some(talk.answers[1])].map(|parent| say(world, talk.id, NodePosition::Beside { turn, parent }, "n").parent);
        assert_eq!(parents, talk.answers.map(Some));
    }

    fn br_turn_009_a_root_alternative_that_answers_something_refuses(world: &World) {
        let talk = talk(world);
        let (viewer, id) = (world.anna.clone(), talk.root);
        let turn = world.read(move |tx| tx.node(&viewer, id)).turn().unwrap();
        let note = say(world, talk.id, NodePosition::About(vec![talk.root]), "hm").id;
        assert_eq!(refused_say(world, talk.id, NodePosition::Beside { turn, parent: Some(talk.root) }), "BR-TURN-009");
        assert_eq!(refused_say(world, talk.id, NodePosition::Beside { turn, parent: Some(note) }), "AG-EDGE-004");
    }

    fn ag_edge_005_what_is_pending_or_failed_has_no_continuation_refuses(world: &World) {
        let talk = talk(world);
        let node = pending(world, &talk);
        assert_eq!(refused_say(world, talk.id, after(Some(node), Speaker::User)), "Z5");
        assert_eq!(refused_say(world, talk.id, NodePosition::About(vec![node])), "Z5");
        let viewer = world.anna.clone();
        world.write(move |tx| tx.fail_node(&viewer, node, "no answer"));
        assert_eq!(refused_say(world, talk.id, after(Some(node), Speaker::User)), "Z5");
        // A node that is not there yet can be nobody's parent, so no ring can be closed.
        let unmade = NodeId::from_bytes([9; 16]);
        assert_eq!(refused_say(world, talk.id, after(Some(unmade), Speaker::User)), "AG-EDGE-003");
    }

    fn ag_edge_005_branches_join_as_sources_of_one_edge_holds(world: &World) {
        let talk = talk(world);
        let source = Source { node_id: talk.answers[1], role: SourceRole::Context };
        let placing = NodePlacement { sources: vec![source, source], ..placing(world, talk.id, after(Some(talk.answers[0]), Speaker::Agent)) };
        let viewer = world.anna.clone();
        let row = world.write(move |tx| tx.append_node(&viewer, &placing, &said("both"))).0;
        assert_eq!(row.parent, Some(talk.answers[0]));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn ag_edge_001_a_remark_about_nothing_and_a_root_with_sources_refuses(world: &World) {
        let talk = talk(world);
        assert_eq!(refused_say(world, talk.id, NodePosition::About(vec![])), "AG-EDGE-001");
        let empty = conversation(world, "dialogue");
        let source = Source { node_id: talk.root, role: SourceRole::Context };
        let placing = NodePlacement { sources: vec![source], ..placing(world, empty, after(None, Speaker::User)) };
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &placing, &said("n"))), "AG-EDGE-001");
    }

    fn ag_edge_001_a_remark_about_a_node_named_twice_holds(world: &World) {
        let talk = talk(world);
        let note = say(world, talk.id, NodePosition::About(vec![talk.root, talk.last, talk.root]), "hm").id;
        let (viewer, path) = (world.anna.clone(), PathId::main_of(talk.id));
        let found = world.read(move |tx| tx.nodes_around(&viewer, path, talk.root, AdjacentKind::Annotations, None, 9));
        assert_eq!(found.rows.iter().map(|node| node.row.id).collect::<Vec<_>>(), [note]);
    }

    fn ag_edge_003_sources_of_this_conversation_holds(world: &World) {
        let talk = talk(world);
        assert!(try_say(world, talk.id, NodePosition::About(vec![talk.root, talk.last]), "hm").is_ok());
    }

    fn ag_edge_003_sources_of_another_conversation_refuses(world: &World) {
        let [one, other] = [talk(world), talk(world)];
        for position in [after(Some(other.root), Speaker::User), NodePosition::EditOf(other.root), NodePosition::About(vec![one.root, other.root])] {
            assert_eq!(refused_say(world, one.id, position), "AG-EDGE-003");
        }
        let source = Source { node_id: other.root, role: SourceRole::Instruction };
        let placing = NodePlacement { sources: vec![source], ..placing(world, one.id, after(Some(one.root), Speaker::User)) };
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &placing, &said("n"))), "AG-EDGE-003");
    }

    fn ag_edge_004_a_remark_has_no_depth_and_no_turn_holds(world: &World) {
        let talk = talk(world);
        let note = say(world, talk.id, NodePosition::About(vec![talk.root]), "hm");
        assert_eq!((note.place, note.parent), (None, None));
    }

    fn ag_edge_004_going_on_from_a_remark_refuses(world: &World) {
        let talk = talk(world);
        let note = say(world, talk.id, NodePosition::About(vec![talk.root]), "hm").id;
        assert_eq!(refused_say(world, talk.id, after(Some(note), Speaker::User)), "AG-EDGE-004");
        assert_eq!(refused_say(world, talk.id, NodePosition::EditOf(note)), "AG-EDGE-004");
        let (viewer, path) = (world.anna.clone(), PathId::main_of(talk.id));
        assert_eq!(refused(world, move |tx| tx.move_path(&viewer, path, me(&viewer), note)), "AG-EDGE-004");
    }

    fn ag_path_002_moving_one_path_moves_no_other_holds(world: &World) {
        let talk = talk(world);
        let other = ActorId::from_bytes([3; 16]);
        let paths = [PathId::main_of(talk.id), PathId::of(talk.id, other.as_bytes())];
        let (viewer, node) = (world.anna.clone(), talk.answers[1]);
        let author = NodePlacement { author: other, author_type: AuthorType::Model, leads: Some(paths[1]), ..placing(world, talk.id, after(Some(node), Speaker::Agent)) };
        let (shown, cursors) = world.write(move |tx| {
            tx.move_path(&viewer, paths[1], other, node)?;
            let led = tx.append_node(&viewer, &author, &said("on the other way"))?.0;
            let shown = [tx.is_on_path(&viewer, paths[0], talk.last)?, tx.is_on_path(&viewer, paths[1], led.id)?, tx.is_on_path(&viewer, paths[1], talk.last)?];
            Ok((shown, paths.map(|path| tx.path_cursor(&viewer, talk.id, path).unwrap().map(|node| node == led.id))))
        });
        assert_eq!((shown, cursors), ([true, true, false], [Some(false), Some(true)]));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn ag_path_002_a_path_of_another_actor_or_conversation_refuses(world: &World) {
        let [one, other] = [talk(world), talk(world)];
        let actor = ActorId::from_bytes([3; 16]);
        for path in [PathId::main_of(other.id), PathId::of(other.id, actor.as_bytes()), PathId::of(one.id, &[4; 16])] {
            let viewer = world.anna.clone();
            assert_eq!(refused(world, move |tx| tx.move_path(&viewer, path, actor, one.root)), "AG-PATH-002");
            let placing = NodePlacement { leads: Some(path), ..placing(world, one.id, after(Some(one.last), Speaker::User)) };
            let viewer = world.anna.clone();
            assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &placing, &said("n"))), "AG-PATH-002");
        }
    }

    fn mg_conv_005_an_open_branch_grows_holds(world: &World) {
        let talk = talk(world);
        assert!(try_say(world, talk.id, after(Some(talk.last), Speaker::Agent), "on").is_ok());
    }

    fn mg_conv_005_a_folded_branch_refuses(world: &World) {
        let talk = talk(world);
        fold(world, talk.id);
        for position in [after(Some(talk.last), Speaker::User), NodePosition::EditOf(talk.root), NodePosition::About(vec![talk.root])] {
            assert_eq!(refused_say(world, talk.id, position), "MG-CONV-005");
        }
    }

    fn br_conv_005_writing_wakes_what_was_archived_holds(world: &World) {
        let talk = talk(world);
        let viewer = world.anna.clone();
        world.write(move |tx| {
            let mut record = tx.record(&viewer, talk.id.into())?;
            record.content.data.insert("status".to_owned(), json!("archived"));
            tx.update_of_tree(&viewer, record.id, record.hash, record.content).map(drop)
        });
        let archived = |world: &World| { let viewer = world.anna.clone(); world.read(move |tx| tx.conversation(&viewer, talk.id)).archived };
        assert!(archived(world));
        say(world, talk.id, after(Some(talk.last), Speaker::Agent), "on");
        assert!(!archived(world));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn ag_local_004_found_in_any_case_holds(world: &World) {
        let talk = talk(world);
        let viewer = world.anna.clone();
        let name = world.read(move |tx| tx.node(&viewer, talk.last)).local_id.to_lowercase();
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.node_by_local_id(&viewer, talk.id, &name)).id, talk.last);
    }

    fn ag_local_004_a_name_of_another_tree_refuses(world: &World) {
        let [one, other] = [talk(world), talk(world)];
        let viewer = world.anna.clone();
        let name = world.read(move |tx| tx.node(&viewer, one.last)).local_id;
        let viewer = world.anna.clone();
        assert_eq!(refusal(world.try_read(move |tx| tx.node_by_local_id(&viewer, other.id, &name))), "NotFound");
    }

    fn br_sec_002_anothers_conversation_and_all_in_it_refuses(world: &World) {
        let talk = talk(world);
        let (path, node) = (PathId::main_of(talk.id), talk.last);
        let viewer = world.anna.clone();
        let turn = world.read(move |tx| tx.node(&viewer, node)).turn().unwrap();
        let bert = || world.bert.clone();
        let looks: [Look; 12] = [
            |tx, viewer, id, _| tx.conversation(viewer, id).map(|_| 1),
            |tx, viewer, id, _| tx.skeleton(viewer, PathId::main_of(id), id).map(|found| found.len()),
            |tx, viewer, _, node| tx.node(viewer, node).map(|_| 1),
            |tx, viewer, id, node| tx.seen_node(viewer, PathId::main_of(id), node).map(|_| 1),
            |tx, viewer, id, node| tx.path_to(viewer, PathId::main_of(id), node, 9).map(|found| found.len()),
            |tx, viewer, id, node| {
                tx.nodes_around(viewer, PathId::main_of(id), node, AdjacentKind::Children, None, 9).map(|found| found.rows.len())
            },
            |tx, viewer, id, node| tx.subtree(viewer, PathId::main_of(id), node, 9, None, 9).map(|found| found.rows.len()),
            |tx, viewer, _, node| tx.edits(viewer, node, None, 10).map(|found| found.rows.len()),
            |tx, viewer, id, node| {
                tx.nodes_around(viewer, PathId::main_of(id), node, AdjacentKind::Annotations, None, 9).map(|found| found.rows.len())
            },
            |tx, viewer, id, _| tx.path_cursor(viewer, id, PathId::main_of(id)).map(|_| 1),
            |tx, viewer, id, node| tx.summary(viewer, id, Some(node)).map(|_| 1),
            |tx, viewer, _, node| tx.tags_of(viewer, node).map(|found| found.len()),
        ];
        for (number, look) in looks.into_iter().enumerate() {
            let viewer = bert();
            assert_eq!(refusal(world.try_read(move |tx| look(tx, &viewer, talk.id, node))), "NotFound", "look {number}");
        }
        let viewer = bert();
        assert_eq!(refusal(world.try_read(move |tx| tx.alternatives(&viewer, path, turn, None, None, 1_000))), "NotFound");
        let (viewer, placing) = (bert(), placing(world, talk.id, after(Some(node), Speaker::Agent)));
        assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &placing, &said("mine"))), "NotFound");
        let viewer = bert();
        assert_eq!(refused(world, move |tx| tx.move_path(&viewer, path, me(&viewer), node)), "NotFound");
        let viewer = bert();
        assert_eq!(refused(world, move |tx| tx.mark_node(&viewer, &marked(node))), "NotFound");
        let viewer = bert();
        let text = "all mine".to_owned();
        let summary = TreeSummary { conversation_id: talk.id, node_id: None, text, model: "m".to_owned(), nodes: 1 };
        assert_eq!(refused(world, move |tx| tx.summarise(&viewer, &summary)), "NotFound");
    }

    fn br_sec_002_another_owner_leads_nothing_into_this_tree_refuses(world: &World) {
        let talk = talk(world);
        let data = json!({ "mode": "dialogue", "kind": "main", "status": "active" });
        let own = conversation_of(world, &world.bert, data);
        for position in [after(Some(talk.root), Speaker::User), NodePosition::About(vec![talk.root]), NodePosition::EditOf(talk.root)] {
            let (viewer, placing) = (world.bert.clone(), placing(world, own, position));
            assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &placing, &said("n"))), "AG-EDGE-003");
        }
        let (viewer, anna) = (world.bert.clone(), world.anna.clone());
        let project = world.write(move |tx| tx.create_of_tree(&anna, content("Project", json!({ "name": "hers", "isDefault": false })))).id;
        assert_eq!(refused(world, move |tx| tx.move_frame(&viewer, project, me(&viewer), own)), "NotFound");
    }

    fn br_sec_002_an_owner_reaches_their_own_holds(world: &World) {
        let talk = talk(world);
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.conversation(&viewer, talk.id)).owner, world.anna.owner());
    }

    fn br_alt_005_a_continuation_joins_what_answers_the_same_node_holds(world: &World) {
        let talk = talk(world);
        let turns = talk.answers.map(|node| { let viewer = world.anna.clone(); world.read(move |tx| tx.node(&viewer, node)).turn() });
        assert_eq!(turns[0], turns[1]);
        let result = NodePosition::After { parent: Some(talk.root), speaker: Speaker::Agent, turn_type: TurnType::ToolResult };
        assert_ne!(say(world, talk.id, result, "42").turn(), turns[0]);
    }
}
