//! Following the timeline: every item exactly once, in the order of `(tx, position)`.
//!
//! Items of transactions that might still be preceded by a slower one are held back until that one has ended;
//! a cursor that only counted positions would silently skip them.

use skein_core::document::check_text;
use skein_core::garden::cursor::Cursor;
use skein_core::{UserId, Viewer};

use crate::error::StoreError;
use crate::items::{ITEM_COLUMNS, PAGE_BYTES_MAX, StoredItem, read_item};
use crate::sql::params;
use crate::tx::{Tx, system_only};

/// Most items one step of a follower takes.
pub const FOLLOW_ITEMS_MAX: usize = 4_096;

const NAME_BYTES_MAX: usize = 200;

/// The statement for what comes after a cursor (?1, ?2) and below a transaction number (?3), at most ?4 rows.
///
/// Two arms instead of one comparison of pairs: on SQLite `position` is the row's own key, and only so does the index
/// lead straight to the place, however long the timeline is.
pub(crate) fn after_cursor(columns: &str, from: &str) -> String {
    let arm = |condition: &str, order: &str| {
        format!(
            "SELECT * FROM (SELECT {columns} FROM {from} WHERE {condition} AND i.tx < ?3 ORDER BY {order} LIMIT ?4) AS arm"
        )
    };
    let same = arm("i.tx = ?1 AND i.position > ?2", "i.position");
    let later = arm("i.tx > ?1", "i.tx, i.position");
    format!("{same} UNION ALL {later} ORDER BY 1, 2 LIMIT ?4")
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
        let limit = i64::try_from(limit.clamp(1, FOLLOW_ITEMS_MAX)).expect("steps are small");
        let sql = after_cursor(ITEM_COLUMNS, "items i LEFT JOIN item_marks m ON m.item = i.id");
        let (mut items, mut bytes) = (Vec::new(), 0);
        self.sql.query(&sql, params![after.tx, after.position, below, limit], &mut |row| {
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
