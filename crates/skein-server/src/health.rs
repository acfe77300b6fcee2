//! Liveness and readiness, for monitoring.
//!
//! Both are open to anybody, so they say that something is damaged and never what. Damage of single entries leaves the server
//! ready: everything else can still be answered (`docs/decisions/0035-damage-found-while-serving.md`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_engine::{Engine, EngineError};
use skein_store::{DamageStatus, StoreError};

use crate::http::error::ApiError;
use crate::http::limits::READY_TIME_MAX;

/// `GET /health/live`: it answers, so it lives.
pub(crate) async fn live() -> Json<Value> {
    Json(json!({ "status": "live" }))
}

/// `GET /health/ready`: the store answers a read, and has room where it had none.
pub(crate) async fn ready(State(engine): State<Engine>) -> Result<Json<Value>, ApiError> {
    let answered = tokio::time::timeout(READY_TIME_MAX, engine.ready()).await;
    let silent = || EngineError::Store(StoreError::Unavailable("it does not answer".to_owned()));
    let damage = answered.unwrap_or_else(|_| Err(silent())).map_err(not_ready)?;
    Ok(Json(json!({ "status": "ready", "damage": damage.map(described) })))
}

fn described(damage: DamageStatus) -> Value {
    json!({
        "places": damage.places,
        "firstFoundAt": damage.first_found_at,
        "remedy": "run skein verify, which lists what is damaged; restore it from a backup and start the server again",
    })
}

/// Whatever the reason, a server that cannot read or write is not ready.
fn not_ready(error: EngineError) -> ApiError {
    let unavailable = |code, message| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
    match error {
        EngineError::Store(StoreError::DiskFull) => {
            let message = "the storage has no room left; free some space, and the server is ready again by itself";
            unavailable("storage_full", message).retryable()
        }
        EngineError::Store(StoreError::Corrupt(detail)) => {
            let message = "the database is corrupt; stop the server, run skein verify, and restore a backup";
            unavailable("storage_corrupt", message).caused_by(detail)
        }
        error => EngineError::Store(StoreError::Unavailable(error.to_string())).into(),
    }
}
