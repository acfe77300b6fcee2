//! Stores the sealed values of secrets outside the timeline. A rotation replaces them; deleting a secret destroys them.
//!
//! What is here is worthless without the master key, which is not. It is in no item, record or bundle (one that is
//! asked for with secrets has them sealed anew, under a passphrase), so what a rotation or deletion destroys is gone; backups
//! carry it, and a restore needs the key of its time.

mod keys;

use skein_core::garden::record::{Record, RecordContent, RecordType};
use skein_core::{RecordId, RuleViolation, UserId, Viewer};

use crate::catalog::list_index::{ListQuery, heading};
use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{Page, page};
use crate::timeline::records::RECORDS_PER_PAGE_MAX;
use crate::tx::{Tx, system_only};

pub use keys::KeyValues;
pub(crate) use keys::VAULT_META;

const COLUMNS: &str = "secret, owner, value_version, key_id, wrapped_key, ciphertext";
pub(crate) const SECRET: &str = "Secret";

/// The value of a secret, sealed under a data key that is itself wrapped under a master key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedValue {
    pub value_version: i64,
    /// Which master key wraps the data key.
    pub key_id: String,
    pub wrapped_key: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

impl std::fmt::Debug for SealedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "version {} sealed under {}", self.value_version, self.key_id)
    }
}

/// A sealed value with what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    pub secret: RecordId,
    pub owner: UserId,
    pub value: SealedValue,
}

impl Tx<'_> {
    /// Keeps the value of a secret in place of the one before; for its owner or Skein, in the version its record is at.
    pub fn put_sealed(&mut self, viewer: &Viewer, secret: RecordId, value: &SealedValue) -> Result<(), StoreError> {
        let record = self.own_secret(viewer, secret)?;
        if value_version(&record.content) != Some(value.value_version) {
            let problem = format!("the value of {secret} is of another version than its record");
            return Err(
                RuleViolation::new("BR-SECRET-001", problem, "read the secret again and repeat the change").into()
            );
        }
        self.hold_vault_key(&value.key_id)?;
        self.execute(
            "INSERT INTO vault (secret, owner, value_version, key_id, wrapped_key, ciphertext)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (secret) DO UPDATE SET value_version = excluded.value_version, key_id = excluded.key_id,
                 wrapped_key = excluded.wrapped_key, ciphertext = excluded.ciphertext",
            params![&secret, &record.owner, value.value_version, &value.key_id, &value.wrapped_key, &value.ciphertext,],
        )?;
        Ok(())
    }

    /// Keeps a value that came with a bundle; says whether. A secret that has one, was deleted or is at another value
    /// stays as it is.
    pub fn restore_sealed(
        &mut self,
        viewer: &Viewer,
        secret: RecordId,
        value: &SealedValue,
    ) -> Result<bool, StoreError> {
        let record = match self.own_secret(viewer, secret) {
            Ok(record) if value_version(&record.content) == Some(value.value_version) => record,
            Ok(_) | Err(StoreError::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        self.hold_vault_key(&value.key_id)?;
        let sql = "INSERT INTO vault (secret, owner, value_version, key_id, wrapped_key, ciphertext)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (secret) DO NOTHING";
        let SealedValue { value_version, key_id, wrapped_key, ciphertext } = value;
        let bound = params![&secret, &record.owner, *value_version, key_id, wrapped_key, ciphertext];
        Ok(self.execute(sql, bound)? > 0)
    }

    /// The sealed value of a secret, for its owner or Skein; `None` when the store has none, as after an import.
    pub fn sealed(&mut self, viewer: &Viewer, secret: RecordId) -> Result<Option<SealedSecret>, StoreError> {
        self.own_secret(viewer, secret)?;
        let sql = format!("SELECT {COLUMNS} FROM vault WHERE secret = ?1");
        self.first(&sql, params![&secret], read_sealed)
    }

    /// Destroys the value of a secret, for its owner or Skein; says whether there was one. Deleting a secret does too.
    pub fn destroy_sealed(&mut self, viewer: &Viewer, secret: RecordId) -> Result<bool, StoreError> {
        self.own_secret(viewer, secret)?;
        self.destroy();
        Ok(self.execute("DELETE FROM vault WHERE secret = ?1", params![&secret])? > 0)
    }

    /// A page of everybody's values whose data key another master key wraps; for Skein, to wrap them anew.
    pub fn sealed_under_other_key(
        &mut self,
        viewer: &Viewer,
        key_id: &str,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<SealedSecret, RecordId>, StoreError> {
        system_only(viewer)?;
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let after = after.unwrap_or(RecordId::from_bytes([0; 16]));
        let sql = format!("SELECT {COLUMNS} FROM vault WHERE key_id <> ?1 AND secret > ?2 ORDER BY secret LIMIT ?3");
        let rows = self.all(&sql, params![key_id, &after, one_more], read_sealed)?;
        Ok(page(rows, limit, |last| last.secret))
    }

    /// How many values there are, and how many of them another master key than this one wraps; for Skein.
    pub fn count_sealed(&mut self, viewer: &Viewer, key_id: &str) -> Result<(i64, i64), StoreError> {
        system_only(viewer)?;
        let sql = "SELECT count(*), count(CASE WHEN key_id <> ?1 THEN 1 END) FROM vault";
        Ok(self.first(sql, params![key_id], |row| Ok((row.int(0)?, row.int(1)?)))?.unwrap_or_default())
    }

    /// How many of an owner's secrets have no value here, as after an import without them; for the owner or Skein.
    pub fn count_unsealed(&mut self, viewer: &Viewer, owner: UserId) -> Result<i64, StoreError> {
        if !viewer.may_write(owner) {
            return Err(StoreError::Forbidden);
        }
        let question = ListQuery { kind: None, enabled: None, only_unarchived: true };
        let heading = heading(&RecordType::parse(SECRET)?, &question).unwrap_or_default();
        let sql = "SELECT count(*) FROM record_headings h LEFT JOIN vault v ON v.secret = h.record
            WHERE h.owner = ?1 AND h.heading = ?2 AND v.secret IS NULL";
        Ok(self.first(sql, params![&owner, &heading], |row| row.int(0))?.unwrap_or_default())
    }

    /// Replaces the wrapping of a data key; for Skein. `false` when the value was rotated, destroyed or wrapped anew
    /// since `was` was read: then nothing changes.
    pub fn rewrap_sealed(
        &mut self,
        viewer: &Viewer,
        was: &SealedSecret,
        key_id: &str,
        wrapped_key: &[u8],
    ) -> Result<bool, StoreError> {
        system_only(viewer)?;
        let sql = "UPDATE vault SET key_id = ?1, wrapped_key = ?2
            WHERE secret = ?3 AND value_version = ?4 AND key_id = ?5 AND wrapped_key = ?6";
        let value = &was.value;
        let bound = params![key_id, wrapped_key, &was.secret, value.value_version, &value.key_id, &value.wrapped_key];
        Ok(self.execute(sql, bound)? > 0)
    }

    /// To everybody else, grant or no grant, the secret does not exist (rule BR-SECRET-002A).
    fn own_secret(&mut self, viewer: &Viewer, secret: RecordId) -> Result<Record, StoreError> {
        let record = self.record(viewer, secret)?;
        let is_own = viewer.may_write(record.owner) && record.content.record_type.as_str() == SECRET;
        if is_own { Ok(record) } else { Err(StoreError::NotFound(secret.to_string())) }
    }
}

/// Which value of a secret its record speaks of; of anything else, none.
pub(crate) fn value_version(content: &RecordContent) -> Option<i64> {
    let is_secret = content.record_type.as_str() == SECRET;
    content.data.get("valueVersion").and_then(serde_json::Value::as_i64).filter(|_| is_secret)
}

pub(crate) fn read_sealed(row: &dyn Row) -> Result<SealedSecret, SqlError> {
    let bytes = |column| row.optional_bytes(column).map(|bytes| bytes.unwrap_or_default().to_vec());
    Ok(SealedSecret {
        secret: RecordId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        value: SealedValue {
            value_version: row.int(2)?,
            key_id: row.text(3)?.to_owned(),
            wrapped_key: bytes(4)?,
            ciphertext: bytes(5)?,
        },
    })
}
