//! A run as a tree: its steps, below each the runs it started, with phases, times, attempts, tokens and errors.

use std::fmt::Write as _;

use serde_json::Value;
use skein_core::Millis;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, printable, text};
use crate::session::{OutputFormat, Session};
use crate::views::flow::standing;

pub(super) fn show(whole: &Value, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{whole:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&whole["id"]))?,
        OutputFormat::People(paint) => {
            let mut drawn = String::new();
            draw(whole, "", paint, &mut drawn);
            write!(desk.out, "{drawn}")?;
            tell_end(whole, desk)?;
        }
    }
    Ok(Exit::Ok)
}

/// What it came to, whole: the tree has room for a line.
fn tell_end(whole: &Value, desk: &mut Session<'_>) -> Result<(), Failure> {
    if let Some(advice) = whole["error"]["suggestedAction"].as_str() {
        desk.remark(&format!("What to do: {}", printable(advice)))?;
    }
    if !whole["output"].is_null() {
        desk.remark(&super::words(&whole["output"]))?;
    }
    Ok(())
}

fn draw(run: &Value, below: &str, paint: Paint, drawn: &mut String) {
    let _ = writeln!(drawn, "{}", paint.heading(&head(run)));
    let steps = run["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let children = run["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    let number = |child: &Value| child["parentStep"].as_u64().and_then(|number| usize::try_from(number).ok());
    for (at, one) in steps.iter().enumerate() {
        let is_last = at + 1 == steps.len();
        let (branch, deeper) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let line = step(one);
        let line = if matches!(one["phase"].as_str(), Some("waiting" | "skipped")) { paint.faint(&line) } else { line };
        let _ = writeln!(drawn, "{below}{branch}{line}");
        for child in children.iter().filter(|child| number(child) == Some(at + 1)) {
            let _ = write!(drawn, "{below}{deeper}└─ ");
            draw(child, &format!("{below}{deeper}   "), paint, drawn);
        }
    }
}

fn head(run: &Value) -> String {
    let mut head = format!(
        "{}  {}, version {}: {}",
        text(&run["id"]),
        text(&run["processName"]),
        text(&run["processVersion"]),
        standing(run)
    );
    if let Some(took) = took(run) {
        let _ = write!(head, "  {took}");
    }
    if let Some(tokens) = run["tokens"].as_u64().filter(|tokens| *tokens > 0) {
        let _ = write!(head, "  {tokens} tokens");
    }
    head += &cost(run);
    printable(&head)
}

/// A step in a line.
pub(super) fn step(step: &Value) -> String {
    let mut line = format!("{}: {}", text(&step["id"]), text(&step["phase"]));
    if let Some(took) = took(step) {
        let _ = write!(line, "  {took}");
    }
    if let Some(attempts) = step["attempts"].as_u64().filter(|attempts| *attempts > 1) {
        let _ = write!(line, "  {attempts} attempts");
    }
    if let Some(tokens) = step["tokens"].as_u64().filter(|tokens| *tokens > 0) {
        let _ = write!(line, "  {tokens} tokens");
    }
    line += &cost(step);
    if let Some(message) = step["error"]["message"].as_str() {
        let _ = write!(line, "  {message}");
    }
    printable(line.lines().next().unwrap_or_default())
}

/// What is known of what it cost, in every currency.
fn cost(thing: &Value) -> String {
    let owed = thing["cost"]["owed"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut told = String::new();
    for one in owed {
        let _ = write!(told, "  {} {}", text(&one["amount"]), text(&one["currency"]));
    }
    if !owed.is_empty() && thing["cost"]["isComplete"] == false {
        told += " and what is not known";
    }
    told
}

/// From its beginning to its end, if it has both.
fn took(thing: &Value) -> Option<String> {
    let at = |name: &str| thing[name].as_str()?.parse::<Millis>().ok();
    let millis = at("endedAt")?.0 - at("startedAt")?.0;
    Some(if millis < 1_000 {
        format!("{millis} ms")
    } else {
        let (seconds, tenths) = (millis / 1_000, millis % 1_000 / 100);
        format!("{seconds}.{tenths} s")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_drawn_with_its_steps_and_the_runs_below_them() {
        let times = |end: &str| ("2026-01-31T12:00:00.000Z".to_owned(), format!("2026-01-31T12:00:{end}Z"));
        let ((start, soon), (_, late)) = (times("00.120"), times("03.450"));
        let child = json!({ "id": "run_2", "processName": "Below", "processVersion": 1, "status": "completed",
            "tokens": 0, "parentStep": 1, "steps": [{ "id": "in", "phase": "done", "attempts": 1 }], "children": [] });
        let run = json!({ "id": "run_1", "processName": "Above", "processVersion": 3, "status": "failed", "tokens": 12,
            "startedAt": start, "endedAt": late, "children": [child],
            "cost": { "owed": [{ "payerId": "user_1", "currency": "USD", "amount": "0.0045" }], "isComplete": false },
            "steps": [{ "id": "call", "phase": "done", "startedAt": start, "endedAt": soon, "tokens": 12 },
                { "id": "say", "phase": "failed", "attempts": 3, "error": { "message": "no\u{1b} answer\nat all" } }] });
        let mut drawn = String::new();
        draw(&run, "", Paint::Plain, &mut drawn);
        let expected = "run_1  Above, version 3: failed  3.4 s  12 tokens  0.0045 USD and what is not known\n\
                        ├─ call: done  120 ms  12 tokens\n\
                        │  └─ run_2  Below, version 1: completed\n\
                        │     └─ in: done\n\
                        └─ say: failed  3 attempts  no\\u{1b} answer\n";
        assert_eq!(drawn, expected);
    }
}
