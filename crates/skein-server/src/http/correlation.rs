//! Follows a request from its arrival to its answer: its ids, one line in the log, its count, and the body of errors.
//!
//! Outermost of all, so that nothing leaves without an id and no error without its envelope. The log line is
//! written in our own words: the route and not the path, which may hold a token; no header and no query.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use axum::body::HttpBody as _;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use skein_core::UserId;
use skein_core::digest::to_hex;

use crate::http::error::ApiError;
use crate::http::limits::CORRELATION_ID_CHARS_MAX;
use crate::http::listen::Peer;
use crate::http::request_labels;
use crate::http::request_metrics::RequestMetrics;
use crate::http::respond::safe_headers;

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RESPONSE_TIME: HeaderName = HeaderName::from_static("x-response-time");
/// How many headers an answer gets here and in `safe_headers`.
const HEADERS_ADDED: usize = 9;

/// Where the gate leaves who asked, for the log. Every request carries one as an extension.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestUser(Arc<OnceLock<UserId>>);

impl RequestUser {
    pub(crate) fn is(&self, user: UserId) {
        // Whoever was known first is who asked.
        let _ = self.0.set(user);
    }
}

/// Follows a request through `answer`.
pub(crate) async fn follow<F>(
    metrics: &RequestMetrics,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let started = Instant::now();
    let ids = RequestIds::of(request.headers());
    let line = Line::of(&request);
    request.extensions_mut().insert(line.asker.clone());
    let in_flight = metrics.in_flight();
    let answered = AssertUnwindSafe(answer(request)).catch_unwind().await;
    let response = answered.unwrap_or_else(|_| ApiError::internal("a handler panicked; see above").into_response());
    let mut response = with_body(response, ids.correlation());
    drop(in_flight);
    let took = started.elapsed();
    metrics.count(line.method, line.route.as_ref().map(MatchedPath::as_str), response.status(), took);
    line.write(&response, took, ids.correlation());
    let headers = response.headers_mut();
    headers.reserve(HEADERS_ADDED);
    ids.put(headers);
    headers.insert(RESPONSE_TIME, milliseconds(took));
    safe_headers::put(headers);
    response
}

/// The ids of one request: the client's, where they can be logged and sent back.
struct RequestIds {
    correlation: HeaderValue,
    request: HeaderValue,
}

impl RequestIds {
    /// A client that names only one of them means it for both; one that names none gets one drawn.
    fn of(headers: &HeaderMap) -> Self {
        let (correlation, request) = (legal_id(headers, &CORRELATION_ID), legal_id(headers, &REQUEST_ID));
        let correlation = correlation.or(request).cloned().unwrap_or_else(drawn_id);
        let request = request.unwrap_or(&correlation).clone();
        Self { correlation, request }
    }

    fn correlation(&self) -> &str {
        self.correlation.to_str().expect("ids are visible ASCII")
    }

    fn put(self, headers: &mut HeaderMap) {
        headers.insert(CORRELATION_ID, self.correlation);
        headers.insert(REQUEST_ID, self.request);
    }
}

fn legal_id<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let legal = |id: &&HeaderValue| {
        (1..=CORRELATION_ID_CHARS_MAX).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    headers.get(name).filter(legal)
}

/// Nobody else's: what was drawn for this process once, and a count. It need not be hard to guess.
fn drawn_id() -> HeaderValue {
    static PROCESS: LazyLock<[u8; 8]> = LazyLock::new(|| {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        bytes
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&*PROCESS);
    bytes[8..].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    HeaderValue::try_from(to_hex(&bytes)).expect("hexadecimal digits")
}

fn microseconds(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

/// With one decimal.
fn milliseconds(took: Duration) -> HeaderValue {
    let tenths = microseconds(took).saturating_add(50) / 100;
    HeaderValue::try_from(format!("{}.{}", tenths / 10, tenths % 10)).expect("digits and a dot")
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
    visitor: Option<Peer>,
    asker: RequestUser,
}

impl Line {
    fn of(request: &Request) -> Self {
        let visitor = request.extensions().get().cloned();
        let (method, route) = (request_labels::method(request), request_labels::route(request));
        Self { method, route, visitor, asker: RequestUser::default() }
    }

    fn write(&self, response: &Response, took: Duration, correlation_id: &str) {
        let route = self.route.as_ref().map_or("-", MatchedPath::as_str);
        let (method, status, took_us) = (self.method, response.status().as_u16(), microseconds(took));
        let peer = self.visitor.as_ref().map(Peer::spelled).map(tracing::field::display);
        let bytes = length(response);
        let user = self.asker.0.get().map(tracing::field::display);
        tracing::info!(
            method,
            route,
            status,
            took_us,
            bytes,
            peer,
            user,
            correlation_id,
            "{method} {route} was answered with {status}"
        );
    }
}

/// How long the body is or, where it is made as it is sent, is said to be.
fn length(response: &Response) -> Option<u64> {
    let told = || response.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    response.body().size_hint().exact().or_else(told)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_in_the_envelope() {
        let broken = async |_| panic!("a bug");
        let response = follow(&RequestMetrics::new(), Request::new(Body::empty()), broken).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let envelope: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(envelope["error"]["code"], "internal");
    }

    #[test]
    fn the_length_of_a_stream_is_the_one_it_was_announced_with() {
        let pieces = || Body::from_stream(futures::stream::empty::<Result<Vec<u8>, std::io::Error>>());
        assert_eq!(length(&Response::new(Body::from("abc"))), Some(3));
        assert_eq!(length(&Response::new(pieces())), None);
        let announced = ([(header::CONTENT_LENGTH, "7")], pieces()).into_response();
        assert_eq!(length(&announced), Some(7));
    }

    #[test]
    fn times_have_one_decimal() {
        for (microseconds, text) in [(0, "0.0"), (49, "0.0"), (50, "0.1"), (12_345, "12.3"), (999_960, "1000.0")] {
            assert_eq!(milliseconds(Duration::from_micros(microseconds)), text);
        }
    }
}
