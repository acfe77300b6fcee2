//! Builds the context window of a model: a path of nodes becomes chat messages, or one prompt for a buffer.
//!
//! [`assemble`] lists every part there is, [`budget_fit`] decides which of them the budget holds, [`report`] says for each part
//! whether it was shown and why not. The system part is never cut, and there is always at least one message. Parts that
//! are remembered rather than said come in as [`ContextExtra`]s; where they come from is for their own rooms to know.

mod budget_fit;
pub mod image;
pub mod report;
#[cfg(test)]
mod tests;
mod units;

use crate::id::ItemId;
use crate::rule::RuleViolation;
use crate::tree::content::{Block, Image};
use crate::tree::context::report::ContextReport;
use crate::tree::context::units::Units;
use crate::tree::conversation::Mode;
use crate::tree::node::SourceRole;
use crate::tree::spelled_enum::words;
use crate::tree::turn::Speaker;

/// What is kept free of the budget for the answer, in tokens.
pub const RESERVE_TOKENS: usize = 1_024;
/// How many of the latest nodes are kept before anything else is.
pub const LATEST_KEPT: usize = 4;
/// What has this tag is kept before anything else that may be left out.
pub const PINNED: &str = "pinned";
/// What stands where nodes were left out.
pub const MARKER: &str = "[… earlier messages left out …]";

words! {
    /// What to do when a path does not fit.
    Strategy {
        /// Keep the beginning and the end, leave a marker between.
        TruncateMiddle = "truncateMiddle",
        /// Keep the end.
        RollingWindow = "rollingWindow",
        /// Refuse.
        StopAtLimit = "stopAtLimit",
    }
}

words! {
    Role {
        System = "system",
        User = "user",
        Assistant = "assistant",
    }
}

impl From<Speaker> for Role {
    /// The place a text stands at decides, not who wrote it: an edited answer is still the answer (decision Z4).
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::User | Speaker::System => Self::User,
            Speaker::Agent => Self::Assistant,
        }
    }
}

/// Counts what a model would count.
pub trait TokenCounter {
    fn count(&self, text: &str) -> usize;
    /// Whether this is a guess, because the model's own tokenizer is not known (decision Z27).
    fn is_estimate(&self) -> bool;
}

/// Four characters a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct FourCharacters;

impl TokenCounter for FourCharacters {
    fn count(&self, text: &str) -> usize {
        text.chars().count().div_ceil(4)
    }

    fn is_estimate(&self) -> bool {
        true
    }
}

/// A node as far as a window is concerned.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own that a node has or has not")]
pub struct ContextNode<'a> {
    pub id: ItemId,
    pub speaker: Speaker,
    pub blocks: &'a [Block],
    /// Whether a tool gave it: then it is shown fenced, in the user role.
    pub is_tool_output: bool,
    pub excluded: bool,
    pub pruned: bool,
    /// Whether it was asked to stay, see [`PINNED`].
    pub pinned: bool,
}

impl ContextNode<'_> {
    /// What it says in words, a blank line between blocks.
    fn text(&self) -> String {
        self.blocks.iter().map(Block::described).collect::<Vec<_>>().join("\n\n")
    }
}

/// A node of the path, with what fed it beside its parent.
#[derive(Debug, Clone)]
pub struct PathNode<'a> {
    pub said: ContextNode<'a>,
    pub is_annotation: bool,
    pub sources: Vec<(SourceRole, ContextNode<'a>)>,
}

/// A branch that was folded: what came of it stands where it left the path.
#[derive(Debug, Clone, Copy)]
pub struct FoldedBranch<'a> {
    pub origin: ItemId,
    pub title: &'a str,
    pub summary: &'a str,
}

/// Remembered text, most important first. It stands in the user role, between the system part and the path.
#[derive(Debug, Clone, Copy)]
pub struct ContextExtra<'a> {
    /// What it is, in the report.
    pub kind: &'a str,
    /// Why it is here, in the report.
    pub reason: &'a str,
    /// Fenced as data ([`crate::fence`]).
    pub text: &'a str,
}

/// All that may be shown.
#[derive(Debug, Clone)]
pub struct ContextSource<'a> {
    pub mode: Mode,
    pub agent_prompt: Option<&'a str>,
    pub system_context: Option<&'a str>,
    /// From the root to the node that is answered.
    pub path: &'a [PathNode<'a>],
    /// What feeds the answer beside the last node of the path.
    pub next_sources: &'a [(SourceRole, ContextNode<'a>)],
    pub folded: &'a [FoldedBranch<'a>],
    pub extras: &'a [ContextExtra<'a>],
    /// In buffer mode: text at the end that no node holds yet.
    pub working_buffer: Option<&'a str>,
}

/// How it is to be shown.
#[derive(Debug, Clone, Copy)]
pub struct ContextOptions {
    /// Tokens of the whole window, the reserve included.
    pub budget: usize,
    pub strategy: Strategy,
    /// In buffer mode: whether there is a system part at all.
    pub buffer_system_context: bool,
    /// Whether the model that is asked accepts images.
    pub accepts_images: bool,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    /// In their order; two texts never stand side by side.
    pub pieces: Vec<MessagePiece>,
}

/// A text of a message, or an image that is sent as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePiece {
    Text(String),
    Image(Image),
}

impl Message {
    pub fn of_text(role: Role, text: impl Into<String>) -> Self {
        Self { role, pieces: vec![MessagePiece::Text(text.into())] }
    }

    /// Adds a text, joined to the one before it by a blank line.
    pub fn add_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(MessagePiece::Text(last)) => {
                last.push_str("\n\n");
                last.push_str(text);
            }
            _ => self.pieces.push(MessagePiece::Text(text.to_owned())),
        }
    }

    /// Its texts, images as notes in brackets.
    pub fn text(&self) -> String {
        let text = |piece: &MessagePiece| match piece {
            MessagePiece::Text(text) => text.clone(),
            MessagePiece::Image(image) => image.described(),
        };
        self.pieces.iter().map(text).collect::<Vec<_>>().join("\n\n")
    }

    /// The images that are sent with it.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.pieces.iter().filter_map(|piece| match piece {
            MessagePiece::Image(image) => Some(image),
            MessagePiece::Text(_) => None,
        })
    }

    /// The same message with those images as text that cannot be sent.
    #[must_use]
    pub fn without(self, is_unreadable: impl Fn(&Image) -> bool) -> Self {
        let mut message = Self { role: self.role, pieces: Vec::new() };
        for piece in self.pieces {
            match piece {
                MessagePiece::Text(text) => message.add_text(&text),
                MessagePiece::Image(image) if is_unreadable(&image) => message.add_text(&image.described()),
                MessagePiece::Image(image) => message.pieces.push(MessagePiece::Image(image)),
            }
        }
        message
    }
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// The system part first, if there is one; then user and assistant in turns.
    Chat(Vec<Message>),
    /// One text to be continued.
    Text { system: Option<String>, text: String },
}

/// What is sent, and what became of every part.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextWindow {
    pub prompt: Prompt,
    pub report: ContextReport,
}

/// Builds the window, or refuses when nothing can be shown or the strategy says to stop.
pub fn assemble(
    source: &ContextSource<'_>,
    options: ContextOptions,
    counter: &dyn TokenCounter,
) -> Result<ContextWindow, RuleViolation> {
    let mut units = Units::list(source, options, counter);
    if units.latest().is_none() {
        let remedy = "say something first, or include a node of the path again";
        return Err(RuleViolation::new("BR-MEMORY-002", "the path has nothing to show", remedy));
    }
    let fitted = budget_fit::fit(&mut units, options, counter)?;
    let prompt = match source.mode {
        Mode::Dialogue => Prompt::Chat(units.messages()),
        Mode::Buffer => Prompt::Text { system: units.system_text(), text: units.text() },
    };
    Ok(ContextWindow { prompt, report: ContextReport::of(&units, options, fitted, counter.is_estimate()) })
}
