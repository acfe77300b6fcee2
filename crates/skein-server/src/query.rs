//! Takes the query of a request: known parameters only, each at most once.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The parameters `T` names; its derive has to deny unknown fields.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = Query::from_request_parts(parts, state).await;
        let Query(parameters) = read.map_err(|rejection| invalid(&rejection))?;
        Ok(Self(parameters))
    }
}

fn invalid(rejection: &QueryRejection) -> ApiError {
    // The text begins with words about the parser; what follows is about the parameter.
    let text = rejection.body_text();
    let problem = text.split_once(": ").map_or(text.as_str(), |(_, problem)| problem);
    ApiError::bad_request("invalid_query", problem)
}

/// For paths that take no parameters.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}
