//! Maintenance besides calls: the queue, expired questions, timers, and the removal of old rows.

use std::time::Duration;

use skein_store::{Computation, StoreError, Tx};

use crate::engine::Engine;
use crate::flow::SYSTEM;

const LOOK_EVERY: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_mins(10);

/// Looks after the queue and after questions whose time is over; forgets what is old.
pub(crate) async fn tend(engine: &Engine) {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let mut swept = tokio::time::Instant::now();
    loop {
        looks.tick().await;
        if let Err(error) = engine.parts().store.maintain_queue().await {
            tracing::debug!(%error, "could not look after the queue");
        }
        if let Err(error) = engine.expire_reviews().await {
            tracing::warn!(%error, "could not look which questions' time is over");
        }
        if let Err(error) = engine.fire_timers().await {
            tracing::warn!(%error, "could not look which timers of nested executions are due");
        }
        if swept.elapsed() >= SWEEP_EVERY {
            swept = tokio::time::Instant::now();
            engine.sweep_runs().await;
        }
    }
}

/// An act of maintenance that waits for a computation.
struct Postponed {
    engine: Engine,
    about: String,
}

impl Drop for Postponed {
    fn drop(&mut self) {
        self.engine.parts().worker_pool.postponed().remove(&self.about);
    }
}

impl Engine {
    /// Carries an act out after the computation it needs. Maintenance goes on meanwhile, and postpones no act twice.
    pub(crate) fn postpone<F>(
        &self,
        about: String,
        computation: Computation,
        act: impl FnOnce(Self) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), StoreError>> + Send,
    {
        if !self.parts().worker_pool.postponed().insert(about.clone()) {
            return;
        }
        let postponed = Postponed { engine: self.clone(), about };
        tokio::spawn(async move {
            let acted = match computation.run().await {
                // What was computed stays until the act has found it.
                Ok(_computed) => act(postponed.engine.clone()).await,
                Err(error) => Err(error),
            };
            if let Err(error) = acted {
                tracing::warn!(%error, about = postponed.about, "an act of maintenance failed; it is tried again");
            }
        });
    }

    /// Forgets rows of runs that ended long ago, and of workers that are gone; facts stay.
    pub(crate) async fn sweep_runs(&self) {
        const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
        let kept_ms = self.number(&skein_core::setting::EXECUTIONS_KEPT_DAYS).await * DAY_MS;
        loop {
            let sweep = move |tx: &mut Tx<'_>| {
                let swept = tx.sweep_executions(&SYSTEM, kept_ms)? + tx.sweep_chunks(&SYSTEM)?;
                let swept =
                    swept + tx.sweep_measurements(&SYSTEM, kept_ms)? + tx.sweep_dead_letters(&SYSTEM, kept_ms)?;
                Ok(swept + tx.sweep_workers(&SYSTEM)?)
            };
            match self.parts().store.write(sweep).await {
                Ok(swept) if swept.value > 0 => {}
                Ok(_) => return,
                Err(error) => return tracing::warn!(%error, "could not forget old runs; it will be tried again"),
            }
        }
    }
}
