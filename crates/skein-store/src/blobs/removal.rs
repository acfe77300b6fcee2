//! Keeps the removal of an object apart from an upload of the same bytes.
//!
//! The database and the objects share no transaction. A removal is announced in the transaction that finds that nobody
//! names the object. The writer of the name compares how often it was removed with what that was before the bytes were kept:
//! if it differs, or a removal is under way, the bytes are kept again.

use skein_core::{Digest, OperationId, Viewer};

use super::SWEEP_AFTER_MS;
use crate::db::sql::params;
use crate::error::StoreError;
use crate::tx::Tx;

/// A removal that takes longer is taken for broken off.
const REMOVAL_MS: i64 = 60_000;
const REMOVING: Viewer = Viewer::System("removing blobs");

/// How often an object was removed; nothing while it is being removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removals(Option<i64>);

/// A removal that was announced.
#[derive(Debug, Clone)]
pub(crate) struct Removal {
    lease: String,
    holder: String,
}

impl Tx<'_> {
    /// How often an object was removed: to be asked before its bytes are kept.
    pub fn blob_removals(&mut self, hash: Digest) -> Result<Removals, StoreError> {
        let sql = "SELECT fence, lease_until FROM leases WHERE name = ?1";
        let found = self.first(sql, params![lease(hash).as_str()], |row| Ok((row.int(0)?, row.int(1)?)))?;
        let (removals, until) = found.unwrap_or((0, i64::MIN));
        Ok(Removals((until <= self.now().0).then_some(removals)))
    }

    /// Refuses to rely on an object that was removed since `before`, or was being removed then or is now.
    pub fn refuse_removed(&mut self, hash: Digest, before: Removals) -> Result<(), StoreError> {
        let is_kept = before.0.is_some() && self.blob_removals(hash)? == before;
        if is_kept { Ok(()) } else { Err(StoreError::BlobRemoved(hash)) }
    }

    /// Announces the removal of an object; nothing where somebody names it, or another removes it.
    pub(super) fn begin_removal(&mut self, hash: Digest) -> Result<Option<Removal>, StoreError> {
        if self.is_blob_named(hash)? {
            return Ok(None);
        }
        // Each removal has a holder of its own, so each counts.
        let holder = OperationId::new(self.id_time(), self.entropy()).to_string();
        let removal = Removal { lease: lease(hash), holder };
        Ok(self.take_lease(&REMOVING, &removal.lease, &removal.holder, REMOVAL_MS)?.map(|_| removal))
    }

    /// Forgets removals that no upload can have seen begin.
    pub(super) fn forget_removals(&mut self) -> Result<(), StoreError> {
        let sql = "DELETE FROM leases WHERE name > 'removal of ' AND name < 'removal of g' AND lease_until < ?1";
        self.execute(sql, params![self.now().plus(-SWEEP_AFTER_MS)])?;
        Ok(())
    }

    pub(super) fn end_removal(&mut self, removal: &Removal) -> Result<(), StoreError> {
        self.release_lease(&REMOVING, &removal.lease, &removal.holder)
    }
}

fn lease(hash: Digest) -> String {
    format!("removal of {hash}")
}
