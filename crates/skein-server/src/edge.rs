//! What stands around every path, in the order a request meets it from the bottom up.
//!
//! Few layers, because each costs every request: what only judges a request is one gate.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::SemaphorePermit;

use crate::error::ApiError;
use crate::host_guard::AllowedHosts;
use crate::metrics::Metrics;
use crate::rate_limit::RateLimits;
use crate::workload::Workload;
use crate::{compression, correlation, limits};

/// The routes, behind everything that protects and watches them.
pub(crate) fn around(routes: Router, hosts: AllowedHosts) -> Router {
    let gate = Gate { hosts, rates: RateLimits::new(), workload: Workload::new(limits::REQUESTS_AT_ONCE_MAX) };
    routes
        .layer(compression::layer())
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::new(gate), enter))
        .layer(from_fn_with_state(Arc::new(Metrics::new()), correlation::follow))
}

/// What a request has to pass before anything is done for it.
struct Gate {
    hosts: AllowedHosts,
    rates: RateLimits,
    workload: Workload,
}

impl Gate {
    fn admit(&self, request: &Request) -> Result<Option<SemaphorePermit<'_>>, ApiError> {
        self.rates.admit(request)?;
        self.hosts.admit(request)?;
        self.workload.admit(request)
    }
}

/// A request counts as work until its answer begins, not while the answer streams.
async fn enter(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    match gate.admit(&request) {
        Ok(_place) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}
