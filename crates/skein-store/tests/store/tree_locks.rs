//! Turns that are appended under the lock of their trees, among writers of every other kind.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::{Source, SourceRole};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, PathId, TurnId, UserId};
use skein_store::tree::NodeRow;
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::tree::read::SeenNode;
use skein_store::{LockTarget, StoreError, Tx};

use crate::fixtures::{World, both, content};
use crate::group_commit::{Deed, deed, gathered_about};
use crate::tree::{after, conversation, conversation_of, marked, placing, refusal, said, say};

const WRITERS: usize = 16;
const DEEDS_PER_WRITER: usize = 14;
/// Turns that a serializable writer makes among others that never stop.
const TURNS_AMONG_OTHERS: usize = 3;

fn owner(world: &World) -> UserId {
    world.anna.owner()
}

/// Runs a function that holds these trees, as the engine runs those that append turns.
fn hold<T: Send + 'static>(
    world: &World,
    about: LockTarget,
    work: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(world.store.write_locking(1, Some(about), work)).map(|committed| committed.value)
}

/// The lock that appending this needs.
fn about(world: &World, placing: &NodePlacement) -> LockTarget {
    match placing.position {
        NodePosition::After { parent: Some(parent), .. } => {
            LockTarget::Turn { owner: owner(world), conversation: placing.conversation, parent }
        }
        _ => LockTarget::Trees(owner(world)),
    }
}

/// Appends a turn with everything read ahead, turning the participant to its conversation; as the function saw it.
fn append(tx: &mut Tx<'_>, placing: &NodePlacement, text: &str) -> Result<(NodeRow, SeenNode), StoreError> {
    let viewer = skein_core::Viewer::User(UserId::from_bytes(*placing.author.as_bytes()));
    if let NodePosition::After { parent: Some(parent), .. } = &placing.position {
        tx.prefetch_append(&viewer, placing.conversation, *parent)?;
    }
    let project = tx.conversation(&viewer, placing.conversation)?.project.unwrap();
    if tx.frame_of(&viewer, project, placing.author)? != Some(placing.conversation) {
        tx.move_frame(&viewer, project, placing.author, placing.conversation)?;
    }
    let (row, _) = tx.append_node(&viewer, placing, &said(text))?;
    let seen = tx.seen_node(&viewer, PathId::main_of(placing.conversation), row.id)?;
    Ok((row, seen))
}

fn try_append(world: &World, placing: NodePlacement, text: &str) -> Result<(NodeRow, SeenNode), StoreError> {
    let text = text.to_owned();
    hold(world, about(world, &placing), move |tx| append(tx, &placing, &text))
}

/// A turn after a node is answered with as it is read afterwards.
fn answers_as_read(world: &World, id: ConversationId, parent: NodeId, text: &str) -> NodeId {
    world.clock.advance(1);
    let (row, seen) = try_append(world, placing(world, id, after(Some(parent), Speaker::User)), text).unwrap();
    let viewer = world.anna.clone();
    let read =
        world.read(move |tx| Ok((tx.node(&viewer, row.id)?, tx.seen_node(&viewer, PathId::main_of(id), row.id)?)));
    assert_eq!((read.0, read.1), (row.clone(), seen));
    row.id
}

/// Another conversation in the project of one.
fn beside(world: &World, id: ConversationId) -> ConversationId {
    let viewer = world.anna.clone();
    world.write(move |tx| {
        let project = tx.conversation(&viewer, id)?.project.unwrap();
        let data = json!({ "title": "u", "mode": "dialogue", "kind": "main", "status": "active" });
        let actor = ActorId::from(viewer.owner());
        let record = tx.create_conversation(&viewer, content("Conversation", data), project, actor)?;
        Ok(ConversationId::from_bytes(*record.id.as_bytes()))
    })
}

/// Conversations of one project, in each a few turns with alternatives.
struct Place {
    id: ConversationId,
    nodes: Vec<NodeId>,
    turns: Vec<TurnId>,
}

fn places(world: &World) -> Vec<Place> {
    let one = conversation(world, "dialogue");
    [one, beside(world, one)].map(|id| grown(world, id)).into()
}

fn grown(world: &World, id: ConversationId) -> Place {
    let (mut nodes, mut turns) = (Vec::new(), Vec::new());
    for depth in 0..3 {
        let row = say(world, id, after(nodes.last().copied(), Speaker::User), &format!("first {depth}"));
        turns.push(row.turn().unwrap());
        nodes.push(row.id);
    }
    for (depth, turn) in turns.iter().copied().enumerate() {
        let parent = (depth > 0).then(|| nodes[nodes.len() - 1]);
        nodes.push(say(world, id, NodePosition::Beside { turn, parent }, &format!("second {depth}")).id);
    }
    Place { id, nodes, turns }
}

/// What one writer does next, by locks or serializable; how many nodes it appended.
fn act(world: &World, place: &Place, last: &mut Option<NodeId>, mixed: usize) -> Result<usize, StoreError> {
    let (viewer, path, id) = (world.anna.clone(), PathId::main_of(place.id), place.id);
    let (node, turn) = (place.nodes[mixed % place.nodes.len()], place.turns[mixed % place.turns.len()]);
    let text = mixed.to_string();
    let beside = |position| placing(world, id, position);
    match mixed % 7 {
        0 => {
            let actor = ActorId::from(viewer.owner());
            world.try_write(move |tx| tx.move_path(&viewer, path, actor, node)).map(|_| 0)
        }
        1 => {
            let placing = beside(NodePosition::EditOf(node));
            world.try_write(move |tx| tx.append_node(&viewer, &placing, &said(&text))).map(|_| 1)
        }
        2 => {
            let placing = beside(NodePosition::Beside { turn, parent: None });
            world.try_write(move |tx| tx.append_node(&viewer, &placing, &said(&text))).map(|_| 1)
        }
        3 => {
            let origin = json!({ "conversationId": id, "turnId": turn, "nodeId": node });
            conversation_of(
                world,
                &viewer,
                json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin }),
            );
            Ok(0)
        }
        4 => {
            let model = ActorId::from_bytes([9; 16]);
            let placed = beside(after(Some(node), Speaker::Agent));
            let placing = NodePlacement {
                author: model,
                author_type: AuthorType::Model,
                leads: Some(PathId::of(id, &[9; 16])),
                ..placed
            };
            let of = viewer.clone();
            let reserved = world.try_write(move |tx| Ok(tx.reserve_node(&viewer, &placing)?.0.id))?;
            world
                .try_write(move |tx| {
                    tx.mark_node(&of, &skein_core::tree::node::NodeMarked { bookmarked: Some(true), ..marked(node) })
                        .and_then(|_| tx.fail_node(&of, reserved, "stopped"))
                })
                .map(|_| 1)
        }
        _ => {
            let parent = last.unwrap_or(node);
            *last = Some(try_append(world, beside(after(Some(parent), Speaker::User)), &text)?.0.id);
            Ok(1)
        }
    }
}

/// Every turn shows one of its alternatives; names, places and numbers are each of one node.
fn is_whole(world: &World, place: &Place, appended: usize) {
    let (viewer, id) = (world.anna.clone(), place.id);
    let (row, bones, nodes) = world.read(move |tx| {
        let bones = tx.skeleton(&viewer, PathId::main_of(id), id)?;
        let nodes: Result<Vec<_>, _> = bones.iter().map(|bone| tx.node(&viewer, bone.id)).collect();
        Ok((tx.conversation(&viewer, id)?, bones, nodes?))
    });
    let expected = place.nodes.len() + appended;
    assert_eq!((usize::try_from(row.nodes), nodes.len()), (Ok(expected), expected));
    let turns: BTreeSet<TurnId> = bones.iter().filter_map(|bone| bone.turn).collect();
    let selected: Vec<TurnId> = bones.iter().filter(|bone| bone.is_selected).filter_map(|bone| bone.turn).collect();
    assert_eq!((selected.len(), selected.into_iter().collect::<BTreeSet<_>>()), (turns.len(), turns));
    let names: BTreeSet<&str> = nodes.iter().map(|node| node.local_id.as_str()).collect();
    let labels: BTreeSet<_> = nodes.iter().map(|node| node.label().unwrap()).collect();
    let ordinals: BTreeSet<_> = nodes.iter().map(|node| node.place.map(|place| (place.turn, place.ordinal))).collect();
    assert_eq!([names.len(), labels.len(), ordinals.len()], [expected; 3]);
}

fn race(world: &World, places: &[Place]) {
    let appended: Vec<usize> = std::thread::scope(|scope| {
        let write = |writer: usize| {
            scope.spawn(move || {
                let (mut last, mut appended) = (None, vec![0; places.len()]);
                for number in 0..DEEDS_PER_WRITER {
                    let at = (writer + number / 7) % places.len();
                    let parent = &mut last.take_if(|(of, _)| *of == at).map(|(_, node)| node);
                    appended[at] += act(world, &places[at], parent, writer * 5 + number * 3).unwrap();
                    last = parent.map(|node| (at, node));
                }
                appended
            })
        };
        let writing: Vec<_> = (0..WRITERS).map(write).collect();
        let each: Vec<Vec<usize>> = writing.into_iter().map(|thread| thread.join().unwrap()).collect();
        (0..places.len()).map(|at| each.iter().map(|appended| appended[at]).sum()).collect()
    });
    for (place, appended) in places.iter().zip(appended) {
        is_whole(world, place, appended);
    }
    assert_eq!(world.verify(true).breaks, []);
}

/// Turns that gather, each after the last of its own conversation.
fn gathering(world: &World, conversations: &[(ConversationId, NodeId)]) -> Vec<(Option<LockTarget>, Deed)> {
    let append = |(id, parent): &(ConversationId, NodeId)| {
        let placing = placing(world, *id, after(Some(*parent), Speaker::User));
        let about = about(world, &placing);
        let run = move |tx: &mut Tx<'_>| {
            append(tx, &placing, "gathered").map(|(row, _)| u64::try_from(row.place.unwrap().label.depth).unwrap())
        };
        (Some(about), deed(run))
    };
    conversations.iter().map(append).collect()
}

both! {
    fn a_turn_read_ahead_is_answered_as_it_is_read_afterwards(world: &World) {
        for mode in ["dialogue", "buffer"] {
            let id = conversation(world, mode);
            let root = say(world, id, after(None, Speaker::User), "root").id;
            let next = answers_as_read(world, id, root, "goes on");
            let last = answers_as_read(world, id, next, "and on");
            answers_as_read(world, id, root, "another branch");
            answers_as_read(world, id, last, "back to the first");
            let edited = say(world, id, NodePosition::EditOf(next), "edited").id;
            answers_as_read(world, id, edited, "after the edit");
            answers_as_read(world, id, next, "after what was edited");
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_turn_read_ahead_keeps_its_further_sources(world: &World) {
        let id = conversation(world, "dialogue");
        let root = say(world, id, after(None, Speaker::User), "root").id;
        let [one, other] = ["a", "b"].map(|text| say(world, id, after(Some(root), Speaker::Agent), text).id);
        let sources = vec![Source { node_id: other, role: SourceRole::Context }];
        let placed = placing(world, id, after(Some(one), Speaker::User));
        let row = try_append(world, NodePlacement { sources, ..placed }, "both").unwrap().0;
        let viewer = world.anna.clone();
        let sources = world.read(move |tx| Ok(tx.edges(&viewer, row.id, None, 10)?.rows.remove(0).sources));
        assert_eq!(sources.len(), 2);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn ag_edge_003_a_parent_elsewhere_is_refused_when_read_ahead_refuses(world: &World) {
        let [one, other] = [conversation(world, "dialogue"), conversation(world, "dialogue")];
        let root = say(world, one, after(None, Speaker::User), "hello").id;
        say(world, other, after(None, Speaker::User), "hello there");
        let lost = try_append(world, placing(world, other, after(Some(root), Speaker::User)), "lost");
        assert_eq!(refusal(lost), "AG-EDGE-003");
        let nobody = NodeId::from_bytes([3; 16]);
        let missing = try_append(world, placing(world, one, after(Some(nobody), Speaker::User)), "lost");
        assert_eq!(refusal(missing), "AG-EDGE-003", "a place that nothing has is told as one elsewhere");
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_turn_008_sixteen_writers_of_every_kind_leave_trees_that_verify_holds(world: &World) {
        race(world, &places(world));
    }

    fn br_turn_008_sixteen_writers_of_every_kind_in_one_conversation_leave_a_tree_that_verifies_holds(world: &World) {
        race(world, &places(world)[..1]);
    }

    fn a_serializable_writer_gets_its_turn_among_others_that_never_stop(world: &World) {
        let place = grown(world, conversation(world, "dialogue"));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let (place, stop) = (&place, &stop);
                scope.spawn(move || {
                    let mut parent = place.nodes[writer];
                    while !stop.load(Ordering::Relaxed) {
                        parent = try_append(world, placing(world, place.id, after(Some(parent), Speaker::User)), "on").unwrap().0.id;
                    }
                });
            }
            let turned = (0..TURNS_AMONG_OTHERS).map(|number| {
                let (viewer, node) = (world.anna.clone(), place.nodes[number]);
                let actor = ActorId::from(viewer.owner());
                world.try_write(move |tx| tx.move_path(&viewer, PathId::main_of(place.id), actor, node)).map(drop)
            });
            let turned: Vec<Result<(), StoreError>> = turned.collect();
            stop.store(true, Ordering::Relaxed);
            assert!(turned.iter().all(Result::is_ok), "{turned:?}");
        });
        assert_eq!(world.verify(true).breaks, []);
    }

    fn turns_of_one_conversation_that_gather_follow_each_other(world: &World) {
        let id = conversation(world, "dialogue");
        let root = say(world, id, after(None, Speaker::User), "root").id;
        let (came, _) = gathered_about(world, gathering(world, &[(id, root); 5]));
        let came: Vec<u64> = came.into_iter().map(Result::unwrap).collect();
        assert_eq!(came, [2; 5], "all of them answer the root");
        let viewer = world.anna.clone();
        let bones = world.read(move |tx| tx.skeleton(&viewer, PathId::main_of(id), id));
        assert_eq!(bones.iter().filter_map(|bone| bone.turn).collect::<BTreeSet<_>>().len(), 2);
        assert_eq!(world.verify(true).breaks, []);
    }
}

#[test]
fn turns_that_gather_take_one_question_and_one_commit_on_postgres() {
    let world = World::postgres();
    let first = conversation(&world, "dialogue");
    let ids = (0..8).map(|number| if number == 0 { first } else { beside(&world, first) });
    let spoken: Vec<(ConversationId, NodeId)> = ids
        .collect::<Vec<_>>()
        .into_iter()
        .map(|id| (id, say(&world, id, after(None, Speaker::User), "root").id))
        .collect();
    // Connecting asks once.
    gathered_about(&world, Vec::new());
    let before = world.store.statistics();
    let (came, commits) = gathered_about(&world, gathering(&world, &spoken));
    assert!(came.iter().all(Result::is_ok), "{came:?}");
    let after = world.store.statistics();
    assert_eq!((commits, after.collisions), (1, before.collisions));
    let holders = 2 * std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let statements = usize::try_from(after.statements - before.statements).unwrap() - holders;
    assert!(statements <= 4, "{statements} statements for {} turns", spoken.len());
    assert_eq!(world.verify(true).breaks, []);
}
