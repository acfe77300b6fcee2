//! Reading from SQLite: own connections, one snapshot per read, five seconds at most.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use skein_core::Millis;

use crate::db::queued_write::panic_text;
use crate::db::sqlite::{SqliteTransaction, sql_error};
use crate::error::StoreError;
use crate::tx::Tx;

/// How many virtual-machine steps pass between two looks at the time.
const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// Runs `work` on one snapshot of the database, for as long as `limit` allows.
pub(crate) fn read<T>(
    connection: &mut Connection,
    now: Millis,
    limit: Option<Duration>,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let is_over = move || deadline.is_some_and(|deadline| Instant::now() > deadline);
    connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over)).map_err(|error| sql_error(&error))?;
    run(connection, "BEGIN DEFERRED")?;
    let outcome = look(connection, now, work);
    if !connection.is_autocommit() {
        run(connection, "ROLLBACK")?;
    }
    outcome
}

/// Runs `work` with each statement on its own.
pub(crate) fn look<T>(
    connection: &Connection,
    now: Millis,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let working = || work(&mut Tx::new(&mut SqliteTransaction::on(connection), now, 0, [0; 16]));
    let outcome = catch_unwind(AssertUnwindSafe(working));
    outcome.unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(&*panic))))
}

/// A statement that begins or ends every read: parsed once per connection.
fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let ran = connection.prepare_cached(sql).and_then(|mut statement| statement.raw_execute());
    ran.map(drop).map_err(|error| sql_error(&error).into())
}
