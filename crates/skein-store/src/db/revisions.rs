//! Counts the commits that changed more than plain items; caches are valid until the next one.
//!
//! An item itself never changes; what later facts say of it, what records say and how services answered does. Where this
//! process alone can commit, a look at this count is enough to know that none of that happened in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counted before anybody who waits for the commit is told.
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
