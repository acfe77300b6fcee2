//! The folder of a throwaway cluster, and whose files in it are.
//!
//! When the tests run as root the server runs as somebody else, who must own its data.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::process::User;
use crate::scratch::Scratch;

#[derive(Debug)]
pub(super) struct Folder {
    scratch: Scratch,
    data: PathBuf,
    user: Option<User>,
}

impl Folder {
    /// A folder with an empty `data` inside that belongs to `user`.
    pub(super) fn new(user: Option<User>) -> Self {
        let scratch = Scratch::new(0o711);
        let data = scratch.path().join("data");
        fs::create_dir(&data).expect("the folder is ours");
        give(&data, user);
        Self { scratch, data, user }
    }

    pub(super) fn path(&self) -> &Path {
        self.scratch.path()
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    /// Writes a file that only the cluster's user can read.
    pub(super) fn write_private(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("the folder is ours");
        give(&path, self.user);
        path
    }
}

fn give(path: &Path, user: Option<User>) {
    if let Some(user) = user {
        chown(path, Some(user.uid), Some(user.gid)).expect("root may give files away");
    }
}
