//! Tests the permanence of conversations: no node changes or disappears through later requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::{ExecutedBy, NodeMarked, TreeSummary};
use skein_core::tree::node_status::{CacheStatus, ParentStatus};
use skein_core::tree::turn::Speaker;
use skein_core::tree::verify::Verdict;
use skein_core::{ConversationId, ItemId, Millis, NodeId, PathId, RecordId, TurnId};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource, ReceivedResponse};
use skein_store::tree::conversations::ConversationQuery;
use skein_store::tree::read::SeenNode;
use skein_store::tree::{ConversationRow, NodeRow, TurnRow};
use skein_store::{StoreError, Tx};

use crate::fixtures::{World, both, content, object};
use crate::tree::{after, conversation, conversation_of, marked, placing, said, say, try_say};
use crate::tree_proof::{altered, verify_tree};
use crate::tree_refusals::{Talk, fold, me, pending, refused, refused_say, talk};
use crate::tree_retention::items;

const MODEL: ActorId = ActorId::from_bytes([8; 16]);

pub(crate) fn row(world: &World, node: NodeId) -> NodeRow {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.node(&viewer, node))
}

pub(crate) fn seen(world: &World, path: PathId, node: NodeId) -> SeenNode {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.seen_node(&viewer, path, node))
}

pub(crate) fn turn_of(world: &World, node: NodeId) -> TurnId {
    row(world, node).turn().unwrap()
}

pub(crate) fn conversation_row(world: &World, id: ConversationId) -> ConversationRow {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.conversation(&viewer, id))
}

/// Turns Anna's path to a node and says in which turns another node is selected now.
pub(crate) fn turn_to(world: &World, id: ConversationId, node: NodeId) -> Vec<TurnId> {
    let viewer = world.anna.clone();
    world.write(move |tx| tx.move_path(&viewer, PathId::main_of(id), me(&viewer), node)).1.turns
}

/// Of the alternatives of a node's turn, the one that is shown.
fn shown_at(world: &World, id: ConversationId, node: NodeId) -> Vec<NodeId> {
    let (viewer, turn) = (world.anna.clone(), turn_of(world, node));
    let (_, nodes) = world.read(move |tx| tx.alternatives(&viewer, PathId::main_of(id), turn, None, None, 1_000));
    nodes.rows.iter().filter(|node| node.is_selected).map(|node| node.row.id).collect()
}

fn cursor(world: &World, id: ConversationId, path: PathId) -> Option<NodeId> {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.path_cursor(&viewer, id, path))
}

pub(crate) fn way_to(world: &World, path: PathId, node: NodeId) -> Vec<NodeId> {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.path_to(&viewer, path, node, 100)).iter().map(|node| node.row.id).collect()
}

/// How an answer of a model's stands on Anna's path.
fn standing(world: &World, id: ConversationId, node: NodeId) -> CacheStatus {
    let node = seen(world, PathId::main_of(id), node);
    let parent = if node.answers_selected { ParentStatus::Selected } else { ParentStatus::NotSelected };
    CacheStatus::derive(node.spoken.unwrap().0, node.row.author_type, node.row.status, parent)
}

/// What a model says after a node, with what it answered word for word.
pub(crate) fn generate(world: &World, id: ConversationId, parent: NodeId, text: &str) -> NodeRow {
    let executed_by = Some(ExecutedBy { process_id: RecordId::from_bytes([6; 16]), version: 3 });
    let place = placing(world, id, after(Some(parent), Speaker::Agent));
    let placing = NodePlacement { author: MODEL, author_type: AuthorType::Model, executed_by, ..place };
    let raw = Some(RawResponseSource::New(ReceivedResponse {
        headers: json!({ "x-request-id": "r" }),
        body: text.as_bytes().to_vec(),
    }));
    let (viewer, said) = (world.anna.clone(), NodeBody { raw, ..said(text) });
    world.clock.advance(1);
    world.write(move |tx| tx.append_node(&viewer, &placing, &said)).0
}

fn change_record(world: &World, id: ConversationId, name: &'static str, value: Value) {
    let viewer = world.anna.clone();
    world.write(move |tx| {
        let mut record = tx.record(&viewer, id.into())?;
        record.content.data.insert(name.to_owned(), value.clone());
        tx.update_of_tree(&viewer, record.id, record.hash, record.content).map(drop)
    });
}

/// Every turn and every node of a conversation with what it says, without what is noted beside it.
type Kept = (BTreeMap<TurnId, TurnRow>, BTreeMap<NodeId, (NodeRow, Option<Value>)>);

fn kept(world: &World, id: ConversationId) -> Kept {
    let (viewer, path) = (world.anna.clone(), PathId::main_of(id));
    world.read(move |tx| {
        let (mut turns, mut nodes) = (BTreeMap::new(), BTreeMap::new());
        for bone in tx.skeleton(&viewer, path, id)? {
            if let Some(turn) = bone.turn {
                turns.insert(turn, tx.turn(&viewer, turn)?);
            }
            let SeenNode { row, content, .. } = tx.seen_node(&viewer, path, bone.id)?;
            let row = NodeRow { bookmarked: false, label: None, pruned: false, excluded: false, ..row };
            nodes.insert(bone.id, (row, content));
        }
        Ok((turns, nodes))
    })
}

/// Does beside a conversation, and in it, whatever can be done.
fn stir(world: &World, talk: &Talk) {
    let beside = NodePosition::Beside { turn: turn_of(world, talk.last), parent: Some(talk.answers[1]) };
    for position in [NodePosition::EditOf(talk.root), NodePosition::EditOf(talk.answers[0]), beside] {
        say(world, talk.id, position, "otherwise");
    }
    say(world, talk.id, after(Some(talk.answers[1]), Speaker::Agent), "more");
    say(world, talk.id, NodePosition::About(vec![talk.root, talk.last]), "a remark");
    for node in [talk.answers[1], talk.root, talk.last] {
        turn_to(world, talk.id, node);
        let (viewer, label) = (world.anna.clone(), Some("here".to_owned()));
        let marks = NodeMarked { bookmarked: Some(true), label, ..marked(node) };
        let marks = NodeMarked { pruned: Some(true), excluded: Some(true), tagged: vec!["t".to_owned()], ..marks };
        let (text, model) = ("in short".to_owned(), "m".to_owned());
        let summary = TreeSummary { conversation_id: talk.id, node_id: Some(node), text, model, nodes: 4 };
        world.write(move |tx| {
            tx.mark_node(&viewer, &marks)?;
            tx.summarise(&viewer, &summary)?;
            tx.override_canonical_time(&viewer, node.into(), Some(Millis(5)))
        });
    }
    let origin = json!({ "conversationId": talk.id, "turnId": turn_of(world, talk.last), "nodeId": talk.last });
    let data = json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin });
    say(world, conversation_of(world, &world.anna, data), after(None, Speaker::User), "elsewhere");
    change_record(world, talk.id, "status", json!("archived"));
    change_record(world, talk.id, "title", json!("another name"));
    let failed = pending(world, talk);
    let viewer = world.anna.clone();
    world.write(move |tx| tx.fail_node(&viewer, failed, "no answer").map(drop));
    fold(world, talk.id);
}

/// The items a node is made of: its place, what it says and, of a model's, what came over the wire.
fn parts(node: &NodeRow) -> Vec<ItemId> {
    let raw = node.raw_response.map(|raw| raw.item_id);
    [Some(node.id.into()), node.content, raw].into_iter().flatten().collect()
}

/// Alters a column of one row behind the store's back, sees that it is named, and puts it back.
fn named(world: &World, table: &str, row: &str, column: &str, forth: &str, back: &str) {
    let set = |value: &str| format!("UPDATE {table} SET {column} = {value} WHERE id = {row}");
    assert_eq!(world.tamper_unguarded(&set(forth)), Ok(1), "{table}.{column}");
    let breaks = world.verify(true).breaks;
    assert!(breaks.iter().any(|broken| broken.table == table), "{table}.{column}: {breaks:?}");
    assert_eq!(world.tamper_unguarded(&set(back)), Ok(1), "{table}.{column}");
}

both! {
    fn br_conv_002_the_owner_is_set_at_creation_and_stays_holds(world: &World) {
        let talk = talk(world);
        let is_annas = |world: &World| {
            let viewer = world.anna.clone();
            let record = world.read(move |tx| tx.record(&viewer, talk.id.into()));
            [conversation_row(world, talk.id).owner, record.owner, row(world, talk.root).owner] == [world.anna.owner(); 3]
        };
        assert!(is_annas(world));
        stir(world, &talk);
        assert!(is_annas(world));
    }

    fn br_conv_006_archiving_leaves_all_it_led_to_holds(world: &World) {
        let talk = talk(world);
        stir(world, &talk);
        let (before, count) = (kept(world, talk.id), crate::bundle::count(world));
        change_record(world, talk.id, "status", json!("archived"));
        let viewer = world.anna.clone();
        let (forks, summary) = world.read(move |tx| Ok((tx.forks(&viewer, talk.id, None, 9)?.rows, tx.summary(&viewer, talk.id, Some(talk.last))?)));
        assert!(conversation_row(world, talk.id).archived);
        assert_eq!((kept(world, talk.id), forks.len(), summary.is_some()), (before, 1, true));
        assert!(crate::bundle::count(world) > count);
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.delete_record(&viewer, talk.id.into(), None, None)), "MG-CORE-007");
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_turn_001_whatever_is_done_no_turn_changes_holds(world: &World) {
        let talk = talk(world);
        let (before, _) = kept(world, talk.id);
        assert_eq!(shown_at(world, talk.id, talk.answers[0]), [talk.answers[0]]);
        stir(world, &talk);
        turn_to(world, talk.id, talk.answers[1]);
        assert_eq!(shown_at(world, talk.id, talk.answers[0]), [talk.answers[1]]);
        let (after, _) = kept(world, talk.id);
        assert_eq!(before.keys().map(|turn| after[turn]).collect::<Vec<_>>(), before.into_values().collect::<Vec<_>>());
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_turn_001_an_altered_or_deleted_turn_is_named_refuses(world: &World) {
        let [talk, other] = [talk(world), talk(world)];
        let turn = world.hex(turn_of(world, talk.last).as_bytes());
        let hex = |id: &[u8; 16]| world.hex(id);
        let (parent, elsewhere) = (turn_of(world, talk.answers[0]), turn_of(world, talk.root));
        for (column, forth, back) in [
            ("speaker", "'system'".to_owned(), "'user'".to_owned()),
            ("type", "'summary'".to_owned(), "'message'".to_owned()),
            ("depth", "depth + 1".to_owned(), "depth - 1".to_owned()),
            ("conversation", hex(other.id.as_bytes()), hex(talk.id.as_bytes())),
            ("parent", hex(elsewhere.as_bytes()), hex(parent.as_bytes())),
            ("first_node", hex(talk.root.as_bytes()), hex(talk.last.as_bytes())),
        ] {
            named(world, "turns", &turn, column, &forth, &back);
        }
        assert_eq!(world.verify(true).breaks, []);
        assert_eq!(world.tamper_unguarded(&format!("DELETE FROM turns WHERE id = {turn}")), Ok(1));
        let breaks = world.verify(true).breaks;
        assert!(breaks.iter().any(|broken| broken.table == "turns" && broken.problem.contains("missing")), "{breaks:?}");
    }

    fn br_turn_011_one_step_leaves_the_old_selects_the_new_and_makes_stale_holds(world: &World) {
        let talk = talk(world);
        let below = generate(world, talk.id, talk.answers[0], "because").id;
        turn_to(world, talk.id, below);
        assert_eq!(standing(world, talk.id, below), CacheStatus::Valid);
        assert_eq!(turn_to(world, talk.id, talk.answers[1]), [turn_of(world, talk.answers[1])]);
        assert_eq!(shown_at(world, talk.id, talk.answers[1]), [talk.answers[1]]);
        assert_eq!(standing(world, talk.id, below), CacheStatus::Stale);
        turn_to(world, talk.id, talk.answers[0]);
        assert_eq!(standing(world, talk.id, below), CacheStatus::Valid);
    }

    fn br_turn_011_two_selected_at_once_or_half_a_step_refuses(world: &World) {
        let talk = talk(world);
        turn_to(world, talk.id, talk.answers[1]);
        let second = "INSERT INTO selections (path, branch, depth, turn, node, selected)
             SELECT path, branch, 99, turn, node, 1 FROM selections WHERE selected = 1";
        let error = world.tamper(second).unwrap_err().to_lowercase();
        assert!(error.contains("unique"), "{error}");
        let (viewer, main) = (world.anna.clone(), PathId::main_of(talk.id));
        let half = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            tx.move_path(&viewer, main, me(&viewer), talk.answers[0])?;
            tx.move_path(&viewer, main, me(&viewer), NodeId::from_bytes([9; 16])).map(drop)
        };
        assert_eq!(refused(world, half), "NotFound");
        assert_eq!((shown_at(world, talk.id, talk.answers[0]), cursor(world, talk.id, main)), (vec![talk.answers[1]], Some(talk.answers[1])));
    }

    fn br_turn_012_an_edit_nobody_asked_to_show_refuses_the_place_of_the_old(world: &World) {
        let talk = talk(world);
        let (before, main) = (kept(world, talk.id).1, PathId::main_of(talk.id));
        let quiet = NodePlacement { leads: None, ..placing(world, talk.id, NodePosition::EditOf(talk.root)) };
        let viewer = world.anna.clone();
        let (edit, moved) = world.write(move |tx| tx.append_node(&viewer, &quiet, &said("another question")));
        assert_eq!((moved.turns, shown_at(world, talk.id, talk.root)), (vec![], vec![talk.root]));
        assert_eq!((edit.edited_from, cursor(world, talk.id, main)), (Some(talk.root), Some(talk.last)));
        let after = kept(world, talk.id).1;
        assert_eq!((after.len(), after[&talk.root].clone()), (before.len() + 1, before[&talk.root].clone()));
        assert_ne!(after[&edit.id].1, after[&talk.root].1);
        let other = crate::tree_refusals::talk(world);
        assert_eq!(refused_say(world, talk.id, NodePosition::EditOf(other.root)), "AG-EDGE-003");
    }

    fn br_turn_episode_001_taking_back_what_was_said_refuses(world: &World) {
        let talk = talk(world);
        let answer = generate(world, talk.id, talk.last, "because");
        let before = kept(world, talk.id);
        for part in [parts(&row(world, talk.root)), parts(&answer)].concat() {
            let viewer = world.anna.clone();
            assert_eq!(refused(world, move |tx| tx.undo_item(&viewer, part)), "MG-SOIL-005");
        }
        assert_eq!(kept(world, talk.id), before);
        let guarded = format!("DELETE FROM items WHERE id = {}", world.hex(answer.content.unwrap().as_bytes()));
        assert!(world.tamper(&guarded).is_err());
    }

    fn br_alt_001_whatever_is_done_no_alternative_changes_or_goes_holds(world: &World) {
        let talk = talk(world);
        generate(world, talk.id, talk.last, "because");
        let (_, before) = kept(world, talk.id);
        stir(world, &talk);
        let (_, after) = kept(world, talk.id);
        assert_eq!(before.keys().map(|node| after[node].clone()).collect::<Vec<_>>(), before.into_values().collect::<Vec<_>>());
        assert_eq!(verify_tree(world, talk.id).iter().filter(|(_, verdict)| *verdict == Some(Verdict::Invalid)).count(), 0);
    }

    fn br_alt_001_another_content_process_or_time_is_named_refuses(world: &World) {
        let talk = talk(world);
        let answer = generate(world, talk.id, talk.last, "because");
        let [id, content, other] = [*answer.id.as_bytes(), *answer.content.unwrap().as_bytes(), *row(world, talk.root).content.unwrap().as_bytes()].map(|id| world.hex(&id));
        let flip = altered(world, "process");
        named(world, "nodes", &id, "process", &flip, &flip);
        named(world, "nodes", &id, "created_at", "created_at + 1", "created_at - 1");
        named(world, "nodes", &id, "content", &other, &content);
        assert_eq!(world.verify(true).breaks, []);
        let again = refused(world, { let viewer = world.anna.clone(); move |tx| tx.complete_node(&viewer, answer.id, &said("no")) });
        assert_eq!(again, "Z5");
    }

    fn br_alt_003_what_an_alternative_answers_stays_holds(world: &World) {
        let talk = talk(world);
        let node = pending(world, &talk);
        turn_to(world, talk.id, talk.answers[1]);
        let viewer = world.anna.clone();
        let done = world.write(move |tx| tx.complete_node(&viewer, node, &said("late")));
        assert_eq!((done.parent, row(world, talk.last).parent), (Some(talk.last), Some(talk.answers[0])));
        stir(world, &talk);
        assert_eq!((row(world, node).parent, row(world, talk.last).parent), (Some(talk.last), Some(talk.answers[0])));
    }

    fn br_alt_003_another_parent_is_named_and_breaks_the_proof_refuses(world: &World) {
        let talk = talk(world);
        let [id, other] = [talk.last, talk.answers[1]].map(|node| world.hex(node.as_bytes()));
        world.tamper_unguarded(&format!("UPDATE nodes SET parent = {other} WHERE id = {id}")).unwrap();
        assert!(verify_tree(world, talk.id).contains(&(talk.last, Some(Verdict::Invalid))));
        let breaks = world.verify(true).breaks;
        assert!(breaks.iter().any(|broken| broken.table == "nodes"), "{breaks:?}");
    }

    fn br_alt_006a_focusing_connects_to_the_root_and_leaves_siblings_holds(world: &World) {
        let talk = talk(world);
        let beside = ["x", "y"].map(|text| say(world, talk.id, after(Some(talk.answers[1]), Speaker::User), text).id);
        assert_eq!(shown_at(world, talk.id, beside[0]), [beside[1]]);
        assert_eq!(turn_to(world, talk.id, talk.last), [turn_of(world, talk.answers[0])]);
        let main = PathId::main_of(talk.id);
        assert_eq!(way_to(world, main, cursor(world, talk.id, main).unwrap()), [talk.root, talk.answers[0], talk.last]);
        assert_eq!(shown_at(world, talk.id, beside[0]), [beside[1]]);
        turn_to(world, talk.id, beside[0]);
        assert_eq!(way_to(world, main, cursor(world, talk.id, main).unwrap()), [talk.root, talk.answers[1], beside[0]]);
    }

    fn br_alt_006a_switching_what_is_below_refuses(world: &World) {
        let talk = talk(world);
        let deeper = ["x", "y"].map(|text| say(world, talk.id, after(Some(talk.last), Speaker::Agent), text).id);
        for node in [talk.answers[1], talk.root, talk.answers[0]] {
            assert!(!turn_to(world, talk.id, node).contains(&turn_of(world, deeper[0])));
            assert_eq!(shown_at(world, talk.id, deeper[0]), [deeper[1]]);
        }
        let note = say(world, talk.id, NodePosition::About(vec![talk.root]), "hm").id;
        let (viewer, main) = (world.anna.clone(), PathId::main_of(talk.id));
        assert_eq!(refused(world, move |tx| tx.move_path(&viewer, main, me(&viewer), note)), "AG-EDGE-004");
    }

    fn mg_conv_007_growing_one_branch_moves_nobody_in_another_refuses(world: &World) {
        let talk = talk(world);
        let (theirs, main) = (PathId::of(talk.id, MODEL.as_bytes()), PathId::main_of(talk.id));
        let viewer = world.anna.clone();
        world.write(move |tx| tx.move_path(&viewer, theirs, MODEL, talk.answers[1]).map(drop));
        say(world, talk.id, after(Some(talk.last), Speaker::Agent), "on");
        assert_eq!(cursor(world, talk.id, theirs), Some(talk.answers[1]));
        let before = (cursor(world, talk.id, main), kept(world, talk.id));
        let origin = json!({ "conversationId": talk.id, "turnId": turn_of(world, talk.last), "nodeId": talk.last });
        let data = json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin });
        let fork = conversation_of(world, &world.anna, data);
        say(world, fork, after(None, Speaker::User), "elsewhere");
        assert_eq!((cursor(world, talk.id, main), kept(world, talk.id)), before);
        let leading = NodePlacement { leads: Some(theirs), ..placing(world, talk.id, after(Some(talk.last), Speaker::User)) };
        let viewer = world.anna.clone();
        assert_eq!(refused(world, move |tx| tx.append_node(&viewer, &leading, &said("mine"))), "AG-PATH-002");
    }

    fn mg_frame_003_forking_moves_nobody_else_refuses(world: &World) {
        let talk = talk(world);
        let project = conversation_row(world, talk.id).project.unwrap();
        let theirs = PathId::of(talk.id, MODEL.as_bytes());
        let viewer = world.anna.clone();
        world.write(move |tx| {
            tx.move_frame(&viewer, project, MODEL, talk.id)?;
            tx.move_path(&viewer, theirs, MODEL, talk.answers[1]).map(drop)
        });
        let origin = json!({ "conversationId": talk.id, "turnId": turn_of(world, talk.last), "nodeId": talk.last });
        let data = json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin });
        let (viewer, again) = (world.anna.clone(), data.clone());
        let fork = world.write(move |tx| tx.create_conversation(&viewer, content("Conversation", data.clone()), project, me(&viewer)));
        let viewer = world.anna.clone();
        let mut frames = world.read(move |tx| {
            let frames = tx.frames(&viewer, project)?;
            frames.into_iter().map(|(who, of)| Ok((who, of, tx.frame_head(&viewer, of, who)?))).collect::<Result<Vec<_>, _>>()
        });
        frames.sort_by_key(|frame| frame.0 != MODEL);
        let fork = ConversationId::from_bytes(*fork.id.as_bytes());
        assert_eq!(frames, [(MODEL, talk.id, Some(talk.answers[1])), (me(&world.anna), fork, None)]);
        let viewer = world.bert.clone();
        assert_eq!(refused(world, move |tx| tx.create_conversation(&viewer, content("Conversation", again.clone()), project, me(&viewer))), "NotFound");
    }

    fn mg_frame_004_the_head_is_what_was_seen_or_written_last_holds(world: &World) {
        let talk = talk(world);
        let project = conversation_row(world, talk.id).project.unwrap();
        let head = |world: &World| {
            let viewer = world.anna.clone();
            world.read(move |tx| {
                assert_eq!(tx.frames(&viewer, project)?, [(me(&viewer), talk.id)]);
                tx.frame_head(&viewer, talk.id, me(&viewer))
            })
        };
        assert_eq!(head(world), Some(talk.last));
        turn_to(world, talk.id, talk.answers[1]);
        assert_eq!(head(world), Some(talk.answers[1]));
        let written = say(world, talk.id, after(Some(talk.answers[1]), Speaker::User), "go on").id;
        assert_eq!(head(world), Some(written));
        // What is said elsewhere is no head of this branch.
        say(world, conversation(world, "dialogue"), after(None, Speaker::User), "elsewhere");
        assert_eq!(head(world), Some(written));
    }

    fn ag_tree_001_one_root_turn_with_alternatives_holds(world: &World) {
        for mode in ["dialogue", "buffer"] {
            let id = conversation(world, mode);
            assert_eq!(conversation_row(world, id).root_node, None);
            let root = say(world, id, after(None, Speaker::User), "first");
            let turn = root.turn().unwrap();
            say(world, id, NodePosition::EditOf(root.id), "edited");
            say(world, id, NodePosition::Beside { turn, parent: None }, "beside");
            say(world, id, after(Some(root.id), Speaker::Agent), "second");
            let found = conversation_row(world, id);
            assert_eq!((found.root_turn, found.root_node), (Some(turn), Some(root.id)));
            let roots: Vec<TurnRow> = kept(world, id).0.into_values().filter(|turn| turn.parent.is_none()).collect();
            assert_eq!((roots.len(), roots[0].id, roots[0].first_node), (1, turn, root.id));
        }
    }

    fn ag_tree_004_a_default_list_refuses_what_is_archived_until_the_mark_is_off(world: &World) {
        let talk = talk(world);
        let listed = |world: &World, archived: bool| {
            let viewer = world.anna.clone();
            let query = ConversationQuery { archived, limit: 9, ..ConversationQuery::default() };
            world.read(move |tx| tx.conversations(&viewer, &query)).rows.iter().map(|row| row.id).collect::<Vec<_>>()
        };
        let before = kept(world, talk.id);
        change_record(world, talk.id, "status", json!("archived"));
        assert_eq!((listed(world, false), listed(world, true)), (vec![], vec![talk.id]));
        assert_eq!(kept(world, talk.id), before);
        change_record(world, talk.id, "status", json!("active"));
        assert_eq!((listed(world, false), listed(world, true)), (vec![talk.id], vec![]));
    }

    fn ag_node_001_an_edit_is_a_node_of_its_own_holds(world: &World) {
        for mode in ["dialogue", "buffer"] {
            let id = conversation(world, mode);
            let old = say(world, id, after(None, Speaker::User), "old").id;
            let before = kept(world, id).1;
            let edit = say(world, id, NodePosition::EditOf(old), "new");
            assert_eq!((edit.edited_from, edit.id == old), (Some(old), false));
            assert_eq!(kept(world, id).1[&old], before[&old]);
        }
    }

    fn ag_node_001_changing_a_node_in_its_place_refuses(world: &World) {
        let talk = talk(world);
        for id in parts(&row(world, talk.root)) {
            let hex = world.hex(id.as_bytes());
            for sql in [format!("UPDATE items SET canonical_at = 1 WHERE id = {hex}"), format!("DELETE FROM items WHERE id = {hex}")] {
                assert!(world.tamper(&sql).is_err(), "{sql}");
            }
        }
        for item_type in [ItemType::NODE, ItemType::NODE_CONTENT] {
            assert!(ItemDraft::stated(item_type, object(json!({ "nodeId": talk.root })), None).is_err());
        }
        let said = world.hex(row(world, talk.root).content.unwrap().as_bytes());
        let flip = altered(world, "payload");
        world.tamper_unguarded(&format!("UPDATE items SET payload = {flip} WHERE id = {said}")).unwrap();
        let viewer = world.anna.clone();
        let read = world.try_read(move |tx| tx.seen_node(&viewer, PathId::main_of(talk.id), talk.root));
        assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
    }

    fn ag_node_002_a_node_is_of_one_tree_and_no_fork_copies_it_holds(world: &World) {
        let talk = talk(world);
        let origin = json!({ "conversationId": talk.id, "turnId": turn_of(world, talk.last), "nodeId": talk.last });
        let data = json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin });
        let fork = conversation_of(world, &world.anna, data);
        let own = say(world, fork, after(None, Speaker::User), "elsewhere").id;
        assert_eq!(kept(world, fork).1.keys().copied().collect::<Vec<_>>(), [own]);
        assert!(kept(world, talk.id).1.values().all(|(node, _)| node.conversation == talk.id));
        // It reads on into the tree it grew from, whose nodes stay where they are.
        assert_eq!(way_to(world, PathId::main_of(fork), own), [talk.root, talk.answers[0], talk.last, own]);
        assert_eq!(row(world, talk.last).conversation, talk.id);
    }

    fn ag_node_002_a_node_of_two_trees_refuses(world: &World) {
        let [one, other] = [talk(world), talk(world)];
        assert_eq!(refused_say(world, other.id, after(Some(one.last), Speaker::User)), "AG-EDGE-003");
        let (viewer, path) = (world.anna.clone(), PathId::main_of(other.id));
        assert_eq!(refused(world, move |tx| tx.move_path(&viewer, path, me(&viewer), one.last)), "AG-PATH-002");
        let [node, from, to] = [*one.last.as_bytes(), *one.id.as_bytes(), *other.id.as_bytes()].map(|id| world.hex(&id));
        named(world, "nodes", &node, "conversation", &to, &from);
    }

    fn ag_node_004_what_is_noted_beside_a_node_refuses_to_reach_its_hash(world: &World) {
        let talk = talk(world);
        let fresh = row(world, talk.last);
        assert_eq!((fresh.bookmarked, &fresh.label, fresh.pruned, fresh.excluded), (false, &None, false, false));
        let before = items(world, ItemType::NODE);
        stir(world, &talk);
        let noted = row(world, talk.last);
        assert_eq!((noted.bookmarked, noted.pruned, noted.excluded), (true, true, true));
        assert_eq!(noted.content_hash, fresh.content_hash);
        assert!(verify_tree(world, talk.id).contains(&(talk.last, Some(Verdict::Valid))));
        let after = items(world, ItemType::NODE);
        assert!(before.iter().all(|item| after.contains(item)));
        for item in after {
            let document = item.document().unwrap();
            assert!(["bookmarked", "label", "pruned", "excluded", "summary", "tags"].iter().all(|name| !document.contains_key(*name)));
        }
    }

    fn ag_node_006_only_the_root_turn_follows_nothing_holds(world: &World) {
        let talk = talk(world);
        stir(world, &talk);
        let root = conversation_row(world, talk.id).root_turn;
        let (_, nodes) = kept(world, talk.id);
        let (placed, remarks): (Vec<&NodeRow>, Vec<&NodeRow>) = nodes.values().map(|(row, _)| row).filter(|row| row.parent.is_none()).partition(|row| row.place.is_some());
        assert_eq!((placed.len(), remarks.len()), (2, 1));
        assert!(placed.iter().all(|row| row.turn() == root));
        assert_ne!(conversation_row(world, talk.id).root_node, Some(remarks[0].id));
    }

    fn ag_node_006_another_start_refuses(world: &World) {
        let talk = talk(world);
        assert_eq!(refused_say(world, talk.id, after(None, Speaker::System)), "BR-TURN-003");
        let beside = NodePosition::Beside { turn: turn_of(world, talk.root), parent: Some(talk.root) };
        assert_eq!(refused_say(world, talk.id, beside), "BR-TURN-009");
        let empty = conversation(world, "dialogue");
        assert_eq!(refused_say(world, empty, NodePosition::About(vec![talk.root])), "AG-EDGE-003");
        assert!(try_say(world, empty, after(None, Speaker::User), "first").is_ok());
    }
}
