//! An answer written as JSON, into memory that is large enough for most answers from the start.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::ApiError;

/// Room for one item with a payload of common size.
const ANSWER_BYTES_USUAL: usize = 1 << 10;
const JSON: &str = "application/json";

pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(ANSWER_BYTES_USUAL);
        match serde_json::to_writer(&mut text, &self.0) {
            Ok(()) => (StatusCode::OK, [(CONTENT_TYPE, JSON)], text).into_response(),
            Err(error) => ApiError::internal(error.to_string()).into_response(),
        }
    }
}
