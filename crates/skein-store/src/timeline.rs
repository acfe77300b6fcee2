//! Following the timeline: every item exactly once, in the order of `(tx, position)`.
//!
//! Items of transactions that might still be preceded by a slower one are held back until that one has ended;
//! a cursor that only counted positions would silently skip them.

use skein_core::document::check_text;
use skein_core::garden::cursor::Cursor;
use skein_core::{UserId, Viewer};

use crate::error::StoreError;
use crate::items::{ITEM_COLUMNS, PAGE_BYTES_MAX, StoredItem, read_item};
use crate::sql::{Row, RowResult, params};
use crate::tx::{Tx, system_only};

/// Most items one step of a follower takes.
pub const FOLLOW_ITEMS_MAX: usize = 4_096;

const NAME_BYTES_MAX: usize = 200;

/// Which columns of which tables to read along the timeline; `i` stands for `items`.
pub(crate) struct Along<'a> {
    pub(crate) columns: &'a str,
    pub(crate) from: &'a str,
}

impl Tx<'_> {
    /// The items after a cursor, of every owner; for Skein's own followers. What was altered is passed on as it is.
    pub fn follow(&mut self, viewer: &Viewer, after: Cursor, limit: usize) -> Result<Vec<StoredItem>, StoreError> {
        let settled = self.sql.settled_below()?;
        self.after(viewer, after, settled, limit)
    }

    /// The items after a cursor and below a transaction number.
    pub(crate) fn after(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        below: i64,
        limit: usize,
    ) -> Result<Vec<StoredItem>, StoreError> {
        system_only(viewer)?;
        let along = Along { columns: ITEM_COLUMNS, from: "items i LEFT JOIN item_marks m ON m.item = i.id" };
        let (mut items, mut bytes) = (Vec::new(), 0);
        self.each_after(&along, after, below, limit.clamp(1, FOLLOW_ITEMS_MAX), &mut |row| {
            // What is left out comes with the next step, which begins where this one ended.
            if bytes <= PAGE_BYTES_MAX {
                let stored = read_item(row)?;
                bytes += stored.item.payload.as_ref().map_or(0, |payload| payload.bytes().len());
                items.push(stored);
            }
            Ok(())
        })?;
        Ok(items)
    }

    /// Hands over what comes after a cursor and below a transaction number, in order, at most `limit` rows.
    ///
    /// First the rest of the cursor's own transaction, then later ones: on SQLite `position` is the row's own key, and
    /// a comparison of pairs would walk the index from the transaction's beginning.
    pub(crate) fn each_after(
        &mut self,
        along: &Along<'_>,
        after: Cursor,
        below: i64,
        limit: usize,
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), StoreError> {
        let Along { columns, from } = along;
        let mut left = i64::try_from(limit).expect("steps are bounded");
        let same = format!(
            "SELECT {columns} FROM {from} WHERE i.tx = ?1 AND i.position > ?2 AND i.tx < ?3 ORDER BY i.position LIMIT ?4"
        );
        let later =
            format!("SELECT {columns} FROM {from} WHERE i.tx > ?1 AND i.tx < ?2 ORDER BY i.tx, i.position LIMIT ?3");
        self.sql.query(&same, params![after.tx, after.position, below, left], &mut |row| {
            left -= 1;
            each(row)
        })?;
        if left > 0 {
            self.sql.query(&later, params![after.tx, below, left], each)?;
        }
        Ok(())
    }

    /// How far a named follower has come.
    pub fn cursor(&mut self, viewer: &Viewer, name: &str) -> Result<Cursor, StoreError> {
        let sql = "SELECT tx, position FROM cursors WHERE owner = ?1 AND name = ?2";
        let found = self
            .first(sql, params![&viewer.owner(), name], |row| Ok(Cursor { tx: row.int(0)?, position: row.int(1)? }))?;
        Ok(found.unwrap_or(Cursor::START))
    }

    /// Notes how far a named follower has come; never backwards.
    pub fn acknowledge(&mut self, viewer: &Viewer, name: &str, cursor: Cursor) -> Result<(), StoreError> {
        check_text("a follower's name", name, NAME_BYTES_MAX)?;
        let owner: UserId = viewer.owner();
        self.execute(
            "INSERT INTO cursors (owner, name, tx, position) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (owner, name) DO UPDATE SET tx = excluded.tx, position = excluded.position
             WHERE (cursors.tx, cursors.position) < (excluded.tx, excluded.position)",
            params![&owner, name, cursor.tx, cursor.position],
        )?;
        Ok(())
    }
}
