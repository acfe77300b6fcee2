//! Counts the size of a bundle before it is written; an export that no import would take does not begin.
//!
//! Objects are counted exactly, since a bundle holds them as they are. Lines are counted as they are stored: a bundle
//! compresses them, and by how much nobody knows before.

use std::collections::BTreeSet;

use skein_core::garden::item::ItemType;
use skein_core::{ItemId, UserId, Viewer};

use super::{BYTES_MAX, BadBundle, ConversationSelection, ENTRIES_MAX};
use crate::db::sql::{Row, params};
use crate::error::StoreError;
use crate::store::Store;
use crate::timeline::items::DEFLATED;
use crate::tx::Tx;

/// Items looked at in one read.
const ITEMS_PER_READ: usize = 4_096;
/// Items of a selection looked at in one read, each by its id.
const SELECTED_PER_READ: usize = 512;
/// Entries beside the objects: the manifest and six parts at most.
const ENTRIES_BESIDE: u64 = 7;
/// Bytes of an entry's headers.
const ENTRY_BYTES: u64 = 512;
/// Bytes of a line beside its payload.
const LINE_BYTES: u64 = 1 << 10;
/// What a delta says is in its line and in that of its record.
const DELTA_FACTOR: u64 = 2;
/// Raw bytes are stored compressed. In base64 they compress less, and three times as large is more than was ever seen.
const RAW_FACTOR: u64 = 3;

/// The entries of a bundle and the bytes it has at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportSize {
    pub entries: u64,
    pub bytes: u64,
}

/// What one read found.
struct Counted<P> {
    objects: Vec<([u8; 32], u64)>,
    bytes: u64,
    next: Option<P>,
}

impl ExportSize {
    /// Counts what a bundle of everything of an owner would hold.
    pub fn of_owner(store: &Store, viewer: &Viewer, owner: UserId) -> Result<Self, StoreError> {
        let mut total = Total::default();
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let viewer = viewer.clone();
            let counted = store.read_blocking(move |tx| tx.count_lines(&viewer, owner, after))?;
            match total.add(counted) {
                Some(next) => after = next,
                None => return Ok(total.size()),
            }
        }
    }

    /// Counts what a bundle of one conversation would hold.
    pub fn of_selection(store: &Store, viewer: &Viewer, only: &ConversationSelection) -> Result<Self, StoreError> {
        let mut total = Total::default();
        let items: Vec<ItemId> = only.items().collect();
        for chunk in items.chunks(SELECTED_PER_READ) {
            let (viewer, chunk) = (viewer.clone(), chunk.to_vec());
            total.add(store.read_blocking(move |tx| tx.count_selected(&viewer, &chunk))?);
        }
        Ok(total.size())
    }

    /// Refuses what no import takes; `remedy` says what to do.
    pub fn refuse_too_large(self, remedy: &'static str) -> Result<(), BadBundle> {
        let Self { entries, bytes } = self;
        if entries > ENTRIES_MAX {
            let problem = format!("it would have {entries} entries, and an import takes at most {ENTRIES_MAX}");
            return Err(BadBundle::ExportTooLarge { problem, remedy });
        }
        if bytes > BYTES_MAX {
            let problem = format!("it could have {bytes} bytes, and an import takes at most {BYTES_MAX}");
            return Err(BadBundle::ExportTooLarge { problem, remedy });
        }
        Ok(())
    }
}

#[derive(Default)]
struct Total {
    hashes: BTreeSet<[u8; 32]>,
    bytes: u64,
}

impl Total {
    /// Each object counts once, however often it is attached. Beyond the limits it does not matter by how much.
    fn add<P>(&mut self, counted: Counted<P>) -> Option<P> {
        self.bytes += counted.bytes;
        for (hash, bytes) in counted.objects {
            if self.hashes.insert(hash) {
                self.bytes += bytes + ENTRY_BYTES;
            }
        }
        counted.next.filter(|_| self.hashes.len() as u64 <= ENTRIES_MAX && self.bytes <= BYTES_MAX)
    }

    fn size(&self) -> ExportSize {
        let bytes = self.bytes + ENTRIES_BESIDE * ENTRY_BYTES;
        ExportSize { entries: self.hashes.len() as u64 + ENTRIES_BESIDE, bytes }
    }
}

const COLUMNS: &str = "i.encoding, CAST(length(i.payload) AS BIGINT), b.hash, b.size, i.type";

impl Tx<'_> {
    fn count_lines(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        after: (i64, i64),
    ) -> Result<Counted<(i64, i64)>, StoreError> {
        self.refuse_stranger(viewer, owner)?;
        let sql = format!(
            "SELECT {COLUMNS}, i.realized_at, i.position FROM items i LEFT JOIN blobs b ON b.item = i.id
             WHERE i.owner = ?1 AND (i.realized_at, i.position) > (?2, ?3)
             ORDER BY i.realized_at, i.position LIMIT ?4"
        );
        let limit = i64::try_from(ITEMS_PER_READ).expect("pages are small");
        let bound = params![&owner, after.0, after.1, limit];
        let rows = self.all(&sql, bound, |row| Ok((read(row)?, (row.int(5)?, row.int(6)?))))?;
        let next = rows.last().filter(|_| rows.len() == ITEMS_PER_READ).map(|(_, at)| *at);
        let mut counted = Counted { objects: Vec::new(), bytes: 0, next };
        for (line, _) in rows {
            counted.add(line);
        }
        Ok(counted)
    }

    fn count_selected(&mut self, viewer: &Viewer, items: &[ItemId]) -> Result<Counted<()>, StoreError> {
        let now = self.now();
        let sql = format!("SELECT {COLUMNS}, i.owner FROM items i LEFT JOIN blobs b ON b.item = i.id WHERE i.id = ?1");
        let mut counted = Counted { objects: Vec::new(), bytes: 0, next: None };
        for item in items {
            let line = self.first(&sql, params![item], |row| Ok((read(row)?, UserId::from_bytes(row.array(5)?))))?;
            if let Some((line, _)) = line.filter(|(_, owner)| viewer.may_read(*owner, now)) {
                counted.add(line);
            }
        }
        Ok(counted)
    }
}

/// An item's line and the object that it attaches.
struct Line {
    bytes: u64,
    object: Option<([u8; 32], u64)>,
}

fn read(row: &dyn Row) -> Result<Line, crate::error::SqlError> {
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let stored = number(row.optional_int(1)?.unwrap_or(0));
    let factor = match (row.int(0)?, row.text(4)?) {
        (DEFLATED, _) => RAW_FACTOR,
        (_, item_type) if item_type == ItemType::ENTITY_DELTA.as_str() => DELTA_FACTOR,
        _ => 1,
    };
    let hash = row.optional_array(2)?;
    let size = number(row.optional_int(3)?.unwrap_or(0));
    Ok(Line { bytes: stored * factor + LINE_BYTES, object: hash.map(|hash| (hash, size)) })
}

impl<P> Counted<P> {
    fn add(&mut self, Line { bytes, object }: Line) {
        self.bytes += bytes;
        self.objects.extend(object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_at_the_limit_is_taken_and_one_more_is_refused_with_a_remedy() {
        let at_most = ExportSize { entries: ENTRIES_MAX, bytes: BYTES_MAX };
        assert_eq!(at_most.refuse_too_large("do this"), Ok(()));
        for over in [ExportSize { entries: ENTRIES_MAX + 1, ..at_most }, ExportSize { bytes: BYTES_MAX + 1, ..at_most }]
        {
            let refused = over.refuse_too_large("do this").unwrap_err().to_string();
            assert!(refused.contains("an import takes at most") && refused.ends_with("do this"), "{refused}");
        }
    }

    #[test]
    fn objects_beyond_the_entries_end_the_count() {
        let mut total = Total::default();
        let object = |number: u64| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            (hash, 1)
        };
        let page = |objects: Vec<_>| Counted { objects, bytes: 0, next: Some(()) };
        assert_eq!(total.add(page((0..ENTRIES_MAX).map(object).collect())), Some(()));
        assert_eq!(total.add(page((0..ENTRIES_MAX).map(object).collect())), Some(()), "the same ones again");
        assert_eq!(total.add(page(vec![object(ENTRIES_MAX)])), None);
        assert!(total.size().refuse_too_large("do this").is_err());
    }
}
