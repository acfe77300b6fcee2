//! Episodes as they are read: by id and by owner.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use skein_core::garden::item::ItemType;
use skein_core::memory::episode::{Episode, EpisodePlace, EpisodeSource, ImportedEpisode};
use skein_core::tree::actor::ActorId;
use skein_core::tree::content::Content;
use skein_core::tree::node::content_of;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, EpisodeId, ItemId, Millis, NodeId, TurnId, UserId, Viewer};

use crate::db::sql::{OffsetRow, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{ITEM_COLUMNS, PAGE_BYTES_MAX, Page, StoredItem, read_item};
use crate::tx::Tx;

pub(super) const EPISODES_PER_STATEMENT: usize = 100;

/// What [`read_episode`] expects, of `episodes e` joined with `item_marks o`, which say when it really was said: a correction
/// counts from the moment it is made, and withdrawing it too (decision Z9).
pub(super) const EPISODE_COLUMNS: &str = "e.id, e.owner, e.item, e.conversation, e.node, e.turn, e.branch, e.depth,
    e.previous, e.actor, e.source, CASE WHEN o.override_record IS NULL THEN e.valid_at
        WHEN o.canonical_at IS NULL THEN (SELECT w.canonical_at FROM items w WHERE w.id = e.id) ELSE o.canonical_at END,
    e.created_at";
/// Columns of an item.
const ITEM_WIDTH: usize = 13;
/// Columns of an episode.
const EPISODE_WIDTH: usize = 13;

/// An episode with its words, as far as they were not destroyed.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeState {
    pub episode: Episode,
    /// `None` when they were destroyed.
    pub text: Option<String>,
    /// The name of who said what was brought.
    pub speaker: Option<String>,
    pub bound: EpisodeStage,
}

/// How far an episode has come in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeStage {
    /// It is made, and an index may know it.
    Made,
    /// It is made of something said while a tool worked: kept, never found (rule BR-EPISODE-003).
    OfToolRun,
    /// What it is made of was not looked at yet.
    NotYet,
    /// Nothing is made of it, and why.
    Never(&'static str),
}

static BY_IDS: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=EPISODES_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    format!(
        "SELECT {ITEM_COLUMNS}, {EPISODE_COLUMNS}, k.kind FROM episodes e JOIN items i ON i.id = e.item
         LEFT JOIN item_marks m ON m.item = i.id LEFT JOIN item_marks o ON o.item = e.id
         LEFT JOIN conversations k ON k.id = e.conversation WHERE e.id IN ({})",
        places.join(", ")
    )
});

impl Tx<'_> {
    /// One of the viewer's episodes, or what will become one.
    pub fn episode(&mut self, viewer: &Viewer, id: EpisodeId) -> Result<EpisodeState, StoreError> {
        let found = match self.episodes_of(viewer, &[id])?.pop() {
            None => {
                let owner = self.subject(viewer)?;
                self.unmade_episode(owner, id)?
            }
            found => found,
        };
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// These of the viewer's episodes, in their order; what is not the viewer's is left out.
    pub fn episodes_of(&mut self, viewer: &Viewer, ids: &[EpisodeId]) -> Result<Vec<EpisodeState>, StoreError> {
        let owner = self.subject(viewer)?;
        let mut found = Vec::with_capacity(ids.len());
        for some in ids.chunks(EPISODES_PER_STATEMENT) {
            found.extend(self.episode_states(some)?.into_iter().filter(|state| state.episode.owner == owner));
        }
        Ok(found)
    }

    /// A few of anybody's episodes, in their order.
    pub(super) fn episode_states(&mut self, ids: &[EpisodeId]) -> Result<Vec<EpisodeState>, StoreError> {
        let missing = std::iter::repeat_n(ids.last(), EPISODES_PER_STATEMENT - ids.len()).flatten();
        let bound: Vec<Value<'_>> = ids.iter().chain(missing).map(|id| Value::from(id.as_bytes())).collect();
        let states = self.all(&BY_IDS, &bound, |row| {
            let is_of_tool_run = row.optional_text(ITEM_WIDTH + EPISODE_WIDTH)? == Some("tool_run");
            let bound = if is_of_tool_run { EpisodeStage::OfToolRun } else { EpisodeStage::Made };
            Ok(state(&read_item(row)?, read_episode(&OffsetRow(row, ITEM_WIDTH))?, bound))
        })?;
        let mut found: HashMap<EpisodeId, EpisodeState> =
            states.into_iter().map(|state| (state.episode.id, state)).collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Which of these nodes have an episode.
    pub fn remembered_nodes(&mut self, nodes: &[NodeId]) -> Result<HashSet<NodeId>, StoreError> {
        static AMONG: LazyLock<String> = LazyLock::new(|| {
            let places: Vec<String> = (1..=EPISODES_PER_STATEMENT).map(|place| format!("?{place}")).collect();
            format!("SELECT e.id FROM episodes e WHERE e.id IN ({})", places.join(", "))
        });
        let mut found = HashSet::with_capacity(nodes.len());
        for some in nodes.chunks(EPISODES_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), EPISODES_PER_STATEMENT - some.len()).flatten();
            let bound: Vec<Value<'_>> = some.iter().chain(missing).map(Value::from).collect();
            found.extend(self.all(&AMONG, &bound, |row| row.array(0).map(NodeId::from_bytes))?);
        }
        Ok(found)
    }

    /// When these nodes really were said, as far as that was corrected.
    pub fn corrected_times(&mut self, nodes: &[NodeId]) -> Result<HashMap<NodeId, Millis>, StoreError> {
        let mut corrected = HashMap::new();
        for node in nodes {
            let sql = "SELECT m.canonical_at FROM item_marks m WHERE m.item = ?1";
            let at = self.first(sql, params![node], |row| row.optional_int(0))?.flatten();
            corrected.extend(at.map(|at| (*node, Millis(at))));
        }
        Ok(corrected)
    }

    /// The viewer's episodes, the newest first.
    pub fn episodes(
        &mut self,
        viewer: &Viewer,
        conversation: Option<ConversationId>,
        after: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Page<EpisodeState, EpisodeId>, StoreError> {
        let owner = self.subject(viewer)?;
        let (before, count) = (after.map_or([255; 16], |id| *id.as_bytes()), i64::try_from(limit).unwrap_or(i64::MAX));
        let narrowed = if conversation.is_some() { "e.conversation = ?4 AND e.owner = ?1" } else { "e.owner = ?1" };
        let sql = format!("SELECT e.id FROM episodes e WHERE {narrowed} AND e.id < ?2 ORDER BY e.id DESC LIMIT ?3");
        let bound = params![&owner, before.as_slice(), count.saturating_add(1), conversation.as_ref()];
        let bound = if conversation.is_some() { bound } else { &bound[..3] };
        let ids = self.all(&sql, bound, |row| row.array(0).map(EpisodeId::from_bytes))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for some in ids[..ids.len().min(limit)].chunks(EPISODES_PER_STATEMENT / 10) {
            let states = self.episodes_of(viewer, some)?;
            bytes += states.iter().map(|state| state.text.as_ref().map_or(0, String::len)).sum::<usize>();
            rows.extend(states);
            if bytes > PAGE_BYTES_MAX {
                break;
            }
        }
        let next = rows.last().map(|state| state.episode.id).filter(|_| rows.len() < ids.len());
        Ok(Page { rows, next })
    }
}

pub(super) fn read_episode(row: &dyn Row) -> Result<Episode, SqlError> {
    let place = match (row.optional_array(3)?, row.optional_array(4)?, row.optional_array(6)?) {
        (Some(conversation), Some(node), Some(branch)) => Some(EpisodePlace {
            conversation: ConversationId::from_bytes(conversation),
            node: NodeId::from_bytes(node),
            turn: row.optional_array(5)?.map(TurnId::from_bytes),
            label: NodeLabel { branch: NodeId::from_bytes(branch), depth: row.int(7)? },
            previous: row.optional_array(8)?.map(EpisodeId::from_bytes),
        }),
        _ => None,
    };
    let source = row.text(10)?;
    let unknown = || SqlError::Other(format!("{source} is no source of episodes"));
    Ok(Episode {
        id: EpisodeId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        item: ItemId::from_bytes(row.array(2)?),
        place,
        actor: row.optional_array(9)?.map(ActorId::from_bytes),
        source: EpisodeSource::parse(source).ok_or_else(unknown)?,
        valid_at: Millis(row.int(11)?),
        created_at: Millis(row.int(12)?),
    })
}

/// An episode with the words of its item.
pub(super) fn state(stored: &StoredItem, episode: Episode, bound: EpisodeStage) -> EpisodeState {
    if stored.item.header.item_type == ItemType::EPISODE {
        let brought = stored.item.document().and_then(|document| ImportedEpisode::from_document(&document));
        let speaker = brought.as_ref().and_then(|brought| brought.speaker.clone());
        return EpisodeState { episode, text: brought.map(|brought| brought.text()), speaker, bound };
    }
    let content = content_of(&stored.item).and_then(|content| Content::parse(&content).ok());
    let text = content.map(|content| content.plain_text().into_owned());
    EpisodeState { episode, text, speaker: None, bound }
}
