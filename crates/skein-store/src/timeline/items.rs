//! Appends items, and reads them by id or along either clock.

use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use skein_core::garden::cursor::{BadCursor, Cursor};
use skein_core::garden::item::{Item, ItemDraft, ItemHeader, ItemType, Payload, PayloadForm, RAW_PAYLOAD_BYTES_MAX};
use skein_core::{Digest, ItemId, Millis, UserId, Viewer};
use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::projection::needs_no_place;
use crate::tx::{POSITION_UNKNOWN, Tx};

/// Most items one page holds.
pub const ITEMS_PER_PAGE_MAX: usize = 1_000;
/// A page ends early when its payloads exceed this many bytes.
pub const PAGE_BYTES_MAX: usize = 16 << 20;

pub(crate) const INSERT_COLUMNS: usize = 10;
pub(crate) const INSERT_ITEM: &str = "INSERT INTO items
    (tx, id, owner, type, realized_at, canonical_at, hash, payload_hash, encoding, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// What [`read_item`] expects, from `items i` joined with `item_marks m`.
pub(crate) const ITEM_COLUMNS: &str = "i.tx, i.position, i.id, i.owner, i.type, i.realized_at, i.canonical_at, i.hash,
    i.payload_hash, i.encoding, i.payload, m.tombstone, m.canonical_at AS believed_at";

const PLAIN: i64 = 0;
pub(crate) const DEFLATED: i64 = 1;

/// A fact with what later facts and beliefs say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    pub item: Item,
    pub cursor: Cursor,
    /// When it happened: as first stated, or as corrected since (decision M17).
    pub canonical_at: Millis,
    /// The tombstone that hides it from default reads.
    pub tombstone: Option<ItemId>,
}

/// Which clock items are listed along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemClock {
    /// When the store recorded them.
    #[default]
    Realized,
    /// When they happened, corrections applied.
    Canonical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    #[default]
    Forward,
    Backward,
}

/// Which items to list.
#[derive(Debug, Clone, Default)]
pub struct ItemQuery {
    pub item_type: Option<ItemType>,
    pub along: ItemClock,
    pub direction: Direction,
    /// From this moment on, inclusive.
    pub from: Option<Millis>,
    /// Up to this moment, exclusive.
    pub until: Option<Millis>,
    /// Where the last page ended.
    pub after: Option<PagePosition>,
    pub limit: usize,
    /// Also items that were undone.
    pub include_hidden: bool,
    /// Not those that only keep the books: deltas, seals, events of the system.
    pub without_bookkeeping: bool,
}

/// A place in a listing: a moment on the clock it goes along, and a position among items of that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PagePosition {
    pub at: Millis,
    pub position: i64,
}

impl fmt::Display for PagePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.position)
    }
}

impl FromStr for PagePosition {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let (at, position) = text.split_once('.').ok_or(BadCursor)?;
        let at = at.parse().map(Millis).map_err(|_| BadCursor)?;
        let position = position.parse().ok().filter(|position| *position >= 0).ok_or(BadCursor)?;
        Ok(Self { at, position })
    }
}

/// One page of a listing and where the next one begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T, P> {
    pub rows: Vec<T>,
    /// `None` when there is nothing further.
    pub next: Option<P>,
}

/// A fact whose id is known and that is not recorded yet.
#[derive(Debug, Clone)]
pub struct PreparedItem(Item);

impl PreparedItem {
    pub fn id(&self) -> ItemId {
        self.0.header.id
    }
}

impl From<PreparedItem> for Item {
    fn from(drawn: PreparedItem) -> Self {
        drawn.0
    }
}

impl Tx<'_> {
    /// Records a fact in the viewer's own name.
    pub fn append_item(&mut self, viewer: &Viewer, draft: &ItemDraft) -> Result<StoredItem, StoreError> {
        self.append_item_for(viewer, viewer.owner(), draft)
    }

    /// Records a fact among another's, which only Skein itself may do.
    pub(crate) fn append_item_for(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        draft: &ItemDraft,
    ) -> Result<StoredItem, StoreError> {
        let appended = self.append_items_for(viewer, owner, std::slice::from_ref(draft))?;
        Ok(appended.into_iter().next().expect("one draft makes one item"))
    }

    /// Records many facts in the viewer's own name, all or none.
    pub fn append_items(&mut self, viewer: &Viewer, drafts: &[ItemDraft]) -> Result<Vec<StoredItem>, StoreError> {
        self.append_items_for(viewer, viewer.owner(), drafts)
    }

    fn append_items_for(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        drafts: &[ItemDraft],
    ) -> Result<Vec<StoredItem>, StoreError> {
        if !viewer.may_write(owner) {
            return Err(StoreError::Forbidden);
        }
        let now = self.now();
        let realize =
            |draft: &ItemDraft| draft.clone().realize(ItemId::new(self.id_time(), self.entropy()), owner, now);
        let items: Vec<Item> = drafts.iter().map(realize).collect();
        self.append_realized(items)
    }

    /// Makes a fact that is to be recorded soon, together with others, by [`Self::append_drawn`].
    pub fn draw_item(&mut self, viewer: &Viewer, draft: ItemDraft) -> Result<PreparedItem, StoreError> {
        if !viewer.may_write(viewer.owner()) {
            return Err(StoreError::Forbidden);
        }
        let now = self.now();
        Ok(PreparedItem(draft.realize(ItemId::new(self.id_time(), self.entropy()), viewer.owner(), now)))
    }

    /// Records facts that were drawn in this transaction, in this order and in one statement.
    pub fn append_drawn(&mut self, items: Vec<PreparedItem>) -> Result<(), StoreError> {
        let items: Vec<Item> = items.into_iter().map(|drawn| drawn.0).collect();
        if !items.iter().all(|item| needs_no_place(&item.header.item_type)) {
            return self.append_realized(items).map(drop);
        }
        self.append_without_place(&items)
    }

    /// Records facts of a tree, together with whatever else waits where rows may wait.
    pub(crate) fn append_of_tree(&mut self, items: Vec<Item>) -> Result<(), StoreError> {
        if !self.row_cache.is_filled() {
            return self.append_realized(items).map(drop);
        }
        self.row_cache.note_items(&items);
        self.append_without_place(&items)
    }

    /// Records facts whose rows do not depend on where they stand on the timeline.
    fn append_without_place(&mut self, items: &[Item]) -> Result<(), StoreError> {
        let payloads: Vec<Encoded<'_>> = items.iter().map(encode).collect::<Result<_, _>>()?;
        let tx = self.number();
        let rows: Vec<_> = items.iter().zip(&payloads).map(|(item, payload)| insert_row(tx, item, payload)).collect();
        let cursor = Cursor { tx, position: self.sql.insert_items_later(&rows)?.unwrap_or(POSITION_UNKNOWN) };
        for item in items {
            self.project(item, cursor)?;
            self.reached(cursor, item.header.id);
        }
        Ok(())
    }

    /// Records facts that are complete already; the caller has judged who may.
    pub(crate) fn append_realized(&mut self, items: Vec<Item>) -> Result<Vec<StoredItem>, StoreError> {
        let cursors = self.insert_items(&items)?;
        let stored = items.into_iter().zip(cursors).map(|(item, cursor)| StoredItem {
            canonical_at: item.header.canonical_at,
            item,
            cursor,
            tombstone: None,
        });
        let stored: Vec<StoredItem> = stored.collect();
        for appended in &stored {
            self.project(&appended.item, appended.cursor)?;
            self.reached(appended.cursor, appended.item.header.id);
        }
        Ok(stored)
    }

    /// Inserts the rows alone, of items that are complete already; says which places they took.
    pub(crate) fn insert_items(&mut self, items: &[Item]) -> Result<Vec<Cursor>, StoreError> {
        let payloads: Vec<Encoded<'_>> = items.iter().map(encode).collect::<Result<_, _>>()?;
        let number = self.number();
        let rows: Vec<_> =
            items.iter().zip(&payloads).map(|(item, payload)| insert_row(number, item, payload)).collect();
        let positions = self.sql.insert_items(&rows)?;
        Ok(positions.into_iter().map(|position| Cursor { tx: number, position }).collect())
    }

    /// One fact, if it is the viewer's to see. Undone items are found too: their id was known.
    pub fn item(&mut self, viewer: &Viewer, id: ItemId) -> Result<StoredItem, StoreError> {
        let found = self.find_item(id)?;
        let now = self.now();
        found
            .filter(|stored| viewer.may_read(stored.item.header.owner, now))
            .ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    pub(crate) fn find_item(&mut self, id: ItemId) -> Result<Option<StoredItem>, StoreError> {
        static BY_ID: LazyLock<String> = LazyLock::new(|| {
            format!("SELECT {ITEM_COLUMNS} FROM items i LEFT JOIN item_marks m ON m.item = i.id WHERE i.id = ?1")
        });
        let found = self.first(&BY_ID, params![&id], |row| Ok(read_item(row)))?.transpose()?;
        found.map(checked).transpose()
    }

    /// The viewer's own facts, page by page. A page costs the same wherever it lies.
    pub fn items(&mut self, viewer: &Viewer, query: &ItemQuery) -> Result<Page<StoredItem, PagePosition>, StoreError> {
        self.items_of(viewer, viewer.subject(), query)
    }

    /// The facts of one owner, for those who may see them.
    pub fn items_of(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        query: &ItemQuery,
    ) -> Result<Page<StoredItem, PagePosition>, StoreError> {
        if !viewer.may_read(owner, self.now()) {
            return Err(StoreError::NotFound(owner.to_string()));
        }
        let limit = query.limit.clamp(1, ITEMS_PER_PAGE_MAX);
        let (start, end) = span(query);
        let item_type = query.item_type.as_ref().map(ItemType::as_str);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let mut bound = params![&owner, start.at, start.position, end, one_more].to_vec();
        bound.extend(item_type.map(Value::from));
        let (mut rows, mut bytes, mut has_more) = (Vec::new(), 0, false);
        self.sql.query(&listing(query), &bound, &mut |row| {
            has_more = rows.len() == limit || bytes > PAGE_BYTES_MAX;
            if !has_more {
                let stored = read_item(row)?;
                bytes += stored.item.payload.as_ref().map_or(0, |payload| payload.bytes().len());
                rows.push(stored);
            }
            Ok(())
        })?;
        let rows: Vec<StoredItem> = rows.into_iter().map(checked).collect::<Result<_, _>>()?;
        let next = rows.last().filter(|_| has_more).map(|last| place(last, query.along));
        Ok(Page { rows, next })
    }
}

/// Cuts the extra row off that says whether there is more.
pub(crate) fn page<T, P>(mut rows: Vec<T>, limit: usize, place: impl Fn(&T) -> P) -> Page<T, P> {
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(place);
    Page { rows, next }
}

pub(crate) fn place(stored: &StoredItem, along: ItemClock) -> PagePosition {
    let at = match along {
        ItemClock::Realized => stored.item.header.realized_at,
        ItemClock::Canonical => stored.canonical_at,
    };
    PagePosition { at, position: stored.cursor.position }
}

/// Where a listing begins (exclusive) and the moment at which it ends.
fn span(query: &ItemQuery) -> (PagePosition, Millis) {
    let (from, until) = (query.from.unwrap_or(Millis(i64::MIN)), query.until.unwrap_or(Millis(i64::MAX)));
    let before = |at| PagePosition { at, position: -1 };
    match query.direction {
        Direction::Forward => (query.after.map_or(before(from), |after| after.max(before(from))), until),
        Direction::Backward => (query.after.map_or(before(until), |after| after.min(before(until))), from),
    }
}

/// The statement for a listing: owner ?1, start ?2 ?3, end ?4, limit ?5, type ?6.
fn listing(query: &ItemQuery) -> String {
    let items = "items i LEFT JOIN item_marks m ON m.item = i.id";
    let corrections = "item_marks m JOIN items i ON i.id = m.item";
    let parts = match query.along {
        ItemClock::Realized => arms(query, items, "i.realized_at", "i.owner = ?1"),
        // Items whose time was corrected are found by the correction, all others by their own column, so that every
        // arm walks an index.
        ItemClock::Canonical => [
            arms(query, items, "i.canonical_at", "i.owner = ?1 AND m.canonical_at IS NULL"),
            arms(query, corrections, "m.canonical_at", "m.owner = ?1 AND i.owner = ?1 AND m.canonical_at IS NOT NULL"),
        ]
        .concat(),
    };
    let clock = match query.along {
        ItemClock::Realized => "realized_at",
        ItemClock::Canonical => "CASE WHEN believed_at IS NULL THEN canonical_at ELSE believed_at END",
    };
    let order = order(query.direction);
    format!(
        "SELECT * FROM ({}) AS listed ORDER BY {clock} {order}, position {order} LIMIT ?5",
        parts.join(" UNION ALL ")
    )
}

static NOT_BOOKKEEPING: LazyLock<String> = LazyLock::new(|| {
    let types: Vec<String> = ItemType::bookkeeping().iter().map(|item_type| format!("'{item_type}'")).collect();
    format!("AND i.type NOT IN ({})", types.join(", "))
});

fn order(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "ASC",
        Direction::Backward => "DESC",
    }
}

/// What lies at the moment a page begins, and what lies beyond it: apart, because only so does SQLite's index lead
/// straight to a place among many items of one moment.
fn arms(query: &ItemQuery, from: &str, clock: &str, which: &str) -> Vec<String> {
    let of_type = match query.item_type {
        Some(_) => "AND i.type = ?6",
        None if query.without_bookkeeping => &*NOT_BOOKKEEPING,
        None => "",
    };
    let shown = if query.include_hidden { "" } else { "AND m.tombstone IS NULL" };
    let (beyond, within) = match query.direction {
        Direction::Forward => (">", "<"),
        Direction::Backward => ("<", ">="),
    };
    let order = order(query.direction);
    let arm = |condition: String| {
        format!(
            "SELECT * FROM (SELECT {ITEM_COLUMNS} FROM {from} WHERE {which} {of_type} {shown}
             AND {condition} AND {clock} {within} ?4 ORDER BY {clock} {order}, i.position {order} LIMIT ?5) AS arm"
        )
    };
    vec![arm(format!("{clock} = ?2 AND i.position {beyond} ?3")), arm(format!("{clock} {beyond} ?2"))]
}

fn insert_row<'a>(number: i64, item: &'a Item, payload: &'a Encoded<'_>) -> [Value<'a>; INSERT_COLUMNS] {
    let header = &item.header;
    [
        number.into(),
        (&header.id).into(),
        (&header.owner).into(),
        header.item_type.as_str().into(),
        header.realized_at.into(),
        header.canonical_at.into(),
        (&item.hash).into(),
        (&item.payload_hash).into(),
        payload.0.into(),
        payload.1.as_deref().into(),
    ]
}

/// The encoding and bytes of a payload.
type Encoded<'a> = (i64, Option<Cow<'a, [u8]>>);

/// How a payload is kept: documents as they are, raw bytes compressed, one that was destroyed not at all.
fn encode(item: &Item) -> Result<Encoded<'_>, StoreError> {
    let Some(payload) = &item.payload else { return Ok((PLAIN, None)) };
    if payload.form() == PayloadForm::Document {
        return Ok((PLAIN, Some(Cow::Borrowed(payload.bytes()))));
    }
    let mut compressed = Vec::new();
    let encoder = DeflateEncoder::new(payload.bytes(), Compression::fast()).read_to_end(&mut compressed);
    encoder.map_err(|error| StoreError::Damaged(error.to_string()))?;
    Ok((DEFLATED, Some(Cow::Owned(compressed))))
}

pub(crate) fn decode(encoding: i64, stored: &[u8]) -> Payload {
    if encoding == PLAIN {
        return Payload::stored(stored.to_vec(), PayloadForm::Document);
    }
    let mut bytes = Vec::new();
    // A damaged payload must not be able to fill the memory.
    let mut decoder = DeflateDecoder::new(stored).take(RAW_PAYLOAD_BYTES_MAX as u64 + 1);
    if decoder.read_to_end(&mut bytes).is_err() {
        // Still an item, whose hash then tells that it was altered.
        bytes = [b"not deflated: ", stored].concat();
    }
    Payload::stored(bytes, PayloadForm::Raw)
}

/// An item as its row says, whether or not that is what was recorded.
pub(crate) fn read_item(row: &dyn Row) -> Result<StoredItem, SqlError> {
    let type_text = row.text(4)?;
    let item_type = ItemType::parse(type_text).map_err(|error| SqlError::Other(error.to_string()))?;
    let header = ItemHeader {
        item_type,
        id: ItemId::from_bytes(row.array(2)?),
        owner: UserId::from_bytes(row.array(3)?),
        realized_at: Millis(row.int(5)?),
        canonical_at: Millis(row.int(6)?),
    };
    let encoding = row.int(9)?;
    let payload = row.optional_bytes(10)?.map(|stored| decode(encoding, stored));
    let canonical_at = row.optional_int(12)?.map_or(header.canonical_at, Millis);
    let item = Item { header, payload, payload_hash: Digest(row.array(8)?), hash: Digest(row.array(7)?) };
    let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
    Ok(StoredItem { item, cursor, canonical_at, tombstone: row.optional_array(11)?.map(ItemId::from_bytes) })
}

/// Nothing altered leaves the store: what is read is hashed again.
pub(crate) fn checked(stored: StoredItem) -> Result<StoredItem, StoreError> {
    match stored.item.check() {
        Ok(()) => Ok(stored),
        Err(mismatch) => {
            Err(StoreError::Damaged(format!("the {} of {} was altered", mismatch.part, stored.item.header.id)))
        }
    }
}
