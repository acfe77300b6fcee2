//! Conversations that are long: whole stretches of them are turned over at once, and must be as if one by one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::turn::Speaker;
use skein_core::{NodeId, PathId, TurnId};
use skein_store::tree::NodeRow;
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::tree::skeleton::SkeletonNode;

use crate::fixtures::{World, both};
use crate::tree::{after, conversation, placing, said};

const TURNS: usize = 24;
const SWITCHES: usize = 60;

/// Which node each turn shows, decided by walking.
#[derive(Default)]
struct Walked {
    parents: HashMap<NodeId, Option<NodeId>>,
    turns: HashMap<NodeId, TurnId>,
    shown: BTreeMap<TurnId, NodeId>,
}

impl Walked {
    fn note(&mut self, row: &NodeRow) {
        self.parents.insert(row.id, row.parent);
        self.turns.insert(row.id, row.turn().unwrap());
    }

    /// What is quoted in an agent's turn and does not answer what is shown above.
    fn stale(&self, lines: &[Vec<NodeRow>]) -> BTreeSet<NodeId> {
        let is_stale = |parent: NodeId| self.shown[&self.turns[&parent]] != parent;
        let agents = lines.iter().flat_map(|line| line.iter().skip(1).step_by(2));
        agents.filter(|row| row.parent.is_some_and(is_stale)).map(|row| row.id).collect()
    }

    /// The turns that change, from the root down.
    fn lead(&mut self, node: NodeId) -> Vec<TurnId> {
        let above = std::iter::successors(Some(node), |node| self.parents[node]);
        let ancestry: Vec<NodeId> = above.collect();
        let mut changed = Vec::new();
        for node in ancestry.into_iter().rev() {
            let turn = self.turns[&node];
            if self.shown.insert(turn, node) != Some(node) {
                changed.push(turn);
            }
        }
        changed
    }
}

both! {
    fn br_alt_002_long_stretches_change_as_single_nodes_do_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let (path, actor) = (PathId::main_of(id), ActorId::from(world.anna.owner()));
        let mut walked = Walked::default();
        let mut lines: Vec<Vec<NodeRow>> = Vec::new();
        // Three lines through the same turns; the third leaves the second in the middle.
        for line in 0..3 {
            let mut rows: Vec<NodeRow> = if line == 2 { lines[1][..TURNS / 2].to_vec() } else { Vec::new() };
            while rows.len() < TURNS {
                let parent = rows.last().map(|row| row.id);
                let speaker = if rows.len().is_multiple_of(2) { Speaker::User } else { Speaker::Agent };
                let position = match lines.first() {
                    None => after(parent, speaker),
                    Some(first) => NodePosition::Beside { turn: first[rows.len()].turn().unwrap(), parent },
                };
                let placing = NodePlacement { author_type: AuthorType::Imported, ..placing(world, id, position) };
                let viewer = world.anna.clone();
                world.clock.advance(1);
                rows.push(world.write(move |tx| tx.append_node(&viewer, &placing, &said("on and on"))).0);
            }
            for row in &rows {
                walked.note(row);
            }
            lines.push(rows);
        }
        walked.lead(lines[0][TURNS - 1].id);
        walked.lead(lines[1][TURNS - 1].id);
        walked.lead(lines[2][TURNS - 1].id);
        let nodes: Vec<NodeId> = lines.iter().flatten().map(|row| row.id).collect();
        for number in 0..SWITCHES {
            // Numbers that share nothing with how many there are reach all of them, ends more often.
            let node = if number % 3 == 0 { lines[number % 2][TURNS - 1].id } else { nodes[number * 29 % nodes.len()] };
            let viewer = world.anna.clone();
            world.clock.advance(1);
            let (_, moved) = world.write(move |tx| tx.move_path(&viewer, path, actor, node));
            assert_eq!(moved.turns, walked.lead(node), "switch {number}");
            let viewer = world.anna.clone();
            let bones = world.read(move |tx| tx.skeleton(&viewer, path, id));
            let shown = bones.iter().filter(|bone| bone.is_selected).map(|bone| (bone.turn.unwrap(), bone.id));
            assert_eq!(shown.collect::<BTreeMap<_, _>>(), walked.shown, "switch {number}");
            let stale = bones.iter().filter(|bone| bone.is_stale).map(|bone| bone.id);
            assert_eq!(stale.collect::<BTreeSet<_>>(), walked.stale(&lines), "switch {number}");
            let parent_of = |bone: &SkeletonNode| bone.parent_place.map(|place| bones[place].id);
            assert!(bones.iter().all(|bone| bone.parent == parent_of(bone)));
        }
        assert_eq!(world.verify(true).breaks, []);
    }
}
