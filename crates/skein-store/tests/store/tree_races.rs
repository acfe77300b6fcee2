//! Many at once in one conversation: nothing is lost, and every turn shows one node at every moment.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use skein_core::tree::actor::ActorId;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, PathId, TurnId};
use skein_store::StoreError;
use skein_store::tree::append::NodePosition;

use crate::fixtures::{World, both};
use crate::tree::{after, conversation, placing, refusal, said, say};

const DEEDS_PER_WRITER: usize = 12;

/// A conversation of four turns with two chained alternatives each.
struct Talk {
    id: ConversationId,
    nodes: Vec<NodeId>,
    turns: Vec<TurnId>,
}

fn talk(world: &World) -> Talk {
    let id = conversation(world, "dialogue");
    let (mut nodes, mut turns) = (Vec::new(), Vec::new());
    for depth in 0..4 {
        let row = say(world, id, after(nodes.last().copied(), Speaker::User), &format!("first {depth}"));
        turns.push(row.turn().unwrap());
        nodes.push(row.id);
    }
    for (depth, turn) in turns.iter().copied().enumerate() {
        let parent = (depth > 0).then(|| nodes[nodes.len() - 1]);
        let position = NodePosition::Beside { turn, parent };
        nodes.push(say(world, id, position, &format!("second {depth}")).id);
    }
    Talk { id, nodes, turns }
}

/// What one writer does next; numbers tell writers and deeds apart.
fn deed(world: &World, talk: &Talk, writer: usize, number: usize) -> Result<bool, StoreError> {
    let (viewer, path) = (world.anna.clone(), PathId::main_of(talk.id));
    let mixed = writer * 7 + number * 5;
    let node = talk.nodes[mixed % talk.nodes.len()];
    let text = format!("{writer}.{number}");
    let position = match number % 3 {
        0 => {
            let actor = ActorId::from(viewer.owner());
            world.try_write(move |tx| tx.move_path(&viewer, path, actor, node))?;
            return Ok(false);
        }
        1 => after(Some(node), Speaker::User),
        _ => NodePosition::Beside { turn: talk.turns[mixed % talk.turns.len()], parent: None },
    };
    let placing = placing(world, talk.id, position);
    world.try_write(move |tx| tx.append_node(&viewer, &placing, &said(&text)))?;
    Ok(true)
}

/// Every turn that is there shows exactly one of its alternatives.
fn look(world: &World, id: ConversationId) {
    let (viewer, path) = (world.anna.clone(), PathId::main_of(id));
    let bones = world.read(move |tx| tx.skeleton(&viewer, path, id));
    let turns: BTreeSet<TurnId> = bones.iter().filter_map(|bone| bone.turn).collect();
    let selected: Vec<TurnId> = bones.iter().filter(|bone| bone.is_selected).filter_map(|bone| bone.turn).collect();
    assert_eq!(selected.iter().copied().collect::<BTreeSet<_>>(), turns);
    assert_eq!(selected.len(), turns.len());
}

fn race(world: &World, writers: usize) {
    let talk = talk(world);
    let stop = AtomicBool::new(false);
    let appended = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                look(world, talk.id);
            }
        });
        let write = |writer| {
            let talk = &talk;
            scope.spawn(move || {
                let deeds = (0..DEEDS_PER_WRITER).map(|number| deed(world, talk, writer, number));
                deeds.map(|done| usize::from(done.unwrap())).sum::<usize>()
            })
        };
        let writing: Vec<_> = (0..writers).map(write).collect();
        let written: Vec<_> = writing.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        written.into_iter().map(|done| done.unwrap()).sum::<usize>()
    });
    assert_eq!(appended, writers * DEEDS_PER_WRITER * 2 / 3);
    look(world, talk.id);
    all_there(world, &talk, appended);
    assert_eq!(world.verify(true).breaks, []);
}

/// Whatever was acknowledged is there once, under a name and at a place of its own.
fn all_there(world: &World, talk: &Talk, appended: usize) {
    let (viewer, path, id) = (world.anna.clone(), PathId::main_of(talk.id), talk.id);
    let (row, seen) = world.read(move |tx| {
        let bones = tx.skeleton(&viewer, path, id)?;
        let seen: Result<Vec<_>, _> = bones.iter().map(|bone| tx.seen_node(&viewer, path, bone.id)).collect();
        Ok((tx.conversation(&viewer, id)?, seen?))
    });
    let expected = talk.nodes.len() + appended;
    assert_eq!((usize::try_from(row.nodes), seen.len()), (Ok(expected), expected));
    let texts: BTreeSet<String> = seen.iter().map(|node| node.content.as_ref().unwrap()["text"].to_string()).collect();
    let names: BTreeSet<&str> = seen.iter().map(|node| node.row.local_id.as_str()).collect();
    let places: BTreeSet<_> = seen.iter().map(|node| node.row.label().unwrap()).collect();
    let ordinals: BTreeSet<_> =
        seen.iter().map(|node| node.row.place.map(|place| (place.turn, place.ordinal))).collect();
    assert_eq!([texts.len(), names.len(), places.len(), ordinals.len()], [expected; 4]);
}

/// Does the same from several threads at once and gives what each heard.
fn at_once<T: Send>(times: usize, deed: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let gate = std::sync::Barrier::new(times);
    std::thread::scope(|scope| {
        let run = |number| {
            let (gate, deed) = (&gate, &deed);
            scope.spawn(move || {
                gate.wait();
                deed(number)
            })
        };
        let running: Vec<_> = (0..times).map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

both! {
    fn br_turn_008_two_writers_at_once_leave_one_selected_node_in_each_turn_holds(world: &World) {
        race(world, 2);
    }

    fn br_turn_008_eight_writers_at_once_leave_one_selected_node_in_each_turn_holds(world: &World) {
        race(world, 8);
    }

    fn ag_tree_001_of_many_first_turns_at_once_one_is_made_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let done = at_once(6, |number| {
            let (viewer, placing) = (world.anna.clone(), placing(world, id, after(None, Speaker::User)));
            world.try_write(move |tx| tx.append_node(&viewer, &placing, &said(&number.to_string())))
        });
        let (made, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        assert_eq!(made.len(), 1);
        for error in refused {
            assert_eq!(refusal(error), "BR-TURN-003");
        }
        look(world, id);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn of_many_that_finish_one_node_at_once_one_does(world: &World) {
        let id = conversation(world, "dialogue");
        let root = say(world, id, after(None, Speaker::User), "a question").id;
        let (viewer, placing) = (world.anna.clone(), placing(world, id, after(Some(root), Speaker::Agent)));
        let node = world.write(move |tx| tx.reserve_node(&viewer, &placing)).0.id;
        let done = at_once(6, |number| {
            let viewer = world.anna.clone();
            world.try_write(move |tx| match number % 2 {
                0 => tx.complete_node(&viewer, node, &said(&number.to_string())),
                _ => tx.fail_node(&viewer, node, "stopped"),
            })
        });
        let (made, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        assert_eq!(made.len(), 1);
        for error in refused {
            assert_eq!(refusal(error), "Z5");
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_conv_007_participants_move_at_once_each_on_a_path_of_their_own_holds(world: &World) {
        let talk = talk(world);
        let done = at_once(6, |number| {
            let actor = ActorId::from_bytes([u8::try_from(number).unwrap() + 1; 16]);
            let (viewer, node) = (world.anna.clone(), talk.nodes[number]);
            let path = PathId::of(talk.id, actor.as_bytes());
            world.try_write(move |tx| tx.move_path(&viewer, path, actor, node)).map(|_| (path, node))
        });
        for moved in done {
            let ((path, node), viewer, id) = (moved.unwrap(), world.anna.clone(), talk.id);
            let (cursor, is_there) =
                world.read(move |tx| Ok((tx.path_cursor(&viewer, id, path)?, tx.is_on_path(&viewer, path, node)?)));
            assert_eq!((cursor, is_there), (Some(node), true));
        }
        assert_eq!(world.verify(true).breaks, []);
    }
}
