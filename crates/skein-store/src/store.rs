//! The store: one struct over two databases, through which everything is read and written.
//!
//! A write is a function over [`Tx`] that may run more than once; the store runs it, makes it durable, then
//! answers. Start at [`Store::open`], [`Store::write`] and [`Store::read`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::clock::{Clock, SystemClock};
use crate::computation::{Again, until_computed};
use crate::db::pool::Pool;
use crate::db::postgres::group_commit::{Batch, GroupCommit};
use crate::db::postgres::notify::Notifier;
use crate::db::postgres::session::{Counters, Isolation, PostgresSession};
use crate::db::queued_write::{Committed, LockTarget, QueuedWrite, WriteFunction, WriteOutcome};
use crate::db::sql::Sql;
use crate::db::sqlite::inline_reader::InlineReader;
use crate::db::sqlite::writer::Writer;
use crate::db::storage_status::StorageReports;
use crate::db::wake::{Wake, Wakes};
use crate::error::{SqlError, StoreError};
use crate::jobs::OwnerTurns;
use crate::tx::Tx;

const READERS: usize = 4;
const READ_MAX: Duration = Duration::from_secs(crate::READ_SECONDS_MAX);
/// How much later than the database the caller gives up.
const READ_GRACE: Duration = Duration::from_secs(5);
const READS_WAITING_MAX: usize = 1_024;
/// Rough size of a function that says nothing about its own.
const WEIGHT_UNKNOWN: usize = 1 << 10;

/// Which database, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A directory of its own; the database is `skein.db` in it.
    Directory(PathBuf),
    /// A PostgreSQL connection string.
    Postgres(String),
}

/// How a store is opened.
pub struct StoreOptions {
    pub location: Location,
    /// Stands in for the database's clock; tests stop it.
    pub clock: Option<Arc<dyn Clock>>,
    /// Connections to PostgreSQL; SQLite has one writer whatever this says.
    pub connections: usize,
}

impl StoreOptions {
    pub fn at(location: Location) -> Self {
        Self { location, clock: None, connections: 16 }
    }
}

/// Whether someone waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    Interactive,
    /// Refused first when much is waiting.
    Background,
}

/// Facts, beliefs and edges on one of two databases. Cheap to clone; closes with its last clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    backend: Backend,
    wakes: Wakes,
    location: Location,
    turns: OwnerTurns,
    /// Which start of the process that has the database to itself this is; 0 until it is begun.
    epoch: AtomicI64,
    pub(crate) reports: StorageReports,
}

impl Inner {
    fn new(backend: Backend, wakes: Wakes, location: Location) -> Arc<Self> {
        Arc::new(Self {
            backend,
            wakes,
            location,
            turns: OwnerTurns::default(),
            epoch: AtomicI64::new(0),
            reports: StorageReports::default(),
        })
    }
}

enum Backend {
    Sqlite {
        writer: Option<Writer>,
        readers: Pool<rusqlite::Connection>,
        at_hand: InlineReader,
        clock: Arc<dyn Clock>,
    },
    Postgres {
        sessions: Pool<PostgresSession>,
        /// Connections of their own for what shares transactions: what it takes is prepared there.
        sharing: Pool<PostgresSession>,
        together: Arc<GroupCommit>,
        notifier: Arc<Notifier>,
        counters: Arc<Counters>,
        access: Access,
    },
}

/// How functions that write at once are kept apart where several can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteIsolation {
    Serialized,
    Locked,
    LockedWithoutFacts,
}

impl WriteIsolation {
    fn isolation(self) -> Isolation {
        match self {
            Self::Serialized => Isolation::Serializable,
            Self::Locked | Self::LockedWithoutFacts => Isolation::ReadCommitted,
        }
    }
}

/// What a store was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Reading,
    Writing,
}

/// What a store has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    pub commits: u64,
    /// Transactions that collided with another one and were run again; a single writer has nothing to collide with.
    pub collisions: u64,
    /// Ways to another process and back that writes took; none where the database is in this one.
    pub statements: u64,
}

impl Store {
    /// Opens for reading and writing, creating or migrating the schema where needed.
    pub fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let wakes = Wakes::default();
        let backend = match &options.location {
            Location::Directory(directory) => open_sqlite(directory, options.clock, &wakes)?,
            Location::Postgres(url) => open_postgres(url, options.clock.as_ref(), options.connections, &wakes)?,
        };
        Ok(Self { inner: Inner::new(backend, wakes, options.location) })
    }

    /// Opens for reading only, beside a process that may be writing.
    pub fn open_read_only(location: Location) -> Result<Self, StoreError> {
        let Location::Directory(directory) = &location else {
            return Self::open_postgres_read_only(location);
        };
        let file = database_file(directory);
        let (readers, at_hand) = (open_readers(&file)?, InlineReader::open(&file)?);
        let backend = Backend::Sqlite { writer: None, readers, at_hand, clock: Arc::new(SystemClock) };
        Ok(Self { inner: Inner::new(backend, Wakes::default(), location) })
    }

    fn open_postgres_read_only(location: Location) -> Result<Self, StoreError> {
        let Location::Postgres(url) = &location else { unreachable!("called for PostgreSQL") };
        on_a_thread(|| crate::db::postgres::check(url))?;
        let wakes = Wakes::default();
        let backend = start_sessions(url, None, READERS, &wakes, Access::Reading);
        Ok(Self { inner: Inner::new(backend, wakes, location) })
    }

    pub fn location(&self) -> &Location {
        &self.inner.location
    }

    /// Runs `function` in a transaction of its own and answers once it is durable. A function that needs a computation
    /// ([`StoreError::NeedsComputation`]) runs again after it.
    pub async fn write<T, F>(&self, function: F) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.write_weighing(WEIGHT_UNKNOWN, function).await
    }

    /// [`Self::write`] for a function that holds many bytes and says how many, so that the queue stays bounded.
    pub async fn write_weighing<T, F>(&self, weight: usize, function: F) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let function = Again::new(function);
        until_computed(|| {
            let outcome = self.submit(function.attempt(), weight, Urgency::Interactive);
            async { self.reported(outcome?.await.unwrap_or_else(|_| Err(closed()))) }
        })
        .await
    }

    /// [`Self::write`] for callers who do not wait for a computation here: they are given it instead
    /// ([`StoreError::NeedsComputation`]).
    pub async fn write_without_computing<T, F>(&self, function: F) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let outcome = self.submit(function, WEIGHT_UNKNOWN, Urgency::Interactive)?;
        self.reported(outcome.await.unwrap_or_else(|_| Err(closed())))
    }

    /// [`Self::write`] for callers outside an async runtime.
    pub fn write_blocking<T, F>(&self, function: F) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.write_later(function, WEIGHT_UNKNOWN, Urgency::Interactive)
    }

    /// [`Self::write_blocking`] for work that gives its size and can wait.
    pub fn write_later<T, F>(&self, function: F, weight: usize, urgency: Urgency) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.reported(self.submit(function, weight, urgency)?.blocking_recv().unwrap_or_else(|_| Err(closed())))
    }

    pub(crate) fn submit<T, F>(
        &self,
        function: F,
        weight: usize,
        urgency: Urgency,
    ) -> Result<WriteOutcome<Committed<T>>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (work, outcome) = WriteFunction::queued(function);
        self.submit_work(work, weight, urgency, WriteIsolation::Serialized)?;
        Ok(outcome)
    }

    fn submit_work(
        &self,
        work: Box<dyn QueuedWrite>,
        weight: usize,
        urgency: Urgency,
        apart: WriteIsolation,
    ) -> Result<(), StoreError> {
        match &self.inner.backend {
            Backend::Sqlite { writer: Some(writer), .. } => writer.submit(work, weight, urgency),
            Backend::Sqlite { writer: None, .. } => Err(StoreError::ReadOnly("it was opened for reading".to_owned())),
            Backend::Postgres { access: Access::Reading, .. } => {
                Err(StoreError::ReadOnly("it was opened for reading".to_owned()))
            }
            Backend::Postgres { sessions, sharing, together, notifier, .. } => {
                let (notifier, jobs) = (Arc::clone(notifier), self.inner.wakes.jobs.clone());
                let tell = move |queued: bool| {
                    if queued {
                        jobs.wake();
                    }
                    notifier.committed(apart != WriteIsolation::LockedWithoutFacts, queued);
                };
                if apart == WriteIsolation::Locked {
                    return share(sharing, together, work, tell);
                }
                sessions.submit(Box::new(move |session| tell(session.write(work, apart.isolation()))))
            }
        }
    }

    /// [`Self::write_weighing`] for a function that locks what it reads before it relies on it
    /// ([`Tx::locked_execution`], [`Tx::rely_on_record`]). On PostgreSQL such functions do not collide when they touch rows
    /// that are neighbours in an index, as serializable ones do, and several share a transaction; on SQLite there is no
    /// difference. A function that moves a run says which, and one that writes to trees says whose (decision 0041).
    pub async fn write_locking<T, F>(
        &self,
        weight: usize,
        about: Option<LockTarget>,
        function: F,
    ) -> Result<Committed<T>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let function = Again::new(function);
        until_computed(|| {
            let (work, outcome) = WriteFunction::queued_about(about, function.attempt());
            let submitted = self.submit_work(work, weight, Urgency::Interactive, WriteIsolation::Locked);
            async {
                submitted?;
                self.reported(outcome.await.unwrap_or_else(|_| Err(closed())))
            }
        })
        .await
    }

    /// Who holds which job: kept apart by locking rows, and no fact.
    pub(crate) fn settle<T, F>(&self, function: F) -> Result<WriteOutcome<Committed<T>>, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (work, outcome) = WriteFunction::queued(function);
        self.submit_work(work, WEIGHT_UNKNOWN, Urgency::Interactive, WriteIsolation::LockedWithoutFacts)?;
        Ok(outcome)
    }

    /// Runs `function` on one snapshot. What it tries to write is refused by the database.
    pub async fn read<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.reported(answered_in_time(self.submit_read(function, Some(READ_MAX))?).await)
    }

    /// [`Self::read`] for a function that may need a computation; it runs again after it.
    pub async fn read_computing<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let function = Again::new(function);
        until_computed(|| self.read(function.attempt())).await
    }

    /// [`Self::look_up`] for a function that may need a computation; it runs again after it.
    pub async fn look_up_computing<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let function = Again::new(function);
        until_computed(|| self.look_up(function.attempt())).await
    }

    /// A look at a few rows by their keys: where the database is in this process it is done at once, on the caller's
    /// own thread, for handing it to another costs several times the look itself. Each statement sees what is newest.
    pub async fn look_up<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        match &self.inner.backend {
            Backend::Sqlite { at_hand, clock, .. } => match at_hand.read(clock.now(), function) {
                Ok(outcome) => self.reported(outcome),
                Err(function) => self.read(function).await,
            },
            Backend::Postgres { sessions, .. } => {
                let (waiting, outcome) = oneshot::channel();
                sessions.submit(Box::new(move |session| {
                    let _ = waiting.send(session.look(function));
                }))?;
                self.reported(answered_in_time(outcome).await)
            }
        }
    }

    /// [`Self::read`] for callers outside an async runtime.
    pub fn read_blocking<T, F>(&self, function: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.reported(self.submit_read(function, Some(READ_MAX))?.blocking_recv().unwrap_or_else(|_| Err(closed())))
    }

    /// An outcome whose failure was taken note of.
    pub(crate) fn reported<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        outcome.inspect_err(|error| self.report(error))
    }

    /// A read without a time limit, for work over the whole store: verifying, copying.
    pub(crate) fn read_everything<T, F>(&self, function: F) -> Result<WriteOutcome<T>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        self.submit_read(function, None)
    }

    fn submit_read<T, F>(&self, function: F, limit: Option<Duration>) -> Result<WriteOutcome<T>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (waiting, outcome) = oneshot::channel();
        match &self.inner.backend {
            Backend::Sqlite { readers, clock, .. } => {
                let now = clock.now();
                readers.submit(Box::new(move |connection| {
                    let _ = waiting.send(crate::db::sqlite::reader::read(connection, now, limit, function));
                }))?;
            }
            Backend::Postgres { sessions, .. } => {
                sessions.submit(Box::new(move |session| {
                    let _ = waiting.send(session.read(limit, function));
                }))?;
            }
        }
        Ok(outcome)
    }

    /// How often something other than a plain fact was committed, where this process alone can commit: as long as it
    /// stays the same, what was read of items, records and health after it was asked for holds.
    pub fn revisions_here(&self) -> Option<u64> {
        match &self.inner.backend {
            Backend::Sqlite { writer, .. } => writer.as_ref().map(|writer| writer.revisions().count()),
            Backend::Postgres { .. } => None,
        }
    }

    /// Resolves whenever the timeline may have grown.
    pub fn wake(&self) -> &Wake {
        &self.inner.wakes.timeline
    }

    /// Resolves whenever a job may have become ready, here or at another server of the same database. One that waits for
    /// its moment rings nothing: look again within a second.
    pub fn job_wake(&self) -> &Wake {
        &self.inner.wakes.jobs
    }

    pub(crate) fn turns(&self) -> &OwnerTurns {
        &self.inner.turns
    }

    pub(crate) fn epoch(&self) -> &AtomicI64 {
        &self.inner.epoch
    }

    /// Whether nobody else can write to this database at the same time.
    pub fn is_alone(&self) -> bool {
        matches!(self.inner.backend, Backend::Sqlite { .. })
    }

    pub fn statistics(&self) -> Statistics {
        match &self.inner.backend {
            Backend::Sqlite { writer, .. } => {
                Statistics { commits: writer.as_ref().map_or(0, Writer::commits), collisions: 0, statements: 0 }
            }
            Backend::Postgres { counters, .. } => Statistics {
                commits: counters.commits.load(Ordering::Relaxed),
                collisions: counters.collisions.load(Ordering::Relaxed),
                statements: counters.statements.load(Ordering::Relaxed),
            },
        }
    }
}

/// A database that hangs answers nothing, not even that time is up.
async fn answered_in_time<T>(outcome: WriteOutcome<T>) -> Result<T, StoreError> {
    let answered = tokio::time::timeout(READ_MAX + READ_GRACE, outcome).await;
    let answered = answered.map_err(|_| StoreError::TooSlow(crate::READ_SECONDS_MAX))?;
    answered.unwrap_or_else(|_| Err(closed()))
}

pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}

/// Where the database of a directory is.
pub fn database_file(directory: &Path) -> PathBuf {
    directory.join("skein.db")
}

fn open_sqlite(directory: &Path, clock: Option<Arc<dyn Clock>>, wakes: &Wakes) -> Result<Backend, StoreError> {
    let file = database_file(directory);
    let clock = clock.unwrap_or_else(|| Arc::new(SystemClock));
    let connection = crate::db::sqlite::open_writer(&file)?;
    let writer = Writer::start(connection, Arc::clone(&clock), wakes.clone())?;
    let (readers, at_hand) = (open_readers(&file)?, InlineReader::open(&file)?);
    Ok(Backend::Sqlite { writer: Some(writer), readers, at_hand, clock })
}

fn open_readers(file: &Path) -> Result<Pool<rusqlite::Connection>, StoreError> {
    let connections = (0..READERS).map(|_| crate::db::sqlite::open_reader(file)).collect::<Result<_, _>>()?;
    Ok(Pool::start("skein-reader", connections, READS_WAITING_MAX))
}

fn open_postgres(
    url: &str,
    clock: Option<&Arc<dyn Clock>>,
    connections: usize,
    wakes: &Wakes,
) -> Result<Backend, StoreError> {
    on_a_thread(|| crate::db::postgres::prepare(url))?;
    Ok(start_sessions(url, clock, connections, wakes, Access::Writing))
}

fn start_sessions(
    url: &str,
    clock: Option<&Arc<dyn Clock>>,
    connections: usize,
    wakes: &Wakes,
    access: Access,
) -> Backend {
    let url: Arc<str> = url.into();
    let counters = Arc::new(Counters::default());
    let session = |_| PostgresSession::new(Arc::clone(&url), clock.cloned(), Arc::clone(&counters));
    let together = Arc::new(GroupCommit::new(connections));
    let shared = together.serving_max();
    let sessions = Pool::start(
        "skein-postgres",
        (0..connections.saturating_sub(shared).max(1)).map(session).collect(),
        READS_WAITING_MAX,
    );
    let sharing =
        Pool::start("skein-sharing", (0..shared).map(|number| session(number).shared()).collect(), READS_WAITING_MAX);
    let notifier = Arc::new(Notifier::start(url, wakes.clone()));
    Backend::Postgres { sessions, sharing, together, notifier, counters, access }
}

/// Has a function run together with others that come while the connections are busy.
fn share(
    sharing: &Pool<PostgresSession>,
    together: &Arc<GroupCommit>,
    work: Box<dyn QueuedWrite>,
    tell: impl Fn(bool) + Send + 'static,
) -> Result<(), StoreError> {
    if !together.add(work)? {
        return Ok(());
    }
    let gathering = Arc::clone(together);
    let serve = move |session: &mut PostgresSession| {
        let mut batch = gathering.next(&Batch::default());
        while !batch.works.is_empty() {
            tell(session.write_together(std::mem::take(&mut batch.works)));
            batch = gathering.next(&batch);
        }
    };
    if sharing.submit(Box::new(serve)).is_err() {
        together.give_up();
    }
    Ok(())
}

/// PostgreSQL's client blocks on a runtime of its own and must not be called inside another.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What is added to the database's transaction numbers so that they follow those of the cluster the data came from.
pub(crate) fn timeline_offset(sql: &mut dyn Sql) -> Result<i64, SqlError> {
    let mut offset = 0;
    sql.query("SELECT value FROM meta WHERE name = 'timeline_offset'", &[], &mut |row| {
        offset = row.text(0)?.parse().map_err(|_| SqlError::Other("the timeline offset is not a number".to_owned()))?;
        Ok(())
    })?;
    Ok(offset)
}
