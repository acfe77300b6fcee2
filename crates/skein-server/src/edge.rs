//! What stands around every path, in the order a request meets it from the bottom up.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};

use crate::host_guard::{self, AllowedHosts};
use crate::metrics::{self, Metrics};
use crate::rate_limit::{self, RateLimits};
use crate::{compression, correlation, limits, workload};

/// The routes, behind everything that protects and watches them.
pub(crate) fn around(routes: Router, hosts: AllowedHosts) -> Router {
    routes
        .layer(compression::layer())
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::new(hosts), host_guard::guard))
        .layer(from_fn_with_state(workload::places(), workload::admit))
        .layer(from_fn_with_state(Arc::new(RateLimits::new()), rate_limit::admit))
        .layer(from_fn(correlation::follow))
        .layer(from_fn_with_state(Arc::new(Metrics::new()), metrics::measure))
}
