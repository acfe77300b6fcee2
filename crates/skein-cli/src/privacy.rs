//! Finds what other users of this machine can look into or change, and the command that mends it.
//!
//! Skein makes directories and files for their owner alone; these were made or changed by others. The master key's file is
//! stricter: it is refused where it is read.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The permissions of everybody but the owner.
const ALL_OF_OTHERS: u32 = 0o077;
const WRITING_OF_OTHERS: u32 = 0o022;
const OWNER_ONLY_DIRECTORY: u32 = 0o700;
const OWNER_ONLY_FILE: u32 = 0o600;

/// A configuration file, and whether a secret stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigurationFile {
    pub(crate) path: PathBuf,
    pub(crate) has_secret: bool,
}

/// Something that others have permissions on which they should not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exposure {
    path: PathBuf,
    mode: u32,
    mended: u32,
    can: &'static str,
}

impl Exposure {
    /// Of a directory in which everything is kept; nothing where it is private.
    pub(crate) fn of_directory(path: &Path) -> io::Result<Option<Self>> {
        let mode = mode_of(path)?;
        let is_exposed = mode & ALL_OF_OTHERS != 0;
        let path = path.to_owned();
        Ok(is_exposed.then_some(Self { path, mode, mended: OWNER_ONLY_DIRECTORY, can: "look into" }))
    }

    /// Of a configuration: nobody else may change it, nor read it where a secret stands in it.
    pub(crate) fn of_configuration(file: &ConfigurationFile) -> io::Result<Option<Self>> {
        let mode = mode_of(&file.path)?;
        let path = file.path.clone();
        let exposed = |can| Some(Self { path, mode, mended: OWNER_ONLY_FILE, can });
        Ok(if mode & WRITING_OF_OTHERS != 0 {
            exposed("change")
        } else if file.has_secret && mode & ALL_OF_OTHERS != 0 {
            exposed("read the secrets in")
        } else {
            None
        })
    }

    /// The command that mends it.
    pub(crate) fn remedy(&self) -> String {
        let quoted = self.path.display().to_string().replace('\'', r"'\''");
        format!("chmod {:o} '{quoted}'", self.mended)
    }
}

impl fmt::Display for Exposure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "others can {} {} (mode {:03o})", self.can, self.path.display(), self.mode)
    }
}

fn mode_of(path: &Path) -> io::Result<u32> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o777)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_directory_is_exposed_by_any_permission_of_others() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, expected) in [(0o700, false), (0o750, true), (0o701, true), (0o755, true)] {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(Exposure::of_directory(folder.path()).unwrap().is_some(), expected, "{mode:o}");
        }
    }

    #[test]
    fn a_configuration_is_exposed_to_writers_and_with_a_secret_to_readers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it's.toml");
        fs::write(&path, "").unwrap();
        for (mode, has_secret, expected) in
            [(0o644, false, None), (0o664, false, Some("change")), (0o644, true, Some("read")), (0o600, true, None)]
        {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let file = ConfigurationFile { path: path.clone(), has_secret };
            let exposure = Exposure::of_configuration(&file).unwrap();
            assert_eq!(exposure.is_some(), expected.is_some(), "{mode:o}");
            let told = exposure.map(|exposure| (exposure.to_string(), exposure.remedy()));
            if let (Some(expected), Some((told, remedy))) = (expected, told) {
                assert!(told.contains(expected) && told.contains(&format!("mode {mode:o}")), "{told}");
                assert!(remedy.starts_with("chmod 600 '/") && remedy.ends_with(r"it'\''s.toml'"), "{remedy}");
            }
        }
    }
}
