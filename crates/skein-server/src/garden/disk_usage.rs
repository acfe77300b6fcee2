//! Disk usage over HTTP.

use axum::extract::State;
use serde::Serialize;
use skein_core::Millis;
use skein_engine::{DiskUsage, Engine};
use skein_store::blobs::BlobTotals;
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::respond::json::Json;

/// How much room is taken. The index is told by `GET /index`.
#[derive(Serialize, ToSchema)]
pub(crate) struct StorageView {
    database: DatabaseView,
    /// What was attached; null while it is counted for the first time.
    blobs: Option<BlobAmountView>,
}

/// The database and how large it is now.
#[derive(Serialize, ToSchema)]
pub(crate) struct DatabaseView {
    /// sqlite or postgresql.
    #[schema(example = "sqlite")]
    kind: &'static str,
    /// Its files, or what PostgreSQL says of its own.
    #[schema(example = 4_096_000)]
    bytes: u64,
}

/// The objects beside the database, those that nobody names any more included.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlobAmountView {
    #[schema(example = 12)]
    objects: u64,
    #[schema(example = 3_000_000)]
    bytes: u64,
    /// When they were counted; they are again when they are asked for ten minutes later.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    counted_at: Millis,
}

impl From<BlobTotals> for BlobAmountView {
    fn from(BlobTotals { objects, bytes, counted_at }: BlobTotals) -> Self {
        Self { objects, bytes, counted_at }
    }
}

impl From<DiskUsage> for StorageView {
    fn from(DiskUsage { database, database_bytes, blobs }: DiskUsage) -> Self {
        let database = DatabaseView { kind: database, bytes: database_bytes };
        Self { database, blobs: blobs.map(BlobAmountView::from) }
    }
}

/// How much room the database and the blobs take, for administrators.
#[utoipa::path(get, path = "/storage", tag = "administration", responses((status = 200, body = StorageView)))]
pub(crate) async fn read_storage(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<StorageView>, ApiError> {
    Ok(Json(engine.storage(&caller).await?.into()))
}
