//! Stores the output of a model in pieces while it arrives. The pieces outlive their execution by an hour.

use skein_core::{ExecutionId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::jobs::Job;
use crate::tx::{Tx, system_only};

/// Most pieces read at once.
const CHUNKS_PER_PAGE_MAX: i64 = 1_000;
/// How long pieces are kept, in milliseconds.
const KEPT_MS: i64 = 60 * 60 * 1_000;
const SWEEP_ROWS_MAX: i64 = 5_000;

/// A piece of what is being said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamChunk {
    /// From 1, without gaps.
    pub number: i64,
    /// That what was said before is void: it is said anew.
    pub is_reset: bool,
    pub text: String,
}

impl Tx<'_> {
    /// Writes pieces of output for the holder of a job. A worker that lost it writes nothing: others say it anew by now,
    /// and number on from what was written down before.
    pub fn put_chunks(
        &mut self,
        viewer: &Viewer,
        job: &Job,
        run: ExecutionId,
        chunks: &[StreamChunk],
    ) -> Result<(), StoreError> {
        system_only(viewer)?;
        if chunks.is_empty() {
            return Ok(());
        }
        self.hold_job(viewer, job)?;
        let now = self.now();
        let sql = "INSERT INTO stream_chunks (run, number, is_reset, text, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (run, number) DO NOTHING";
        for chunk in chunks {
            self.execute(sql, params![&run, chunk.number, chunk.is_reset, &chunk.text, now])?;
        }
        Ok(())
    }

    /// The pieces after one, in order; the caller was authorized by the execution.
    pub fn chunks_after(&mut self, run: ExecutionId, after: i64) -> Result<Vec<StreamChunk>, StoreError> {
        let sql =
            "SELECT number, is_reset, text FROM stream_chunks WHERE run = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
        self.all(sql, params![&run, after, CHUNKS_PER_PAGE_MAX], |row| {
            Ok(StreamChunk { number: row.int(0)?, is_reset: row.int(1)? == 1, text: row.text(2)?.to_owned() })
        })
    }

    /// The number of the last piece; 0 where nothing was said.
    pub fn last_chunk(&mut self, run: ExecutionId) -> Result<i64, StoreError> {
        let sql = "SELECT number FROM stream_chunks WHERE run = ?1 ORDER BY number DESC LIMIT 1";
        Ok(self.first(sql, params![&run], |row| row.int(0))?.unwrap_or(0))
    }

    /// Forgets pieces an hour old; says how many.
    pub fn sweep_chunks(&mut self, viewer: &Viewer) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let until = self.now().plus(-KEPT_MS);
        let sql = "DELETE FROM stream_chunks WHERE (run, number) IN
             (SELECT c.run, c.number FROM stream_chunks c LEFT JOIN executions e ON e.id = c.run
              WHERE c.created_at <= ?1 AND (e.ended_at IS NULL AND e.id IS NULL OR e.ended_at <= ?1) LIMIT ?2)";
        Ok(self.execute(sql, params![until, SWEEP_ROWS_MAX])?)
    }
}
