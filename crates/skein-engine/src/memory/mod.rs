//! Ingests episodes and recalls them.
//!
//! Two followers of the timeline work behind whoever talks: one makes episodes in the store, the other carries them into the
//! index of this server. Neither is waited for; whoever asks is told how far they have come. Vectors may come later still:
//! see [`embedder`].

pub mod embedder;
mod embedder_backoff;
mod embedder_switch;
mod episodes;
pub(crate) mod follower;
mod index_status;
mod main_paths;
mod query_vectors;
mod recall;
mod reindex;
mod scope;
mod unused_vectors;
mod vectors;
mod visibility;
pub(crate) mod word_search;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::Viewer;
use skein_core::garden::cursor::Cursor;
use skein_recall::{Embedder as _, Fingerprint, Index, OpenError, Options, StaticTable};

use crate::engine::Engine;

pub use embedder::{Embedding, EndpointOptions};
pub use embedder_backoff::{EmbeddingCounts, EmbeddingFailure, SwitchProgress};
pub use episodes::{EpisodeImport, EpisodeImportResult, EpisodeStatus, ShownEpisode};
pub use follower::FollowStep;
pub(crate) use follower::follow;
pub use index_status::{IndexState, OwnerState, Rebuild, Rebuilding};
pub use recall::{FoundEpisode, HitLocation, Recalled, SearchExtent, SearchedBy};
pub use scope::RecallQuery;
pub use skein_recall::{Parts, Snippet, Weights};
pub use skein_store::memory::UnindexableEpisode;
pub use vectors::{EmbedStep, SemanticSearch};

/// So many items are taken into an index in a moment.
const NEARLY_ITEMS_MAX: i64 = 1_000;

const SYSTEM: Viewer = Viewer::System("memory");

/// The index of this server, and what follows the timeline into it.
pub(crate) struct Memory {
    folder: PathBuf,
    /// Who is to make the vectors; those of the index may still be somebody else's.
    embedding: Embedding,
    index: Mutex<Option<Arc<Index>>>,
    /// What is built to take its place, when somebody else is to make the vectors. Held by whoever makes some.
    next: tokio::sync::Mutex<Option<Arc<Index>>>,
    /// Whether something was destroyed that is in it.
    is_next_spoilt: AtomicBool,
    troubles: embedder_backoff::EmbedderBackoff,
    upkeep: Mutex<unused_vectors::Upkeep>,
    asked: Mutex<query_vectors::QueryVectorCache>,
    /// Held while the index is opened, which may take a while; nobody else waits for it.
    opening: Mutex<()>,
    /// Shared with whoever reads the store.
    paths: Arc<main_paths::Paths>,
    /// Whether the index holds nothing of what was said before, and will not for a while.
    is_anew: AtomicBool,
    /// Whether everything there was has been looked at once: until then an index tells too little.
    has_caught_up: AtomicBool,
    /// The end of the timeline when the index was opened.
    end_at_opening: Mutex<Cursor>,
    /// Everything up to here was looked at; the index itself is told only where it matters.
    looked_at: Mutex<Cursor>,
    /// Held by whoever takes the next step.
    stepping: tokio::sync::Mutex<()>,
    /// Whether somebody follows the timeline in the background.
    is_followed: AtomicBool,
    /// Why whoever does came no further when last tried.
    stuck: Mutex<Option<String>>,
}

impl Engine {
    /// Keeps an index in a folder of its own, with the built-in table for meaning.
    pub fn remember_in(&self, folder: PathBuf) {
        self.remember_with(folder, Embedding::BuiltIn);
    }

    /// [`Self::remember_in`] with another way to make vectors.
    pub fn remember_with(&self, folder: PathBuf, embedding: Embedding) {
        let is_anew = AtomicBool::new(Index::options(&folder).is_none());
        let memory = Memory {
            folder,
            embedding,
            index: Mutex::default(),
            next: tokio::sync::Mutex::default(),
            is_next_spoilt: AtomicBool::default(),
            troubles: embedder_backoff::EmbedderBackoff::default(),
            upkeep: Mutex::default(),
            asked: Mutex::default(),
            opening: Mutex::default(),
            paths: Arc::default(),
            is_anew,
            has_caught_up: AtomicBool::default(),
            end_at_opening: Mutex::default(),
            looked_at: Mutex::default(),
            stepping: tokio::sync::Mutex::default(),
            is_followed: AtomicBool::default(),
            stuck: Mutex::default(),
        };
        // Whoever said so first is right.
        let _ = self.parts().memory.set(memory);
    }
}

impl Memory {
    fn has_caught_up(&self) -> bool {
        self.has_caught_up.load(Ordering::Relaxed)
    }

    /// Whether an index that is there will answer soon: it is being opened, or lacks only what was said last.
    fn is_nearly_there(&self, end: Cursor) -> bool {
        let lacks = || end.position.saturating_sub(self.looked_at().position);
        let is_near = self.opened().is_none_or(|_| lacks() <= NEARLY_ITEMS_MAX);
        is_near && !self.has_caught_up() && !self.is_anew.load(Ordering::Relaxed)
    }

    fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Relaxed)
    }

    fn stuck(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) -> Option<Arc<Index>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The index, opened if it is not, with whosever vectors it has; one that is damaged is begun anew.
    /// So is one that has come further than the timeline: it belongs to another store, or to a later state of this one.
    /// A new one is of who is configured if that one has made vectors before, else of the built-in table for a while.
    fn open(&self, end: Cursor, dimensions: Option<usize>) -> Result<Arc<Index>, OpenError> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        self.end_swap()?;
        let configured = dimensions.map(|dimensions| Options::new(self.embedding.fingerprint(), dimensions));
        let fresh = configured.unwrap_or_else(|| Options::of(&StaticTable));
        let options = Index::options(&self.folder).unwrap_or_else(|| fresh.clone());
        let index = match Index::open(&self.folder, &options) {
            Err(error) if error.asks_for_rebuild() => {
                tracing::warn!(%error, "the index is built again from the timeline");
                self.anew(&fresh)?
            }
            Ok(index) if index.cursor() > end => {
                tracing::warn!("the index knows more than the timeline and is built again from it");
                drop(index);
                self.anew(&fresh)?
            }
            opened => opened?,
        };
        let index = Arc::new(index);
        self.has_caught_up.store(false, Ordering::Relaxed);
        *self.end_at_opening.lock().unwrap_or_else(PoisonError::into_inner) = end;
        self.serve(Arc::clone(&index));
        Ok(index)
    }

    /// Whether this is the index that serves.
    fn serves(&self, index: &Arc<Index>) -> bool {
        self.opened().is_some_and(|serving| Arc::ptr_eq(&serving, index))
    }

    /// Whether what somebody said is still being filed under another name.
    fn is_retelling(&self) -> bool {
        self.opened().is_some_and(|index| index.reindexing().is_some())
    }

    fn serve(&self, index: Arc<Index>) {
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = index.cursor();
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(index);
    }

    /// Who makes vectors that can be compared with those of an index.
    fn maker_of(&self, fingerprint: &Fingerprint) -> Option<Embedding> {
        if *fingerprint == self.embedding.fingerprint() {
            return Some(self.embedding.clone());
        }
        (*fingerprint == StaticTable.fingerprint()).then_some(Embedding::BuiltIn)
    }

    fn anew(&self, options: &Options) -> Result<Index, OpenError> {
        self.is_anew.store(true, Ordering::Relaxed);
        Index::remove(&self.folder)?;
        Index::open(&self.folder, options)
    }

    /// Takes the index away. Nobody opens it meanwhile.
    fn remove(&self) -> Result<(), OpenError> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        self.close();
        self.is_anew.store(true, Ordering::Relaxed);
        Index::remove(&self.folder)
    }

    /// Lets go of an index that cannot be used any more; it is opened again when it is needed.
    fn close(&self) {
        if self.has_caught_up.swap(false, Ordering::Relaxed) {
            self.is_anew.store(false, Ordering::Relaxed);
        }
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn looked_at(&self) -> Cursor {
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_on(&self, cursor: Cursor) {
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        *looked_at = cursor.max(*looked_at);
        // Where somebody always writes, the end of all there is may never be met.
        if *looked_at >= *self.end_at_opening.lock().unwrap_or_else(PoisonError::into_inner) {
            self.has_caught_up.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skein_connect::guard::Guard;
    use skein_connect::http::HttpOptions;
    use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
    use skein_store::blobs::Blobs;
    use skein_store::{Location, Store, StoreOptions};

    use super::*;
    use crate::account::{Caller, KeyText, PresentedCredential};
    use crate::catalog::{EphemeralKeys, Gateway};
    use crate::request::Request;

    async fn open(folder: &std::path::Path) -> (Engine, Caller) {
        let store = Store::open(StoreOptions::at(Location::Directory(folder.to_owned()))).unwrap();
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default());
        let engine = Engine::new(store, Blobs::directory(&folder.join("blobs")).unwrap(), gateway.unwrap());
        engine.remember_in(folder.join("index"));
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap();
        // As if somebody were about to open it.
        engine.parts().memory.get().unwrap().is_followed.store(true, Ordering::Relaxed);
        (engine, caller)
    }

    async fn searched_by(engine: &Engine, caller: &Caller) -> SearchedBy {
        let query = RecallQuery { text: "heron".to_owned(), limit: 10, ..RecallQuery::default() };
        let recalled = engine.recall(caller, query).await.unwrap();
        assert_eq!(recalled.page.rows.len(), 1);
        recalled.searched.by
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_index_that_is_there_is_waited_for_and_one_that_is_built_again_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (engine, caller) = open(folder.path()).await;
        let content = json!("The heron stands in the reeds.");
        let brought = ImportedEpisode { source: EpisodeSource::Text, content, speaker: None, node_id: None };
        let request = Request::new(&caller, &"00000000-0000-4000-8000-000000000000".parse().unwrap(), "POST", "/", b"");
        engine.import_episode(&caller, request, EpisodeImport { brought, said_at: None }).await.unwrap();
        assert_eq!(searched_by(&engine, &caller).await, SearchedBy::Words, "there is none yet");
        engine.remember_all().await.unwrap();
        drop(engine);
        let (engine, caller) = open(folder.path()).await;
        assert_eq!(searched_by(&engine, &caller).await, SearchedBy::Index, "it is there and not open");
        engine.parts().memory.get().unwrap().close();
        assert_eq!(searched_by(&engine, &caller).await, SearchedBy::Index, "it was closed");
        engine.forget_index().await.unwrap();
        assert_eq!(searched_by(&engine, &caller).await, SearchedBy::Words, "it was taken away");
        engine.remember_all().await.unwrap();
        assert_eq!(searched_by(&engine, &caller).await, SearchedBy::Index, "it was built again");
    }
}
