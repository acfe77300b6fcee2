//! Stores the last check of each service and tool, beside its record and outside of its history.

use std::collections::BTreeMap;

use skein_core::{Millis, RecordId, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tx::Tx;

/// Longest account of what went wrong, in characters.
pub const HEALTH_ERROR_CHARS_MAX: usize = 1_000;
/// Ids looked up by one statement.
const IDS_PER_LOOK: usize = 100;
const FEW: usize = 2;

/// The last answer of a service or tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastHealth {
    /// `healthy`, `degraded` or `down`.
    pub status: String,
    pub checked_at: Millis,
    pub error: Option<String>,
    pub latency_ms: Option<i64>,
}

impl Tx<'_> {
    /// Notes how a record's endpoint answered just now; for its owner or Skein.
    pub fn set_health(
        &mut self,
        viewer: &Viewer,
        record: RecordId,
        status: &str,
        error: Option<&str>,
        latency_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        let owner = self.record(viewer, record)?.owner;
        if !viewer.may_write(owner) {
            return Err(StoreError::Forbidden);
        }
        let error: Option<String> =
            error.map(|error| error.chars().filter(|char| *char != '\0').take(HEALTH_ERROR_CHARS_MAX).collect());
        let now = self.now();
        self.revise();
        self.execute(
            "INSERT INTO health (record, owner, status, checked_at, error, latency_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (record) DO UPDATE SET status = excluded.status, checked_at = excluded.checked_at,
                 error = excluded.error, latency_ms = excluded.latency_ms",
            params![&record, &owner, status, now, error.as_ref(), latency_ms],
        )?;
        Ok(())
    }

    /// How some records answered last; those that were never asked, or that the viewer may not see, are left out.
    pub fn health_of(
        &mut self,
        viewer: &Viewer,
        records: &[RecordId],
    ) -> Result<BTreeMap<RecordId, LastHealth>, StoreError> {
        let subject = self.subject(viewer)?;
        // Skein itself sees everything; the first parameter is bound all the same.
        let others = if matches!(viewer, Viewer::System(_)) { "h.owner <> ?1" } else { "r.shared = 1" };
        // Few statements are few to prepare: one for a tool and its service, one for whole pages.
        let per_look = if records.len() <= FEW { FEW } else { IDS_PER_LOOK };
        let places: Vec<String> = (2..per_look + 2).map(|number| format!("?{number}")).collect();
        let sql = format!(
            "SELECT h.record, h.status, h.checked_at, h.error, h.latency_ms FROM health h
             JOIN records r ON r.id = h.record WHERE (h.owner = ?1 OR {others}) AND h.record IN ({})",
            places.join(", ")
        );
        let mut found = BTreeMap::new();
        for chunk in records.chunks(per_look) {
            let filled = chunk.iter().cycle().take(per_look).map(Value::from);
            let bound: Vec<Value<'_>> = std::iter::once(Value::from(&subject)).chain(filled).collect();
            found.extend(self.all(&sql, &bound, read_health)?);
        }
        Ok(found)
    }
}

fn read_health(row: &dyn Row) -> Result<(RecordId, LastHealth), SqlError> {
    let last = LastHealth {
        status: row.text(1)?.to_owned(),
        checked_at: Millis(row.int(2)?),
        error: row.optional_text(3)?.map(str::to_owned),
        latency_ms: row.optional_int(4)?,
    };
    Ok((RecordId::from_bytes(row.array(0)?), last))
}
