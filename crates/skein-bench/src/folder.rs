//! The directory benchmarks write in: on a disk, because durability is what is measured, and gone afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// What `statfs` calls a file system that lives in memory.
const TMPFS: i64 = 0x0102_1994;
const INTERRUPTED: i32 = 130;

/// Deleted, with everything in it, when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new directory in `parent`, else in the temporary directory, else beside this program.
    pub(crate) fn new(parent: Option<PathBuf>) -> Result<Self> {
        let parent = match parent {
            Some(parent) if is_in_memory(&parent)? => {
                bail!("{} is in memory; choose a directory on a disk", parent.display())
            }
            Some(parent) => parent,
            None => default_parent()?,
        };
        let path = parent.join(format!("skein-bench-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// An empty directory in it; what was there under that name is deleted.
    pub(crate) fn make(&self, name: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot empty {name}"))?;
        }
        fs::create_dir(&path).with_context(|| format!("cannot make {name}"))?;
        Ok(path)
    }

    /// A signal runs no destructor, and a large store would stay behind.
    pub(crate) fn remove_when_interrupted(&self) {
        let path = self.path().to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let waited = runtime.map(|runtime| runtime.block_on(interruption()));
            if let Ok(Ok(())) = waited {
                // Files may still be written into it, so this may leave some.
                let _ = fs::remove_dir_all(path);
                std::process::exit(INTERRUPTED);
            }
        });
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // There is nobody left to tell, and what remains is in a place for temporary things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn interruption() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

fn default_parent() -> Result<PathBuf> {
    let temporary = std::env::temp_dir();
    if !is_in_memory(&temporary)? {
        return Ok(temporary);
    }
    let program = std::env::current_exe().context("this program cannot be found")?;
    Ok(program.parent().context("a program is in a directory")?.to_owned())
}

fn is_in_memory(path: &Path) -> Result<bool> {
    let found = rustix::fs::statfs(path).with_context(|| format!("cannot look at {}", path.display()))?;
    Ok(found.f_type == TMPFS)
}
