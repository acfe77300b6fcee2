//! Keeps one output stream of a program in a file and lets others wait for a line of it.
//!
//! A thread reads the pipe, so that the program never blocks on a full one, and wakes the waiting:
//! nobody polls.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for the rest of an output whose program has ended. Only a descendant that kept
/// the pipe open can make it last.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Capture {
    file: PathBuf,
    progress: Arc<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Whether the pipe is closed. Whole lines are written and read under this lock.
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Capture {
    pub(super) fn start(pipe: impl Read + Send + 'static, file: PathBuf) -> Self {
        let into = File::create(&file).expect("the folder was just made");
        let progress = Arc::new(Progress::default());
        let seen = Arc::clone(&progress);
        thread::spawn(move || copy_lines(pipe, into, &seen));
        Self { file, progress }
    }

    pub(super) fn text(&self) -> String {
        let _whole_lines = self.progress.lock();
        String::from_utf8_lossy(&std::fs::read(&self.file).unwrap_or_default()).into_owned()
    }

    /// The first line containing `marker`; none when the output ends or `limit` passes without it.
    pub(super) fn find_line(&self, marker: &str, limit: Duration) -> Option<String> {
        let deadline = Instant::now() + limit;
        let mut written = BufReader::new(File::open(&self.file).expect("made at the start"));
        let mut ended = self.progress.lock();
        loop {
            if let Some(line) = next_line_with(marker, &mut written) {
                return Some(line);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if *ended || left.is_zero() {
                return None;
            }
            ended = self.progress.wait(ended, left);
        }
    }

    /// Waits until all that was written is in the file.
    pub(super) fn settle(&self) {
        let ended = self.progress.lock();
        let waited = self.progress.changed.wait_timeout_while(ended, SETTLE, |ended| !*ended);
        drop(waited);
    }
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, ended: MutexGuard<'a, bool>, limit: Duration) -> MutexGuard<'a, bool> {
        let waited = self.changed.wait_timeout(ended, limit);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn copy_lines(pipe: impl Read, mut into: File, progress: &Progress) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = pipe.read_until(b'\n', &mut line).unwrap_or(0);
        let mut ended = progress.lock();
        *ended = read == 0 || into.write_all(&line).is_err();
        progress.changed.notify_all();
        if *ended {
            return;
        }
    }
}

fn next_line_with(marker: &str, written: &mut impl std::io::BufRead) -> Option<String> {
    let mut line = Vec::new();
    while written.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line);
        if text.contains(marker) {
            return Some(text.trim_end().to_owned());
        }
        line.clear();
    }
    None
}
