//! Counts and times of requests, for Prometheus to fetch at `/metrics`.
//!
//! A server on loopback shows them to every program there; on any other address they need a key, of any user and scope,
//! as `Authorization: Bearer sk_…` (`docs/decisions/0032-keys-that-expire.md`).
//! Labels are words of ours (`request_labels`), so their number is that of our routes and nobody's data is in them.
//! Each router counts for itself: nothing is global, and servers in one process do not disturb each other.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use prometheus::{
    Gauge, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TEXT_FORMAT, TextEncoder,
};
use skein_engine::flow::TelemetryCounts;
use skein_engine::memory::EmbeddingCounts;

use crate::http::context::Context;
use crate::http::error::ApiError;

/// From what a read from memory takes to where clients give up, in seconds.
const DURATION_BUCKETS: [f64; 13] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
const NO_ROUTE: &str = "none";

/// What one server counts.
pub(crate) struct RequestMetrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    in_flight: IntGauge,
    uptime: Gauge,
    telemetry: IntCounterVec,
    told: Mutex<TelemetryCounts>,
    embedding: IntCounterVec,
    embedded: Mutex<EmbeddingCounts>,
    started: Instant,
}

impl RequestMetrics {
    pub(crate) fn new() -> Self {
        Self::registered().expect("the names are legal and differ")
    }

    fn registered() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let requests = Opts::new("http_requests_total", "Requests answered, by method, route and class of status.");
        let requests = IntCounterVec::new(requests, &["method", "route", "status"])?;
        let durations = HistogramOpts::new("http_request_duration_seconds", "Time until an answer begins, by route.");
        let durations = HistogramVec::new(durations.buckets(DURATION_BUCKETS.to_vec()), &["route"])?;
        let in_flight = IntGauge::new("http_requests_in_flight", "Requests whose answer has not begun.")?;
        let uptime = Gauge::new("process_uptime_seconds", "Time since the server started.")?;
        let telemetry = Opts::new(
            "telemetry_total",
            "What came of telling runs to the collector: spans taken and rejected, tries failed, runs dropped.",
        );
        let telemetry = IntCounterVec::new(telemetry, &["what"])?;
        let embedding = Opts::new(
            "embedding_total",
            "Vectors made, vectors known from before, tries that brought none, texts that have none.",
        );
        let embedding = IntCounterVec::new(embedding, &["what"])?;
        registry.register(Box::new(embedding.clone()))?;
        registry.register(Box::new(telemetry.clone()))?;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(durations.clone()))?;
        registry.register(Box::new(in_flight.clone()))?;
        registry.register(Box::new(uptime.clone()))?;
        let (told, embedded, started) = (Mutex::default(), Mutex::default(), Instant::now());
        Ok(Self { registry, requests, durations, in_flight, uptime, telemetry, told, embedding, embedded, started })
    }

    /// Counts a request as in flight until the result is dropped.
    pub(crate) fn in_flight(&self) -> InFlight<'_> {
        self.in_flight.inc();
        InFlight(&self.in_flight)
    }

    pub(crate) fn count(&self, method: &str, route: Option<&str>, status: StatusCode, took: Duration) {
        let route = route.unwrap_or(NO_ROUTE);
        self.requests.with_label_values(&[method, route, class(status)]).inc();
        self.durations.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    /// Adds what was told since the last look.
    fn follow(&self, now: TelemetryCounts) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = [
            ("spans", now.spans, told.spans),
            ("rejected_spans", now.rejected, told.rejected),
            ("failures", now.failures, told.failures),
            ("dropped_runs", now.dropped, told.dropped),
        ];
        for (what, now, before) in grown {
            self.telemetry.with_label_values(&[what]).inc_by(now.saturating_sub(before));
        }
        *told = now;
    }

    /// Adds what embedders did since the last look.
    fn follow_embedding(&self, now: EmbeddingCounts) {
        let mut embedded = self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = [
            ("made", now.made, embedded.made),
            ("known", now.known, embedded.known),
            ("failures", now.failures, embedded.failures),
            ("refused", now.refused, embedded.refused),
        ];
        for (what, now, before) in grown {
            self.embedding.with_label_values(&[what]).inc_by(now.saturating_sub(before));
        }
        *embedded = now;
    }

    fn text(&self, telemetry: TelemetryCounts, embedding: EmbeddingCounts) -> prometheus::Result<String> {
        self.follow(telemetry);
        self.follow_embedding(embedding);
        self.uptime.set(self.started.elapsed().as_secs_f64());
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

/// Counts itself, also when the client leaves before the answer.
pub(crate) struct InFlight<'a>(&'a IntGauge);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

/// `GET /metrics`: everything that was counted, as Prometheus reads it.
pub(crate) async fn show(State(context): State<Context>) -> Result<impl IntoResponse, ApiError> {
    let text = context.metrics.text(context.engine.telemetry_counts(), context.engine.embedding_counts());
    let text = text.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(([(CONTENT_TYPE, TEXT_FORMAT)], text))
}
