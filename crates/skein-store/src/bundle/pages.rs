//! Reading one owner's timeline up to a cut, in pages that each cost a bounded time, whatever others have written.

use std::collections::BTreeSet;
use std::sync::Arc;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::Delta;
use skein_core::garden::item::{Item, ItemType, RAW_PAYLOAD_BYTES_MAX};
use skein_core::{ItemId, UserId, Viewer};

use super::ExportScope;
use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::store::Store;
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::{DEFLATED, ITEM_COLUMNS, StoredItem, checked, read_item};
use crate::timeline::projection::TIME_OVERRIDE;
use crate::tx::Tx;

/// Places of the timeline looked at in one read.
const PLACES_PER_READ: usize = 4_096;
/// Items fetched in one read; a statement has as many parameters.
const ITEMS_PER_READ: usize = 128;
/// Bytes of payloads fetched in one read.
const BYTES_PER_READ: usize = 32 << 20;
/// Deflate expands no further than this.
const DEFLATE_MAX: usize = 1_032;

/// Events that tell of one store only, not of what is in it.
const LOCAL_EVENTS: [&str; 3] = ["damage.found", "export.made", "import.made"];

/// What an item has to do with a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BundleMembership {
    /// Part of what is taken along.
    Along,
    /// Tells of the store it was made in: a seal, an export, an import.
    Here,
}

/// An owner's items in timeline order.
pub(crate) struct TimelinePages<'a> {
    store: &'a Store,
    scope: &'a ExportScope,
    which: ItemSelection,
    after: Option<Cursor>,
}

/// Which items are fetched at all.
#[derive(Debug, Clone)]
pub(crate) enum ItemSelection {
    /// All but seals.
    Facts,
    /// Seals, and what else was found to tell of this store, by position.
    Local(Arc<BTreeSet<i64>>),
}

struct ItemPosition {
    cursor: Cursor,
    weight: usize,
}

impl<'a> TimelinePages<'a> {
    pub(crate) fn new(store: &'a Store, scope: &'a ExportScope, which: ItemSelection) -> Self {
        Self { store, scope, which, after: Some(Cursor { tx: i64::MIN, position: i64::MIN }) }
    }

    /// Hands over the next stretch of the timeline; says where it ended, or `None` at the end.
    pub(crate) fn next(
        &mut self,
        each: &mut dyn FnMut(StoredItem, BundleMembership) -> Result<(), StoreError>,
    ) -> Result<Option<Cursor>, StoreError> {
        let Some(after) = self.after else { return Ok(None) };
        let (scope, which) = (self.scope.clone(), self.which.clone());
        let (places, last) = self.store.read_blocking(move |tx| tx.places(&scope, &which, after))?;
        self.after = last;
        let mut waiting = &places[..];
        while !waiting.is_empty() {
            let (chunk, later) = waiting.split_at(chunk_length(waiting));
            waiting = later;
            let positions: Vec<i64> = chunk.iter().map(|place| place.cursor.position).collect();
            let (viewer, owner) = (self.scope.viewer.clone(), self.scope.owner);
            let items = self.store.read_blocking(move |tx| tx.items_at(&viewer, owner, &positions))?;
            items.into_iter().try_for_each(|(stored, belongs)| each(stored, belongs))?;
        }
        Ok(Some(last.unwrap_or(self.scope.cut)))
    }
}

/// How many places are fetched together.
fn chunk_length(places: &[ItemPosition]) -> usize {
    let mut bytes = 0;
    let fits = |place: &&ItemPosition| {
        bytes += place.weight;
        bytes <= BYTES_PER_READ
    };
    places.iter().take(ITEMS_PER_READ).take_while(fits).count().max(1)
}

impl Tx<'_> {
    /// Up to where the timeline will not change any more, save for payloads that get destroyed: where an export ends.
    pub fn cut(&mut self, viewer: &Viewer, owner: UserId) -> Result<Cursor, StoreError> {
        self.refuse_stranger(viewer, owner)?;
        let settled = self.sql.settled_below()?;
        let sql = "SELECT tx, position FROM items WHERE tx < ?1 ORDER BY tx DESC, position DESC LIMIT 1";
        let last = self.first(sql, params![settled], |row| Ok(Cursor { tx: row.int(0)?, position: row.int(1)? }))?;
        Ok(last.unwrap_or(Cursor::START))
    }

    pub(crate) fn refuse_stranger(&mut self, viewer: &Viewer, owner: UserId) -> Result<(), StoreError> {
        let may = viewer.may_read(owner, self.now());
        if may { Ok(()) } else { Err(StoreError::NotFound(owner.to_string())) }
    }

    /// Where the owner's items of the next stretch are, and where it ends; `None` when it reaches the cut.
    fn places(
        &mut self,
        scope: &ExportScope,
        which: &ItemSelection,
        after: Cursor,
    ) -> Result<(Vec<ItemPosition>, Option<Cursor>), StoreError> {
        self.refuse_stranger(&scope.viewer, scope.owner)?;
        let along = TimelineQuery {
            columns: "i.tx, i.position, i.owner, i.type, i.encoding, CAST(length(i.payload) AS BIGINT)",
            from: "items i",
        };
        let (mut places, mut rows, mut last) = (Vec::new(), 0, None);
        self.each_after(&along, after, scope.cut.tx.saturating_add(1), PLACES_PER_READ, &mut |row| {
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            if cursor > scope.cut {
                return Ok(());
            }
            rows += 1;
            last = Some(cursor);
            if UserId::from_bytes(row.array(2)?) == scope.owner && which.includes(cursor.position, row.text(3)?) {
                let length = usize::try_from(row.optional_int(5)?.unwrap_or(0)).unwrap_or(0);
                let weight = match row.int(4)? {
                    DEFLATED => length.saturating_mul(DEFLATE_MAX).min(RAW_PAYLOAD_BYTES_MAX),
                    _ => length,
                };
                places.push(ItemPosition { cursor, weight });
            }
            Ok(())
        })?;
        Ok((places, last.filter(|_| rows == PLACES_PER_READ)))
    }

    /// The items at some positions, in timeline order.
    fn items_at(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        positions: &[i64],
    ) -> Result<Vec<(StoredItem, BundleMembership)>, StoreError> {
        self.refuse_stranger(viewer, owner)?;
        // One statement for any number of positions, so that it is prepared once.
        let places: Vec<String> = (1..=ITEMS_PER_READ).map(|number| format!("?{number}")).collect();
        let sql = format!(
            "SELECT {ITEM_COLUMNS} FROM items i LEFT JOIN item_marks m ON m.item = i.id WHERE i.position IN ({})",
            places.join(", ")
        );
        let fill = positions.last().copied().unwrap_or(0);
        let bound: Vec<Value<'_>> =
            positions.iter().copied().chain(std::iter::repeat(fill)).take(ITEMS_PER_READ).map(Value::Int).collect();
        let mut found: Vec<StoredItem> =
            self.all(&sql, &bound, read_item)?.into_iter().map(checked).collect::<Result<_, _>>()?;
        found.retain(|stored| stored.item.header.owner == owner);
        found.sort_by_key(|stored| stored.cursor);
        found.into_iter().map(|stored| self.belonging(stored)).collect()
    }

    fn belonging(&mut self, stored: StoredItem) -> Result<(StoredItem, BundleMembership), StoreError> {
        let is_local = is_local(&stored.item) || self.corrects_local(&stored.item)?;
        Ok((stored, if is_local { BundleMembership::Here } else { BundleMembership::Along }))
    }

    /// Whether this is a corrected time of something that stays here; there would be nothing to correct elsewhere.
    fn corrects_local(&mut self, item: &Item) -> Result<bool, StoreError> {
        if item.header.item_type != ItemType::ENTITY_DELTA {
            return Ok(false);
        }
        let delta = item.document().as_ref().and_then(Delta::from_document);
        let Some(delta) = delta.filter(|delta| delta.record_type.as_str() == TIME_OVERRIDE) else {
            return Ok(false);
        };
        let target = delta.content_after(None).ok().and_then(|content| {
            content.data.get("itemId").and_then(serde_json::Value::as_str).and_then(|id| id.parse::<ItemId>().ok())
        });
        let Some(target) = target else { return Ok(false) };
        Ok(self.find_item(target)?.is_some_and(|stored| is_local(&stored.item)))
    }

    /// The redactions of items whose payload is gone.
    pub(crate) fn redactions_of(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        items: &[ItemId],
    ) -> Result<Vec<StoredItem>, StoreError> {
        self.refuse_stranger(viewer, owner)?;
        let sql = "SELECT redaction FROM item_marks WHERE item = ?1 AND owner = ?2";
        let mut found = Vec::new();
        for item in items {
            let redaction = self.first(sql, params![item, &owner], |row| row.optional_array(0))?.flatten();
            if let Some(redaction) = redaction {
                found.extend(self.find_item(ItemId::from_bytes(redaction))?);
            }
        }
        Ok(found)
    }
}

impl ItemSelection {
    fn includes(&self, position: i64, item_type: &str) -> bool {
        let is_seal = item_type == ItemType::SEAL.as_str();
        match self {
            Self::Facts => !is_seal,
            Self::Local(others) => is_seal || others.contains(&position),
        }
    }
}

fn is_local(item: &Item) -> bool {
    let event = || {
        let document = item.document()?;
        Some(LOCAL_EVENTS.contains(&document.get("event")?.as_str()?))
    };
    let item_type = &item.header.item_type;
    *item_type == ItemType::SEAL || (*item_type == ItemType::SYSTEM_EVENT && event() == Some(true))
}
