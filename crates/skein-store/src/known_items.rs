//! Items as they were at the last look, for as long as nothing was revised since.
//!
//! An item itself never changes; what later facts say of it (undone, redacted, its time corrected) does, and so does
//! its payload when it is destroyed. Where this process alone can commit, a look at the count of revisions is enough to
//! know that none of that happened in between. Elsewhere nothing is remembered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::ItemId;

use crate::items::StoredItem;

const ITEMS_MAX: usize = 1_024;
/// Larger payloads are read again each time.
const PAYLOAD_BYTES_MAX: usize = 8 << 10;

/// How often something other than a plain fact was committed; counted before anybody who waits for it is told.
#[derive(Clone, Default)]
pub(crate) struct Revisions(Arc<AtomicU64>);

impl Revisions {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

pub(crate) struct KnownItems {
    revisions: Revisions,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// After how many revisions they were read.
    revisions: u64,
    items: HashMap<ItemId, StoredItem>,
}

impl Known {
    fn keep_since(&mut self, revisions: u64) {
        if self.revisions != revisions {
            self.items.clear();
            self.revisions = revisions;
        }
    }
}

impl KnownItems {
    pub(crate) fn new(revisions: Revisions) -> Self {
        Self { revisions, known: Mutex::default() }
    }

    /// To be asked before an item is read that is to be remembered.
    pub(crate) fn revisions(&self) -> u64 {
        self.revisions.count()
    }

    pub(crate) fn find(&self, id: ItemId) -> Option<StoredItem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keep_since(self.revisions.count());
        known.items.get(&id).cloned()
    }

    /// Remembers what was read after `revisions` had been counted.
    pub(crate) fn remember(&self, revisions: u64, stored: &StoredItem) {
        let is_small = stored.item.payload.as_ref().is_none_or(|payload| payload.bytes().len() <= PAYLOAD_BYTES_MAX);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keep_since(self.revisions.count());
        if !is_small || known.revisions != revisions {
            return;
        }
        if known.items.len() >= ITEMS_MAX {
            known.items.clear();
        }
        known.items.insert(stored.item.header.id, stored.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use skein_core::garden::cursor::Cursor;
    use skein_core::garden::item::{ItemDraft, ItemType};
    use skein_core::id::Entropy;
    use skein_core::{Millis, UserId};

    use super::*;

    fn stored(number: u8) -> StoredItem {
        let data = Map::from_iter([("description".to_owned(), "a note".into())]);
        let draft = ItemDraft::stated(ItemType::NOTE, data, None).unwrap();
        let id = ItemId::new(Millis(1), Entropy([number; 10]));
        let item = draft.realize(id, UserId::from_bytes([1; 16]), Millis(1));
        StoredItem { canonical_at: Millis(1), item, cursor: Cursor::START, tombstone: None }
    }

    #[test]
    fn what_was_read_holds_until_the_next_revision() {
        let revisions = Revisions::default();
        let (known, item) = (KnownItems::new(revisions.clone()), stored(1));
        known.remember(known.revisions(), &item);
        assert_eq!(known.find(item.item.header.id), Some(item.clone()));
        revisions.add();
        assert_eq!(known.find(item.item.header.id), None);
    }

    #[test]
    fn what_was_read_before_a_revision_is_not_remembered_after_it() {
        let revisions = Revisions::default();
        let (known, item) = (KnownItems::new(revisions.clone()), stored(1));
        let before = known.revisions();
        revisions.add();
        known.remember(before, &item);
        assert_eq!(known.find(item.item.header.id), None);
    }

    #[test]
    fn not_more_than_a_limit_is_remembered() {
        let known = KnownItems::new(Revisions::default());
        for number in 0..=u8::MAX {
            for turn in 0..5 {
                let mut item = stored(number);
                item.item.header.id = ItemId::new(Millis(turn), Entropy([number; 10]));
                known.remember(0, &item);
            }
        }
        assert!(known.known.lock().unwrap().items.len() <= ITEMS_MAX);
    }
}
