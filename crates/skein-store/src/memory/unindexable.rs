//! Lists content without an episode for operators: not yet read, or unindexable.

use std::sync::LazyLock;

use skein_core::garden::item::ItemType;
use skein_core::{EpisodeId, ItemId, Millis, UserId, Viewer};

use super::episodes::EpisodeStage;
use super::ingest::{INGESTED_ITEMS_MAX, NODES_PER_STATEMENT};
use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::Page;
use crate::tx::{Tx, system_only};

/// Something that was said or brought and is not remembered. Its words are nobody's business here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnindexableEpisode {
    pub id: EpisodeId,
    pub owner: UserId,
    pub reason: &'static str,
    /// When it was found to have none, or became known here if nobody looked yet.
    pub found_at: Millis,
}

/// Of these items, those that were looked at and have no episode. What was destroyed before needs none.
static KEEP: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=NODES_PER_STATEMENT).map(|place| format!("?{}", place + 1)).collect();
    format!(
        "INSERT INTO unbound_episodes (id, owner, found_at)
         SELECT i.id, i.owner, CAST(?1 AS BIGINT) FROM items i LEFT JOIN episodes e ON e.id = i.id
         WHERE i.id IN ({}) AND e.id IS NULL AND i.payload IS NOT NULL ON CONFLICT DO NOTHING",
        places.join(", ")
    )
});

impl Tx<'_> {
    /// Keeps which of these have no episode though they were looked at.
    pub(super) fn store_unindexable(&mut self, items: &[ItemId]) -> Result<(), StoreError> {
        let now = self.now();
        for some in items.chunks(NODES_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), NODES_PER_STATEMENT - some.len()).flatten();
            let items = some.iter().chain(missing).map(Value::from);
            let bound: Vec<Value<'_>> = std::iter::once(Value::from(now)).chain(items).collect();
            self.execute(&KEEP, &bound)?;
        }
        Ok(())
    }

    /// What nothing could be made of, of every owner, the oldest first, with the reason as it is now.
    pub fn unindexable_episodes(
        &mut self,
        viewer: &Viewer,
        after: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Page<UnindexableEpisode, EpisodeId>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT u.id, u.owner, u.found_at FROM unbound_episodes u JOIN items i ON i.id = u.id
             LEFT JOIN episodes e ON e.id = u.id
             WHERE u.id > ?1 AND e.id IS NULL AND i.payload IS NOT NULL ORDER BY u.id LIMIT ?2";
        let (after, count) = (after.map_or([0; 16], |id| *id.as_bytes()), i64::try_from(limit).unwrap_or(i64::MAX));
        let mut rows = self.all(sql, params![after.as_slice(), count.saturating_add(1)], |row| {
            let (id, owner) = (EpisodeId::from_bytes(row.array(0)?), UserId::from_bytes(row.array(1)?));
            Ok(UnindexableEpisode { id, owner, reason: "", found_at: Millis(row.int(2)?) })
        })?;
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        for row in &mut rows {
            row.reason = self.why_unbound(row)?;
        }
        let next = rows.last().map(|last| last.id).filter(|_| is_more);
        Ok(Page { rows, next })
    }

    fn why_unbound(&mut self, unbound: &UnindexableEpisode) -> Result<&'static str, StoreError> {
        let state = match self.unmade_episode(unbound.owner, unbound.id) {
            Err(StoreError::Damaged(_)) => return Ok("it was altered where it is kept: skein verify tells how"),
            state => state?,
        };
        Ok(match state.map(|state| state.bound) {
            Some(EpisodeStage::Never(reason)) => reason,
            _ => "nothing could be made of it when it was looked at",
        })
    }

    /// What was said or brought and was not looked at yet, of every owner, the oldest first.
    pub fn unmade_episodes(&mut self, viewer: &Viewer, limit: usize) -> Result<Vec<UnindexableEpisode>, StoreError> {
        let after = self.ingested(viewer)?;
        let along = TimelineQuery { columns: "i.id, i.owner, i.type, i.realized_at", from: "items i" };
        let mut unmade = Vec::new();
        self.each_after(&along, after, i64::MAX, INGESTED_ITEMS_MAX, &mut |row| {
            let item_type = row.text(2)?;
            let is_remembered = item_type == ItemType::NODE.as_str() || item_type == ItemType::EPISODE.as_str();
            if unmade.len() < limit && is_remembered {
                let (id, owner) = (EpisodeId::from_bytes(row.array(0)?), UserId::from_bytes(row.array(1)?));
                let reason = "no episode is made of it yet";
                unmade.push(UnindexableEpisode { id, owner, reason, found_at: Millis(row.int(3)?) });
            }
            Ok(())
        })?;
        Ok(unmade)
    }
}
