//! Follows the timeline: every item exactly once, in the order of `(tx, position)`.
//!
//! Items of transactions that might still be preceded by a slower one are held back until that one has ended;
//! a cursor that only counted positions would silently skip them.

use skein_core::document::check_text;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::{Event, event_of};
use skein_core::{ItemId, Millis, UserId, Viewer};

use crate::db::sql::{Row, RowResult, Value, params};
use crate::error::StoreError;
use crate::timeline::items::{ITEM_COLUMNS, PAGE_BYTES_MAX, StoredItem, read_item};
use crate::tx::{Tx, system_only};

/// Most items one step of a follower takes.
pub const FOLLOW_ITEMS_MAX: usize = 4_096;

const NAME_BYTES_MAX: usize = 200;

/// Which columns of which tables to read along the timeline; `i` stands for `items`.
pub(crate) struct TimelineQuery<'a> {
    pub(crate) columns: &'a str,
    pub(crate) from: &'a str,
}

/// What a watcher reads, with its owner as ?1: payloads of others neither leave the database nor travel.
const WATCHED: TimelineQuery<'_> = TimelineQuery {
    columns:
        "i.tx, i.position, i.id, i.owner, i.type, i.realized_at, i.canonical_at, i.hash, i.payload_hash, i.encoding,
        CASE WHEN i.owner = ?1 THEN i.payload END, NULL, NULL",
    from: "items i",
};

/// What watchers are told, and how far along the timeline it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    pub told: Vec<StoredEvent>,
    pub reached: Cursor,
    /// How many items of anybody's were passed.
    pub looked_at: usize,
}

/// One event and the fact it was read off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub cursor: Cursor,
    pub at: Millis,
    pub item: ItemId,
    pub event: Event,
}

impl Tx<'_> {
    /// The items after a cursor, of every owner; for Skein's own followers. What was altered is passed on as it is.
    pub fn follow(&mut self, viewer: &Viewer, after: Cursor, limit: usize) -> Result<Vec<StoredItem>, StoreError> {
        let settled = self.sql.settled_below()?;
        self.after(viewer, after, settled, limit)
    }

    /// The end of the timeline as far as it is settled.
    pub fn latest(&mut self, viewer: &Viewer) -> Result<Cursor, StoreError> {
        let below = self.sql.settled_below()?;
        self.end_below(viewer, below)
    }

    /// The end of the timeline, also of what is not settled yet.
    pub fn end(&mut self, viewer: &Viewer) -> Result<Cursor, StoreError> {
        self.end_below(viewer, i64::MAX)
    }

    fn end_below(&mut self, viewer: &Viewer, below: i64) -> Result<Cursor, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT tx, position FROM items WHERE tx < ?1 ORDER BY tx DESC, position DESC LIMIT 1";
        let found = self.first(sql, params![below], |row| Ok(Cursor { tx: row.int(0)?, position: row.int(1)? }))?;
        Ok(found.unwrap_or(Cursor::START))
    }

    /// What watchers of the viewer's things are told next; looks at no more than `limit` items of anybody's.
    pub fn events(&mut self, viewer: &Viewer, after: Cursor, limit: usize) -> Result<EventPage, StoreError> {
        let owner = self.subject(viewer)?;
        let below = self.sql.settled_below()?;
        let mut seen = EventPage { told: Vec::new(), reached: after, looked_at: 0 };
        let limit = limit.clamp(1, FOLLOW_ITEMS_MAX);
        self.each_bound_after(&WATCHED, params![&owner], after, below, limit, &mut |row| {
            seen.looked_at += 1;
            seen.reached = Cursor { tx: row.int(0)?, position: row.int(1)? };
            if row.array(3)? == *owner.as_bytes() {
                let stored = read_item(row)?;
                let (item, at) = (stored.item.header.id, stored.item.header.realized_at);
                let told = |event| StoredEvent { cursor: stored.cursor, at, item, event };
                seen.told.extend(event_of(&stored.item).map(told));
            }
            Ok(())
        })?;
        Ok(seen)
    }

    /// Whether more than `items` items, or one older than `oldest`, come after a cursor: then nobody replays them.
    pub fn is_far_behind(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
        items: usize,
        oldest: Millis,
    ) -> Result<bool, StoreError> {
        system_only(viewer)?;
        let along = TimelineQuery { columns: "i.realized_at", from: "items i" };
        let mut first = None;
        self.each_after(&along, after, i64::MAX, 1, &mut |row| {
            first = Some(row.int(0)?);
            Ok(())
        })?;
        if first.is_none_or(|at| Millis(at) < oldest) {
            return Ok(first.is_some());
        }
        let mut count = 0;
        self.each_after(
            &TimelineQuery { columns: "i.position", from: "items i" },
            after,
            i64::MAX,
            items + 1,
            &mut |_| {
                count += 1;
                Ok(())
            },
        )?;
        Ok(count > items)
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
        let along = TimelineQuery { columns: ITEM_COLUMNS, from: "items i LEFT JOIN item_marks m ON m.item = i.id" };
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
    pub(crate) fn each_after(
        &mut self,
        along: &TimelineQuery<'_>,
        after: Cursor,
        below: i64,
        limit: usize,
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), StoreError> {
        self.each_bound_after(along, &[], after, below, limit, each)
    }

    /// [`Self::each_after`] where the columns speak of `bound`, as ?1 and so on.
    ///
    /// First the rest of the cursor's own transaction, then later ones: on SQLite `position` is the row's own key, and
    /// a comparison of pairs would walk the index from the transaction's beginning.
    pub(crate) fn each_bound_after(
        &mut self,
        along: &TimelineQuery<'_>,
        bound: &[Value<'_>],
        after: Cursor,
        below: i64,
        limit: usize,
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), StoreError> {
        let TimelineQuery { columns, from } = along;
        let mut left = i64::try_from(limit).expect("steps are bounded");
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| bound.len() + n);
        let same = format!(
            "SELECT {columns} FROM {from} WHERE i.tx = ?{a} AND i.position > ?{b} AND i.tx < ?{c}
             ORDER BY i.position LIMIT ?{d}"
        );
        let later = format!(
            "SELECT {columns} FROM {from} WHERE i.tx > ?{a} AND i.tx < ?{b} ORDER BY i.tx, i.position LIMIT ?{c}"
        );
        self.sql.query(&same, &[bound, params![after.tx, after.position, below, left]].concat(), &mut |row| {
            left -= 1;
            each(row)
        })?;
        if left > 0 {
            self.sql.query(&later, &[bound, params![after.tx, below, left]].concat(), each)?;
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

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use skein_core::garden::item::{ItemDraft, ItemType};

    use super::*;
    use crate::{Location, Store, StoreOptions};

    #[test]
    fn payloads_of_others_are_not_read_for_a_watcher() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let owners = [[1; 16], [2; 16]].map(UserId::from_bytes);
        let note = ItemDraft::recorded(ItemType::NOTE, &Map::new());
        for owner in owners {
            let note = note.clone();
            store.write_blocking(move |tx| tx.append_item(&Viewer::User(owner), &note).map(drop)).unwrap();
        }
        let read = store.write_blocking(move |tx| {
            let mut seen = Vec::new();
            tx.each_bound_after(&WATCHED, params![&owners[0]], Cursor::START, i64::MAX, 10, &mut |row| {
                seen.push((UserId::from_bytes(row.array(3)?), row.optional_bytes(10)?.is_some()));
                Ok(())
            })?;
            Ok(seen)
        });
        assert_eq!(read.unwrap().value, [(owners[0], true), (owners[1], false)]);
    }
}
