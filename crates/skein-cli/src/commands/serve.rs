//! `skein serve`: runs the server until it is told to stop.
//!
//! Every start has a key of its own, for commands on this machine: it stands in the lock file, acts as the first
//! administrator, and is known to this process alone, so it ends with it however that ends. People sign in by the
//! one-time link that is printed.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Error};
use skein_engine::account::LinkText;
use skein_engine::{Engine, KeyText, Worker};
use skein_server::{Context, ServeOptions, TokenOptions, Tokens};
use skein_store::Store;
use skein_store::blobs::Blobs;
use skein_store::clock::{Clock as _, SystemClock};
use skein_store::timeline::sealer::Sealer;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::{Holder, Lock};
use crate::plan::{Serve, TokenIssuer};
use crate::signals;

const SWEEP_EVERY: Duration = Duration::from_hours(24);
const SEAL_EVERY: Duration = Duration::from_secs(10);
/// What may still hold the store when the server has ended: writes that were accepted.
pub(super) const CLOSING: Duration = Duration::from_secs(5);
/// How long calls that are under way may still take; then they are given back.
pub(super) const CALLS_GRACE: Duration = Duration::from_secs(3);

pub(crate) fn run(serve: Serve, out: &mut dyn Write) -> Result<Exit, Failure> {
    let stop = signals::first_signal().map_err(cannot_run)?;
    serve.place.make_directory()?;
    let lock = Lock::take(&serve.place.dir)?;
    serve.place.warn_of_exposures();
    let tokens = serve.tokens.clone().map(trusted).transpose()?;
    let runtime = runtime()?;
    // An address that is taken leaves no new store behind.
    let listener = runtime.block_on(listen(serve.listen))?;
    let address = listener.local_addr().map_err(cannot_run)?;
    let store = serve.place.open()?;
    let blobs = serve.place.blobs()?;
    blobs.remove_abandoned()?;
    runtime.spawn(sweep_daily(store.clone(), blobs));
    let start = runtime.block_on(Start::begin(&serve, lock, store, address))?;
    greet(out, &start)?;
    let (version, database) = (env!("CARGO_PKG_VERSION"), serve.place.database_shown());
    tracing::info!(version, address = start.url, database, "the server is ready");
    let context = Context::new(start.engine.clone(), &start.public_url).trusting(tokens);
    let options = ServeOptions { extra_hosts: serve.allowed_hosts, ..ServeOptions::default() };
    let serving = skein_server::serve(listener, context, options, stop);
    let served = runtime.block_on(serving).map_err(cannot_run);
    start.end(runtime)?;
    served?;
    tracing::info!("stopped; everything is sealed and written");
    Ok(Exit::Ok)
}

fn trusted(issuer: TokenIssuer) -> Result<Tokens, Failure> {
    let TokenIssuer { issuer, audience, jwks_url } = issuer;
    let hint = "give --jwt-jwks-url the https:// address at which the issuer publishes its keys";
    Tokens::new(TokenOptions { issuer, audience, jwks_url }).map_err(|bad| Failure::usage(bad, hint))
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
    worker: Worker,
    url: String,
    public_url: String,
    link: LinkText,
}

impl Start {
    async fn begin(serve: &Serve, mut lock: Lock, store: Store, address: SocketAddr) -> Result<Self, Failure> {
        let gateway = serve.place.gateway(&store, Some(address), serve.public_url.as_deref()).await?;
        let engine = Engine::new(store.clone(), serve.place.blobs()?, gateway);
        serve.place.remember(&engine)?;
        let (key, url) = (KeyText::draw(), format!("http://{address}"));
        let public_url = serve.public_url.clone().unwrap_or_else(|| url.clone());
        engine.admit_start_key(&key).await?;
        engine.prepare().await?;
        // We hold the lock: whatever a process before us was at, it is no longer.
        store.begin_epoch().await?;
        store.end_abandoned_work().await?;
        announce(&mut lock, &url, &key, serve.place.database_shown())?;
        let link = engine.start_link().await?;
        // Servers on one database tell each other apart by where they are found.
        let sealer = Sealer::start(store, format!("{url} {}", std::process::id()), SEAL_EVERY);
        let worker = Worker::with_pools(engine.clone(), format!("{url} {}", std::process::id()), &serve.pools);
        Ok(Self { lock, engine, sealer, worker, url, public_url, link })
    }

    /// Seals and closes the store; last the lock, so that nobody opens the store before.
    fn end(mut self, runtime: Runtime) -> Result<(), Failure> {
        runtime.block_on(self.worker.stop(CALLS_GRACE));
        runtime.shutdown_timeout(CLOSING);
        drop(self.sealer);
        drop(self.engine);
        self.lock.clear().map_err(cannot_run)
    }
}

/// A runtime for one command.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Runtime::new().map_err(cannot_run)
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

fn announce(lock: &mut Lock, url: &str, key: &KeyText, database: String) -> Result<(), Failure> {
    let (address, key) = (url.to_owned(), key.reveal().to_owned());
    let holder = Holder { address, key, pid: std::process::id(), database };
    lock.announce(&holder).context("cannot write the lock file").map_err(|error| {
        Failure::new(Exit::Unavailable, error, "check the permissions and the free space of the directory")
    })
}

fn greet(out: &mut dyn Write, start: &Start) -> Result<(), Failure> {
    let (url, link) = (start.public_url.trim_end_matches('/'), start.link.reveal());
    writeln!(out, "Skein is listening on {}", start.url)?;
    writeln!(out, "Sign in, once: {url}/sign-in/{link}")?;
    writeln!(out, "Make a key for programs: skein key create laptop --scope write")?;
    writeln!(out, "What it can do: {url}/api/docs")?;
    out.flush()?;
    Ok(())
}

pub(super) fn cannot_run(error: std::io::Error) -> Failure {
    Failure::new(Exit::Failed, error, "the lines above say more; --log debug says most")
}
