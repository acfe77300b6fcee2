//! Workers over HTTP, for administrators, and the length of the queue, for everybody.

use axum::extract::State;
use serde::Serialize;
use skein_core::{ExecutionId, JobId, Millis, UserId, WorkerId};
use skein_engine::Engine;
use skein_store::jobs::DeadLetter;
use skein_store::jobs::workers::Worker;
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, PageParameters};

/// A process that makes calls.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerView {
    #[schema(value_type = String, example = "worker_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: WorkerId,
    /// `graph_query`, `llm_call`, `rest_call`, `mcp_tool`.
    types: Vec<String>,
    /// idle, busy or offline.
    #[schema(example = "idle")]
    status: &'static str,
    /// How many calls it makes at once.
    concurrency: i64,
    host: String,
    pid: i64,
    #[schema(value_type = Vec<String>)]
    current_job_ids: Vec<JobId>,
    processed_count: i64,
    error_count: i64,
    #[schema(value_type = String)]
    started_at: Millis,
    #[schema(value_type = String)]
    last_heartbeat: Millis,
}

impl From<Worker> for WorkerView {
    fn from(worker: Worker) -> Self {
        Self {
            id: worker.id,
            types: worker.queues,
            status: worker.status.as_str(),
            concurrency: worker.places,
            host: worker.host,
            pid: worker.pid,
            current_job_ids: worker.current_jobs,
            processed_count: worker.processed,
            error_count: worker.errors,
            started_at: worker.started_at,
            last_heartbeat: worker.last_heartbeat,
        }
    }
}

/// What waits to be done.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueueView {
    /// How many calls of your runs wait for a worker; of each kind 1,000 are counted at most.
    waiting: i64,
}

/// How much of yours waits for a worker.
#[utoipa::path(get, path = "/queue", tag = "processes", responses((status = 200, body = QueueView)))]
pub(crate) async fn read_queue(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<QueueView>, ApiError> {
    Ok(Json(QueueView { waiting: engine.queued_calls(&caller).await? }))
}

/// Work that nobody could do: whatever it belongs to has ended without it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadJobView {
    #[schema(value_type = String, example = "job_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: JobId,
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    /// What it waited for: a kind of call such as `rest_call`, or other work in the background.
    #[schema(example = "rest_call")]
    queue: String,
    /// The run it is a part of.
    #[schema(value_type = Option<String>)]
    execution_id: Option<ExecutionId>,
    /// The number of its step in the run, from 0.
    step: Option<i64>,
    /// How often it was tried.
    attempts: i64,
    /// How often the worker that had it was not heard of again.
    lost: i64,
    /// Why, of your own jobs and of those you look at by a grant.
    #[schema(example = "its payload cannot be read")]
    reason: Option<String>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// When it was put aside. It is kept as long as finished runs are.
    #[schema(value_type = String, example = "2026-11-15T09:31:30.000Z")]
    died_at: Millis,
}

impl From<DeadLetter> for DeadJobView {
    fn from(job: DeadLetter) -> Self {
        let DeadLetter { id, owner, queue, run, attempts, lost, reason, created_at, died_at } = job;
        let (execution_id, step) = run.unzip();
        Self { id, owner_id: owner, queue, execution_id, step, attempts, lost, reason, created_at, died_at }
    }
}

/// Work that nobody could do, the oldest first: yours, and everybody's for administrators.
#[utoipa::path(get, path = "/queue/dead", tag = "processes", params(PageParameters),
    responses((status = 200, body = Listing<DeadJobView>)))]
pub(crate) async fn list_dead_jobs(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<DeadJobView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.dead_jobs(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, DeadJobView::from)))
}

/// Every worker that was heard of lately.
#[utoipa::path(get, path = "/workers", tag = "processes", responses((status = 200, body = Listing<WorkerView>)))]
pub(crate) async fn list_workers(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<Listing<WorkerView>>, ApiError> {
    let workers: Vec<WorkerView> = engine.workers(&caller).await?.into_iter().map(WorkerView::from).collect();
    let limit = workers.len();
    Ok(Json(Listing::new(workers, None, limit)))
}
