//! Follows a request from its arrival to its answer: its ids, one line in the log, its count, and the body of errors.
//!
//! Outermost of all layers, so that nothing leaves without an id and no error without its envelope. The log line is
//! written in our own words: the route and not the path, which may hold a token; no header and no query.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::body::HttpBody as _;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use skein_core::digest::to_hex;

use crate::error::ApiError;
use crate::limits::CORRELATION_ID_CHARS_MAX;
use crate::metrics::Metrics;
use crate::{request_labels, safe_headers};

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RESPONSE_TIME: HeaderName = HeaderName::from_static("x-response-time");

/// What ties a request to its lines in the log. Every request carries one as an extension.
#[derive(Debug, Clone)]
pub(crate) struct CorrelationId(Arc<str>);

impl CorrelationId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) async fn follow(State(metrics): State<Arc<Metrics>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let ids = Ids::of(request.headers());
    let line = Line::of(&request);
    request.extensions_mut().insert(ids.correlation.clone());
    request.extensions_mut().insert(Arc::clone(&metrics));
    let in_flight = metrics.in_flight();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = answered.unwrap_or_else(|_| ApiError::internal("a handler panicked; see above").into_response());
    let mut response = with_body(response, ids.correlation.as_str());
    drop(in_flight);
    let took = started.elapsed();
    metrics.count(line.method, line.route.as_ref().map(MatchedPath::as_str), response.status(), took);
    ids.put(response.headers_mut());
    response.headers_mut().insert(RESPONSE_TIME, milliseconds(took));
    safe_headers::put(response.headers_mut());
    line.write(&response, took, ids.correlation.as_str());
    response
}

/// The ids of one request: the client's, where they can be logged and sent back.
struct Ids {
    correlation: CorrelationId,
    request: HeaderValue,
}

impl Ids {
    /// A client that names only one of them means it for both; one that names none gets one drawn.
    fn of(headers: &HeaderMap) -> Self {
        let (correlation, request) = (legal_id(headers, &CORRELATION_ID), legal_id(headers, &REQUEST_ID));
        let id = correlation.or(request).map_or_else(drawn_id, str::to_owned);
        let request = HeaderValue::from_str(request.unwrap_or(&id)).expect("ids are visible ASCII");
        Self { correlation: CorrelationId(id.into()), request }
    }

    fn put(&self, headers: &mut HeaderMap) {
        let correlation = HeaderValue::from_str(self.correlation.as_str()).expect("ids are visible ASCII");
        headers.insert(CORRELATION_ID, correlation);
        headers.insert(REQUEST_ID, self.request.clone());
    }
}

fn legal_id<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let legal =
        |id: &&str| (1..=CORRELATION_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
    headers.get(name).and_then(|id| id.to_str().ok()).filter(legal)
}

/// Nobody else's: what was drawn for this process once, and a count. It need not be hard to guess.
fn drawn_id() -> String {
    static PROCESS: LazyLock<[u8; 8]> = LazyLock::new(|| {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        bytes
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&*PROCESS);
    bytes[8..].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    to_hex(&bytes)
}

fn milliseconds(took: Duration) -> HeaderValue {
    HeaderValue::from_str(&format!("{:.1}", took.as_secs_f64() * 1e3)).expect("digits and a dot")
}

/// Writes the envelope of an error, and to the log what only the log is told.
fn with_body(mut response: Response, id: &str) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    if let Some(cause) = error.cause() {
        tracing::error!(correlation_id = id, cause, "a request failed");
    }
    let said = [header::ALLOW, header::CONTENT_RANGE].map(|name| (response.headers().get(&name).cloned(), name));
    let mut response = error.render(id);
    for (value, name) in said {
        if let Some(value) = value {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// What the log says of a request, taken before a handler consumes it.
struct Line {
    method: &'static str,
    route: Option<MatchedPath>,
    peer: Option<SocketAddr>,
}

impl Line {
    fn of(request: &Request) -> Self {
        let peer = request.extensions().get().map(|ConnectInfo(peer)| *peer);
        Self { method: request_labels::method(request), route: request_labels::route(request), peer }
    }

    fn write(&self, response: &Response, took: Duration, correlation_id: &str) {
        let route = self.route.as_ref().map_or("-", MatchedPath::as_str);
        let (method, status, took_us) = (self.method, response.status().as_u16(), took.as_micros());
        let (peer, bytes) = (self.peer.map(tracing::field::display), response.body().size_hint().exact());
        tracing::info!(
            method,
            route,
            status,
            took_us,
            bytes,
            peer,
            correlation_id,
            "{method} {route} was answered with {status}"
        );
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    async fn broken() -> &'static str {
        panic!("a bug")
    }

    #[tokio::test]
    async fn a_panic_is_answered_in_the_envelope() {
        let router: Router =
            Router::new().route("/", get(broken)).layer(from_fn_with_state(Arc::new(Metrics::new()), follow));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let envelope: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(envelope["error"]["code"], "internal");
    }
}
