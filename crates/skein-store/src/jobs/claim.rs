//! Taking jobs: owners take turns, and among the jobs of one owner the urgent ones come first, then the oldest.
//!
//! A claim goes round the owners that have something ready, by their ids, and takes each one's best job: one step
//! into an index, however much waits, of however many owners. Where the last claim of a queue ended is remembered by the
//! process, for each process its own; one round of it serves every waiting owner.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use skein_core::UserId;

use crate::db::sql::params;
use crate::error::StoreError;
use crate::jobs::{JOB_COLUMNS, Job, JobHolder, read_job};
use crate::store::{Store, closed};
use crate::tx::Tx;

/// Most jobs of one queue that one claim takes.
pub const PLACES_MAX: usize = 256;
/// Jobs whose moment has come that one claim makes ready. A claim that takes one job stays cheap when very many are due.
const PROMOTED_PER_CLAIM: i64 = 64;

/// A queue, and how many of its jobs there is room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueCapacity {
    pub queue: String,
    pub places: usize,
}

/// What a claim found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClaimResult {
    pub jobs: Vec<Job>,
    /// When there was room for more: in how many milliseconds the next delayed job of any queue is due.
    pub due_in_ms: Option<i64>,
}

/// Whose turn it was last, by queue.
#[derive(Default)]
pub(crate) struct OwnerTurns(Mutex<HashMap<String, UserId>>);

impl OwnerTurns {
    fn last(&self, queue: &str) -> Option<UserId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(queue).copied()
    }

    fn note(&self, jobs: &[Job]) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for job in jobs {
            match turns.get_mut(&job.queue) {
                Some(last) => *last = job.owner,
                None => drop(turns.insert(job.queue.clone(), job.owner)),
            }
        }
    }
}

/// What a look at some queues shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStatus {
    /// Whether there is a job that can be taken now.
    pub is_any: bool,
    /// In how many milliseconds the next delayed job of any queue is due.
    pub due_in_ms: Option<i64>,
}

impl Store {
    /// Looks whether a claim would find something. It costs no commit, and nobody has to be ready for what it finds.
    pub async fn jobs_waiting(&self, queues: Vec<String>) -> Result<QueueStatus, StoreError> {
        self.look_up(move |tx| {
            let due_in_ms = tx.due_in_ms()?;
            let mut is_any = due_in_ms == Some(0);
            for queue in &queues {
                let sql = "SELECT CAST(1 AS BIGINT) FROM jobs WHERE queue = ?1 AND state = 'queued' LIMIT 1";
                is_any = is_any || tx.first(sql, params![queue], |row| row.int(0))?.is_some();
            }
            Ok(QueueStatus { is_any, due_in_ms })
        })
        .await
    }

    /// Takes the next jobs of some queues, in one transaction.
    pub async fn claim_jobs(&self, holder: &JobHolder, wanted: &[QueueCapacity]) -> Result<ClaimResult, StoreError> {
        let with_turn = |wanted: &QueueCapacity| (wanted.clone(), self.turns().last(&wanted.queue));
        let (holder, wanted) = (holder.clone(), wanted.iter().map(with_turn).collect::<Vec<_>>());
        let claimed = self.settle(move |tx| claim(tx, &holder, &wanted))?.await.unwrap_or_else(|_| Err(closed()));
        let claimed = self.reported(claimed)?;
        self.turns().note(&claimed.value.jobs);
        Ok(claimed.value)
    }

    /// Takes the next job of a queue for `lease_ms`, if there is one.
    pub async fn claim_job(&self, queue: &str, worker: &str, lease_ms: i64) -> Result<Option<Job>, StoreError> {
        let wanted = QueueCapacity { queue: queue.to_owned(), places: 1 };
        let claimed = self.claim_jobs(&self.holder(worker, lease_ms), &[wanted]).await?;
        Ok(claimed.jobs.into_iter().next())
    }
}

fn claim(
    tx: &mut Tx<'_>,
    holder: &JobHolder,
    wanted: &[(QueueCapacity, Option<UserId>)],
) -> Result<ClaimResult, StoreError> {
    let promoted = tx.promote_due(PROMOTED_PER_CLAIM)?;
    let mut jobs = Vec::new();
    let mut has_room = false;
    for (QueueCapacity { queue, places }, last) in wanted {
        let taken = take(tx, holder, queue, (*places).min(PLACES_MAX), *last)?;
        has_room |= taken.len() < *places;
        jobs.extend(taken);
    }
    // Others may have room for what became ready here.
    if promoted > 0 {
        tx.note_queued();
    }
    let due_in_ms = if has_room { tx.due_in_ms()? } else { None };
    Ok(ClaimResult { jobs, due_in_ms })
}

/// Goes round the owners after `last`, and begins again with the first, until there is room for no more or nothing left.
fn take(
    tx: &mut Tx<'_>,
    holder: &JobHolder,
    queue: &str,
    places: usize,
    last: Option<UserId>,
) -> Result<Vec<Job>, StoreError> {
    let best = |of: &str| {
        let lock = tx.sql.claim_lock();
        let order = "ORDER BY owner, priority DESC, run_at, id LIMIT 1";
        format!("SELECT id FROM jobs WHERE queue = ?1 AND state = 'queued'{of} {order} {lock}")
    };
    let (next, first) = (best(" AND owner > ?2"), best(""));
    let sql = format!(
        "UPDATE jobs
         SET state = 'leased', worker = ?3, lease_until = ?4, epoch = ?5, fence = fence + 1, attempts = attempts + 1
         WHERE id = coalesce(({next}), ({first})) RETURNING {JOB_COLUMNS}"
    );
    let until = tx.now().plus(holder.lease_ms);
    let mut taken: Vec<Job> = Vec::new();
    let mut last = last;
    while taken.len() < places {
        // No bytes at all come before every owner.
        let after = last.as_ref().map_or(&[][..], |owner| owner.as_bytes());
        match tx.first(&sql, params![queue, after, &holder.worker, until, holder.epoch], read_job)? {
            Some(job) => {
                last = Some(job.owner);
                taken.push(job);
            }
            None => break,
        }
    }
    Ok(taken)
}
