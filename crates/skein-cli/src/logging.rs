//! Starts the log on standard error; standard output belongs to what was asked for.
//!
//! Lines gather for a few milliseconds and are written together: whoever answers a request does not wait for a terminal
//! or a disk. A warning or an error is written at once, with everything before it.

use std::io::{self, IsTerminal as _, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::log_line::LogLine;
use crate::settings::Name;

/// How long a line may wait for others.
const GATHER: Duration = Duration::from_millis(10);
/// How much of a panic's words is told.
const PANIC_CHARS_MAX: usize = 300;
/// More than this is not gathered.
const GATHERED_BYTES_MAX: usize = 256 << 10;

/// A server is watched by its log; other commands say what they found on standard output.
pub(crate) fn start(configuration: &Configuration, is_server: bool) -> Result<(), Failure> {
    let otherwise = if is_server { "info" } else { "warn" };
    let filter = EnvFilter::try_new(configuration.text(Name::Log).unwrap_or(otherwise))
        .map_err(|bad| Failure::usage(bad, "give --log a level, or target=level pairs with commas"))?;
    // Without the thread lines are still written, when many have gathered or the program ends.
    let _ = std::thread::Builder::new().name("skein-log".to_owned()).spawn(|| WAITING.write_for_ever());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(PendingWriter)
        .with_ansi(io::stderr().is_terminal());
    match configuration.text(Name::LogFormat) {
        Some("json") => log.json().flatten_event(true).init(),
        _ => log.event_format(LogLine).init(),
    }
    tell_panics();
    Ok(())
}

/// A panic is told in one line of the log, like everything else, and not on as many as it likes.
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let words = panic.payload_as_str().unwrap_or("it has no words");
        let words: String = words.chars().take(PANIC_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let thread = std::thread::current();
        tracing::error!(place, words, thread = thread.name().unwrap_or_default(), "a bug in Skein: something panicked");
    }));
}

/// Writes what still waits; for the end of the program.
pub(crate) fn finish() {
    WAITING.write_out();
}

static WAITING: PendingLines =
    PendingLines { lines: Mutex::new(Vec::new()), writing: Mutex::new(Vec::new()), arrived: Condvar::new() };

/// Lines that were logged and not written yet.
struct PendingLines {
    lines: Mutex<Vec<u8>>,
    /// Those that are just being written, so that others can be added meanwhile.
    writing: Mutex<Vec<u8>>,
    arrived: Condvar,
}

impl PendingLines {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_for_ever(&self) {
        loop {
            let lines = self.arrived.wait_while(self.lock(), |lines| lines.is_empty());
            drop(lines.unwrap_or_else(PoisonError::into_inner));
            std::thread::park_timeout(GATHER);
            self.write_out();
        }
    }

    fn add(&self, line: &[u8], at_once: bool) {
        let mut lines = self.lock();
        let is_first = lines.is_empty();
        lines.extend_from_slice(line);
        let is_due = at_once || lines.len() >= GATHERED_BYTES_MAX;
        drop(lines);
        if is_due {
            self.write_out();
        } else if is_first {
            self.arrived.notify_one();
        }
    }

    fn write_out(&self) {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *writing, &mut *self.lock());
        // Nobody can be told when standard error is gone.
        let _ = io::stderr().write_all(&writing);
        writing.clear();
    }
}

/// Where the subscriber writes its lines.
struct PendingWriter;

impl<'a> MakeWriter<'a> for PendingWriter {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { at_once: false }
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Line {
        Line { at_once: *about.level() <= Level::WARN }
    }
}

struct Line {
    at_once: bool,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        WAITING.add(bytes, self.at_once);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
