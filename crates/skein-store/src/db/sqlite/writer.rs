//! Writes to SQLite on one thread: it commits all waiting functions together, and one failure affects no other function.
//!
//! A batch in which somebody fails is run again with each function in a savepoint of its own. Some failures (a full
//! disk, an interrupt) make SQLite roll the whole transaction back; then nobody has been acknowledged yet, and every
//! function is run again alone, so that each learns its own outcome. It never waits to fill a batch: while one is being
//! made durable, the next gathers, and writes that arrive while it runs join it; only what nobody waits for does not, for those
//! who are done would wait for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use skein_core::Millis;

use crate::clock::Clock;
use crate::db::queued_write::QueuedWrite;
use crate::db::revisions::Revisions;
use crate::db::sqlite::idempotency_index::{IdempotencyIndex, RefreshResult, newest_operation};
use crate::db::sqlite::writer_cache::WriterCache;
use crate::db::sqlite::{BUSY_TIMEOUT, SqliteTransaction, sql_error};
use crate::db::wake::Wakes;
use crate::error::{SqlError, StoreError};
use crate::store::Urgency;
use crate::tx::Tx;

/// Functions that may wait; background work stops at half.
const QUEUE_FUNCTIONS_MAX: usize = 1_024;
/// Bytes that waiting functions may hold together.
const QUEUE_BYTES_MAX: usize = 64 << 20;
const BATCH_FUNCTIONS_MAX: usize = 512;
/// How long others may join a batch: those who came first wait for them.
const JOINING: Duration = Duration::from_millis(10);
const SLOW_FUNCTION: Duration = Duration::from_millis(20);
const IDLE: Duration = Duration::from_secs(1);
/// 16 MiB: a page that changes often is copied once for many changes, and readers still find their way through the log in
/// the first block of its index.
const CHECKPOINT_ABOVE_PAGES: i32 = 4_000;

pub(crate) struct Writer {
    queue: Option<Sender<Queued>>,
    waiting: Arc<WaitingWrite>,
    commits: Arc<AtomicU64>,
    revisions: Revisions,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct WaitingWrite {
    functions: AtomicUsize,
    bytes: AtomicUsize,
}

struct Queued {
    work: Box<dyn QueuedWrite>,
    bytes: usize,
    urgency: Urgency,
}

impl Writer {
    pub(crate) fn start(connection: Connection, clock: Arc<dyn Clock>, wakes: Wakes) -> Result<Self, StoreError> {
        Self::start_joining(JOINING, connection, clock, wakes)
    }

    fn start_joining(
        joining: Duration,
        mut connection: Connection,
        clock: Arc<dyn Clock>,
        wakes: Wakes,
    ) -> Result<Self, StoreError> {
        let (queue, tasks) = channel();
        let log_pages = count_log_pages(&mut connection)?;
        let (waiting, revisions) = (Arc::new(WaitingWrite::default()), Revisions::default());
        let commits = Arc::new(AtomicU64::new(0));
        let last_now = last_now(&connection)?.max(clock.now());
        let mut thread = WriterThread {
            last_now,
            requests: IdempotencyIndex::load(&connection, last_now)?,
            kept: WriterCache::default(),
            number: crate::store::timeline_offset(&mut SqliteTransaction::on(&connection))?,
            log_pages,
            changes: connection.total_changes(),
            connection,
            clock,
            wakes,
            tasks,
            next: None,
            joining,
            waiting: Arc::clone(&waiting),
            commits: Arc::clone(&commits),
            revisions: revisions.clone(),
            open: OpenBatch::default(),
            owes_truncation: false,
        };
        let run = move || thread.run();
        let thread = std::thread::Builder::new().name("skein-writer".to_owned()).spawn(run);
        let thread = Some(thread.expect("the system can start a thread"));
        Ok(Self { queue: Some(queue), waiting, commits, revisions, thread })
    }

    pub(crate) fn revisions(&self) -> &Revisions {
        &self.revisions
    }

    /// How many transactions were committed that changed something; one carries whatever waited together.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Queues a function, unless too much waits already.
    pub(crate) fn submit(&self, work: Box<dyn QueuedWrite>, bytes: usize, urgency: Urgency) -> Result<(), StoreError> {
        let share = match urgency {
            Urgency::Interactive => 1,
            Urgency::Background => 2,
        };
        let functions = self.waiting.functions.fetch_add(1, Ordering::Relaxed);
        let held = self.waiting.bytes.fetch_add(bytes, Ordering::Relaxed);
        let queue = self.queue.as_ref().expect("the queue lives until the writer is dropped");
        let has_room =
            functions < QUEUE_FUNCTIONS_MAX / share && (held == 0 || held + bytes <= QUEUE_BYTES_MAX / share);
        if !has_room {
            self.waiting.leave(bytes);
            return Err(StoreError::Busy);
        }
        queue.send(Queued { work, bytes, urgency }).map_err(|_| {
            self.waiting.leave(bytes);
            StoreError::Unavailable("its writing thread has stopped".to_owned())
        })
    }
}

impl WaitingWrite {
    fn leave(&self, bytes: usize) {
        self.functions.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        // The last work may have held the store itself: then this is the writing thread, which ends with it.
        let thread = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id());
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writing thread panicked");
        }
    }
}

/// The latest time that was noted, so that a clock set back does not run backwards here.
fn last_now(connection: &Connection) -> Result<Millis, StoreError> {
    let newest = "SELECT coalesce((SELECT realized_at FROM items ORDER BY position DESC LIMIT 1), 0)";
    let newest: i64 = connection.query_row(newest, [], |row| row.get(0)).map_err(|error| sql_error(&error))?;
    Ok(Millis(newest).max(newest_operation(connection)?))
}

fn count_log_pages(connection: &mut Connection) -> Result<Arc<AtomicI32>, StoreError> {
    let pages = Arc::new(AtomicI32::new(0));
    let counted = Arc::clone(&pages);
    let count = move |_: &mut rusqlite::hooks::Wal, pages: i32| {
        counted.store(pages, Ordering::Relaxed);
        Ok(())
    };
    connection.wal_hook(Some(count)).map_err(|error| sql_error(&error))?;
    Ok(pages)
}

/// What the open transaction does besides appending facts.
#[derive(Default)]
struct OpenBatch {
    is_revised: bool,
    is_destroying: bool,
    /// Whether a job became ready.
    has_queued: bool,
}

struct WriterThread {
    connection: Connection,
    /// Pages in the write-ahead log that no checkpoint has copied yet.
    log_pages: Arc<AtomicI32>,
    clock: Arc<dyn Clock>,
    last_now: Millis,
    requests: IdempotencyIndex,
    kept: WriterCache,
    number: i64,
    wakes: Wakes,
    tasks: Receiver<Queued>,
    /// Who came while a batch was run, and opens the one after it.
    next: Option<Queued>,
    /// How long others may join a batch.
    joining: Duration,
    waiting: Arc<WaitingWrite>,
    commits: Arc<AtomicU64>,
    /// Rows that were changed until the last commit.
    changes: u64,
    revisions: Revisions,
    open: OpenBatch,
    /// Whether the log still holds what was destroyed.
    owes_truncation: bool,
}

impl WriterThread {
    fn run(&mut self) {
        let mut truncated = true;
        loop {
            match self.next.take().map_or_else(|| self.tasks.recv_timeout(IDLE), Ok) {
                Ok(first) => {
                    let batch = self.gather(first);
                    self.commit_together(batch);
                    self.wakes.timeline.wake();
                    self.checkpoint_if_due();
                    self.truncate_if_owed();
                    truncated = false;
                }
                Err(RecvTimeoutError::Timeout) => truncated = truncated || self.checkpoint("TRUNCATE"),
                Err(RecvTimeoutError::Disconnected) => {
                    self.checkpoint("TRUNCATE");
                    return;
                }
            }
        }
    }

    fn gather(&self, first: Queued) -> VecDeque<Box<dyn QueuedWrite>> {
        let waiting = std::iter::once(first).chain(self.tasks.try_iter()).take(BATCH_FUNCTIONS_MAX);
        waiting.map(|queued| self.admit(queued)).collect()
    }

    fn admit(&self, queued: Queued) -> Box<dyn QueuedWrite> {
        self.waiting.leave(queued.bytes);
        queued.work
    }

    /// Writes that arrived while a batch ran: a commit costs much the same for one more, and most of it a second time.
    /// Background work is long, and those before it are done: it opens the next batch.
    fn latecomer(&mut self, ran: usize, opened: Instant) -> Option<Box<dyn QueuedWrite>> {
        if self.next.is_some() || ran == BATCH_FUNCTIONS_MAX || opened.elapsed() >= self.joining {
            return None;
        }
        let queued = self.tasks.try_recv().ok()?;
        match queued.urgency {
            Urgency::Interactive => Some(self.admit(queued)),
            Urgency::Background => {
                self.next = Some(queued);
                None
            }
        }
    }

    /// Runs a batch without savepoints first: most batches have no culprit, and SQLite copies every page that changes
    /// inside a savepoint.
    fn commit_together(&mut self, batch: VecDeque<Box<dyn QueuedWrite>>) {
        let Some(mut batch) = self.begin(batch) else { return };
        let opened = Instant::now();
        let mut ran = Vec::with_capacity(batch.len());
        let mut is_clean = true;
        while let Some(mut work) = batch.pop_front().or_else(|| self.latecomer(ran.len(), opened)) {
            let changes = self.connection.total_changes();
            let outcome = self.run_function(&mut *work);
            // What failed before it changed anything left nothing to undo.
            let left_nothing = outcome.is_ok() || self.connection.total_changes() == changes;
            is_clean = left_nothing && !self.connection.is_autocommit();
            ran.push((work, outcome));
            if !is_clean {
                break;
            }
        }
        if is_clean && self.commit().is_ok() {
            return ran.into_iter().for_each(|(work, outcome)| settle(work, outcome));
        }
        self.roll_back();
        if ran.len() > 1 || !batch.is_empty() {
            return self.commit_in_savepoints(ran.into_iter().map(|(work, _)| work).chain(batch).collect());
        }
        for (work, outcome) in ran {
            match outcome {
                // It was alone: what it was told stands.
                Err(_) => settle(work, outcome),
                Ok(()) => self.commit_alone(work),
            }
        }
    }

    /// Runs a batch in which somebody failed: each function in a savepoint, so that only its own work is undone.
    fn commit_in_savepoints(&mut self, batch: VecDeque<Box<dyn QueuedWrite>>) {
        let Some(batch) = self.begin(batch) else { return };
        let mut ran = Vec::with_capacity(batch.len());
        let mut batch = batch.into_iter();
        for mut work in batch.by_ref() {
            let outcome = self.run_in_savepoint(&mut *work);
            ran.push((work, outcome));
            if self.connection.is_autocommit() {
                break;
            }
        }
        if !self.connection.is_autocommit() && self.commit().is_ok() {
            return ran.into_iter().for_each(|(work, outcome)| settle(work, outcome));
        }
        // The transaction is gone with everyone in it, and nobody was told otherwise yet.
        self.roll_back();
        let everyone = ran.into_iter().map(|(work, _)| work).chain(batch);
        everyone.for_each(|work| self.commit_alone(work));
    }

    /// Opens the transaction of a batch, or refuses everyone in it.
    fn begin(&mut self, batch: VecDeque<Box<dyn QueuedWrite>>) -> Option<VecDeque<Box<dyn QueuedWrite>>> {
        let Err(error) = self.begin_transaction() else { return Some(batch) };
        // Somebody else holds the file, or it cannot be written: trying each alone would make them wait in turn.
        tracing::warn!(%error, waiting = batch.len(), "could not begin a transaction");
        for work in batch {
            work.refuse(not_begun(error.clone()));
        }
        None
    }

    fn begin_transaction(&mut self) -> Result<(), SqlError> {
        self.statement("BEGIN IMMEDIATE")?;
        match self.requests.refresh(&self.connection, self.last_now) {
            Ok(RefreshResult::AsBefore) => Ok(()),
            Ok(RefreshResult::OthersWrote) => {
                self.kept.let_go();
                Ok(())
            }
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    fn run_in_savepoint(&mut self, work: &mut dyn QueuedWrite) -> Result<(), StoreError> {
        self.statement("SAVEPOINT one")?;
        let noted = self.requests.noted();
        let outcome = self.run_function(work);
        if self.connection.is_autocommit() {
            return outcome;
        }
        let undone = if outcome.is_err() { self.statement("ROLLBACK TO one") } else { Ok(()) };
        if outcome.is_err() {
            self.requests.take_back(noted);
            self.kept.let_go();
        }
        if undone.and_then(|()| self.statement("RELEASE one")).is_err() {
            // What was refused must not be committed with the others: everyone is run again alone.
            self.roll_back();
        }
        outcome
    }

    fn commit_alone(&mut self, mut work: Box<dyn QueuedWrite>) {
        let outcome = self.begin_transaction().map_err(not_begun).and_then(|()| {
            self.run_function(&mut *work)?;
            Ok(self.commit()?)
        });
        if outcome.is_err() {
            self.roll_back();
        }
        settle(work, outcome);
    }

    fn run_function(&mut self, work: &mut dyn QueuedWrite) -> Result<(), StoreError> {
        self.last_now = self.last_now.max(self.clock.now());
        let started = Instant::now();
        let seed = *work.seed();
        let mut sql = SqliteTransaction::on(&self.connection).knowing(&mut self.requests, &mut self.kept);
        let mut tx = Tx::new(&mut sql, self.last_now, self.number, seed);
        let outcome = work.run(&mut tx);
        self.open.is_revised |= tx.revises();
        self.open.is_destroying |= tx.destroys();
        self.open.has_queued |= tx.has_queued();
        let took = started.elapsed();
        if took > SLOW_FUNCTION {
            tracing::warn!(took_ms = took.as_millis(), "a write kept all others waiting");
        }
        outcome
    }

    fn commit(&mut self) -> Result<(), SqlError> {
        self.requests.file(&self.connection)?;
        self.statement("COMMIT")?;
        self.kept.committed();
        let changes = self.connection.total_changes();
        if std::mem::replace(&mut self.changes, changes) != changes {
            self.commits.fetch_add(1, Ordering::Relaxed);
        }
        self.requests.committed(self.last_now);
        let OpenBatch { is_revised, is_destroying, has_queued } = std::mem::take(&mut self.open);
        if is_revised {
            self.revisions.add();
        }
        if has_queued {
            self.wakes.jobs.wake();
        }
        self.owes_truncation |= is_destroying;
        Ok(())
    }

    fn statement(&self, sql: &str) -> Result<(), SqlError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| sql_error(&error))?;
        statement.execute([]).map(drop).map_err(|error| sql_error(&error))
    }

    fn roll_back(&mut self) {
        self.requests.rolled_back();
        self.kept.let_go();
        if !self.connection.is_autocommit()
            && let Err(error) = self.statement("ROLLBACK")
        {
            tracing::error!(%error, "could not roll back");
        }
    }

    fn checkpoint_if_due(&self) {
        if self.log_pages.load(Ordering::Relaxed) > CHECKPOINT_ABOVE_PAGES {
            self.checkpoint("PASSIVE");
        }
    }

    /// What was destroyed is to leave the log too, also when writing never rests: as soon as no reader needs it.
    fn truncate_if_owed(&mut self) {
        self.owes_truncation = self.owes_truncation && !self.checkpoint("TRUNCATE");
    }

    /// Copies the log into the database as far as readers allow; says whether that was all of it. Waits for nobody.
    fn checkpoint(&self, mode: &str) -> bool {
        let without_waiting = || {
            self.connection.busy_timeout(Duration::ZERO)?;
            let pragma = format!("PRAGMA wal_checkpoint({mode})");
            let busy = self.connection.query_row(&pragma, [], |row| row.get::<_, i64>(0));
            self.connection.busy_timeout(BUSY_TIMEOUT)?;
            busy
        };
        match without_waiting() {
            Ok(busy) => busy == 0,
            Err(error) => {
                tracing::warn!(%error, "could not checkpoint; it will be tried again");
                false
            }
        }
    }
}

/// A file that somebody else holds is a reason to come back, not a fault.
fn not_begun(error: SqlError) -> StoreError {
    match error {
        SqlError::Collision(_) => StoreError::Busy,
        other => other.into(),
    }
}

fn settle(work: Box<dyn QueuedWrite>, outcome: Result<(), StoreError>) {
    match outcome {
        Ok(()) => work.acknowledge(None),
        Err(error) => work.refuse(error),
    }
}

#[cfg(test)]
mod tests;
