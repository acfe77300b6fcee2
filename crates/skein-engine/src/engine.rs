//! The engine itself: the store and the little that is remembered between calls.
//!
//! What it can do is in the rooms; this file only opens it and says whether it can work.

use std::sync::Arc;

use skein_core::Viewer;
use skein_store::Store;

use crate::account::KeyUses;
use crate::error::EngineError;

/// Every use case is a method of this. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) key_uses: Arc<KeyUses>,
}

impl Engine {
    /// An engine over an open store.
    pub fn new(store: Store) -> Self {
        Self { store, key_uses: Arc::default() }
    }

    /// Whether requests can be answered now.
    pub async fn ready(&self) -> Result<(), EngineError> {
        self.store.read(|tx| tx.first_user(&Viewer::System("readiness")).map(drop)).await?;
        Ok(())
    }
}
