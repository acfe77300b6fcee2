//! Counts the blobs and their bytes.
//!
//! Only a walk through all of them tells, so they are counted seldom, and by one at a time; other callers get what was
//! counted before.

use std::sync::{Arc, Mutex, PoisonError};

use futures::TryStreamExt as _;
use skein_core::Millis;

use super::{Blobs, failed, named_by};
use crate::error::StoreError;

/// What was counted is not counted again for so long.
pub const COUNT_KEPT_MS: i64 = 10 * 60 * 1_000;

/// The objects there were when they were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobTotals {
    pub objects: u64,
    pub bytes: u64,
    pub counted_at: Millis,
}

#[derive(Default)]
pub(super) struct BlobCount {
    last: Mutex<Option<BlobTotals>>,
    /// Held during a count; no caller waits for it.
    counting: Arc<tokio::sync::Mutex<()>>,
}

impl BlobCount {
    fn last(&self) -> Option<BlobTotals> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blobs {
    /// How much there is, as it was counted lately; nothing while it is counted for the first time.
    pub async fn amount(&self, now: Millis) -> Result<Option<BlobTotals>, StoreError> {
        let last = self.counted.last();
        if last.is_some_and(|last| now.0 - last.counted_at.0 < COUNT_KEPT_MS) {
            return Ok(last);
        }
        let Ok(alone) = Arc::clone(&self.counted.counting).try_lock_owned() else { return Ok(last) };
        let blobs = self.clone();
        // The caller may go away; the next one uses the count that was begun.
        let counting = tokio::spawn(async move {
            let counted = blobs.count(now).await;
            drop(alone);
            counted
        });
        counting.await.map_err(|error| StoreError::Panicked(error.to_string()))?.map(Some)
    }

    async fn count(&self, now: Millis) -> Result<BlobTotals, StoreError> {
        let mut amount = BlobTotals { objects: 0, bytes: 0, counted_at: now };
        let mut objects = self.objects.list(None);
        while let Some(object) = objects.try_next().await.map_err(|error| failed(&error))? {
            if named_by(&object).is_some() {
                amount.objects += 1;
                amount.bytes += object.size;
            }
        }
        *self.counted.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(amount);
        Ok(amount)
    }
}
