//! Follows a request from its arrival to its answer: correlation id, one line in the log, and the body of errors.
//!
//! Outermost of all layers, so that nothing leaves without an id and no error without its envelope. The log line
//! holds no header and no query, where secrets might be.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use skein_core::digest::to_hex;

use crate::error::ApiError;
use crate::limits::CORRELATION_ID_CHARS_MAX;

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

pub(crate) async fn follow(request: Request, next: Next) -> Response {
    let id = correlation_id(request.headers());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = answered.unwrap_or_else(|_| ApiError::internal("a handler panicked; see above").into_response());
    let response = finished(response, &id);
    let (status, took_us) = (response.status().as_u16(), started.elapsed().as_micros());
    tracing::info!(%method, path, status, took_us, correlation_id = id, "request");
    response
}

/// Takes over the client's id where it is one that can be logged, else draws one.
fn correlation_id(headers: &HeaderMap) -> String {
    let legal =
        |id: &&str| (1..=CORRELATION_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
    let given = headers.get(&CORRELATION_ID).and_then(|id| id.to_str().ok()).filter(legal);
    given.map_or_else(drawn_id, str::to_owned)
}

fn drawn_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness");
    to_hex(&bytes)
}

fn finished(mut response: Response, id: &str) -> Response {
    if let Some(error) = response.extensions_mut().remove::<ApiError>() {
        if let Some(cause) = error.cause() {
            tracing::error!(correlation_id = id, cause, "request failed");
        }
        let allowed = response.headers().get(header::ALLOW).cloned();
        response = error.render(id);
        if let Some(allowed) = allowed {
            response.headers_mut().insert(header::ALLOW, allowed);
        }
    }
    let headers = response.headers_mut();
    headers.insert(CORRELATION_ID, HeaderValue::from_str(id).expect("ids are visible ASCII"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    async fn broken() -> &'static str {
        panic!("a bug")
    }

    #[tokio::test]
    async fn a_panic_is_answered_in_the_envelope() {
        let router: Router = Router::new().route("/", get(broken)).layer(from_fn(follow));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let envelope: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(envelope["error"]["code"], "internal");
    }
}
