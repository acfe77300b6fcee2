//! Lists the changes of episodes along the timeline, for the index.

use std::collections::HashMap;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::Delta;
use skein_core::garden::item::ItemType;
use skein_core::garden::redaction::redacted_item;
use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, ItemId, UserId, Viewer};

use super::episodes::{EPISODES_PER_STATEMENT, EpisodeStage, EpisodeState};
use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::PAGE_BYTES_MAX;
use crate::timeline::projection::TIME_OVERRIDE;
use crate::tx::{Tx, system_only};

/// Payloads that are read together take no more than this many bytes in the store, or are one.
const PORTION_BYTES_MAX: i64 = 2 << 20;

/// What an index is to do at a place of the timeline.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexChange {
    /// Something is remembered from here on, or was said at another time than was thought.
    Made(Box<IndexedEpisode>),
    /// Its words were destroyed.
    Destroyed { owner: UserId, id: EpisodeId },
    /// Who said something is described anew, perhaps by another name.
    Renamed { owner: UserId, actor: ActorId },
}

/// An episode as an index keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedEpisode {
    pub state: EpisodeState,
    /// Whether it was said while a tool worked: kept, never found (rule BR-EPISODE-003).
    pub is_of_tool_run: bool,
}

impl From<EpisodeState> for IndexChange {
    fn from(state: EpisodeState) -> Self {
        let is_of_tool_run = state.bound == EpisodeStage::OfToolRun;
        Self::Made(Box::new(IndexedEpisode { state, is_of_tool_run }))
    }
}

/// What a stretch of the timeline means to an index, before any words of it were read.
#[derive(Default)]
struct Stretch {
    /// Each with its place and the bytes its words take in the store.
    episodes: Vec<(Cursor, EpisodeId, i64)>,
    /// Facts that change what is known of earlier episodes.
    telling: Vec<(Cursor, ItemId)>,
    reached: Option<Cursor>,
}

impl Tx<'_> {
    /// What an index is to do next, of every owner, and how far along the timeline that goes: never beyond what is
    /// ingested, and no further than a page of words.
    pub fn follow_episodes(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        limit: usize,
    ) -> Result<(Vec<IndexChange>, Cursor), StoreError> {
        let upto = self.ingested(viewer)?;
        let stretch = self.stretch(after, upto, limit)?;
        let mut reached = stretch.reached.unwrap_or(after);
        let (mut told, mut bytes, mut taken) = (Vec::new(), 0, 0);
        while let Some((portion, cursor)) = portion(&stretch.episodes[taken..]) {
            taken += portion.len();
            let states = self.episode_states(&portion)?;
            bytes += states.iter().map(|state| state.text.as_ref().map_or(0, String::len)).sum::<usize>();
            told.extend(states.into_iter().map(IndexChange::from));
            if bytes > PAGE_BYTES_MAX && taken < stretch.episodes.len() {
                reached = cursor;
                break;
            }
        }
        for (_, id) in stretch.telling.into_iter().filter(|(cursor, _)| *cursor <= reached) {
            told.extend(self.told_later(id)?);
        }
        Ok((told, reached))
    }

    fn stretch(&mut self, after: Cursor, upto: Cursor, limit: usize) -> Result<Stretch, StoreError> {
        let columns = "i.tx, i.position, i.id, i.type, e.id, CAST(CASE WHEN e.id IS NULL THEN 0 ELSE
                (SELECT length(c.payload) FROM items c WHERE c.id = e.item) END AS BIGINT),
            CASE WHEN i.type = 'EntityDelta' THEN (SELECT v.type FROM record_versions v
                WHERE v.owner = i.owner AND v.tx = i.tx AND v.position = i.position) END";
        let along = TimelineQuery { columns, from: "items i LEFT JOIN episodes e ON e.id = i.id" };
        let mut stretch = Stretch::default();
        self.each_after(&along, after, upto.tx.saturating_add(1), limit, &mut |row| {
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            if cursor > upto {
                return Ok(());
            }
            stretch.reached = Some(cursor);
            if let Some(id) = row.optional_array(4)? {
                stretch.episodes.push((cursor, EpisodeId::from_bytes(id), row.optional_int(5)?.unwrap_or(0)));
            }
            let is_of = row.optional_text(6)?;
            if row.text(3)? == ItemType::REDACTION.as_str() || is_of.is_some_and(tells_of_episodes) {
                stretch.telling.push((cursor, ItemId::from_bytes(row.array(2)?)));
            }
            Ok(())
        })?;
        Ok(stretch)
    }

    /// What a later fact says about an episode: that its words are gone, when it really was said, who said it.
    fn told_later(&mut self, fact: ItemId) -> Result<Option<IndexChange>, StoreError> {
        let stored = match self.find_item(fact) {
            // An altered item does not stop the follower; verification reports it.
            Err(StoreError::Damaged(_)) => None,
            found => found?,
        };
        let Some(stored) = stored else { return Ok(None) };
        let Some(document) = stored.item.document() else { return Ok(None) };
        if stored.item.header.item_type == ItemType::REDACTION {
            return redacted_item(&document).map_or(Ok(None), |item| self.destroyed(item));
        }
        let Some(delta) = Delta::from_document(&document) else { return Ok(None) };
        if delta.record_type.as_str() == TIME_OVERRIDE {
            let record = self.find_record(delta.record)?;
            let corrected = record.as_ref().and_then(|record| record.content.data.get("itemId")?.as_str());
            let Some(item) = corrected.and_then(|id| id.parse::<ItemId>().ok()) else { return Ok(None) };
            let id = EpisodeId::from_bytes(*item.as_bytes());
            return Ok(self.episode_states(&[id])?.pop().map(IndexChange::from));
        }
        let actor = ActorId::from_bytes(*delta.record.as_bytes());
        let owner = match delta.record_type.as_str() {
            "User" => UserId::from_bytes(*delta.record.as_bytes()),
            _ => stored.item.header.owner,
        };
        Ok((delta.version > 1).then_some(IndexChange::Renamed { owner, actor }))
    }

    /// The episode of an item whose payload was destroyed, if it has one.
    fn destroyed(&mut self, item: ItemId) -> Result<Option<IndexChange>, StoreError> {
        let sql = "SELECT e.owner, e.id FROM episodes e WHERE e.item = ?1";
        self.first(sql, params![&item], |row| {
            let (owner, id) = (UserId::from_bytes(row.array(0)?), EpisodeId::from_bytes(row.array(1)?));
            Ok(IndexChange::Destroyed { owner, id })
        })
    }

    /// What an actor said among an owner's things, after an episode, oldest first: at most a page of words.
    pub fn episodes_by(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        actor: ActorId,
        after: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Vec<IndexChange>, StoreError> {
        system_only(viewer)?;
        let after = after.map_or([0; 16], |id| *id.as_bytes());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT e.id FROM nodes n JOIN episodes e ON e.id = n.id
             WHERE n.owner = ?1 AND n.author = ?2 AND n.id > ?3 ORDER BY n.id LIMIT ?4";
        let bound = params![&owner, actor.as_bytes(), after.as_slice(), limit];
        let ids = self.all(sql, bound, |row| row.array(0).map(EpisodeId::from_bytes))?;
        let (mut told, mut bytes) = (Vec::new(), 0);
        for some in ids.chunks(EPISODES_PER_STATEMENT / 10) {
            let states = self.episode_states(some)?;
            bytes += states.iter().map(|state| state.text.as_ref().map_or(0, String::len)).sum::<usize>();
            told.extend(states.into_iter().map(IndexChange::from));
            if bytes > PAGE_BYTES_MAX {
                break;
            }
        }
        Ok(told)
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
        self.each_after(&TimelineQuery { columns: "i.position", from: "items i" }, after, i64::MAX, most, &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// How many things to remember of each owner come after a cursor, counted among the next `most` items.
    pub fn waiting_by_owner(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        most: usize,
    ) -> Result<HashMap<UserId, u64>, StoreError> {
        system_only(viewer)?;
        let mut waiting = HashMap::new();
        let along = TimelineQuery { columns: "i.owner, i.type", from: "items i" };
        self.each_after(&along, after, i64::MAX, most, &mut |row| {
            let item_type = row.text(1)?;
            if item_type == ItemType::NODE.as_str() || item_type == ItemType::EPISODE.as_str() {
                *waiting.entry(UserId::from_bytes(row.array(0)?)).or_default() += 1;
            }
            Ok(())
        })?;
        Ok(waiting)
    }
}

/// Records that say something about what is remembered: when it was said, and the names of those who said it.
fn tells_of_episodes(record_type: &str) -> bool {
    [TIME_OVERRIDE, "Actor", "User"].contains(&record_type)
}

/// The next episodes whose words are read together, and where the last of them stands.
fn portion(episodes: &[(Cursor, EpisodeId, i64)]) -> Option<(Vec<EpisodeId>, Cursor)> {
    let (mut ids, mut bytes, mut last) = (Vec::new(), 0, None);
    for (cursor, id, size) in episodes.iter().take(EPISODES_PER_STATEMENT) {
        bytes += size;
        if bytes > PORTION_BYTES_MAX && !ids.is_empty() {
            break;
        }
        ids.push(*id);
        last = Some(*cursor);
    }
    last.map(|cursor| (ids, cursor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_portions_of_a_few_megabytes() {
        let episode = |number: u8, size: i64| {
            (Cursor { tx: 0, position: i64::from(number) }, EpisodeId::from_bytes([number; 16]), size)
        };
        let large = [episode(1, 1 << 20), episode(2, 1 << 20), episode(3, 1 << 20), episode(4, 9 << 20)];
        assert_eq!(portion(&large).unwrap().0.len(), 2);
        assert_eq!(portion(&large[3..]).unwrap().0.len(), 1, "one that is larger comes alone");
        let small: Vec<_> = (0..200).map(|number| episode(number, 10)).collect();
        assert_eq!(portion(&small).unwrap().0.len(), EPISODES_PER_STATEMENT);
        assert_eq!(portion(&[]), None);
    }
}
