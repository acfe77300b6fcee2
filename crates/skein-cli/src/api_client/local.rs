//! The API in this process, over a directory that nobody else holds.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::HOST;
use axum::http::{HeaderValue, Method, Request, Response};
use skein_engine::{Engine, KeyText, Worker};
use skein_server::{AllowedHosts, Context};
use skein_store::Store;
use skein_store::timeline::sealer::seal_all;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::api_client::{ApiFailure, Transfer};
use crate::failure::Failure;
use crate::lock::{Lock, LockError};
use crate::storage_location::StorageLocation;

/// How long another command on the same directory is waited for.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(10);
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(25);
/// What may still hold the store when the command has ended: writes that were accepted.
const CLOSING: Duration = Duration::from_secs(5);
/// The router answers to `localhost`, as a server on this machine would.
const LISTENING: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

/// Links that are made here begin with where `serve` listens by default: they can be used once it runs.
const NOWHERE: &str = "http://127.0.0.1:7420";

/// Dropped in this order: the lock last, so that nobody opens the store before it is closed.
pub(super) struct LocalApi {
    worker: OnceLock<Worker>,
    router: Router,
    engine: Engine,
    store: Store,
    has_written: AtomicBool,
    _lock: Lock,
}

/// Why the directory is not ours.
pub(super) enum OpenError {
    Held(LockError),
    Failed(Failure),
}

impl From<LockError> for OpenError {
    fn from(error: LockError) -> Self {
        match error {
            held @ LockError::Held { .. } => Self::Held(held),
            error @ LockError::Io(_) => Self::Failed(error.into()),
        }
    }
}

impl LocalApi {
    /// Holds the directory and gives back the key to it.
    pub(super) async fn open(place: &StorageLocation) -> Result<(Self, String), OpenError> {
        place.require_made().map_err(OpenError::Failed)?;
        if !place.is_exclusive() {
            // The database is elsewhere; what is kept here is little more than the lock.
            place.make_directory().map_err(OpenError::Failed)?;
        }
        let lock = Lock::take(&place.dir)?;
        Self::begin(place, lock).await.map_err(OpenError::Failed)
    }

    async fn begin(place: &StorageLocation, mut lock: Lock) -> Result<(Self, String), Failure> {
        let store = place.open()?;
        let gateway = place.gateway(&store, None, None).await?;
        let engine = Engine::new(store.clone(), place.blobs()?, gateway);
        place.remember(&engine)?;
        // What a killed server left behind must not send others to where it was.
        lock.clear().map_err(LockError::Io)?;
        store.end_abandoned_work().await?;
        let key = KeyText::draw();
        engine.admit_start_key(&key).await?;
        engine.prepare().await?;
        let context = Context::new(engine.clone(), NOWHERE);
        let router = skein_server::router(context, AllowedHosts::new(LISTENING, Vec::new()));
        let (worker, has_written) = (OnceLock::new(), AtomicBool::new(false));
        Ok((Self { worker, router, engine, store, has_written, _lock: lock }, key.reveal().to_owned()))
    }

    /// Carries out what is queued, from now on until the end.
    pub(super) fn work(&self, runtime: &Runtime) {
        let _inside = runtime.enter();
        self.worker.get_or_init(|| {
            // We hold the lock: whatever a process before us was at, it is no longer.
            if let Err(error) = runtime.block_on(self.store.begin_epoch()) {
                tracing::warn!(%error, "what a stopped process left under way waits until its lease runs out");
            }
            Worker::start(self.engine.clone(), format!("command {}", std::process::id()))
        });
    }

    pub(super) async fn send(
        &self,
        request: Request<Bytes>,
        transfer: Transfer<'_>,
    ) -> Result<Response<Body>, ApiFailure> {
        if request.method() != Method::GET {
            self.has_written.store(true, Ordering::Relaxed);
        }
        let (mut parts, bytes) = request.into_parts();
        parts.headers.insert(HOST, HeaderValue::from_static("localhost"));
        let body = match transfer {
            Transfer::To(upload) => Body::from_stream(upload.open(&mut parts.headers).map_err(ApiFailure::Here)?),
            Transfer::None | Transfer::From => Body::from(bytes),
        };
        let Ok(response) = self.router.clone().oneshot(Request::from_parts(parts, body)).await;
        Ok(response)
    }

    /// Seals what was written.
    pub(super) fn close(self, runtime: Runtime) -> Result<(), Failure> {
        if let Some(worker) = self.worker.into_inner() {
            runtime.block_on(worker.stop(Duration::ZERO));
        }
        // What was accepted is finished before it is sealed.
        runtime.shutdown_timeout(CLOSING);
        if self.has_written.into_inner() {
            seal_all(&self.store, "command")?;
        }
        Ok(())
    }
}
