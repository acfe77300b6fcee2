//! Purges episodes: no file of the index contains anything of them afterwards.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use skein_core::UserId;
use skein_core::garden::cursor::Cursor;

use super::Index;
use crate::episode::Change;
use crate::error::ApplyError;

impl Index {
    /// [`Self::apply`], after which nothing is left of what these changes take away. The cursor moves last: whoever dies in
    /// between is told of it again.
    pub fn apply_for_good(&self, changes: &[Change], cursor: Cursor) -> Result<(), ApplyError> {
        self.apply(changes, self.cursor())?;
        let gone = changes.iter().filter(|change| matches!(change, Change::Delete { .. }));
        self.rewrite(&gone.map(Change::owner).collect())?;
        self.apply(&[], cursor)
    }

    /// Writes these owners anew without what is dead.
    fn rewrite(&self, owners: &BTreeSet<UserId>) -> Result<(), ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        for owner in owners {
            let Some(index) = self.owner(*owner)? else { continue };
            if index.figures().dead() > 0 { self.compact_owner(*owner, &index)? } else { index.merge()? }
        }
        Ok(())
    }
}
