//! A line of the log as text: when, how grave, what happened, and `name=value` for everything known about it.
//!
//! Written by hand, because a server writes one for every request. Whatever a value holds, it stays one line, and no
//! control character reaches the terminal of whoever reads it.

use std::fmt::{self, Debug, Write};

use skein_store::clock::{Clock as _, SystemClock};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

const MESSAGE: &str = "message";
/// With which fields begin that records of the crate `log` carry for machines.
const ABOUT_THE_RECORD: &str = "log.";
/// Room for the line of a request.
const LINE_BYTES_USUAL: usize = 512;

/// Writes events as lines; on a terminal with the level in colour.
pub(crate) struct LogLine;

impl<S, N> FormatEvent<S, N> for LogLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let (now, level) = (SystemClock.now(), event.metadata().level());
        // Gathered here first: the writer is reached through several others, and a line has dozens of parts.
        let mut text = String::with_capacity(LINE_BYTES_USUAL);
        if line.has_ansi_escapes() {
            write!(text, "{now} \u{1b}[{}m{level:>5}\u{1b}[0m", colour(*level))?;
        } else {
            write!(text, "{now} {level:>5}")?;
        }
        let mut fields = LogFields { line: OneLine(&mut text), outcome: Ok(()) };
        event.record(&mut fields);
        fields.outcome?;
        text.push('\n');
        line.write_str(&text)
    }
}

/// As terminals number them.
fn colour(level: Level) -> u8 {
    let (red, green, yellow, blue, magenta) = (31, 32, 33, 34, 35);
    match level {
        Level::ERROR => red,
        Level::WARN => yellow,
        Level::INFO => green,
        Level::DEBUG => blue,
        Level::TRACE => magenta,
    }
}

struct LogFields<'a> {
    line: OneLine<'a>,
    outcome: fmt::Result,
}

impl<'a> LogFields<'a> {
    fn add(&mut self, field: &Field, write: impl FnOnce(&mut OneLine<'a>) -> fmt::Result) {
        let name = field.name();
        if self.outcome.is_err() || name.starts_with(ABOUT_THE_RECORD) {
            return;
        }
        self.line.0.push(' ');
        if name != MESSAGE {
            self.line.0.push_str(name);
            self.line.0.push('=');
        }
        self.outcome = write(&mut self.line);
    }
}

impl Visit for LogFields<'_> {
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

/// Escapes what would end the line, steer a terminal, or not be seen as it is.
struct OneLine<'a>(&'a mut String);

impl OneLine<'_> {
    fn write_quoted(&mut self, text: &str) -> fmt::Result {
        if !is_each(text, |byte| is_plain(byte) && byte != b'"' && byte != b'\\') {
            return write!(self.0, "{text:?}");
        }
        self.0.push('"');
        self.0.push_str(text);
        self.0.push('"');
        Ok(())
    }
}

impl Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if is_each(text, is_plain) {
            self.0.push_str(text);
            return Ok(());
        }
        for character in text.chars() {
            let escaped = character.escape_debug();
            if matches!(character, '"' | '\'' | '\\') || escaped.len() == 1 {
                self.0.push(character);
            } else {
                self.0.extend(escaped);
            }
        }
        Ok(())
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Looks at all bytes: that is faster than to stop at the first that is not.
fn is_each(text: &str, is: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is(byte))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct CapturedLines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for CapturedLines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: impl FnOnce()) -> String {
        logged_on(false, log)
    }

    fn logged_on(is_terminal: bool, log: impl FnOnce()) -> String {
        let kept = CapturedLines::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(is_terminal).event_format(LogLine);
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
    fn only_the_level_is_coloured_on_a_terminal() {
        let line = logged_on(true, || tracing::warn!(name = "a", "careful"));
        assert_eq!(&line[24..], " \u{1b}[33m WARN\u{1b}[0m careful name=\"a\"\n");
    }

    #[test]
    fn no_value_can_end_the_line_or_steer_a_terminal() {
        let hostile = "a\nb\r\u{1b}[31m\u{9b}\u{7f}\"\\\u{2028}\u{2029}\u{202e}\u{2066}é";
        for is_terminal in [false, true] {
            let line = logged_on(is_terminal, || tracing::warn!(quoted = hostile, shown = %hostile, "{hostile}"));
            let steers = |character: char| {
                character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            let (_, values) = line.split_once("WARN").unwrap();
            let values = values.trim_start_matches("\u{1b}[0m").strip_suffix('\n').unwrap();
            assert!(!values.contains(steers), "{line:?}");
            let escaped = r"a\nb\r\u{1b}[31m\u{9b}\u{7f}";
            assert!(values.contains(&format!(r#"quoted="{escaped}\"\\\u{{2028}}"#)), "{line}");
            assert!(
                values.contains(&format!(r#"shown={escaped}"\\u{{2028}}\u{{2029}}\u{{202e}}\u{{2066}}é"#)),
                "{line}"
            );
        }
    }
}
