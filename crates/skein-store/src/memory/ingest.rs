//! Ingestion: a follower of the timeline that makes an episode of every node and of all that was brought.
//!
//! One transaction takes the next stretch, adds what is missing and moves the follower's cursor. So nothing that was said
//! waits for it, a crash repeats a stretch or does not, and doing it twice adds nothing.

use std::sync::LazyLock;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::memory::episode::{Episode, EpisodePlace, EpisodeSource, ImportedEpisode};
use skein_core::{EpisodeId, ItemId, UserId, Viewer};

use super::episodes::{EPISODE_COLUMNS, EpisodeStage, EpisodeState, read_episode, state};
use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::StoredItem;
use crate::tree::NodeRow;
use crate::tx::{Tx, system_only};

/// Most items one step takes.
pub const INGESTED_ITEMS_MAX: usize = 2_048;

const NAME: &str = "episodes";
pub(super) const NODES_PER_STATEMENT: usize = 256;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestResult {
    /// Items it looked at.
    pub items: usize,
    /// How far everything is ingested now.
    pub reached: Cursor,
}

/// The episodes of completed nodes. An annotation stands where the first node stands that it is about.
fn of_nodes(nodes: usize) -> String {
    let places: Vec<String> = (1..=nodes).map(|place| format!("?{place}")).collect();
    format!(
        "SELECT n.id AS id, n.owner AS owner, n.content AS item, n.conversation AS conversation, n.id AS node, n.turn AS turn,
             CASE WHEN n.turn IS NULL THEN a.branch ELSE n.branch END AS branch,
             CASE WHEN n.turn IS NULL THEN a.depth ELSE n.depth END AS depth, n.parent AS previous, n.author AS actor,
             CASE WHEN t.type = 'summary' THEN 'summary' ELSE 'message' END AS source,
             CASE WHEN m.canonical_at IS NULL THEN n.created_at ELSE m.canonical_at END AS valid_at,
             i.realized_at AS created_at
         FROM nodes n JOIN items i ON i.id = n.id LEFT JOIN item_marks m ON m.item = n.id LEFT JOIN turns t ON t.id = n.turn
         LEFT JOIN nodes a ON n.turn IS NULL AND a.id = (SELECT s.source FROM node_sources s
             WHERE s.target = n.id AND s.kind = 'annotation' ORDER BY s.source LIMIT 1)
         WHERE n.id IN ({}) AND n.content IS NOT NULL AND (n.turn IS NOT NULL OR a.branch IS NOT NULL)",
        places.join(", ")
    )
}

static INGEST_NODES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO episodes (id, owner, item, conversation, node, turn, branch, depth, previous, actor, source, valid_at,
             created_at) {} ON CONFLICT DO NOTHING",
        of_nodes(NODES_PER_STATEMENT)
    )
});
/// What becomes of one node.
static OF_NODE: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {EPISODE_COLUMNS} FROM ({}) AS e LEFT JOIN item_marks o ON o.item = e.id", of_nodes(1))
});

impl Tx<'_> {
    /// Ingests the next stretch of the timeline; `None` at its end. Of two who do it at once one collides and begins again.
    pub fn ingest(&mut self, viewer: &Viewer) -> Result<Option<IngestResult>, StoreError> {
        system_only(viewer)?;
        let after = self.cursor(viewer, NAME)?;
        let stretch = self.uningested(after)?;
        let Some(reached) = stretch.last().map(|(cursor, ..)| *cursor) else { return Ok(None) };
        let of_type = |wanted: ItemType| {
            let is_wanted = move |(_, _, found): &&(Cursor, ItemId, String)| found == wanted.as_str();
            stretch.iter().filter(is_wanted).map(|(_, id, _)| *id).collect::<Vec<_>>()
        };
        let (nodes, brought) = (of_type(ItemType::NODE), of_type(ItemType::EPISODE));
        for some in nodes.chunks(NODES_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), NODES_PER_STATEMENT - some.len()).flatten();
            let bound: Vec<Value<'_>> = some.iter().chain(missing).map(Value::from).collect();
            self.execute(&INGEST_NODES, &bound)?;
        }
        for id in &brought {
            self.ingest_brought(*id)?;
        }
        self.store_unindexable(&nodes)?;
        self.store_unindexable(&brought)?;
        self.acknowledge(viewer, NAME, reached)?;
        Ok(Some(IngestResult { items: stretch.len(), reached }))
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
        let along = TimelineQuery { columns: "i.tx, i.position, i.id, i.type", from: "items i" };
        let mut stretch = Vec::new();
        self.each_after(&along, after, settled, limit, &mut |row| {
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            stretch.push((cursor, ItemId::from_bytes(row.array(2)?), row.text(3)?.to_owned()));
            Ok(())
        })?;
        Ok(stretch)
    }

    fn ingest_brought(&mut self, id: ItemId) -> Result<(), StoreError> {
        let stored = match self.find_item(id) {
            // An altered item does not stop ingestion; verification reports it.
            Err(StoreError::Damaged(_)) => None,
            found => found?,
        };
        let Some(stored) = stored else { return Ok(()) };
        let Ok(episode) = self.brought_episode(&stored)? else { return Ok(()) };
        let place = episode.place.as_ref();
        let sql =
            "INSERT INTO episodes (id, owner, item, conversation, node, branch, depth, source, valid_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
        self.execute(
            sql,
            params![
                episode.id.as_bytes(),
                &episode.owner,
                &episode.item,
                place.map(|place| &place.conversation),
                place.map(|place| &place.node),
                place.map(|place| &place.label.branch),
                place.map(|place| place.label.depth),
                episode.source.as_str(),
                episode.valid_at,
                episode.created_at,
            ],
        )?;
        Ok(())
    }

    /// What was brought has the place of the node it names, as far as that is its owner's; else why nothing comes of it.
    fn brought_episode(&mut self, stored: &StoredItem) -> Result<Result<Episode, &'static str>, StoreError> {
        let header = &stored.item.header;
        if stored.item.payload.is_none() {
            return Ok(Err("what was brought was destroyed before it was remembered"));
        }
        let brought = stored.item.document().and_then(|document| ImportedEpisode::from_document(&document));
        let Some(brought) = brought else { return Ok(Err("what was brought cannot be read")) };
        let place = match brought.node_id {
            None => None,
            Some(node) => {
                let row = self.find_node(node)?.filter(|row| row.owner == header.owner);
                let (Some(label), Some(conversation)) =
                    (row.as_ref().and_then(NodeRow::label), row.as_ref().map(|row| row.conversation))
                else {
                    // What names a place that cannot be kept is not shown from everywhere in its stead.
                    return Ok(Err("it names a node that is not there, or that has no place of its own"));
                };
                Some(EpisodePlace { conversation, node, turn: None, label, previous: None })
            }
        };
        Ok(Ok(Episode {
            id: EpisodeId::from_bytes(*header.id.as_bytes()),
            owner: header.owner,
            item: header.id,
            place,
            actor: None,
            source: brought.source,
            valid_at: stored.canonical_at,
            created_at: header.realized_at,
        }))
    }

    /// What will become an episode, or never will, and has no row yet; `None` when it is nothing of that kind.
    pub(super) fn unmade_episode(&mut self, owner: UserId, id: EpisodeId) -> Result<Option<EpisodeState>, StoreError> {
        let stored = self.find_item(ItemId::from_bytes(*id.as_bytes()))?;
        let Some(stored) = stored.filter(|stored| stored.item.header.owner == owner) else { return Ok(None) };
        let is_brought = stored.item.header.item_type == ItemType::EPISODE;
        if !is_brought && stored.item.header.item_type != ItemType::NODE {
            return Ok(None);
        }
        let made = if is_brought {
            self.brought_episode(&stored)?
        } else {
            let found = self.first(&OF_NODE, params![id.as_bytes()], read_episode)?;
            found.ok_or("it is about nothing that has a place in its conversation")
        };
        let (episode, bound) = match made {
            Ok(episode) => (episode, EpisodeStage::NotYet),
            Err(reason) => (nowhere(&stored), EpisodeStage::Never(reason)),
        };
        let words = if is_brought { Some(stored) } else { self.find_item(episode.item)? };
        Ok(words.map(|words| state(&words, episode, bound)))
    }
}

/// What cannot be bound to a place, as far as it can be told.
fn nowhere(stored: &StoredItem) -> Episode {
    let header = &stored.item.header;
    let is_brought = header.item_type == ItemType::EPISODE;
    Episode {
        id: EpisodeId::from_bytes(*header.id.as_bytes()),
        owner: header.owner,
        item: header.id,
        place: None,
        actor: None,
        source: if is_brought { EpisodeSource::Text } else { EpisodeSource::Message },
        valid_at: stored.canonical_at,
        created_at: header.realized_at,
    }
}
