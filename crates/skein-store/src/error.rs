//! Lists the errors of the store, by the possible reaction of the caller.

use std::fmt::Display;
use std::io::{self, ErrorKind};

use skein_core::catalog::sharing::SharingRefusal;
use skein_core::document::BadDocument;
use skein_core::garden::cursor::BadCursor;
use skein_core::garden::delta::BrokenHistory;
use skein_core::garden::item::BadItem;
use skein_core::garden::record::RecordRefused;
use skein_core::{ReferenceField, RuleViolation};

use crate::computation::Computation;
use crate::jobs::exclusive_act::ExclusiveAct;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Rule(#[from] RuleViolation),
    #[error(transparent)]
    Item(#[from] BadItem),
    #[error(transparent)]
    Document(#[from] BadDocument),
    #[error(transparent)]
    Record(#[from] RecordRefused),
    #[error(transparent)]
    Cursor(#[from] BadCursor),
    /// Missing, or not the viewer's to see: the two are told apart nowhere (decision A16).
    #[error("{0} was not found")]
    NotFound(String),
    /// It exists but no seal covers it yet.
    #[error("{0} is not sealed yet; a running server seals every few seconds")]
    NotSealed(skein_core::ItemId),
    #[error("this belongs to someone else")]
    Forbidden,
    /// Decided by the catalog: hidden, forbidden, in use, or against a rule.
    #[error(transparent)]
    Refused(SharingRefusal),
    #[error("{0} exists already")]
    Exists(String),
    /// A key that stands for another request (rules BR-IDEMP-002, BR-IDEMP-004).
    #[error("this Idempotency-Key was used for another request; draw a new one for each request")]
    RequestMismatch,
    /// Its first request is still being received or worked on.
    #[error("the first request with this Idempotency-Key is still under way; ask again in a moment")]
    RequestInFlight,
    #[error("{0} has ended and stays as it ended")]
    Ended(skein_core::OperationId),
    /// One act of a kind at a time on a database, by whichever server.
    #[error("{act} by operation {operation}; wait until it has ended, or cancel it")]
    ActRunning { act: ExclusiveAct, operation: skein_core::OperationId },
    /// What let the caller in ended, or the caller's role changed, after the request had begun.
    #[error(
        "the credential of this request ended, or its user's role changed, before the change was made; sign in again"
    )]
    CredentialEnded,
    /// The object of a blob was taken away after its bytes had come and before they were named.
    #[error("the same bytes as {0} were being removed; send them again")]
    BlobRemoved(skein_core::Digest),
    /// The value was sealed under a key that is not the current one any more.
    #[error("the vault's master key is {0} now; repeat the request")]
    VaultKeyChanged(String),
    #[error("the lease on {0} was lost to another worker; drop the result")]
    LeaseLost(String),
    #[error("too much is waiting to be written; try again in a second")]
    Busy,
    /// A function ended because something is to be computed first; the store runs it again afterwards.
    #[error("the request needs more computations than one request may have; send it in smaller parts")]
    NeedsComputation(Computation),
    /// The user has as many computations under way as one may.
    #[error("{0}")]
    TooManyComputations(String),
    #[error("the read took longer than {0} seconds and was stopped; ask for less")]
    TooSlow(u64),
    #[error("the storage has no room left; free some space, nothing was written")]
    DiskFull,
    #[error("the database cannot be written to: {0}")]
    ReadOnly(String),
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    #[error("the connection broke while committing; whether the write took place is unknown, read before trying again")]
    OutcomeUnknown,
    #[error("the database has schema {found}, this program knows up to {known}; use a newer skein")]
    NewerSchema { found: i64, known: i64 },
    #[error("{0} is in use by another skein process; stop it first")]
    Locked(String),
    #[error("the stored data is damaged: {0}; run skein verify")]
    Damaged(String),
    /// The database cannot read its own pages; what is in them does not matter.
    #[error("the database is corrupt: {0}; run skein verify, and restore a backup into another directory")]
    Corrupt(String),
    #[error(transparent)]
    History(#[from] BrokenHistory),
    #[error("a bug stopped this write and nothing of it was kept: {0}")]
    Panicked(String),
    #[error("blob storage failed: {0}")]
    Blob(String),
    #[error(transparent)]
    Bundle(#[from] crate::bundle::BadBundle),
    #[error("the database refused: {0}")]
    Sql(SqlError),
}

/// A failure of the database itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    #[error("a value that must be unique exists already ({0})")]
    Unique(String),
    #[error("a constraint does not hold ({0})")]
    Constraint(String),
    /// Another transaction came first: run the function again.
    #[error("transactions collided ({0})")]
    Collision(String),
    #[error("the connection is gone ({0})")]
    Gone(String),
    #[error("the disk is full")]
    Full,
    /// A row that cannot be understood.
    #[error("damaged ({0})")]
    Damaged(String),
    /// The database says so of its own pages or indexes.
    #[error("corrupt ({0})")]
    Corrupt(String),
    #[error("read-only ({0})")]
    ReadOnly(String),
    #[error("stopped: took too long")]
    Interrupted,
    /// What was to be written under a lease is somebody else's now.
    #[error("{0} is not held any more")]
    NotHeld(String),
    #[error("{0}")]
    Other(String),
}

impl From<SharingRefusal> for StoreError {
    fn from(refused: SharingRefusal) -> Self {
        match refused {
            SharingRefusal::Rule(violation) => Self::Rule(violation),
            other => Self::Refused(other),
        }
    }
}

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Full => Self::DiskFull,
            SqlError::ReadOnly(detail) => Self::ReadOnly(detail),
            SqlError::Damaged(detail) => Self::Damaged(detail),
            SqlError::Corrupt(detail) => Self::Corrupt(detail),
            SqlError::Gone(detail) => Self::Unavailable(detail),
            SqlError::NotHeld(job) => Self::LeaseLost(job),
            SqlError::Interrupted => Self::TooSlow(crate::READ_SECONDS_MAX),
            other => Self::Sql(other),
        }
    }
}

/// Whether a file could not be written because the disk, a quota or the largest file size leaves no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

impl StoreError {
    /// A failure to read or write a file; `doing` names the act.
    pub fn of_file(doing: &str, error: &io::Error) -> Self {
        if is_full(error) { Self::DiskFull } else { Self::Blob(format!("{doing}: {error}")) }
    }

    /// Answers alike where what a request names is missing, invisible or of another kind (decision Z34).
    #[must_use]
    pub fn of_reference(self, reference: ReferenceField, id: impl Display) -> Self {
        match self {
            Self::NotFound(_)
            | Self::Forbidden
            | Self::Refused(SharingRefusal::NotFound | SharingRefusal::Forbidden(_)) => reference.unusable(id).into(),
            other => other,
        }
    }

    /// Whether a full disk is what lies behind a failure.
    pub fn has_full_disk_among_causes(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source())
            .any(|cause| cause.downcast_ref().is_some_and(is_full))
    }

    /// Whether running the same function again can help without anything else changing.
    pub(crate) fn is_collision(&self) -> bool {
        matches!(self, Self::Sql(SqlError::Collision(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not be written")]
    struct Outer(#[source] io::Error);

    #[test]
    fn a_full_disk_a_quota_and_a_size_limit_are_found_among_the_causes() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, true),
            (ErrorKind::QuotaExceeded, true),
            (ErrorKind::FileTooLarge, true),
            (ErrorKind::PermissionDenied, false),
        ] {
            assert_eq!(StoreError::has_full_disk_among_causes(&Outer(kind.into())), expected, "{kind}");
            let told = StoreError::of_file("writing", &kind.into());
            assert_eq!(matches!(told, StoreError::DiskFull), expected, "{kind}");
        }
    }
}
