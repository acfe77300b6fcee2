//! The payload of an item by itself: the bytes that `payloadHash` is the hash of.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use skein_core::ItemId;
use skein_engine::Engine;
use skein_store::StoreError;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};

/// What a fact says, byte for byte: canonical JSON of a document, and the only way to what is none, such as a large output of
/// a tool.
#[utoipa::path(get, path = "/items/{id}/payload", tag = "items", params(("id" = String, Path)),
    responses((status = 200, content_type = "application/octet-stream", body = String)))]
pub(crate) async fn read_payload(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ItemId>,
) -> Result<Response, ApiError> {
    let payload = engine.item(&caller, id).await?.item.payload;
    let payload = payload.ok_or_else(|| StoreError::NotFound(format!("the payload of {id}, which was destroyed")))?;
    let headers = [(header::CONTENT_TYPE, "application/octet-stream"), (header::CONTENT_DISPOSITION, "attachment")];
    Ok((headers.map(|(name, value)| (name, HeaderValue::from_static(value))), payload.into_bytes()).into_response())
}
