//! Lists the workers for people. It decides nothing: a job is lost when its own lease ends.

use std::collections::BTreeMap;

use skein_core::{JobId, Millis, Viewer, WorkerId};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::tx::{Tx, system_only};

/// How long a worker that is gone is still listed.
const KEPT_MS: i64 = 24 * 3_600 * 1_000;
const LISTED_MAX: i64 = 1_000;
const SWEEP_ROWS_MAX: i64 = 1_000;
const HOST_CHARS_MAX: usize = 255;

/// A process that is about to take up jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerDraft {
    /// Drawn at its start; never used again.
    pub id: WorkerId,
    /// The queues it takes jobs from, which are its types.
    pub queues: Vec<String>,
    /// How many jobs it carries out at once.
    pub places: i64,
    pub host: String,
    pub pid: i64,
}

/// What a worker did since it last told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkerTally {
    pub processed: i64,
    pub errors: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerStatus {
    Idle,
    Busy,
    /// It stopped, or has given no sign of life for longer than a lease.
    Offline,
}

impl WorkerStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Offline => "offline",
        }
    }
}

/// A worker as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    pub id: WorkerId,
    pub queues: Vec<String>,
    pub places: i64,
    pub host: String,
    pub pid: i64,
    pub status: WorkerStatus,
    pub started_at: Millis,
    pub last_heartbeat: Millis,
    pub processed: i64,
    pub errors: i64,
    /// What it holds, oldest first.
    pub current_jobs: Vec<JobId>,
}

impl Tx<'_> {
    pub fn register_worker(&mut self, viewer: &Viewer, draft: &WorkerDraft) -> Result<(), StoreError> {
        system_only(viewer)?;
        let host: String = draft.host.chars().filter(|char| *char != '\0').take(HOST_CHARS_MAX).collect();
        let now = self.now();
        let sql = "INSERT INTO workers (id, queues, places, host, pid, started_at, beat_at, processed, errors)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0, 0)";
        let (id, queues) = (draft.id.to_string(), draft.queues.join(" "));
        self.execute(sql, params![&id, &queues, draft.places, &host, draft.pid, now])?;
        Ok(())
    }

    /// A sign of life, with what was done since the last one. A worker that was forgotten is told so, and registers again.
    pub fn renew_worker(&mut self, viewer: &Viewer, id: WorkerId, tally: WorkerTally) -> Result<(), StoreError> {
        self.count(viewer, id, tally, "beat_at = ?4")
    }

    /// The last sign of life of a worker that stops.
    pub fn decommission_worker(&mut self, viewer: &Viewer, id: WorkerId, tally: WorkerTally) -> Result<(), StoreError> {
        self.count(viewer, id, tally, "beat_at = ?4, ended_at = ?4")
    }

    fn count(&mut self, viewer: &Viewer, id: WorkerId, tally: WorkerTally, also: &str) -> Result<(), StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql = format!("UPDATE workers SET processed = processed + ?2, errors = errors + ?3, {also} WHERE id = ?1");
        match self.execute(&sql, params![&id.to_string(), tally.processed, tally.errors, now])? {
            0 => Err(StoreError::NotFound(id.to_string())),
            _ => Ok(()),
        }
    }

    /// Forgets workers that have been gone for a day, some at a time; says how many.
    pub fn sweep_workers(&mut self, viewer: &Viewer) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let before = self.now().plus(-KEPT_MS);
        let sql =
            "DELETE FROM workers WHERE id IN (SELECT id FROM workers WHERE beat_at <= ?1 ORDER BY beat_at LIMIT ?2)";
        Ok(self.execute(sql, params![before, SWEEP_ROWS_MAX])?)
    }

    /// Every worker there is or lately was, in the order they were started. Silent for `lease_ms`, it is offline.
    pub fn workers(&mut self, viewer: &Viewer, lease_ms: i64) -> Result<Vec<Worker>, StoreError> {
        system_only(viewer)?;
        let mut held: BTreeMap<String, Vec<JobId>> = BTreeMap::new();
        let leased = "SELECT worker, id FROM jobs WHERE state = 'leased' AND worker IS NOT NULL ORDER BY worker, id";
        let leased = self.all(leased, &[], |row| Ok((row.text(0)?.to_owned(), JobId::from_bytes(row.array(1)?))))?;
        for (worker, job) in leased {
            held.entry(worker).or_default().push(job);
        }
        let alive_after = self.now().plus(-lease_ms);
        // The newest of very many are those somebody asks about.
        let sql = "SELECT id, queues, places, host, pid, started_at, beat_at, ended_at, processed, errors FROM workers
                   ORDER BY id DESC LIMIT ?1";
        let mut workers = self.all(sql, params![LISTED_MAX], |row| read_worker(row, alive_after, &mut held))?;
        workers.reverse();
        Ok(workers)
    }
}

fn read_worker(
    row: &dyn Row,
    alive_after: Millis,
    held: &mut BTreeMap<String, Vec<JobId>>,
) -> Result<Worker, SqlError> {
    let id = row.text(0)?;
    let current_jobs = held.remove(id).unwrap_or_default();
    let last_heartbeat = Millis(row.int(6)?);
    let is_gone = row.optional_int(7)?.is_some() || last_heartbeat <= alive_after;
    Ok(Worker {
        id: id.parse().map_err(|_| SqlError::Damaged("a worker's id is none".to_owned()))?,
        queues: row.text(1)?.split_whitespace().map(str::to_owned).collect(),
        places: row.int(2)?,
        host: row.text(3)?.to_owned(),
        pid: row.int(4)?,
        status: match (is_gone, current_jobs.is_empty()) {
            (true, _) => WorkerStatus::Offline,
            (false, true) => WorkerStatus::Idle,
            (false, false) => WorkerStatus::Busy,
        },
        started_at: Millis(row.int(5)?),
        last_heartbeat,
        processed: row.int(8)?,
        errors: row.int(9)?,
        current_jobs,
    })
}
