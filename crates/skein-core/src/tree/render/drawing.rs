//! A tree drawn in lines for a terminal.
//!
//! The selected way down stays in its column, and what leaves it is drawn beside it, so that a long conversation does
//! not wander to the right.

use std::fmt::Write as _;

use crate::tree::actor::AuthorType;
use crate::tree::content::first_words;
use crate::tree::render::{NodeView, TreeView, plain_line};

/// Deepest nesting of side branches that is drawn; deeper ones stay in that column.
const DRAWN_LEVELS_MAX: usize = 24;
/// Shortest brief, in characters, however narrow the terminal is.
const BRIEF_CHARS_MIN: usize = 20;

/// One line for each node. `width` is that of the terminal, in characters.
pub fn draw(view: &TreeView, width: usize) -> Vec<String> {
    let children = view.children();
    let mut lines = Vec::new();
    // The last one is drawn next.
    let mut waiting: Vec<DrawingPosition> = Vec::new();
    push_siblings(view, &mut waiting, &children.roots, 0);
    while let Some(place) = waiting.pop() {
        lines.push(line(&view.nodes[place.node], &place, width));
        push_siblings(view, &mut waiting, &children.of[place.node], place.level);
    }
    lines
}

struct DrawingPosition {
    node: usize,
    level: usize,
    /// Whether it leaves the column it belongs to.
    is_side: bool,
}

fn push_siblings(view: &TreeView, waiting: &mut Vec<DrawingPosition>, siblings: &[usize], level: usize) {
    let main = view.main_child(siblings);
    waiting.extend(main.map(|node| DrawingPosition { node, level, is_side: false }));
    let sides = siblings.iter().rev().filter(|&&node| Some(node) != main);
    waiting.extend(sides.map(|&node| DrawingPosition { node, level: level + 1, is_side: true }));
}

fn line(node: &NodeView, place: &DrawingPosition, width: usize) -> String {
    let level = place.level.min(DRAWN_LEVELS_MAX);
    let mut line = if place.is_side && level > 0 { "│ ".repeat(level - 1) + "├─" } else { "│ ".repeat(level) };
    line.push_str(if node.selected { "● " } else { "○ " });
    line.push_str(&plain_line(&node.local_id));
    line.push_str(match node.author_type {
        AuthorType::Human => " H",
        AuthorType::Model => " M",
        AuthorType::System => " S",
        AuthorType::Imported => " I",
    });
    if node.alternatives > 1 {
        let _ = write!(line, " [{} of {}]", node.ordinal, node.alternatives);
    }
    for mark in node.marks() {
        let _ = write!(line, " ({mark})");
    }
    let room = width.saturating_sub(line.chars().count() + 1).max(BRIEF_CHARS_MIN);
    if let Some(brief) = first_words(&plain_brief(node.shown_text()), room - 1) {
        line.push(' ');
        line.push_str(&brief);
    }
    line
}

/// White space still parts words; everything else that is not shown is taken out.
fn plain_brief(text: &str) -> String {
    let beginning: String = text.chars().take(4_000).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    plain_line(&beginning)
}
