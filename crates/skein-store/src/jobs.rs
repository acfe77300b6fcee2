//! Queues jobs: enqueued in the transaction that causes them, leased by one worker at a time.
//!
//! A job waits for its moment (`delayed`), then for its owner's turn (`queued`), is held by a worker (`leased`) and is gone
//! when it is done; what nobody can do is put aside (`dead`), and what belongs to a paused run is parked ([`paused`]). A fence grows with every claim, so that a worker that was
//! thought lost cannot finish somebody else's attempt. Whose turn it is: [`claim`]; what keeps a job held: [`lease`].

mod claim;
mod dead_letter;
pub mod exclusive_act;
mod lease;
pub mod named_lease;
mod paused;
mod timer;
pub mod workers;

use skein_core::document::{self, check_text};
use skein_core::{ExecutionId, JobId, Millis, UserId, Viewer};

use crate::db::sql::{DeferredStatement, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tx::{Tx, system_only};

pub(crate) use claim::OwnerTurns;
pub use claim::{ClaimResult, PLACES_MAX, QueueCapacity, QueueStatus};
pub use dead_letter::{DeadLetter, ExecutionJob, JobState};
pub use lease::{LeaseMaintenance, LeaseTerms};
pub use timer::DueJob;

const QUEUE_NAME_BYTES_MAX: usize = 64;
/// How much of a failure's words is kept.
const ERROR_CHARS_MAX: usize = 4_000;
const JOB_COLUMNS: &str = "id, owner, queue, payload, attempts, lost, fence, run, step";

/// Work to be done later.
#[derive(Debug, Clone)]
pub struct JobDraft {
    pub queue: String,
    /// Among the jobs of one owner, higher comes first.
    pub priority: i64,
    pub run_at: Option<Millis>,
    /// JSON text.
    pub payload: String,
    /// The execution it is a part of, and which step of it.
    pub run: Option<(ExecutionId, i64)>,
}

impl JobDraft {
    /// Work of no particular urgency that can begin at once.
    pub fn new(queue: &str, payload: String) -> Self {
        Self { queue: queue.to_owned(), priority: 0, run_at: None, payload, run: None }
    }
}

/// Who holds jobs, and how: made by [`crate::Store::holder`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobHolder {
    /// Unique for each start of a process, never used again.
    pub worker: String,
    pub lease_ms: i64,
    /// Which start of the process that has the database to itself; 0 where several share one.
    pub epoch: i64,
}

/// Work a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub owner: UserId,
    pub queue: String,
    pub payload: String,
    /// How often it was claimed and not given back, this time included.
    pub attempts: i64,
    /// How often its worker vanished.
    pub lost: i64,
    pub fence: i64,
    /// The execution it is a part of, and which step of it.
    pub run: Option<(ExecutionId, i64)>,
}

impl Job {
    /// How often its worker neither completed it nor vanished over it, this time included.
    pub fn tries(&self) -> i64 {
        self.attempts - self.lost
    }
}

/// What becomes of a job that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    RetryAt(Millis),
    /// Kept for a person to look at.
    Bury,
}

impl Tx<'_> {
    pub fn enqueue(&mut self, viewer: &Viewer, draft: &JobDraft) -> Result<JobId, StoreError> {
        self.insert_job(viewer, draft, None)
    }

    /// Hands a job straight to the worker at hand, in the transaction that causes it: nobody else ever sees it waiting.
    pub fn enqueue_leased(&mut self, viewer: &Viewer, draft: &JobDraft, holder: &JobHolder) -> Result<Job, StoreError> {
        let id = self.insert_job(viewer, draft, Some(holder))?;
        let (queue, payload) = (draft.queue.clone(), draft.payload.clone());
        Ok(Job { id, owner: viewer.owner(), queue, payload, attempts: 1, lost: 0, fence: 1, run: draft.run })
    }

    /// Ends a job and hands the next one of the same owner to the worker at hand, in one row: the same as completing the
    /// one and queueing the other leased, but no index changes, so workers who do so at once do not collide on
    /// PostgreSQL. The job keeps its id; its fence tells the two apart.
    pub fn complete_and_enqueue(
        &mut self,
        viewer: &Viewer,
        done: &Job,
        draft: &JobDraft,
        holder: &JobHolder,
    ) -> Result<Job, StoreError> {
        check_draft(draft)?;
        let now = self.now();
        // When it became due stays: it is in an index.
        let sql =
            "UPDATE jobs SET queue = ?3, priority = ?4, created_at = ?5, attempts = 1, lost = 0, fence = fence + 1,
                       epoch = ?6, lease_until = ?7, worker = ?8, run = ?9, step = ?10, error = NULL, payload = ?11
                   WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL";
        let values = params![
            &done.id,
            done.fence,
            &draft.queue,
            draft.priority,
            now,
            holder.epoch,
            now.plus(holder.lease_ms),
            &holder.worker,
            draft.run.as_ref().map(|(run, _)| run),
            draft.run.map(|(_, step)| step),
            &draft.payload
        ];
        self.held_later(viewer, done, sql, values)?;
        let (queue, payload, fence) = (draft.queue.clone(), draft.payload.clone(), done.fence + 1);
        Ok(Job { id: done.id, owner: done.owner, queue, payload, attempts: 1, lost: 0, fence, run: draft.run })
    }

    fn insert_job(
        &mut self,
        viewer: &Viewer,
        draft: &JobDraft,
        holder: Option<&JobHolder>,
    ) -> Result<JobId, StoreError> {
        check_draft(draft)?;
        let id = JobId::new(self.id_time(), self.entropy());
        let (now, owner) = (self.now(), viewer.owner());
        let run_at = draft.run_at.unwrap_or(now);
        let state = if holder.is_some() { "leased" } else { self.waiting_until(run_at) };
        let sql =
            "INSERT INTO jobs (id, owner, queue, priority, state, run_at, attempts, lost, fence, epoch, lease_until, worker,
                 run, step, payload, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let values = params![
            &id,
            &owner,
            &draft.queue,
            draft.priority,
            state,
            run_at,
            holder.is_some(),
            holder.map_or(0, |holder| holder.epoch),
            holder.map(|holder| now.plus(holder.lease_ms)),
            holder.map(|holder| &holder.worker),
            draft.run.as_ref().map(|(run, _)| run),
            draft.run.map(|(_, step)| step),
            &draft.payload,
            now
        ];
        self.execute_later(DeferredStatement::new("jobs", sql, values))?;
        Ok(id)
    }

    /// The state of a waiting job; workers are woken when it need not wait.
    fn waiting_until(&mut self, moment: Millis) -> &'static str {
        if moment > self.now() {
            return "delayed";
        }
        self.note_queued();
        "queued"
    }

    /// Takes a finished job off the queue, in the transaction that keeps its result.
    pub fn complete_job(&mut self, viewer: &Viewer, job: &Job) -> Result<(), StoreError> {
        self.held_later(
            viewer,
            job,
            "DELETE FROM jobs WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL",
            params![&job.id, job.fence],
        )
    }

    pub fn fail_job(&mut self, viewer: &Viewer, job: &Job, error: &str, then: AfterFailure) -> Result<(), StoreError> {
        let (state, run_at) = match then {
            AfterFailure::RetryAt(at) => (self.waiting_until(at), at),
            AfterFailure::Bury => ("dead", self.now()),
        };
        let error = storable(error);
        let sql = "UPDATE jobs SET state = ?3, run_at = ?4, error = ?5, worker = NULL, lease_until = NULL
                   WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL";
        self.held(viewer, job, sql, params![&job.id, job.fence, state, run_at, &error])
    }

    /// Changes a job that is held under the fence it was claimed with. Statements say so by its lease, not by its state, so
    /// that PostgreSQL finds the row by its id: an index over held jobs is what every other worker writes to as well.
    fn held_later(&mut self, viewer: &Viewer, job: &Job, sql: &str, params: &[Value<'_>]) -> Result<(), StoreError> {
        system_only(viewer)?;
        self.execute_later(DeferredStatement::changing_one("jobs", sql, params, SqlError::NotHeld(job.id.to_string())))
    }

    /// [`Self::held_later`], at once.
    fn held(&mut self, viewer: &Viewer, job: &Job, sql: &str, params: &[Value<'_>]) -> Result<(), StoreError> {
        system_only(viewer)?;
        if self.execute(sql, params)? == 1 { Ok(()) } else { Err(StoreError::LeaseLost(job.id.to_string())) }
    }
}

fn check_draft(draft: &JobDraft) -> Result<(), StoreError> {
    check_text("a queue's name", &draft.queue, QUEUE_NAME_BYTES_MAX)?;
    document::parse(draft.payload.as_bytes())?;
    Ok(())
}

/// A program's own words, cut and cleaned so that both databases take them.
fn storable(error: &str) -> String {
    error.chars().filter(|character| *character != '\0').take(ERROR_CHARS_MAX).collect()
}

/// Reads [`JOB_COLUMNS`].
fn read_job(row: &dyn Row) -> Result<Job, SqlError> {
    Ok(Job {
        id: JobId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        queue: row.text(2)?.to_owned(),
        payload: row.text(3)?.to_owned(),
        attempts: row.int(4)?,
        lost: row.int(5)?,
        fence: row.int(6)?,
        run: read_run(row, 7)?,
    })
}

fn read_run(row: &dyn Row, column: usize) -> Result<Option<(ExecutionId, i64)>, SqlError> {
    let (run, step) = (row.optional_array(column)?, row.optional_int(column + 1)?);
    Ok(run.map(|run| (ExecutionId::from_bytes(run), step.unwrap_or_default())))
}
