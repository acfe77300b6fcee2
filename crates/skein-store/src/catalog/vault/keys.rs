//! The vault's current master key, as every server on one database sees it.
//!
//! The key itself is outside the database; here is only its id. A value is stored only under the current key, so a server
//! that has not noticed a rotation cannot write under a key that is about to go. Knows no key and opens nothing.

use skein_core::Viewer;

use crate::db::sql::params;
use crate::error::StoreError;
use crate::jobs::exclusive_act::VAULT_ROTATION;
use crate::tx::{Tx, system_only};

const CURRENT_KEY: &str = "vault_key";
/// Entries of `meta` that a restore copies.
pub(crate) const VAULT_META: [&str; 2] = [CURRENT_KEY, VAULT_ROTATION];

/// A master key and the number of values it wraps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValues {
    pub key_id: String,
    pub values: i64,
}

impl Tx<'_> {
    /// The id of the key that wraps new values; `None` until the first value is stored. For Skein.
    pub fn vault_key(&mut self, viewer: &Viewer) -> Result<Option<String>, StoreError> {
        system_only(viewer)?;
        self.meta_text(CURRENT_KEY)
    }

    /// Makes a key the current one: from this commit on, no value is stored under another. For Skein.
    pub fn set_vault_key(&mut self, viewer: &Viewer, key_id: &str) -> Result<(), StoreError> {
        system_only(viewer)?;
        self.set_meta(CURRENT_KEY, key_id)
    }

    /// The values of each master key, by its id; for Skein.
    pub fn values_by_key(&mut self, viewer: &Viewer) -> Result<Vec<KeyValues>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT key_id, count(*) FROM vault GROUP BY key_id ORDER BY key_id";
        self.all(sql, &[], |row| Ok(KeyValues { key_id: row.text(0)?.to_owned(), values: row.int(1)? }))
    }

    /// Makes sure that a key is the current one until the transaction ends. The first key to be used becomes it.
    pub(super) fn hold_vault_key(&mut self, key_id: &str) -> Result<(), StoreError> {
        // A write, not a read: on PostgreSQL it keeps a rotation from committing in between.
        let hold = "UPDATE meta SET value = value WHERE name = ?1 AND value = ?2";
        if self.execute(hold, params![CURRENT_KEY, key_id])? > 0 {
            return Ok(());
        }
        match self.meta_text(CURRENT_KEY)? {
            Some(current) => Err(StoreError::VaultKeyChanged(current)),
            None => self.set_meta(CURRENT_KEY, key_id),
        }
    }

    pub(crate) fn meta_text(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        self.first("SELECT value FROM meta WHERE name = ?1", params![name], |row| row.text(0).map(str::to_owned))
    }

    pub(crate) fn set_meta(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2)
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.execute(sql, params![name, value])?;
        Ok(())
    }
}
