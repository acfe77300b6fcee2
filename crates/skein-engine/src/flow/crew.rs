//! Who is at work in this process: places for calls of each kind, and the calls that are under way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use skein_core::catalog::operation::OperationType;
use skein_core::{JobId, RunId};
use skein_store::jobs::{Holder, Job};
use skein_store::workers::Tally;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::engine::Engine;
use crate::flow::mover::Hand;

/// Who is at work in this process.
#[derive(Default)]
pub(crate) struct CrewState {
    pub(super) places: OnceLock<HashMap<OperationType, Arc<Semaphore>>>,
    pub(super) holder: RwLock<Option<Holder>>,
    running: Mutex<HashMap<JobId, Running>>,
    tally: Mutex<Tally>,
    pub(super) wake: Notify,
    /// Whether some kind had no place left when somebody last looked: then a place that becomes free is worth a look.
    is_short: AtomicBool,
    /// What is done wrong on purpose, to see that it is found.
    #[cfg(test)]
    pub(super) planted: OnceLock<crate::flow::simulation::Bug>,
}

struct Running {
    job: Job,
    stop: Arc<Notify>,
}

/// Places that were free when somebody looked; those that are not used are free again.
#[derive(Default)]
pub(crate) struct Places {
    holder: Option<Holder>,
    permits: Vec<(OperationType, OwnedSemaphorePermit)>,
    of: Option<Engine>,
}

impl Drop for Places {
    fn drop(&mut self) {
        self.permits.clear();
        if let Some(engine) = &self.of {
            engine.parts().crew.freed();
        }
    }
}

impl Places {
    pub(crate) fn hand(&self) -> Hand {
        Hand { holder: self.holder.clone(), kinds: self.permits.iter().map(|(kind, _)| *kind).collect() }
    }

    pub(super) fn take(&mut self, kind: OperationType) -> Option<OwnedSemaphorePermit> {
        let index = self.permits.iter().position(|(of, _)| *of == kind)?;
        Some(self.permits.swap_remove(index).1)
    }
}

impl CrewState {
    /// Breaks off every call of a run that is under way here.
    pub(crate) fn break_off(&self, run: RunId) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for running in running.values().filter(|running| running.job.run.is_some_and(|(of, _)| of == run)) {
            running.stop.notify_one();
        }
    }

    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// A place became free: worth a look to whoever had too few, or waits for the last call to end.
    pub(super) fn freed(&self) {
        if self.is_short.load(Ordering::SeqCst) || self.holder().is_none() {
            self.wake();
        }
    }

    /// The kinds there is a place for now. Whoever gives one back meanwhile, of a kind that has none, says so.
    pub(super) fn kinds_with_places(&self) -> Vec<OperationType> {
        self.is_short.store(true, Ordering::SeqCst);
        let Some(places) = self.places.get() else { return Vec::new() };
        let free: Vec<_> = places.iter().filter(|(_, places)| places.available_permits() > 0).collect();
        self.is_short.store(free.len() < places.len(), Ordering::SeqCst);
        free.into_iter().map(|(kind, _)| *kind).collect()
    }

    pub(super) fn holder(&self) -> Option<Holder> {
        self.holder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn held(&self) -> Vec<Job> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.values().map(|running| running.job.clone()).collect()
    }

    /// Breaks off calls whose jobs are somebody else's now, or nobody's.
    pub(super) fn lose(&self, held: &[Job], is_lost: impl Fn(&Job) -> bool) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for job in held.iter().filter(|job| is_lost(job)) {
            // A row that was passed on meanwhile is another call's now.
            if let Some(running) = running.get(&job.id).filter(|running| running.job.fence == job.fence) {
                running.stop.notify_one();
            }
        }
    }

    pub(super) fn begin(&self, job: &Job) -> Arc<Notify> {
        let stop = Arc::new(Notify::new());
        let running = Running { job: job.clone(), stop: Arc::clone(&stop) };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(job.id, running);
        stop
    }

    pub(super) fn end(&self, job: JobId, failed: bool) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&job);
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.processed += 1;
        tally.errors += i64::from(failed);
    }

    pub(super) fn tally(&self) -> Tally {
        std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine {
    /// A place of each kind, where one is free now.
    pub(crate) fn crew_places(&self) -> Places {
        let crew = &self.parts().crew;
        let (Some(holder), Some(places)) = (crew.holder(), crew.places.get()) else { return Places::default() };
        let free = |(kind, places): (&OperationType, &Arc<Semaphore>)| {
            Some((*kind, Arc::clone(places).try_acquire_owned().ok()?))
        };
        Places { holder: Some(holder), permits: places.iter().filter_map(free).collect(), of: Some(self.clone()) }
    }
}
