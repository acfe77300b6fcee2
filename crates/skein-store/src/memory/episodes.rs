//! Episodes as they are read: by id, by owner, and along the timeline for whoever indexes them.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::garden::redaction::redacted_item;
use skein_core::memory::episode::{Brought, Episode, EpisodePlace, EpisodeSource};
use skein_core::tree::actor::ActorId;
use skein_core::tree::content::Content;
use skein_core::tree::node::content_of;
use skein_core::tree::place::Label;
use skein_core::{ConversationId, EpisodeId, ItemId, Millis, NodeId, TurnId, UserId, Viewer};

use crate::error::{SqlError, StoreError};
use crate::items::{ITEM_COLUMNS, PAGE_BYTES_MAX, Page, StoredItem, read_item};
use crate::sql::{Row, Shifted, Value, params};
use crate::timeline::Along;
use crate::tx::{Tx, system_only};

const EPISODES_PER_STATEMENT: usize = 100;

/// What [`read_episode`] expects, of `episodes e`.
const EPISODE_COLUMNS: &str =
    "e.id, e.owner, e.item, e.conversation, e.node, e.turn, e.branch, e.depth, e.previous, e.actor,
    e.source, e.valid_at, e.created_at";
/// Columns of an item.
const ITEM_WIDTH: usize = 13;
/// Columns before an item's where the timeline is followed.
const LEAD: usize = 5;

/// An episode with its words, as far as they were not destroyed.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeState {
    pub episode: Episode,
    /// `None` when they were destroyed.
    pub text: Option<String>,
    /// The name of who said what was brought.
    pub speaker: Option<String>,
}

/// What an index is to do at a place of the timeline.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// Something is remembered from here on.
    Made(Box<FollowedEpisode>),
    /// Its words were destroyed.
    Destroyed { owner: UserId, id: EpisodeId },
}

/// An episode as an index keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedEpisode {
    pub state: EpisodeState,
    /// Whether it was said while a tool worked: kept, never found (rule BR-EPISODE-003).
    pub is_of_tool_run: bool,
}

static BY_IDS: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=EPISODES_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    format!(
        "SELECT {ITEM_COLUMNS}, {EPISODE_COLUMNS} FROM episodes e JOIN items i ON i.id = e.item
         LEFT JOIN item_marks m ON m.item = i.id WHERE e.id IN ({})",
        places.join(", ")
    )
});

impl Tx<'_> {
    /// One of the viewer's episodes.
    pub fn episode(&mut self, viewer: &Viewer, id: EpisodeId) -> Result<EpisodeState, StoreError> {
        let found = self.episodes_of(viewer, &[id])?.pop();
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// These of the viewer's episodes, in their order; what is not the viewer's is left out.
    pub fn episodes_of(&mut self, viewer: &Viewer, ids: &[EpisodeId]) -> Result<Vec<EpisodeState>, StoreError> {
        let owner = self.subject(viewer)?;
        let mut found = HashMap::with_capacity(ids.len());
        for some in ids.chunks(EPISODES_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), EPISODES_PER_STATEMENT - some.len()).flatten();
            let bound: Vec<Value<'_>> = some.iter().chain(missing).map(|id| Value::from(id.as_bytes())).collect();
            let states =
                self.all(&BY_IDS, &bound, |row| Ok(state(&read_item(row)?, read_episode(&Shifted(row, ITEM_WIDTH))?)))?;
            found.extend(states.into_iter().filter(|state| state.episode.owner == owner).map(|s| (s.episode.id, s)));
        }
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
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

    /// What an index is to do next, of every owner, and how far along the timeline that goes: never beyond what is ingested.
    pub fn follow_episodes(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        limit: usize,
    ) -> Result<(Vec<Followed>, Cursor), StoreError> {
        let upto = self.ingested(viewer)?;
        let columns = format!(
            "i.tx, i.position, i.type, CASE WHEN i.type = 'Redaction' THEN i.id END, k.kind, c.tx, c.position, c.id, c.owner,
             c.type, c.realized_at, c.canonical_at, c.hash, c.payload_hash, c.encoding, c.payload, NULL, NULL,
             {EPISODE_COLUMNS}"
        );
        let from = "items i LEFT JOIN episodes e ON e.id = i.id LEFT JOIN items c ON c.id = e.item
            LEFT JOIN conversations k ON k.id = e.conversation";
        let along = Along { columns: &columns, from };
        let (mut made, mut redactions, mut bytes, mut reached) = (Vec::new(), Vec::new(), 0, after);
        self.each_after(&along, after, upto.tx.saturating_add(1), limit, &mut |row| {
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            if cursor > upto || bytes > PAGE_BYTES_MAX {
                return Ok(());
            }
            reached = cursor;
            redactions.extend(row.optional_array(3)?.map(ItemId::from_bytes));
            if row.optional_array::<16>(LEAD + ITEM_WIDTH)?.is_some() {
                let item = read_item(&Shifted(row, LEAD))?;
                bytes += item.item.payload.as_ref().map_or(0, |payload| payload.bytes().len());
                let is_of_tool_run = row.optional_text(4)? == Some("tool_run");
                let state = state(&item, read_episode(&Shifted(row, LEAD + ITEM_WIDTH))?);
                made.push(Followed::Made(Box::new(FollowedEpisode { state, is_of_tool_run })));
            }
            Ok(())
        })?;
        for id in redactions {
            made.extend(self.destroyed(id)?);
        }
        Ok((made, reached))
    }

    /// The episode whose words a redaction destroyed, if it has one.
    fn destroyed(&mut self, redaction: ItemId) -> Result<Option<Followed>, StoreError> {
        let document = match self.find_item(redaction) {
            // Whoever altered a fact stops nobody from following; verifying tells of it.
            Err(StoreError::Damaged(_)) => None,
            found => found?.and_then(|stored| stored.item.document()),
        };
        let Some(item) = document.as_ref().and_then(redacted_item) else { return Ok(None) };
        let sql = "SELECT e.owner, e.id FROM episodes e WHERE e.item = ?1";
        self.first(sql, params![&item], |row| {
            let (owner, id) = (UserId::from_bytes(row.array(0)?), EpisodeId::from_bytes(row.array(1)?));
            Ok(Followed::Destroyed { owner, id })
        })
    }

    /// The names of actors, as far as they have one.
    pub fn actor_names(&mut self, viewer: &Viewer, actors: &[ActorId]) -> Result<HashMap<ActorId, String>, StoreError> {
        system_only(viewer)?;
        let mut names = HashMap::with_capacity(actors.len());
        for actor in actors {
            let sql = "SELECT r.name FROM records r WHERE r.id = ?1";
            let name =
                self.first(sql, params![actor.as_bytes()], |row| Ok(row.optional_text(0)?.map(str::to_owned)))?;
            names.extend(name.flatten().map(|name| (*actor, name)));
        }
        Ok(names)
    }

    /// How many items there are after a cursor, counted up to `most`: how far an index is behind.
    pub fn items_after(&mut self, viewer: &Viewer, after: Cursor, most: usize) -> Result<usize, StoreError> {
        system_only(viewer)?;
        let mut count = 0;
        self.each_after(&Along { columns: "i.position", from: "items i" }, after, i64::MAX, most, &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

fn read_episode(row: &dyn Row) -> Result<Episode, SqlError> {
    let place = match (row.optional_array(3)?, row.optional_array(4)?, row.optional_array(6)?) {
        (Some(conversation), Some(node), Some(branch)) => Some(EpisodePlace {
            conversation: ConversationId::from_bytes(conversation),
            node: NodeId::from_bytes(node),
            turn: row.optional_array(5)?.map(TurnId::from_bytes),
            label: Label { branch: NodeId::from_bytes(branch), depth: row.int(7)? },
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

fn state(stored: &StoredItem, episode: Episode) -> EpisodeState {
    if stored.item.header.item_type == ItemType::EPISODE {
        let brought = stored.item.document().and_then(|document| Brought::from_document(&document));
        let speaker = brought.as_ref().and_then(|brought| brought.speaker.clone());
        return EpisodeState { episode, text: brought.map(|brought| brought.text()), speaker };
    }
    let content = content_of(&stored.item).and_then(|content| Content::parse(&content).ok());
    EpisodeState { episode, text: content.map(|content| content.plain_text().into_owned()), speaker: None }
}
