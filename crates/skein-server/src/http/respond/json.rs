//! An answer written as JSON, into memory that is large enough for most answers from the start.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::http::error::ApiError;

/// Room for one item with a payload of common size.
const ANSWER_BYTES_USUAL: usize = 1 << 10;
const JSON: &str = "application/json";

/// What is still to be written.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        JsonBytes::of(&self.0).into_response()
    }
}

/// JSON as it goes out.
#[derive(Clone)]
pub(crate) struct JsonBytes(Bytes);

impl JsonBytes {
    pub(crate) fn of(value: &impl Serialize) -> Result<Self, ApiError> {
        let mut text = Vec::with_capacity(ANSWER_BYTES_USUAL);
        serde_json::to_writer(&mut text, value).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Self(text.into()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl IntoResponse for JsonBytes {
    fn into_response(self) -> Response {
        (StatusCode::OK, [(CONTENT_TYPE, JSON)], self.0).into_response()
    }
}
