//! The parts of a window in the order they would stand in it, grouped by what is kept or left out together.

use std::borrow::Cow;

use crate::fence::{TOOL_OUTPUT, fence};
use crate::id::ItemId;
use crate::tree::content::{Block, Image};
use crate::tree::context::image::{self, IMAGES_MAX, ImageReport, SentAs, TextReason, image_tokens};
use crate::tree::context::report::DropReason;
use crate::tree::context::{
    ContextNode, ContextOptions, ContextSource, MARKER, Message, MessagePiece, PINNED, PathNode, Role, SourceRole,
    TokenCounter,
};
use crate::tree::conversation::Mode;
use crate::tree::turn::Speaker;

/// One part, shown unless something speaks against it.
#[derive(Debug, Clone)]
pub(super) struct ContextPart<'a> {
    pub(super) kind: &'a str,
    pub(super) node: Option<ItemId>,
    pub(super) role: Role,
    pieces: Vec<PartPiece<'a>>,
    pub(super) tokens: usize,
    pub(super) dropped: Option<DropReason>,
    pub(super) reason: Option<&'a str>,
}

/// A text, or an image and why it is sent as text if it is.
#[derive(Debug, Clone)]
enum PartPiece<'a> {
    Text(Cow<'a, str>),
    Image(&'a Image, Option<TextReason>),
}

impl PartPiece<'_> {
    fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Image(image, Some(_)) => Some(Cow::Owned(image.described())),
            Self::Image(_, None) => None,
        }
    }
}

impl ContextPart<'_> {
    /// What is text of it, a blank line between pieces.
    fn text(&self) -> String {
        self.pieces.iter().filter_map(PartPiece::text).collect::<Vec<_>>().join("\n\n")
    }

    fn count(&mut self, counter: &dyn TokenCounter) {
        let images = self.images().map(|image| if image.sent_as == SentAs::Image { image.tokens } else { 0 });
        self.tokens = images.sum::<usize>() + counter.count(&self.text());
    }

    /// Its images, with the tokens they take as images.
    pub(super) fn images(&self) -> impl Iterator<Item = ImageReport> {
        self.pieces.iter().filter_map(|piece| match piece {
            PartPiece::Text(_) => None,
            PartPiece::Image(image, because) => Some(ImageReport {
                item: image.blob,
                sent_as: if because.is_none() { SentAs::Image } else { SentAs::Text },
                because: *because,
                tokens: image_tokens(image.width, image.height),
            }),
        })
    }

    fn add_to(&self, message: &mut Message) {
        for piece in &self.pieces {
            match piece {
                PartPiece::Image(image, None) => message.pieces.push(MessagePiece::Image((*image).clone())),
                _ => message.add_text(&piece.text().unwrap_or_default()),
            }
        }
    }
}

/// A node of the path with what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Unit<'a> {
    pub(super) parts: Vec<ContextPart<'a>>,
    /// Kept before others.
    pub(super) is_pinned: bool,
}

impl Unit<'_> {
    /// Tokens of what would be shown of it.
    pub(super) fn tokens(&self) -> usize {
        self.parts.iter().filter(|part| part.dropped.is_none()).map(|part| part.tokens).sum()
    }

    pub(super) fn is_shown(&self) -> bool {
        self.parts.iter().any(|part| part.dropped.is_none())
    }

    pub(super) fn drop_for(&mut self, reason: DropReason) {
        self.parts.iter_mut().for_each(|part| part.dropped = part.dropped.or(Some(reason)));
    }
}

/// Everything that may be shown.
#[derive(Debug, Clone)]
pub(super) struct Units<'a> {
    mode: Mode,
    /// Never cut.
    pub(super) system: Unit<'a>,
    /// Each for itself, most important first.
    pub(super) extras: Vec<ContextPart<'a>>,
    pub(super) path: Vec<Unit<'a>>,
}

impl<'a> Units<'a> {
    pub(super) fn list(source: &ContextSource<'a>, options: ContextOptions, counter: &dyn TokenCounter) -> Self {
        let lister = PartBuilder { source };
        let mut units =
            Self { mode: source.mode, system: lister.system(), extras: lister.extras(), path: lister.path() };
        if source.mode == Mode::Buffer && !options.buffer_system_context {
            units.system.drop_for(DropReason::BufferMode);
            units.extras.iter_mut().for_each(|part| part.dropped = Some(DropReason::BufferMode));
        }
        units.choose_images(options);
        units.parts_mut().for_each(|part| part.count(counter));
        units
    }

    /// The latest images go as images, as far as the model and the limits allow; the others as text.
    fn choose_images(&mut self, options: ContextOptions) {
        let mut room = IMAGES_MAX;
        let mode = self.mode;
        let parts: Vec<&mut ContextPart<'a>> = self.parts_mut().collect();
        for part in parts.into_iter().rev().filter(|part| part.dropped.is_none()) {
            let role = part.role;
            for piece in part.pieces.iter_mut().rev() {
                let PartPiece::Image(image, because) = piece else { continue };
                let in_buffer = (mode == Mode::Buffer).then_some(TextReason::BufferMode);
                let refusal = image::refusal(image, role, options.accepts_images);
                *because = refusal.or(in_buffer).or((room == 0).then_some(TextReason::TooMany));
                room -= usize::from(because.is_none());
            }
        }
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut ContextPart<'a>> {
        let path = self.path.iter_mut().flat_map(|unit| &mut unit.parts);
        self.system.parts.iter_mut().chain(&mut self.extras).chain(path)
    }

    /// The place of the last unit that can be shown.
    pub(super) fn latest(&self) -> Option<usize> {
        self.path.iter().rposition(Unit::is_shown)
    }

    /// Puts the marker in front of a unit.
    pub(super) fn mark(&mut self, before: usize, tokens: usize) {
        let (kind, pieces) = ("marker", vec![PartPiece::Text(Cow::Borrowed(MARKER))]);
        let part = ContextPart { kind, node: None, role: Role::User, pieces, tokens, dropped: None, reason: None };
        self.path.insert(before, Unit { parts: vec![part], is_pinned: false });
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &ContextPart<'a>> {
        let path = self.path.iter().flat_map(|unit| &unit.parts);
        self.system.parts.iter().chain(&self.extras).chain(path)
    }

    fn shown(&self) -> impl Iterator<Item = &ContextPart<'a>> {
        self.parts().filter(|part| part.dropped.is_none())
    }

    pub(super) fn system_text(&self) -> Option<String> {
        let texts: Vec<String> = self.shown().filter(|part| part.role == Role::System).map(ContextPart::text).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Consecutive parts of one role are one message, a blank line between them.
    pub(super) fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for part in self.shown() {
            if messages.last().is_none_or(|last| last.role != part.role) {
                messages.push(Message { role: part.role, pieces: Vec::new() });
            }
            messages.last_mut().into_iter().for_each(|last| part.add_to(last));
        }
        messages
    }

    /// What was written, as one text: nodes follow each other without anything between.
    pub(super) fn text(&self) -> String {
        debug_assert_eq!(self.mode, Mode::Buffer);
        let mut text = String::new();
        for part in self.shown().filter(|part| part.role != Role::System) {
            // Only nodes and the working buffer are the text itself; what else is shown stands on lines of its own.
            let is_text = ["node", "workingBuffer"].contains(&part.kind);
            let line = if is_text || text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text.push_str(line);
            text.push_str(&part.text());
            text.push_str(if is_text { "" } else { "\n" });
        }
        text
    }
}

/// Makes parts of what a source holds.
struct PartBuilder<'s, 'a> {
    source: &'s ContextSource<'a>,
}

impl<'a> PartBuilder<'_, 'a> {
    fn part(kind: &'a str, role: Role, text: Cow<'a, str>) -> ContextPart<'a> {
        Self::part_of(kind, role, vec![PartPiece::Text(text)])
    }

    /// Tokens are counted once it is known which images go as images.
    fn part_of(kind: &'a str, role: Role, pieces: Vec<PartPiece<'a>>) -> ContextPart<'a> {
        let is_blank = |piece: &PartPiece<'_>| matches!(piece, PartPiece::Text(text) if text.trim().is_empty());
        let dropped = pieces.iter().all(is_blank).then_some(DropReason::Empty);
        ContextPart { kind, node: None, role, pieces, tokens: 0, dropped, reason: None }
    }

    /// Agent prompt, then the tree's own context, then what instructs (rule AG-TREE-005).
    fn system(&self) -> Unit<'a> {
        let prompts = [("agentPrompt", self.source.agent_prompt), ("systemContext", self.source.system_context)];
        let prompts = prompts.into_iter().filter_map(|(kind, text)| Some((kind, text?)));
        let prompts = prompts.map(|(kind, text)| Self::part(kind, Role::System, Cow::Borrowed(text)));
        let visible = self.source.path.iter().filter(|node| reason_to_drop(node).is_none());
        let sources = visible.flat_map(|node| &node.sources).chain(self.source.next_sources);
        let instructions = sources.filter(|(role, _)| *role == SourceRole::Instruction);
        let instructions = instructions.map(|(_, said)| Self::said("instruction", Role::System, said));
        let mut parts: Vec<ContextPart<'a>> = prompts.chain(instructions).collect();
        // Tool output among the instructions is data: it follows in the user role.
        parts.sort_by_key(|part| part.role != Role::System);
        Unit { parts, is_pinned: false }
    }

    /// Remembered text is data of the user role: the system message holds only what its author wrote for it.
    fn extras(&self) -> Vec<ContextPart<'a>> {
        let part = |extra: &super::ContextExtra<'a>| {
            let part = Self::part(extra.kind, Role::User, Cow::Borrowed(extra.text));
            ContextPart { reason: Some(extra.reason), ..part }
        };
        self.source.extras.iter().map(part).collect()
    }

    fn path(&self) -> Vec<Unit<'a>> {
        let path = self.source.path;
        // What feeds a node stands before its primary source, which is the node above it.
        let feeding = |index: usize| path.get(index + 1).map_or(self.source.next_sources, |node| &node.sources[..]);
        let mut units: Vec<Unit<'a>> =
            path.iter().enumerate().map(|(index, node)| self.unit(node, feeding(index))).collect();
        if let Some(text) = self.source.working_buffer.filter(|_| self.source.mode == Mode::Buffer) {
            let parts = vec![Self::part("workingBuffer", Role::User, Cow::Borrowed(text))];
            units.push(Unit { parts, is_pinned: false });
        }
        units
    }

    fn unit(&self, node: &PathNode<'a>, feeding: &[(SourceRole, ContextNode<'a>)]) -> Unit<'a> {
        let context = feeding.iter().filter(|(role, _)| *role == SourceRole::Context);
        let mut parts: Vec<ContextPart<'a>> = context.map(|(_, said)| self.context(said)).collect();
        let mut own = Self::said("node", node.said.speaker.into(), &node.said);
        own.dropped = reason_to_drop(node).or(own.dropped);
        own.reason = node.said.pinned.then_some(PINNED);
        let is_shown = own.dropped.is_none_or(|reason| reason == DropReason::Empty);
        parts.push(own);
        for folded in self.source.folded.iter().filter(|folded| folded.origin == node.said.id) {
            let text = format!("[Branch {:?} was folded: {}]", folded.title, folded.summary.trim());
            let mut part = Self::part("folded", Role::User, Cow::Owned(text));
            part.node = Some(folded.origin);
            part.dropped = (!is_shown).then_some(DropReason::OriginNotShown);
            parts.push(part);
        }
        Unit { parts, is_pinned: node.said.pinned }
    }

    fn context(&self, said: &ContextNode<'a>) -> ContextPart<'a> {
        let mut part = Self::said("context", said.speaker.into(), said);
        let is_on_path = self.source.path.iter().any(|node| node.said.id == said.id);
        part.dropped = part.dropped.or(is_on_path.then_some(DropReason::OnPath));
        part
    }

    fn said(kind: &'a str, role: Role, said: &ContextNode<'a>) -> ContextPart<'a> {
        let is_summary = said.speaker == Speaker::System && kind != "instruction";
        let mut part = if said.is_tool_output {
            Self::part(kind, Role::User, Cow::Owned(fence(TOOL_OUTPUT, &said.text())))
        } else if is_summary {
            Self::part(kind, role, Cow::Owned(format!("[Summary: {}]", said.text().trim())))
        } else {
            Self::part_of(kind, role, said.blocks.iter().filter_map(piece).collect())
        };
        part.node = Some(said.id);
        part.dropped = flagged(said).or(part.dropped);
        part
    }
}

/// A block as a window shows it; a text that is empty beside others says nothing.
fn piece(block: &Block) -> Option<PartPiece<'_>> {
    match block {
        Block::Text(text) if text.is_empty() => None,
        Block::Image(image) => Some(PartPiece::Image(image, Some(TextReason::ModelWithoutImages))),
        Block::Text(_) | Block::Audio(_) => Some(PartPiece::Text(block.described())),
    }
}

/// Excluded and pruned nodes leave the window and its total (rule AG-NODE-005).
fn flagged(said: &ContextNode<'_>) -> Option<DropReason> {
    let pruned = said.pruned.then_some(DropReason::Pruned);
    pruned.or(said.excluded.then_some(DropReason::Excluded))
}

/// What hangs on an annotation edge leaves it too (rule AG-EDGE-004).
fn reason_to_drop(node: &PathNode<'_>) -> Option<DropReason> {
    flagged(&node.said).or(node.is_annotation.then_some(DropReason::Annotation))
}
