//! Labels requests in logs and metrics by a few words of ours, never by a client's.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;

/// The method, or `other` for what is none of HTTP's.
pub(crate) fn method(request: &Request) -> &'static str {
    let known = [
        (Method::GET, "GET"),
        (Method::HEAD, "HEAD"),
        (Method::POST, "POST"),
        (Method::PUT, "PUT"),
        (Method::PATCH, "PATCH"),
        (Method::DELETE, "DELETE"),
        (Method::OPTIONS, "OPTIONS"),
        (Method::TRACE, "TRACE"),
        (Method::CONNECT, "CONNECT"),
    ];
    known.into_iter().find(|(method, _)| method == request.method()).map_or("other", |(_, label)| label)
}

/// The route as the router spells it, `/api/v1/items/{id}`; nothing where no route matched.
pub(crate) fn route(request: &Request) -> Option<MatchedPath> {
    request.extensions().get().cloned()
}
