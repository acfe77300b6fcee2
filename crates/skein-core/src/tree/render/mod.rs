//! A tree as something to read: Markdown, HTML, and lines for a terminal.
//!
//! Everything is written from a [`TreeView`], a small copy of what is shown, so that no writer knows where nodes come
//! from. Texts are other people's: Markdown keeps them as they are, HTML and terminals get nothing that could act.

mod drawing;
mod html;
mod markdown;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::id::ItemId;
use crate::time::Millis;
use crate::tree::actor::AuthorType;
use crate::tree::node_status::{CacheStatus, GenerationStatus};

pub use drawing::draw;
pub use html::to_html;
pub use markdown::to_markdown;

/// What a tree is written as, piece by piece: what is said may be more than fits into memory at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Markdown,
    Html,
}

impl Format {
    pub fn opening(self, title: &str) -> String {
        match self {
            Self::Markdown => markdown::opening(title),
            Self::Html => html::opening(title),
        }
    }

    /// Begins a branch that leaves the node with this local id, or begins with nothing before it.
    pub fn branch_opening(self, from: Option<&str>) -> String {
        match self {
            Self::Markdown => markdown::branch_opening(from),
            Self::Html => html::branch_opening(from),
        }
    }

    pub fn node(self, node: &NodeView) -> String {
        match self {
            Self::Markdown => markdown::node(node),
            Self::Html => html::node(node),
        }
    }

    pub fn branch_closing(self) -> &'static str {
        match self {
            Self::Markdown => "",
            Self::Html => html::BRANCH_CLOSING,
        }
    }

    pub fn closing(self) -> &'static str {
        match self {
            Self::Markdown => "",
            Self::Html => html::CLOSING,
        }
    }
}

fn whole(format: Format, title: &str, branches: &[Branch<'_>]) -> String {
    let mut out = format.opening(title);
    for branch in branches {
        out.push_str(&format.branch_opening(branch.from.map(|from| from.local_id.as_str())));
        branch.nodes.iter().for_each(|node| out.push_str(&format.node(node)));
        out.push_str(format.branch_closing());
    }
    out.push_str(format.closing());
    out
}

/// A node as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub struct NodeView {
    pub id: ItemId,
    pub local_id: String,
    pub parent: Option<ItemId>,
    /// Which alternative of its turn it is, counted from 1, and of how many.
    pub ordinal: u32,
    pub alternatives: u32,
    pub author_type: AuthorType,
    pub author_name: String,
    pub created_at: Millis,
    /// `None` when it was redacted.
    pub text: Option<String>,
    /// Whether it is the selected one of its turn.
    pub selected: bool,
    pub generation: GenerationStatus,
    pub cache: CacheStatus,
    pub is_annotation: bool,
    pub pruned: bool,
    pub excluded: bool,
    pub bookmarked: bool,
}

impl NodeView {
    /// What there is to say about it beside its text.
    fn marks(&self) -> Vec<&'static str> {
        let failed = self.generation == GenerationStatus::Failed;
        let pending = self.generation == GenerationStatus::Pending;
        let marks = [
            (self.is_annotation, "annotation"),
            (pending, "pending"),
            (failed, "failed"),
            (self.cache == CacheStatus::Stale, "stale"),
            (self.pruned, "pruned"),
            (self.excluded, "excluded"),
            (self.bookmarked, "bookmarked"),
        ];
        marks.into_iter().filter(|(applies, _)| *applies).map(|(_, mark)| mark).collect()
    }

    fn shown_text(&self) -> &str {
        self.text.as_deref().unwrap_or("[redacted]")
    }
}

/// A tree, or a part of one, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeView {
    pub title: String,
    /// Parents before their children, alternatives of one turn in their order.
    pub nodes: Vec<NodeView>,
}

/// A stretch of nodes that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch<'a> {
    /// The node it leaves; `None` for a beginning.
    pub from: Option<&'a NodeView>,
    pub nodes: Vec<&'a NodeView>,
}

impl TreeView {
    /// The path to a node, from as far up as is shown; empty for a node that is not.
    pub fn path_to(&self, node: ItemId) -> Vec<Branch<'_>> {
        let by_id: HashMap<ItemId, &NodeView> = self.nodes.iter().map(|node| (node.id, node)).collect();
        let first = by_id.get(&node).copied();
        // A parent stands before its child, so this ends even if what is shown were no tree.
        let above = |node: &&NodeView| node.parent.and_then(|parent| by_id.get(&parent).copied());
        let mut nodes: Vec<&NodeView> = std::iter::successors(first, above).take(self.nodes.len()).collect();
        nodes.reverse();
        if nodes.is_empty() { Vec::new() } else { vec![Branch { from: None, nodes }] }
    }

    /// All branches: first the one that is selected from the root on, then each that leaves one already listed.
    pub fn branches(&self) -> Vec<Branch<'_>> {
        let children = self.children();
        let mut waiting: Vec<(Option<usize>, usize)> = children.roots.iter().map(|&root| (None, root)).collect();
        order_for_reading(&self.nodes, &mut waiting);
        let mut waiting = std::collections::VecDeque::from(waiting);
        let mut branches = Vec::new();
        while let Some((from, start)) = waiting.pop_front() {
            let mut nodes = vec![&self.nodes[start]];
            let mut at = start;
            while let Some(next) = self.main_child(&children.of[at]) {
                waiting.extend(children.of[at].iter().filter(|&&child| child != next).map(|&child| (Some(at), child)));
                nodes.push(&self.nodes[next]);
                at = next;
            }
            waiting.extend(children.of[at].iter().map(|&child| (Some(at), child)));
            branches.push(Branch { from: from.map(|from| &self.nodes[from]), nodes });
        }
        branches
    }

    /// The child that goes on from a node: the selected one, else the first; annotations never do.
    fn main_child(&self, children: &[usize]) -> Option<usize> {
        let mut continuations = children.iter().copied().filter(|&child| !self.nodes[child].is_annotation);
        let selected = continuations.clone().find(|&child| self.nodes[child].selected);
        selected.or_else(|| continuations.next())
    }

    fn children(&self) -> Children {
        let places: HashMap<ItemId, usize> = self.nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
        let mut children = Children { roots: Vec::new(), of: vec![Vec::new(); self.nodes.len()] };
        for (at, node) in self.nodes.iter().enumerate() {
            // Only what stands before a node can be above it.
            match node.parent.and_then(|parent| places.get(&parent)).filter(|&&parent| parent < at) {
                Some(&parent) => children.of[parent].push(at),
                None => children.roots.push(at),
            }
        }
        children
    }
}

/// Who follows whom, by place in [`TreeView::nodes`].
struct Children {
    roots: Vec<usize>,
    of: Vec<Vec<usize>>,
}

fn order_for_reading(nodes: &[NodeView], roots: &mut [(Option<usize>, usize)]) {
    roots.sort_by_key(|(_, root)| std::cmp::Reverse(nodes[*root].selected));
}

/// Text for one line of something that must not act: no control characters, nothing that turns the direction of text.
fn plain_line(text: &str) -> String {
    let turns =
        |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !c.is_control() && !turns(*c)).collect()
}
