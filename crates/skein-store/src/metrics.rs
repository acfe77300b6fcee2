//! Stores measurements of executions and calls: append-only, removed by retention alone (decision Z11).

use skein_core::id::Entropy;
use skein_core::{ExecutionId, ItemId, Millis, RecordId, UserId, Viewer};

use crate::db::sql::{DeferredStatement, params};
use crate::error::StoreError;
use crate::tx::{Tx, system_only};

const SWEEP_ROWS_MAX: i64 = 5_000;

/// One measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement<'a> {
    pub name: &'a str,
    /// `process` or `tool`.
    pub scope: &'static str,
    pub entity: RecordId,
    pub run: Option<ExecutionId>,
    pub value: f64,
}

/// A value as it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastMeasurement {
    pub at: Millis,
    pub value: f64,
    pub run: Option<ExecutionId>,
}

impl Tx<'_> {
    pub fn measure(&mut self, owner: UserId, measured: &Measurement<'_>) -> Result<(), StoreError> {
        let now = self.now();
        let id = ItemId::new(self.id_time(), self.entropy());
        let sql = "INSERT INTO metric_values (id, owner, name, scope, entity, run, value, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let Measurement { name, scope, entity, run, value } = measured;
        let values = params![&id, &owner, *name, *scope, entity, run.as_ref(), *value, now];
        self.execute_later(DeferredStatement::new("metric_values", sql, values))
    }

    /// What was measured of something since a moment, oldest first.
    pub fn measurements(
        &mut self,
        viewer: &Viewer,
        entity: RecordId,
        name: &str,
        since: Millis,
        limit: i64,
    ) -> Result<Vec<(Millis, f64)>, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT at, value FROM metric_values WHERE entity = ?1 AND name = ?2 AND at >= ?3 AND owner = ?4
             ORDER BY at LIMIT ?5";
        self.all(sql, params![&entity, name, since, &owner, limit], |row| {
            Ok((Millis(row.int(0)?), row.optional_real(1)?.unwrap_or_default()))
        })
    }

    /// The viewer's last values of something, newest first, no matter who else uses it.
    pub fn last_measured(
        &mut self,
        viewer: &Viewer,
        entity: RecordId,
        name: &str,
        limit: i64,
    ) -> Result<Vec<LastMeasurement>, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT at, value, run FROM metric_values WHERE owner = ?1 AND entity = ?2 AND name = ?3
             ORDER BY at DESC LIMIT ?4";
        self.all(sql, params![&owner, &entity, name, limit], |row| {
            let run = row.optional_array(2)?.map(ExecutionId::from_bytes);
            Ok(LastMeasurement { at: Millis(row.int(0)?), value: row.optional_real(1)?.unwrap_or_default(), run })
        })
    }

    /// Forgets values older than `kept_ms`, some at a time; says how many.
    pub fn sweep_measurements(&mut self, viewer: &Viewer, kept_ms: i64) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let oldest = ItemId::new(self.now().plus(-kept_ms), Entropy([0; 10]));
        let sql =
            "DELETE FROM metric_values WHERE id IN (SELECT id FROM metric_values WHERE id < ?1 ORDER BY id LIMIT ?2)";
        Ok(self.execute(sql, params![&oldest, SWEEP_ROWS_MAX])?)
    }
}
