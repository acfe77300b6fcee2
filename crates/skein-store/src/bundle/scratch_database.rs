//! Projects the items of a bundle into a scratch database, which is deleted afterwards.
//!
//! Records and relations of a bundle are what its items amount to, by the one projection: an export writes them from
//! here, an import compares them with what it finds here, and neither depends on what the live tables hold by then.

use rusqlite::Connection;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Item, Payload, PayloadForm};
use skein_core::garden::record::Record;
use skein_core::garden::relation::{Relation, RelationDraft};
use skein_core::{Digest, ItemId, Millis, RecordId, RelationId, UserId};

use super::SecretAtCut;
use super::json_lines::{record_line, relation_line};
use super::lookup::ItemState;
use crate::catalog::vault::{SECRET, value_version};
use crate::db::sql::{Sql as _, params};
use crate::db::sqlite;
use crate::db::sqlite::SqliteTransaction;
use crate::error::StoreError;
use crate::timeline::records::{RECORD_COLUMNS, read_record};
use crate::timeline::relations::{RELATION_COLUMNS, read_relation};
use crate::tx::Tx;

/// Whether rows may speak of items that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceCheck {
    /// They come from a store that has seen to it.
    Trusted,
    /// Everything a bundle speaks of must be in it.
    Checked,
}

pub(crate) struct ScratchDatabase {
    database: Connection,
    references: ReferenceCheck,
}

impl ScratchDatabase {
    pub(crate) fn new(references: ReferenceCheck) -> Result<Self, StoreError> {
        let database = sqlite::open_scratch()?;
        let failed = |error: rusqlite::Error| sqlite::sql_error(&error);
        database.pragma_update(None, "foreign_keys", references == ReferenceCheck::Checked).map_err(failed)?;
        let continued = "CREATE TABLE continued (record BLOB NOT NULL PRIMARY KEY); BEGIN";
        database.execute_batch(continued).map_err(failed)?;
        Ok(Self { database, references })
    }

    /// Takes the next item in timeline order.
    pub(crate) fn take(&mut self, item: &Item) -> Result<(), StoreError> {
        let references = self.references;
        self.with(item.header.realized_at, |tx| {
            let mut cursor = Cursor::START;
            if references == ReferenceCheck::Checked {
                let places = tx.insert_items(std::slice::from_ref(&without_bytes(item)))?;
                cursor = places.first().copied().unwrap_or(cursor);
            }
            tx.project(item, cursor)
        })
    }

    /// An item taken before.
    pub(crate) fn item(&mut self, id: ItemId) -> Result<Option<ItemState>, StoreError> {
        self.with(Millis(0), |tx| tx.item_state(id))
    }

    pub(crate) fn record(&mut self, id: RecordId) -> Result<Option<Record>, StoreError> {
        self.with(Millis(0), |tx| tx.find_record(id))
    }

    /// The place of a record's first version.
    pub(crate) fn made_at(&mut self, id: RecordId) -> Result<Option<Cursor>, StoreError> {
        self.with(Millis(0), |tx| tx.made_at(id))
    }

    /// A relation as it is by then.
    pub(crate) fn relation(&mut self, id: RelationId) -> Result<Option<Relation>, StoreError> {
        let sql = format!("SELECT {RELATION_COLUMNS} FROM relations WHERE id = ?1");
        self.with(Millis(0), |tx| tx.first(&sql, params![&id], read_relation))
    }

    /// Refuses an edge of a kind of which one of its ends has its only one by then.
    pub(crate) fn refuse_second(&mut self, owner: UserId, draft: &RelationDraft) -> Result<(), StoreError> {
        self.with(Millis(0), |tx| tx.refuse_second(owner, draft))
    }

    /// Notes that a record gets a new version; says whether it is the first one noted.
    pub(crate) fn continues(&mut self, id: RecordId) -> Result<bool, StoreError> {
        let sql = "INSERT INTO continued (record) VALUES (?1) ON CONFLICT DO NOTHING";
        self.with(Millis(0), |tx| Ok(tx.execute(sql, params![&id])? == 1))
    }

    /// Some item whose payload is gone although nothing says why.
    pub(crate) fn unexplained(&mut self) -> Result<Option<ItemId>, StoreError> {
        let sql = "SELECT i.id FROM items i LEFT JOIN item_marks m ON m.item = i.id
                   WHERE i.payload IS NULL AND m.redaction IS NULL ORDER BY i.position LIMIT 1";
        self.with(Millis(0), |tx| tx.first(sql, &[], |row| row.array(0).map(ItemId::from_bytes)))
    }

    /// The records in their last state, one line each, by id.
    pub(crate) fn each_record(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {RECORD_COLUMNS} FROM records ORDER BY id");
        self.each_line(&sql, &|row| read_record(row).map(|record| record_line(&record)), each)
    }

    /// The secrets that are left, by id.
    pub(crate) fn secrets(&mut self) -> Result<Vec<SecretAtCut>, StoreError> {
        let sql = format!("SELECT {RECORD_COLUMNS} FROM records WHERE type = ?1 ORDER BY id");
        let records = self.with(Millis(0), |tx| tx.all(&sql, params![SECRET], read_record))?;
        let live = records.into_iter().filter(|record| !record.content.is_deleted());
        Ok(live
            .filter_map(|record| {
                value_version(&record.content).map(|value_version| SecretAtCut { secret: record.id, value_version })
            })
            .collect())
    }

    /// The relations that are left, one line each, by id.
    pub(crate) fn each_relation(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {RELATION_COLUMNS}, owner FROM relations ORDER BY id");
        let line = |row: &dyn crate::db::sql::Row| {
            let owner = UserId::from_bytes(row.array(10)?);
            read_relation(row).map(|relation| relation_line(&relation, owner))
        };
        self.each_line(&sql, &line, each)
    }

    /// The objects that are attached, each once, by hash.
    pub(crate) fn named_blobs(&mut self) -> Result<Vec<(Digest, i64)>, StoreError> {
        let mut sql = SqliteTransaction::on(&self.database);
        Tx::new(&mut sql, Millis(0), 0, [0; 16]).named_blobs()
    }

    fn each_line(
        &mut self,
        sql: &str,
        line: &dyn Fn(&dyn crate::db::sql::Row) -> Result<String, crate::SqlError>,
        each: &mut dyn FnMut(&str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut refused = Ok(());
        let outcome = SqliteTransaction::on(&self.database).query(sql, &[], &mut |row| {
            refused = each(&line(row)?);
            // The query is to end here; what is told is the refusal.
            if refused.is_err() { Err(crate::SqlError::Interrupted) } else { Ok(()) }
        });
        refused?;
        Ok(outcome?)
    }

    fn with<T>(
        &mut self,
        now: Millis,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut sql = SqliteTransaction::on(&self.database);
        work(&mut Tx::new(&mut sql, now, 0, [0; 16]))
    }
}

/// An item as it is put aside: that it has a payload is kept, the bytes are not.
fn without_bytes(item: &Item) -> Item {
    let payload = item.payload.as_ref().map(|_| Payload::stored(Vec::new(), PayloadForm::Document));
    Item { header: item.header.clone(), payload, payload_hash: item.payload_hash, hash: item.hash }
}
