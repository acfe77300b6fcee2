//! Reads everything a call is authorized by in one statement, so that all of it was true at one moment, also where
//! each statement sees the newest rows.

use skein_core::garden::record::Record;
use skein_core::{Digest, RecordId, UserId, Viewer};

use crate::catalog::vault::{SealedSecret, read_sealed};
use crate::db::sql::{OffsetRow, Row, Value};
use crate::error::{SqlError, StoreError};
use crate::timeline::records::read_record;
use crate::tx::{Tx, system_only};

/// Most records that one look is about, the tool and its binding aside.
const OTHERS: usize = 3;

/// Which record, as it was when: what it says can never be anything else. Alike records of two owners have the same hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordRevision {
    pub id: RecordId,
    pub version: i64,
    pub hash: Digest,
}

/// A record of the catalog that was not deleted, with what stands beside it.
#[derive(Debug, Clone)]
pub struct CallDependency {
    pub edition: RecordRevision,
    /// What it says, unless the caller knows this edition.
    pub record: Option<Record>,
    /// `healthy`, `degraded` or `down`, as it answered last.
    pub health: Option<String>,
    /// The value of a secret.
    pub sealed: Option<SealedSecret>,
    /// Whether it is what the executor bound to the tool.
    pub is_binding: bool,
}

impl Tx<'_> {
    /// A tool, what its executor bound to it, and up to three other records, of any owner: the caller judges.
    pub fn call_dependencies(
        &mut self,
        viewer: &Viewer,
        executor: UserId,
        tool: RecordId,
        others: &[RecordId],
        is_known: impl Fn(&RecordRevision) -> bool,
    ) -> Result<Vec<CallDependency>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT r.id, r.owner, r.version, r.hash, r.previous_hash, r.created_at, r.updated_at, r.body,
                 h.status, v.secret, v.owner, v.value_version, v.key_id, v.wrapped_key, v.ciphertext,
                 CASE WHEN r.type = 'SecretBinding' THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END
             FROM records r LEFT JOIN health h ON h.record = r.id LEFT JOIN vault v ON v.secret = r.id
             WHERE r.deleted = 0 AND r.id IN (?2, ?3, ?4, ?5, (SELECT record FROM record_references
                 WHERE owner = ?1 AND target = ?2 AND type = 'SecretBinding' AND kind = 'tool'))";
        let mut ids = [tool; OTHERS];
        for (id, other) in ids.iter_mut().zip(others) {
            *id = *other;
        }
        let bound = [Value::from(&executor), Value::from(&tool), (&ids[0]).into(), (&ids[1]).into(), (&ids[2]).into()];
        self.all_once(sql, &bound, |row| read_call_dependency(row, &is_known))
    }
}

fn read_call_dependency(
    row: &dyn Row,
    is_known: &impl Fn(&RecordRevision) -> bool,
) -> Result<CallDependency, SqlError> {
    const SEALED_AT: usize = 9;
    let edition =
        RecordRevision { id: RecordId::from_bytes(row.array(0)?), version: row.int(2)?, hash: Digest(row.array(3)?) };
    let is_sealed = row.optional_bytes(SEALED_AT)?.is_some();
    Ok(CallDependency {
        edition,
        record: if is_known(&edition) { None } else { Some(read_record(row)?) },
        health: row.optional_text(8)?.map(str::to_owned),
        sealed: if is_sealed { Some(read_sealed(&OffsetRow(row, SEALED_AT))?) } else { None },
        is_binding: row.int(15)? == 1,
    })
}
