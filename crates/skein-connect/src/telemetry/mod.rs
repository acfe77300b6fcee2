//! Tells spans to a collector over OTLP/HTTP in JSON: one request, judged by its answer.
//!
//! The collector's address stands in the configuration, so loopback and private networks are allowed for it and for nothing
//! else (decision Z24); what is never an address of somebody else's service is refused here too. What opens the collector
//! is sent to it and nowhere else: redirects are not followed. The caller decides when to try again. Start at
//! [`Collector::tell`].

mod otlp;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use skein_core::flow::telemetry::Span;

use crate::guard::{Endpoint, Guard};
use crate::http::{CallFault, Http, HttpAnswer, HttpCall, HttpOptions, Limits, Retry};
use otlp::Resource;

const PATH: &str = "/v1/traces";
const LIMITS: Limits = Limits {
    first_byte: Duration::from_secs(10),
    idle: Duration::from_secs(10),
    total: Duration::from_secs(15),
    answer_bytes_max: 64 << 10,
};
/// How much of a collector's own words is passed on, in characters.
const WORDS_CHARS_MAX: usize = 200;

/// Where spans are told. Clones share their connections.
#[derive(Clone)]
pub struct Collector {
    http: Http,
    call: Arc<HttpCall>,
    resource: Resource,
}

impl std::fmt::Debug for Collector {
    /// Headers may open doors.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Collector").field(&self.call.url.host_str()).finish()
    }
}

/// What cannot be a collector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCollector {
    #[error(transparent)]
    Address(#[from] CallFault),
    #[error("a header is written name=value, in letters that headers may have")]
    Header,
}

/// What a collector did with the spans it was told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryResult {
    /// How many it did not want.
    pub rejected: u64,
    pub why: Option<String>,
}

/// Why a collector was told nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// It may listen later, and says perhaps when.
    #[error("{cause}")]
    Later { cause: CallFault, after: Option<Duration> },
    /// It will not listen to this.
    #[error("{0}")]
    Never(CallFault),
}

impl Collector {
    /// A collector at `endpoint`, to which `/v1/traces` is added; each header is written `name=value`.
    pub fn new(endpoint: &str, headers: &[String], version: &str) -> Result<Self, BadCollector> {
        let mut call = HttpCall::new(Method::POST, &format!("{}{PATH}", endpoint.trim_end_matches('/')))?;
        (call.limits, call.retry) = (LIMITS, Retry::NEVER);
        call.headers = read_headers(headers)?;
        call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let http = Http::new(guard_for(&call), HttpOptions::default());
        Ok(Self { http, call: Arc::new(call), resource: Resource { version: version.to_owned() } })
    }

    /// Tells these spans, once.
    pub async fn tell(&self, spans: &[Span]) -> Result<DeliveryResult, DeliveryError> {
        let body = Bytes::from(otlp::request(&self.resource, spans));
        let call = HttpCall { body, ..HttpCall::clone(&self.call) };
        let answer = self.http.send_once(&call).await.map_err(untold)?;
        if !answer.status.is_success() {
            return Err(refused(&call, &answer));
        }
        // It has taken them, whatever is wrong with how it says so.
        let body = answer.body.whole().await.unwrap_or_default();
        Ok(taken(&body))
    }
}

fn untold(cause: CallFault) -> DeliveryError {
    // A certificate that is not trusted today may be mended tomorrow; an address is not.
    match cause {
        CallFault::Address(_) | CallFault::Request(_) | CallFault::Refused(_) | CallFault::Redirect { .. } => {
            DeliveryError::Never(cause)
        }
        cause => DeliveryError::Later { cause, after: None },
    }
}

fn refused(call: &HttpCall, answer: &HttpAnswer) -> DeliveryError {
    let host = call.url.host_str().unwrap_or_default().to_owned();
    let cause = CallFault::Status { host, status: answer.status.as_u16() };
    if answer.status != StatusCode::TOO_MANY_REQUESTS && !answer.status.is_server_error() {
        return DeliveryError::Never(cause);
    }
    DeliveryError::Later { cause, after: answer.retry_after() }
}

/// Reads what a collector says about spans it did not want.
fn taken(body: &[u8]) -> DeliveryResult {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let partial = &said["partialSuccess"];
    let rejected = match &partial["rejectedSpans"] {
        Value::String(number) => number.parse().unwrap_or_default(),
        number => number.as_u64().unwrap_or_default(),
    };
    let why = partial["errorMessage"].as_str().filter(|words| !words.is_empty());
    DeliveryResult { rejected, why: why.map(|words| words.chars().take(WORDS_CHARS_MAX).collect()) }
}

/// This endpoint, wherever it is.
fn guard_for(call: &HttpCall) -> Guard {
    let (host, port) = (call.url.host_str().unwrap_or_default(), call.url.port_or_known_default().unwrap_or_default());
    Guard::of_configured(Endpoint::new(host, port))
}

fn read_headers(headers: &[String]) -> Result<HeaderMap, BadCollector> {
    let mut read = HeaderMap::new();
    for header in headers {
        let (name, value) = header.split_once('=').ok_or(BadCollector::Header)?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| BadCollector::Header)?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| BadCollector::Header)?;
        value.set_sensitive(true);
        read.append(name, value);
    }
    Ok(read)
}
