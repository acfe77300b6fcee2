//! A law: whatever is said, edited, switched, forked, noted, reserved and failed, the store answers as a naive walk over
//! a plain tree does, and everything it answers from can be made again from the items.

use proptest::prelude::*;
use serde_json::json;
use skein_core::tree::actor::ActorId;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, ItemId, NodeId, PathId, TurnId, Viewer};
use skein_store::memory::VisibleBranch;
use skein_store::tree::NodeRow;
use skein_store::tree::adjacent_nodes::AdjacentKind;
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::tree::read::SeenNode;
use skein_store::tree::skeleton::SkeletonNode;
use skein_store::{StoreError, Tx};

use crate::fixtures::World;
use crate::main_paths::Known;
use crate::tree::{conversation, conversation_of, marked, placing, said};
use crate::tree_oracle::{Marks, Oracle, PATHS, Plain, PlainTree};

/// Who goes another way than the owner.
const OTHER: ActorId = ActorId::from_bytes([8; 16]);
const TREES_MAX: usize = 4;
const TAGS: [&str; 2] = ["Ä tag", "b"];

/// Something a person may do; numbers choose among the nodes there are.
#[derive(Debug, Clone)]
enum Deed {
    Continue { node: usize, agent: bool, reserve: bool },
    Alternative { node: usize, parent: Option<usize>, leads: bool },
    Edit { node: usize, leads: bool },
    Switch { node: usize, path: usize },
    Finish { node: usize, fails: bool },
    Fork(usize),
    Annotate(usize, usize),
    Mark { node: usize, what: u8, on: bool },
}

fn deed() -> impl Strategy<Value = Deed> {
    let node = 0_usize..64;
    prop_oneof![
        6 => (node.clone(), any::<bool>(), prop::bool::weighted(0.15))
            .prop_map(|(node, agent, reserve)| Deed::Continue { node, agent, reserve }),
        4 => (node.clone(), prop::option::of(node.clone()), any::<bool>())
            .prop_map(|(node, parent, leads)| Deed::Alternative { node, parent, leads }),
        4 => (node.clone(), any::<bool>()).prop_map(|(node, leads)| Deed::Edit { node, leads }),
        6 => (node.clone(), 0..PATHS).prop_map(|(node, path)| Deed::Switch { node, path }),
        2 => (node.clone(), any::<bool>()).prop_map(|(node, fails)| Deed::Finish { node, fails }),
        1 => node.clone().prop_map(Deed::Fork),
        1 => (node.clone(), node.clone()).prop_map(|(one, other)| Deed::Annotate(one, other)),
        2 => (node, 0_u8..4, any::<bool>()).prop_map(|(node, what, on)| Deed::Mark { node, what, on }),
    ]
}

/// A node that is about to be made, and whether it should be refused.
struct Attempt {
    tree: usize,
    position: NodePosition,
    parent: Option<usize>,
    turn: Option<TurnId>,
    speaker: Speaker,
    edited_from: Option<usize>,
    about: Vec<usize>,
    leads: bool,
    reserve: bool,
    refused: bool,
}

struct Life<'a> {
    world: &'a World,
    oracle: Oracle,
}

impl<'a> Life<'a> {
    fn new(world: &'a World, mode: &str) -> Self {
        let mut life = Self { world, oracle: Oracle::default() };
        life.grow(conversation(world, mode), None, mode == "buffer");
        life
    }

    fn grow(&mut self, id: ConversationId, origin: Option<usize>, is_buffer: bool) {
        let paths = [PathId::main_of(id), PathId::of(id, OTHER.as_bytes())];
        let above = origin.map(|origin| self.oracle.path_to(0, origin)).unwrap_or_default();
        self.oracle.trees.push(PlainTree { id, origin, above, paths, is_buffer });
    }

    fn node(&self, number: usize) -> Option<(usize, Plain)> {
        self.oracle.chosen(number).map(|node| (node, self.oracle.nodes[node].clone()))
    }

    fn perform(&mut self, deed: &Deed) -> Result<(), TestCaseError> {
        self.world.clock.advance(1);
        match *deed {
            Deed::Continue { node, agent, reserve } => self.go_on(node, agent, reserve),
            Deed::Alternative { node, parent, leads } => self.alternative(node, parent, leads),
            Deed::Edit { node, leads } => self.edit(node, leads),
            Deed::Switch { node, path } => self.switch(path, node),
            Deed::Finish { node, fails } => self.finish(node, fails),
            Deed::Fork(node) => {
                self.fork(node);
                Ok(())
            }
            Deed::Annotate(one, other) => self.annotate(one, other),
            Deed::Mark { node, what, on } => {
                self.mark(node, what, on);
                Ok(())
            }
        }
    }

    fn go_on(&mut self, node: usize, agent: bool, reserve: bool) -> Result<(), TestCaseError> {
        let speaker = if agent { Speaker::Agent } else { Speaker::User };
        // A tree that has no root yet gets one first.
        let rootless = (0..self.oracle.trees.len()).find(|tree| self.oracle.of_tree(*tree).is_empty());
        let parent = if rootless.is_some() { None } else { self.node(node) };
        let (tree, refused) = match (&rootless, &parent) {
            (None, Some((_, plain))) => {
                (plain.tree, plain.turn.is_none() || plain.status != GenerationStatus::Complete)
            }
            (tree, _) => (tree.unwrap_or(0), false),
        };
        let position = NodePosition::After {
            parent: parent.as_ref().map(|(_, plain)| plain.id),
            speaker,
            turn_type: TurnType::Message,
        };
        let parent = parent.map(|(parent, _)| parent);
        let turn = parent.and_then(|parent| self.oracle.turn_that_answers(parent, speaker));
        let edited_from = None;
        self.append(Attempt {
            tree,
            position,
            parent,
            turn,
            speaker,
            edited_from,
            about: vec![],
            leads: true,
            reserve,
            refused,
        })
    }

    fn alternative(&mut self, node: usize, parent: Option<usize>, leads: bool) -> Result<(), TestCaseError> {
        let Some((_, plain)) = self.node(node) else { return Ok(()) };
        let Some(turn) = plain.turn else { return Ok(()) };
        let above = plain.parent.and_then(|parent| self.oracle.nodes[parent].turn);
        let named = parent.and_then(|parent| self.oracle.chosen(parent));
        let answered = named.or(above.map(|above| self.oracle.shown(0, above)));
        let is_refused = |answered: &Plain| answered.turn != above || answered.status != GenerationStatus::Complete;
        let refused = match answered {
            Some(answered) => above.is_none() || is_refused(&self.oracle.nodes[answered]),
            None => above.is_some(),
        };
        let position = NodePosition::Beside { turn, parent: named.map(|named| self.oracle.nodes[named].id) };
        let (tree, speaker, edited_from) = (plain.tree, plain.speaker, None);
        self.append(Attempt {
            tree,
            position,
            parent: answered,
            turn: Some(turn),
            speaker,
            edited_from,
            about: vec![],
            leads,
            reserve: false,
            refused,
        })
    }

    fn edit(&mut self, node: usize, leads: bool) -> Result<(), TestCaseError> {
        let Some((node, plain)) = self.node(node) else { return Ok(()) };
        self.append(Attempt {
            tree: plain.tree,
            position: NodePosition::EditOf(plain.id),
            parent: plain.parent,
            turn: plain.turn,
            speaker: plain.speaker,
            edited_from: Some(node),
            about: vec![],
            leads,
            reserve: false,
            refused: plain.turn.is_none() || plain.status != GenerationStatus::Complete,
        })
    }

    fn annotate(&mut self, one: usize, other: usize) -> Result<(), TestCaseError> {
        let (Some((one, first)), Some((other, second))) = (self.node(one), self.node(other)) else { return Ok(()) };
        let is_open = |plain: &Plain| plain.status != GenerationStatus::Complete;
        self.append(Attempt {
            tree: first.tree,
            position: NodePosition::About(vec![first.id, second.id]),
            parent: None,
            turn: None,
            speaker: Speaker::User,
            edited_from: None,
            about: vec![one, other],
            leads: true,
            reserve: false,
            refused: first.tree != second.tree || is_open(&first) || is_open(&second),
        })
    }

    fn append(&mut self, attempt: Attempt) -> Result<(), TestCaseError> {
        let Attempt { tree, position, parent, turn, leads, reserve, refused, .. } = attempt;
        let (id, main) = (self.oracle.trees[tree].id, self.oracle.trees[tree].paths[0]);
        let is_note = matches!(position, NodePosition::About(_));
        let placing = NodePlacement { leads: leads.then_some(main), ..placing(self.world, id, position) };
        let (viewer, text) = (self.world.anna.clone(), format!("node {}", self.oracle.nodes.len()));
        let done = self.world.try_write(move |tx| {
            if reserve { tx.reserve_node(&viewer, &placing) } else { tx.append_node(&viewer, &placing, &said(&text)) }
        });
        if refused {
            prop_assert!(matches!(done, Err(StoreError::Rule(_) | StoreError::Refused(_))), "{done:?}");
            return Ok(());
        }
        let (row, moved) = done.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(row.place.is_none(), is_note);
        let found = row.turn();
        if turn.is_some() {
            prop_assert_eq!(found, turn);
        }
        let is_version = self.oracle.trees[tree].is_buffer && attempt.edited_from.is_some();
        let lineage = attempt.edited_from.filter(|_| is_version).map(|edited| self.oracle.nodes[edited].lineage);
        let status = if reserve { GenerationStatus::Pending } else { GenerationStatus::Complete };
        let lineage = lineage.unwrap_or(self.oracle.nodes.len());
        let (speaker, edited_from, about) = (attempt.speaker, attempt.edited_from, attempt.about);
        let marks = Marks::default();
        let node = Plain { id: row.id, tree, turn: found, parent, lineage, speaker, status, edited_from, about, marks };
        let node = self.oracle.push(node);
        let changed = if leads && !is_note { self.oracle.lead_on(0, node) } else { Vec::new() };
        prop_assert_eq!(moved.turns, changed);
        Ok(())
    }

    fn switch(&mut self, path: usize, node: usize) -> Result<(), TestCaseError> {
        let Some((node, plain)) = self.node(node) else { return Ok(()) };
        let (viewer, id, on) = (self.world.anna.clone(), plain.id, self.oracle.trees[plain.tree].paths[path]);
        let actor = if path == 0 { ActorId::from(viewer.owner()) } else { OTHER };
        let done = self.world.try_write(move |tx| tx.move_path(&viewer, on, actor, id));
        if plain.turn.is_none() {
            prop_assert!(matches!(done, Err(StoreError::Rule(_))), "{done:?}");
            return Ok(());
        }
        prop_assert_eq!(done.unwrap().1.turns, self.oracle.lead(path, node));
        Ok(())
    }

    fn finish(&mut self, node: usize, fails: bool) -> Result<(), TestCaseError> {
        let Some((node, plain)) = self.node(node) else { return Ok(()) };
        let (viewer, id) = (self.world.anna.clone(), plain.id);
        let done = self.world.try_write(move |tx| {
            if fails {
                tx.fail_node(&viewer, id, "no answer")
            } else {
                tx.complete_node(&viewer, id, &said("generated"))
            }
        });
        if plain.status != GenerationStatus::Pending {
            prop_assert!(matches!(done, Err(StoreError::Refused(_))), "{done:?}");
            return Ok(());
        }
        let status = if fails { GenerationStatus::Failed } else { GenerationStatus::Complete };
        prop_assert_eq!(done.unwrap().status, status);
        self.oracle.nodes[node].status = status;
        Ok(())
    }

    fn fork(&mut self, node: usize) {
        let Some((node, plain)) = self.node(node) else { return };
        let (Some(turn), true) = (plain.turn, self.oracle.trees.len() < TREES_MAX) else { return };
        let tree = &self.oracle.trees[plain.tree];
        let (parent, is_buffer) = (tree.id, tree.is_buffer);
        let mode = if is_buffer { "buffer" } else { "dialogue" };
        let origin = json!({ "conversationId": parent, "turnId": turn, "nodeId": plain.id });
        let viewer = self.world.anna.clone();
        let above = self.world.read(move |tx| tx.path_versions(&viewer, plain.id, usize::MAX, usize::MAX));
        let above: Vec<ItemId> = above.into_iter().map(ItemId::from).collect();
        let data =
            json!({ "mode": mode, "kind": "fork", "status": "active", "forkedFrom": origin, "shownAbove": above });
        let fork = conversation_of(self.world, &self.world.anna, data);
        self.grow(fork, Some(node), is_buffer);
    }

    fn mark(&mut self, node: usize, what: u8, on: bool) {
        let Some((node, plain)) = self.node(node) else { return };
        let marks = &mut self.oracle.nodes[node].marks;
        let mut fact = marked(plain.id);
        match what {
            0 => {
                (fact.bookmarked, fact.label) = (Some(on), on.then(|| "here".to_owned()));
                (marks.bookmarked, marks.label) = (on, on.then(|| "here".to_owned()));
            }
            1 => (fact.pruned, marks.pruned) = (Some(on), on),
            2 => (fact.excluded, marks.excluded) = (Some(on), on),
            _ => {
                let tags = TAGS.map(str::to_owned);
                if on {
                    marks.tags.extend(tags.clone());
                    fact.tagged = tags.into();
                } else {
                    marks.tags.remove(TAGS[0]);
                    fact.untagged = vec![TAGS[0].to_owned()];
                }
            }
        }
        let viewer = self.world.anna.clone();
        self.world.write(move |tx| tx.mark_node(&viewer, &fact).map(drop));
    }
}

/// What the store says about one node on one path.
struct Answers {
    seen: SeenNode,
    is_on_path: bool,
    is_pruned: bool,
    way: Vec<NodeId>,
    end: Vec<NodeId>,
    children: Vec<NodeId>,
    subtree: Vec<NodeId>,
    edits: Vec<NodeId>,
    annotations: Vec<NodeId>,
    alternatives: Vec<NodeId>,
    tags: Vec<String>,
    by_name: NodeRow,
}

fn ids(nodes: &[SeenNode]) -> Vec<NodeId> {
    nodes.iter().map(|node| node.row.id).collect()
}

fn ask(tx: &mut Tx<'_>, viewer: &Viewer, path: PathId, id: NodeId) -> Result<Answers, StoreError> {
    let seen = tx.seen_node(viewer, path, id)?;
    let alternatives = match seen.row.turn() {
        Some(turn) => ids(&tx.alternatives(viewer, path, turn, None, None, 1_000)?.1.rows),
        None => Vec::new(),
    };
    let name = seen.row.local_id.to_lowercase();
    Ok(Answers {
        is_on_path: tx.is_on_path(viewer, path, id)?,
        is_pruned: tx.is_pruned(viewer, id)?,
        way: ids(&tx.path_to(viewer, path, id, usize::MAX)?),
        end: ids(&tx.path_to(viewer, path, id, 2)?),
        children: ids(&tx.nodes_around(viewer, path, id, AdjacentKind::Children, None, 1_000)?.rows),
        subtree: ids(&tx.subtree(viewer, path, id, 2, None, 1_000)?.rows),
        edits: tx.edits(viewer, id, None, 1_000)?.rows,
        annotations: ids(&tx.nodes_around(viewer, path, id, AdjacentKind::Annotations, None, 1_000)?.rows),
        alternatives,
        tags: tx.tags_of(viewer, id)?,
        by_name: tx.node_by_local_id(viewer, seen.row.conversation, &name)?,
        seen,
    })
}

impl Life<'_> {
    /// Compares every derived answer.
    fn compare(&self) -> Result<(), TestCaseError> {
        for (tree, plain) in self.oracle.trees.iter().enumerate() {
            self.compare_whole(tree)?;
            for (number, path) in plain.paths.iter().copied().enumerate() {
                let (viewer, id, nodes) = (self.world.anna.clone(), plain.id, self.oracle.of_tree(tree));
                let asked = self.oracle.ids(&nodes);
                let (bones, cursor, answers) = self.world.read(move |tx| {
                    let answers: Result<Vec<_>, _> = asked.iter().map(|node| ask(tx, &viewer, path, *node)).collect();
                    Ok((tx.skeleton(&viewer, path, id)?, tx.path_cursor(&viewer, id, path)?, answers?))
                });
                let stands = self.oracle.cursors.get(&(tree, number)).map(|node| self.oracle.nodes[*node].id);
                prop_assert_eq!(cursor, stands);
                prop_assert_eq!(bones.len(), nodes.len());
                for ((bone, answers), node) in bones.iter().zip(&answers).zip(nodes) {
                    self.compare_node(number, node, answers)?;
                    self.compare_bone(number, node, bone)?;
                }
            }
        }
        Ok(())
    }

    fn compare_whole(&self, tree: usize) -> Result<(), TestCaseError> {
        let (viewer, id) = (self.world.anna.clone(), self.oracle.trees[tree].id);
        let (row, forks) =
            self.world.read(move |tx| Ok((tx.conversation(&viewer, id)?, tx.forks(&viewer, id, None, 1_000)?)));
        let nodes = self.oracle.of_tree(tree);
        let root = nodes.first().map(|root| &self.oracle.nodes[*root]);
        prop_assert_eq!(row.root_node, root.map(|root| root.id));
        prop_assert_eq!(row.root_turn, root.and_then(|root| root.turn));
        prop_assert_eq!(usize::try_from(row.nodes), Ok(nodes.len()));
        let is_fork = |other: &&PlainTree| other.origin.is_some_and(|node| self.oracle.nodes[node].tree == tree);
        let expected: Vec<ConversationId> = self.oracle.trees.iter().filter(is_fork).map(|fork| fork.id).collect();
        prop_assert_eq!(forks.rows.iter().map(|fork| fork.id).collect::<Vec<_>>(), expected);
        Ok(())
    }

    fn compare_node(&self, path: usize, node: usize, answers: &Answers) -> Result<(), TestCaseError> {
        let (oracle, plain) = (&self.oracle, &self.oracle.nodes[node]);
        let (seen, row) = (&answers.seen, &answers.seen.row);
        prop_assert_eq!(seen.is_selected, oracle.is_selected(path, node));
        prop_assert_eq!(seen.answers_selected, oracle.answers_selected(path, node));
        prop_assert_eq!(answers.is_on_path, oracle.is_on_path(path, node));
        prop_assert_eq!(seen.has_children, !oracle.children(node).is_empty());
        prop_assert_eq!(row.label().map_or(0, |label| label.depth), oracle.depth(node));
        prop_assert_eq!(row.status, plain.status);
        prop_assert_eq!(row.edited_from, plain.edited_from.map(|edited| oracle.nodes[edited].id));
        prop_assert_eq!(seen.content.is_some(), plain.status == GenerationStatus::Complete);
        let way = oracle.ids(&oracle.path_to(path, node));
        prop_assert_eq!(&answers.end, &way[way.len().saturating_sub(2)..].to_vec());
        prop_assert_eq!(&answers.way, &way);
        prop_assert_eq!(&answers.children, &oracle.ids(&oracle.children(node)));
        prop_assert_eq!(&answers.subtree, &oracle.ids(&oracle.subtree(node, 2)));
        prop_assert_eq!(&answers.edits, &oracle.ids(&oracle.edits(node)));
        prop_assert_eq!(&answers.annotations, &oracle.ids(&oracle.annotations(node)));
        let turn = plain.turn.map(|turn| oracle.of_turn(turn)).unwrap_or_default();
        prop_assert_eq!(&answers.alternatives, &oracle.ids(&turn));
        prop_assert_eq!(&answers.tags, &plain.marks.tags.iter().cloned().collect::<Vec<_>>());
        prop_assert_eq!(answers.is_pruned, oracle.is_pruned(node));
        prop_assert_eq!(&answers.by_name.id, &plain.id);
        let marks = (row.bookmarked, row.pruned, row.excluded, &row.label);
        prop_assert_eq!(marks, (plain.marks.bookmarked, plain.marks.pruned, plain.marks.excluded, &plain.marks.label));
        Ok(())
    }

    fn compare_bone(&self, path: usize, node: usize, bone: &SkeletonNode) -> Result<(), TestCaseError> {
        let (oracle, plain) = (&self.oracle, &self.oracle.nodes[node]);
        prop_assert_eq!((bone.id, bone.turn, bone.status), (plain.id, plain.turn, plain.status));
        let about = plain.about.iter().map(|about| oracle.nodes[*about].id).min();
        prop_assert_eq!(bone.parent, plain.parent.map(|parent| oracle.nodes[parent].id).or(about));
        prop_assert_eq!(bone.depth, oracle.depth(node));
        prop_assert_eq!(bone.is_selected, oracle.is_selected(path, node));
        prop_assert_eq!(bone.answers_selected, oracle.answers_selected(path, node));
        let marks = (bone.bookmarked, bone.pruned, bone.excluded);
        prop_assert_eq!(marks, (plain.marks.bookmarked, plain.marks.pruned, plain.marks.excluded));
        Ok(())
    }

    /// What is said about many nodes at once is what is said about each.
    fn compare_many(&self) -> Result<(), TestCaseError> {
        let (viewer, asked) =
            (self.world.anna.clone(), self.oracle.nodes.iter().map(|node| node.id).collect::<Vec<_>>());
        let (many, each) = self.world.read(move |tx| {
            let seen = tx.seen_by_owners(&viewer, &asked)?;
            let (on_path, mut tags) = (tx.on_own_paths(&seen)?, tx.tags_of_many(&viewer, &asked)?);
            let together = |node: SeenNode| {
                let id = node.row.id;
                (node, on_path.contains(&id), tags.remove(&id).unwrap_or_default())
            };
            let many: Vec<_> = seen.into_iter().map(together).collect();
            let alone = |id: &NodeId| {
                let path = PathId::main_of(tx.node(&viewer, *id)?.conversation);
                Ok((tx.seen_node(&viewer, path, *id)?, tx.is_on_path(&viewer, path, *id)?, tx.tags_of(&viewer, *id)?))
            };
            Ok((many, asked.iter().map(alone).collect::<Result<Vec<_>, StoreError>>()?))
        });
        prop_assert_eq!(many, each);
        Ok(())
    }

    /// Stretches of branches say what walking says: which lineages a main path shows, and what leads to a node (decision Z8).
    fn compare_visible(&self) -> Result<(), TestCaseError> {
        let oracle = &self.oracle;
        let (viewer, asked) = (self.world.anna.clone(), oracle.nodes.iter().map(|node| node.id).collect::<Vec<_>>());
        let (main, rows, ways) = self.world.read(move |tx| {
            let rows = asked.iter().map(|id| tx.node(&viewer, *id)).collect::<Result<Vec<_>, _>>()?;
            let ways = asked.iter().map(|id| tx.ancestry(&viewer, *id)).collect::<Result<Vec<_>, _>>()?;
            Ok((tx.main_paths(&viewer)?, rows, ways))
        });
        let covers = |seen: &[VisibleBranch], row: &NodeRow| {
            let label = row.label().expect("it is of the course");
            let mut of_branch =
                seen.iter().filter(|seen| (seen.conversation, seen.branch) == (row.conversation, label.branch));
            of_branch.any(|seen| label.depth <= seen.down_to)
        };
        let placed = || (0..oracle.nodes.len()).filter(|node| oracle.nodes[*node].turn.is_some());
        for node in placed() {
            let line = [vec![node], oracle.ancestors(node)].concat();
            let is_shown = line.iter().all(|above| oracle.shows_lineage(0, *above)) && !oracle.is_pruned(node);
            let is_listed = main.iter().any(|seen| seen.conversation == rows[node].conversation);
            if is_listed {
                prop_assert_eq!(covers(&main, &rows[node]), is_shown, "node {}", node);
            } else {
                prop_assert!(is_shown || oracle.is_pruned(node), "a conversation that is not listed has one branch");
            }
            for other in placed() {
                let same = |above: &usize| oracle.nodes[*above].lineage == oracle.nodes[other].lineage;
                let is_above = oracle.whole_line(node).iter().any(same);
                prop_assert_eq!(covers(&ways[node], &rows[other]), is_above, "{} above {}", other, node);
            }
        }
        Ok(())
    }

    /// Lists over all trees.
    fn compare_lists(&self) -> Result<(), TestCaseError> {
        self.compare_many()?;
        self.compare_visible()?;
        let viewer = self.world.anna.clone();
        let author = ActorId::from(viewer.owner());
        let (bookmarked, tagged, written) = self.world.read(move |tx| {
            let bookmarked = tx.bookmarked_nodes(&viewer, None, 1_000)?.rows;
            let tagged = tx.tagged_nodes(&viewer, TAGS[0], None, 1_000)?.rows;
            Ok((bookmarked, tagged, tx.nodes_by_author(&viewer, author, None, 1_000)?.rows))
        });
        let newest = |fits: &dyn Fn(&Plain) -> bool| {
            let mut found: Vec<NodeId> =
                self.oracle.nodes.iter().filter(|node| fits(node)).map(|node| node.id).collect();
            found.reverse();
            found
        };
        let rows = |rows: Vec<NodeRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
        prop_assert_eq!(rows(bookmarked), newest(&|node| node.marks.bookmarked));
        prop_assert_eq!(rows(tagged), newest(&|node| node.marks.tags.contains(TAGS[0])));
        prop_assert_eq!(rows(written), newest(&|_| true));
        Ok(())
    }
}

fn live(world: &World, mode: &str, deeds: &[Deed]) -> Result<(), TestCaseError> {
    let (mut life, mut known) = (Life::new(world, mode), Known::default());
    for deed in deeds {
        life.perform(deed)?;
        let [shown, truth] = known.ask(world);
        prop_assert_eq!(shown, truth, "after {:?}", deed);
    }
    life.compare()?;
    life.compare_lists()?;
    prop_assert_eq!(world.verify(true).breaks, []);
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_dialogue_on_sqlite_answers_as_a_plain_tree(deeds in prop::collection::vec(deed(), 1..48)) {
        live(&World::sqlite(), "dialogue", &deeds)?;
    }

    #[test]
    fn a_buffer_on_sqlite_answers_as_a_plain_tree(deeds in prop::collection::vec(deed(), 1..48)) {
        live(&World::sqlite(), "buffer", &deeds)?;
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn a_dialogue_on_postgres_answers_as_a_plain_tree(deeds in prop::collection::vec(deed(), 1..48)) {
        live(&World::postgres(), "dialogue", &deeds)?;
    }

    #[test]
    fn a_buffer_on_postgres_answers_as_a_plain_tree(deeds in prop::collection::vec(deed(), 1..48)) {
        live(&World::postgres(), "buffer", &deeds)?;
    }
}
