//! A plain tree that answers every question by walking: what the store must agree with.

use std::collections::{BTreeMap, BTreeSet};

use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, PathId, TurnId};

/// How many paths lead through each tree.
pub(crate) const PATHS: usize = 2;

#[derive(Default)]
pub(crate) struct Oracle {
    pub(crate) trees: Vec<PlainTree>,
    pub(crate) nodes: Vec<Plain>,
    /// Per path, the node that a turn was led to.
    selected: BTreeMap<(usize, TurnId), usize>,
    /// Per path and lineage, the version that was shown last.
    shown_last: BTreeMap<(usize, usize), usize>,
    pub(crate) cursors: BTreeMap<(usize, usize), usize>,
}

pub(crate) struct PlainTree {
    pub(crate) id: ConversationId,
    pub(crate) origin: Option<usize>,
    /// What led to the origin when it was forked.
    pub(crate) above: Vec<usize>,
    pub(crate) paths: [PathId; PATHS],
    pub(crate) is_buffer: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Plain {
    pub(crate) id: NodeId,
    pub(crate) tree: usize,
    /// An annotation has none.
    pub(crate) turn: Option<TurnId>,
    pub(crate) parent: Option<usize>,
    /// The first node of its lineage: itself, unless it is a buffer version.
    pub(crate) lineage: usize,
    pub(crate) speaker: Speaker,
    pub(crate) status: GenerationStatus,
    pub(crate) edited_from: Option<usize>,
    pub(crate) about: Vec<usize>,
    pub(crate) marks: Marks,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) bookmarked: bool,
    pub(crate) label: Option<String>,
    pub(crate) pruned: bool,
    pub(crate) excluded: bool,
    pub(crate) tags: BTreeSet<String>,
}

impl Oracle {
    pub(crate) fn chosen(&self, number: usize) -> Option<usize> {
        (!self.nodes.is_empty()).then(|| number % self.nodes.len())
    }

    pub(crate) fn ids(&self, nodes: &[usize]) -> Vec<NodeId> {
        nodes.iter().map(|node| self.nodes[*node].id).collect()
    }

    fn all(&self, fits: impl Fn(usize, &Plain) -> bool) -> Vec<usize> {
        (0..self.nodes.len()).filter(|index| fits(*index, &self.nodes[*index])).collect()
    }

    pub(crate) fn of_turn(&self, turn: TurnId) -> Vec<usize> {
        self.all(|_, node| node.turn == Some(turn))
    }

    pub(crate) fn of_tree(&self, tree: usize) -> Vec<usize> {
        self.all(|_, node| node.tree == tree)
    }

    pub(crate) fn shown(&self, path: usize, turn: TurnId) -> usize {
        self.selected.get(&(path, turn)).copied().unwrap_or_else(|| self.of_turn(turn)[0])
    }

    pub(crate) fn is_selected(&self, path: usize, node: usize) -> bool {
        self.nodes[node].turn.is_some_and(|turn| self.shown(path, turn) == node)
    }

    /// Whether the turn of a node shows it or another version of it.
    pub(crate) fn shows_lineage(&self, path: usize, node: usize) -> bool {
        let shown = self.nodes[node].turn.map(|turn| self.shown(path, turn));
        shown.is_some_and(|shown| self.nodes[shown].lineage == self.nodes[node].lineage)
    }

    pub(crate) fn answers_selected(&self, path: usize, node: usize) -> bool {
        self.nodes[node].parent.is_none_or(|parent| self.shows_lineage(path, parent))
    }

    pub(crate) fn ancestors(&self, node: usize) -> Vec<usize> {
        std::iter::successors(self.nodes[node].parent, |node| self.nodes[*node].parent).collect()
    }

    /// A node and everything that leads to it, through forks.
    pub(crate) fn whole_line(&self, node: usize) -> Vec<usize> {
        let above = |node: &usize| match self.nodes[*node].parent {
            Some(parent) => Some(parent),
            None => self.trees[self.nodes[*node].tree].origin,
        };
        std::iter::successors(Some(node), above).collect()
    }

    pub(crate) fn depth(&self, node: usize) -> i64 {
        match self.nodes[node].turn {
            Some(_) => i64::try_from(self.ancestors(node).len()).unwrap() + 1,
            None => 0,
        }
    }

    pub(crate) fn is_on_path(&self, path: usize, node: usize) -> bool {
        let above = self.ancestors(node).into_iter().all(|above| self.shows_lineage(path, above));
        self.is_selected(path, node) && above
    }

    /// Leads a path to a node, walking all the way up; says in which turns another node shows now.
    pub(crate) fn lead(&mut self, path: usize, node: usize) -> Vec<TurnId> {
        let mut changed = Vec::new();
        for here in [vec![node], self.ancestors(node)].concat() {
            let Some(turn) = self.nodes[here].turn else { continue };
            let fits = if here == node { self.is_selected(path, here) } else { self.shows_lineage(path, here) };
            if !fits {
                let left = self.shown(path, turn);
                self.shown_last.insert((path, self.nodes[left].lineage), left);
                let version = if here == node { node } else { self.version(path, here) };
                self.shown_last.insert((path, self.nodes[version].lineage), version);
                self.selected.insert((path, turn), version);
                changed.push(turn);
            }
        }
        self.cursors.insert((self.nodes[node].tree, path), node);
        changed.reverse();
        changed
    }

    /// Leads a path to a node that was just made: what it was said under is shown first, in this very version.
    pub(crate) fn lead_on(&mut self, path: usize, node: usize) -> Vec<TurnId> {
        let under = self.nodes[node].parent.filter(|_| self.nodes[node].edited_from.is_none());
        let mut changed = under.map(|under| self.lead(path, under)).unwrap_or_default();
        changed.extend(self.lead(path, node));
        changed
    }

    /// The version of a lineage that is led to with something below it: the one shown last, else the newest.
    fn version(&self, path: usize, node: usize) -> usize {
        let lineage = self.nodes[node].lineage;
        let newest = || *self.all(|_, other| other.lineage == lineage).last().unwrap();
        self.shown_last.get(&(path, lineage)).copied().unwrap_or_else(newest)
    }

    /// The way from the root to a node, through what its tree was forked from.
    pub(crate) fn path_to(&self, path: usize, node: usize) -> Vec<usize> {
        if self.nodes[node].turn.is_none() {
            return vec![node];
        }
        let mut way = vec![node];
        let mut at = node;
        while let Some(above) = self.nodes[at].parent {
            at = match self.nodes[above].turn {
                Some(turn) if self.shows_lineage(path, above) => self.shown(path, turn),
                _ => above,
            };
            way.push(at);
        }
        way.extend(self.trees[self.nodes[node].tree].above.iter().rev());
        way.reverse();
        way
    }

    pub(crate) fn children(&self, node: usize) -> Vec<usize> {
        let lineage = self.nodes[node].lineage;
        let follows = |other: &Plain| other.parent.is_some_and(|parent| self.nodes[parent].lineage == lineage);
        self.all(|_, other| follows(other))
    }

    /// A node and what follows it, some turns deep.
    pub(crate) fn subtree(&self, node: usize, depth: i64) -> Vec<usize> {
        let top = self.nodes[node].lineage;
        let follows = |index: usize| {
            let below = self.ancestors(index).into_iter().any(|above| self.nodes[above].lineage == top);
            below && self.depth(index) <= self.depth(node) + depth
        };
        self.all(|index, _| index == node || follows(index))
    }

    /// Everything that was made from, or led by editing to, a node; its other descendants too.
    pub(crate) fn edits(&self, node: usize) -> Vec<usize> {
        let first = |node: usize| std::iter::successors(Some(node), |node| self.nodes[*node].edited_from).last();
        self.all(|index, _| first(index) == first(node))
    }

    pub(crate) fn annotations(&self, node: usize) -> Vec<usize> {
        self.all(|_, other| other.about.contains(&node))
    }

    pub(crate) fn is_pruned(&self, node: usize) -> bool {
        let lineage = |node: usize| self.all(|_, other| other.lineage == self.nodes[node].lineage);
        let above = self.ancestors(node).into_iter().chain([node]).flat_map(lineage);
        above.into_iter().any(|node| self.nodes[node].marks.pruned)
    }

    /// The turn that answers a node, or another version of it, in a speaker's name.
    pub(crate) fn turn_that_answers(&self, parent: usize, speaker: Speaker) -> Option<TurnId> {
        let answers = |child: &usize| self.nodes[*child].speaker == speaker;
        self.children(parent).into_iter().filter(answers).filter_map(|child| self.nodes[child].turn).min()
    }

    pub(crate) fn push(&mut self, node: Plain) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}
