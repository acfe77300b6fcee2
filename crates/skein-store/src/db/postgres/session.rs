//! One connection, owned by one thread: connects when needed, runs functions until they commit.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::{Client, SimpleQueryMessage};
use skein_core::{ExecutionId, ItemId, Millis};

use crate::clock::Clock;
use crate::db::postgres::tree_lock::{TreeLock, session_locks, transaction_locks, trees_of};
use crate::db::postgres::{PostgresTransaction, StatementCache, connect, sql_error};
use crate::db::queued_write::{QueuedWrite, panic_text};
use crate::db::sql::Sql;
use crate::error::{SqlError, StoreError};
use crate::flow::ExecutionPrefetch;
use crate::tree::{RowCache, TurnPrefetch};
use crate::tx::Tx;

/// How often a function is run again before its caller is told to come back later.
const RUNS_MAX: u32 = 40;

/// After so many collisions a function waits for the others that collide as often, one after the other.
const RUNS_UNQUEUED: u32 = 5;
/// The queue of those ("skeio": the number after that of migrations).
const QUEUE_LOCK: i64 = 0x73_6b_65_69_6f;
/// Recursive questions look expensive to the planner and take microseconds; compiling them takes a tenth of a second each.
/// What every transaction begins with is parsed and planned once.
/// Statements ask for few rows by their keys. On a database that was never analysed the planner reads and hashes whole tables
/// instead, which costs more with every row and collides with every serializable writer.
const GET_READY: &str =
    "SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
    PREPARE skein_reading AS SELECT floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint::text, '0';
    PREPARE skein_writing AS SELECT floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint::text,
        pg_current_xact_id()::text;
    PREPARE skein_writing_trees AS SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text,
        pg_current_xact_id()::text";
const READING: &str = "EXECUTE skein_reading";
const WRITING: &str = "EXECUTE skein_writing";
/// After waiting for the trees: the moment is that of the lock, not of the beginning.
const WRITING_TREES: &str = "EXECUTE skein_writing_trees";

/// Reads without a limit go through whole tables.
const BY_TABLES: &str =
    "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on";
const LOCKING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// For connections on which functions share transactions: they ask the same few things, whatever the numbers.
const GET_READY_TO_SHARE: &str = "SET plan_cache_mode = force_generic_plan";

/// The statements around those of a transaction.
const BEGIN_AND_END: u64 = 2;

/// Between two attempts to reach a database that is away.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// How strictly a write is kept apart from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    Serializable,
    /// For who holds which job: each statement locks the rows it is about and looks at them again, and `SKIP LOCKED` keeps
    /// claims apart: one that collided would find another job. And for runs that lock themselves first.
    ReadCommitted,
}

/// What is known over all sessions of a store.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) collisions: AtomicU64,
    /// Statements of writes, their beginnings and ends included.
    pub(crate) statements: AtomicU64,
    away: Reachability,
}

pub(crate) struct PostgresSession {
    url: Arc<str>,
    clock: Option<Arc<dyn Clock>>,
    counters: Arc<Counters>,
    connection: Option<Connection>,
    /// Whether functions share its transactions.
    is_shared: bool,
    last: CommitSummary,
    /// The trees that the last transaction wrote to when it collided: the next attempt waits for them beforehand.
    contended: Vec<TreeLock>,
}

/// What the last transaction wrote.
#[derive(Default)]
struct CommitSummary {
    item: Option<ItemId>,
    /// Where it stands, if that was not known before the end.
    position: Option<i64>,
    /// Whether a job became ready.
    has_queued: bool,
}

struct Connection {
    client: Client,
    prepared: StatementCache,
    timeline_offset: i64,
}

/// A transaction that has begun.
struct OpenTransaction {
    now: Millis,
    number: i64,
}

enum Attempt {
    Committed,
    Collided,
    Refused(StoreError),
}

/// Whether the database could be reached when somebody last tried.
#[derive(Debug, Default)]
pub(crate) struct Reachability(Mutex<Option<Instant>>);

impl Reachability {
    /// Connects. While the database is away, one after the other and with a pause in between: it has to repair itself, and
    /// every attempt costs it a process.
    fn connect(&self, url: &str) -> Result<Client, SqlError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_away = lock().is_some();
        if !is_away {
            return connect(url).inspect_err(|_| *lock() = Some(Instant::now()));
        }
        let mut failed_at = lock();
        if let Some(failed_at) = *failed_at {
            std::thread::park_timeout(RECONNECT_PAUSE.saturating_sub(failed_at.elapsed()));
        }
        let connected = connect(url);
        *failed_at = connected.is_err().then(Instant::now);
        connected
    }
}

impl PostgresSession {
    pub(crate) fn new(url: Arc<str>, clock: Option<Arc<dyn Clock>>, counters: Arc<Counters>) -> Self {
        let last = CommitSummary::default();
        Self { url, clock, counters, connection: None, is_shared: false, last, contended: Vec::new() }
    }

    /// One on which functions share transactions, and nothing else is done.
    pub(crate) fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// Says whether a job became ready.
    pub(crate) fn write(&mut self, mut work: Box<dyn QueuedWrite>, isolation: Isolation) -> bool {
        self.contended.clear();
        let mut is_queued = false;
        let outcome = self.run_until_settled(&mut *work, isolation, &mut is_queued);
        if is_queued {
            self.leave_queue();
        }
        match outcome {
            Ok(()) => {
                self.counters.commits.fetch_add(1, Ordering::Relaxed);
                work.acknowledge(self.last.position);
                self.last.has_queued
            }
            Err(error) => {
                work.refuse(error);
                false
            }
        }
    }

    /// An attempt that begins once nobody else writes to the trees over which the one before collided. A serializable
    /// transaction that waited inside would see them as they were before the wait.
    fn attempt_waiting(&mut self, work: &mut dyn QueuedWrite, isolation: Isolation) -> Attempt {
        let trees = std::mem::take(&mut self.contended);
        if isolation == Isolation::ReadCommitted || trees.is_empty() {
            return self.attempt(work, isolation);
        }
        let (lock, unlock) = session_locks(&trees);
        let is_held = self.connected().is_ok_and(|connection| connection.client.batch_execute(&lock).is_ok());
        let attempt = self.attempt(work, isolation);
        if is_held {
            self.unlock(&unlock);
        }
        attempt
    }

    fn run_until_settled(
        &mut self,
        work: &mut dyn QueuedWrite,
        isolation: Isolation,
        is_queued: &mut bool,
    ) -> Result<(), StoreError> {
        for run in 1..=RUNS_MAX {
            if run == RUNS_UNQUEUED {
                *is_queued = self.queue_up();
            }
            match self.attempt_waiting(work, isolation) {
                Attempt::Committed => return Ok(()),
                Attempt::Collided => {
                    self.counters.collisions.fetch_add(1, Ordering::Relaxed);
                    back_off(run, work.seed());
                }
                Attempt::Refused(error) => return Err(error),
            }
        }
        Err(StoreError::Busy)
    }

    /// Waits until no other function that keeps colliding is being run. Outside of a transaction, whose view of the
    /// data would be from before the wait.
    fn queue_up(&mut self) -> bool {
        let lock = format!("SELECT pg_advisory_lock({QUEUE_LOCK})");
        self.connected().is_ok_and(|connection| connection.client.batch_execute(&lock).is_ok())
    }

    fn leave_queue(&mut self) {
        self.unlock(&format!("SELECT pg_advisory_unlock({QUEUE_LOCK})"));
    }

    /// Gives back locks of the session; with the connection they go as well.
    fn unlock(&mut self, unlock: &str) {
        let left = self.connection.as_mut().map(|connection| connection.client.batch_execute(unlock));
        if matches!(left, Some(Err(_))) {
            self.connection = None;
        }
    }

    fn attempt(&mut self, work: &mut dyn QueuedWrite, isolation: Isolation) -> Attempt {
        let statement = match isolation {
            Isolation::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE",
            Isolation::ReadCommitted => LOCKING,
        };
        let trees = if isolation == Isolation::Serializable { Vec::new() } else { trees_of([&*work]) };
        let begun = match self.begin_holding(statement, trees) {
            Ok(begun) => begun,
            Err(error) if error.is_collision() => return Attempt::Collided,
            Err(error) => return Attempt::Refused(error),
        };
        let seed = *work.seed();
        let run = |tx: &mut Tx<'_>| {
            work.run(tx)?;
            let position = tx.settle()?;
            Ok(CommitSummary { item: tx.last_item(), position, has_queued: tx.has_queued() })
        };
        let outcome = self.in_transaction(&begun, seed, run);
        self.end(&begun, outcome)
    }

    /// Commits what was written, or takes it back.
    fn end(&mut self, begun: &OpenTransaction, outcome: Result<CommitSummary, StoreError>) -> Attempt {
        let prepared = self.connection.as_mut().map(|connection| &mut connection.prepared);
        let (sent, trees) = prepared.map_or((0, Vec::new()), |prepared| (prepared.take_sent(), prepared.take_trees()));
        self.counters.statements.fetch_add(sent + BEGIN_AND_END, Ordering::Relaxed);
        let attempt = match outcome {
            Ok(written) => {
                self.last = written;
                self.commit(begun.number, self.last.item)
            }
            Err(error) => {
                self.roll_back();
                if error.is_collision() { Attempt::Collided } else { Attempt::Refused(error) }
            }
        };
        if matches!(attempt, Attempt::Collided) {
            self.contended = trees;
        }
        attempt
    }

    /// Runs functions that lock what they rely on in one transaction: what they ask alike is asked once, and what they write
    /// is written together. Should one of them be refused or collide, each has a transaction of its own. Says whether a
    /// job became ready.
    pub(crate) fn write_together(&mut self, mut works: Vec<Box<dyn QueuedWrite>>) -> bool {
        if works.len() > 1 {
            match self.attempt_together(&mut works) {
                Attempt::Committed => {
                    self.counters.commits.fetch_add(1, Ordering::Relaxed);
                    for work in works {
                        work.acknowledge(self.last.position);
                    }
                    return self.last.has_queued;
                }
                Attempt::Refused(StoreError::OutcomeUnknown) => {
                    for work in works {
                        work.refuse(StoreError::OutcomeUnknown);
                    }
                    return false;
                }
                Attempt::Collided => {
                    self.counters.collisions.fetch_add(1, Ordering::Relaxed);
                }
                Attempt::Refused(_) => {}
            }
        }
        let queued: Vec<bool> = works.into_iter().map(|work| self.write(work, Isolation::ReadCommitted)).collect();
        queued.contains(&true)
    }

    fn attempt_together(&mut self, works: &mut [Box<dyn QueuedWrite>]) -> Attempt {
        let begun = match self.begin_holding(LOCKING, trees_of(works.iter().map(AsRef::as_ref))) {
            Ok(begun) => begun,
            Err(error) => return Attempt::Refused(error),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| self.run_together(&begun, works)));
        let outcome = outcome.unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(&*panic))));
        self.end(&begun, outcome)
    }

    fn run_together(
        &mut self,
        begun: &OpenTransaction,
        works: &mut [Box<dyn QueuedWrite>],
    ) -> Result<CommitSummary, StoreError> {
        let Connection { client, prepared, timeline_offset } = self.connected()?;
        prepared.failed = false;
        let mut sql = PostgresTransaction::new(client, prepared, *timeline_offset).shared();
        let runs: Vec<ExecutionId> = works.iter().filter_map(|work| work.run_id()).collect();
        let mut ahead = if runs.is_empty() { HashMap::new() } else { ExecutionPrefetch::of(&mut sql, &runs)? };
        // Turns come first: what is read for them holds while nothing but turns was written.
        works.sort_by_key(|work| !work.is_turn());
        let mut turns = TurnPrefetch::of(&mut sql, begun.now, works.iter().map(AsRef::as_ref))?;
        let (mut written, mut row_cache) = (CommitSummary::default(), RowCache::default());
        for work in works {
            let mut tx = Tx::new(&mut sql, begun.now, begun.number, *work.seed());
            tx.ahead = work.run_id().and_then(|run| ahead.remove(&run));
            tx.turn_ahead = turns.remove(work.seed());
            tx.row_cache = row_cache;
            work.run(&mut tx)?;
            row_cache = std::mem::take(&mut tx.row_cache);
            if !row_cache.is_filled() {
                turns.clear();
            }
            written.item = tx.last_item().or(written.item);
            written.has_queued |= tx.has_queued();
        }
        written.position = sql.settle()?;
        Ok(written)
    }

    /// Runs `work` on one snapshot, for as long as `limit` allows.
    pub(crate) fn read<T>(
        &mut self,
        limit: Option<Duration>,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let plans =
            limit.map_or(BY_TABLES.to_owned(), |limit| format!("SET LOCAL statement_timeout = {}", limit.as_millis()));
        let statement = format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {plans}");
        let begun = self.begin(Some(&statement), READING)?;
        let outcome = self.in_transaction(&begun, [0; 16], work);
        self.roll_back();
        outcome
    }

    /// Runs `work` outside of a transaction: each of its statements sees what is newest.
    pub(crate) fn look<T>(&mut self, work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let begun = self.begin(None, READING)?;
        self.with_sql(&begun, [0; 16], true, work)
    }

    /// Begins to write once nobody else writes to `trees`: only then the transaction gets its number and its moment, so what
    /// it reads of them stands before it on the timeline.
    fn begin_holding(&mut self, begin: &str, trees: Vec<TreeLock>) -> Result<OpenTransaction, StoreError> {
        let (begin, ask) = if trees.is_empty() {
            (begin.to_owned(), WRITING)
        } else {
            (format!("{begin}; {}", transaction_locks(&trees)), WRITING_TREES)
        };
        let transaction = self.begin(Some(&begin), ask)?;
        self.connected()?.prepared.hold_trees(trees);
        Ok(transaction)
    }

    /// Begins, connecting first where needed; asks for time and transaction number in the same round trip.
    fn begin(&mut self, begin: Option<&str>, ask: &str) -> Result<OpenTransaction, StoreError> {
        let statement = begin.map_or_else(|| ask.to_owned(), |begin| format!("{begin}; {ask}"));
        // A connection that broke while idle shows only now, when nothing is lost by opening another.
        let reused = self.connection.is_some();
        let answer = match self.connected()?.client.simple_query(&statement) {
            Err(error) if reused && error.as_db_error().is_none_or(|answer| answer.code().code().starts_with("57")) => {
                self.connection = None;
                self.connected()?.client.simple_query(&statement)
            }
            answer => answer,
        };
        let answer = answer.map_err(|error| {
            // An open transaction is not left to the next function.
            self.roll_back();
            self.lost(sql_error(&error))
        })?;
        let row = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0)?.parse().ok()?, row.get(1)?.parse::<i64>().ok()?)),
            _ => None,
        });
        let (now, transaction) = row.ok_or_else(|| SqlError::Other("no time came back".to_owned()))?;
        let now = self.clock.as_ref().map_or(Millis(now), |clock| clock.now());
        let offset = self.connected()?.timeline_offset;
        Ok(OpenTransaction { now, number: transaction + offset })
    }

    fn connected(&mut self) -> Result<&mut Connection, StoreError> {
        if self.connection.is_none() {
            let mut client = self.counters.away.connect(&self.url)?;
            client.batch_execute(GET_READY).map_err(|error| sql_error(&error))?;
            if self.is_shared {
                client.batch_execute(GET_READY_TO_SHARE).map_err(|error| sql_error(&error))?;
            }
            let mut prepared = StatementCache::default();
            let mut sql = PostgresTransaction::new(&mut client, &mut prepared, 0);
            let timeline_offset = crate::store::timeline_offset(&mut sql)?;
            self.connection = Some(Connection { client, prepared, timeline_offset });
        }
        Ok(self.connection.as_mut().expect("connected just above"))
    }

    fn in_transaction<T>(
        &mut self,
        begun: &OpenTransaction,
        seed: [u8; 16],
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_sql(begun, seed, false, work)
    }

    fn with_sql<T>(
        &mut self,
        begun: &OpenTransaction,
        seed: [u8; 16],
        is_looking: bool,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Connection { client, prepared, timeline_offset } = self.connected()?;
        prepared.failed = false;
        let mut sql = PostgresTransaction::new(client, prepared, *timeline_offset).looking(is_looking);
        let mut tx = Tx::new(&mut sql as &mut dyn Sql, begun.now, begun.number, seed);
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut tx)));
        outcome.unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(&*panic))))
    }

    fn commit(&mut self, number: i64, last_item: Option<ItemId>) -> Attempt {
        let Some(connection) = self.connection.as_mut() else {
            return Attempt::Refused(StoreError::OutcomeUnknown);
        };
        let transaction = number - connection.timeline_offset;
        // PostgreSQL answers COMMIT of a failed transaction with a rollback and no error.
        if connection.prepared.failed {
            self.roll_back();
            return Attempt::Refused(StoreError::Panicked("it went on after a failed statement".to_owned()));
        }
        match connection.client.simple_query("COMMIT") {
            Ok(_) => Attempt::Committed,
            Err(error) => match sql_error(&error) {
                SqlError::Collision(_) => {
                    self.roll_back();
                    Attempt::Collided
                }
                SqlError::Gone(_) => self.outcome_of(transaction, last_item),
                other => {
                    self.roll_back();
                    Attempt::Refused(other.into())
                }
            },
        }
    }

    /// Asks the database itself what became of a commit whose answer was lost.
    ///
    /// After a crash a transaction number can be given out again, so "committed" counts only when something this very
    /// write appended is there.
    fn outcome_of(&mut self, transaction: i64, last_item: Option<ItemId>) -> Attempt {
        self.connection = None;
        let Ok(connection) = self.connected() else { return Attempt::Refused(StoreError::OutcomeUnknown) };
        let status = "SELECT pg_xact_status($1::text::xid8), EXISTS (SELECT 1 FROM items WHERE id = $2)";
        let id = last_item.map(|item| item.as_bytes().to_vec());
        let answer = connection.client.query_one(status, &[&transaction.to_string(), &id]);
        match answer.map(|row| (row.get::<_, Option<String>>(0), row.get::<_, bool>(1))) {
            Ok((_, true)) => Attempt::Committed,
            Ok((Some(status), false)) if status == "aborted" => {
                Attempt::Refused(StoreError::Unavailable("the connection broke before the commit".to_owned()))
            }
            _ => Attempt::Refused(StoreError::OutcomeUnknown),
        }
    }

    fn roll_back(&mut self) {
        let rolled_back = self.connection.as_mut().map(|connection| connection.client.batch_execute("ROLLBACK"));
        if matches!(rolled_back, Some(Err(_))) {
            self.connection = None;
        }
    }

    /// Drops a connection that will not recover and passes the reason on.
    fn lost(&mut self, error: SqlError) -> StoreError {
        if matches!(error, SqlError::Gone(_)) {
            self.connection = None;
        }
        error.into()
    }
}

/// Waits a little longer each time, differently for each function, so that colliding ones part.
#[expect(clippy::disallowed_methods, reason = "this thread serves one function at a time and has nothing else to do")]
fn back_off(run: u32, seed: &[u8; 16]) {
    let jitter = u64::from(seed[(run % 16) as usize]) * 8;
    let microseconds = u64::from(run.min(20)) * (200 + jitter);
    std::thread::sleep(Duration::from_micros(microseconds));
}
