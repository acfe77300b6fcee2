//! Takes the body of a request as bytes: JSON by its label, of limited size, in limited time.
//!
//! Bytes and not a document, because depth, wide integers and doubled keys are judged on the text itself.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;

use crate::error::ApiError;
use crate::limits::{BODY_BYTES_MAX, BODY_TIME_MAX};
use crate::listen::BodyTimeMax;

/// The text of a JSON body, unread.
pub(crate) struct JsonText(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        check_label(request.headers())?;
        check_announced_size(request.headers())?;
        let time_max = request.extensions().get().map_or(BODY_TIME_MAX, |BodyTimeMax(time_max)| *time_max);
        let read = tokio::time::timeout(time_max, Bytes::from_request(request, state));
        let read = read.await.map_err(|_| too_slow(time_max))?;
        read.map(Self).map_err(|rejection| match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            _ => ApiError::bad_request("invalid_body", "the body broke off; send it again"),
        })
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
fn check_announced_size(headers: &HeaderMap) -> Result<(), ApiError> {
    let size = headers.get(header::CONTENT_LENGTH).and_then(|size| size.to_str().ok());
    let size = size.and_then(|size| size.parse::<usize>().ok());
    if size.is_some_and(|size| size > BODY_BYTES_MAX) { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> ApiError {
    ApiError::too_large(format!("a body has at most {BODY_BYTES_MAX} bytes; send smaller batches"))
}

fn too_slow(time_max: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} seconds", time_max.as_secs());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", message)
}
