//! Sets aside the jobs of paused executions, where no claim sees them, until the execution resumes.
//!
//! A parked job is one whose moment never comes: it is `delayed`, and its moment is moved beyond every clock by a constant. So
//! a claim goes past none of them, however many there are, and moving it back gives each the moment it had.

use skein_core::{ExecutionId, JobId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::jobs::{Job, JobDraft};
use crate::tx::{Tx, system_only};

/// By how much the moment of a parked job is moved, in milliseconds: some 35,000 years.
const BEYOND: i64 = 1 << 50;

impl Tx<'_> {
    /// Queues a job of a paused run.
    pub fn enqueue_paused(&mut self, viewer: &Viewer, draft: &JobDraft) -> Result<JobId, StoreError> {
        let run_at = draft.run_at.unwrap_or(self.now()).plus(BEYOND);
        self.enqueue(viewer, &JobDraft { run_at: Some(run_at), ..draft.clone() })
    }

    /// Parks a job that was claimed, as if it had not been.
    pub fn pause_job(&mut self, viewer: &Viewer, job: &Job) -> Result<(), StoreError> {
        let sql = "UPDATE jobs SET state = 'delayed', run_at = run_at + ?3, attempts = attempts - 1, worker = NULL, lease_until = NULL
                   WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL";
        self.held(viewer, job, sql, params![&job.id, job.fence, BEYOND])
    }

    /// Parks what waits of a run; what is held by somebody stays theirs.
    pub fn pause_jobs_of(&mut self, viewer: &Viewer, run: ExecutionId) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = "UPDATE jobs SET state = 'delayed', run_at = run_at + ?2
                   WHERE run = ?1 AND (state = 'queued' OR state = 'delayed') AND run_at < ?2";
        self.execute(sql, params![&run, BEYOND])?;
        Ok(())
    }

    /// Gives the parked jobs of a run their moments back; whether there were any.
    pub fn resume_jobs_of(&mut self, viewer: &Viewer, run: ExecutionId) -> Result<bool, StoreError> {
        system_only(viewer)?;
        let now = self.now().plus(BEYOND);
        let sql =
            "UPDATE jobs SET state = CASE WHEN run_at <= ?3 THEN 'queued' ELSE 'delayed' END, run_at = run_at - ?2
                   WHERE run = ?1 AND state = 'delayed' AND run_at >= ?2";
        let is_any = self.execute(sql, params![&run, BEYOND, now])? > 0;
        if is_any {
            self.note_queued();
        }
        Ok(is_any)
    }
}
