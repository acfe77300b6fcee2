//! Takes the body of a request as bytes: JSON by its label, of limited size, in limited time.
//!
//! Bytes and not a document, because depth, wide integers and doubled keys are judged on the text itself.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use serde::de::DeserializeOwned;
use skein_core::document;

use crate::error::ApiError;
use crate::limits::{BODY_BYTES_MAX, BODY_TIME_MAX};
use crate::listen::Visitor;
use crate::query;

/// The text of a JSON body, unread.
pub(crate) struct JsonText(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        query::refuse_unread(request.extensions(), request.uri())?;
        check_label(request.headers())?;
        check_announced_size(request.headers(), BODY_BYTES_MAX as u64)?;
        read(request, state, BODY_BYTES_MAX).await.map(Self)
    }
}

async fn read<S: Send + Sync>(mut request: Request, state: &S, bytes_max: usize) -> Result<Bytes, ApiError> {
    DefaultBodyLimit::max(bytes_max).apply(&mut request);
    let time_max = request.extensions().get().map_or(BODY_TIME_MAX, Visitor::body_time_max);
    let read = tokio::time::timeout(time_max, Bytes::from_request(request, state));
    let read = read.await.map_err(|_| too_slow(time_max))?;
    read.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::body_too_large(bytes_max as u64),
        _ => ApiError::bad_request("invalid_body", "the body broke off; send it again"),
    })
}

/// A body that asks, and changes nothing; its derive has to deny unknown fields.
pub(crate) struct Question<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Question<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let JsonText(text) = JsonText::from_request(request, state).await?;
        let read = serde_json::from_value(document::parse_object(&text)?.into());
        read.map(Self).map_err(|problem| ApiError::bad_request("invalid_body", problem.to_string()))
    }
}

/// A missing label is taken for JSON; a wrong one is a mistake worth naming.
fn check_label(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(label) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let label = label.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if label.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "the body has to be JSON; send Content-Type: application/json";
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
}

/// Refuses at once what would be refused after it was sent.
pub(crate) fn check_announced_size(headers: &HeaderMap, bytes_max: u64) -> Result<(), ApiError> {
    let size = headers.get(header::CONTENT_LENGTH).and_then(|size| size.to_str().ok());
    let size = size.and_then(|size| size.parse::<u64>().ok());
    if size.is_some_and(|size| size > bytes_max) { Err(ApiError::body_too_large(bytes_max)) } else { Ok(()) }
}

fn too_slow(time_max: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} seconds", time_max.as_secs());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", message)
}
