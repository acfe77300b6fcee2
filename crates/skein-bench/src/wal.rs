//! SQLite's write-ahead log, read as a file: how many transactions were committed to it.
//!
//! The format is SQLite's own and fixed: a header of 32 bytes, then frames of 24 bytes and a page each.

use std::path::Path;

use anyhow::{Context as _, Result};

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// What was found in a log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Commits {
    /// Tells the log from one that was started anew in the same file.
    pub(crate) log: [u8; 8],
    pub(crate) commits: u32,
}

pub(crate) fn commits(path: &Path) -> Result<Commits> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    count(&bytes).context("the write-ahead log is empty")
}

fn count(bytes: &[u8]) -> Option<Commits> {
    let page_bytes = u32::from_be_bytes(*bytes.get(8..)?.first_chunk()?);
    let log: [u8; 8] = *bytes.get(16..)?.first_chunk()?;
    let frame_bytes = FRAME_HEADER_BYTES + usize::try_from(page_bytes).ok()?;
    // Frames behind the end are of an earlier log in the same file. The last frame of a transaction names a size.
    let frames = bytes.get(HEADER_BYTES..)?.chunks_exact(frame_bytes).take_while(|frame| frame[8..16] == log);
    let commits = frames.filter(|frame| frame[4..8] != [0; 4]).count();
    Some(Commits { log, commits: u32::try_from(commits).ok()? })
}

#[cfg(test)]
mod tests {
    use super::commits;

    #[test]
    fn transactions_are_counted_not_pages() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let log = folder.path().join("x.db-wal");
        let before = commits(&log).unwrap();
        for _ in 0..3 {
            connection.execute_batch("BEGIN; INSERT INTO t VALUES (randomblob(20000)); COMMIT").unwrap();
        }
        let after = commits(&log).unwrap();
        assert_eq!((after.log, after.commits - before.commits), (before.log, 3));
    }
}
