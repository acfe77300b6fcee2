//! Runs the workers: claims calls, makes them, and continues with the calls that follow.
//!
//! A worker has places for each kind of call. Whoever finishes a call takes the next one of its run along if it has a
//! place for it, in the transaction that keeps the result; anything else is queued for whoever is free, here or elsewhere.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use skein_core::catalog::operation::OperationType;
use skein_core::{JobId, WorkerId};
use skein_store::jobs::workers::{Worker, WorkerDraft};
use skein_store::jobs::{AfterFailure, DeadLetter, Job, JobHolder, LeaseTerms, QueueCapacity, QueueStatus};
use skein_store::timeline::items::Page;
use skein_store::{LockTarget, StoreError, Tx};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::{PostCommit, WorkerSlot};
use crate::jobs::maintenance::tend;
use crate::jobs::telemetry;
use crate::jobs::worker_pool::{FreeSlots, LeasedJob};
use crate::tool_call::claim::{self, ClaimOutcome};
use crate::tool_call::execute::CallResponse;
use crate::tool_call::record::{self, PendingCall};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// While the store takes nothing more.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// How often a call is tried that cannot be begun, and how long it waits at first: a cause that does not pass soon stays.
const BEGUN_TRIES_MAX: i64 = 3;
const BEGUN_AGAIN_MS: i64 = 250;
/// Between two looks at whether calls are still wanted, however much happens.
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const KINDS: [OperationType; 4] =
    [OperationType::GraphQuery, OperationType::LlmCall, OperationType::RestCall, OperationType::McpTool];

/// How many calls of each kind are made at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSizes(pub Vec<(OperationType, usize)>);

impl Default for PoolSizes {
    fn default() -> Self {
        Self(KINDS.into_iter().map(|kind| (kind, 32)).collect())
    }
}

/// Begins calls that were handed over, each on a place that was free.
pub(crate) fn take_up(engine: &Engine, handed: Vec<PendingCall>, mut places: FreeSlots) {
    for pending in handed {
        let (Some(permit), Some(job)) = (places.take(pending.kind), &pending.job) else { continue };
        let (engine, underway) = (engine.clone(), LeasedJob::of(engine, job));
        tokio::spawn(async move { carry_on(&engine, pending, underway, permit).await });
    }
}

/// Makes a call, and whatever follows from it that this place can take.
async fn carry_on(engine: &Engine, mut pending: PendingCall, mut underway: LeasedJob, permit: OwnedSemaphorePermit) {
    let worker_pool = &engine.parts().worker_pool;
    loop {
        let job = underway.job().clone();
        let (kind, run, is_heard) = (pending.kind, pending.run, pending.is_heard());
        let came = tokio::select! {
            came = make(engine, &pending) => Some(came),
            // Its run has ended: nobody waits for it, and the job is gone.
            () = underway.unwanted() => None,
        };
        let Some(came) = came else {
            underway.end(true);
            if is_heard {
                engine.parts().streams.end(run, &job);
            }
            break;
        };
        let slot = WorkerSlot { holder: worker_pool.holder(), kinds: vec![kind] };
        let mut concluded = conclude(engine, pending, came, slot).await;
        // Whoever stops looks who is at work: the next call is there before this one is gone.
        let next = concluded.as_mut().and_then(|after| after.handed.pop());
        let next = next.and_then(|next| Some((LeasedJob::of(engine, next.job.as_ref()?), next)));
        underway.end(concluded.is_none());
        let has_ended = concluded.iter().flat_map(|after| &after.ended).any(|ended| ended.run == run);
        if is_heard && !has_ended {
            engine.parts().streams.end(run, &job);
        }
        let Some(after) = concluded else { break };
        engine.after(after, FreeSlots::default());
        let Some(next) = next else { break };
        (underway, pending) = next;
    }
    drop(permit);
    worker_pool.freed();
}

/// Makes a call. A bug in it is an error of this call: its step fails and says so, and the place is free again.
async fn make(engine: &Engine, pending: &PendingCall) -> record::CallOutcome {
    let begun = Instant::now();
    let making = async {
        #[cfg(test)]
        assert!(!crate::flow::simulation::PlantedBug::PanickingCall.is_in(engine), "planted");
        record::make(engine, pending).await
    };
    AssertUnwindSafe(making).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(run = %pending.run, "a bug broke a call off; what it says stands above");
        let message = "a bug in Skein broke the call off; the service may have carried it out. The log says where";
        let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let answered = CallResponse::fault("internal", message, false).uncertain(true);
        record::CallOutcome::new(pending, answered, None, latency_ms)
    })
}

/// Writes down what came of a call. It may be had only once, so while the store is busy it is held on to.
async fn conclude(
    engine: &Engine,
    pending: PendingCall,
    came: record::CallOutcome,
    slot: WorkerSlot,
) -> Option<PostCommit> {
    let (pending, mut came, mut is_replaced) = (Arc::new(pending), Arc::new(came), false);
    loop {
        let (own, made, kept, slot) = (engine.clone(), Arc::clone(&pending), Arc::clone(&came), slot.clone());
        let weight = kept.weight().max(1 << 10);
        let run = pending.run;
        let (is_plain, store) = (pending.is_plain, &engine.parts().store);
        let write = move |tx: &mut Tx<'_>| record::conclude(&own, tx, &made, &kept, &slot);
        let written = if is_plain {
            store.write_locking(weight, Some(LockTarget::Run(run)), write).await
        } else {
            store.write_weighing(weight, write).await
        };
        match written {
            Ok(after) => return Some(after.value),
            Err(StoreError::LeaseLost(_)) => {
                tracing::info!(%run, "somebody else took a call over; what came of it here is not kept");
                return None;
            }
            Err(StoreError::Busy) => tokio::time::sleep(BUSY_PAUSE).await,
            // Making the call again would give the same: the step fails, and says why.
            Err(error @ (StoreError::Item(_) | StoreError::Rule(_))) if !is_replaced => {
                tracing::warn!(%error, %run, "what came of a call cannot be kept");
                (came, is_replaced) = (Arc::new(came.refused(&pending, &error)), true);
            }
            Err(
                error @ (StoreError::Damaged(_) | StoreError::Panicked(_) | StoreError::Item(_) | StoreError::Rule(_)),
            ) => {
                tracing::warn!(%error, %run, "what came of a call could not be kept; it will be made again");
                return None;
            }
            // The database is gone for a while. Whoever takes the call over meanwhile has it, as the fence tells.
            Err(error) => {
                tracing::warn!(%error, %run, "what came of a call cannot be kept now; it is tried again");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// Takes up work until it is stopped or dropped.
pub struct WorkerPool {
    stopping: watch::Sender<bool>,
    engine: Engine,
    working: JoinHandle<()>,
}

impl WorkerPool {
    /// Starts working in the background, with so many places.
    pub fn start(engine: Engine, pools: &PoolSizes) -> Self {
        let places = pools.0.iter().map(|(kind, places)| (*kind, Arc::new(Semaphore::new(*places)))).collect();
        let _ = engine.parts().worker_pool.places.set(places);
        let (stopping, stopped) = watch::channel(false);
        let (own, draft) = (engine.clone(), worker(pools));
        let working = tokio::spawn(async move {
            let (id, holder, terms) = introduce(&own, &draft).await;
            let working = claim(&own, &holder, terms, stopped);
            let telling = telemetry::tell(&own, &holder.worker);
            let draft = WorkerDraft { id, ..draft };
            tokio::join!(working, beat(&own, &draft, &holder, terms), tend(&own), follow(&own), telling);
        });
        Self { stopping, engine, working }
    }

    /// Takes nothing up any more, waits so long for calls that are under way, gives back what is left, and says that this
    /// worker is gone.
    pub async fn stop(self, grace: Duration) {
        let _ = self.stopping.send(true);
        let worker_pool = &self.engine.parts().worker_pool;
        let holder = worker_pool.holder.write().unwrap_or_else(PoisonError::into_inner).take();
        let idle = async {
            while !worker_pool.held().is_empty() {
                let _ = tokio::time::timeout(LOOK_EVERY, worker_pool.wake.notified()).await;
            }
        };
        let _ = tokio::time::timeout(grace, idle).await;
        let left = worker_pool.held();
        if !left.is_empty() {
            let count = left.len();
            worker_pool.lose(&left, |_| true);
            match self.engine.parts().store.write(move |tx| tx.release_jobs(&SYSTEM, &left)).await {
                Ok(_) => tracing::info!(count, "gave back calls that were under way"),
                Err(error) => tracing::warn!(%error, count, "calls that were under way are left to their leases"),
            }
        }
        if let Some(id) = holder.and_then(|holder| holder.worker.parse().ok()) {
            let tally = worker_pool.tally();
            let gone = self.engine.parts().store.write(move |tx| tx.decommission_worker(&SYSTEM, id, tally));
            if let Err(error) = gone.await {
                tracing::debug!(%error, "could not say that a worker is gone");
            }
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.working.abort();
    }
}

/// Makes a worker known; tried until it is, because nothing can be taken up before.
async fn introduce(engine: &Engine, draft: &WorkerDraft) -> (WorkerId, JobHolder, LeaseTerms) {
    loop {
        let draft = draft.clone();
        let introduced = engine.parts().store.write(move |tx| {
            let id = WorkerId::new(tx.id_time(), tx.entropy());
            // Whoever starts often and never runs for long tends nothing else.
            tx.sweep_workers(&SYSTEM)?;
            tx.register_worker(&SYSTEM, &WorkerDraft { id, ..draft.clone() })?;
            Ok((id, tx.lease_terms(&SYSTEM)?))
        });
        match introduced.await {
            Ok(introduced) => {
                let (id, terms) = introduced.value;
                let holder = engine.parts().store.holder(&id.to_string(), terms.lease_ms);
                let worker_pool = &engine.parts().worker_pool;
                *worker_pool.holder.write().unwrap_or_else(PoisonError::into_inner) = Some(holder.clone());
                return (id, holder, terms);
            }
            Err(error) => {
                tracing::debug!(%error, "a worker could not make itself known");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

fn worker(pools: &PoolSizes) -> WorkerDraft {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    WorkerDraft {
        // Drawn when it is made known.
        id: WorkerId::from_bytes([0; 16]),
        queues: pools.0.iter().map(|(kind, _)| kind.as_str().to_owned()).collect(),
        places: pools.0.iter().map(|(_, places)| i64::try_from(*places).unwrap_or(i64::MAX)).sum(),
        host: host.trim().to_owned(),
        pid: i64::from(std::process::id()),
    }
}

async fn claim(engine: &Engine, holder: &JobHolder, terms: LeaseTerms, mut stopped: watch::Receiver<bool>) {
    let mut rung = engine.parts().store.job_wake().subscribe();
    let mut crowded = Vec::new();
    loop {
        if *stopped.borrow() {
            return;
        }
        // What there is no place for is not looked for: it would hide when the next of another kind is due.
        let kinds = engine.parts().worker_pool.kinds_with_places();
        // While there was more than there were places for, whoever has one again need not look before.
        let is_expected = kinds.iter().any(|kind| crowded.contains(kind));
        let waiting =
            if is_expected { QueueStatus { is_any: true, due_in_ms: None } } else { look_for(engine, &kinds).await };
        if waiting.is_any {
            let taken = take_some(engine, holder, terms).await;
            crowded = taken.crowded;
            if is_expected || taken.is_any {
                continue;
            }
        }
        let due = waiting.due_in_ms.filter(|_| !waiting.is_any).and_then(|due| u64::try_from(due).ok());
        let moment = due.map_or(LOOK_EVERY, Duration::from_millis);
        tokio::select! {
            () = engine.parts().worker_pool.wake.notified() => {}
            _ = rung.changed() => {}
            _ = stopped.changed() => {}
            () = tokio::time::sleep(moment.clamp(Duration::from_millis(1), LOOK_EVERY)) => {}
        }
    }
}

async fn look_for(engine: &Engine, kinds: &[OperationType]) -> QueueStatus {
    if kinds.is_empty() {
        return QueueStatus::default();
    }
    let queues = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    engine.parts().store.jobs_waiting(queues).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not look for calls to make");
        QueueStatus::default()
    })
}

/// What a claim found.
#[derive(Default)]
struct ClaimedJobs {
    is_any: bool,
    /// The kinds of which every free place was filled: perhaps there is more.
    crowded: Vec<OperationType>,
}

/// Takes up as much as there are free places for.
async fn take_some(engine: &Engine, holder: &JobHolder, terms: LeaseTerms) -> ClaimedJobs {
    let mut permits = free_places(engine);
    let wanted: Vec<QueueCapacity> = permits
        .iter()
        .map(|(kind, permits)| QueueCapacity { queue: kind.as_str().to_owned(), places: permits.len() })
        .filter(|wanted| wanted.places > 0)
        .collect();
    if wanted.is_empty() {
        return ClaimedJobs::default();
    }
    let Ok(claimed) = engine.parts().store.claim_jobs(holder, &wanted).await else { return ClaimedJobs::default() };
    let taken = ClaimedJobs { is_any: !claimed.jobs.is_empty(), crowded: filled(&wanted, &claimed.jobs) };
    for job in claimed.jobs {
        let kind = KINDS.into_iter().find(|kind| kind.as_str() == job.queue);
        let permit = kind.and_then(|kind| permits.get_mut(&kind)).and_then(Vec::pop);
        let (engine, lost_max, underway) = (engine.clone(), terms.lost_max, LeasedJob::of(engine, &job));
        tokio::spawn(async move { begin(&engine, underway, permit, lost_max).await });
    }
    taken
}

fn filled(wanted: &[QueueCapacity], taken: &[Job]) -> Vec<OperationType> {
    let of = |queue: &str| taken.iter().filter(|job| job.queue == queue).count();
    let is_full = |kind: &OperationType| {
        wanted.iter().any(|wanted| wanted.queue == kind.as_str() && wanted.places == of(&wanted.queue))
    };
    KINDS.into_iter().filter(is_full).collect()
}

/// Every free place, taken for the moment.
fn free_places(engine: &Engine) -> HashMap<OperationType, Vec<OwnedSemaphorePermit>> {
    let places = engine.parts().worker_pool.places.get();
    let free = |places: &Arc<Semaphore>| {
        std::iter::from_fn(|| Arc::clone(places).try_acquire_owned().ok()).collect::<Vec<_>>()
    };
    places.into_iter().flatten().map(|(kind, places)| (*kind, free(places))).collect()
}

/// Judges and writes down the call of a claimed job, then makes it.
pub(crate) async fn begin(engine: &Engine, underway: LeasedJob, permit: Option<OwnedSemaphorePermit>, lost_max: i64) {
    let job = underway.job().clone();
    let claimed = loop {
        match take_up_job(engine, &job, lost_max).await {
            Ok((claimed, after)) => {
                engine.after(after, FreeSlots::default());
                break claimed;
            }
            Err(StoreError::LeaseLost(_)) => break ClaimOutcome::Settled,
            Err(error) => {
                let is_full = matches!(error, StoreError::TooManyComputations(_));
                let Some(pause) = pause_after(&error).or(is_full.then_some(LOOK_EVERY)) else {
                    fail_to_begin(engine, &job, &error).await;
                    break ClaimOutcome::Settled;
                };
                tokio::time::sleep(pause).await;
            }
        }
    };
    match (claimed, permit) {
        (ClaimOutcome::Make(pending), Some(permit)) => carry_on(engine, *pending, underway, permit).await,
        (_, permit) => {
            drop((underway, permit));
            engine.parts().worker_pool.freed();
        }
    }
}

/// How long to wait where a transaction failed for what has nothing to do with it; nothing where it would fail again.
pub(crate) fn pause_after(error: &StoreError) -> Option<Duration> {
    match error {
        StoreError::Busy => Some(BUSY_PAUSE),
        StoreError::Unavailable(_)
        | StoreError::OutcomeUnknown
        | StoreError::DiskFull
        | StoreError::ReadOnly(_)
        | StoreError::TooSlow(_) => Some(LOOK_EVERY),
        _ => None,
    }
}

/// A call that cannot be begun is tried again a few times, later and later; then what it was for ends, and says why.
async fn fail_to_begin(engine: &Engine, job: &Job, error: &StoreError) {
    tracing::warn!(%error, job = %job.id, tries = job.tries(), "a call could not be begun");
    let (held, words) = (job.clone(), told(error));
    let ended = if job.tries() < BEGUN_TRIES_MAX {
        let later = BEGUN_AGAIN_MS << job.tries().clamp(0, BEGUN_TRIES_MAX);
        let put_off = move |tx: &mut Tx<'_>| {
            let at = tx.now().plus(later);
            tx.fail_job(&SYSTEM, &held, &words, AfterFailure::RetryAt(at))
        };
        engine.parts().store.write(put_off).await.map(drop)
    } else {
        give_up(engine, job, &words).await
    };
    match ended {
        Ok(()) | Err(StoreError::LeaseLost(_)) => {}
        // The lease runs out, and it is tried again.
        Err(error) => tracing::warn!(%error, job = %job.id, "what a call was for could not be ended"),
    }
}

/// Why something could not be done, for whoever owns it: what rows and bugs say is for the log alone.
pub(crate) fn told(error: &StoreError) -> String {
    match error {
        StoreError::Damaged(_) | StoreError::History(_) | StoreError::Corrupt(_) => {
            "the stored data is damaged; run skein verify".to_owned()
        }
        StoreError::Panicked(_) | StoreError::Sql(_) => "a bug in Skein stopped it; the log says where".to_owned(),
        error => error.to_string(),
    }
}

/// Ends what a job was for: its step, as if the call had failed; where not even that can be done, its run. The job is put
/// aside for a person to look at.
async fn give_up(engine: &Engine, job: &Job, words: &str) -> Result<(), StoreError> {
    let store = &engine.parts().store;
    for end in [claim::fail_step, claim::fail_run, claim::put_aside] {
        let (own, held, why) = (engine.clone(), job.clone(), words.to_owned());
        match store.write(move |tx| end(&own, tx, &held, &why)).await {
            Ok(after) => {
                engine.after(after.value, FreeSlots::default());
                return Ok(());
            }
            Err(error)
                if matches!(error, StoreError::LeaseLost(_) | StoreError::TooManyComputations(_))
                    || pause_after(&error).is_some() =>
            {
                return Err(error);
            }
            Err(error) => {
                tracing::warn!(%error, job = %job.id, "a call that cannot be begun cannot be ended like this");
            }
        }
    }
    Ok(())
}

/// Most runs can be moved by locks alone; only inside does it show whether this one can.
async fn take_up_job(engine: &Engine, job: &Job, lost_max: i64) -> Result<(ClaimOutcome, PostCommit), StoreError> {
    let take = |is_locking: bool| {
        let (own, held) = (engine.clone(), job.clone());
        move |tx: &mut Tx<'_>| claim::take_up(&own, tx, &held, lost_max, is_locking)
    };
    let store = &engine.parts().store;
    let about = job.run.map(|(run, _)| LockTarget::Run(run));
    match store.write_locking(1 << 10, about, take(true)).await?.value {
        Some(taken) => Ok(taken),
        None => Ok(store.write(take(false)).await?.value.unwrap_or((ClaimOutcome::Settled, PostCommit::default()))),
    }
}

/// Says that this process is alive and at its calls; breaks off those that are somebody else's now.
async fn beat(engine: &Engine, worker: &WorkerDraft, holder: &JobHolder, terms: LeaseTerms) {
    let every = Duration::from_millis(u64::try_from(terms.heartbeat_ms).unwrap_or(30_000));
    let mut beats = tokio::time::interval(every);
    loop {
        beats.tick().await;
        let held = engine.parts().worker_pool.held();
        match engine.parts().store.keep_jobs(holder, &held).await {
            Ok(lost) => engine.parts().worker_pool.lose(&held, |job| lost.contains(&job.id)),
            Err(error) => tracing::debug!(%error, "could not say that calls are under way"),
        }
        if let Err(error) = say_alive(engine, worker).await {
            tracing::debug!(%error, "could not say that a worker is alive");
        }
    }
}

/// Says that a worker is alive and what it did; one that was forgotten meanwhile makes itself known again.
pub(crate) async fn say_alive(engine: &Engine, worker: &WorkerDraft) -> Result<(), StoreError> {
    let (tally, worker) = (engine.parts().worker_pool.tally(), worker.clone());
    let said = engine.parts().store.write(move |tx| match tx.renew_worker(&SYSTEM, worker.id, tally) {
        Err(StoreError::NotFound(_)) => {
            tx.register_worker(&SYSTEM, &worker)?;
            tx.renew_worker(&SYSTEM, worker.id, tally)
        }
        said => said,
    });
    let said = said.await;
    if said.is_err() {
        engine.parts().worker_pool.owe(tally);
    }
    said.map(drop)
}

/// Hears of runs that were ended elsewhere, where others share the database: their calls here are broken off at once, not
/// at the next beat.
async fn follow(engine: &Engine) {
    let (store, worker_pool) = (&engine.parts().store, &engine.parts().worker_pool);
    if store.is_alone() {
        return;
    }
    let mut rung = store.wake().subscribe();
    loop {
        let _ = tokio::time::timeout(LOOK_EVERY, rung.changed()).await;
        let held = worker_pool.held();
        if !held.is_empty() {
            let asked = held.clone();
            match store.read(move |tx| tx.held_jobs(&SYSTEM, &asked)).await {
                Ok(kept) => worker_pool.lose(&held, |job| !kept.contains(&(job.id, job.fence))),
                Err(error) => tracing::debug!(%error, "could not see whether calls are still wanted"),
            }
        }
        tokio::time::sleep(PAUSE_BETWEEN_LOOKS).await;
    }
}

/// Most calls of one kind that are counted as waiting.
const QUEUED_MAX: i64 = 1_000;

impl Engine {
    /// How many calls of the caller's runs wait for a worker.
    pub async fn queued_calls(&self, caller: &Caller) -> Result<i64, EngineError> {
        let viewer = caller.viewer();
        let count = move |tx: &mut Tx<'_>| {
            KINDS.iter().try_fold(0, |sum, kind| Ok(sum + tx.queued_jobs(&viewer, kind.as_str(), QUEUED_MAX)?))
        };
        Ok(self.parts().store.read(count).await?)
    }

    /// Jobs that nobody could do, the oldest first: one's own, those of whom one looks at by a grant, and for administrators
    /// everybody's. Why is told of one's own alone, or by a grant: the words may be of what its owner keeps.
    pub async fn dead_jobs(
        &self,
        caller: &Caller,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<DeadLetter, JobId>, EngineError> {
        let sees_all = caller.grant.is_none() && caller.require_admin().is_ok();
        let viewer = if sees_all { SYSTEM } else { caller.viewer() };
        let mut page = self.parts().store.read(move |tx| tx.dead_letters(&viewer, after, limit)).await?;
        for job in page.rows.iter_mut().filter(|job| sees_all && job.owner != caller.user) {
            job.reason = None;
        }
        Ok(page)
    }

    /// Every worker that was heard of lately, for administrators.
    pub async fn workers(&self, caller: &Caller) -> Result<Vec<Worker>, EngineError> {
        caller.require_admin()?;
        let look = |tx: &mut Tx<'_>| {
            let lease_ms = tx.lease_terms(&SYSTEM)?.lease_ms;
            tx.workers(&SYSTEM, lease_ms)
        };
        Ok(self.parts().store.read(look).await?)
    }
}
