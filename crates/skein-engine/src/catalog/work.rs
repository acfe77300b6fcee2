//! Queued work of the catalogue: calls that were asked for, and the rotation of the vault.
//!
//! A job stands in the transaction of its operation; whoever takes it up keeps its lease alive while it works. Calls are
//! slow and wait for others, so several are carried out at once.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skein_core::garden::event::EventName;
use skein_core::{ItemId, OperationId, RecordId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::operations::OperationState;
use skein_store::{StoreError, Tx};
use tokio::sync::Semaphore;

use crate::catalog::{SYSTEM, trials, vault};
use crate::engine::Engine;

const QUEUE: &str = "catalogue";
const AT_ONCE: usize = 16;
const LEASE_MS: i64 = 90_000;
const HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_secs(1);
const FOLLOW_EVERY: Duration = Duration::from_secs(5);

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "task")]
pub(super) enum Task {
    #[serde(rename_all = "camelCase")]
    ToolTest { tool: RecordId, call: ItemId, inputs: Map<String, Value> },
    /// Away from the master key that was current when it was asked for.
    VaultRotation { from: String },
}

#[derive(Serialize, Deserialize)]
struct Order {
    operation: OperationId,
    #[serde(flatten)]
    task: Task,
}

/// What became of a task.
pub(super) enum Ended {
    /// It is done; the event is told to whoever asked for it.
    Completed(Value, EventName),
    /// It failed, for a reason that whoever asked is told.
    Failed(Value, EventName),
    /// It was cancelled, or another worker took it over.
    Taken,
}

pub(super) fn enqueue(tx: &mut Tx<'_>, viewer: &Viewer, operation: OperationId, task: &Task) -> Result<(), StoreError> {
    let order = Order { operation, task: task.clone() };
    let payload = serde_json::to_string(&order).expect("a task is plain JSON");
    tx.enqueue(viewer, &JobDraft { queue: QUEUE.to_owned(), priority: 0, run_at: None, payload })?;
    Ok(())
}

/// Takes up work, and follows what other servers decide, until it is dropped.
pub(crate) async fn work(engine: Engine, name: String) {
    tokio::join!(follow(&engine), take_up(engine.clone(), name));
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

async fn take_up(engine: Engine, name: String) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match engine.parts().store.claim_job(QUEUE, &name, LEASE_MS).await {
            Ok(Some(job)) => {
                let engine = engine.clone();
                tokio::spawn(async move {
                    carry_out(&engine, job).await;
                    drop(place);
                });
            }
            Ok(None) => {
                let _ = tokio::time::timeout(LOOK_EVERY, engine.parts().called.notified()).await;
            }
            Err(error) => {
                tracing::debug!(%error, "could not look for work of the catalogue");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

async fn carry_out(engine: &Engine, job: Job) {
    let Ok(Order { operation, task }) = serde_json::from_str::<Order>(&job.payload) else {
        tracing::warn!(job = %job.id, "a job of the catalogue cannot be read and was put aside");
        let bury = move |tx: &mut Tx<'_>| tx.fail_job(&SYSTEM, &job, "its payload cannot be read", AfterFailure::Bury);
        let _ = engine.parts().store.write(bury).await;
        return;
    };
    let working = async {
        // Whoever cancelled it before it was begun wants none of it.
        if !go_on(engine, &job, operation, 0).await? {
            return Ok(Ended::Taken);
        }
        match &task {
            Task::ToolTest { tool, call, inputs } => trials::carry_out(engine, &job, (*tool, *call), inputs).await,
            Task::VaultRotation { from } => vault::rotate(engine, &job, operation, from).await,
        }
    };
    let ended = tokio::select! {
        ended = working => ended,
        () = keep_alive(engine, &job) => Ok(Ended::Taken),
    };
    match ended {
        Ok(ended) => end(engine, job, operation, &task, ended).await,
        // The lease runs out, and it is tried again.
        Err(error) => tracing::warn!(%error, %operation, "work of the catalogue was interrupted"),
    }
}

/// Holds on to a job; ends when it is somebody else's.
async fn keep_alive(engine: &Engine, job: &Job) {
    loop {
        tokio::time::sleep(HEARTBEAT_EVERY).await;
        let held = job.clone();
        let alive = engine.parts().store.write(move |tx| tx.heartbeat(&SYSTEM, &held, LEASE_MS)).await;
        if matches!(alive, Err(StoreError::LeaseLost(_))) {
            return;
        }
    }
}

/// Says how far the work is, and whether it is still wanted.
pub(super) async fn go_on(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    percent: i64,
) -> Result<bool, StoreError> {
    let percent = percent.clamp(0, 99);
    engine.parts().progress.tell(job.owner, operation, percent);
    let (job, state) = (job.clone(), OperationState::Processing { progress: percent });
    let told = engine.parts().store.write(move |tx| {
        tx.heartbeat(&SYSTEM, &job, LEASE_MS)?;
        tx.advance_operation(&SYSTEM, operation, &state)
    });
    match told.await {
        Ok(_) => Ok(true),
        Err(StoreError::Ended(_) | StoreError::LeaseLost(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn end(engine: &Engine, job: Job, operation: OperationId, task: &Task, ended: Ended) {
    let (state, event) = match ended {
        Ended::Completed(result, event) => {
            (Some(OperationState::Completed { result: result.to_string() }), Some(event))
        }
        Ended::Failed(error, event) => (Some(OperationState::Failed { error: error.to_string() }), Some(event)),
        Ended::Taken => (None, None),
    };
    // A call tells of itself.
    let event = event.filter(|_| !matches!(task, Task::ToolTest { .. }));
    let owner = Viewer::User(job.owner);
    let written = engine.parts().store.write(move |tx| {
        tx.complete_job(&SYSTEM, &job)?;
        let Some(state) = &state else { return Ok(()) };
        match tx.advance_operation(&SYSTEM, operation, state) {
            // Cancelled at the last moment: it stays so.
            Err(StoreError::Ended(_)) => Ok(()),
            other => {
                other?;
                event.map_or(Ok(()), |event| tx.tell_own(&owner, event, Some(&operation.to_string()), Map::new()))
            }
        }
    });
    match written.await {
        Ok(_) | Err(StoreError::LeaseLost(_)) => {}
        Err(error) => tracing::warn!(%error, %operation, "could not end work of the catalogue; it will be done again"),
    }
}

/// What whoever asked is told of a failure.
pub(super) fn told(code: &str, message: &str) -> Value {
    json!({ "code": code, "message": message })
}
