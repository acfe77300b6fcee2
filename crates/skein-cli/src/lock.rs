//! The lock of a directory: one server at a time, and where the one that holds it can be reached.
//!
//! The operating system keeps the lock, so it ends with its process whatever happens. The file's content is for
//! others: address, process id, and the key of this start, which is why only its owner may read it. Content that is
//! found by whoever takes the lock was left behind by a process that could not clean up.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

const FILE: &str = "skein.lock";
const OWNER_ONLY: u32 = 0o600;
const CONTENT_BYTES_MAX: u64 = 4_096;

/// Who holds a lock, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) address: String,
    pub(crate) key: String,
    pub(crate) pid: u32,
    /// Which database it works on, without user and password.
    pub(crate) database: String,
}

/// Why a directory could not be locked.
#[derive(Debug)]
pub(crate) enum LockError {
    Held { dir: String, holder: Option<Holder> },
    Io(io::Error),
}

impl LockError {
    /// Who holds it, if that was said.
    pub(crate) fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Held { holder, .. } => holder.as_ref(),
            Self::Io(_) => None,
        }
    }
}

impl std::fmt::Display for LockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Held { dir, holder: Some(Holder { address, pid, .. }) } => {
                write!(f, "{dir} is in use by the server at {address} (process {pid})")
            }
            Self::Held { dir, holder: None } => {
                write!(f, "{dir} is in use by another skein process")
            }
            Self::Io(_) => f.write_str("cannot lock the directory"),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Held { .. } => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// A directory that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    pub(crate) fn take(dir: &Path) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(OWNER_ONLY);
        let mut file = options.open(dir.join(FILE)).map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held { dir: dir.display().to_string(), holder: read(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
        }
        file.set_permissions(Permissions::from_mode(OWNER_ONLY)).map_err(LockError::Io)?;
        Ok(Self { file })
    }

    /// Says who holds the lock; durable before anything relies on it.
    pub(crate) fn announce(&mut self, holder: &Holder) -> io::Result<()> {
        self.clear()?;
        self.file.rewind()?;
        self.file.write_all(&serde_json::to_vec(holder)?)?;
        self.file.sync_all()
    }

    /// Leaves nothing behind.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)
    }
}

/// Who holds the lock of a directory now; `None` when nobody does.
pub(crate) fn holder(dir: &Path) -> Result<Option<LockError>, io::Error> {
    let mut file = match File::open(dir.join(FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            Ok(Some(LockError::Held { dir: dir.display().to_string(), holder: read(&mut file) }))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The content, if it is there and whole.
fn read(file: &mut File) -> Option<Holder> {
    file.rewind().ok()?;
    let mut content = Vec::new();
    file.take(CONTENT_BYTES_MAX).read_to_end(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn someone() -> Holder {
        Holder { address: "http://127.0.0.1:1".to_owned(), key: "sk_x".to_owned(), pid: 7, database: "a".to_owned() }
    }

    #[test]
    fn a_second_taker_learns_who_was_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut lock = Lock::take(dir.path()).unwrap();
        lock.announce(&someone()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(refused.ends_with("in use by the server at http://127.0.0.1:1 (process 7)"), "{refused}");
        assert!(holder(dir.path()).unwrap().is_some());
        drop(lock);
        assert!(holder(dir.path()).unwrap().is_none());
    }

    #[test]
    fn what_was_left_behind_is_found_and_what_was_cleared_is_not() {
        let dir = tempfile::tempdir().unwrap();
        Lock::take(dir.path()).unwrap().announce(&someone()).unwrap();
        let mut lock = Lock::take(dir.path()).unwrap();
        assert_eq!(read(&mut lock.file), Some(someone()));
        lock.clear().unwrap();
        assert_eq!(read(&mut lock.file), None);
    }
}
