//! Formats answers for people: tables and sheets of fields, with control characters removed.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};

use serde_json::Value;

use crate::configuration::Environment;

const CELL_CHARS_MAX: usize = 72;
const GAP: &str = "  ";

/// Whether headings are set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
}

impl Paint {
    /// Only on a terminal that can, and whose user did not ask for none.
    pub(crate) fn of_stdout(environment: &Environment) -> Self {
        let is_unwanted = environment.variable("NO_COLOR").is_some();
        let is_dumb = environment.variable("TERM").is_none_or(|term| term == "dumb");
        if io::stdout().is_terminal() && !is_unwanted && !is_dumb { Self::Bold } else { Self::Plain }
    }

    pub(crate) fn heading(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Bold => format!("\x1b[1m{text}\x1b[0m"),
        }
    }

    /// Set back: there, but not what matters most.
    pub(crate) fn faint(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Bold => format!("\x1b[2m{text}\x1b[0m"),
        }
    }
}

/// One column of a table: its heading, and what a row shows in it.
pub(crate) type Column = (&'static str, fn(&Value) -> String);

/// Rows below their headings, each column as wide as it needs.
pub(crate) fn write_table(
    out: &mut dyn Write,
    columns: &[Column],
    rows: &[Value],
    heading: Option<Paint>,
) -> io::Result<()> {
    let cells = |row: &Value| columns.iter().map(|(_, cell)| shorten(&printable(&cell(row)))).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let widths: Vec<usize> = columns.iter().enumerate().map(|(at, (name, _))| width(name, at, &rows)).collect();
    if let Some(paint) = heading {
        let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        writeln!(out, "{}", paint.heading(&line(&names, &widths)))?;
    }
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row, &widths)))
}

fn width(name: &str, column: usize, rows: &[Vec<String>]) -> usize {
    let cells = rows.iter().map(|row| row[column].chars().count());
    cells.chain([name.chars().count()]).max().unwrap_or_default()
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
    padded.join(GAP).trim_end().to_owned()
}

fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_cut = text.lines().nth(1).is_some() || line.chars().count() > CELL_CHARS_MAX;
    let mut short: String = line.chars().take(CELL_CHARS_MAX).collect();
    if is_cut {
        short.push('…');
    }
    short
}

/// One thing, field by field: those named in `first`, in that order, then whatever else there is. A name such as `a.b`
/// reaches into the object `a`, of which nothing else is shown.
pub(crate) fn write_sheet(out: &mut dyn Write, thing: &Value, first: &[&str]) -> io::Result<()> {
    let Some(fields) = thing.as_object() else { return writeln!(out, "{thing:#}") };
    let is_among_first = |name: &str| first.iter().any(|first| first.split('.').next() == Some(name));
    let others = fields.keys().map(String::as_str).filter(|name| !is_among_first(name));
    let rows: Vec<(String, &Value)> = first
        .iter()
        .map(|name| (*name, field(thing, name)))
        .chain(others.map(|name| (name, &fields[name])))
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (format!("{}:", label(name)), value))
        .collect();
    let width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or_default();
    rows.iter().try_for_each(|(label, value)| match value {
        Value::Object(_) | Value::Array(_) => writeln!(out, "{label}\n{}", indented(value)),
        _ => writeln!(out, "{label:width$} {}", printable(&text(value))),
    })
}

/// What stands in a thing under a name; `a.b` is what stands in `a` as `b`.
pub(crate) fn field<'a>(thing: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(thing, |inside, part| &inside[part])
}

/// `createdAt` as `Created at`, `link.url` as `Link url`.
fn label(name: &str) -> String {
    let mut label = String::new();
    for letter in name.trim_start_matches('_').chars() {
        match letter {
            _ if label.is_empty() => label.extend(letter.to_uppercase()),
            '.' => label.push(' '),
            _ if letter.is_uppercase() => {
                label.push(' ');
                label.extend(letter.to_lowercase());
            }
            _ => label.push(letter),
        }
    }
    label
}

fn indented(value: &Value) -> String {
    let lines = format!("{value:#}");
    lines.lines().map(|line| format!("{GAP}{}", printable(line))).collect::<Vec<_>>().join("\n")
}

/// A value in one cell.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// The text without anything a terminal would obey: what others wrote must not move the cursor or hide a line.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        let is_direction = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if letter == '\n' || letter == '\t' || !(letter.is_control() || is_direction) {
            clean.push(letter);
        } else {
            let _ = write!(clean, "\\u{{{:x}}}", u32::from(letter));
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [Column; 2] = [("ID", |row| text(&row["id"])), ("TEXT", |row| text(&row["text"]))];

    fn table(rows: &[Value]) -> String {
        let mut out = Vec::new();
        write_table(&mut out, &COLUMNS, rows, Some(Paint::Plain)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_line_up_and_long_texts_are_cut() {
        let rows = [json!({ "id": "a", "text": "one\ntwo" }), json!({ "id": "long", "text": "x".repeat(100) })];
        let out = table(&rows);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[..2], ["ID    TEXT", "a     one…"]);
        assert_eq!(lines[2].chars().count(), 6 + CELL_CHARS_MAX + 1);
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        let out = table(&[json!({ "id": "a", "text": "\u{1b}[2Jgone\u{9b}1m\u{202e}" })]);
        assert!(out.contains(r"\u{1b}[2Jgone\u{9b}1m\u{202e}") && !out.contains('\u{1b}'), "{out:?}");
    }

    #[test]
    fn a_sheet_begins_with_the_fields_named_and_leaves_none_out() {
        let mut out = Vec::new();
        let thing = json!({ "_type": "Note", "createdAt": "now", "id": "x", "gone": null, "data": { "a": 1 } });
        write_sheet(&mut out, &thing, &["id", "_type"]).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "Id:         x\nType:       Note\nCreated at: now\nData:\n  {\n    \"a\": 1\n  }\n");
    }

    #[test]
    fn a_name_with_a_dot_reaches_into_an_object() {
        let mut out = Vec::new();
        let thing = json!({ "id": "x", "signInLink": { "url": "http://here/", "expiresAt": "soon" } });
        write_sheet(&mut out, &thing, &["id", "gone.url", "signInLink.url", "signInLink.expiresAt"]).unwrap();
        let expected = "Id:                      x\nSign in link url:        http://here/\n\
                        Sign in link expires at: soon\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
