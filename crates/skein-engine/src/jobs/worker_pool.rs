//! Tracks the capacity of this process for calls of each kind, and the calls in progress.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use skein_core::catalog::operation::OperationType;
use skein_core::{ExecutionId, JobId};
use skein_store::StoreError;
use skein_store::jobs::workers::WorkerTally;
use skein_store::jobs::{Job, JobHolder};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::engine::Engine;
use crate::flow::execution::transaction::WorkerSlot;

/// Who is at work in this process.
#[derive(Default)]
pub(crate) struct WorkerPoolState {
    pub(crate) places: OnceLock<HashMap<OperationType, Arc<Semaphore>>>,
    pub(crate) holder: RwLock<Option<JobHolder>>,
    running: Mutex<HashMap<JobId, RunningJob>>,
    tally: Mutex<WorkerTally>,
    pub(crate) wake: Notify,
    /// Acts of maintenance that wait for a computation, by what they are about.
    postponed: Mutex<HashSet<String>>,
    /// Whether some kind had no place left when somebody last looked: then a place that becomes free is worth a look.
    is_short: AtomicBool,
    /// What is done wrong on purpose, to see that it is found.
    #[cfg(test)]
    pub(crate) planted: OnceLock<crate::flow::simulation::PlantedBug>,
}

struct RunningJob {
    job: Job,
    stop: Arc<Notify>,
}

/// Places that were free when somebody looked; those that are not used are free again.
#[derive(Default)]
pub(crate) struct FreeSlots {
    holder: Option<JobHolder>,
    permits: Vec<(OperationType, OwnedSemaphorePermit)>,
    of: Option<Engine>,
}

impl Drop for FreeSlots {
    fn drop(&mut self) {
        self.permits.clear();
        if let Some(engine) = &self.of {
            engine.parts().worker_pool.freed();
        }
    }
}

impl FreeSlots {
    pub(crate) fn slot(&self) -> WorkerSlot {
        WorkerSlot { holder: self.holder.clone(), kinds: self.permits.iter().map(|(kind, _)| *kind).collect() }
    }

    pub(crate) fn take(&mut self, kind: OperationType) -> Option<OwnedSemaphorePermit> {
        let index = self.permits.iter().position(|(of, _)| *of == kind)?;
        Some(self.permits.swap_remove(index).1)
    }
}

/// Places that a transaction may use. They are free again while it waits for a computation, which may take long.
#[derive(Clone)]
pub(crate) struct OfferedPlaces(Arc<Mutex<FreeSlots>>);

impl OfferedPlaces {
    pub(crate) fn new(places: FreeSlots) -> Self {
        Self(Arc::new(Mutex::new(places)))
    }

    /// Runs an attempt of a transaction with these places.
    pub(crate) fn to<T>(&self, attempt: impl FnOnce(&WorkerSlot) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let slot = self.places().slot();
        let outcome = attempt(&slot);
        if matches!(outcome, Err(StoreError::NeedsComputation(_))) {
            drop(self.take());
        }
        outcome
    }

    /// The places that are left, for what was handed over.
    pub(crate) fn take(&self) -> FreeSlots {
        std::mem::take(&mut *self.places())
    }

    fn places(&self) -> MutexGuard<'_, FreeSlots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerPoolState {
    /// Breaks off every call of a run that is under way here.
    pub(crate) fn break_off(&self, run: ExecutionId) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for running in running.values().filter(|running| running.job.run.is_some_and(|(of, _)| of == run)) {
            running.stop.notify_one();
        }
    }

    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// A place became free: worth a look to whoever had too few, or waits for the last call to end.
    pub(crate) fn freed(&self) {
        if self.is_short.load(Ordering::SeqCst) || self.holder().is_none() {
            self.wake();
        }
    }

    /// The kinds there is a place for now. Whoever gives one back meanwhile, of a kind that has none, says so.
    pub(crate) fn kinds_with_places(&self) -> Vec<OperationType> {
        self.is_short.store(true, Ordering::SeqCst);
        let Some(places) = self.places.get() else { return Vec::new() };
        let free: Vec<_> = places.iter().filter(|(_, places)| places.available_permits() > 0).collect();
        self.is_short.store(free.len() < places.len(), Ordering::SeqCst);
        free.into_iter().map(|(kind, _)| *kind).collect()
    }

    pub(crate) fn holder(&self) -> Option<JobHolder> {
        self.holder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn held(&self) -> Vec<Job> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.values().map(|running| running.job.clone()).collect()
    }

    /// Breaks off calls whose jobs are somebody else's now, or nobody's.
    pub(crate) fn lose(&self, held: &[Job], is_lost: impl Fn(&Job) -> bool) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for job in held.iter().filter(|job| is_lost(job)) {
            // A row that was passed on meanwhile is another call's now.
            if let Some(running) = running.get(&job.id).filter(|running| running.job.fence == job.fence) {
                running.stop.notify_one();
            }
        }
    }

    /// Notes that a call is under way. Under a job that was taken over it is the newer one that counts: the other cannot
    /// bring anything back.
    fn enrol(&self, job: &Job) -> Arc<Notify> {
        let stop = Arc::new(Notify::new());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match running.get(&job.id) {
            Some(newer) if newer.job.fence > job.fence => stop.notify_one(),
            older => {
                if let Some(older) = older {
                    older.stop.notify_one();
                }
                running.insert(job.id, RunningJob { job: job.clone(), stop: Arc::clone(&stop) });
            }
        }
        stop
    }

    /// Notes that a call is over. Its job may be under way here again, under a later fence: that stays.
    fn strike(&self, job: &Job) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.get(&job.id).is_some_and(|running| running.job.fence == job.fence) {
            running.remove(&job.id);
        }
    }

    fn count(&self, failed: bool) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.processed += 1;
        tally.errors += i64::from(failed);
    }

    pub(crate) fn postponed(&self) -> MutexGuard<'_, HashSet<String>> {
        self.postponed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tally(&self) -> WorkerTally {
        std::mem::take(&mut *self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What could not be told is told next time.
    pub(crate) fn owe(&self, told: WorkerTally) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.processed += told.processed;
        tally.errors += told.errors;
    }
}

impl Engine {
    /// A place of each kind, where one is free now.
    pub(crate) fn free_slots(&self) -> FreeSlots {
        let worker_pool = &self.parts().worker_pool;
        let (Some(holder), Some(places)) = (worker_pool.holder(), worker_pool.places.get()) else {
            return FreeSlots::default();
        };
        let free = |(kind, places): (&OperationType, &Arc<Semaphore>)| {
            Some((*kind, Arc::clone(places).try_acquire_owned().ok()?))
        };
        FreeSlots { holder: Some(holder), permits: places.iter().filter_map(free).collect(), of: Some(self.clone()) }
    }
}

/// A job that is held here: its lease is kept alive until this is gone, however that comes about.
pub(crate) struct LeasedJob {
    engine: Engine,
    job: Job,
    stop: Arc<Notify>,
}

impl LeasedJob {
    pub(crate) fn of(engine: &Engine, job: &Job) -> Self {
        let stop = engine.parts().worker_pool.enrol(job);
        Self { engine: engine.clone(), job: job.clone(), stop }
    }

    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    /// Returns when nobody waits for the call any more.
    pub(crate) async fn unwanted(&self) {
        self.stop.notified().await;
    }

    /// The call is over, and is counted.
    pub(crate) fn end(self, failed: bool) {
        self.engine.parts().worker_pool.count(failed);
    }
}

impl Drop for LeasedJob {
    fn drop(&mut self) {
        self.engine.parts().worker_pool.strike(&self.job);
    }
}

#[cfg(test)]
mod tests {
    use skein_core::UserId;

    use super::*;

    fn held(fence: i64) -> Job {
        let (id, owner) = (JobId::from_bytes([1; 16]), UserId::from_bytes([2; 16]));
        let (queue, payload) = ("rest_call".to_owned(), "{}".to_owned());
        Job { id, owner, queue, payload, attempts: fence, lost: 0, fence, run: None }
    }

    async fn is_told_to_stop(stop: &Notify) -> bool {
        tokio::select! {
            biased;
            () = stop.notified() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn a_call_that_lost_its_job_takes_nothing_from_the_call_that_has_it_now() {
        let worker_pool = WorkerPoolState::default();
        let slow = worker_pool.enrol(&held(1));
        let again = worker_pool.enrol(&held(2));
        assert!(is_told_to_stop(&slow).await, "what it brings back is refused");
        worker_pool.strike(&held(1));
        assert_eq!(worker_pool.held(), [held(2)], "whoever has it now is kept alive");
        worker_pool.lose(&[held(2)], |_| true);
        assert!(is_told_to_stop(&again).await, "and can be broken off");
        worker_pool.strike(&held(2));
        assert_eq!(worker_pool.held(), []);
    }

    #[tokio::test]
    async fn a_call_that_begins_after_its_job_was_taken_over_is_told_to_stop() {
        let worker_pool = WorkerPoolState::default();
        let newer = worker_pool.enrol(&held(2));
        let late = worker_pool.enrol(&held(1));
        assert!(is_told_to_stop(&late).await);
        assert!(!is_told_to_stop(&newer).await);
        assert_eq!(worker_pool.held(), [held(2)]);
    }
}
