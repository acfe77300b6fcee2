//! Programs written by others that `scripts/setup.sh` installs from PyPI, pinned in `scripts/requirements.txt`.

use std::path::PathBuf;

/// Where `program` is. Panics when it is not installed.
pub fn installed(program: &str) -> PathBuf {
    let cache = crate::variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(crate::variable("HOME")?).join(".cache")));
    let cache = cache.expect("HOME or XDG_CACHE_HOME is set");
    let path = cache.join("skein/venv/bin").join(program);
    assert!(path.exists(), "{} is missing: run scripts/setup.sh", path.display());
    path
}
