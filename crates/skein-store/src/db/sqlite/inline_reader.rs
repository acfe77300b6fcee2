//! Reads on the caller's own thread, for queries that take microseconds.
//!
//! A caller that finds none free reads the ordinary way; nobody waits. A look is bounded by what it asks for (rows by their
//! keys), not by the clock: it must not be used for anything that walks.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;
use skein_core::Millis;

use crate::db::sqlite::{open_reader, reader};
use crate::error::StoreError;
use crate::tx::Tx;

/// As many as threads that answer requests on a small machine.
const CONNECTIONS: usize = 4;

pub(crate) struct InlineReader(Vec<Mutex<Connection>>);

impl InlineReader {
    pub(crate) fn open(file: &Path) -> Result<Self, StoreError> {
        let open = |_| Ok(Mutex::new(open_reader(file)?));
        (0..CONNECTIONS).map(open).collect::<Result<_, StoreError>>().map(Self)
    }

    /// Reads now, or hands the function back when every connection is in use.
    pub(crate) fn read<T, F>(&self, now: Millis, function: F) -> Result<Result<T, StoreError>, F>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
    {
        match self.0.iter().find_map(|connection| connection.try_lock().ok()) {
            Some(connection) => Ok(reader::look(&connection, now, function)),
            None => Err(function),
        }
    }
}
