//! Leases names: at most one holder at a time, by the database's clock, with a fence against late writers.

use skein_core::Viewer;

use crate::db::sql::params;
use crate::error::StoreError;
use crate::tx::{Tx, system_only};

/// Proof of holding a lease when it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence(pub i64);

impl Tx<'_> {
    /// Takes or renews a lease; `None` while somebody else holds it.
    pub fn take_lease(
        &mut self,
        viewer: &Viewer,
        name: &str,
        holder: &str,
        milliseconds: i64,
    ) -> Result<Option<Fence>, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql = "INSERT INTO leases (name, holder, fence, lease_until) VALUES (?1, ?2, 1, ?3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until,
                 fence = CASE WHEN leases.holder = excluded.holder THEN leases.fence ELSE leases.fence + 1 END
             WHERE leases.holder = excluded.holder OR leases.lease_until <= ?4
             RETURNING fence";
        self.first(sql, params![name, holder, now.plus(milliseconds), now], |row| row.int(0).map(Fence))
    }

    /// Lets go of a lease, so that the next holder need not wait for it to run out.
    pub fn release_lease(&mut self, viewer: &Viewer, name: &str, holder: &str) -> Result<(), StoreError> {
        system_only(viewer)?;
        let now = self.now();
        self.execute("UPDATE leases SET lease_until = ?3 WHERE name = ?1 AND holder = ?2", params![name, holder, now])?;
        Ok(())
    }
}
