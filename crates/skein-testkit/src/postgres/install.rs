//! Finds PostgreSQL's programs, and the account to run them as when the tests run as root.
//!
//! Debian keeps the server's programs off PATH, and the server refuses to run as root.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::User;

/// Where Debian and its descendants install, one folder per major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// What a folder must hold to be taken: some have links to a few of them.
const PROGRAMS: [&str; 4] = ["initdb", "postgres", "pg_ctl", "pgbench"];

/// A folder that holds the programs of one PostgreSQL version.
#[derive(Debug)]
pub(super) struct Binaries(PathBuf);

impl Binaries {
    /// On PATH, else the newest of Debian's. Panics when there is none: a skipped test proves nothing.
    pub(super) fn find() -> Self {
        let found = on_path().or_else(|| newest_in(Path::new(DEBIAN)));
        Self(found.expect("PostgreSQL's server programs are missing: run scripts/setup.sh"))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        assert!(path.exists(), "{} is missing: run scripts/setup.sh", path.display());
        path
    }
}

fn has_server(folder: &Path) -> bool {
    PROGRAMS.iter().all(|name| folder.join(name).is_file())
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| has_server(folder))
}

fn newest_in(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    versions.filter(|(_, bin)| has_server(bin)).max().map(|(_, bin)| bin)
}

/// The account to run the server as: `postgres` or `nobody` when we are root, else our own.
pub(super) fn user_instead_of_root() -> Option<User> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let accounts = fs::read_to_string("/etc/passwd").expect("every system has accounts");
    let user = ["postgres", "nobody"].iter().find_map(|name| account(&accounts, name));
    Some(user.expect("neither postgres nor nobody is an account: run the tests as another user"))
}

fn account(accounts: &str, name: &str) -> Option<User> {
    let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = fields.into_iter().find(|fields| fields.first() == Some(&name))?;
    Some(User { uid: found.get(2)?.parse().ok()?, gid: found.get(3)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, account, newest_in};

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "nobody2:x:7:8::/:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/sh\n";
        let user = account(accounts, "nobody").expect("it is there");
        assert_eq!((user.uid, user.gid), (65_534, 65_533));
        assert!(account(accounts, "postgres").is_none());
    }

    #[test]
    fn the_newest_version_is_the_greatest_number() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9", "15", "not-a-version"] {
            let bin = folder.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            for program in PROGRAMS {
                std::fs::write(bin.join(program), "").unwrap();
            }
        }
        assert_eq!(newest_in(folder.path()), Some(folder.path().join("15/bin")));
    }
}
