//! Operations: looking at them, cancelling them, and carrying out those that were queued.
//!
//! Queued work is a job in the same transaction as its operation. Any server may take it up; should it vanish, the
//! lease runs out and another does. Cancelling is cooperative: whoever works on it notices at its next step.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::{Map, Value, json};
use skein_core::garden::event::EventName;
use skein_core::setting::OPERATIONS_KEPT_DAYS;
use skein_core::{Digest, OperationId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::operations::{Operation, OperationState};
use skein_store::timeline::items::Page;
use skein_store::verify::{VerifyOptions, VerifyReport, verify_until};
use skein_store::{StoreError, Tx};
use tokio::task::JoinHandle;

use crate::account::Caller;
use crate::catalog::CatalogWorker;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::{PoolSizes, WorkerPool};
use crate::progress::StagedProgress;
use crate::request::{CommittedChange, Outcome, Request, referred};

/// The kind of an operation that verifies the store.
pub const VERIFICATION: &str = "verification";
const QUEUE: &str = "operations";
const LEASE_MS: i64 = 90_000;
const HEARTBEAT_EVERY: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_secs(1);
const SWEEP_EVERY: Duration = Duration::from_hours(1);
/// How often work may vanish under its worker before a person has to look.
const LOST_MAX: i64 = 3;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const SEALS_TOLD_MAX: usize = 1_000;
const SYSTEM: Viewer = Viewer::System("operations");

/// What to verify, and against what.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct VerificationRequest {
    /// Also compare every table made from items, and every blob.
    pub deep: bool,
    /// The head noted earlier.
    pub expect: Option<Digest>,
}

impl Outcome for Operation {
    fn reference(&self) -> Value {
        json!({ "operation": self.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        tx.operation(viewer, referred(reference, "operation")?)
    }
}

impl Engine {
    /// One operation of the caller's.
    pub async fn operation(&self, caller: &Caller, id: OperationId) -> Result<Operation, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.operation(&viewer, id)).await?)
    }

    /// The caller's operations, newest first.
    pub async fn operations(
        &self,
        caller: &Caller,
        before: Option<OperationId>,
        limit: usize,
    ) -> Result<Page<Operation, OperationId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.operations(&viewer, before, limit)).await?)
    }

    /// Cancels an operation that has not ended.
    pub async fn cancel(
        &self,
        caller: &Caller,
        request: Request,
        id: OperationId,
    ) -> Result<CommittedChange<Operation>, EngineError> {
        let cancelled = self.change_moving(caller, request, "operation.cancel", move |engine, tx, viewer, _| {
            // The run before its operation: a run that ends takes them in this order, too.
            crate::flow::lock_run_of(tx, viewer, id)?;
            tx.advance_operation(viewer, id, &OperationState::Cancelled)?;
            tx.tell_own(viewer, EventName::OperationCancelled, Some(&id.to_string()), Map::new())?;
            // What it stands for ends with it.
            let after = crate::flow::cancel_of(engine, tx, viewer, id)?.unwrap_or_default();
            Ok((tx.operation(viewer, id)?, after))
        });
        let cancelled = cancelled.await?;
        self.parts().cancelled.notify_waiters();
        Ok(cancelled)
    }

    /// Queues a verification of the whole store, for administrators: its report names every owner.
    pub async fn request_verification(
        &self,
        caller: &Caller,
        request: Request,
        asked: VerificationRequest,
    ) -> Result<CommittedChange<()>, EngineError> {
        caller.require_admin()?;
        self.queue(caller, request, VERIFICATION, move |tx, viewer, operation| {
            let payload = json!({ "operation": operation, "asked": asked }).to_string();
            tx.enqueue(viewer, &JobDraft::new(QUEUE, payload))?;
            tx.tell_own(viewer, EventName::VerificationRequested, Some(&operation.to_string()), Map::new())
        })
        .await
    }
}

/// Carries out queued operations and forgets old ones, until it is stopped or dropped.
pub struct Worker {
    calls: CatalogWorker,
    executions: WorkerPool,
    _working: [OperationTask; 2],
}

/// Ends with its owner.
struct OperationTask(JoinHandle<()>);

impl Drop for OperationTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Worker {
    /// Starts working in the background; `name` tells workers apart.
    pub fn start(engine: Engine, name: String) -> Self {
        Self::with_pools(engine, name, &PoolSizes::default())
    }

    /// [`Self::start`] with so many calls of each kind at once.
    pub fn with_pools(engine: Engine, name: String, pools: &PoolSizes) -> Self {
        let calls = CatalogWorker::start(engine.clone(), name.clone());
        let executions = WorkerPool::start(engine.clone(), pools);
        let remembering = tokio::spawn(crate::memory::follow(engine.clone()));
        let working = tokio::spawn(async move {
            let summarising = crate::tree::summarise_growth(engine.clone(), name.clone());
            tokio::join!(work(engine.clone(), name), sweep(engine), summarising);
        });
        Self { calls, executions, _working: [OperationTask(working), OperationTask(remembering)] }
    }

    /// Takes nothing up any more, waits so long for calls that are under way, and gives back what is left. A worker
    /// that is dropped leaves its calls to their leases.
    pub async fn stop(self, grace: Duration) {
        tokio::join!(self.calls.stop(grace), self.executions.stop(grace));
    }
}

async fn work(engine: Engine, name: String) {
    loop {
        match engine.parts().store.claim_job(QUEUE, &name, LEASE_MS).await {
            Ok(Some(job)) => carry_out(&engine, job).await,
            Ok(None) => {
                // What other servers queued, or a lost worker held, has to be looked for.
                let _ = tokio::time::timeout(LOOK_EVERY, engine.parts().queued.notified()).await;
            }
            Err(error) => {
                tracing::debug!(%error, "could not look for work");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// Forgets operations and sessions whose time has passed.
async fn sweep(engine: Engine) {
    let mut hours = tokio::time::interval(SWEEP_EVERY);
    loop {
        hours.tick().await;
        let kept_ms = engine.number(&OPERATIONS_KEPT_DAYS).await * DAY_MS;
        loop {
            let sweep = move |tx: &mut Tx<'_>| {
                tx.sweep_sessions(&SYSTEM)?;
                tx.sweep_operations(&SYSTEM, kept_ms)
            };
            match engine.parts().store.write(sweep).await {
                Ok(swept) if swept.value > 0 => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "could not forget old operations; it will be tried again");
                    break;
                }
            }
        }
    }
}

async fn carry_out(engine: &Engine, job: Job) {
    let payload: Value = serde_json::from_str(&job.payload).unwrap_or_default();
    let (operation, asked) = (referred(&payload, "operation"), referred(&payload, "asked"));
    let (Ok(operation), Ok(asked)) = (operation, asked) else {
        return bury(engine, job, "its payload cannot be read").await;
    };
    if job.lost > LOST_MAX {
        let failed = OperationState::Failed { error: json!({ "message": "its workers kept vanishing" }).to_string() };
        return end(engine, job, operation, failed).await;
    }
    let (engine, job) = (engine.clone(), job);
    let verifying = tokio::task::spawn_blocking(move || {
        let outcome = verify_for(&engine, &job, operation, &asked);
        (engine, job, outcome)
    });
    let Ok((engine, job, outcome)) = verifying.await else { return };
    match outcome {
        Ok(Some(report)) => {
            let result = report_value(report).to_string();
            end(&engine, job, operation, OperationState::Completed { result }).await;
        }
        // Cancelled: its state says so already.
        Ok(None) => take_off_queue(&engine, job).await,
        Err(error) => {
            tracing::warn!(%error, %operation, "a verification failed");
            let error = json!({ "message": "the store could not be read to the end" }).to_string();
            end(&engine, job, operation, OperationState::Failed { error }).await;
        }
    }
}

/// Verifies, telling how far it is; nothing when it was cancelled or another worker took over.
fn verify_for(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    asked: &VerificationRequest,
) -> Result<Option<VerifyReport>, StoreError> {
    let options = VerifyOptions { deep: asked.deep, expect: asked.expect };
    let mut told = std::time::Instant::now();
    let (mut first, mut forward) = (true, StagedProgress::default());
    verify_until(&engine.parts().store, &engine.parts().blobs, &options, &mut |step| {
        let percent = forward.with(step);
        if !first && told.elapsed() < HEARTBEAT_EVERY {
            return ControlFlow::Continue(());
        }
        (told, first) = (std::time::Instant::now(), false);
        let (owner, job) = (job.owner, job.clone());
        let alive = engine.parts().store.write_blocking(move |tx| {
            tx.heartbeat(&SYSTEM, &job, LEASE_MS)?;
            advance(tx, &SYSTEM, operation, percent)
        });
        match alive {
            Ok(reached) => engine.parts().progress.tell(owner, operation, reached.value),
            Err(StoreError::Ended(_) | StoreError::LeaseLost(_)) => return ControlFlow::Break(()),
            // A write that failed for another reason is no reason to stop reading.
            Err(_) => {}
        }
        ControlFlow::Continue(())
    })
}

/// Notes how far an operation has come, and says so. Whoever takes over what another began starts anew: until it is as
/// far, nothing changes.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    operation: OperationId,
    percent: i64,
) -> Result<i64, StoreError> {
    let before = match tx.operation(viewer, operation)?.state {
        OperationState::Processing { progress } => progress,
        _ => 0,
    };
    let progress = percent.max(before);
    tx.advance_operation(viewer, operation, &OperationState::Processing { progress })?;
    Ok(progress)
}

async fn end(engine: &Engine, job: Job, operation: OperationId, state: OperationState) {
    let name = match state {
        OperationState::Completed { .. } => EventName::VerificationCompleted,
        _ => EventName::VerificationFailed,
    };
    let owner = Viewer::User(job.owner);
    let ended = engine.parts().store.write(move |tx| {
        tx.complete_job(&SYSTEM, &job)?;
        match tx.advance_operation(&SYSTEM, operation, &state) {
            // Cancelled at the last moment: it stays so.
            Err(StoreError::Ended(_)) => Ok(()),
            other => {
                other?;
                tx.tell_own(&owner, name, Some(&operation.to_string()), Map::new())
            }
        }
    });
    if let Err(error) = ended.await {
        tracing::warn!(%error, %operation, "could not end an operation; it will be done again");
    }
}

async fn take_off_queue(engine: &Engine, job: Job) {
    // Whoever took it over has it now.
    let _ = engine.parts().store.write(move |tx| tx.complete_job(&SYSTEM, &job)).await;
}

async fn bury(engine: &Engine, job: Job, why: &'static str) {
    tracing::warn!(job = %job.id, why, "a job was put aside");
    let _ = engine.parts().store.write(move |tx| tx.fail_job(&SYSTEM, &job, why, AfterFailure::Bury)).await;
}

/// A report as it is kept: as one document, so that the seals of very many owners are printed by the command alone; and
/// without what a row of somebody's says, which is not for whoever verifies. Hashes and places are.
fn report_value(mut report: VerifyReport) -> Value {
    for found in &mut report.breaks {
        if matches!(found.table.as_ref(), "records" | "relations" | "grants") {
            (found.expected, found.found) = (None, None);
        }
    }
    report.seals = report.seals.into_iter().take(SEALS_TOLD_MAX).collect();
    report.to_json()
}
