//! Who is at work, for administrators; and how much waits for them, for everybody.

use axum::extract::State;
use serde::Serialize;
use skein_core::{JobId, Millis, WorkerId};
use skein_engine::Engine;
use skein_store::workers::Worker;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::json::Json;
use crate::pagination::Listing;
use crate::query::{NoParameters, Parameters};
use crate::signed_in::SignedIn;

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
