//! What every handler can reach: the engine, whose tokens are trusted, and where this server is found.

use std::sync::Arc;

use axum::extract::FromRef;
use skein_engine::Engine;

/// Cheap to clone; one per server.
#[derive(Clone)]
pub struct Context {
    pub(crate) engine: Engine,
    /// Where a browser finds this server, without a slash at the end.
    pub(crate) public_url: Arc<str>,
}

impl Context {
    pub fn new(engine: Engine, public_url: &str) -> Self {
        Self { engine, public_url: public_url.trim_end_matches('/').into() }
    }
}

impl FromRef<Context> for Engine {
    fn from_ref(context: &Context) -> Self {
        context.engine.clone()
    }
}
