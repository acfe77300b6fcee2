//! From one embedder to another: an index of the new one's vectors is built beside the one that serves, and takes its place
//! when it knows as much.
//!
//! What is being built is a folder of its own with a cursor of its own, so it goes on where a process that died left it. It
//! takes its place in two renamings; whoever finds only the first one done does the second.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use skein_core::garden::cursor::Cursor;
use skein_recall::{Change, Index, OpenError, Options};
use skein_store::Tx;
use skein_store::memory::IndexChange;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::embedder_backoff::SwitchProgress;
use crate::memory::follower::{blocking, changes, next, unusable};
use crate::memory::vectors::{EmbedStep, EmbeddingRequest, given, made};
use crate::memory::{Memory, SYSTEM};

/// Items of one step, so that it is seen how far it has come.
const ITEMS_MAX: usize = 512;

impl Engine {
    /// Takes the next step towards an index of what is configured.
    pub(super) async fn switch(
        &self,
        memory: &Memory,
        being_built: &mut Option<Arc<Index>>,
    ) -> Result<EmbedStep, EngineError> {
        let index = match being_built {
            Some(index) => Arc::clone(index),
            None => match self.begin_switch(memory).await? {
                Ok(index) => Arc::clone(being_built.insert(index)),
                Err(later) => return Ok(later),
            },
        };
        match self.retell_some(memory, &index).await {
            Ok(true) => return Ok(EmbedStep::Done),
            Ok(false) => {}
            Err(error) => {
                *being_built = None;
                return Err(error);
            }
        }
        let after = index.cursor();
        let (followed, cursor, names) = self.parts().store.read(move |tx| next(tx, after, ITEMS_MAX)).await?;
        if cursor == after {
            // Only what nobody else holds can be opened at another place.
            drop(index);
            self.take_over(memory, being_built).await?;
            return Ok(EmbedStep::Done);
        }
        self.note_renamed(memory, &index, &followed).await?;
        let is_destroyed = has_destroyed(&followed);
        let changes = blocking(move || changes(followed, &names)).await?;
        let wanted: Vec<EmbeddingRequest> = made(&changes).map(EmbeddingRequest::of).collect();
        let vectors = match self.make(memory, index.dimensions(), &wanted).await? {
            Ok(vectors) => vectors,
            Err(why) => return Ok(EmbedStep::Later(memory.troubles.failed(why, Instant::now()))),
        };
        let applied = apply(Arc::clone(&index), given(changes, vectors), cursor, is_destroyed).await;
        if applied.is_err() {
            *being_built = None;
        }
        applied?;
        tell(memory, &index);
        Ok(EmbedStep::Done)
    }

    /// Gives up what is being built, because something in it was destroyed: whoever builds goes on when somebody makes vectors
    /// again, and that may be long. The vectors that were made are kept in the store. Whoever is at it gives it up next.
    pub(super) async fn forget_next(&self) -> Result<(), EngineError> {
        let engine = self.clone();
        let forget = move || {
            let Some(memory) = engine.parts().memory.get() else { return };
            memory.is_next_spoilt.store(true, Ordering::Relaxed);
            if let Ok(mut next) = memory.next.try_lock() {
                memory.drop_spoilt(&mut next);
            }
        };
        blocking(forget).await
    }

    /// Opens what is being built, as soon as it is known how long its vectors are.
    async fn begin_switch(&self, memory: &Memory) -> Result<Result<Arc<Index>, EmbedStep>, EngineError> {
        let dimensions = match self.proven_dimensions(memory).await? {
            Some(dimensions) => Ok(dimensions),
            None => memory.embedding.learn_dimensions().await,
        };
        let dimensions = match dimensions {
            Ok(dimensions) => dimensions,
            Err(why) => return Ok(Err(EmbedStep::Later(memory.troubles.failed(why, Instant::now())))),
        };
        let options = Options::new(memory.embedding.fingerprint(), dimensions);
        let (folder, end) = (memory.next_folder(), self.parts().store.read(|tx| tx.end(&SYSTEM)).await?);
        tracing::info!(to = options.fingerprint.as_str(), "vectors are made by another embedder from now on");
        let index = Arc::new(blocking(move || resumed(&folder, &options, end)).await?.map_err(unusable)?);
        tell(memory, &index);
        Ok(Ok(index))
    }

    /// How long the vectors of what is configured are, if it ever made one.
    pub(super) async fn proven_dimensions(&self, memory: &Memory) -> Result<Option<usize>, EngineError> {
        let fingerprint = memory.embedding.fingerprint();
        let look = move |tx: &mut Tx<'_>| tx.vector_bytes(&SYSTEM, fingerprint.as_str());
        // Four bytes more than it has numbers.
        Ok(self.parts().store.read(look).await?.and_then(|bytes| bytes.checked_sub(4)))
    }

    /// Brings what was built up to date and lets it serve. What comes meanwhile gets its vectors later.
    async fn take_over(&self, memory: &Memory, built: &mut Option<Arc<Index>>) -> Result<(), EngineError> {
        let _one_at_a_time = memory.stepping.lock().await;
        let Some(index) = built.take() else { return Ok(()) };
        loop {
            let after = index.cursor();
            let (followed, cursor, names) = self.parts().store.read(move |tx| next(tx, after, ITEMS_MAX)).await?;
            if cursor == after {
                break;
            }
            self.note_renamed(memory, &index, &followed).await?;
            let is_destroyed = has_destroyed(&followed);
            let changes = blocking(move || changes(followed, &names)).await?;
            let changes = self.with_vectors(memory, &index, changes).await?;
            apply(Arc::clone(&index), changes, cursor, is_destroyed).await?;
        }
        let engine = self.clone();
        let swap = move || engine.parts().memory.get().map_or(Ok(()), |memory| memory.swap(index));
        blocking(swap).await?.map_err(unusable)?;
        memory.troubles.switched_so_far(None);
        tracing::info!("the vectors of another embedder serve from now on");
        Ok(())
    }
}

fn has_destroyed(followed: &[IndexChange]) -> bool {
    followed.iter().any(|followed| matches!(followed, IndexChange::Destroyed { .. }))
}

async fn apply(index: Arc<Index>, changes: Vec<Change>, cursor: Cursor, is_destroyed: bool) -> Result<(), EngineError> {
    let apply =
        move || if is_destroyed { index.apply_for_good(&changes, cursor) } else { index.apply(&changes, cursor) };
    blocking(apply).await?.map_err(unusable)
}

fn tell(memory: &Memory, index: &Index) {
    let to = index.fingerprint().as_str().to_owned();
    let (cursor, episodes) = (index.cursor(), index.totals().episodes);
    memory.troubles.switched_so_far(Some(SwitchProgress { to, cursor, episodes }));
}

/// What was begun before, if it is of the same make and not of another timeline.
fn resumed(folder: &Path, options: &Options, end: Cursor) -> Result<Index, OpenError> {
    if Index::options(folder).as_ref() != Some(options) {
        Index::remove(folder)?;
    }
    match Index::open(folder, options) {
        Ok(index) if index.cursor() <= end => return Ok(index),
        Ok(_) => {}
        Err(error) if error.asks_for_rebuild() => {}
        failed => return failed,
    }
    Index::remove(folder)?;
    Index::open(folder, options)
}

impl Memory {
    /// Where an index of another embedder is built.
    pub(super) fn next_folder(&self) -> PathBuf {
        self.folder.with_extension("next")
    }

    fn old_folder(&self) -> PathBuf {
        self.folder.with_extension("old")
    }

    /// [`Self::drop_next`] if something in it was destroyed.
    pub(super) fn drop_spoilt(&self, being_built: &mut Option<Arc<Index>>) {
        if self.is_next_spoilt.swap(false, Ordering::Relaxed) {
            self.drop_next(being_built);
        }
    }

    /// Gives up what was being built.
    pub(super) fn drop_next(&self, being_built: &mut Option<Arc<Index>>) {
        drop(being_built.take());
        self.troubles.switched_so_far(None);
        let folder = self.next_folder();
        if folder.exists()
            && let Err(error) = Index::remove(&folder)
        {
            tracing::warn!(%error, "an index that is not needed could not be removed");
        }
    }

    /// Lets what was built take the place of the index that served. Whoever asks meanwhile is answered by that.
    fn swap(&self, built: Arc<Index>) -> Result<(), OpenError> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let options = Options::new(built.fingerprint().clone(), built.dimensions());
        built.rest().map_err(|error| failed(&self.folder, std::io::Error::other(error.to_string())))?;
        drop(built);
        let old = self.old_folder();
        Index::remove(&old)?;
        rename(&self.folder, &old)?;
        rename(&self.next_folder(), &self.folder)?;
        let index = Arc::new(Index::open(&self.folder, &options)?);
        self.serve(index);
        Index::remove(&old)
    }

    /// Ends a swap that a dying process left half-done.
    pub(super) fn end_swap(&self) -> Result<(), OpenError> {
        let (next, old) = (self.next_folder(), self.old_folder());
        Index::finish_removal(&next)?;
        Index::finish_removal(&old)?;
        if !old.exists() {
            return Ok(());
        }
        if !self.folder.exists() {
            rename(if next.exists() { &next } else { &old }, &self.folder)?;
        }
        Index::remove(&old)
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), OpenError> {
    let done = std::fs::rename(from, to);
    let synced = done.and_then(|()| to.parent().map_or(Ok(()), |parent| std::fs::File::open(parent)?.sync_all()));
    synced.map_err(|source| failed(to, source))
}

fn failed(path: &Path, source: std::io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), source }
}
