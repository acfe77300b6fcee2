//! What is remembered, and how it is found again.
//!
//! Two followers of the timeline work behind whoever talks: one makes episodes in the store, the other carries them into the
//! index of this server. Neither is waited for; whoever asks is told how far they have come.

mod episodes;
mod follow;
mod judge;
mod recall;
mod retell;
mod scope;
mod standing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::Viewer;
use skein_core::garden::cursor::Cursor;
use skein_recall::{Embedder, Index, OpenError, Options, StaticTable};

use crate::engine::Engine;

pub use episodes::{BroughtEpisode, EpisodeStatus, KeptEpisode, ShownEpisode};
pub use follow::Progressed;
pub(crate) use follow::follow;
pub use recall::{FoundEpisode, Recalled, Searched, SearchedBy, Where};
pub use scope::RecallQuery;
pub use skein_recall::{Parts, Snippet, Weights};
pub use standing::{IndexState, OwnerState, Rebuilding};

const SYSTEM: Viewer = Viewer::System("memory");

/// The index of this server, and what follows the timeline into it.
pub(crate) struct Memory {
    folder: PathBuf,
    embedder: Arc<dyn Embedder>,
    index: Mutex<Option<Arc<Index>>>,
    /// Held while the index is opened, which may take a while; nobody else waits for it.
    opening: Mutex<()>,
    /// Whether everything there was has been looked at once: until then an index tells too little.
    has_caught_up: AtomicBool,
    /// Everything up to here was looked at; the index itself is told only where it matters.
    looked_at: Mutex<Cursor>,
    /// Held by whoever takes the next step.
    stepping: tokio::sync::Mutex<()>,
    /// Whether somebody follows the timeline in the background.
    is_followed: AtomicBool,
}

impl Engine {
    /// Keeps an index in a folder of its own, with the built-in table for meaning.
    pub fn remember_in(&self, folder: PathBuf) {
        self.remember_with(folder, Arc::new(StaticTable));
    }

    /// [`Self::remember_in`] with another way to make vectors.
    pub fn remember_with(&self, folder: PathBuf, embedder: Arc<dyn Embedder>) {
        let memory = Memory {
            folder,
            embedder,
            index: Mutex::default(),
            opening: Mutex::default(),
            has_caught_up: AtomicBool::default(),
            looked_at: Mutex::default(),
            stepping: tokio::sync::Mutex::default(),
            is_followed: AtomicBool::default(),
        };
        // Whoever said so first is right.
        let _ = self.parts().memory.set(memory);
    }
}

impl Memory {
    fn has_caught_up(&self) -> bool {
        self.has_caught_up.load(Ordering::Relaxed)
    }

    fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Relaxed)
    }

    fn opened(&self) -> Option<Arc<Index>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The index, opened if it is not; one that is damaged or was made by another embedder is begun anew.
    /// So is one that has come further than the timeline: it belongs to another store, or to a later state of this one.
    fn open(&self, end: Cursor) -> Result<Arc<Index>, OpenError> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.opened() {
            return Ok(index);
        }
        let options = Options::of(&*self.embedder);
        let index = match Index::open(&self.folder, &options) {
            Err(error) if error.asks_for_rebuild() => {
                tracing::warn!(%error, "the index is built again from the timeline");
                self.anew(&options)?
            }
            Ok(index) if index.cursor() > end => {
                tracing::warn!("the index knows more than the timeline and is built again from it");
                drop(index);
                self.anew(&options)?
            }
            opened => opened?,
        };
        let index = Arc::new(index);
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = index.cursor();
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&index));
        Ok(index)
    }

    fn anew(&self, options: &Options) -> Result<Index, OpenError> {
        Index::remove(&self.folder)?;
        Index::open(&self.folder, options)
    }

    /// Lets go of an index that cannot be used any more; it is opened again when it is needed.
    fn close(&self) {
        self.has_caught_up.store(false, Ordering::Relaxed);
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn looked_at(&self) -> Cursor {
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_on(&self, cursor: Cursor) {
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        *looked_at = cursor.max(*looked_at);
    }
}
