//! Operations: what a client polls while its work goes on, and finds finished when it comes late.

use skein_core::document::{self, check_text};
use skein_core::{Millis, OperationId, UserId, Viewer};

use crate::error::{SqlError, StoreError};
use crate::sql::{Row, params};
use crate::tx::Tx;

const KIND_BYTES_MAX: usize = 64;

/// Where an operation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationState {
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub id: OperationId,
    pub owner: UserId,
    pub kind: String,
    pub state: OperationState,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Tx<'_> {
    pub fn start_operation(
        &mut self,
        viewer: &Viewer,
        kind: &str,
        state: &OperationState,
    ) -> Result<OperationId, StoreError> {
        check_text("an operation's kind", kind, KIND_BYTES_MAX)?;
        check_state(state)?;
        let id = OperationId::new(self.now(), self.entropy());
        let now = self.now();
        let (status, progress, result, error) = columns(state);
        self.execute(
            "INSERT INTO operations (id, owner, kind, status, progress, result, error, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
            params![&id, &viewer.owner(), kind, status, progress, result, error, now],
        )?;
        Ok(id)
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
        if !matches!(current.state, OperationState::Queued | OperationState::Processing { .. }) {
            return Err(StoreError::Exists(format!("the outcome of {id}")));
        }
        check_state(state)?;
        let now = self.now();
        let (status, progress, result, error) = columns(state);
        self.execute(
            "UPDATE operations SET status = ?2, progress = ?3, result = ?4, error = ?5, updated_at = ?6 WHERE id = ?1",
            params![&id, status, progress, result, error, now],
        )?;
        Ok(())
    }

    pub fn operation(&mut self, viewer: &Viewer, id: OperationId) -> Result<Operation, StoreError> {
        let sql = "SELECT id, owner, kind, status, progress, result, error, created_at, updated_at
                   FROM operations WHERE id = ?1";
        let now = self.now();
        let found = self.first(sql, params![&id], read_operation)?;
        found
            .filter(|operation| viewer.may_read(operation.owner, now))
            .ok_or_else(|| StoreError::NotFound(id.to_string()))
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
