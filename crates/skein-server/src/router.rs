//! Everything the server offers, on one screen.

use axum::Router;
use axum::routing::get;
use skein_engine::Engine;

use crate::host_guard::AllowedHosts;
use crate::{edge, error, health, items, landing, metrics};

/// The server as a service; `hosts` are the names it answers to.
pub fn router(engine: Engine, hosts: AllowedHosts) -> Router {
    let routes = Router::new()
        .route("/", get(landing::show))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/api/v1/items", get(items::list_items).post(items::append_items))
        .route("/api/v1/items/{id}", get(items::read_item))
        .fallback(error::no_such_path)
        .method_not_allowed_fallback(error::no_such_method)
        .with_state(engine);
    edge::around(routes, hosts)
}
