//! The embedded database: a file, one writing thread, some reading ones.

pub(crate) mod idempotency_index;
pub(crate) mod inline_reader;
#[cfg(debug_assertions)]
mod query_plans;
pub(crate) mod reader;
pub(crate) mod writer;
pub(crate) mod writer_cache;

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, ToSql};
use skein_core::{Digest, ExecutionId, Millis, OperationId};

use crate::db::query_cache::QueryKey;
use crate::db::schema;
use crate::db::schema::{Dialect, Migrate};
use crate::db::sql;
use crate::db::sql::{DeferredStatement, OwnedRow, Row, RowResult, Sql, Value};
use crate::db::sqlite::idempotency_index::IdempotencyIndex;
use crate::db::sqlite::writer_cache::WriterCache;
use crate::error::{SqlError, StoreError};
use crate::flow::ExecutionPrefetch;
use crate::timeline::items::{INSERT_COLUMNS, INSERT_ITEM};

/// Page caches: one writer and four readers together stay below what an idle server may hold.
const WRITER_CACHE_KIB: i64 = 64 << 10;
const READER_CACHE_KIB: i64 = 16 << 10;
/// How long a statement waits for somebody else who holds the file.
pub(crate) const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
const STATEMENTS_CACHED: usize = 128;

/// Opens for writing, creating and migrating the file where needed.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path).map_err(|error| opening(path, &error))?;
    configure(&connection).map_err(|error| opening(path, &error))?;
    let mut migrating = SqliteMigration(&connection);
    migrating.run("BEGIN IMMEDIATE")?;
    match schema::migrate(&mut migrating) {
        Ok(()) => migrating.run("COMMIT")?,
        Err(error) => {
            migrating.run("ROLLBACK")?;
            return Err(error);
        }
    }
    Ok(connection)
}

/// Opens for reading only; the file must exist with a schema this program knows.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| opening(path, &error))?;
    configure_shared(&connection, READER_CACHE_KIB).map_err(|error| opening(path, &error))?;
    schema::check(&mut SqliteMigration(&connection))?;
    Ok(connection)
}

/// A database that is gone when it is closed, with the schema in place.
pub(crate) fn open_scratch() -> Result<Connection, StoreError> {
    // An empty name makes a temporary file, which SQLite keeps in memory while it is small.
    let connection = Connection::open("").map_err(|error| sql_error(&error))?;
    schema::migrate(&mut SqliteMigration(&connection))?;
    // It holds what is made from items, not the items those rows refer to.
    connection.pragma_update(None, "foreign_keys", false).map_err(|error| sql_error(&error))?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The writer checkpoints after a batch was acknowledged, not inside somebody's commit.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // Without it, replacing a row would go past the triggers that keep items.
    connection.pragma_update(None, "recursive_triggers", true)?;
    // A redacted payload must be gone from the file, not only from the tree.
    connection.pragma_update(None, "secure_delete", true)?;
    configure_shared(connection, WRITER_CACHE_KIB)
}

fn configure_shared(connection: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // Otherwise a statement on a table with a partial index is parsed and planned again for each value bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn opening(path: &Path, error: &rusqlite::Error) -> StoreError {
    let detail = format!("{}: {error}", path.display());
    match sql_error(error) {
        SqlError::Full => StoreError::DiskFull,
        SqlError::ReadOnly(_) => StoreError::ReadOnly(detail),
        SqlError::Collision(_) => StoreError::Locked(path.display().to_string()),
        SqlError::Corrupt(_) => StoreError::Corrupt(detail),
        _ => StoreError::Unavailable(detail),
    }
}

pub(crate) struct SqliteMigration<'a>(pub(crate) &'a Connection);

impl Migrate for SqliteMigration<'_> {
    const DIALECT: Dialect = Dialect::Sqlite;

    fn run(&mut self, sql: &str) -> Result<(), SqlError> {
        self.0.execute_batch(sql).map_err(|error| sql_error(&error))
    }

    fn version(&mut self) -> Result<i64, SqlError> {
        let has_meta = "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'";
        let tables: i64 = self.0.query_row(has_meta, [], |row| row.get(0)).map_err(|error| sql_error(&error))?;
        if tables == 0 {
            return Ok(0);
        }
        let version = "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'schema'";
        self.0.query_row(version, [], |row| row.get(0)).map_err(|error| sql_error(&error))
    }
}

pub(crate) struct SqliteTransaction<'a> {
    connection: &'a Connection,
    /// Only where requests are carried out.
    requests: Option<&'a mut IdempotencyIndex>,
    kept: Option<&'a mut WriterCache>,
}

impl<'a> SqliteTransaction<'a> {
    pub(crate) fn on(connection: &'a Connection) -> Self {
        Self { connection, requests: None, kept: None }
    }

    /// As the one thread that writes.
    pub(crate) fn knowing(self, requests: &'a mut IdempotencyIndex, kept: &'a mut WriterCache) -> Self {
        Self { requests: Some(requests), kept: Some(kept), ..self }
    }

    fn written(&mut self, table: Option<&str>) {
        if let Some(kept) = &mut self.kept {
            kept.written(table);
        }
    }

    fn change(&self, sql: &str, params: &[Value<'_>]) -> Result<u64, SqlError> {
        let changed = self.statement(sql, params)?.raw_execute().map_err(|error| sql_error(&error))?;
        Ok(changed as u64)
    }

    fn kept_rows(&self, sql: &str, params: &[Value<'_>]) -> Result<Vec<OwnedRow>, SqlError> {
        let mut statement = self.statement(sql, params)?;
        let columns = statement.column_count();
        let (mut found, mut rows) = (statement.raw_query(), Vec::new());
        while let Some(row) = found.next().map_err(|error| sql_error(&error))? {
            let values = (0..columns).map(|column| row.value(column).map(sql::OwnedValue::of));
            rows.push(OwnedRow(values.collect::<Result<_, _>>()?));
        }
        Ok(rows)
    }

    fn statement(&self, sql: &str, params: &[Value<'_>]) -> Result<CachedStatement<'a>, SqlError> {
        #[cfg(debug_assertions)]
        query_plans::check(self.connection, sql);
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| sql_error(&error))?;
        bind(&mut statement, params)?;
        Ok(statement)
    }
}

impl Sql for SqliteTransaction<'_> {
    fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, SqlError> {
        self.written(None);
        self.change(sql, params)
    }

    fn execute_later(&mut self, later: DeferredStatement<'_>) -> Result<(), SqlError> {
        self.written(Some(later.table));
        let changed = self.change(later.sql, later.params)?;
        later.unless_one.filter(|_| changed != 1).map_or(Ok(()), Err)
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        let mut statement = self.statement(sql, params)?;
        if !statement.readonly() {
            self.written(None);
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| sql_error(&error))? {
            each(row)?;
        }
        Ok(())
    }

    fn query_once(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        if self.kept.is_none() {
            return self.query(sql, params, each);
        }
        let question = QueryKey::new(sql, params);
        let known = self.kept.as_ref().and_then(|kept| kept.answers.to(&question));
        if let Some(rows) = known {
            #[cfg(debug_assertions)]
            assert_eq!(
                rows,
                SqliteTransaction::on(self.connection).kept_rows(sql, params)?,
                "an answer was kept too long: {sql}"
            );
            return rows.iter().try_for_each(|row| each(row));
        }
        let rows = self.kept_rows(sql, params)?;
        let handed = rows.iter().try_for_each(|row| each(row));
        if let Some(kept) = &mut self.kept {
            kept.answers.keep(question, rows);
        }
        handed
    }

    fn take_run(&mut self, run: ExecutionId) -> Option<ExecutionPrefetch> {
        self.kept.as_mut()?.take_run(run)
    }

    fn keep_run(&mut self, run: Option<ExecutionPrefetch>) {
        if let (Some(kept), Some(run)) = (&mut self.kept, run) {
            kept.keep_run(run);
        }
    }

    fn forget_run(&mut self, run: ExecutionId) {
        self.take_run(run);
    }

    fn insert_items(&mut self, rows: &[[Value<'_>; INSERT_COLUMNS]]) -> Result<Vec<i64>, SqlError> {
        let mut statement = self.connection.prepare_cached(INSERT_ITEM).map_err(|error| sql_error(&error))?;
        let mut positions = Vec::with_capacity(rows.len());
        for row in rows {
            bind(&mut statement, row)?;
            statement.raw_execute().map_err(|error| sql_error(&error))?;
            positions.push(self.connection.last_insert_rowid());
        }
        Ok(positions)
    }

    fn settled_below(&mut self) -> Result<i64, SqlError> {
        // One writer: whatever a snapshot shows is all there is before it.
        Ok(i64::MAX)
    }

    fn continue_timeline(&mut self) -> Result<(), SqlError> {
        self.execute("DELETE FROM meta WHERE name IN ('cluster', 'timeline_offset')", &[])?;
        let offset = "INSERT INTO meta (name, value)
            SELECT 'timeline_offset', CAST(coalesce(max(tx), 0) AS TEXT) FROM items";
        self.execute(offset, &[])?;
        idempotency_index::all_are_indexed(self)
    }

    fn damage(&mut self) -> Result<Vec<String>, SqlError> {
        let mut found = Vec::new();
        self.query("PRAGMA integrity_check(20)", &[], &mut |row| {
            found.push(row.text(0)?.to_owned());
            Ok(())
        })?;
        found.retain(|line| line != "ok");
        Ok(found)
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn claim_lock(&self) -> &'static str {
        ""
    }

    fn request_index(&self) -> &'static str {
        "AND indexed = 1"
    }

    fn find_request(&mut self, name: &Digest, now: Millis) -> Result<Vec<OperationId>, SqlError> {
        self.requests.as_ref().map_or_else(|| Ok(Vec::new()), |requests| requests.find(self.connection, name, now))
    }

    fn note_operation(&mut self, id: OperationId, name: Option<&Digest>) {
        if let Some(requests) = &mut self.requests {
            requests.note(id, name.copied());
        }
    }

    fn sweep_requests(&mut self, now: Millis) -> Result<(), SqlError> {
        idempotency_index::sweep(self, now)
    }
}

fn bind(statement: &mut rusqlite::Statement<'_>, params: &[Value<'_>]) -> Result<(), SqlError> {
    for (index, value) in params.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value).map_err(|error| sql_error(&error))?;
    }
    Ok(())
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(value),
            Value::Real(value) => ValueRef::Real(value),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl Row for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        Ok(match self.get_ref(column).map_err(|error| sql_error(&error))? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => Value::Int(value),
            ValueRef::Real(value) => Value::Real(value),
            // Invalid text was altered; a caller that expects text reports it.
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text),
            ValueRef::Blob(value) => Value::Bytes(value),
        })
    }
}

pub(crate) fn sql_error(error: &rusqlite::Error) -> SqlError {
    let text = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return SqlError::Other(text) };
    match (failure.code, failure.extended_code) {
        (_, rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY) => {
            SqlError::Unique(text)
        }
        (ErrorCode::ConstraintViolation, _) => SqlError::Constraint(text),
        // A file-size limit surfaces as a failed write of the operating system.
        (ErrorCode::DiskFull, _) | (_, rusqlite::ffi::SQLITE_IOERR_WRITE) => SqlError::Full,
        (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => SqlError::Corrupt(text),
        (ErrorCode::ReadOnly, _) => SqlError::ReadOnly(text),
        (ErrorCode::OperationInterrupted, _) => SqlError::Interrupted,
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => SqlError::Collision(text),
        (ErrorCode::CannotOpen | ErrorCode::SystemIoFailure, _) => SqlError::Gone(text),
        _ => SqlError::Other(text),
    }
}
