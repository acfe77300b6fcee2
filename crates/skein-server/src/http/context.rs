//! Holds the state every handler can reach: the engine, trusted tokens, and the address of this server.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use skein_engine::Engine;

use crate::http::auth::tokens::Tokens;
use crate::http::extract::upload::UploadWriters;
use crate::http::limits::{
    BODIES_ARRIVING_AT_ONCE, BODIES_ARRIVING_PER_USER, BUNDLES_AT_ONCE, BUNDLES_PER_USER, LARGE_BODIES_AT_ONCE,
    LARGE_BODIES_PER_USER, UPLOADS_AT_ONCE, UPLOADS_PER_USER,
};
use crate::http::request_metrics::RequestMetrics;
use crate::http::respond::response_cache::ResponseCache;
use crate::http::throttle::admission::AdmissionLimit;

/// Cheap to clone, which happens several times for every request; one per server.
#[derive(Clone)]
pub struct Context(Arc<Parts>);

pub struct Parts {
    pub(crate) engine: Engine,
    /// Where a browser finds this server, without a slash at the end.
    pub(crate) public_url: Box<str>,
    /// Whose bearer tokens are accepted, if anybody's.
    pub(crate) tokens: Option<Tokens>,
    /// Places for bundles on their way in or out.
    pub(crate) bundles: AdmissionLimit,
    /// Limits uploads of blobs.
    pub(crate) uploads: AdmissionLimit,
    /// Limits bodies that are larger than a document.
    pub(crate) large_bodies: AdmissionLimit,
    /// Limits bodies that are still arriving, uploads and bundles aside.
    pub(crate) arriving_bodies: AdmissionLimit,
    /// Limits the threads that write uploads and bundles as they arrive.
    pub(crate) upload_writers: UploadWriters,
    /// What this server counts.
    pub(crate) metrics: RequestMetrics,
    /// What was answered before, and holds.
    pub(crate) known_answers: ResponseCache,
}

impl Context {
    pub fn new(engine: Engine, public_url: &str) -> Self {
        Self::made(engine, public_url, None)
    }

    fn made(engine: Engine, public_url: &str, tokens: Option<Tokens>) -> Self {
        let bundles = AdmissionLimit::new("exports and imports", BUNDLES_AT_ONCE, BUNDLES_PER_USER);
        let large_bodies = AdmissionLimit::new("large bodies", LARGE_BODIES_AT_ONCE, LARGE_BODIES_PER_USER);
        let arriving = "requests whose body is arriving";
        let arriving_bodies = AdmissionLimit::new(arriving, BODIES_ARRIVING_AT_ONCE, BODIES_ARRIVING_PER_USER);
        let (public_url, metrics) = (public_url.trim_end_matches('/').into(), RequestMetrics::new());
        let uploads = AdmissionLimit::new("uploads", UPLOADS_AT_ONCE, UPLOADS_PER_USER);
        let (upload_writers, known_answers) = (UploadWriters::new(), ResponseCache::default());
        Self(Arc::new(Parts {
            engine,
            public_url,
            tokens,
            bundles,
            uploads,
            large_bodies,
            arriving_bodies,
            upload_writers,
            metrics,
            known_answers,
        }))
    }

    /// Also accepts the tokens of an issuer.
    #[must_use]
    pub fn trusting(self, tokens: Option<Tokens>) -> Self {
        Self::made(self.engine.clone(), &self.public_url, tokens)
    }
}

impl Deref for Context {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl FromRef<Context> for Engine {
    fn from_ref(context: &Context) -> Self {
        context.engine.clone()
    }
}
