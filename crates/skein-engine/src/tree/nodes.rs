//! One node and what stands around it: found by its short name, by who said it, by bookmark and tag; marked, and compared
//! with what it was edited from.

use serde_json::{Value, json};
use skein_core::tree::actor::ActorId;
use skein_core::tree::compare::{Precision, RunKind, compare_texts};
use skein_core::tree::conversation::TAGS_MAX;
use skein_core::tree::local_id::lookup_form;
use skein_core::tree::node::NodeMarked;
use skein_core::tree::short_text::{BookmarkLabel, Tag};
use skein_core::{ConversationId, NodeId, PathId, RuleViolation, Viewer};
use skein_store::timeline::items::Page;
use skein_store::tree::adjacent_nodes::{AdjacentKind, EdgeRow};
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};
use std::collections::{BTreeSet, HashMap};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request};
use crate::tree::{ShownConversation, ShownNode, note_remembered, show_conversations, show_node, show_nodes, text_of};

/// Which nodes of all conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeQuery {
    /// Whatever the owner said.
    Own,
    /// Whatever this actor said.
    Author(ActorId),
    /// What was bookmarked.
    Bookmarked,
    /// What has this tag.
    Tagged(String),
}

/// A node with its tags.
#[derive(Debug, Clone, PartialEq)]
pub struct TaggedNode {
    /// The node.
    pub node: ShownNode,
    /// In their order.
    pub tags: Vec<String>,
}

impl Outcome for TaggedNode {
    fn reference(&self) -> Value {
        json!({ "node": self.node.seen.row.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let lost = |_| StoreError::Damaged("an operation does not say what it marked".to_owned());
        tagged(tx, viewer, serde_json::from_value(reference["node"].clone()).map_err(lost)?)
    }
}

/// What to note beside a node; what is not named stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marking {
    /// Whether it is bookmarked.
    pub bookmarked: Option<bool>,
    /// What the bookmark is called.
    pub label: Option<BookmarkLabel>,
    /// Whether it is cut off, with all that follows it.
    pub pruned: Option<bool>,
    /// Whether models are not shown it.
    pub excluded: Option<bool>,
    /// Tags to give it.
    pub tag: BTreeSet<Tag>,
    /// Tags to take off.
    pub untag: BTreeSet<Tag>,
}

/// A node of a history of edits, and what changed in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The node.
    pub node: ShownNode,
    /// What differs from the node it was edited from; nothing for the first, and where one of them was destroyed.
    pub diff: Option<TextDiff>,
}

/// Where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDiff {
    /// Stretches that both have, or one of them, in order.
    pub runs: Vec<(RunKind, String)>,
    /// How finely they were compared.
    pub precision: Precision,
}

impl TextDiff {
    /// From what was said to what is said.
    pub fn of(old: &str, new: &str) -> Self {
        let compared = compare_texts(old, new);
        let runs = compared.runs.iter().map(|run| (run.kind, run.text.to_owned())).collect();
        Self { runs, precision: compared.precision }
    }
}

impl Engine {
    /// One node with its tags.
    pub async fn tagged_node(&self, caller: &Caller, id: NodeId) -> Result<TaggedNode, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tagged_and_remembered(tx, &viewer, id)).await?)
    }

    /// A node by the short name it has in its conversation (rule AG-LOCAL-004).
    pub async fn node_by_local_id(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        local_id: &str,
    ) -> Result<TaggedNode, EngineError> {
        let (viewer, name) = (caller.viewer(), lookup_form(local_id));
        let typed: String = local_id.chars().take(16).collect();
        let look = move |tx: &mut Tx<'_>| {
            tx.conversation(&viewer, conversation)?;
            let name = name.as_deref().ok_or_else(|| StoreError::NotFound(typed.clone()))?;
            let row = tx.node_by_local_id(&viewer, conversation, name)?;
            tagged_and_remembered(tx, &viewer, row.id)
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// The caller's nodes that fit, newest first.
    pub async fn nodes(
        &self,
        caller: &Caller,
        query: NodeQuery,
        before: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<TaggedNode, NodeId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = match &query {
                NodeQuery::Own => tx.nodes_by_author(&viewer, ActorId::from(viewer.subject()), before, limit)?,
                NodeQuery::Author(author) => tx.nodes_by_author(&viewer, *author, before, limit)?,
                NodeQuery::Bookmarked => tx.bookmarked_nodes(&viewer, before, limit)?,
                NodeQuery::Tagged(tag) => tx.tagged_nodes(&viewer, tag, before, limit)?,
            };
            let ids: Vec<NodeId> = page.rows.iter().map(|row| row.id).collect();
            let (seen, mut tags) = (tx.seen_by_owners(&viewer, &ids)?, tx.tags_of_many(&viewer, &ids)?);
            let with_tags = |node: ShownNode| {
                let tags = tags.remove(&node.seen.row.id).unwrap_or_default();
                TaggedNode { node, tags }
            };
            Ok(Page { rows: remembered_nodes(tx, seen)?.into_iter().map(with_tags).collect(), next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// The nodes around one, oldest first.
    pub async fn nodes_around(
        &self,
        caller: &Caller,
        id: NodeId,
        around: AdjacentKind,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<ShownNode, NodeId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let path = PathId::main_of(tx.node(&viewer, id)?.conversation);
            let page = tx.nodes_around(&viewer, path, id, around, after, limit)?;
            Ok(Page { rows: remembered_nodes(tx, page.rows)?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// A node and what follows it, down to `depth` more turns, oldest first.
    pub async fn subtree(
        &self,
        caller: &Caller,
        id: NodeId,
        depth: i64,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<ShownNode, NodeId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let path = PathId::main_of(tx.node(&viewer, id)?.conversation);
            let page = tx.subtree(&viewer, path, id, depth, after, limit)?;
            Ok(Page { rows: remembered_nodes(tx, page.rows)?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// Every node made by editing this one, or that it was made from by editing, oldest first, each with what changed.
    pub async fn edits(
        &self,
        caller: &Caller,
        id: NodeId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<Edit, NodeId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.edits(&viewer, id, after, limit)?;
            let nodes = {
                let seen = tx.seen_by_owners(&viewer, &page.rows)?;
                remembered_nodes(tx, seen)?
            };
            let is_elsewhere = |earlier: &NodeId| !page.rows.contains(earlier);
            let earlier: Vec<NodeId> =
                nodes.iter().filter_map(|node| node.seen.row.edited_from).filter(is_elsewhere).collect();
            Ok((nodes, tx.seen_by_owners(&viewer, &earlier)?, page.next))
        };
        let (nodes, earlier, next) = self.parts().store.read(list).await?;
        // Comparing takes long for long texts: nothing is held open meanwhile.
        let rows = self.compute().run(caller.user, move || compare_edits(nodes, &earlier)).await?;
        Ok(Page { rows, next })
    }

    /// The edge into a node and those out of it.
    pub async fn edges(
        &self,
        caller: &Caller,
        id: NodeId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<EdgeRow, NodeId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.edges(&viewer, id, after, limit)).await?)
    }

    /// The conversations that grew from a node.
    pub async fn forks_at(
        &self,
        caller: &Caller,
        id: NodeId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ShownConversation, ConversationId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.forks_at(&viewer, id, after, limit)?;
            Ok(Page { rows: show_conversations(tx, &viewer, &page.rows)?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// The caller's tags, with how many nodes have each.
    pub async fn tags(
        &self,
        caller: &Caller,
        after: Option<String>,
        limit: usize,
    ) -> Result<Page<(String, i64), String>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.tags_after(&viewer, after.as_deref(), limit)).await?)
    }

    /// Notes something beside a node; what it says and its hash stay as they are (rule AG-NODE-004).
    pub async fn mark_node(
        &self,
        caller: &Caller,
        request: Request,
        id: NodeId,
        marking: Marking,
    ) -> Result<CommittedChange<TaggedNode>, EngineError> {
        self.change(caller, request, "node.mark", move |tx, viewer| {
            let row = tx.node(viewer, id)?;
            check_label(&marking, row.bookmarked)?;
            check_tags(&tx.tags_of(viewer, id)?, &marking)?;
            let words = |tags: &BTreeSet<Tag>| tags.iter().map(ToString::to_string).collect();
            let marked = NodeMarked {
                node_id: id,
                bookmarked: marking.bookmarked,
                label: marking.label.as_ref().map(ToString::to_string),
                pruned: marking.pruned,
                excluded: marking.excluded,
                tagged: words(&marking.tag),
                untagged: words(&marking.untag),
            };
            tx.mark_node(viewer, &marked)?;
            tagged(tx, viewer, id)
        })
        .await
    }
}

fn tagged(tx: &mut Tx<'_>, viewer: &Viewer, id: NodeId) -> Result<TaggedNode, StoreError> {
    let path = PathId::main_of(tx.node(viewer, id)?.conversation);
    Ok(TaggedNode { node: show_node(tx, viewer, path, id)?, tags: tx.tags_of(viewer, id)? })
}

fn tagged_and_remembered(tx: &mut Tx<'_>, viewer: &Viewer, id: NodeId) -> Result<TaggedNode, StoreError> {
    let mut tagged = tagged(tx, viewer, id)?;
    note_remembered(tx, [&mut tagged.node])?;
    Ok(tagged)
}

fn remembered_nodes(tx: &mut Tx<'_>, seen: Vec<SeenNode>) -> Result<Vec<ShownNode>, StoreError> {
    let mut nodes = show_nodes(tx, seen)?;
    note_remembered(tx, &mut nodes)?;
    Ok(nodes)
}

/// What changed in each of these; what they were edited from is among them or among `earlier`.
fn compare_edits(nodes: Vec<ShownNode>, earlier: &[SeenNode]) -> Vec<Edit> {
    let said = |node: &SeenNode| (node.row.id, text_of(node));
    let texts: HashMap<NodeId, Option<String>> =
        nodes.iter().map(|node| said(&node.seen)).chain(earlier.iter().map(said)).collect();
    let diff = |node: &ShownNode| {
        let before = texts.get(&node.seen.row.edited_from?)?.as_ref()?;
        Some(TextDiff::of(before, texts.get(&node.seen.row.id)?.as_ref()?))
    };
    let diffs: Vec<Option<TextDiff>> = nodes.iter().map(diff).collect();
    nodes.into_iter().zip(diffs).map(|(node, diff)| Edit { node, diff }).collect()
}

/// AG-NODE-004: a label is that of a bookmark.
fn check_label(marking: &Marking, is_bookmarked: bool) -> Result<(), RuleViolation> {
    if marking.label.is_none() || marking.bookmarked.unwrap_or(is_bookmarked) {
        return Ok(());
    }
    Err(RuleViolation::new("AG-NODE-004", "a label is that of a bookmark", "set bookmarked to true as well"))
}

/// AG-NODE-007: a node has each tag once, and not too many.
fn check_tags(has: &[String], marking: &Marking) -> Result<(), RuleViolation> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("AG-NODE-007", problem, remedy));
    if let Some(both) = marking.tag.intersection(&marking.untag).next() {
        return refuse(format!("{both} is to be given and to be taken off"), "name it once");
    }
    let mut tags: BTreeSet<&str> = has.iter().map(String::as_str).collect();
    tags.extend(marking.tag.iter().map(Tag::as_str));
    tags.retain(|tag| marking.untag.iter().all(|gone| gone.as_str() != *tag));
    if tags.len() > TAGS_MAX {
        return refuse(format!("a node has at most {TAGS_MAX} tags"), "take some off");
    }
    Ok(())
}
