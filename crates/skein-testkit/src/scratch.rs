//! Temporary folders that are removed even when their owner could not do it.
//!
//! A killed test runs no destructor, and a cluster leaves tens of megabytes. Each folder therefore
//! holds a file its owner keeps locked; the next test process that makes a folder removes those
//! whose lock is free.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "skein-test-";
const LOCK: &str = "owner.lock";
/// A younger folder may not be locked yet.
const AGE_MIN: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// A new folder with these permissions, which must let its owner write.
    pub(crate) fn new(mode: u32) -> Self {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| remove_abandoned(&std::env::temp_dir()));
        let mut folder = tempfile::Builder::new();
        folder.prefix(PREFIX).permissions(Permissions::from_mode(mode));
        let folder = folder.tempdir().expect("a temporary folder can be made");
        let lock = File::create(folder.path().join(LOCK)).expect("the folder is ours");
        lock.try_lock().expect("nobody else locks a new file");
        Self { folder, _lock: lock }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && is_abandoned(&entry.path()) {
            // Another test may be removing it as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return false };
    let age = metadata.modified().ok().and_then(|made| made.elapsed().ok());
    let is_own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    is_own && age.is_some_and(|age| age > AGE_MIN) && is_unlocked(&folder.join(LOCK))
}

fn is_unlocked(lock: &Path) -> bool {
    match File::open(lock) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, FileTimes};
    use std::path::Path;
    use std::time::Duration;

    use super::{AGE_MIN, LOCK, PREFIX, remove_abandoned};

    /// A folder last changed `age` ago, and the file that is its lock, not locked.
    fn folder(parent: &Path, name: &str, age: Duration) -> File {
        let path = parent.join(format!("{PREFIX}{name}"));
        fs::create_dir(&path).unwrap();
        let lock = File::create(path.join(LOCK)).unwrap();
        let made = fs::metadata(&path).unwrap().modified().unwrap() - age;
        File::open(&path).unwrap().set_times(FileTimes::new().set_modified(made)).unwrap();
        lock
    }

    #[test]
    fn only_an_old_folder_without_an_owner_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let old = AGE_MIN + Duration::from_secs(1);
        folder(parent.path(), "young", Duration::ZERO);
        folder(parent.path(), "abandoned", old);
        let owned = folder(parent.path(), "owned", old);
        owned.try_lock().unwrap();
        fs::create_dir(parent.path().join("of-others")).unwrap();

        remove_abandoned(parent.path());
        let left = fs::read_dir(parent.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["of-others", "skein-test-owned", "skein-test-young"]);
    }
}
