//! `skein worker`: makes the calls that servers on the same database have queued, until it is told to stop.
//!
//! Any number of them may run, on any machine that reaches the database and has the servers' master key. A worker that is
//! killed leaves its calls to their leases; one that is stopped gives back what it has not finished.

use std::io::Write;
use std::time::Duration;

use anyhow::anyhow;
use skein_engine::Engine;
use skein_engine::flow::{PoolSizes, WorkerPool};

use super::serve::{CALLS_GRACE, CLOSING, cannot_run, runtime};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals;
use crate::storage_location::StorageLocation;

/// How long an address may still be called after a server was told to refuse it.
const ENDPOINTS_EVERY: Duration = Duration::from_secs(5);

pub(crate) fn run(place: &StorageLocation, pools: &PoolSizes, out: &mut dyn Write) -> Result<Exit, Failure> {
    let stop = signals::first_signal().map_err(cannot_run)?;
    if place.master_key.is_missing() {
        let error = anyhow!("the master key is missing, and without the servers' own no secret can be opened");
        let hint = "copy master.key from the server's directory, name it with --vault-key-file, or set SKEIN_VAULT_KEY";
        return Err(Failure::usage(error, hint));
    }
    place.warn_of_exposures();
    let runtime = runtime()?;
    let store = place.open()?;
    let engine = runtime.block_on(async {
        let gateway = place.gateway(&store, None, None).await?;
        let engine = Engine::new(store.clone(), place.blobs()?, gateway);
        engine.follow_endpoints().await?;
        Ok::<_, Failure>(engine)
    })?;
    runtime.spawn(follow_endpoints(engine.clone()));
    let worker_pool = {
        let _inside = runtime.enter();
        WorkerPool::start(engine.clone(), pools)
    };
    let shown: Vec<String> = pools.0.iter().map(|(kind, places)| format!("{places} {}", kind.as_str())).collect();
    writeln!(out, "Working on {}: {} at once", place.database_shown(), shown.join(", "))?;
    out.flush()?;
    runtime.block_on(stop);
    runtime.block_on(worker_pool.stop(CALLS_GRACE));
    runtime.shutdown_timeout(CLOSING);
    drop(engine);
    tracing::info!("stopped; what was not finished is given back");
    Ok(Exit::Ok)
}

/// What administrators allow and refuse is told to servers, not to workers.
async fn follow_endpoints(engine: Engine) {
    let mut moments = tokio::time::interval(ENDPOINTS_EVERY);
    loop {
        moments.tick().await;
        if let Err(error) = engine.follow_endpoints().await {
            tracing::warn!(%error, "could not look which addresses are allowed; it will be tried again");
        }
    }
}
