//! Changes records on the basis of a known version. Every change is an item, and every past version can be rebuilt.

use serde_json::{Map, Value as Json};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::Delta;
use skein_core::garden::record::{self, Act, ChangeNote, Record, RecordContent, RecordType};
use skein_core::{Digest, ItemId, Millis, RecordId, UserId, Viewer};

use crate::db::sql::{DeferredStatement, Row, params};
use crate::error::{SqlError, StoreError};
use crate::flow::call_dependencies::RecordRevision;
use crate::timeline::items::{Page, page};
use crate::tx::{Tx, system_only};

/// Most records or versions one page holds.
pub const RECORDS_PER_PAGE_MAX: usize = 1_000;

pub(crate) const RECORD_COLUMNS: &str = "id, owner, version, hash, previous_hash, created_at, updated_at, body";
const VERSION_COLUMNS: &str = "record, version, type, hash, previous_hash, item, tx, position, realized_at";

/// A version with the document of the item that made it, as far as that is there and whole.
pub type DocumentedVersion = (RecordVersion, Option<Map<String, Json>>);

/// One entry of a record's history, also what subscribers are told (rule MG-DELTA-003).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordVersion {
    pub record: RecordId,
    pub record_type: String,
    pub version: i64,
    pub hash: Digest,
    pub previous_hash: Option<Digest>,
    /// The `EntityDelta` that tells it.
    pub item: ItemId,
    pub cursor: Cursor,
    pub realized_at: Millis,
}

impl Tx<'_> {
    /// Creates a record in the viewer's own name.
    pub fn create_record(
        &mut self,
        viewer: &Viewer,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        content.record_type.refuse_system()?;
        content.refuse_deletion()?;
        self.create_record_for(viewer, viewer.owner(), content, reason)
    }

    /// Creates a record of any type for an owner.
    pub(crate) fn create_record_for(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        let id = RecordId::new(self.id_time(), self.entropy());
        self.create_record_as(viewer, id, owner, content, reason)
    }

    pub(crate) fn create_record_as(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        owner: UserId,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        let note = ChangeNote { author: viewer.owner(), reason, act: Act::Plain };
        self.create_record_noting(viewer, id, owner, content, note)
    }

    /// [`Self::create_record_as`] with who made it and why.
    pub(crate) fn create_record_noting(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        owner: UserId,
        content: RecordContent,
        note: ChangeNote,
    ) -> Result<Record, StoreError> {
        let (record, delta) = record::create(id, owner, content, note, self.now())?;
        self.append_item_for(viewer, owner, &delta.to_draft())?;
        Ok(record)
    }

    /// Changes a record from the state with hash `based_on`; a change of nothing is none.
    pub fn update_record(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        content.record_type.refuse_system()?;
        content.refuse_deletion()?;
        self.change_record(viewer, id, based_on, content, reason)
    }

    /// Deletes a record: its last version says when, its history stays, and nothing finds it any more. Whether
    /// anything still needs it, the caller has asked in the same transaction.
    pub fn delete_record(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Option<Digest>,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        let current = self.record(viewer, id)?;
        if !current.content.record_type.is_catalog_entry() {
            current.content.record_type.refuse_system()?;
        }
        let content = current.content.deleted(self.now());
        let note = ChangeNote { author: viewer.owner(), reason, act: Act::Deleted };
        self.commit_change(viewer, id, based_on.unwrap_or(current.hash), content, note)
    }

    /// [`Self::update_record`] for Skein's own types as well.
    pub(crate) fn change_record(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
        reason: Option<String>,
    ) -> Result<Record, StoreError> {
        let note = ChangeNote { author: viewer.owner(), reason, act: Act::Plain };
        self.commit_change(viewer, id, based_on, content, note)
    }

    pub(crate) fn commit_change(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
        note: ChangeNote,
    ) -> Result<Record, StoreError> {
        let current = self.record(viewer, id)?;
        if !viewer.may_write(current.owner) {
            return Err(StoreError::Forbidden);
        }
        self.commit_change_of(viewer, current, based_on, content, note)
    }

    /// [`Self::commit_change`] of a record that was loaded, and that the viewer may write.
    pub(crate) fn commit_change_of(
        &mut self,
        viewer: &Viewer,
        current: Record,
        based_on: Digest,
        content: RecordContent,
        note: ChangeNote,
    ) -> Result<Record, StoreError> {
        let Some((record, delta)) = record::update(&current, based_on, content, note, self.now())? else {
            return Ok(current);
        };
        self.append_item_for(viewer, current.owner, &delta.to_draft())?;
        Ok(record)
    }

    /// A record in its current state, if the viewer owns it or it is shared, and it was not deleted.
    pub fn record(&mut self, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
        let now = self.now();
        let found = self.find_record(id)?;
        found
            .filter(|record| record.content.is_open() || viewer.may_read(record.owner, now))
            .filter(|record| !record.content.is_deleted())
            .ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// Which edition of a record there is now and whose it is, if it was not deleted; for callers that may cache its content.
    pub fn edition(&mut self, viewer: &Viewer, id: RecordId) -> Result<(UserId, RecordRevision), StoreError> {
        system_only(viewer)?;
        let sql = "SELECT owner, version, hash FROM records WHERE id = ?1 AND deleted = 0";
        let found = self.all_once(sql, params![&id], |row| {
            let (version, hash) = (row.int(1)?, Digest(row.array(2)?));
            Ok((UserId::from_bytes(row.array(0)?), RecordRevision { id, version, hash }))
        })?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// Makes a concurrent change of a record collide with this transaction, where others write too; and this one be run
    /// again if somebody changed it since it was read. It is held for the commit alone: many may begin what it describes.
    pub fn rely_on_record(&mut self, viewer: &Viewer, id: RecordId, hash: Digest) -> Result<(), StoreError> {
        system_only(viewer)?;
        if !self.sql.is_shared() {
            return Ok(());
        }
        let sql = "UPDATE records SET version = version WHERE id = ?1 AND hash = ?2";
        let changed = SqlError::Collision("a record was changed meanwhile".to_owned());
        let values = params![&id, &hash];
        self.execute_later(DeferredStatement {
            only_locks: true,
            ..DeferredStatement::changing_one("records", sql, values, changed)
        })
    }

    /// Sharing shows what a record is now, not what it was before: its past is for who may see its owner's things.
    /// A deleted record has one too.
    pub(crate) fn past_of(&mut self, viewer: &Viewer, id: RecordId) -> Result<Record, StoreError> {
        let now = self.now();
        let found = self.find_record(id)?.filter(|record| viewer.may_read(record.owner, now));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// The record under an id, deleted or not, of any owner.
    pub(crate) fn find_record(&mut self, id: RecordId) -> Result<Option<Record>, StoreError> {
        let sql = format!("SELECT {RECORD_COLUMNS} FROM records WHERE id = ?1");
        Ok(self.all_once(&sql, params![&id], read_record)?.into_iter().next())
    }

    /// The viewer's records of one type, by id.
    pub fn records(
        &mut self,
        viewer: &Viewer,
        record_type: &RecordType,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<Record, RecordId>, StoreError> {
        let after = after.unwrap_or(RecordId::from_bytes([0; 16]));
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = format!(
            "SELECT {RECORD_COLUMNS} FROM records WHERE owner = ?1 AND type = ?2 AND id > ?3 AND deleted = 0
             ORDER BY id LIMIT ?4"
        );
        let owner = self.subject(viewer)?;
        let rows = self.all(&sql, params![&owner, record_type.as_str(), &after, one_more], read_record)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// The viewer's record of one type with one name.
    pub fn record_named(
        &mut self,
        viewer: &Viewer,
        record_type: &RecordType,
        name: &str,
    ) -> Result<Option<Record>, StoreError> {
        let sql = format!(
            "SELECT {RECORD_COLUMNS} FROM records WHERE owner = ?1 AND type = ?2 AND name = ?3 AND deleted = 0
             ORDER BY id LIMIT 1"
        );
        let owner = self.subject(viewer)?;
        self.first(&sql, params![&owner, record_type.as_str(), name], read_record)
    }

    /// Whether the viewer ever had a record of a type, deleted ones included.
    pub fn ever_had(&mut self, viewer: &Viewer, record_type: &RecordType) -> Result<bool, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT version FROM records WHERE owner = ?1 AND type = ?2 LIMIT 1";
        Ok(self.first(sql, params![&owner, record_type.as_str()], |row| row.int(0))?.is_some())
    }

    /// The versions of a record after one of them, oldest first.
    pub fn history(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        after: i64,
        limit: usize,
    ) -> Result<Page<RecordVersion, i64>, StoreError> {
        self.past_of(viewer, id)?;
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = format!(
            "SELECT {VERSION_COLUMNS} FROM record_versions WHERE record = ?1 AND version > ?2 ORDER BY version LIMIT ?3"
        );
        let rows = self.all(&sql, params![&id, after, one_more], read_version)?;
        Ok(page(rows, limit, |last| last.version))
    }

    /// [`Self::history`] with the document of each version's item; nothing where it was destroyed or altered.
    pub fn told_history(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        after: i64,
        limit: usize,
    ) -> Result<Page<DocumentedVersion, i64>, StoreError> {
        self.past_of(viewer, id)?;
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let columns: Vec<String> = VERSION_COLUMNS.split(',').map(|column| format!("v.{}", column.trim())).collect();
        let place = columns.len();
        let sql = format!(
            "SELECT {}, i.payload, i.payload_hash FROM record_versions v LEFT JOIN items i ON i.id = v.item
             WHERE v.record = ?1 AND v.version > ?2 ORDER BY v.version LIMIT ?3",
            columns.join(", ")
        );
        let rows = self.all(&sql, params![&id, after, one_more], |row| {
            let payload_hash = row.optional_array(place + 1)?.map(Digest);
            let whole = row.optional_bytes(place)?.filter(|payload| Some(Digest::of(payload)) == payload_hash);
            Ok((read_version(row)?, whole.and_then(|payload| serde_json::from_slice(payload).ok())))
        })?;
        Ok(page(rows, limit, |(last, _)| last.version))
    }

    /// The content a record had at a version, rebuilt from at most sixteen deltas and checked against its hash.
    pub fn record_at_version(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        version: i64,
    ) -> Result<RecordContent, StoreError> {
        self.past_of(viewer, id)?;
        let whole = "SELECT max(version) FROM record_versions WHERE record = ?1 AND version <= ?2 AND whole = 1";
        let from = self.first(whole, params![&id, version], |row| row.optional_int(0))?.flatten();
        let from = from.ok_or_else(|| StoreError::NotFound(format!("version {version} of {id}")))?;
        let items =
            "SELECT item FROM record_versions WHERE record = ?1 AND version >= ?2 AND version <= ?3 ORDER BY version";
        let items = self.all(items, params![&id, from, version], |row| row.array(0).map(ItemId::from_bytes))?;
        if i64::try_from(items.len()) != Ok(version - from + 1) {
            return Err(StoreError::NotFound(format!("version {version} of {id}")));
        }
        self.replay(&items)
    }

    /// A record as it was at a version, hash and all.
    pub fn record_version(&mut self, viewer: &Viewer, id: RecordId, version: i64) -> Result<Record, StoreError> {
        let content = self.record_at_version(viewer, id, version)?;
        let current = self.past_of(viewer, id)?;
        let entry = self.history(viewer, id, version - 1, 1)?.rows.into_iter().next();
        let entry = entry.ok_or_else(|| StoreError::NotFound(format!("version {version} of {id}")))?;
        let RecordVersion { hash, previous_hash, realized_at: updated_at, .. } = entry;
        Ok(Record { version, hash, previous_hash, updated_at, content, ..current })
    }

    fn replay(&mut self, deltas: &[ItemId]) -> Result<RecordContent, StoreError> {
        let mut content = None;
        for id in deltas {
            let stored = self.find_item(*id)?.ok_or_else(|| StoreError::Damaged(format!("{id} is missing")))?;
            let delta = stored.item.document().as_ref().and_then(Delta::from_document);
            let delta = delta.ok_or_else(|| StoreError::Damaged(format!("{id} is not a delta")))?;
            content = Some(delta.content_after(content.as_ref())?);
        }
        content.ok_or_else(|| StoreError::Damaged("a history without versions".to_owned()))
    }

    /// The content a record had at a moment, with its version.
    pub fn record_at_time(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        at: Millis,
    ) -> Result<(i64, RecordContent), StoreError> {
        self.past_of(viewer, id)?;
        let sql = "SELECT max(version) FROM record_versions WHERE record = ?1 AND realized_at <= ?2";
        let version = self.first(sql, params![&id, at], |row| row.optional_int(0))?.flatten();
        let version = version.ok_or_else(|| StoreError::NotFound(format!("{id} at {at}")))?;
        Ok((version, self.record_at_version(viewer, id, version)?))
    }

    /// What changed in the viewer's records after a cursor, in order (rules MG-DELTA-003, MG-DELTA-004).
    pub fn record_changes(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<RecordVersion>, StoreError> {
        let settled = self.sql.settled_below()?;
        let limit = i64::try_from(limit.clamp(1, RECORDS_PER_PAGE_MAX)).expect("pages are small");
        let sql = format!(
            "SELECT {VERSION_COLUMNS} FROM record_versions
             WHERE owner = ?1 AND (tx, position) > (?2, ?3) AND tx < ?4 ORDER BY tx, position LIMIT ?5"
        );
        let owner = self.subject(viewer)?;
        self.all(&sql, params![&owner, after.tx, after.position, settled, limit], read_version)
    }
}

pub(crate) fn read_record(row: &dyn Row) -> Result<Record, SqlError> {
    let damaged = || SqlError::Other("the body of a record cannot be read; run skein verify".to_owned());
    let body = serde_json::from_str(row.text(7)?).ok().and_then(RecordContent::from_document);
    Ok(Record {
        id: RecordId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        version: row.int(2)?,
        hash: Digest(row.array(3)?),
        previous_hash: row.optional_array(4)?.map(Digest),
        created_at: Millis(row.int(5)?),
        updated_at: Millis(row.int(6)?),
        content: body.ok_or_else(damaged)?,
    })
}

fn read_version(row: &dyn Row) -> Result<RecordVersion, SqlError> {
    Ok(RecordVersion {
        record: RecordId::from_bytes(row.array(0)?),
        version: row.int(1)?,
        record_type: row.text(2)?.to_owned(),
        hash: Digest(row.array(3)?),
        previous_hash: row.optional_array(4)?.map(Digest),
        item: ItemId::from_bytes(row.array(5)?),
        cursor: Cursor { tx: row.int(6)?, position: row.int(7)? },
        realized_at: Millis(row.int(8)?),
    })
}
