//! Queued work: enqueued in the transaction that causes it, leased by one worker at a time.
//!
//! A fence grows with every claim, so that a worker that was thought lost cannot finish somebody else's attempt.

use skein_core::document::{self, check_text};
use skein_core::{JobId, Millis, UserId, Viewer};

use crate::error::StoreError;
use crate::sql::{Row, Value, params};
use crate::store::{Store, closed};
use crate::tx::{Tx, system_only};

const QUEUE_NAME_BYTES_MAX: usize = 64;
/// How much of a failure's words is kept.
const ERROR_CHARS_MAX: usize = 4_000;
/// Work to be done later.
#[derive(Debug, Clone)]
pub struct JobDraft {
    pub queue: String,
    /// Higher comes first.
    pub priority: i64,
    pub run_at: Option<Millis>,
    /// JSON text.
    pub payload: String,
}

/// Work a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub owner: UserId,
    pub queue: String,
    pub payload: String,
    /// How often it was claimed, this time included.
    pub attempts: i64,
    /// How often its worker vanished.
    pub lost: i64,
    pub fence: i64,
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
        check_text("a queue's name", &draft.queue, QUEUE_NAME_BYTES_MAX)?;
        document::parse(draft.payload.as_bytes())?;
        let id = JobId::new(self.now(), self.entropy());
        let now = self.now();
        self.execute(
            "INSERT INTO jobs (id, owner, queue, priority, state, run_at, attempts, lost, fence, payload, created_at)
             VALUES (?1, ?2, ?3, ?4, 'queued', ?5, 0, 0, 0, ?6, ?7)",
            params![
                &id,
                &viewer.owner(),
                &draft.queue,
                draft.priority,
                draft.run_at.unwrap_or(now),
                &draft.payload,
                now
            ],
        )?;
        Ok(id)
    }

    /// Says that a worker is still at it.
    pub fn heartbeat(&mut self, viewer: &Viewer, job: &Job, lease_ms: i64) -> Result<(), StoreError> {
        let until = self.now().plus(lease_ms);
        let sql = "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND fence = ?2 AND state = 'leased'";
        self.held(viewer, job, sql, params![&job.id, job.fence, until])
    }

    /// Takes a finished job off the queue, in the transaction that keeps its result.
    pub fn complete_job(&mut self, viewer: &Viewer, job: &Job) -> Result<(), StoreError> {
        self.held(
            viewer,
            job,
            "DELETE FROM jobs WHERE id = ?1 AND fence = ?2 AND state = 'leased'",
            params![&job.id, job.fence],
        )
    }

    pub fn fail_job(&mut self, viewer: &Viewer, job: &Job, error: &str, then: AfterFailure) -> Result<(), StoreError> {
        let (state, run_at) = match then {
            AfterFailure::RetryAt(at) => ("queued", at),
            AfterFailure::Bury => ("dead", self.now()),
        };
        let error = storable(error);
        let sql = "UPDATE jobs SET state = ?3, run_at = ?4, error = ?5, worker = NULL, lease_until = NULL
                   WHERE id = ?1 AND fence = ?2 AND state = 'leased'";
        self.held(viewer, job, sql, params![&job.id, job.fence, state, run_at, &error])
    }

    /// Puts back what a worker held that stops: as if it had vanished, but at once.
    pub fn release_jobs(&mut self, viewer: &Viewer, jobs: &[Job]) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "UPDATE jobs SET state = 'queued', lost = lost + 1, worker = NULL, lease_until = NULL
                   WHERE id = ?1 AND fence = ?2 AND state = 'leased'";
        for job in jobs {
            self.execute(sql, params![&job.id, job.fence])?;
        }
        Ok(())
    }

    /// Puts back what lost workers held; says how many jobs that were.
    pub fn requeue_lost(&mut self, viewer: &Viewer) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql = "UPDATE jobs SET state = 'queued', lost = lost + 1, worker = NULL, lease_until = NULL
                   WHERE state = 'leased' AND lease_until <= ?1";
        Ok(self.execute(sql, params![now])?)
    }

    fn held(&mut self, viewer: &Viewer, job: &Job, sql: &str, params: &[Value<'_>]) -> Result<(), StoreError> {
        system_only(viewer)?;
        if self.execute(sql, params)? == 1 { Ok(()) } else { Err(StoreError::LeaseLost(job.id.to_string())) }
    }
}

impl Store {
    /// Takes the next job of a queue for `lease_ms`, if there is one.
    pub async fn claim_job(&self, queue: &str, worker: &str, lease_ms: i64) -> Result<Option<Job>, StoreError> {
        let (queue, worker) = (queue.to_owned(), worker.to_owned());
        let claimed = self.claim(move |tx| {
            let now = tx.now();
            let sql = format!(
                "UPDATE jobs
                 SET state = 'leased', worker = ?2, lease_until = ?4, fence = fence + 1, attempts = attempts + 1
                 WHERE id = (SELECT id FROM jobs WHERE queue = ?1 AND state = 'queued' AND run_at <= ?3
                             ORDER BY priority DESC, run_at, id LIMIT 1 {})
                 RETURNING id, owner, queue, payload, attempts, lost, fence",
                tx.sql.claim_lock()
            );
            tx.first(&sql, params![&queue, &worker, now, now.plus(lease_ms)], read_job)
        })?;
        let claimed = claimed.await.unwrap_or_else(|_| Err(closed()))?;
        Ok(claimed.value)
    }
}

/// A program's own words, cut and cleaned so that both databases take them.
fn storable(error: &str) -> String {
    error.chars().filter(|character| *character != '\0').take(ERROR_CHARS_MAX).collect()
}

fn read_job(row: &dyn Row) -> Result<Job, crate::error::SqlError> {
    Ok(Job {
        id: JobId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        queue: row.text(2)?.to_owned(),
        payload: row.text(3)?.to_owned(),
        attempts: row.int(4)?,
        lost: row.int(5)?,
        fence: row.int(6)?,
    })
}
