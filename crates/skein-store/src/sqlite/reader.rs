//! Reading from SQLite: own connections, one snapshot per read, five seconds at most.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use skein_core::Millis;

use crate::error::StoreError;
use crate::sqlite::{SqliteSql, sql_error};
use crate::tx::Tx;
use crate::work::panic_text;

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
    connection.execute_batch("BEGIN DEFERRED").map_err(|error| sql_error(&error))?;
    let run = || work(&mut Tx::new(&mut SqliteSql(connection), now, 0, [0; 16]));
    let outcome = catch_unwind(AssertUnwindSafe(run));
    let outcome = outcome.unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(&*panic))));
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(|error| sql_error(&error))?;
    }
    outcome
}
