//! Takes the query of a request: known parameters only, each at most once. A request that takes none has none.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{Extensions, Uri};
use serde::de::DeserializeOwned;

use crate::http::error::ApiError;

/// The parameters `T` names; its derive has to deny unknown fields.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = Query::from_request_parts(parts, state).await;
        let Query(parameters) = read.map_err(|rejection| invalid(&rejection))?;
        parts.extensions.insert(QueryRead);
        Ok(Self(parameters))
    }
}

/// Marks a request whose handler has read the query.
#[derive(Clone)]
struct QueryRead;

/// Refuses a query that the handler does not read, for requests with a body.
pub(crate) fn refuse_unread(extensions: &Extensions, uri: &Uri) -> Result<(), ApiError> {
    let query = uri.query().unwrap_or_default();
    if query.is_empty() || extensions.get::<QueryRead>().is_some() {
        return Ok(());
    }
    let named = query.split(['=', '&']).next().unwrap_or_default();
    let message = format!("unknown parameter `{named}`: this request takes no query; send fields in its body");
    Err(ApiError::bad_request("invalid_query", message))
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
