//! Ingestion: a follower of the timeline that makes an episode of every node and of all that was brought.
//!
//! One transaction takes the next stretch, adds what is missing and moves the follower's cursor. So nothing that was said
//! waits for it, a crash repeats a stretch or does not, and doing it twice adds nothing.

use std::sync::LazyLock;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::memory::episode::Brought;
use skein_core::{EpisodeId, ItemId, NodeId, Viewer};

use crate::error::StoreError;
use crate::sql::{Value, params};
use crate::timeline::Along;
use crate::tree::NodeRow;
use crate::tx::{Tx, system_only};

/// Most items one step takes.
pub const INGESTED_ITEMS_MAX: usize = 2_048;

const NAME: &str = "episodes";
const NODES_PER_STATEMENT: usize = 256;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingested {
    /// Items it looked at.
    pub items: usize,
    /// How far everything is ingested now.
    pub reached: Cursor,
}

/// The episodes of completed nodes. An annotation stands where the first node stands that it is about.
static OF_NODES: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=NODES_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    format!(
        "INSERT INTO episodes (id, owner, item, conversation, node, turn, branch, depth, previous, actor, source, valid_at,
             created_at)
         SELECT n.id, n.owner, n.content, n.conversation, n.id, n.turn, CASE WHEN n.turn IS NULL THEN a.branch ELSE n.branch END,
             CASE WHEN n.turn IS NULL THEN a.depth ELSE n.depth END, n.parent, n.author,
             CASE WHEN t.type = 'summary' THEN 'summary' ELSE 'message' END,
             CASE WHEN m.canonical_at IS NULL THEN n.created_at ELSE m.canonical_at END, i.realized_at
         FROM nodes n JOIN items i ON i.id = n.id LEFT JOIN item_marks m ON m.item = n.id LEFT JOIN turns t ON t.id = n.turn
         LEFT JOIN nodes a ON n.turn IS NULL AND a.id = (SELECT s.source FROM node_sources s
             WHERE s.target = n.id AND s.kind = 'annotation' ORDER BY s.source LIMIT 1)
         WHERE n.id IN ({}) AND n.content IS NOT NULL AND (n.turn IS NOT NULL OR a.branch IS NOT NULL)
         ON CONFLICT DO NOTHING",
        places.join(", ")
    )
});

impl Tx<'_> {
    /// Ingests the next stretch of the timeline; `None` at its end. Of two who do it at once one collides and begins again.
    pub fn ingest(&mut self, viewer: &Viewer) -> Result<Option<Ingested>, StoreError> {
        system_only(viewer)?;
        let after = self.cursor(viewer, NAME)?;
        let stretch = self.uningested(after)?;
        let Some(reached) = stretch.last().map(|(cursor, ..)| *cursor) else { return Ok(None) };
        let of_type = |wanted: ItemType| {
            let is_wanted = move |(_, _, found): &&(Cursor, ItemId, String)| found == wanted.as_str();
            stretch.iter().filter(is_wanted).map(|(_, id, _)| *id).collect::<Vec<_>>()
        };
        for some in of_type(ItemType::NODE).chunks(NODES_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), NODES_PER_STATEMENT - some.len()).flatten();
            let bound: Vec<Value<'_>> = some.iter().chain(missing).map(Value::from).collect();
            self.execute(&OF_NODES, &bound)?;
        }
        for id in of_type(ItemType::EPISODE) {
            self.ingest_brought(id)?;
        }
        self.acknowledge(viewer, NAME, reached)?;
        Ok(Some(Ingested { items: stretch.len(), reached }))
    }

    /// Whether there is anything to ingest: at rest nothing is written.
    pub fn is_ingestion_due(&mut self, viewer: &Viewer) -> Result<bool, StoreError> {
        let after = self.cursor(viewer, NAME)?;
        Ok(!self.uningested_up_to(after, 1)?.is_empty())
    }

    /// How far everything is ingested.
    pub fn ingested(&mut self, viewer: &Viewer) -> Result<Cursor, StoreError> {
        system_only(viewer)?;
        self.cursor(viewer, NAME)
    }

    fn uningested(&mut self, after: Cursor) -> Result<Vec<(Cursor, ItemId, String)>, StoreError> {
        self.uningested_up_to(after, INGESTED_ITEMS_MAX)
    }

    fn uningested_up_to(&mut self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, ItemId, String)>, StoreError> {
        let settled = self.sql.settled_below()?;
        let along = Along { columns: "i.tx, i.position, i.id, i.type", from: "items i" };
        let mut stretch = Vec::new();
        self.each_after(&along, after, settled, limit, &mut |row| {
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            stretch.push((cursor, ItemId::from_bytes(row.array(2)?), row.text(3)?.to_owned()));
            Ok(())
        })?;
        Ok(stretch)
    }

    /// What was brought has the place of the node it names, as far as that is its owner's.
    fn ingest_brought(&mut self, id: ItemId) -> Result<(), StoreError> {
        let stored = match self.find_item(id) {
            // Whoever altered a fact stops nobody from being remembered; verifying tells of it.
            Err(StoreError::Damaged(_)) => None,
            found => found?,
        };
        let Some(stored) = stored else { return Ok(()) };
        let owner = stored.item.header.owner;
        let brought = stored.item.document().and_then(|document| Brought::from_document(&document));
        let Some(brought) = brought else { return Ok(()) };
        let node = brought.node_id.map(|node| self.find_node(node)).transpose()?.flatten();
        let node = node.filter(|node| node.owner == owner);
        let label = node.as_ref().and_then(NodeRow::label);
        if brought.node_id.is_some() && label.is_none() {
            // What names a place that cannot be kept is not shown from everywhere in its stead.
            return Ok(());
        }
        let episode = EpisodeId::from_bytes(*id.as_bytes());
        let sql =
            "INSERT INTO episodes (id, owner, item, conversation, node, branch, depth, source, valid_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
        self.execute(
            sql,
            params![
                episode.as_bytes(),
                &owner,
                &id,
                node.as_ref().map(|node| &node.conversation),
                node.as_ref().map(|node| &node.id),
                label.as_ref().map(|label| &label.branch),
                label.as_ref().map(|label| label.depth),
                brought.source.as_str(),
                stored.canonical_at,
                stored.item.header.realized_at,
            ],
        )?;
        Ok(())
    }

    /// The oldest nodes of anybody's that were completed and have no episode yet, for operators.
    pub fn unbound_nodes(&mut self, viewer: &Viewer, limit: usize) -> Result<Vec<NodeId>, StoreError> {
        let after = self.ingested(viewer)?;
        let along = Along { columns: "i.id, i.type", from: "items i" };
        let mut nodes = Vec::new();
        self.each_after(&along, after, i64::MAX, INGESTED_ITEMS_MAX, &mut |row| {
            if nodes.len() < limit && row.text(1)? == ItemType::NODE.as_str() {
                nodes.push(NodeId::from_bytes(row.array(0)?));
            }
            Ok(())
        })?;
        Ok(nodes)
    }
}
