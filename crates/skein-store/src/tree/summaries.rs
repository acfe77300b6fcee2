//! Reads and keeps the summaries of several nodes in a few statements, however many nodes there are.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::Value as Json;
use skein_core::tree::node::{self, TreePayload, TreeSummary};
use skein_core::{ConversationId, NodeId, Viewer};

use crate::db::sql::{IDS_PER_STATEMENT, OffsetRow, Row, Value, filled, places};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{ITEM_COLUMNS, StoredItem, checked, read_item};
use crate::tree::rows::{NODE_COLUMNS, NODE_WIDTH, NodeRow, read_node};
use crate::tx::Tx;

/// Every summary of some nodes, the newest of each last.
static SUMMARIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT s.subject, {ITEM_COLUMNS} FROM tree_summaries s JOIN items i ON i.id = s.item
         LEFT JOIN item_marks m ON m.item = i.id WHERE s.subject IN ({}) ORDER BY s.subject, s.item",
        places(1)
    )
});

static SUMMARISED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT DISTINCT s.subject FROM tree_summaries s WHERE s.subject IN ({})", places(1)));

/// Nodes that have no content.
static WITHOUT_CONTENT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT n.id FROM nodes n LEFT JOIN items i ON i.id = n.content WHERE n.id IN ({}) AND i.payload IS NULL",
        places(1)
    )
});

static CONTENTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {NODE_COLUMNS}, {ITEM_COLUMNS} FROM nodes n LEFT JOIN items i ON i.id = n.content AND i.owner = n.owner
         LEFT JOIN item_marks m ON m.item = i.id WHERE n.id IN ({})",
        places(1)
    )
});

static NODES: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {NODE_COLUMNS} FROM nodes n WHERE n.id IN ({})", places(1)));

/// A node with its content; none while it is generated, when it failed, and once it was destroyed.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeWithContent {
    pub row: NodeRow,
    pub content: Option<Json>,
}

/// A summary that was made of what was read before.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftSummary {
    pub summary: TreeSummary,
    /// The nodes whose content is in it.
    pub used: Vec<NodeId>,
}

impl Tx<'_> {
    /// The newest summary of each of these nodes, of those the viewer may see and whose words still exist.
    pub fn summaries_of(
        &mut self,
        viewer: &Viewer,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, TreeSummary>, StoreError> {
        let now = self.now();
        let mut newest = HashMap::new();
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            let read = |row: &dyn Row| Ok((NodeId::from_bytes(row.array(0)?), read_item(&OffsetRow(row, 1))));
            for (node, item) in self.all(&SUMMARIES, &bound, read)? {
                newest.insert(node, checked(item?)?);
            }
        }
        let readable = newest.into_iter().filter(|(_, item)| viewer.may_read(item.item.header.owner, now));
        let summary =
            |(node, item): (NodeId, StoredItem)| Some((node, TreeSummary::from_document(&item.item.document()?)?));
        Ok(readable.filter_map(summary).collect())
    }

    /// Those of these nodes that the viewer may see, each with its content.
    pub fn node_contents(&mut self, viewer: &Viewer, nodes: &[NodeId]) -> Result<Vec<NodeWithContent>, StoreError> {
        let (now, mut found) = (self.now(), Vec::with_capacity(nodes.len()));
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            found.extend(self.all(&CONTENTS, &bound, |row| Ok((read_node(row)?, read_content(row)?)))?);
        }
        let readable = found.into_iter().filter(|(row, _)| viewer.may_read(row.owner, now));
        readable.map(|(row, content)| Ok(NodeWithContent { row, content: content? })).collect()
    }

    /// Those of these nodes that have no content, because it was destroyed or there never was any.
    pub fn without_content(&mut self, nodes: &[NodeId]) -> Result<HashSet<NodeId>, StoreError> {
        self.found_among(&WITHOUT_CONTENT, nodes)
    }

    /// Keeps summaries of nodes of one conversation: of those that have none yet, and of which nothing was destroyed since the
    /// summary was made.
    pub fn keep_missing_summaries(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        drafts: &[DraftSummary],
    ) -> Result<(), StoreError> {
        let row = self.conversation(viewer, conversation)?;
        let subjects: Vec<NodeId> = drafts.iter().filter_map(|draft| draft.summary.node_id).collect();
        let used: Vec<NodeId> = drafts.iter().flat_map(|draft| &draft.used).copied().collect();
        let (kept, destroyed) = (self.found_among(&SUMMARISED, &subjects)?, self.found_among(&WITHOUT_CONTENT, &used)?);
        let is_missing = |draft: &&DraftSummary| {
            draft.summary.node_id.is_some_and(|node| !kept.contains(&node))
                && draft.used.iter().all(|node| !destroyed.contains(node))
        };
        let missing: Vec<_> = drafts.iter().filter(is_missing).map(|draft| draft.summary.to_draft()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut nodes = Vec::with_capacity(subjects.len());
        for some in subjects.chunks(IDS_PER_STATEMENT) {
            nodes.extend(self.all(&NODES, &filled(some).collect::<Vec<_>>(), read_node)?);
        }
        self.row_cache.note_read(row, nodes);
        self.append_items(viewer, &missing).map(drop)
    }

    fn found_among(&mut self, sql: &str, nodes: &[NodeId]) -> Result<HashSet<NodeId>, StoreError> {
        let mut found = HashSet::new();
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            found.extend(self.all(sql, &bound, |row| row.array(0).map(NodeId::from_bytes))?);
        }
        Ok(found)
    }
}

fn read_content(row: &dyn Row) -> Result<Result<Option<Json>, StoreError>, SqlError> {
    let item = OffsetRow(row, NODE_WIDTH);
    let item: &dyn Row = &item;
    if item.optional_array::<16>(2)?.is_none() {
        return Ok(Ok(None));
    }
    Ok(checked(read_item(item)?).map(|stored| node::content_of(&stored.item)))
}
