//! Applies the layers around every path, in the order a request meets them.
//!
//! One layer for all of it, because the router makes a copy of each layer for every request.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::ACCEPT_ENCODING;
use axum::response::{IntoResponse as _, Response};

use crate::http::auth::host_guard::AllowedHosts;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::layer::{Intercept, InterceptLayer, Next};
use crate::http::respond::compression::compressed;
use crate::http::throttle::concurrency::{RequestSlot, RequestSlots};
use crate::http::throttle::rate_limit::RateLimits;
use crate::http::{correlation, limits};

/// The routes, behind everything that protects and watches them.
pub(crate) fn around(routes: Router, context: Context, hosts: AllowedHosts) -> Router {
    let workload = RequestSlots::new(limits::REQUESTS_AT_ONCE_MAX);
    let edge = Edge { context, hosts, rates: RateLimits::new(), workload };
    routes.layer(InterceptLayer::new(edge))
}

struct Edge {
    context: Context,
    hosts: AllowedHosts,
    rates: RateLimits,
    workload: RequestSlots,
}

impl Intercept for Edge {
    async fn pass(&self, request: Request, next: Next) -> Response {
        correlation::follow(&self.context.metrics, request, |request| self.enter(request, next)).await
    }
}

impl Edge {
    /// A request counts as work until its answer begins, not while the answer streams.
    async fn enter(&self, mut request: Request, next: Next) -> Response {
        let _place = match self.admit(&request) {
            Ok(place) => place,
            Err(error) => return error.into_response(),
        };
        let accepted = request.headers().get(ACCEPT_ENCODING).cloned();
        DefaultBodyLimit::max(limits::BODY_BYTES_MAX).apply(&mut request);
        compressed(next.run(request).await, accepted).await
    }

    /// What a request has to pass before anything is done for it.
    fn admit(&self, request: &Request) -> Result<Option<RequestSlot<'_>>, ApiError> {
        self.rates.admit(request)?;
        self.hosts.admit(request)?;
        self.workload.admit(request)
    }
}
