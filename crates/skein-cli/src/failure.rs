//! Where errors meet people on the command line: one line what, one line what to do, and the exit code.

use std::fmt;

use anyhow::{Error, anyhow};
use axum::http::StatusCode;
use serde_json::Value;
use skein_engine::EngineError;
use skein_store::StoreError;

use crate::exit::Exit;
use crate::lock::LockError;
use crate::output::printable;

/// Why a command was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    error: Error,
    hint: &'static str,
    /// Said by whoever failed, in place of the hint.
    advice: Option<String>,
    is_closed_pipe: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<Error>, hint: &'static str) -> Self {
        Self { exit, error: error.into(), hint, advice: None, is_closed_pipe: false }
    }

    pub(crate) fn usage(error: impl Into<Error>, hint: &'static str) -> Self {
        Self::new(Exit::Usage, error, hint)
    }

    /// With what the failing side itself says can be done.
    pub(crate) fn advised(self, advice: Option<String>) -> Self {
        Self { advice, ..self }
    }

    /// What went wrong, with its causes.
    pub(crate) fn error(&self) -> String {
        format!("{:#}", self.error)
    }

    /// A refusal of the API, from the envelope it came in.
    pub(crate) fn refused(status: StatusCode, error: &Value) -> Self {
        let message = printable(error["message"].as_str().unwrap_or_default());
        let rule = error["rule"].as_str().map(|rule| format!(" (rule {})", printable(rule))).unwrap_or_default();
        let (exit, hint) = meaning(status);
        let correlation = error["correlationId"].as_str().filter(|_| status.is_server_error());
        let correlation = correlation.map(|id| format!(" [{}]", printable(id))).unwrap_or_default();
        Self::new(exit, anyhow!("{message}{rule}{correlation}"), hint)
    }

    /// Whether all that is wrong is that nobody reads on, as with `| head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.is_closed_pipe
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nhint: {}", self.error(), self.advice.as_deref().unwrap_or(self.hint))
    }
}

/// What a status of the API means for whoever typed the command.
fn meaning(status: StatusCode) -> (Exit, &'static str) {
    match status.as_u16() {
        400 => (Exit::Usage, "correct what was typed; nothing was written"),
        401 => (Exit::Denied, "give a key that is valid there with SKEIN_KEY; skein key create makes one"),
        403 => (Exit::Denied, "use a key of wider scope, or ask an administrator"),
        404 => (Exit::NotFound, "look for a typing error, and whether --dir or --server is the right one"),
        409 | 412 => (Exit::Conflict, "look at what is there now, then try again if it is still meant"),
        421 => (Exit::Usage, "use the address the server printed, or start it with --allow-host"),
        413 | 422 | 428 => (Exit::Refused, "change what is asked for; nothing was written"),
        429 | 503 => (Exit::Busy, "try again shortly"),
        504 => (Exit::Unavailable, "try again shortly"),
        507 => (Exit::Unavailable, "free some space on the server's disk and try again"),
        _ => (Exit::Failed, "the server's log says more"),
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let (exit, hint) = match &error {
            StoreError::Rule(_)
            | StoreError::Item(_)
            | StoreError::Document(_)
            | StoreError::Record(_)
            | StoreError::NeedsComputation(_)
            | StoreError::Refused(_) => (Exit::Refused, "change what is asked for; nothing was written"),
            StoreError::Cursor(_) => (Exit::Usage, "give a cursor that an earlier answer told"),
            StoreError::Forbidden | StoreError::CredentialEnded => {
                (Exit::Denied, "use a key of wider scope, or ask an administrator")
            }
            StoreError::LeaseLost(_) => (Exit::Failed, "change what is asked for; nothing was written"),
            StoreError::NotSealed(_) => (Exit::Failed, "try again shortly, or stop the server, which seals everything"),
            StoreError::NotFound(_) => (Exit::NotFound, "look for a typing error, and whether --dir is the right one"),
            StoreError::RequestMismatch
            | StoreError::RequestInFlight
            | StoreError::ActRunning { .. }
            | StoreError::BlobRemoved(_)
            | StoreError::VaultKeyChanged(_)
            | StoreError::Ended(_) => (Exit::Failed, "ask for it again in a moment; nothing was written"),
            StoreError::Exists(_) => (Exit::Conflict, "choose an empty place; nothing was overwritten"),
            StoreError::Busy | StoreError::TooManyComputations(_) | StoreError::TooSlow(_) => {
                (Exit::Busy, "try again when less is going on")
            }
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
            StoreError::Damaged(_) | StoreError::History(_) | StoreError::Corrupt(_) => {
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
            EngineError::Call(_) => Self::new(Exit::Unavailable, error, "look at the service and try again"),
            EngineError::Vault(_) => Self::new(Exit::Unavailable, error, "skein doctor looks at the master key"),
            EngineError::Compute(_) => Self::new(Exit::Unavailable, error, "try again"),
            EngineError::UnknownCredential
            | EngineError::ExpiredKey(_)
            | EngineError::KeyOutlivesMaker(_)
            | EngineError::SessionOutlivesMaker(_)
            | EngineError::PassphraseNeeded
            | EngineError::PassphraseIdle
            | EngineError::NotOpened(_)
            | EngineError::AdminsOnly
            | EngineError::NoSuchGrant(_)
            | EngineError::GrantIsForLooking
            | EngineError::OnlyHere
            | EngineError::Cancelled
            | EngineError::NotABrowser
            | EngineError::NoSuchSetting(_)
            | EngineError::BadSetting(_)
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
        let is_closed_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        let error = Error::new(error).context("cannot write the output");
        Self { is_closed_pipe, ..Self::new(Exit::Failed, error, "check where standard output goes") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_tells_the_message_the_rule_and_what_to_do() {
        let error = json!({ "message": "a note is empty; say something", "rule": "MG-ITEM-001", "correlationId": "c" });
        let failure = Failure::refused(StatusCode::UNPROCESSABLE_ENTITY, &error);
        assert_eq!(failure.exit, Exit::Refused);
        let told = failure.to_string();
        assert!(told.starts_with("error: a note is empty; say something (rule MG-ITEM-001)\nhint: change"), "{told}");
    }

    #[test]
    fn each_status_has_an_exit_code_by_its_meaning() {
        let exit = |status: u16| meaning(StatusCode::from_u16(status).unwrap()).0;
        let found: Vec<Exit> = [400, 401, 403, 404, 409, 422, 429, 503, 500].map(exit).into();
        let (denied, busy, missing) = (Exit::Denied, Exit::Busy, Exit::NotFound);
        let (conflict, refused) = (Exit::Conflict, Exit::Refused);
        let expected = [Exit::Usage, denied, denied, missing, conflict, refused, busy, busy, Exit::Failed];
        assert_eq!(found, expected);
    }

    #[test]
    fn only_our_own_output_can_be_a_pipe_nobody_reads() {
        let broken = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(Failure::from(broken()).is_closed_pipe());
        assert!(!Failure::new(Exit::Unavailable, broken(), "look").is_closed_pipe());
    }
}
