//! Vectors of embedders that nobody uses any more: kept for a day, so that whoever goes back need not make them again and other
//! servers may still switch, then thrown away behind everybody, in pieces.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use skein_recall::{Embedder as _, Fingerprint, StaticTable};
use skein_store::memory::DROPPED_VECTORS_MAX;
use skein_store::{Tx, Urgency};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::follower::blocking;
use crate::memory::{Memory, SYSTEM};

/// How long vectors stay after somebody was last seen to use them.
const USED_FOR_MS: i64 = 24 * 60 * 60 * 1_000;
/// How often it is said that vectors are used, and looked for some that are not.
const LOOK_EVERY: Duration = Duration::from_hours(1);
/// About what the key of a vector takes in the writer's queue.
const KEY_BYTES: usize = 128;

/// When this process last spoke about vectors.
#[derive(Default)]
pub(super) struct Upkeep {
    /// Whose it said are used.
    used: Option<(Instant, Fingerprint)>,
    /// When none were found that are not.
    looked_at: Option<Instant>,
}

impl Engine {
    /// Says whose vectors this process uses, from time to time, and when others begin to serve.
    pub(super) async fn use_vectors(&self, memory: &Memory, serving: &Fingerprint) -> Result<(), EngineError> {
        let is_said = {
            let upkeep = memory.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
            upkeep.used.as_ref().is_some_and(|(at, of)| at.elapsed() < LOOK_EVERY && of == serving)
        };
        if is_said {
            return Ok(());
        }
        let built_in = StaticTable.fingerprint();
        let mut used = vec![memory.embedding.fingerprint(), serving.clone()];
        used.retain(|embedder| *embedder != built_in);
        used.dedup();
        if !used.is_empty() {
            let say = move |tx: &mut Tx<'_>| {
                used.iter().try_for_each(|embedder| tx.use_vectors(&SYSTEM, embedder.as_str(), USED_FOR_MS))
            };
            self.write_behind(say, KEY_BYTES).await?;
        }
        let mut upkeep = memory.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever begins to serve leaves somebody behind.
        *upkeep = Upkeep { used: Some((Instant::now(), serving.clone())), looked_at: None };
        Ok(())
    }

    /// Throws some vectors away that nobody uses; whether there may be more of them.
    pub(super) async fn drop_unused(&self, memory: &Memory) -> Result<bool, EngineError> {
        let looked_at = memory.upkeep.lock().unwrap_or_else(PoisonError::into_inner).looked_at;
        if looked_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Ok(false);
        }
        if let Some(embedder) = self.parts().store.read(|tx| tx.unused_embedder(&SYSTEM)).await? {
            let drop_some = move |tx: &mut Tx<'_>| tx.drop_unused_vectors(&SYSTEM, &embedder);
            self.write_behind(drop_some, DROPPED_VECTORS_MAX * KEY_BYTES).await?;
            return Ok(true);
        }
        memory.upkeep.lock().unwrap_or_else(PoisonError::into_inner).looked_at = Some(Instant::now());
        Ok(false)
    }

    /// Throws every vector of the configured embedder away, so that all are made anew once the index is, too.
    pub async fn forget_vectors(&self) -> Result<(), EngineError> {
        let Some(memory) = self.parts().memory.get() else { return Ok(()) };
        memory.asked.lock().unwrap_or_else(PoisonError::into_inner).forget();
        loop {
            let embedder = memory.embedding.fingerprint();
            let drop_some = move |tx: &mut Tx<'_>| tx.drop_vectors(&SYSTEM, embedder.as_str());
            if !self.write_behind(drop_some, DROPPED_VECTORS_MAX * KEY_BYTES).await? {
                return Ok(());
            }
        }
    }

    async fn write_behind<T: Send + 'static>(
        &self,
        write: impl FnMut(&mut Tx<'_>) -> Result<T, skein_store::StoreError> + Send + 'static,
        weight: usize,
    ) -> Result<T, EngineError> {
        let store = self.parts().store.clone();
        Ok(blocking(move || store.write_later(write, weight, Urgency::Background)).await??.value)
    }
}
