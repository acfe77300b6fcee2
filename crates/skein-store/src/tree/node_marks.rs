//! Stores marks of nodes: bookmarks, pruned and excluded flags, tags, summaries.

use std::collections::{BTreeSet, HashSet};

use skein_core::garden::item::{Item, ItemType};
use skein_core::tree::node::{FoldText, NodeMarked, TreePayload, TreeSummary};
use skein_core::{ConversationId, ItemId, NodeId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::items::StoredItem;
use crate::tree::path_switch::UPWARD;
use crate::tree::rows::NodeRow;
use crate::tx::Tx;

/// The summaries of all nodes of a tree.
const SUMMARIES_OF_NODES: &str = "SELECT i.id FROM nodes n JOIN tree_summaries s ON s.subject = n.id
    JOIN items i ON i.id = s.item WHERE n.conversation = ?1 AND i.payload IS NOT NULL";

impl Tx<'_> {
    /// Notes something beside a node.
    pub fn mark_node(&mut self, viewer: &Viewer, marked: &NodeMarked) -> Result<NodeRow, StoreError> {
        let row = self.node(viewer, marked.node_id)?;
        if !viewer.may_write(row.owner) {
            return Err(StoreError::Forbidden);
        }
        self.append_item_for(viewer, row.owner, &marked.to_draft())?;
        self.node(viewer, row.id)
    }

    /// Keeps a summary of a node or of its whole tree; it replaces the one before.
    pub fn summarise(&mut self, viewer: &Viewer, summary: &TreeSummary) -> Result<StoredItem, StoreError> {
        let row = self.conversation(viewer, summary.conversation_id)?;
        self.append_item_for(viewer, row.owner, &summary.to_draft())
    }

    /// The newest summary of a node or, without one, of the tree.
    pub fn summary(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        node: Option<NodeId>,
    ) -> Result<Option<TreeSummary>, StoreError> {
        self.conversation(viewer, conversation)?;
        let subject = node.map_or(*conversation.as_bytes(), |node| *node.as_bytes());
        let sql = "SELECT item FROM tree_summaries WHERE subject = ?1 ORDER BY item DESC LIMIT 1";
        let Some(item) = self.first(sql, params![&subject], |row| row.array(0))?.map(ItemId::from_bytes) else {
            return Ok(None);
        };
        let item = self.item(viewer, item)?;
        Ok(item.item.document().and_then(|document| TreeSummary::from_document(&document)))
    }

    /// Keeps the text of a summary that a conversation is folded into; the record names the item.
    pub fn keep_fold_text(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        text: String,
    ) -> Result<ItemId, StoreError> {
        let owner = self.conversation(viewer, conversation)?.owner;
        let text = FoldText { conversation_id: conversation, text };
        Ok(self.append_item_for(viewer, owner, &text.to_draft())?.item.header.id)
    }

    /// The text of such a summary, unless it was redacted or left out of a bundle.
    pub fn fold_text(&mut self, viewer: &Viewer, item: ItemId) -> Result<Option<String>, StoreError> {
        let item = match self.item(viewer, item) {
            Err(StoreError::NotFound(_)) => return Ok(None),
            found => found?.item,
        };
        Ok(item.document().and_then(|document| FoldText::from_document(&document)).map(|fold| fold.text))
    }

    /// The node that an item tells the place or the words of.
    pub(crate) fn node_of_item(&mut self, viewer: &Viewer, id: ItemId) -> Result<Option<NodeRow>, StoreError> {
        let item = self.item(viewer, id)?.item;
        self.node_told_by(&item)
    }

    /// The node that an item, while it says anything, is a part of.
    pub(crate) fn node_told_by(&mut self, item: &Item) -> Result<Option<NodeRow>, StoreError> {
        let told = match &item.header.item_type {
            t if *t == ItemType::NODE => Some(NodeId::from_bytes(*item.header.id.as_bytes())),
            t if *t == ItemType::NODE_CONTENT => item.document().and_then(|document| {
                document.get("nodeId").and_then(|node| node.as_str()).and_then(|node| node.parse().ok())
            }),
            _ => None,
        };
        told.map_or(Ok(None), |node| self.find_node(node))
    }

    /// What was made of a node's words, or from what they were made, and is still there: its raw response, its summaries,
    /// those that were made with it or with one of these in view, those of every tree whose paths run through it, and those
    /// that were made in view of a title that quotes it.
    pub(crate) fn copies_of(&mut self, node: &NodeRow) -> Result<Vec<ItemId>, StoreError> {
        let nodes = self.told_on(node.id)?;
        let trees = self.grown_of(node.conversation)?;
        let nodes = nodes.iter().map(|id| *id.as_bytes());
        let subjects: BTreeSet<[u8; 16]> = nodes.chain(trees.iter().map(|id| *id.as_bytes())).collect();
        let summaries = "SELECT i.id FROM tree_summaries s JOIN items i ON i.id = s.item
             WHERE s.subject = ?1 AND i.payload IS NOT NULL";
        let mut copies = Vec::new();
        for subject in subjects {
            copies.extend(self.all(summaries, params![&subject], |row| row.array(0).map(ItemId::from_bytes))?);
        }
        for tree in self.trees_called_after(node, &trees)? {
            copies.extend(self.all(SUMMARIES_OF_NODES, params![&tree], |row| row.array(0).map(ItemId::from_bytes))?);
        }
        copies.sort_unstable();
        copies.dedup();
        let raw = node.raw_response.map(|raw| raw.item_id);
        let sql = "SELECT i.id FROM items i WHERE i.id = ?1 AND i.owner = ?2 AND i.payload IS NOT NULL";
        copies.extend(self.all(sql, params![raw.as_ref(), &node.owner], |row| row.array(0).map(ItemId::from_bytes))?);
        Ok(copies)
    }

    /// The untitled trees among these, if the node is the root they are called after.
    fn trees_called_after(
        &mut self,
        node: &NodeRow,
        grown: &[ConversationId],
    ) -> Result<Vec<ConversationId>, StoreError> {
        let root = self.find_conversation(node.conversation)?.and_then(|tree| tree.root_node);
        if root != Some(node.id) {
            return Ok(Vec::new());
        }
        let (viewer, mut untitled) = (Viewer::User(node.owner), Vec::new());
        for tree in grown {
            if self.record(&viewer, (*tree).into())?.content.data.get("title").is_none() {
                untitled.push(*tree);
            }
        }
        Ok(untitled)
    }

    /// A node and those whose summaries may tell what it says. A summary is made in view of the two nodes before, as they
    /// are or as their summaries tell them: so words are told on from summary to summary, and no further than these go.
    fn told_on(&mut self, node: NodeId) -> Result<BTreeSet<NodeId>, StoreError> {
        let sql = "SELECT 1 FROM tree_summaries WHERE subject = ?1 LIMIT 1";
        let (mut found, mut edge) = (BTreeSet::from([node]), vec![node]);
        while !edge.is_empty() {
            let near = self.following(&edge)?;
            let beyond = self.following(&near)?;
            edge.clear();
            for next in near.into_iter().chain(beyond) {
                let is_summarised = self.first(sql, params![next.as_bytes()], |_| Ok(()))?.is_some();
                if is_summarised && found.insert(next) {
                    edge.push(next);
                }
            }
        }
        Ok(found)
    }

    /// What answers these nodes in any of their versions, in forks too.
    fn following(&mut self, nodes: &[NodeId]) -> Result<Vec<NodeId>, StoreError> {
        let sql = "WITH lineage(id) AS (
                 SELECT n.id FROM nodes n WHERE n.id = ?1
                 UNION SELECT v.id FROM nodes n JOIN nodes v ON v.branch = n.branch AND v.depth = n.depth
                     AND v.is_version = 0 WHERE n.id = ?1
                 UNION SELECT v.id FROM nodes n JOIN nodes v ON v.branch = n.branch AND v.depth = n.depth
                     AND v.is_version = 1 WHERE n.id = ?1)
             SELECT k.id FROM lineage l JOIN nodes k ON k.parent = l.id
             UNION SELECT k.id FROM lineage l LEFT JOIN conversations c ON c.origin = l.id
                 LEFT JOIN nodes k ON k.turn = c.root_turn";
        let mut found = Vec::new();
        for node in nodes {
            // Where no conversation begins there is an empty row: as inner joins SQLite would read all nodes.
            let follows = self.all(sql, params![node], |row| Ok(row.optional_array(0)?.map(NodeId::from_bytes)))?;
            found.extend(follows.into_iter().flatten());
        }
        Ok(found)
    }

    /// A conversation and all that grew from it.
    pub(crate) fn grown_of(&mut self, conversation: ConversationId) -> Result<Vec<ConversationId>, StoreError> {
        let sql = "WITH RECURSIVE grown(id) AS (
                 SELECT c.id FROM conversations c WHERE c.id = ?1
                 UNION SELECT c.id FROM grown g JOIN conversations c ON c.parent = g.id)
             SELECT g.id FROM grown g";
        self.all(sql, params![&conversation], |row| row.array(0).map(ConversationId::from_bytes))
    }

    pub fn tags_of(&mut self, viewer: &Viewer, node: NodeId) -> Result<Vec<String>, StoreError> {
        self.node(viewer, node)?;
        let sql = "SELECT tag FROM node_tags WHERE node = ?1 ORDER BY tag";
        self.all(sql, params![&node], |row| row.text(0).map(str::to_owned))
    }

    /// Which of the viewer's nodes have a tag: the newest of them.
    pub fn ids_tagged(&mut self, viewer: &Viewer, tag: &str, limit: usize) -> Result<HashSet<NodeId>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT node FROM node_tags WHERE owner = ?1 AND tag = ?2 ORDER BY node DESC LIMIT ?3";
        let found = self.all(sql, params![&owner, tag, limit], |row| row.array(0).map(NodeId::from_bytes))?;
        Ok(found.into_iter().collect())
    }

    /// Whether a node or anything it descends from was pruned.
    pub fn is_pruned(&mut self, viewer: &Viewer, node: NodeId) -> Result<bool, StoreError> {
        let row = self.node(viewer, node)?;
        if row.pruned {
            return Ok(true);
        }
        let sql = format!(
            "{UPWARD} SELECT u.depth FROM upward u WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.branch = u.branch
             AND n.depth <= u.depth AND n.pruned = 1) LIMIT 1"
        );
        Ok(self.first(&sql, params![&node], |row| row.int(0))?.is_some())
    }
}
