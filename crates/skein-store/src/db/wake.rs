//! Wakes followers of the timeline after commits, and workers when jobs are ready.

use std::sync::Arc;

use tokio::sync::watch;

/// A signal that coalesces: much happened, one look.
#[derive(Debug, Clone)]
pub struct Wake(Arc<watch::Sender<u64>>);

impl Default for Wake {
    fn default() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }
}

impl Wake {
    pub(crate) fn wake(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Resolves with `changed()` whenever there may be something to see.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// The signals of one store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wakes {
    pub(crate) timeline: Wake,
    pub(crate) jobs: Wake,
}
