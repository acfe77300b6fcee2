//! Beliefs as they are, as they were, and what changed between.

use serde_json::{Map, Value};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::{Delta, changed_fields};
use skein_core::garden::record::{Record, RecordType};
use skein_core::{Millis, RecordId, UserId, Viewer};
use skein_store::timeline::items::Page;
use skein_store::timeline::records::RecordVersion;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// Which state of a record is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastState {
    /// As it is.
    Now,
    /// As it was in a version.
    Version(i64),
    /// As it was at a moment.
    At(Millis),
}

/// One field that two versions of a record disagree about.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// What it was; null when it was absent.
    pub before: Value,
    /// What it became; null when it is absent.
    pub after: Value,
}

/// A version of a record with who made it and why, as far as that was not destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Which version.
    pub version: RecordVersion,
    /// Who made it.
    pub author: Option<UserId>,
    /// Why, if they said so.
    pub reason: Option<String>,
}

impl Engine {
    /// A record in one of its states. Sharing shows the current one only.
    pub async fn record(&self, caller: &Caller, id: RecordId, state: PastState) -> Result<Record, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| match state {
            PastState::Now => current(tx, &viewer, id),
            PastState::Version(version) => tx.record_version(&viewer, id, version),
            PastState::At(at) => {
                let (version, _) = tx.record_at_time(&viewer, id, at)?;
                tx.record_version(&viewer, id, version)
            }
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// The caller's records of one type.
    pub async fn records(
        &self,
        caller: &Caller,
        record_type: &str,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<Record, RecordId>, EngineError> {
        let record_type = RecordType::parse(record_type).map_err(StoreError::Rule)?;
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.records(&viewer, &record_type, after, limit)).await?)
    }

    /// The versions of a record, oldest first.
    pub async fn history(
        &self,
        caller: &Caller,
        id: RecordId,
        after: i64,
        limit: usize,
    ) -> Result<Page<HistoryEntry, i64>, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let page = tx.told_history(&viewer, id, after, limit)?;
            let rows = page.rows.into_iter().map(|(version, document)| entry(version, document.as_ref())).collect();
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// What two versions of a record disagree about, by field.
    pub async fn record_diff(
        &self,
        caller: &Caller,
        id: RecordId,
        (from, to): (i64, i64),
    ) -> Result<Vec<FieldChange>, EngineError> {
        let viewer = caller.viewer();
        let compare = move |tx: &mut Tx<'_>| {
            let before = tx.record_at_version(&viewer, id, from)?;
            let after = tx.record_at_version(&viewer, id, to)?;
            let changes = changed_fields(Some(&before), &after).into_iter();
            Ok(changes.map(|(field, [before, after])| FieldChange { field, before, after }).collect())
        };
        Ok(self.parts().store.read(compare).await?)
    }

    /// What changed in the caller's records after a cursor, for clients that poll.
    pub async fn record_changes(
        &self,
        caller: &Caller,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<RecordVersion>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.record_changes(&viewer, after, limit)).await?)
    }
}

/// What others share of the catalogue is shown by the catalogue, which knows what to leave out.
fn current(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
    let record = tx.record(viewer, id)?;
    let is_hidden = record.content.record_type.is_catalog_entry() && !viewer.may_read(record.owner, tx.now());
    if is_hidden { Err(StoreError::NotFound(id.to_string())) } else { Ok(record) }
}

/// What cannot be read of one version is left out, so that the others are still told; `verify` names what is wrong.
fn entry(version: RecordVersion, document: Option<&Map<String, Value>>) -> HistoryEntry {
    let delta = document.and_then(Delta::from_document);
    let (author, reason) = delta.map_or((None, None), |delta| (Some(delta.author), delta.reason));
    HistoryEntry { version, author, reason }
}
