//! A line of the log as text: when, how grave, what happened, and `name=value` for everything known about it.
//!
//! Written by hand, because a server writes one for every request. Whatever a value holds, it stays one line, and no
//! control character reaches the terminal of whoever reads it.

use std::fmt::{self, Debug, Write};

use skein_store::clock::{Clock as _, SystemClock};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

const MESSAGE: &str = "message";
/// With which fields begin that records of the crate `log` carry for machines.
const ABOUT_THE_RECORD: &str = "log.";

/// Writes events as lines; in colour as the subscriber would itself.
pub(crate) struct LogLine {
    coloured: Format<Full>,
}

impl LogLine {
    pub(crate) fn new() -> Self {
        Self { coloured: Format::default().with_target(false) }
    }
}

impl<S, N> FormatEvent<S, N> for LogLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if line.has_ansi_escapes() {
            return self.coloured.format_event(context, line, event);
        }
        write!(line, "{} {:>5}", SystemClock.now(), event.metadata().level())?;
        let mut fields = Fields { line: OneLine(&mut line), outcome: Ok(()) };
        event.record(&mut fields);
        fields.outcome?;
        line.write_char('\n')
    }
}

struct Fields<W> {
    line: OneLine<W>,
    outcome: fmt::Result,
}

impl<W: Write> Fields<W> {
    fn add(&mut self, field: &Field, write: impl FnOnce(&mut OneLine<W>) -> fmt::Result) {
        let name = field.name();
        if self.outcome.is_err() || name.starts_with(ABOUT_THE_RECORD) {
            return;
        }
        self.outcome = self.line.0.write_char(' ').and_then(|()| {
            if name != MESSAGE {
                self.line.0.write_str(name)?;
                self.line.0.write_char('=')?;
            }
            write(&mut self.line)
        });
    }
}

impl<W: Write> Visit for Fields<W> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            MESSAGE => self.add(field, |line| line.write_str(value)),
            _ => self.add(field, |line| line.write_quoted(value)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, |line| write!(line, "{value:?}"));
    }
}

/// Escapes what would end the line or steer a terminal.
struct OneLine<W>(W);

impl<W: Write> OneLine<W> {
    fn write_quoted(&mut self, text: &str) -> fmt::Result {
        if !text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
            return write!(self.0, "{text:?}");
        }
        self.0.write_char('"')?;
        self.0.write_str(text)?;
        self.0.write_char('"')
    }
}

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        text.chars().try_for_each(|character| {
            if character.is_control() {
                write!(self.0, "{}", character.escape_debug())
            } else {
                self.0.write_char(character)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: impl FnOnce()) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).event_format(LogLine::new());
        tracing::subscriber::with_default(subscriber.with_writer(move || writer.clone()).finish(), log);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_has_the_time_the_level_the_message_and_the_fields() {
        let line = logged(|| tracing::info!(count = 3, name = "a b", gone = None::<u8>, "{} happened", "it"));
        let (time, rest) = line.split_at(24);
        assert!(time.parse::<skein_core::Millis>().is_ok(), "{line}");
        assert_eq!(rest, "  INFO it happened count=3 name=\"a b\"\n");
    }

    #[test]
    fn a_graver_line_says_so() {
        let error = io::Error::other("no");
        let line = logged(|| tracing::error!(%error, "failed"));
        assert_eq!(&line[24..], " ERROR failed error=no\n");
    }

    #[test]
    fn no_value_can_end_the_line_or_steer_a_terminal() {
        let hostile = "a\nb\r\u{1b}[31m\u{9b}\u{7f}\"\\";
        let line = logged(|| tracing::warn!(quoted = hostile, shown = %hostile, "{hostile}"));
        assert!(!line.trim_end_matches('\n').contains(char::is_control), "{line:?}");
        assert_eq!(line.lines().count(), 1);
        assert!(line.contains(r#"quoted="a\nb\r\u{1b}[31m\u{9b}\u{7f}\"\\""#), "{line}");
    }
}
