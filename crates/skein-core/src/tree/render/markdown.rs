//! Markdown of branches. What was said stands in it as it was written.

use std::fmt::Write as _;

use crate::tree::render::{Branch, NodeView, plain_line};

/// A title, then every branch with its nodes, each under a heading that says who, when and which alternative.
pub fn to_markdown(title: &str, branches: &[Branch<'_>]) -> String {
    super::whole(super::Format::Markdown, title, branches)
}

pub(super) fn opening(title: &str) -> String {
    format!("# {}\n", escape(title))
}

pub(super) fn branch_opening(from: Option<&str>) -> String {
    from.map(|from| format!("\n---\n\n## Branch after `{}`\n", plain_line(from))).unwrap_or_default()
}

pub(super) fn node(node: &NodeView) -> String {
    format!("\n### {}\n\n{}\n", heading(node), node.shown_text())
}

fn heading(node: &NodeView) -> String {
    let mut heading = format!("{} · {} · `{}`", escape(&node.author_name), node.created_at, plain_line(&node.local_id));
    if node.alternatives > 1 {
        let selected = if node.selected { ", selected" } else { "" };
        let _ = write!(heading, " · {} of {}{selected}", node.ordinal, node.alternatives);
    }
    for mark in node.marks() {
        let _ = write!(heading, " · {mark}");
    }
    heading
}

/// Names and titles are no markup.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in plain_line(text).chars() {
        if character.is_ascii_punctuation() && "\\`*_[]<>#&~|!".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
