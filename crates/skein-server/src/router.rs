//! Everything the server offers, on one screen.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use skein_engine::Engine;

use crate::host_guard::AllowedHosts;
use crate::{correlation, error, health, host_guard, items, landing, limits};

/// The server as a service; `hosts` are the names it answers to.
pub fn router(engine: Engine, hosts: AllowedHosts) -> Router {
    Router::new()
        .route("/", get(landing::show))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/api/v1/items", get(items::list_items).post(items::append_items))
        .route("/api/v1/items/{id}", get(items::read_item))
        .fallback(error::no_such_path)
        .method_not_allowed_fallback(error::no_such_method)
        .layer(DefaultBodyLimit::max(limits::BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::new(hosts), host_guard::guard))
        .layer(from_fn(correlation::follow))
        .with_state(engine)
}
