//! Jobs that no worker claims: maintenance takes a timer when it is due, in the transaction that acts on it.

use skein_core::{ExecutionId, JobId, Viewer};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::tx::{Tx, system_only};

/// A timer that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueJob {
    pub id: JobId,
    pub queue: String,
    pub run: ExecutionId,
    pub payload: String,
}

impl Tx<'_> {
    /// The timers of a queue that are due, after one and in the order of their ids.
    pub fn due_jobs(
        &mut self,
        viewer: &Viewer,
        queue: &str,
        after: Option<JobId>,
        limit: i64,
    ) -> Result<Vec<DueJob>, StoreError> {
        system_only(viewer)?;
        let after = after.unwrap_or(JobId::from_bytes([0; 16]));
        let sql = "SELECT id, queue, run, payload FROM jobs
                   WHERE queue = ?1 AND state = 'queued' AND run IS NOT NULL AND id > ?2 ORDER BY id LIMIT ?3";
        self.all(sql, params![queue, &after, limit], read_due)
    }

    /// Takes a due timer off the queue; false if another transaction did, or if its run was paused meanwhile.
    pub fn take_due_job(&mut self, viewer: &Viewer, id: JobId) -> Result<bool, StoreError> {
        system_only(viewer)?;
        Ok(self.execute("DELETE FROM jobs WHERE id = ?1 AND state = 'queued'", params![&id])? == 1)
    }

    /// Removes the jobs that a run has in one queue.
    pub fn cancel_queue_of(&mut self, viewer: &Viewer, run: ExecutionId, queue: &str) -> Result<(), StoreError> {
        system_only(viewer)?;
        self.execute("DELETE FROM jobs WHERE run = ?1 AND queue = ?2", params![&run, queue])?;
        Ok(())
    }

    /// Moves the moments of the waiting jobs that a run has in one queue.
    pub fn delay_queue_of(
        &mut self,
        viewer: &Viewer,
        run: ExecutionId,
        queue: &str,
        by_ms: i64,
    ) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "UPDATE jobs SET run_at = run_at + ?3 WHERE run = ?1 AND queue = ?2 AND state = 'delayed'";
        self.execute(sql, params![&run, queue, by_ms])?;
        Ok(())
    }
}

fn read_due(row: &dyn Row) -> Result<DueJob, SqlError> {
    Ok(DueJob {
        id: JobId::from_bytes(row.array(0)?),
        queue: row.text(1)?.to_owned(),
        run: ExecutionId::from_bytes(row.array(2)?),
        payload: row.text(3)?.to_owned(),
    })
}
