//! The engine itself: the store, the blobs, and the little that is remembered between calls.
//!
//! What it can do is in the rooms; this file only opens it and says whether it can work.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use skein_core::{Digest, Viewer};
use skein_store::blobs::Blobs;
use skein_store::store::Statistics;
use skein_store::{DamageStatus, Store, StoreError, Tx};

use tokio::sync::Notify;

use crate::account::{Caller, KeyUses, StartKeys};
use crate::catalog::{EntryCache, Gateway, Schemas};
use crate::compute::Compute;
use crate::error::EngineError;
use crate::flow::{Plans, Streams, WorkerPoolState};
use crate::garden::events::Progress;
use crate::memory::Memory;
use crate::revision_cache::RevisionCache;
use crate::tree::{Growth, PreparedImages};

/// Every use case is a method of this. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Parts>);

/// What an engine is made of.
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) key_uses: KeyUses,
    /// Whose key is whose, by its hash: a program asks many times in a row with the same one.
    pub(crate) known_keys: RevisionCache<Digest, Caller>,
    pub(crate) start_keys: StartKeys,
    pub(crate) progress: Progress,
    pub(crate) gateway: Gateway,
    pub(crate) schemas: Schemas,
    pub(crate) entries: EntryCache,
    pub(crate) plans: Plans,
    pub(crate) streams: Streams,
    pub(crate) worker_pool: WorkerPoolState,
    /// The index of what was said, where this process keeps one.
    pub(crate) memory: OnceLock<Memory>,
    /// Where something was said that is to be summarised.
    pub(crate) growth: Growth,
    /// Does what takes long for a request.
    pub(crate) compute: Compute,
    /// Works out the pixels of images, one at a time: one takes much memory.
    pub(crate) drawing: Compute,
    /// Images as models were sent them.
    pub(crate) sent_images: PreparedImages,
    /// Held by whoever makes the network guard follow what was decided.
    pub(crate) following: tokio::sync::Mutex<()>,
    /// Held by whoever finds out whether a full disk has room again.
    pub(crate) probing: tokio::sync::Mutex<()>,
    /// Rings when a call was queued here.
    pub(crate) called: Notify,
    /// Rings when an operation was cancelled here.
    pub(crate) cancelled: Notify,
    /// Rings when work was queued here, so that it is taken up at once.
    pub(crate) queued: Notify,
}

impl Engine {
    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }
}

impl Engine {
    /// An engine over an open store and its blobs, with a way out.
    pub fn new(store: Store, blobs: Blobs, gateway: Gateway) -> Self {
        let (key_uses, known_keys, start_keys, progress, schemas) = Default::default();
        let (following, called, cancelled, queued, growth) = Default::default();
        let (plans, streams, worker_pool) = Default::default();
        let blobs = blobs.reporting_to(&store);
        Self(Arc::new(Parts {
            store,
            blobs,
            key_uses,
            known_keys,
            start_keys,
            progress,
            gateway,
            schemas,
            entries: EntryCache::default(),
            plans,
            streams,
            worker_pool,
            memory: OnceLock::new(),
            growth,
            compute: Compute::on_this_machine(),
            drawing: Compute::new(NonZeroUsize::MIN),
            sent_images: PreparedImages::default(),
            following,
            probing: tokio::sync::Mutex::default(),
            called,
            cancelled,
            queued,
        }))
    }

    /// Brings in what every installation has, and follows what was decided about the outside.
    pub async fn prepare(&self) -> Result<(), EngineError> {
        self.plant_seeds().await?;
        self.parts().store.write(crate::flow::give_to_all).await?;
        self.correct_nodes().await?;
        self.follow_endpoints().await
    }

    /// Records corrections of node hashes that an earlier version computed otherwise than it verified them. Every store is
    /// looked through once; later starts only read that it was.
    async fn correct_nodes(&self) -> Result<(), EngineError> {
        let store = &self.parts().store;
        let are_corrected = |tx: &mut Tx<'_>| tx.are_nodes_corrected();
        if store.read(are_corrected).await? {
            return Ok(());
        }
        let mut after = None;
        loop {
            after = store.write(move |tx| tx.correct_nodes(after)).await?.value;
            if after.is_none() {
                break;
            }
        }
        let note = |tx: &mut Tx<'_>| tx.note_nodes_corrected();
        store.write(note).await?;
        Ok(())
    }

    /// Where work that takes long for a request is done.
    pub fn compute(&self) -> &Compute {
        &self.0.compute
    }

    /// Whether requests can be answered now, and the damage that does not keep them from being answered.
    ///
    /// A disk that was full is tried again each time this is asked, by one at a time.
    pub async fn ready(&self) -> Result<Option<DamageStatus>, EngineError> {
        let store = &self.0.store;
        store.read(|tx| tx.first_user(&Viewer::System("readiness")).map(drop)).await?;
        let status = store.storage_status();
        if status.damage.is_some_and(|damage| damage.is_database_corrupt) {
            return Err(StoreError::Corrupt("found while serving; the log says where".to_owned()).into());
        }
        if status.is_full {
            self.probe_room().await?;
        }
        Ok(status.damage)
    }

    /// Writes a file and commits a transaction; both have to succeed where a disk was full.
    async fn probe_room(&self) -> Result<(), EngineError> {
        let Ok(_alone) = self.0.probing.try_lock() else { return Err(StoreError::DiskFull.into()) };
        let blobs = self.0.blobs.clone();
        let probed = tokio::task::spawn_blocking(move || blobs.probe_file()).await;
        probed.map_err(|error| StoreError::Panicked(error.to_string()))??;
        self.0.store.probe_commit().await?;
        self.0.store.note_disk_usage();
        Ok(())
    }

    /// Takes note of a failure to write or read a file of a request, if it says something about the storage.
    pub fn report_storage(&self, error: &StoreError) {
        self.0.store.report(error);
    }

    /// How often something was revised, where that alone tells whether what was read before still holds.
    pub fn revisions_here(&self) -> Option<u64> {
        self.0.store.revisions_here()
    }

    /// What the store has done since it was opened.
    pub fn statistics(&self) -> Statistics {
        self.0.store.statistics()
    }
}
