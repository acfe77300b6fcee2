//! What is noted beside nodes: bookmarks, what is pruned or left out, tags, summaries.

use skein_core::tree::node::{Fact, NodeMarked, TreeSummary};
use skein_core::{ConversationId, ItemId, NodeId, Viewer};

use crate::error::StoreError;
use crate::items::StoredItem;
use crate::sql::params;
use crate::tree::rows::NodeRow;
use crate::tree::select::UPWARD;
use crate::tx::Tx;

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
        let sql = "SELECT item FROM tree_summaries WHERE subject = ?1";
        let Some(item) = self.first(sql, params![&subject], |row| row.array(0))?.map(ItemId::from_bytes) else {
            return Ok(None);
        };
        let item = self.item(viewer, item)?;
        Ok(item.item.document().and_then(|document| TreeSummary::from_document(&document)))
    }

    pub fn tags_of(&mut self, viewer: &Viewer, node: NodeId) -> Result<Vec<String>, StoreError> {
        self.node(viewer, node)?;
        let sql = "SELECT tag FROM node_tags WHERE node = ?1 ORDER BY tag";
        self.all(sql, params![&node], |row| row.text(0).map(str::to_owned))
    }

    /// Every tag the viewer uses, with how many nodes have it.
    pub fn tags(&mut self, viewer: &Viewer) -> Result<Vec<(String, i64)>, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT tag, COUNT(*) FROM node_tags WHERE owner = ?1 GROUP BY tag ORDER BY tag";
        self.all(sql, params![&owner], |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))
    }

    /// Whether a node or anything it descends from was pruned.
    pub fn is_pruned(&mut self, viewer: &Viewer, node: NodeId) -> Result<bool, StoreError> {
        let row = self.node(viewer, node)?;
        if row.pruned {
            return Ok(true);
        }
        let sql = format!(
            "{UPWARD} SELECT n.pruned FROM upward u JOIN nodes n ON n.branch = u.branch AND n.depth <= u.depth
             AND n.pruned = 1 LIMIT 1"
        );
        Ok(self.first(&sql, params![&node], |row| row.int(0))?.is_some())
    }
}
