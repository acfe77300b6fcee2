//! One path of a conversation, read as a dialogue.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::lookup::Lookup;
use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, printable, text};
use crate::plan::{EntryName, NodeLocation, NodeName, Resolver as _};
use crate::session::{ListLimit, OutputFormat, Session};
use crate::views::tree as views;

const PAGE_NODES_MAX: u64 = 100;

/// Shows the end of a path, from the root's side on.
pub(super) fn read(
    conversation: &EntryName,
    node: Option<NodeName>,
    most: ListLimit,
    desk: &mut Session<'_>,
) -> Result<Exit, Failure> {
    let id = Lookup::new(desk).conversation(conversation)?;
    let node =
        node.map(|node| Lookup::new(desk).node(&NodeLocation { conversation: EntryName::Id(id), node })).transpose()?;
    let ask = ApiCall::get(format!("/conversations/{id}/path")).with("nodeId", node);
    let (nodes, next) = collect(&ask, most, desk)?;
    match desk.form {
        OutputFormat::Json => writeln!(desk.out, "{:#}", json!({ "data": nodes, "pagination": { "next": next } }))?,
        OutputFormat::Quiet => nodes.iter().try_for_each(|node| writeln!(desk.out, "{}", text(&node["id"])))?,
        OutputFormat::People(_) if nodes.is_empty() => writeln!(desk.out, "Nothing was said yet.")?,
        OutputFormat::People(paint) => write!(desk.out, "{}", dialogue(&nodes, &id.to_string(), paint))?,
    }
    if next.is_some() && matches!(desk.form, OutputFormat::People(_)) {
        eprintln!("There is more before it; --limit or --all shows it.");
    }
    Ok(Exit::Ok)
}

/// The pages lead up, the dialogue goes down.
pub(super) fn collect(
    ask: &ApiCall,
    most: ListLimit,
    desk: &mut Session<'_>,
) -> Result<(Vec<Value>, Option<String>), Failure> {
    let mut nodes: Vec<Value> = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let left = match most {
            ListLimit::AtMost(most) => most.saturating_sub(nodes.len() as u64).min(PAGE_NODES_MAX),
            ListLimit::All => PAGE_NODES_MAX,
        };
        if left == 0 {
            break;
        }
        let mut page = desk.ask(&ask.clone().with("limit", Some(left)).with("cursor", next.as_ref()))?;
        let rows = page["data"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let is_last = rows.is_empty();
        nodes.splice(0..0, rows);
        next = page["pagination"]["next"].as_str().map(str::to_owned);
        if next.is_none() || is_last {
            break;
        }
    }
    Ok((nodes, next))
}

fn dialogue(nodes: &[Value], conversation: &str, paint: Paint) -> String {
    let mut written = String::new();
    for (at, node) in nodes.iter().enumerate() {
        let gap = if at == 0 { "" } else { "\n" };
        let words = printable(&views::said(node));
        let _ =
            writeln!(written, "{gap}{}\n{}", paint.heading(&printable(&caption(node, conversation))), words.trim_end());
    }
    written
}

/// Who spoke, how the node is called, when, and what is to know about it. Short names are good inside one conversation;
/// what a fork grew from has names of its own.
fn caption(node: &Value, conversation: &str) -> String {
    let name = if node["conversationId"] == conversation { &node["localId"] } else { &node["id"] };
    let mut caption = format!("{}  {}  {}", speaker(node), text(name), text(&node["createdAt"]));
    let is_stale = node["cacheStatus"] == "stale";
    for (is_so, word) in [
        (node["editedFrom"].is_string(), "edited"),
        (is_stale, "stale"),
        (node["excluded"] == true, "excluded"),
        (node["pruned"] == true, "pruned"),
        (node["bookmarked"] == true, "bookmarked"),
    ] {
        if is_so {
            let _ = write!(caption, "  {word}");
        }
    }
    if let Some(label) = node["label"].as_str() {
        let _ = write!(caption, ": {label}");
    }
    caption
}

fn speaker(node: &Value) -> String {
    node["speaker"].as_str().or(node["authorType"].as_str()).unwrap_or("somebody").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(local: &str, words: &str) -> Value {
        json!({ "id": format!("item_{local}"), "localId": local, "conversationId": "entity_1", "speaker": "user", "createdAt": "2026-01-31T12:00:00.000Z", "status": "complete",
            "content": { "type": "text", "text": words } })
    }

    #[test]
    fn a_dialogue_says_who_said_what_and_when() {
        let mut second = node("01HQ3K4", "Two\nlines\n");
        second["editedFrom"] = "item_x".into();
        second["bookmarked"] = true.into();
        second["label"] = "good".into();
        let expected = "user  01HQ3K  2026-01-31T12:00:00.000Z\nOne\n\n\
                        user  01HQ3K4  2026-01-31T12:00:00.000Z  edited  bookmarked: good\nTwo\nlines\n";
        assert_eq!(dialogue(&[node("01HQ3K", "One"), second], "entity_1", Paint::Plain), expected);
    }

    #[test]
    fn what_a_fork_grew_from_is_called_by_its_whole_name() {
        let told = dialogue(&[node("01HQ3K", "One")], "entity_2", Paint::Plain);
        assert!(told.starts_with("user  item_01HQ3K  "), "{told}");
    }

    #[test]
    fn what_was_said_cannot_steer_the_terminal() {
        let told = dialogue(&[node("01HQ3K", "\u{1b}[2Jgone")], "entity_1", Paint::Plain);
        assert!(!told.contains('\u{1b}') && told.contains(r"\u{1b}[2Jgone"), "{told}");
    }

    #[test]
    fn what_cannot_be_read_is_said_so() {
        let mut destroyed = node("01HQ3K", "x");
        destroyed["content"] = Value::Null;
        destroyed["isRedacted"] = true.into();
        assert!(dialogue(&[destroyed], "entity_1", Paint::Plain).ends_with("(destroyed)\n"));
    }
}
