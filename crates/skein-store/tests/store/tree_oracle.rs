//! A law: whatever is said, edited, switched, reserved and failed, the store answers as a naive walk over a plain tree does.

use std::collections::BTreeMap;

use proptest::prelude::*;
use skein_core::tree::actor::ActorId;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, TurnId};
use skein_store::StoreError;
use skein_store::tree::append::{Placing, Position};

use crate::tree::{conversation, placing, said};
use crate::world::World;

/// Something a person may do; numbers choose among the nodes there are.
#[derive(Debug, Clone)]
enum Deed {
    Continue { node: usize, agent: bool, reserve: bool },
    Alternative { node: usize, parent: Option<usize>, leads: bool },
    Edit { node: usize, leads: bool },
    Switch(usize),
    OtherSwitch(usize),
    Finish { node: usize, fails: bool },
}

fn deed() -> impl Strategy<Value = Deed> {
    let node = 0_usize..64;
    prop_oneof![
        6 => (node.clone(), any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(node, agent, reserve)| Deed::Continue { node, agent, reserve }),
        4 => (node.clone(), prop::option::of(node.clone()), any::<bool>())
            .prop_map(|(node, parent, leads)| Deed::Alternative { node, parent, leads }),
        2 => (node.clone(), any::<bool>()).prop_map(|(node, leads)| Deed::Edit { node, leads }),
        4 => node.clone().prop_map(Deed::Switch),
        2 => node.clone().prop_map(Deed::OtherSwitch),
        1 => (node, any::<bool>()).prop_map(|(node, fails)| Deed::Finish { node, fails }),
    ]
}

/// The plain tree: what the store must agree with.
#[derive(Default)]
struct Oracle {
    nodes: Vec<Plain>,
    /// Per path, the node that a turn was led to.
    selected: BTreeMap<(usize, TurnId), NodeId>,
}

#[derive(Debug, Clone)]
struct Plain {
    id: NodeId,
    turn: TurnId,
    parent: Option<usize>,
    /// The first node of its lineage: itself, unless it is a buffer version.
    lineage: usize,
    depth: i64,
    speaker: Speaker,
    is_open: bool,
}

impl Oracle {
    fn chosen(&self, number: usize) -> Option<usize> {
        (!self.nodes.is_empty()).then(|| number % self.nodes.len())
    }

    fn shown(&self, path: usize, turn: TurnId) -> usize {
        let led = self.selected.get(&(path, turn));
        let is_it = |node: &Plain| led.map_or(node.turn == turn, |led| node.id == *led);
        self.nodes.iter().position(is_it).unwrap()
    }

    fn is_selected(&self, path: usize, node: usize) -> bool {
        self.shown(path, self.nodes[node].turn) == node
    }

    fn shows_lineage(&self, path: usize, node: usize) -> bool {
        let shown = self.shown(path, self.nodes[node].turn);
        self.nodes[shown].lineage == self.nodes[node].lineage
    }

    fn is_on_path(&self, path: usize, node: usize) -> bool {
        let parent = self.nodes[node].parent;
        self.is_selected(path, node) && parent.is_none_or(|parent| self.lineage_on_path(path, parent))
    }

    fn lineage_on_path(&self, path: usize, node: usize) -> bool {
        let parent = self.nodes[node].parent;
        self.shows_lineage(path, node) && parent.is_none_or(|parent| self.lineage_on_path(path, parent))
    }

    /// Leads a path to a node, walking all the way up; says in which turns another node shows now.
    fn lead(&mut self, path: usize, node: usize) -> Vec<TurnId> {
        let mut changed = Vec::new();
        let mut at = Some(node);
        while let Some(here) = at {
            let turn = self.nodes[here].turn;
            let fits = if here == node { self.is_selected(path, here) } else { self.shows_lineage(path, here) };
            if !fits {
                let id = if here == node { self.nodes[here].id } else { self.last_shown(path, here) };
                self.selected.insert((path, turn), id);
                changed.push(turn);
            }
            at = self.nodes[here].parent;
        }
        changed.reverse();
        changed
    }

    /// The version of a lineage that is led to when something below it is: in dialogue there is but one.
    fn last_shown(&self, _path: usize, node: usize) -> NodeId {
        let lineage = self.nodes[node].lineage;
        self.nodes.iter().rev().find(|other| other.lineage == lineage).unwrap().id
    }

    fn push(&mut self, id: NodeId, turn: TurnId, parent: Option<usize>, speaker: Speaker, is_open: bool) -> usize {
        let depth = parent.map_or(1, |parent| self.nodes[parent].depth + 1);
        let lineage = self.nodes.len();
        self.nodes.push(Plain { id, turn, parent, lineage, depth, speaker, is_open });
        lineage
    }
}

struct Life<'a> {
    world: &'a World,
    conversation: ConversationId,
    paths: [PathId; 2],
    oracle: Oracle,
}

impl<'a> Life<'a> {
    fn new(world: &'a World) -> Self {
        let conversation = conversation(world, "dialogue");
        let paths = [PathId::main_of(conversation), PathId::from_bytes([7; 16])];
        Self { world, conversation, paths, oracle: Oracle::default() }
    }

    fn placing(&self, position: Position, leads: bool) -> Placing {
        Placing { leads: leads.then_some(self.paths[0]), ..placing(self.world, self.conversation, position) }
    }

    fn perform(&mut self, deed: &Deed) -> Result<(), TestCaseError> {
        self.world.clock.advance(1);
        match *deed {
            Deed::Continue { node, agent, reserve } => {
                let parent = self.oracle.chosen(node);
                let speaker = if agent { Speaker::Agent } else { Speaker::User };
                let id = parent.map(|parent| self.oracle.nodes[parent].id);
                let position = Position::After { parent: id, speaker, turn_type: TurnType::Message };
                let turn = self.turn_that_answers(parent, speaker);
                let refused = parent.is_some_and(|parent| self.oracle.nodes[parent].is_open);
                self.append(position, parent, turn, speaker, true, reserve, refused)
            }
            Deed::Alternative { node, parent, leads } => {
                let Some(node) = self.oracle.chosen(node) else { return Ok(()) };
                let Plain { turn, speaker, parent: first_parent, .. } = self.oracle.nodes[node].clone();
                let above = first_parent.map(|parent| self.oracle.nodes[parent].turn);
                let named = parent.and_then(|parent| self.oracle.chosen(parent));
                let default = above.map(|above| self.oracle.shown(0, above));
                let answered = named.or(default);
                let refused = answered.map(|answered| self.oracle.nodes[answered].turn) != above
                    || answered.is_some_and(|answered| self.oracle.nodes[answered].is_open);
                let id = named.map(|named| self.oracle.nodes[named].id);
                self.append(Position::Beside { turn, parent: id }, answered, Some(turn), speaker, leads, false, refused)
            }
            Deed::Edit { node, leads } => {
                let Some(node) = self.oracle.chosen(node) else { return Ok(()) };
                let Plain { id, turn, speaker, parent, .. } = self.oracle.nodes[node].clone();
                self.append(Position::EditOf(id), parent, Some(turn), speaker, leads, false, false)
            }
            Deed::Switch(node) => self.switch(0, node),
            Deed::OtherSwitch(node) => self.switch(1, node),
            Deed::Finish { node, fails } => self.finish(node, fails),
        }
    }

    fn turn_that_answers(&self, parent: Option<usize>, speaker: Speaker) -> Option<TurnId> {
        let parent = parent?;
        let answers = |node: &&Plain| node.parent == Some(parent) && node.speaker == speaker;
        self.oracle.nodes.iter().filter(answers).map(|node| node.turn).min()
    }

    #[expect(clippy::too_many_arguments, reason = "one act with all its circumstances")]
    fn append(
        &mut self,
        position: Position,
        parent: Option<usize>,
        turn: Option<TurnId>,
        speaker: Speaker,
        leads: bool,
        reserve: bool,
        refused: bool,
    ) -> Result<(), TestCaseError> {
        let (viewer, placing) = (self.world.anna.clone(), self.placing(position, leads));
        let text = format!("node {}", self.oracle.nodes.len());
        let done = self.world.try_write(move |tx| match reserve {
            true => tx.reserve_node(&viewer, &placing),
            false => tx.append_node(&viewer, &placing, &said(&text)),
        });
        if refused {
            prop_assert!(done.is_err(), "{done:?}");
            return Ok(());
        }
        let (row, moved) = done.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let place = row.place.unwrap();
        if let Some(turn) = turn {
            prop_assert_eq!(place.turn, turn);
        }
        let node = self.oracle.push(row.id, place.turn, parent, speaker, reserve);
        let changed = if leads { self.oracle.lead(0, node) } else { Vec::new() };
        prop_assert_eq!(moved.turns, changed);
        Ok(())
    }

    fn switch(&mut self, path: usize, node: usize) -> Result<(), TestCaseError> {
        let Some(node) = self.oracle.chosen(node) else { return Ok(()) };
        let (viewer, id, on) = (self.world.anna.clone(), self.oracle.nodes[node].id, self.paths[path]);
        let actor = match path {
            0 => ActorId::from_bytes(*viewer.owner().as_bytes()),
            _ => ActorId::from_bytes([8; 16]),
        };
        let (_, moved) = self.world.write(move |tx| tx.move_path(&viewer, on, actor, id));
        prop_assert_eq!(moved.turns, self.oracle.lead(path, node));
        Ok(())
    }

    fn finish(&mut self, node: usize, fails: bool) -> Result<(), TestCaseError> {
        let Some(node) = self.oracle.chosen(node) else { return Ok(()) };
        let (viewer, id) = (self.world.anna.clone(), self.oracle.nodes[node].id);
        let done = self.world.try_write(move |tx| match fails {
            true => tx.fail_node(&viewer, id, "no answer"),
            false => tx.complete_node(&viewer, id, &said("generated")),
        });
        // What failed stays closed to whatever would follow it.
        match done {
            Ok(_) if !fails => self.oracle.nodes[node].is_open = false,
            Ok(_) => {}
            Err(StoreError::Refused(_)) => {}
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
        Ok(())
    }

    /// Compares every derived answer.
    fn compare(&self) -> Result<(), TestCaseError> {
        for (number, path) in self.paths.iter().copied().enumerate() {
            let (viewer, conversation) = (self.world.anna.clone(), self.conversation);
            let bones = self.world.read(move |tx| tx.skeleton(&viewer, path, conversation));
            prop_assert_eq!(bones.len(), self.oracle.nodes.len());
            for (index, node) in self.oracle.nodes.iter().enumerate() {
                let (viewer, id) = (self.world.anna.clone(), node.id);
                let seen = self.world.read(move |tx| tx.seen_node(&viewer, path, id));
                let bone = bones.iter().find(|bone| bone.id == node.id).unwrap();
                let expected = self.oracle.is_selected(number, index);
                prop_assert_eq!((seen.is_selected, bone.is_selected), (expected, expected));
                let answers = node.parent.is_none_or(|parent| self.oracle.shows_lineage(number, parent));
                prop_assert_eq!((seen.answers_selected, bone.answers_selected), (answers, answers));
                prop_assert_eq!(seen.row.label().unwrap().depth, node.depth);
                let viewer = self.world.anna.clone();
                let on_path = self.world.read(move |tx| tx.is_on_path(&viewer, path, id));
                prop_assert_eq!(on_path, self.oracle.is_on_path(number, index));
                let has_children = self.oracle.nodes.iter().any(|other| other.parent == Some(index));
                prop_assert_eq!(seen.has_children, has_children);
                self.compare_path(path, index)?;
            }
        }
        Ok(())
    }

    fn compare_path(&self, path: PathId, node: usize) -> Result<(), TestCaseError> {
        let (viewer, id) = (self.world.anna.clone(), self.oracle.nodes[node].id);
        let walked = self.world.read(move |tx| tx.path_to(&viewer, path, id, usize::MAX));
        let mut expected = vec![self.oracle.nodes[node].id];
        let mut at = self.oracle.nodes[node].parent;
        while let Some(parent) = at {
            expected.push(self.oracle.nodes[parent].id);
            at = self.oracle.nodes[parent].parent;
        }
        expected.reverse();
        prop_assert_eq!(walked.iter().map(|seen| seen.row.id).collect::<Vec<_>>(), expected);
        Ok(())
    }
}

fn live(world: &World, deeds: &[Deed]) -> Result<(), TestCaseError> {
    let mut life = Life::new(world);
    for deed in deeds {
        life.perform(deed)?;
    }
    life.compare()?;
    world.seal();
    prop_assert_eq!(world.verify(true).breaks, []);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_on_sqlite_answers_as_a_plain_one(deeds in prop::collection::vec(deed(), 1..40)) {
        live(&World::sqlite(), &deeds)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_on_postgres_answers_as_a_plain_one(deeds in prop::collection::vec(deed(), 1..40)) {
        live(&World::postgres(), &deeds)?;
    }
}
