//! `skein serve`: runs the server until it is told to stop.
//!
//! Every start has its own key, because keys are kept hashed and none could be shown again. It is in the lock file
//! before it is admitted and ended before the lock is cleared, so that a start that follows a crash can end it.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Error};
use skein_engine::{Engine, KeyText};
use skein_server::ServeOptions;
use skein_store::Store;
use skein_store::blobs::Blobs;
use skein_store::clock::{Clock as _, SystemClock};
use skein_store::sealer::Sealer;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::{Holder, Lock};
use crate::plan::Serve;
use crate::signals;

const SWEEP_EVERY: Duration = Duration::from_hours(24);
const SEAL_EVERY: Duration = Duration::from_secs(10);
/// What may still hold the store when the server has ended: writes that were accepted.
const CLOSING: Duration = Duration::from_secs(5);

pub(crate) fn run(serve: Serve, out: &mut dyn Write) -> Result<Exit, Failure> {
    let stop = signals::first_signal().map_err(cannot_run)?;
    serve.place.make_directory()?;
    let lock = Lock::take(&serve.place.dir)?;
    let runtime = runtime()?;
    // An address that is taken leaves no new store behind.
    let listener = runtime.block_on(listen(serve.listen))?;
    let address = listener.local_addr().map_err(cannot_run)?;
    let store = serve.place.open()?;
    runtime.spawn(sweep_daily(store.clone(), serve.place.blobs()?));
    let start = runtime.block_on(Start::begin(&serve, lock, store, address))?;
    greet(out, start.address, &start.key)?;
    let options = ServeOptions { extra_hosts: serve.allowed_hosts, ..ServeOptions::default() };
    let serving = skein_server::serve(listener, start.engine.clone(), options, stop);
    let served = runtime.block_on(serving).map_err(cannot_run);
    start.end(runtime)?;
    served?;
    tracing::info!("stopped; everything is sealed and written");
    Ok(Exit::Ok)
}

/// Takes away, at each start and once a day, objects that nobody came to name.
async fn sweep_daily(store: Store, blobs: Blobs) {
    let mut days = tokio::time::interval(SWEEP_EVERY);
    loop {
        days.tick().await;
        match blobs.sweep(&store, SystemClock.now()).await {
            Ok(0) => {}
            Ok(swept) => tracing::info!(swept, "removed blobs that nobody names"),
            Err(error) => tracing::warn!(%error, "could not sweep the blobs; it will be tried again tomorrow"),
        }
    }
}

/// One start of the server: what it holds from its beginning to its end.
struct Start {
    lock: Lock,
    engine: Engine,
    sealer: Sealer,
    address: SocketAddr,
    key: KeyText,
}

impl Start {
    async fn begin(serve: &Serve, mut lock: Lock, store: Store, address: SocketAddr) -> Result<Self, Failure> {
        let engine = Engine::new(store.clone());
        end_former_keys(serve, &engine, &mut lock).await?;
        let key = KeyText::draw();
        announce(&mut lock, address, &key)?;
        let key_id = engine.admit_start_key(&key).await?;
        let sealer = Sealer::start(store, key_id.to_string(), SEAL_EVERY);
        Ok(Self { lock, engine, sealer, address, key })
    }

    /// Ends the key, seals, and closes the store; last the lock, so that nobody opens the store before.
    fn end(mut self, runtime: Runtime) -> Result<(), Failure> {
        let ended = runtime.block_on(self.engine.retire_key(&self.key));
        runtime.shutdown_timeout(CLOSING);
        drop(self.sealer);
        drop(self.engine);
        // A key that could not be ended stays in the lock file, for the next start to end it.
        ended?;
        self.lock.clear().map_err(cannot_run)
    }
}

/// A runtime for one command.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(cannot_run)
}

/// Ends the keys of starts that could not do it themselves.
async fn end_former_keys(serve: &Serve, engine: &Engine, lock: &mut Lock) -> Result<(), Failure> {
    if serve.place.is_exclusive() {
        engine.retire_start_keys().await?;
    } else if let Some(key) = lock.left_behind().and_then(|former| former.key.parse::<KeyText>().ok()) {
        engine.retire_key(&key).await?;
    }
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "other machines can reach this address, and what they send is not encrypted");
    }
    TcpListener::bind(address).await.map_err(|error| {
        let in_use = error.kind() == std::io::ErrorKind::AddrInUse;
        let exit = if in_use { Exit::InUse } else { Exit::Unavailable };
        let error = Error::new(error).context(format!("cannot listen on {address}"));
        Failure::new(exit, error, "choose another with --listen; port 0 takes a free one")
    })
}

fn announce(lock: &mut Lock, address: SocketAddr, key: &KeyText) -> Result<(), Failure> {
    let (address, key) = (format!("http://{address}"), key.reveal().to_owned());
    let holder = Holder { address, key, pid: std::process::id() };
    lock.announce(&holder).context("cannot write the lock file").map_err(|error| {
        Failure::new(Exit::Unavailable, error, "check the permissions and the free space of the directory")
    })
}

fn greet(out: &mut dyn Write, address: SocketAddr, key: &KeyText) -> Result<(), Failure> {
    let key = key.reveal();
    writeln!(out, "Skein is listening on http://{address}")?;
    writeln!(out, "Key: {key}")?;
    writeln!(
        out,
        "Try: curl -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \
         -d '{{\"_type\":\"Note\",\"data\":{{\"description\":\"The first fact\"}}}}' http://{address}/api/v1/items"
    )?;
    out.flush()?;
    Ok(())
}

fn cannot_run(error: std::io::Error) -> Failure {
    Failure::new(Exit::Failed, error, "the lines above say more; --log debug says most")
}
