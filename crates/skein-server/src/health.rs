//! Whether the server lives, and whether it can work: for whoever watches over it.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use skein_engine::{Engine, EngineError};
use skein_store::StoreError;

use crate::error::ApiError;
use crate::limits::READY_TIME_MAX;

/// `GET /health/live`: it answers, so it lives.
pub(crate) async fn live() -> Json<Value> {
    Json(json!({ "status": "live" }))
}

/// `GET /health/ready`: the store answers a read.
pub(crate) async fn ready(State(engine): State<Engine>) -> Result<Json<Value>, ApiError> {
    let answered = tokio::time::timeout(READY_TIME_MAX, engine.ready()).await;
    let silent = || EngineError::Store(StoreError::Unavailable("it does not answer".to_owned()));
    answered.unwrap_or_else(|_| Err(silent())).map_err(|error| not_ready(&error))?;
    Ok(Json(json!({ "status": "ready" })))
}

/// Whatever the reason, a server that cannot read is not ready.
fn not_ready(error: &EngineError) -> ApiError {
    EngineError::Store(StoreError::Unavailable(error.to_string())).into()
}
