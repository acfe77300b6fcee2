//! Where errors meet people on the command line: one line what, one line what to do, and the exit code.

use std::fmt;

use anyhow::{Error, anyhow};
use skein_engine::EngineError;
use skein_store::StoreError;

use crate::exit::Exit;
use crate::lock::LockError;

/// Why a command was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    error: Error,
    hint: &'static str,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<Error>, hint: &'static str) -> Self {
        Self { exit, error: error.into(), hint }
    }

    pub(crate) fn usage(error: impl Into<Error>, hint: &'static str) -> Self {
        Self::new(Exit::Usage, error, hint)
    }

    /// What went wrong, with its causes.
    pub(crate) fn error(&self) -> String {
        format!("{:#}", self.error)
    }

    /// Whether all that is wrong is that nobody reads on, as with `| head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        let cause = self.error.root_cause().downcast_ref::<std::io::Error>();
        cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nhint: {}", self.error(), self.hint)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (exit, hint) = match &error {
            StoreError::Rule(_)
            | StoreError::Item(_)
            | StoreError::Document(_)
            | StoreError::Record(_)
            | StoreError::Cursor(_)
            | StoreError::Forbidden
            | StoreError::LeaseLost(_) => (Exit::Failed, "change what is asked for; nothing was written"),
            StoreError::NotSealed(_) => (Exit::Failed, "try again shortly, or stop the server, which seals everything"),
            StoreError::NotFound(_) => (Exit::Failed, "look for a typing error, and whether --dir is the right one"),
            StoreError::Exists(_) => (Exit::Failed, "choose an empty place; nothing was overwritten"),
            StoreError::Busy | StoreError::TooSlow(_) => (Exit::Unavailable, "try again when less is going on"),
            StoreError::DiskFull => (Exit::Unavailable, "free some space on the disk and try again"),
            StoreError::ReadOnly(_) => (Exit::Unavailable, "check the permissions and the free space of the directory"),
            StoreError::Unavailable(_) => (Exit::Unavailable, "skein doctor looks for the cause"),
            StoreError::Blob(_) => (Exit::Unavailable, "check the blobs directory or the S3 settings"),
            StoreError::OutcomeUnknown => (Exit::Unavailable, "look at what is there before trying again"),
            StoreError::Locked(_) => (Exit::InUse, "stop the other process, or choose another --dir"),
            StoreError::Bundle(_) => {
                (Exit::Failed, "look whether it is the right file, or export it again at its source")
            }
            StoreError::NewerSchema { .. } => (Exit::Failed, "install the newer version that made this database"),
            StoreError::Damaged(_) | StoreError::History(_) => {
                (Exit::Problem, "run skein verify to see where, then restore a backup")
            }
            StoreError::Panicked(_) | StoreError::Sql(_) => {
                (Exit::Failed, "this is a bug in Skein; please report it with the lines above")
            }
        };
        Self::new(exit, error, hint)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::UnknownKey
            | EngineError::ScopeTooNarrow { .. }
            | EngineError::BatchItem { .. }
            | EngineError::BatchSize => Self::new(Exit::Failed, error, "change what is asked for"),
        }
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { .. } => {
                Self::new(Exit::InUse, anyhow!(error), "stop that process, or choose another --dir")
            }
            LockError::Io(_) => Self::new(Exit::Unavailable, anyhow!(error), "check the permissions of the directory"),
        }
    }
}

/// Standard output is gone or full.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let error = Error::new(error).context("cannot write the output");
        Self::new(Exit::Failed, error, "check where standard output goes")
    }
}
