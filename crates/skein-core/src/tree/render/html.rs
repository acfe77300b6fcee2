//! One HTML page of branches, with nothing in it that could act or be fetched.

use std::fmt::Write as _;

use crate::tree::actor::AuthorType;
use crate::tree::render::{Branch, NodeView, plain_line};

const HEAD: &str = "<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <style>body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}\
    article{margin:1rem 0;padding:.5rem 1rem;border-left:.25rem solid #999}\
    article.model{border-color:#36c}article.off{opacity:.7}\
    header{font-size:.85rem;color:#555}.text{white-space:pre-wrap;overflow-wrap:anywhere}</style>\n";

/// A title, then every branch with its nodes.
pub fn to_html(title: &str, branches: &[Branch<'_>]) -> String {
    super::whole(super::Format::Html, title, branches)
}

pub(super) fn opening(title: &str) -> String {
    let title = escape(&plain_line(title));
    format!("<!doctype html>\n<html>\n<head>\n{HEAD}<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n")
}

pub(super) fn branch_opening(from: Option<&str>) -> String {
    let mut out = "<section>\n".to_owned();
    if let Some(from) = from {
        let local_id = escape(&plain_line(from));
        let _ = writeln!(out, "<h2>Branch after <a href=\"#n-{local_id}\">{local_id}</a></h2>");
    }
    out
}

pub(super) const BRANCH_CLOSING: &str = "</section>\n";
pub(super) const CLOSING: &str = "</body>\n</html>\n";

pub(super) fn node(node: &NodeView) -> String {
    let mut out = String::new();
    let author = match node.author_type {
        AuthorType::Human => "human",
        AuthorType::Model | AuthorType::Imported => "model",
        AuthorType::System => "system",
    };
    let off = if node.selected { "" } else { " off" };
    let (local_id, name) = (escape(&plain_line(&node.local_id)), escape(&plain_line(&node.author_name)));
    let _ = write!(out, "<article id=\"n-{local_id}\" class=\"{author}{off}\">\n<header><b>{name}</b>");
    let _ = write!(out, " · <time>{}</time> · <code>{local_id}</code>", node.created_at);
    if node.alternatives > 1 {
        let selected = if node.selected { ", selected" } else { "" };
        let _ = write!(out, " · {} of {}{selected}", node.ordinal, node.alternatives);
    }
    for mark in node.marks() {
        let _ = write!(out, " · {mark}");
    }
    let _ = writeln!(out, "</header>\n<div class=\"text\">{}</div>\n</article>", escape(node.shown_text()));
    out
}

/// Nothing of the text is markup, inside elements and inside attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
