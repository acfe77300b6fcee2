//! PostgreSQL: the way past one machine. Every write is serializable and run again when it collides.

pub(crate) mod group_commit;
pub(crate) mod notify;
pub(crate) mod session;
mod transport;
mod tree_lock;
mod write_batch;

pub(crate) use transport::connect;

use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use postgres::{Client, Statement};

use std::collections::HashMap;
use std::fmt::Write as _;

use skein_core::{Digest, Millis, OperationId, UserId};

use crate::db::postgres::tree_lock::TreeLock;
use crate::db::query_cache::{QueryCache, QueryKey};
use crate::db::schema;
use crate::db::schema::{Dialect, Migrate};
use crate::db::sql::{DeferredStatement, OwnedRow, OwnedValue, Row, RowResult, Sql, Value};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{INSERT_COLUMNS, INSERT_ITEM};

/// Rows of one insert statement; more would only make the statement longer, not faster.
pub(crate) const INSERT_ROWS_MAX: usize = 100;
pub(crate) const INSERT_BYTES_MAX: usize = 8 << 20;
/// Serialises migrations, restores and the start of a new epoch between processes ("skein" in ASCII).
const MIGRATION_LOCK: i64 = 0x73_6b_65_69_6e;
/// The primary key of items: their positions.
const POSITIONS: &str = "items_pkey";

/// Creates or upgrades the schema, and starts a new epoch when the data came from another cluster.
pub(crate) fn prepare(url: &str) -> Result<(), StoreError> {
    let mut client = connect(url)?;
    let mut migrating = PostgresMigration(&mut client);
    wait_for_others(migrating.0)?;
    migrating.run("BEGIN")?;
    schema::migrate(&mut migrating)?;
    migrating.run(NEW_EPOCH)?;
    migrating.run("COMMIT")?;
    // With the connection ends the lock.
    Ok(())
}

/// Takes the lock of migrations and restores; it is held until the connection ends.
fn wait_for_others(client: &mut Client) -> Result<(), StoreError> {
    let mut lock = |function: &str| client.query_one(&format!("SELECT {function}({MIGRATION_LOCK})"), &[]);
    let is_ours: bool = lock("pg_try_advisory_lock").map_err(|error| sql_error(&error))?.get(0);
    if !is_ours {
        tracing::info!(
            "another process migrates this database or restores a backup to it; waiting until that has ended"
        );
        lock("pg_advisory_lock").map_err(|error| sql_error(&error))?;
    }
    Ok(())
}

/// Keeps migrations, restores and the starts of servers away, for as long as the connection that is returned lives.
pub(crate) fn hold_database(url: &str) -> Result<Client, StoreError> {
    let mut client = connect(url)?;
    wait_for_others(&mut client)?;
    Ok(client)
}

/// Makes sure, without changing anything, that the schema is the one this program knows.
pub(crate) fn check(url: &str) -> Result<(), StoreError> {
    let mut client = connect(url)?;
    schema::check(&mut PostgresMigration(&mut client))
}

/// Transaction numbers of another cluster may lie ahead of ours, so ours are counted on from its last one.
const NEW_EPOCH: &str = "
    INSERT INTO meta (name, value)
    SELECT 'timeline_offset', coalesce(max(tx), 0)::text FROM items
    WHERE (SELECT value FROM meta WHERE name = 'cluster') IS DISTINCT FROM
          (SELECT system_identifier::text FROM pg_control_system())
    ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    INSERT INTO meta (name, value)
    SELECT 'cluster', system_identifier::text FROM pg_control_system()
    ON CONFLICT (name) DO UPDATE SET value = excluded.value;";

pub(crate) struct PostgresMigration<'a>(pub(crate) &'a mut Client);

impl Migrate for PostgresMigration<'_> {
    const DIALECT: Dialect = Dialect::Postgres;

    fn run(&mut self, sql: &str) -> Result<(), SqlError> {
        self.0.batch_execute(sql).map_err(|error| sql_error(&error))
    }

    fn version(&mut self) -> Result<i64, SqlError> {
        let has_meta = "SELECT to_regclass('meta') IS NOT NULL";
        let found: bool = self.0.query_one(has_meta, &[]).map_err(|error| sql_error(&error))?.get(0);
        if !found {
            return Ok(0);
        }
        let version = "SELECT value::bigint FROM meta WHERE name = 'schema'";
        self.0.query_one(version, &[]).map(|row| row.get(0)).map_err(|error| sql_error(&error))
    }
}

/// Statements already prepared on one connection, by their text with `?1`.
#[derive(Default)]
pub(crate) struct StatementCache {
    statements: HashMap<String, Statement>,
    /// Whether a statement of the open transaction failed, so that it can only be rolled back.
    pub(crate) failed: bool,
    /// How many statements were sent since somebody asked.
    sent: u64,
    /// The locks of trees that the open transaction holds.
    trees: Vec<TreeLock>,
}

impl StatementCache {
    pub(crate) fn take_sent(&mut self) -> u64 {
        std::mem::take(&mut self.sent)
    }

    pub(crate) fn hold_trees(&mut self, trees: Vec<TreeLock>) {
        self.trees = trees;
    }

    pub(crate) fn take_trees(&mut self) -> Vec<TreeLock> {
        std::mem::take(&mut self.trees)
    }
}

/// `?1` spelled `$1`. No statement of ours has a question mark in a literal.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

pub(crate) struct PostgresTransaction<'a> {
    pub(crate) client: &'a mut Client,
    pub(crate) prepared: &'a mut StatementCache,
    pub(crate) timeline_offset: i64,
    waiting: write_batch::WriteBatch,
    /// What was asked once for all functions that share the transaction; nothing where one has it to itself.
    answers: Option<QueryCache>,
    /// Whether nothing is to be written.
    is_looking: bool,
}

impl<'a> PostgresTransaction<'a> {
    pub(crate) fn new(client: &'a mut Client, prepared: &'a mut StatementCache, timeline_offset: i64) -> Self {
        Self {
            client,
            prepared,
            timeline_offset,
            waiting: write_batch::WriteBatch::default(),
            answers: None,
            is_looking: false,
        }
    }

    /// For looks outside of a transaction, where the database would refuse no write.
    pub(crate) fn looking(self, is_looking: bool) -> Self {
        Self { is_looking, ..self }
    }

    /// For several functions that share the transaction.
    pub(crate) fn shared(self) -> Self {
        Self { answers: Some(QueryCache::default()), ..self }
    }
}

impl PostgresTransaction<'_> {
    /// Refuses to write where somebody only looks.
    fn refuse_unless_reading(&self, sql: &str) -> Result<(), SqlError> {
        if !self.is_looking || ["SELECT", "WITH"].iter().any(|verb| sql.trim_start().starts_with(verb)) {
            return Ok(());
        }
        Err(SqlError::ReadOnly("it was only to be looked at".to_owned()))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, SqlError> {
        self.prepared.sent += 1;
        self.prepared(sql)
    }

    /// A statement that is not sent, or not by itself.
    fn prepared(&mut self, sql: &str) -> Result<Statement, SqlError> {
        self.refuse_unless_reading(sql)?;
        if let Some(statement) = self.prepared.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql)).map_err(|error| self.failed(&error))?;
        self.prepared.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<postgres::Row>, SqlError> {
        let statement = self.statement(sql)?;
        self.client.query(&statement, &references(params)).map_err(|error| self.failed(&error))
    }

    /// The rows of a statement whose one parameter is a list of ids.
    pub(crate) fn of_ids(&mut self, sql: &str, ids: &[&[u8]]) -> Result<Vec<postgres::Row>, SqlError> {
        let statement = self.statement(sql)?;
        self.client.query(&statement, &[&ids]).map_err(|error| self.failed(&error))
    }

    /// The rows of a statement whose parameters are lists.
    pub(crate) fn each_of(&mut self, sql: &str, columns: &[Vec<OwnedValue>]) -> Result<Vec<postgres::Row>, SqlError> {
        let statement = self.statement(sql)?;
        let lists: Vec<Vec<Value<'_>>> =
            columns.iter().map(|column| column.iter().map(OwnedValue::value).collect()).collect();
        let params: Vec<&(dyn ToSql + Sync)> = lists.iter().map(|list| list as &(dyn ToSql + Sync)).collect();
        self.client.query(&statement, &params).map_err(|error| self.failed(&error))
    }

    /// Hands over rows as they come, without holding them all.
    fn stream(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        let statement = self.statement(sql)?;
        let mut rows = self.client.query_raw(&statement, references(params)).map_err(|error| sql_error(&error))?;
        while let Some(row) = rows.next().map_err(|error| sql_error(&error))? {
            each(&row)?;
        }
        Ok(())
    }

    /// The rows of an answer, to be handed over again.
    fn kept_rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<OwnedRow>, SqlError> {
        self.before(sql)?;
        let kept = |row: postgres::Row| {
            let value = |column: usize| Row::value(&row, column).map(OwnedValue::of);
            (0..row.len()).map(value).collect::<Result<_, _>>().map(OwnedRow)
        };
        self.rows(sql, params)?.into_iter().map(kept).collect()
    }

    fn failed(&mut self, error: &postgres::Error) -> SqlError {
        self.prepared.failed = true;
        sql_error(error)
    }
}

impl Sql for PostgresTransaction<'_> {
    fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, SqlError> {
        self.before(sql)?;
        if let Some(answers) = &mut self.answers {
            answers.forget();
        }
        let statement = self.statement(sql)?;
        self.client.execute(&statement, &references(params)).map_err(|error| self.failed(&error))
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        self.before(sql)?;
        let outcome = self.stream(sql, params, each);
        self.prepared.failed |= outcome.is_err();
        outcome
    }

    fn query_about(
        &mut self,
        table: &'static str,
        key: &[u8],
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        self.before_looking_at(table, key)?;
        let outcome = self.stream(sql, params, each);
        self.prepared.failed |= outcome.is_err();
        outcome
    }

    fn query_once(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        let Some(answers) = &self.answers else {
            return self.query(sql, params, each);
        };
        let question = QueryKey::new(sql, params);
        if let Some(rows) = answers.to(&question) {
            return rows.iter().try_for_each(|row| each(row));
        }
        let rows = self.kept_rows(sql, params)?;
        let handed = rows.iter().try_for_each(|row| each(row));
        if let Some(answers) = &mut self.answers {
            answers.keep(question, rows);
        }
        handed
    }

    fn insert_items(&mut self, rows: &[[Value<'_>; INSERT_COLUMNS]]) -> Result<Vec<i64>, SqlError> {
        self.before(INSERT_ITEM)?;
        let mut positions = Vec::with_capacity(rows.len());
        let mut waiting = rows;
        while !waiting.is_empty() {
            let (chunk, later) = waiting.split_at(chunk_length(waiting));
            let params: Vec<Value<'_>> = chunk.iter().flatten().copied().collect();
            let inserted = self.rows(&insert_many(chunk.len()), &params)?;
            positions.extend(inserted.iter().map(|row| row.get::<_, i64>(0)));
            waiting = later;
        }
        Ok(positions)
    }

    fn execute_later(&mut self, later: DeferredStatement<'_>) -> Result<(), SqlError> {
        self.defer(later)
    }

    fn insert_items_later(&mut self, rows: &[[Value<'_>; INSERT_COLUMNS]]) -> Result<Option<i64>, SqlError> {
        self.defer_items(rows).map(|()| None)
    }

    fn settle(&mut self) -> Result<Option<i64>, SqlError> {
        self.flush_all()
    }

    fn settled_below(&mut self) -> Result<i64, SqlError> {
        let mut below = 0;
        self.query("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint", &[], &mut |row| {
            below = row.int(0)?;
            Ok(())
        })?;
        Ok(below + self.timeline_offset)
    }

    fn continue_timeline(&mut self) -> Result<(), SqlError> {
        let sequence =
            "SELECT setval(pg_get_serial_sequence('items', 'position'), coalesce(max(position), 1)) FROM items";
        self.query(sequence, &[], &mut |_| Ok(()))?;
        let offset =
            "UPDATE meta SET value = (SELECT coalesce(max(tx), 0) FROM items)::text WHERE name = 'timeline_offset'";
        self.execute(offset, &[]).map(drop)
    }

    fn damage(&mut self) -> Result<Vec<String>, SqlError> {
        // Looking into its pages needs an extension and rights that a user of the database rarely has.
        Ok(Vec::new())
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn is_run_alone_if_refused(&self) -> bool {
        self.answers.is_some()
    }

    fn hold_trees(&mut self, owner: UserId) -> Result<(), SqlError> {
        let lock = TreeLock::of(owner);
        if !self.prepared.trees.contains(&lock) {
            self.rows(tree_lock::LOCK, &[Value::Int(lock.key())])?;
            self.prepared.trees.push(lock);
        }
        Ok(())
    }

    fn claim_lock(&self) -> &'static str {
        "FOR UPDATE SKIP LOCKED"
    }

    fn request_index(&self) -> &'static str {
        ""
    }

    fn find_request(&mut self, _: &Digest, _: Millis) -> Result<Vec<OperationId>, SqlError> {
        Ok(Vec::new())
    }

    fn note_operation(&mut self, _: OperationId, _: Option<&Digest>) {}

    fn sweep_requests(&mut self, _: Millis) -> Result<(), SqlError> {
        Ok(())
    }
}

/// How many leading rows go into one statement: not too many, not too large, at least one.
fn chunk_length(rows: &[[Value<'_>; INSERT_COLUMNS]]) -> usize {
    let mut bytes = 0;
    let fitting = rows.iter().take(INSERT_ROWS_MAX).take_while(|row| {
        bytes += row.iter().map(Value::weight).sum::<usize>();
        bytes <= INSERT_BYTES_MAX
    });
    fitting.count().max(1)
}

/// [`INSERT_ITEM`] for several rows, answering with their positions.
pub(crate) fn insert_many(rows: usize) -> String {
    let (insert, _) = INSERT_ITEM.split_once("VALUES").expect("the statement lists its values last");
    let mut sql = format!("{insert}VALUES ");
    for row in 0..rows {
        let separator = if row == 0 { "" } else { ", " };
        let places: Vec<String> =
            (1..=INSERT_COLUMNS).map(|column| format!("?{}", row * INSERT_COLUMNS + column)).collect();
        write!(sql, "{separator}({})", places.join(", ")).expect("writing to a String cannot fail");
    }
    sql + " RETURNING position"
}

fn references<'a>(params: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match *self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(value) => value.to_sql(kind, out),
            Value::Real(value) => value.to_sql(kind, out),
            Value::Text(value) => value.to_sql(kind, out),
            Value::Bytes(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

impl Row for postgres::Row {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        let kind = self.columns().get(column).map(postgres::Column::type_);
        let value = match kind {
            Some(&Type::INT8) => self.try_get::<_, Option<i64>>(column).map(Value::from),
            Some(&Type::FLOAT8) => self.try_get::<_, Option<f64>>(column).map(Value::from),
            Some(&Type::TEXT) => self.try_get::<_, Option<&str>>(column).map(Value::from),
            Some(&Type::BYTEA) => self.try_get::<_, Option<&[u8]>>(column).map(Value::from),
            other => {
                return Err(SqlError::Other(format!("column {column} has the type {other:?}")));
            }
        };
        value.map_err(|error| sql_error(&error))
    }
}

pub(crate) fn sql_error(error: &postgres::Error) -> SqlError {
    let Some(answer) = error.as_db_error() else {
        return SqlError::Gone(with_cause(error));
    };
    let text = answer.message().to_owned();
    let code = answer.code();
    match code.code().get(..2) {
        // Positions are drawn. One that is taken was put there by a restore that began at the same time.
        _ if *code == SqlState::UNIQUE_VIOLATION && answer.constraint() == Some(POSITIONS) => SqlError::Collision(text),
        _ if *code == SqlState::UNIQUE_VIOLATION => {
            SqlError::Unique(format!("{text} [{}]", answer.constraint().unwrap_or_default()))
        }
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            SqlError::ReadOnly(format!("{text}; give the database user the right to create tables and to write"))
        }
        _ if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED => SqlError::Corrupt(text),
        _ if *code == SqlState::DISK_FULL => SqlError::Full,
        _ if *code == SqlState::READ_ONLY_SQL_TRANSACTION => SqlError::ReadOnly(text),
        _ if *code == SqlState::QUERY_CANCELED => SqlError::Interrupted,
        Some("23") => SqlError::Constraint(text),
        Some("40" | "55") => SqlError::Collision(text),
        Some("08" | "57" | "53" | "28" | "3D") => SqlError::Gone(text),
        _ => SqlError::Other(format!("{text} ({})", code.code())),
    }
}

/// Connection failures hide their reason in the source.
fn with_cause(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{cause}")
}
