//! Imports content from elsewhere as episodes. A second import of the same content changes nothing.
//!
//! The same content of the same kind, speaker and place is told by the hash of its payload. Said to be of a moment, it is the
//! same for ever; without one it is said now, so that after a day (as long as any request answers for its name) the same
//! words were said again.

use serde_json::{Value as Json, json};
use skein_core::garden::item::ItemDraft;
use skein_core::memory::episode::{ImportedEpisode, said_now};
use skein_core::{Digest, ItemId, Millis, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::operations::{OperationState, RepeatCheck};
use crate::timeline::items::StoredItem;
use crate::tx::Tx;

/// As what it is on record that something was said without a time.
const SAID: &str = "episode.said";
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl Tx<'_> {
    /// Keeps what somebody brings, or finds it where the same was brought before; whether it was.
    pub fn import_episode(
        &mut self,
        viewer: &Viewer,
        brought: &ImportedEpisode,
        said_at: Option<Millis>,
    ) -> Result<(StoredItem, bool), StoreError> {
        let draft = brought.to_draft(said_at)?;
        match said_at {
            Some(at) => self.bring_of(viewer, &draft, at),
            None => self.bring_now(viewer, &draft),
        }
    }

    fn bring_of(&mut self, viewer: &Viewer, draft: &ItemDraft, at: Millis) -> Result<(StoredItem, bool), StoreError> {
        match self.brought_then(viewer, at, &draft.payload_hash())? {
            Some(stored) => Ok((stored, true)),
            None => Ok((self.append_item(viewer, draft)?, false)),
        }
    }

    /// While something that was destroyed answers for the name, it cannot be given to another: then the day is looked through.
    fn bring_now(&mut self, viewer: &Viewer, draft: &ItemDraft) -> Result<(StoredItem, bool), StoreError> {
        let hash = draft.payload_hash();
        let mark = said_now(viewer.owner(), hash);
        let repeat = self.repeat(viewer, &mark)?;
        if let RepeatCheck::Of(operation) = &repeat {
            let there = match self.brought_as(viewer, &operation.state)? {
                None => self.brought_today(viewer, &hash)?,
                there => there,
            };
            if let Some(stored) = there {
                return Ok((stored, true));
            }
        }
        let stored = self.append_item(viewer, draft)?;
        if matches!(repeat, RepeatCheck::First) {
            let result = json!({ "item": stored.item.header.id }).to_string();
            self.start_operation(viewer, SAID, &OperationState::Completed { result }, Some(&mark))?;
        }
        Ok((stored, false))
    }

    /// What was brought of a moment with this payload, unless it was destroyed.
    fn brought_then(&mut self, viewer: &Viewer, at: Millis, hash: &Digest) -> Result<Option<StoredItem>, StoreError> {
        // The type stands in the text because the index is of that type alone.
        let sql = "SELECT i.id FROM items i WHERE i.owner = ?1 AND i.type = 'Episode' AND i.canonical_at = ?2
             AND i.payload_hash = ?3 AND i.payload IS NOT NULL ORDER BY i.position LIMIT 1";
        let owner = viewer.owner();
        let bound = params![&owner, at, hash];
        let id = self.first(sql, bound, |row| row.array(0).map(ItemId::from_bytes))?;
        id.map(|id| self.item(viewer, id)).transpose()
    }

    /// What was brought within a day with this payload.
    fn brought_today(&mut self, viewer: &Viewer, hash: &Digest) -> Result<Option<StoredItem>, StoreError> {
        let sql = "SELECT i.id FROM items i WHERE i.owner = ?1 AND i.type = 'Episode' AND i.realized_at > ?2
             AND i.payload_hash = ?3 AND i.payload IS NOT NULL ORDER BY i.realized_at, i.position LIMIT 1";
        let (owner, since) = (viewer.owner(), self.now().plus(-DAY_MS));
        let bound = params![&owner, since, hash];
        let id = self.first(sql, bound, |row| row.array(0).map(ItemId::from_bytes))?;
        id.map(|id| self.item(viewer, id)).transpose()
    }

    /// What an operation says was brought, unless it was destroyed.
    fn brought_as(&mut self, viewer: &Viewer, state: &OperationState) -> Result<Option<StoredItem>, StoreError> {
        let OperationState::Completed { result } = state else { return Ok(None) };
        let reference: Option<Json> = serde_json::from_str(result).ok();
        let id = reference.as_ref().and_then(|reference| reference["item"].as_str()).and_then(|id| id.parse().ok());
        let Some(id) = id else { return Ok(None) };
        Ok(Some(self.item(viewer, id)?).filter(|stored| stored.item.payload.is_some()))
    }
}
