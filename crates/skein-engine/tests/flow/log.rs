//! Captures the log of this test process, whichever thread writes it.

use std::io;
use std::sync::{Mutex, Once};

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Starts capturing. Tests share one subscriber, so a test looks for lines that name its own things.
pub(crate) fn capture() {
    static START: Once = Once::new();
    START.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| Sink).init());
}

/// Counts the captured lines that contain all these parts.
pub(crate) fn count_lines(parts: &[&str]) -> usize {
    let text = String::from_utf8(LINES.lock().unwrap().clone()).unwrap();
    text.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

struct Sink;

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
