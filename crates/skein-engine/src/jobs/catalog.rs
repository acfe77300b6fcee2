//! Executes queued catalog work: tests of tools and the rotation of the vault.
//!
//! A job stands in the transaction of its operation; whoever takes it up keeps its lease alive while it works. Calls are
//! slow and wait for others, so several are carried out at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skein_core::garden::event::EventName;
use skein_core::{ItemId, JobId, OperationId, RecordId, RuleViolation, UserId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::operations::OperationState;
use skein_store::{StoreError, Tx};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::catalog::SYSTEM;
use crate::catalog::rotation::{self, Rotation};
use crate::engine::Engine;
use crate::tool_call::test;

const QUEUE: &str = "catalogue";
const AT_ONCE: usize = 32;
/// For one user.
const AT_ONCE_EACH: usize = 8;
/// How long others come first once a user has that many.
const TURN_MS: i64 = 500;
pub(crate) const LEASE_MS: i64 = 90_000;
const HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_secs(1);
const FOLLOW_EVERY: Duration = Duration::from_secs(5);

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "task")]
pub(crate) enum Task {
    #[serde(rename_all = "camelCase")]
    ToolTest {
        tool: RecordId,
        call: ItemId,
        inputs: Map<String, Value>,
        /// As it was when it was asked for.
        version: i64,
        secret: Option<RecordId>,
    },
    VaultRotation(Rotation),
}

#[derive(Serialize, Deserialize)]
struct Order {
    operation: OperationId,
    #[serde(flatten)]
    task: Task,
}

/// Writes down what came of a task and gives the state its operation ends in.
pub(crate) type Conclusion = Box<dyn FnMut(&mut Tx<'_>) -> Result<OperationState, StoreError> + Send>;

/// What became of a task.
pub(crate) enum TaskOutcome {
    /// It is done; the event is told to whoever asked for it.
    Completed(Value, EventName),
    /// The rotation failed, with the reason; its requester receives the event.
    Failed(Value, EventName),
    /// Another worker may be able to do it: it is put back for a moment.
    NotHere,
    /// It is written down in the transaction that ends it.
    Concluded {
        conclude: Conclusion,
        /// How many bytes that is beyond the usual.
        weight: usize,
    },
    /// It was cancelled, or another worker took it over.
    Taken,
}

/// Whether work is still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskDemand {
    Still,
    Cancelled,
    /// Another worker has it.
    Lost,
}

pub(crate) fn enqueue(tx: &mut Tx<'_>, viewer: &Viewer, operation: OperationId, task: &Task) -> Result<(), StoreError> {
    let order = Order { operation, task: task.clone() };
    let payload = serde_json::to_string(&order).expect("a task is plain JSON");
    tx.enqueue(viewer, &JobDraft::new(QUEUE, payload))?;
    Ok(())
}

/// Takes up work, and follows what other servers decide, until it is stopped or dropped.
pub(crate) struct CatalogWorker {
    /// How long what is under way may take, once it is to end.
    stopping: watch::Sender<Option<Duration>>,
    working: JoinHandle<()>,
}

impl CatalogWorker {
    pub(crate) fn start(engine: Engine, name: String) -> Self {
        let (stopping, stopped) = watch::channel(None);
        let working = tokio::spawn(async move {
            let taking = take_up(&engine, &name, stopped);
            tokio::select! {
                () = follow(&engine) => {}
                () = taking => {}
            }
        });
        Self { stopping, working }
    }

    pub(crate) async fn stop(mut self, grace: Duration) {
        let _ = self.stopping.send(Some(grace));
        let _ = (&mut self.working).await;
    }
}

impl Drop for CatalogWorker {
    fn drop(&mut self) {
        self.working.abort();
    }
}

async fn follow(engine: &Engine) {
    let mut looks = tokio::time::interval(FOLLOW_EVERY);
    loop {
        looks.tick().await;
        if let Err(error) = engine.follow_endpoints().await {
            tracing::debug!(%error, "could not look which addresses are allowed");
        }
    }
}

async fn take_up(engine: &Engine, name: &str, mut stopped: watch::Receiver<Option<Duration>>) {
    let (places, running, held) =
        (Arc::new(Semaphore::new(AT_ONCE)), RunningTasks::default(), UnfinishedJobs::default());
    let mut calls = JoinSet::new();
    let grace = loop {
        while calls.try_join_next().is_some() {}
        // Only waiting is cut short: a job that was claimed is never dropped on the way.
        let place = tokio::select! {
            biased;
            grace = told_to_stop(&mut stopped) => break grace,
            place = places.clone().acquire_owned() => place,
        };
        let Ok(place) = place else { return };
        match engine.parts().store.claim_job(QUEUE, name, LEASE_MS).await {
            Ok(Some(job)) => match running.begin(job.owner) {
                Some(turn) => {
                    let (engine, held) = (engine.clone(), held.with(&job));
                    calls.spawn(async move {
                        carry_out(&engine, job).await;
                        held.end();
                        drop((place, turn));
                    });
                }
                None => put_back(engine, job).await,
            },
            Ok(None) => wait(engine.parts().called.notified(), &mut stopped).await,
            Err(error) => {
                tracing::debug!(%error, "could not look for work of the catalogue");
                wait(std::future::pending(), &mut stopped).await;
            }
        }
    };
    let _ = tokio::time::timeout(grace, async { while calls.join_next().await.is_some() {} }).await;
    calls.shutdown().await;
    give_back(engine, held.left()).await;
}

async fn told_to_stop(stopped: &mut watch::Receiver<Option<Duration>>) -> Duration {
    match stopped.wait_for(Option::is_some).await {
        Ok(grace) => grace.unwrap_or_default(),
        // Whoever could say so is gone, and this with them.
        Err(_) => Duration::ZERO,
    }
}

/// For a bell, for a moment, or for the end.
async fn wait(bell: impl Future<Output = ()>, stopped: &mut watch::Receiver<Option<Duration>>) {
    tokio::select! {
        () = bell => {}
        _ = told_to_stop(stopped) => {}
        () = tokio::time::sleep(LOOK_EVERY) => {}
    }
}

/// In one transaction; what ended at the last moment is no longer held, and stays as it ended. Whoever takes the rest up
/// learns from the count of lost workers that a call may have been made.
async fn give_back(engine: &Engine, left: Vec<Job>) {
    if left.is_empty() {
        return;
    }
    let count = left.len();
    match engine.parts().store.write(move |tx| tx.abandon_jobs(&SYSTEM, &left)).await {
        Ok(_) => tracing::info!(count, "gave back calls that were under way"),
        Err(error) => tracing::warn!(%error, count, "calls that were under way are left to their leases"),
    }
}

/// Jobs whose end has not been written down.
#[derive(Clone, Default)]
struct UnfinishedJobs(Arc<Mutex<HashMap<JobId, Job>>>);

/// One of them.
struct UnfinishedJob(UnfinishedJobs, JobId);

impl UnfinishedJobs {
    fn with(&self, job: &Job) -> UnfinishedJob {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job.id, job.clone());
        UnfinishedJob(self.clone(), job.id)
    }

    fn left(&self) -> Vec<Job> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain().map(|(_, job)| job).collect()
    }
}

impl UnfinishedJob {
    /// Not on being dropped: a call that was broken off is still held.
    fn end(self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

/// How much is carried out for whom, so that nobody's slow calls take every place.
#[derive(Clone, Default)]
struct RunningTasks(Arc<Mutex<HashMap<UserId, usize>>>);

/// A place taken by somebody's work; given back when dropped.
struct RunningTask(RunningTasks, UserId);

impl RunningTasks {
    fn begin(&self, owner: UserId) -> Option<RunningTask> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(owner).or_default();
        if *count >= AT_ONCE_EACH {
            return None;
        }
        *count += 1;
        Some(RunningTask(self.clone(), owner))
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let mut counts = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
        }
        counts.retain(|_, count| *count > 0);
    }
}

/// Others come first for a moment.
async fn put_back(engine: &Engine, job: Job) {
    let put_back = move |tx: &mut Tx<'_>| {
        let later = tx.now().plus(TURN_MS);
        tx.fail_job(&SYSTEM, &job, "others' turn", AfterFailure::RetryAt(later))
    };
    let _ = engine.parts().store.write(put_back).await;
}

async fn carry_out(engine: &Engine, job: Job) {
    let Ok(Order { operation, task }) = serde_json::from_str::<Order>(&job.payload) else {
        tracing::warn!(job = %job.id, "a job of the catalogue cannot be read and was put aside");
        let bury = move |tx: &mut Tx<'_>| tx.fail_job(&SYSTEM, &job, "its payload cannot be read", AfterFailure::Bury);
        let _ = engine.parts().store.write(bury).await;
        return;
    };
    let ended = tokio::select! {
        ended = begin(engine, &job, operation, &task) => ended,
        wanted = watch_over(engine, &job, operation) => Ok(broken_off(wanted, &job, &task)),
    };
    match ended {
        Ok(TaskOutcome::NotHere) => put_back(engine, job).await,
        Ok(ended) => end(engine, job, operation, ended).await,
        // The lease runs out, and it is tried again.
        Err(error) => tracing::warn!(%error, %operation, "work of the catalogue was interrupted"),
    }
}

async fn begin(engine: &Engine, job: &Job, operation: OperationId, task: &Task) -> Result<TaskOutcome, StoreError> {
    // Whoever cancelled it before it was begun wants none of it.
    let wanted = go_on(engine, job, operation, 0).await?;
    match (wanted, task) {
        (TaskDemand::Lost | TaskDemand::Cancelled, _) => Ok(unwanted(wanted, job, task)),
        (TaskDemand::Still, Task::ToolTest { .. }) => test::carry_out(engine, job, task).await,
        (TaskDemand::Still, Task::VaultRotation(rotation)) => rotation::rotate(engine, job, operation, rotation).await,
    }
}

/// Ends a call that was under way: what it did at the service, nobody can take back.
fn broken_off(wanted: TaskDemand, job: &Job, task: &Task) -> TaskOutcome {
    match (wanted, task) {
        (TaskDemand::Cancelled, Task::ToolTest { call, .. }) => test::broken_off(job.owner, *call),
        _ => unwanted(wanted, job, task),
    }
}

/// Ends what nobody waits for any more and was not begun.
fn unwanted(wanted: TaskDemand, job: &Job, task: &Task) -> TaskOutcome {
    match (wanted, task) {
        (TaskDemand::Cancelled, Task::ToolTest { call, .. }) => test::cancelled(job.owner, *call),
        _ => TaskOutcome::Taken,
    }
}

/// Holds on to a job, and looks whether it is wanted: when somebody cancels here, and every moment, since they may
/// cancel elsewhere. Ends when it is not, or is somebody else's.
async fn watch_over(engine: &Engine, job: &Job, operation: OperationId) -> TaskDemand {
    let mut beats = tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT_EVERY, HEARTBEAT_EVERY);
    loop {
        tokio::select! {
            _ = beats.tick() => {
                let held = job.clone();
                let alive = engine.parts().store.write(move |tx| tx.heartbeat(&SYSTEM, &held, LEASE_MS)).await;
                if matches!(alive, Err(StoreError::LeaseLost(_))) {
                    return TaskDemand::Lost;
                }
            }
            () = engine.parts().cancelled.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let state = engine.parts().store.read(move |tx| Ok(tx.operation(&SYSTEM, operation)?.state)).await;
        if matches!(state, Ok(OperationState::Cancelled)) {
            return TaskDemand::Cancelled;
        }
    }
}

/// Says how far the work is, and asks whether it is still wanted.
pub(crate) async fn go_on(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    percent: i64,
) -> Result<TaskDemand, StoreError> {
    let percent = percent.clamp(0, 99);
    engine.parts().progress.tell(job.owner, operation, percent);
    let (job, state) = (job.clone(), OperationState::Processing { progress: percent });
    let told = engine.parts().store.write(move |tx| {
        tx.heartbeat(&SYSTEM, &job, LEASE_MS)?;
        tx.advance_operation(&SYSTEM, operation, &state)
    });
    match told.await {
        Ok(_) => Ok(TaskDemand::Still),
        Err(StoreError::Ended(_)) => Ok(TaskDemand::Cancelled),
        Err(StoreError::LeaseLost(_)) => Ok(TaskDemand::Lost),
        Err(error) => Err(error),
    }
}

/// Ends a task in one transaction: off the queue, its facts, its operation. Whoever lost it writes nothing. What came of a
/// call may be had only once, so while the store is busy it is held on to.
async fn end(engine: &Engine, job: Job, operation: OperationId, ended: TaskOutcome) {
    let (conclude, event, weight): (Option<Conclusion>, _, _) = match ended {
        TaskOutcome::Completed(result, event) => {
            let state = OperationState::Completed { result: result.to_string() };
            (Some(Box::new(move |_| Ok(state.clone()))), Some(event), 0)
        }
        TaskOutcome::Failed(error, event) => {
            let state = OperationState::Failed { error: error.to_string() };
            (Some(Box::new(move |_| Ok(state.clone()))), Some(event), 0)
        }
        TaskOutcome::Concluded { conclude, weight } => (Some(conclude), None, weight),
        TaskOutcome::Taken | TaskOutcome::NotHere => (None, None, 0),
    };
    let (owner, conclude) = (Viewer::User(job.owner), Arc::new(Mutex::new(conclude)));
    loop {
        let (held, owner, conclude) = (job.clone(), owner.clone(), Arc::clone(&conclude));
        let written = engine.parts().store.write_weighing(weight.max(1 << 10), move |tx| {
            tx.complete_job(&SYSTEM, &held)?;
            let mut conclude = conclude.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(conclude) = conclude.as_mut() else { return Ok(()) };
            let state = conclude(tx)?;
            match tx.advance_operation(&SYSTEM, operation, &state) {
                // Cancelled at the last moment: it stays so.
                Err(StoreError::Ended(_)) => Ok(()),
                other => {
                    other?;
                    event.map_or(Ok(()), |event| tx.tell_own(&owner, event, Some(&operation.to_string()), Map::new()))
                }
            }
        });
        match written.await {
            Ok(_) | Err(StoreError::LeaseLost(_)) => return,
            Err(StoreError::Busy) => tokio::time::sleep(LOOK_EVERY).await,
            Err(error) => {
                tracing::warn!(%error, %operation, "could not end work of the catalogue; it will be done again");
                return;
            }
        }
    }
}

/// What whoever asked is told of a failure.
pub(crate) fn told(code: &str, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

/// What whoever asked is told of a rule that would be broken.
pub(crate) fn told_breach(violation: &RuleViolation) -> Value {
    let mut error = told("rule_violation", &format!("{}; {}", violation.problem(), violation.remedy()));
    error["rule"] = json!(violation.rule());
    error
}
