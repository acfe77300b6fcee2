//! What every handler can reach: the engine, whose tokens are trusted, and where this server is found.

use std::sync::Arc;

use axum::extract::FromRef;
use skein_engine::Engine;
use tokio::sync::Semaphore;

use crate::limits::BUNDLES_AT_ONCE;
use crate::tokens::Tokens;

/// Cheap to clone; one per server.
#[derive(Clone)]
pub struct Context {
    pub(crate) engine: Engine,
    /// Where a browser finds this server, without a slash at the end.
    pub(crate) public_url: Arc<str>,
    /// Whose bearer tokens are accepted, if anybody's.
    pub(crate) tokens: Option<Arc<Tokens>>,
    /// Places for bundles on their way in or out.
    pub(crate) bundles: Arc<Semaphore>,
}

impl Context {
    pub fn new(engine: Engine, public_url: &str) -> Self {
        let bundles = Arc::new(Semaphore::new(BUNDLES_AT_ONCE));
        Self { engine, public_url: public_url.trim_end_matches('/').into(), tokens: None, bundles }
    }

    /// Also accepts the tokens of an issuer.
    #[must_use]
    pub fn trusting(self, tokens: Option<Tokens>) -> Self {
        Self { tokens: tokens.map(Arc::new), ..self }
    }
}

impl FromRef<Context> for Engine {
    fn from_ref(context: &Context) -> Self {
        context.engine.clone()
    }
}
