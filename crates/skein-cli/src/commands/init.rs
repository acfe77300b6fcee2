//! `skein init`: makes the directory, the database and the first user; harmless when they exist.

use std::io::Write;

use skein_engine::Engine;
use skein_store::timeline::sealer::seal_all;

use super::serve::runtime;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::{Lock, LockError};
use crate::storage_location::StorageLocation;

pub(crate) fn run(place: &StorageLocation, out: &mut dyn Write) -> Result<Exit, Failure> {
    place.make_directory()?;
    let _lock = match Lock::take(&place.dir) {
        Ok(lock) => lock,
        Err(held @ LockError::Held { .. }) => {
            writeln!(out, "Nothing to do: {held}.")?;
            return Ok(Exit::Ok);
        }
        Err(error) => return Err(error.into()),
    };
    let store = place.open()?;
    place.blobs()?;
    runtime()?.block_on(async {
        let gateway = place.gateway(&store, None, None).await?;
        let engine = Engine::new(store.clone(), place.blobs()?, gateway);
        engine.ensure_first_admin().await?;
        engine.prepare().await?;
        Ok::<(), Failure>(())
    })?;
    seal_all(&store, "init")?;
    writeln!(out, "Skein is ready: {}", place.database_shown())?;
    writeln!(out, "Start it with the same options and: skein serve")?;
    Ok(Exit::Ok)
}
