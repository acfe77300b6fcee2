//! Renews leases and requeues lost jobs, by each job's own lease and never by the record of its worker.
//!
//! Where one process has the database to itself, each of its starts is an epoch: whatever an earlier one held is lost at
//! once, because that one is gone; no clock is asked. Where several share a database, a lease runs out by its clock.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use skein_core::setting::{Setting, WORKERS_HEARTBEAT_SECONDS, WORKERS_LEASE_SECONDS, WORKERS_LOST_MAX};
use skein_core::{JobId, Millis, Viewer};

use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::jobs::{Job, JobHolder};
use crate::settings::setting_value;
use crate::store::{Store, closed};
use crate::tx::{Tx, system_only};

const SYSTEM: Viewer = Viewer::System("the queue");
/// Jobs that one statement keeps: few statements are few to prepare.
const KEPT_FEW: usize = 16;
const KEPT_MANY: usize = 256;
/// Jobs whose moment has come that one transaction makes ready: it keeps all other writers of SQLite waiting.
const PROMOTED_AT_ONCE: i64 = 1_000;
const EPOCH: &str = "epoch";

/// How jobs are held, as it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerms {
    pub heartbeat_ms: i64,
    pub lease_ms: i64,
    /// How many workers may vanish over a job.
    pub lost_max: i64,
}

/// What a look after the queue did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeaseMaintenance {
    /// Jobs whose moment has come.
    pub promoted: u64,
    /// Jobs whose worker vanished.
    pub requeued: u64,
}

impl Tx<'_> {
    /// How jobs are to be held.
    pub fn lease_terms(&mut self, viewer: &Viewer) -> Result<LeaseTerms, StoreError> {
        let mut set = |setting: &Setting| {
            let record = self.setting(viewer, setting.name)?;
            let value = record.as_ref().and_then(setting_value).and_then(|value| setting.accept(value));
            Ok::<_, StoreError>(value.unwrap_or_else(|| setting.default()).as_i64().unwrap_or_default())
        };
        let heartbeat_ms = set(&WORKERS_HEARTBEAT_SECONDS)? * 1_000;
        let lease_ms = (set(&WORKERS_LEASE_SECONDS)? * 1_000).max(2 * heartbeat_ms);
        Ok(LeaseTerms { heartbeat_ms, lease_ms, lost_max: set(&WORKERS_LOST_MAX)? })
    }

    /// Says that a worker is still at it.
    pub fn heartbeat(&mut self, viewer: &Viewer, job: &Job, lease_ms: i64) -> Result<(), StoreError> {
        let until = self.now().plus(lease_ms);
        let sql = "UPDATE jobs SET lease_until = ?3 WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL";
        self.held(viewer, job, sql, params![&job.id, job.fence, until])
    }

    /// Makes sure that a job is still held, until the transaction ends; refuses a worker that lost it.
    pub fn hold_job(&mut self, viewer: &Viewer, job: &Job) -> Result<(), StoreError> {
        let sql = "UPDATE jobs SET lease_until = lease_until WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL";
        self.held_later(viewer, job, sql, params![&job.id, job.fence])
    }

    /// Puts back what a worker held that stops, as if it had not been claimed: nobody vanished.
    pub fn release_jobs(&mut self, viewer: &Viewer, jobs: &[Job]) -> Result<(), StoreError> {
        self.requeue(viewer, jobs, "attempts = attempts - 1")
    }

    /// Puts back what a worker that stops was in the middle of, where the job itself has to tell that nobody knows how far
    /// it came: as if the worker had vanished, but at once.
    pub fn abandon_jobs(&mut self, viewer: &Viewer, jobs: &[Job]) -> Result<(), StoreError> {
        self.requeue(viewer, jobs, "lost = lost + 1")
    }

    fn requeue(&mut self, viewer: &Viewer, jobs: &[Job], counted: &str) -> Result<(), StoreError> {
        system_only(viewer)?;
        let sql = format!(
            "UPDATE jobs SET state = 'queued', {counted}, worker = NULL, lease_until = NULL
             WHERE id = ?1 AND fence = ?2 AND lease_until IS NOT NULL"
        );
        for job in jobs {
            self.execute(&sql, params![&job.id, job.fence])?;
        }
        self.note_queued();
        Ok(())
    }

    /// Puts back what lost workers held; says how many jobs that were.
    pub fn requeue_lost(&mut self, viewer: &Viewer) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql = format!(
            "UPDATE jobs SET state = 'queued', lost = lost + 1, worker = NULL, lease_until = NULL
             WHERE id IN (SELECT id FROM jobs WHERE state = 'leased' AND lease_until <= ?1 {})",
            self.sql.claim_lock()
        );
        let requeued = self.execute(&sql, params![now])?;
        if requeued > 0 {
            self.note_queued();
        }
        Ok(requeued)
    }

    /// Makes jobs ready whose moment has come, those that wait longest first; says how many.
    pub(super) fn promote_due(&mut self, at_most: i64) -> Result<u64, StoreError> {
        let sql = format!(
            "UPDATE jobs SET state = 'queued'
             WHERE id IN (SELECT id FROM jobs WHERE state = 'delayed' AND run_at <= ?1 ORDER BY run_at, id LIMIT ?2 {})",
            self.sql.claim_lock()
        );
        let now = self.now();
        Ok(self.execute(&sql, params![now, at_most])?)
    }

    /// In how many milliseconds the next delayed job is due.
    pub(super) fn due_in_ms(&mut self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT run_at FROM jobs WHERE state = 'delayed' ORDER BY run_at, id LIMIT 1";
        let next = self.first(sql, &[], |row| row.int(0).map(Millis))?;
        Ok(next.map(|next| (next.0 - self.now().0).max(0)))
    }

    /// Extends the leases of those jobs that are still held, and says which.
    fn keep(&mut self, holder: &JobHolder, jobs: &[Job]) -> Result<BTreeSet<(JobId, i64)>, StoreError> {
        let until = self.now().plus(holder.lease_ms);
        let sql = "UPDATE jobs SET lease_until = ?2 WHERE worker = ?1 AND state = 'leased' AND id IN (IDS) RETURNING id, fence";
        self.of_jobs(sql, &[Value::from(&holder.worker), Value::from(until)], jobs)
    }

    /// Which of these jobs are held, by whomever, each with its fence.
    pub fn held_jobs(&mut self, viewer: &Viewer, jobs: &[Job]) -> Result<BTreeSet<(JobId, i64)>, StoreError> {
        system_only(viewer)?;
        self.of_jobs("SELECT id, fence FROM jobs WHERE lease_until IS NOT NULL AND id IN (IDS)", &[], jobs)
    }

    /// Carries a statement about some jobs out, some at a time.
    fn of_jobs(&mut self, sql: &str, bound: &[Value<'_>], jobs: &[Job]) -> Result<BTreeSet<(JobId, i64)>, StoreError> {
        let per_statement = if jobs.len() <= KEPT_FEW { KEPT_FEW } else { KEPT_MANY };
        let first = bound.len() + 1;
        let places: Vec<String> = (first..first + per_statement).map(|number| format!("?{number}")).collect();
        let sql = sql.replace("IDS", &places.join(", "));
        let mut found = BTreeSet::new();
        for chunk in jobs.chunks(per_statement) {
            let filled = chunk.iter().cycle().take(per_statement).map(|job| Value::from(&job.id));
            let bound: Vec<Value<'_>> = bound.iter().copied().chain(filled).collect();
            found.extend(self.all(&sql, &bound, |row| Ok((JobId::from_bytes(row.array(0)?), row.int(1)?)))?);
        }
        Ok(found)
    }
}

impl Store {
    /// Who holds jobs from here on, under the name `worker`.
    pub fn holder(&self, worker: &str, lease_ms: i64) -> JobHolder {
        JobHolder { worker: worker.to_owned(), lease_ms, epoch: self.epoch().load(Ordering::Acquire) }
    }

    /// To be called by the holder of a directory's lock, before it claims jobs: voids what an earlier process held.
    /// On PostgreSQL, where others may be at work, nothing happens.
    pub async fn begin_epoch(&self) -> Result<(), StoreError> {
        if !self.is_alone() {
            return Ok(());
        }
        let epoch = self.write(begin_epoch).await?.value;
        self.epoch().store(epoch, Ordering::Release);
        Ok(())
    }

    /// Says that a worker is still at all of its jobs; gives those that it lost.
    pub async fn keep_jobs(&self, holder: &JobHolder, jobs: &[Job]) -> Result<Vec<JobId>, StoreError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let (holder, held) = (holder.clone(), jobs.to_vec());
        let kept = self.settle(move |tx| tx.keep(&holder, &held))?.await.unwrap_or_else(|_| Err(closed()));
        let kept = self.reported(kept)?.value;
        Ok(jobs.iter().filter(|job| !kept.contains(&(job.id, job.fence))).map(|job| job.id).collect())
    }

    /// Looks after the queue, once a second and process: what is due becomes ready, what was lost is put back.
    pub async fn maintain_queue(&self) -> Result<LeaseMaintenance, StoreError> {
        let tend = |tx: &mut Tx<'_>| {
            let promoted = tx.promote_due(PROMOTED_AT_ONCE)?;
            if promoted > 0 {
                tx.note_queued();
            }
            Ok(LeaseMaintenance { promoted, requeued: tx.requeue_lost(&SYSTEM)? })
        };
        let mut all = LeaseMaintenance::default();
        loop {
            let tended = self.reported(self.settle(tend)?.await.unwrap_or_else(|_| Err(closed())))?.value;
            all.promoted += tended.promoted;
            all.requeued += tended.requeued;
            if tended.promoted < PROMOTED_AT_ONCE.unsigned_abs() {
                return Ok(all);
            }
        }
    }
}

/// Begins the next epoch: what was leased in earlier ones is void.
fn begin_epoch(tx: &mut Tx<'_>) -> Result<i64, StoreError> {
    let noted = "SELECT CAST(value AS BIGINT) FROM meta WHERE name = ?1";
    let noted = tx.first(noted, params![EPOCH], |row| row.int(0))?.unwrap_or(0);
    // A copy of a store may hold leases of epochs it was not told of.
    let leased = "SELECT epoch FROM jobs WHERE state = 'leased' ORDER BY epoch DESC LIMIT 1";
    let leased = tx.first(leased, &[], |row| row.int(0))?.unwrap_or(0);
    let epoch = noted.max(leased) + 1;
    let note = "INSERT INTO meta (name, value) VALUES (?1, ?2)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    tx.execute(note, params![EPOCH, &epoch.to_string()])?;
    let void = "UPDATE jobs SET state = 'queued', lost = lost + 1, worker = NULL, lease_until = NULL
                WHERE state = 'leased' AND epoch < ?1";
    if tx.execute(void, params![epoch])? > 0 {
        tx.note_queued();
    }
    Ok(epoch)
}
