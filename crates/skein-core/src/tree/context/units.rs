//! The parts of a window in the order they would stand in it, grouped by what is kept or left out together.

use std::borrow::Cow;

use crate::fence::{TOOL_OUTPUT, fence};
use crate::id::ItemId;
use crate::tree::context::report::DropReason;
use crate::tree::context::{
    ContextOptions, ContextSource, MARKER, Message, PINNED, PathNode, Role, Said, SourceRole, TokenCounter,
};
use crate::tree::conversation::Mode;
use crate::tree::turn::Speaker;

/// One part, shown unless something speaks against it.
#[derive(Debug, Clone)]
pub(super) struct Part<'a> {
    pub(super) kind: &'a str,
    pub(super) node: Option<ItemId>,
    pub(super) role: Role,
    pub(super) text: Cow<'a, str>,
    pub(super) tokens: usize,
    pub(super) dropped: Option<DropReason>,
    pub(super) reason: Option<&'a str>,
}

/// A node of the path with what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Unit<'a> {
    pub(super) parts: Vec<Part<'a>>,
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
    pub(super) extras: Vec<Part<'a>>,
    pub(super) path: Vec<Unit<'a>>,
}

impl<'a> Units<'a> {
    pub(super) fn list(source: &ContextSource<'a>, options: ContextOptions, counter: &dyn TokenCounter) -> Self {
        let lister = Lister { source, counter };
        let mut units =
            Self { mode: source.mode, system: lister.system(), extras: lister.extras(), path: lister.path() };
        if source.mode == Mode::Buffer && !options.buffer_system_context {
            units.system.drop_for(DropReason::BufferMode);
            units.extras.iter_mut().for_each(|part| part.dropped = Some(DropReason::BufferMode));
        }
        units
    }

    /// The place of the last unit that can be shown.
    pub(super) fn latest(&self) -> Option<usize> {
        self.path.iter().rposition(Unit::is_shown)
    }

    /// Puts the marker in front of a unit.
    pub(super) fn mark(&mut self, before: usize, tokens: usize) {
        let (kind, text) = ("marker", Cow::Borrowed(MARKER));
        let part = Part { kind, node: None, role: Role::User, text, tokens, dropped: None, reason: None };
        self.path.insert(before, Unit { parts: vec![part], is_pinned: false });
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Part<'a>> {
        let path = self.path.iter().flat_map(|unit| &unit.parts);
        self.system.parts.iter().chain(&self.extras).chain(path)
    }

    fn shown(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts().filter(|part| part.dropped.is_none())
    }

    pub(super) fn system_text(&self) -> Option<String> {
        let texts: Vec<&str> = self.shown().filter(|part| part.role == Role::System).map(|part| &*part.text).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Consecutive parts of one role are one message, a blank line between them.
    pub(super) fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for part in self.shown() {
            match messages.last_mut() {
                Some(last) if last.role == part.role => {
                    last.text.push_str("\n\n");
                    last.text.push_str(&part.text);
                }
                _ => messages.push(Message { role: part.role, text: part.text.clone().into_owned() }),
            }
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
            text.push_str(&part.text);
            text.push_str(if is_text { "" } else { "\n" });
        }
        text
    }
}

/// Makes parts of what a source holds.
struct Lister<'s, 'a> {
    source: &'s ContextSource<'a>,
    counter: &'s dyn TokenCounter,
}

impl<'a> Lister<'_, 'a> {
    fn part(&self, kind: &'a str, role: Role, text: Cow<'a, str>) -> Part<'a> {
        let tokens = self.counter.count(&text);
        let dropped = text.trim().is_empty().then_some(DropReason::Empty);
        Part { kind, node: None, role, text, tokens, dropped, reason: None }
    }

    /// Agent prompt, then the tree's own context, then what instructs (rule AG-TREE-005).
    fn system(&self) -> Unit<'a> {
        let prompts = [("agentPrompt", self.source.agent_prompt), ("systemContext", self.source.system_context)];
        let prompts = prompts.into_iter().filter_map(|(kind, text)| Some((kind, text?)));
        let prompts = prompts.map(|(kind, text)| self.part(kind, Role::System, Cow::Borrowed(text)));
        let visible = self.source.path.iter().filter(|node| reason_to_drop(node).is_none());
        let sources = visible.flat_map(|node| &node.sources).chain(self.source.next_sources);
        let instructions = sources.filter(|(role, _)| *role == SourceRole::Instruction);
        let instructions = instructions.map(|(_, said)| self.said("instruction", Role::System, said));
        let mut parts: Vec<Part<'a>> = prompts.chain(instructions).collect();
        // Tool output among the instructions is data: it follows in the user role.
        parts.sort_by_key(|part| part.role != Role::System);
        Unit { parts, is_pinned: false }
    }

    /// Remembered text is data of the user role: the system message holds only what its author wrote for it.
    fn extras(&self) -> Vec<Part<'a>> {
        let part = |extra: &super::Extra<'a>| {
            let part = self.part(extra.kind, Role::User, Cow::Borrowed(extra.text));
            Part { reason: Some(extra.reason), ..part }
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
            let parts = vec![self.part("workingBuffer", Role::User, Cow::Borrowed(text))];
            units.push(Unit { parts, is_pinned: false });
        }
        units
    }

    fn unit(&self, node: &PathNode<'a>, feeding: &[(SourceRole, Said<'a>)]) -> Unit<'a> {
        let context = feeding.iter().filter(|(role, _)| *role == SourceRole::Context);
        let mut parts: Vec<Part<'a>> = context.map(|(_, said)| self.context(said)).collect();
        let mut own = self.said("node", node.said.speaker.into(), &node.said);
        own.dropped = reason_to_drop(node).or(own.dropped);
        own.reason = node.said.pinned.then_some(PINNED);
        let is_shown = own.dropped.is_none_or(|reason| reason == DropReason::Empty);
        parts.push(own);
        for folded in self.source.folded.iter().filter(|folded| folded.origin == node.said.id) {
            let text = format!("[Branch {:?} was folded: {}]", folded.title, folded.summary.trim());
            let mut part = self.part("folded", Role::User, Cow::Owned(text));
            part.node = Some(folded.origin);
            part.dropped = (!is_shown).then_some(DropReason::OriginNotShown);
            parts.push(part);
        }
        Unit { parts, is_pinned: node.said.pinned }
    }

    fn context(&self, said: &Said<'a>) -> Part<'a> {
        let mut part = self.said("context", said.speaker.into(), said);
        let is_on_path = self.source.path.iter().any(|node| node.said.id == said.id);
        part.dropped = part.dropped.or(is_on_path.then_some(DropReason::OnPath));
        part
    }

    fn said(&self, kind: &'a str, role: Role, said: &Said<'a>) -> Part<'a> {
        let (role, text) = match said.speaker {
            _ if said.is_tool_output => (Role::User, Cow::Owned(fence(TOOL_OUTPUT, said.text))),
            Speaker::User | Speaker::Agent => (role, Cow::Borrowed(said.text)),
            Speaker::System if kind == "instruction" => (role, Cow::Borrowed(said.text)),
            Speaker::System => (role, Cow::Owned(format!("[Summary: {}]", said.text.trim()))),
        };
        let mut part = self.part(kind, role, text);
        part.node = Some(said.id);
        part.dropped = flagged(said).or(part.dropped);
        part
    }
}

/// Excluded and pruned nodes leave the window and its total (rule AG-NODE-005).
fn flagged(said: &Said<'_>) -> Option<DropReason> {
    let pruned = said.pruned.then_some(DropReason::Pruned);
    pruned.or(said.excluded.then_some(DropReason::Excluded))
}

/// What hangs on an annotation edge leaves it too (rule AG-EDGE-004).
fn reason_to_drop(node: &PathNode<'_>) -> Option<DropReason> {
    flagged(&node.said).or(node.is_annotation.then_some(DropReason::Annotation))
}
