//! Exit codes, all of them; they are part of what scripts may rely on.

use std::process::ExitCode;

/// How the program ends. A usage error found by the argument parser itself is 2 as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and all is well.
    Ok = 0,
    /// Done, and a problem was found: a break, a bad proof, a finding of `doctor`, a tool, a service or a run that fails.
    Problem = 1,
    /// The arguments or the environment do not make sense.
    Usage = 2,
    /// The directory or the address is in use by another process.
    InUse = 3,
    /// The database, the disk or another service cannot be used now.
    Unavailable = 4,
    /// Anything else that kept the command from being done.
    Failed = 5,
    /// What was asked for breaks a rule.
    Refused = 6,
    /// The key is not known, or may not be used for this.
    Denied = 7,
    /// There is no such thing, or it may not be seen.
    NotFound = 8,
    /// It collides with what is there: somebody else was faster, or it exists already.
    Conflict = 9,
    /// The server is busy; the same command may succeed soon.
    Busy = 10,
    /// A second signal while stopping.
    Interrupted = 130,
}

/// For `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    a problem was found (verify, doctor, tool test, service health, run)
  2    the arguments do not make sense
  3    the directory or address is in use by another process
  4    the database, the disk or another service cannot be used now
  5    anything else
  6    refused: it breaks a rule
  7    the key is not known, or may not be used for this
  8    there is no such thing
  9    it collides with what is there: exists already, or was changed meanwhile
  10   busy; the same command may succeed soon
  130  stopped by a second signal";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
