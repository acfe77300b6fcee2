//! Lists dead letters and the jobs of an execution, and cancels jobs.

use skein_core::{ExecutionId, JobId, Millis, UserId, Viewer};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::jobs::read_run;
use crate::timeline::items::Page;
use crate::tx::{Tx, system_only};

const SWEEP_ROWS_MAX: i64 = 1_000;

/// A job that nobody could do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub id: JobId,
    pub owner: UserId,
    pub queue: String,
    /// The execution it is a part of, and which step of it.
    pub run: Option<(ExecutionId, i64)>,
    pub attempts: i64,
    pub lost: i64,
    /// The reason it became a dead letter.
    pub reason: Option<String>,
    pub created_at: Millis,
    pub died_at: Millis,
}

/// What a job is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// For its moment.
    Delayed,
    /// For its owner's turn.
    Queued,
    /// For the worker that holds it.
    Leased,
    /// For a person.
    Dead,
}

/// Where a job of an execution stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionJob {
    pub id: JobId,
    pub step: i64,
    pub state: JobState,
    pub run_at: Millis,
    pub attempts: i64,
    pub lost: i64,
    pub worker: Option<String>,
}

impl Tx<'_> {
    /// Jobs that were put aside, oldest first: Skein sees all of them, everybody else their own.
    pub fn dead_letters(
        &mut self,
        viewer: &Viewer,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<DeadLetter, JobId>, StoreError> {
        let subject = self.subject(viewer)?;
        let others = if matches!(viewer, Viewer::System(_)) { "owner <> ?1" } else { "owner IS NULL" };
        let sql = format!(
            "SELECT id, owner, queue, run, step, attempts, lost, coalesce(error, ''), created_at, run_at FROM jobs
             WHERE state = 'dead' AND (owner = ?1 OR {others}) AND id > ?2 ORDER BY id LIMIT ?3"
        );
        // No bytes at all come before every id.
        let after = after.as_ref().map_or(&[][..], |id| id.as_bytes());
        let count = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
        let mut rows = self.all(&sql, params![&subject, after, count], read_dead)?;
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().map(|last| last.id).filter(|_| is_more);
        Ok(Page { rows, next })
    }

    /// Forgets jobs that were put aside so long ago; says how many.
    pub fn sweep_dead_letters(&mut self, viewer: &Viewer, kept_ms: i64) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let until = self.now().plus(-kept_ms);
        let sql = "DELETE FROM jobs WHERE id IN
             (SELECT id FROM jobs WHERE state = 'dead' AND id > ?1 AND run_at <= ?2 ORDER BY id LIMIT ?3)";
        // No bytes at all come before every id.
        let first: &[u8] = &[];
        Ok(self.execute(sql, params![first, until, SWEEP_ROWS_MAX])?)
    }

    /// How many jobs of the viewer's wait in a queue for a worker; no more than so many are counted.
    pub fn queued_jobs(&mut self, viewer: &Viewer, queue: &str, most: i64) -> Result<i64, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT COUNT(*) FROM (
                 SELECT 1 FROM jobs WHERE queue = ?1 AND owner = ?2 AND state = 'queued' LIMIT ?3) waiting";
        Ok(self.first(sql, params![queue, &owner, most], |row| row.int(0))?.unwrap_or_default())
    }

    /// The jobs of an execution, in the order they were queued.
    pub fn jobs_of(&mut self, viewer: &Viewer, run: ExecutionId) -> Result<Vec<ExecutionJob>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT id, step, state, run_at, attempts, lost, worker FROM jobs WHERE run = ?1 ORDER BY id";
        self.all(sql, params![&run], read_standing)
    }

    /// Takes every job of an execution off the queue but those that were put aside; gives those that were under way, whose
    /// workers can no longer end them.
    pub fn cancel_jobs_of(&mut self, viewer: &Viewer, run: ExecutionId) -> Result<Vec<JobId>, StoreError> {
        let under_way = self.jobs_of(viewer, run)?.into_iter().filter(|job| job.state == JobState::Leased);
        let under_way = under_way.map(|job| job.id).collect();
        self.execute("DELETE FROM jobs WHERE run = ?1 AND state <> 'dead'", params![&run])?;
        Ok(under_way)
    }
}

fn read_dead(row: &dyn Row) -> Result<DeadLetter, SqlError> {
    Ok(DeadLetter {
        id: JobId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        queue: row.text(2)?.to_owned(),
        run: read_run(row, 3)?,
        attempts: row.int(5)?,
        lost: row.int(6)?,
        reason: Some(row.text(7)?.to_owned()),
        created_at: Millis(row.int(8)?),
        died_at: Millis(row.int(9)?),
    })
}

fn read_standing(row: &dyn Row) -> Result<ExecutionJob, SqlError> {
    let state = match row.text(2)? {
        "delayed" => JobState::Delayed,
        "queued" => JobState::Queued,
        "leased" => JobState::Leased,
        "dead" => JobState::Dead,
        other => return Err(SqlError::Damaged(format!("a job is {other:?}"))),
    };
    Ok(ExecutionJob {
        id: JobId::from_bytes(row.array(0)?),
        step: row.optional_int(1)?.unwrap_or_default(),
        state,
        run_at: Millis(row.int(3)?),
        attempts: row.int(4)?,
        lost: row.int(5)?,
        worker: row.optional_text(6)?.map(str::to_owned),
    })
}
