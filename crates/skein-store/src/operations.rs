//! Stores operations: the record of every change, the state a client polls while work goes on, and what a repeated
//! request is answered from.
//!
//! One row serves all three. It is written in the transaction of the change it stands for, so that a request that finds it
//! finds the change as well. What came out is kept as a reference (ids and versions), never as a copy: a payload that
//! is destroyed later must not live on here.

use std::sync::LazyLock;

use skein_core::account::idempotency::{
    RecordedRequest, RepeatDecision, RequestMark, RequestStage, SILENT_MS_MAX, judge,
};
use skein_core::document::{self, check_text};
use skein_core::id::Entropy;
use skein_core::{Digest, Millis, OperationId, UserId, Viewer};

use crate::db::sql::{DeferredStatement, Row, params};
use crate::error::{SqlError, StoreError};
use crate::store::Store;
use crate::timeline::items::{Page, page};
use crate::tx::{Tx, system_only};

const TABLE: &str = "operations";
const KIND_BYTES_MAX: usize = 64;
/// Most operations one page holds.
pub const OPERATIONS_PER_PAGE_MAX: usize = 1_000;
/// Most rows one sweep takes away in a transaction.
const SWEEP_ROWS_MAX: i64 = 1_000;

/// What is kept of work whose process vanished.
const CUT_OFF: &str = r#"{"message":"it was cut off before it was done; send the request again"}"#;

const COLUMNS: &str = "id, owner, kind, status, progress, result, error, created_at, updated_at, fingerprint, request";

/// Where an operation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationState {
    /// On disk, for a worker to take up.
    Queued,
    /// Percent done.
    Processing {
        progress: i64,
    },
    /// JSON text of what came out.
    Completed {
        result: String,
    },
    /// JSON text of what went wrong.
    Failed {
        error: String,
    },
    Cancelled,
}

impl OperationState {
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Queued | Self::Processing { .. })
    }

    /// The state in one word.
    pub fn status(&self) -> &'static str {
        columns(self).0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub id: OperationId,
    pub owner: UserId,
    pub kind: String,
    pub state: OperationState,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// Whether a request has to be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepeatCheck {
    /// Nobody asked before.
    First,
    /// It was done, or is on disk to be done.
    Of(Operation),
}

impl Tx<'_> {
    /// Puts a change on record as an operation; `request` makes repeats of it find it.
    pub fn start_operation(
        &mut self,
        viewer: &Viewer,
        kind: &str,
        state: &OperationState,
        request: Option<&RequestMark>,
    ) -> Result<OperationId, StoreError> {
        let (name, fingerprint) = (request.map(|mark| &mark.name), request.map(|mark| &mark.fingerprint));
        self.insert_operation(viewer, kind, state, name, fingerprint)
    }

    /// Takes a request's name before its body has arrived, for work that is done before its transaction.
    pub fn reserve_operation(&mut self, viewer: &Viewer, kind: &str, name: Digest) -> Result<OperationId, StoreError> {
        self.insert_operation(viewer, kind, &OperationState::Processing { progress: 0 }, Some(&name), None)
    }

    fn insert_operation(
        &mut self,
        viewer: &Viewer,
        kind: &str,
        state: &OperationState,
        name: Option<&Digest>,
        fingerprint: Option<&Digest>,
    ) -> Result<OperationId, StoreError> {
        check_text("an operation's kind", kind, KIND_BYTES_MAX)?;
        check_state(state)?;
        self.check_vacant(name)?;
        let id = OperationId::new(self.id_time(), self.entropy());
        let now = self.now();
        let (status, progress, result, error) = columns(state);
        // What goes on counts for longer than a day after it began.
        let indexed = name.is_some() && !state.has_ended();
        let sql = "INSERT INTO operations (id, owner, kind, status, progress, result, error, created_at, updated_at,
                 request, fingerprint, indexed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11)";
        let owner = viewer.owner();
        let values = params![&id, &owner, kind, status, progress, result, error, now, name, fingerprint, indexed];
        // Should the same request have got in between looking and writing, this is run again, and finds it.
        self.execute_later(DeferredStatement::new(TABLE, sql, values))?;
        self.sql.note_operation(id, name.filter(|_| !indexed));
        Ok(id)
    }

    /// Not every database has an index that refuses a second operation under one name.
    fn check_vacant(&mut self, name: Option<&Digest>) -> Result<(), StoreError> {
        match name {
            Some(name) if self.vacant.take() != Some(*name) && self.answering(name)?.is_some() => {
                Err(SqlError::Collision("the same request was noted before".to_owned()).into())
            }
            _ => Ok(()),
        }
    }

    /// The operation that answers for a name, with what it was asked for.
    fn answering(&mut self, name: &Digest) -> Result<Option<(Operation, Option<Digest>)>, StoreError> {
        static BY_ID: LazyLock<String> = LazyLock::new(|| format!("SELECT {COLUMNS} FROM operations WHERE id = ?1"));
        let read = |row: &dyn Row| {
            let is_asked_for = row.optional_array(10)? == Some(name.0);
            Ok(is_asked_for.then_some((read_operation(row)?, row.optional_array(9)?.map(Digest))))
        };
        // A second one is refused by the index of names; run alone it finds the first.
        if self.sql.is_run_alone_if_refused() {
            return Ok(None);
        }
        let now = self.now();
        for id in self.sql.find_request(name, now)? {
            if let Some(found) = self.first(&BY_ID, params![&id], read)?.flatten() {
                return Ok(Some(found));
            }
        }
        let by_name = format!("SELECT {COLUMNS} FROM operations WHERE request = ?1 {}", self.sql.request_index());
        Ok(self.first(&by_name, params![name], read)?.flatten())
    }

    /// Whether a request was made before (rules BR-IDEMP-002 to BR-IDEMP-005); one that no longer counts gives up
    /// its name.
    pub fn repeat(&mut self, viewer: &Viewer, request: &RequestMark) -> Result<RepeatCheck, StoreError> {
        let Some((operation, fingerprint)) = self.answering(&request.name)? else {
            self.vacant = Some(request.name);
            return Ok(RepeatCheck::First);
        };
        if operation.owner != viewer.owner() {
            return Err(StoreError::Damaged(format!("{} answers for another user's request", operation.id)));
        }
        let stage = match (&operation.state, fingerprint) {
            (OperationState::Processing { .. }, None) => RequestStage::Working,
            (state, _) if state.has_ended() => RequestStage::Ended,
            _ => RequestStage::Accepted,
        };
        let earlier = RecordedRequest { fingerprint, stage, touched_at: operation.updated_at };
        match judge(&earlier, request.fingerprint, self.now()) {
            RepeatDecision::Replay => Ok(RepeatCheck::Of(operation)),
            RepeatDecision::Mismatch => Err(StoreError::RequestMismatch),
            RepeatDecision::InFlight => Err(StoreError::RequestInFlight),
            RepeatDecision::Anew => {
                // Work that fell silent has ended with this: should it go on all the same, it cannot finish.
                if !operation.state.has_ended() {
                    self.cut_off(operation.id)?;
                }
                let sql = "UPDATE operations SET request = NULL, fingerprint = NULL WHERE id = ?1";
                self.execute(sql, params![&operation.id])?;
                self.vacant = Some(request.name);
                Ok(RepeatCheck::First)
            }
        }
    }

    /// Ends work whose process is gone.
    pub(crate) fn cut_off(&mut self, id: OperationId) -> Result<(), StoreError> {
        let now = self.now();
        let sql = "UPDATE operations SET status = 'failed', error = ?2, updated_at = ?3 WHERE id = ?1";
        self.execute(sql, params![&id, CUT_OFF, now])?;
        Ok(())
    }

    /// Ends a reserved operation with what came out and what was asked, so that repeats can be compared.
    pub fn finish_reserved(
        &mut self,
        viewer: &Viewer,
        id: OperationId,
        fingerprint: Digest,
        result: &str,
    ) -> Result<(), StoreError> {
        self.advance_operation(viewer, id, &OperationState::Completed { result: result.to_owned() })?;
        self.execute("UPDATE operations SET fingerprint = ?2 WHERE id = ?1", params![&id, &fingerprint])?;
        Ok(())
    }

    /// Gives a reserved name back after its work came to nothing.
    pub fn release_reserved(&mut self, viewer: &Viewer, id: OperationId, error: &str) -> Result<(), StoreError> {
        self.advance_operation(viewer, id, &OperationState::Failed { error: error.to_owned() })?;
        self.execute("UPDATE operations SET request = NULL WHERE id = ?1", params![&id])?;
        Ok(())
    }

    /// Moves an operation on; one that has ended stays as it ended.
    pub fn advance_operation(
        &mut self,
        viewer: &Viewer,
        id: OperationId,
        state: &OperationState,
    ) -> Result<(), StoreError> {
        let current = self.operation(viewer, id)?;
        if !viewer.may_write(current.owner) {
            return Err(StoreError::Forbidden);
        }
        if current.state.has_ended() {
            return Err(StoreError::Ended(id));
        }
        check_state(state)?;
        let now = self.now();
        let (status, progress, result, error) = columns(state);
        let sql =
            "UPDATE operations SET status = ?2, progress = ?3, result = ?4, error = ?5, updated_at = ?6 WHERE id = ?1";
        self.execute_later(DeferredStatement::new(TABLE, sql, params![&id, status, progress, result, error, now]))
    }

    /// Ends an operation with what became of it; one that has ended, or is gone, is left as it is.
    pub fn end_operation(
        &mut self,
        viewer: &Viewer,
        id: OperationId,
        state: &OperationState,
    ) -> Result<(), StoreError> {
        system_only(viewer)?;
        check_state(state)?;
        let now = self.now();
        let (status, progress, result, error) = columns(state);
        let sql = "UPDATE operations SET status = ?2, progress = ?3, result = ?4, error = ?5, updated_at = ?6
             WHERE id = ?1 AND status IN ('queued', 'processing')";
        self.execute_later(DeferredStatement::new(TABLE, sql, params![&id, status, progress, result, error, now]))
    }

    pub fn operation(&mut self, viewer: &Viewer, id: OperationId) -> Result<Operation, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM operations WHERE id = ?1");
        let now = self.now();
        let found = self.first_about((TABLE, id.as_bytes()), &sql, params![&id], read_operation)?;
        found
            .filter(|operation| viewer.may_read(operation.owner, now))
            .ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// The viewer's operations, newest first.
    pub fn operations(
        &mut self,
        viewer: &Viewer,
        before: Option<OperationId>,
        limit: usize,
    ) -> Result<Page<Operation, OperationId>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = limit.clamp(1, OPERATIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        // An id begins with the moment it was made, so the index on both leads straight to the place.
        let before = before.unwrap_or(OperationId::from_bytes([255; 16]));
        let at = before.made_at();
        let sql = format!(
            "SELECT {COLUMNS} FROM operations WHERE owner = ?1 AND (created_at, id) < (?2, ?3)
             ORDER BY created_at DESC, id DESC LIMIT ?4"
        );
        let rows = self.all(&sql, params![&owner, at, &before, one_more], read_operation)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// Ends work that reserved its request and gave no sign since a moment; its key is free again.
    fn cut_off_reserved(&mut self, since: Millis) -> Result<(), StoreError> {
        let now = self.now();
        let silent = "UPDATE operations SET status = 'failed', error = ?1, request = NULL, updated_at = ?2
                      WHERE status = 'processing' AND request IS NOT NULL AND fingerprint IS NULL AND updated_at <= ?3";
        self.execute(silent, params![CUT_OFF, now, since])?;
        Ok(())
    }

    /// Ends what fell silent, and takes away ended operations older than `kept_ms`, some at a time; says how many.
    pub fn sweep_operations(&mut self, viewer: &Viewer, kept_ms: i64) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        self.cut_off_reserved(now.plus(-SILENT_MS_MAX))?;
        self.sql.sweep_requests(now)?;
        let oldest = OperationId::new(now.plus(-kept_ms), Entropy([0; 10]));
        let sql = "DELETE FROM operations WHERE id IN
                   (SELECT id FROM operations WHERE id < ?1 AND status IN ('completed', 'failed', 'cancelled') LIMIT ?2)";
        Ok(self.execute(sql, params![&oldest, SWEEP_ROWS_MAX])?)
    }
}

impl Store {
    /// To be called by the holder of a directory's lock, before it takes requests: ends the reserved work of a process that
    /// is gone, which would otherwise count as under way for a minute and a half. On PostgreSQL, where other servers may be at
    /// work, nothing happens.
    pub async fn end_abandoned_work(&self) -> Result<(), StoreError> {
        if !self.is_alone() {
            return Ok(());
        }
        self.write(|tx| {
            let now = tx.now();
            tx.cut_off_reserved(now)
        })
        .await
        .map(drop)
    }
}

/// What came out or went wrong is JSON within the limits of a document.
fn check_state(state: &OperationState) -> Result<(), StoreError> {
    match state {
        OperationState::Completed { result: text } | OperationState::Failed { error: text } => {
            Ok(document::parse(text.as_bytes()).map(drop)?)
        }
        OperationState::Queued | OperationState::Processing { .. } | OperationState::Cancelled => Ok(()),
    }
}

fn columns(state: &OperationState) -> (&'static str, i64, Option<&str>, Option<&str>) {
    match state {
        OperationState::Queued => ("queued", 0, None, None),
        OperationState::Processing { progress } => ("processing", *progress, None, None),
        OperationState::Completed { result } => ("completed", 100, Some(result), None),
        OperationState::Failed { error } => ("failed", 0, None, Some(error)),
        OperationState::Cancelled => ("cancelled", 0, None, None),
    }
}

fn read_operation(row: &dyn Row) -> Result<Operation, SqlError> {
    let text = |column: usize| row.optional_text(column).map(|text| text.unwrap_or_default().to_owned());
    let state = match row.text(3)? {
        "queued" => OperationState::Queued,
        "processing" => OperationState::Processing { progress: row.int(4)? },
        "completed" => OperationState::Completed { result: text(5)? },
        "failed" => OperationState::Failed { error: text(6)? },
        _ => OperationState::Cancelled,
    };
    Ok(Operation {
        id: OperationId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        kind: row.text(2)?.to_owned(),
        state,
        created_at: Millis(row.int(7)?),
        updated_at: Millis(row.int(8)?),
    })
}
