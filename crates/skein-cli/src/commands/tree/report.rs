//! Prints findings about a conversation: whether it is intact, differences of two nodes, and the context of a model.

use std::fmt::Write as _;

use serde_json::Value;

use super::ask;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, printable, text, write_table};
use crate::plan::UnresolvedTreeRequest;
use crate::session::{OutputFormat, Session};
use crate::views::tree as views;

/// Ends with 1 when something was altered, and names the node.
pub(super) fn verify(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{found:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&found["verdict"]))?,
        OutputFormat::People(_) => writeln!(desk.out, "{}", printable(&finding(&found)))?,
    }
    Ok(if is_broken(&found) { Exit::Problem } else { Exit::Ok })
}

/// What was destroyed on demand or came from elsewhere is said, not held against anybody.
fn is_broken(found: &Value) -> bool {
    !matches!(found["verdict"].as_str(), Some("valid" | "imported" | "redacted"))
}

fn finding(found: &Value) -> String {
    let nodes = text(&found["nodes"]);
    let first = &found["firstNodeId"];
    match found["verdict"].as_str() {
        Some("valid") => format!("valid: all of {nodes} nodes are what their authors wrote."),
        Some("imported") => format!("imported: all of {nodes} nodes are unaltered; of some the author is not proved."),
        Some("redacted") => format!("redacted: of {nodes} nodes some were destroyed on demand, none was altered."),
        Some("incomplete") => format!("incomplete: something that {} was made from is missing.", text(first)),
        _ => format!("invalid: {} is not what its author wrote.", text(first)),
    }
}

pub(super) fn compare(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    match (desk.form, found["runs"].as_array()) {
        (OutputFormat::People(_), Some(runs)) => writeln!(desk.out, "{}", printable(&difference(runs)))?,
        (OutputFormat::People(paint), None) => write_parting(&found, paint, desk)?,
        _ => writeln!(desk.out, "{found:#}")?,
    }
    Ok(Exit::Ok)
}

/// Where two paths part, and how each goes on.
fn write_parting(found: &Value, paint: Paint, desk: &mut Session<'_>) -> Result<(), Failure> {
    let (common, last) = (text(&found["commonNodes"]), text(&found["lastCommonNodeId"]));
    writeln!(desk.out, "They have {common} nodes in common, the last of them {last}.")?;
    for (side, words) in [("left", "Only the first has"), ("right", "Only the second has")] {
        let nodes = found[side]["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        writeln!(desk.out, "{words} {}:", text(&found[side]["count"]))?;
        write_table(desk.out, views::BRIEFS.columns, nodes, (!nodes.is_empty()).then_some(paint))?;
    }
    Ok(())
}

/// What one has and the other has not stands in brackets, as people know it from other tools.
fn difference(runs: &[Value]) -> String {
    let mut written = String::new();
    for run in runs {
        let words = text(&run["text"]);
        let _ = match run["kind"].as_str() {
            Some("removed") => write!(written, "[-{words}-]"),
            Some("added") => write!(written, "{{+{words}+}}"),
            _ => write!(written, "{words}"),
        };
    }
    written
}

pub(super) fn context(wish: &UnresolvedTreeRequest, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = ask(wish, desk)?;
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{found:#}")?,
        OutputFormat::Quiet => writeln!(desk.out, "{}", text(&found["totalTokens"]))?,
        OutputFormat::People(paint) => {
            let parts = found["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
            write_table(desk.out, views::PARTS.columns, parts, Some(paint))?;
            let (shown, budget) = (text(&found["totalTokens"]), text(&found["budget"]));
            let dropped = text(&found["droppedTokens"]);
            let guessed = if found["isEstimate"] == true { " The numbers are estimates." } else { "" };
            writeln!(desk.out, "{shown} of {budget} tokens are shown, {dropped} are left out.{guessed}")?;
        }
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_altered_or_is_missing_is_a_problem() {
        let broken = |verdict: &str| is_broken(&json!({ "verdict": verdict }));
        assert!(!broken("valid") && !broken("imported") && !broken("redacted"));
        assert!(broken("invalid") && broken("incomplete") && broken("something new"));
    }

    #[test]
    fn the_node_that_was_altered_is_named() {
        let told = finding(&json!({ "verdict": "invalid", "nodes": 3, "firstNodeId": "item_x" }));
        assert!(told.contains("item_x"), "{told}");
    }

    #[test]
    fn a_difference_shows_both_sides() {
        let runs = json!([{ "kind": "removed", "text": "Eleven" }, { "kind": "added", "text": "Nine" },
            { "kind": "equal", "text": " of them." }]);
        assert_eq!(difference(runs.as_array().unwrap()), "[-Eleven-]{+Nine+} of them.");
    }
}
