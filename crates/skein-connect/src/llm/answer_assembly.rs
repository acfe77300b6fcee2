//! An answer while it comes in: pieces of any dialect go in, events and at last the answer come out.

use super::chat::{ChatAnswer, ChatEvent, Finish, RawResponse, ToolCall, Usage, estimated_tokens};
use super::dialect::{CallPiece, Piece, UsagePiece};
use crate::credential::{ScrubStream, Scrubber};

#[derive(Debug)]
pub(super) struct AnswerAssembly {
    scrubber: Scrubber,
    text: CleanText,
    reasoning: CleanText,
    calls: Vec<OpenCall>,
    usage: UsagePiece,
    finish: Option<Finish>,
    model: Option<String>,
    id: Option<String>,
    is_done: bool,
    holds_anything: bool,
}

#[derive(Debug)]
struct OpenCall {
    /// The provider's number of it.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: CleanText,
}

impl OpenCall {
    fn into_call(self) -> ToolCall {
        ToolCall { id: self.id, name: self.name, arguments: self.arguments.text }
    }
}

/// A text without secrets, even those that came cut into pieces.
#[derive(Debug)]
struct CleanText {
    text: String,
    scrub: ScrubStream,
}

impl CleanText {
    fn new(scrubber: &Scrubber) -> Self {
        Self { text: String::new(), scrub: scrubber.stream() }
    }

    /// Adds a piece and gives what of it can be told already.
    fn push(&mut self, piece: &str) -> Option<String> {
        let clean = self.scrub.push(piece.as_bytes());
        self.add(&clean)
    }

    fn finish(&mut self) -> Option<String> {
        let rest = self.scrub.finish();
        self.add(&rest)
    }

    fn add(&mut self, clean: &[u8]) -> Option<String> {
        let clean = String::from_utf8_lossy(clean);
        self.text.push_str(&clean);
        (!clean.is_empty()).then(|| clean.into_owned())
    }
}

impl AnswerAssembly {
    pub(super) fn new(scrubber: &Scrubber) -> Self {
        Self {
            scrubber: scrubber.clone(),
            text: CleanText::new(scrubber),
            reasoning: CleanText::new(scrubber),
            calls: Vec::new(),
            usage: UsagePiece::default(),
            finish: None,
            model: None,
            id: None,
            is_done: false,
            holds_anything: false,
        }
    }

    /// Gives what waited for the rest of what could have been a secret.
    pub(super) fn finish(&mut self) -> Vec<ChatEvent> {
        let mut events: Vec<ChatEvent> = self.reasoning.finish().map(ChatEvent::Reasoning).into_iter().collect();
        events.extend(self.text.finish().map(ChatEvent::Text));
        for (call, open) in self.calls.iter_mut().enumerate() {
            events.extend(open.arguments.finish().map(|json| ChatEvent::Arguments { call, json }));
        }
        events
    }

    /// Whether a secret was taken out of what the model wrote.
    pub(super) fn is_scrubbed(&self) -> bool {
        let has_found = |clean: &CleanText| clean.scrub.has_found();
        has_found(&self.text) || has_found(&self.reasoning) || self.calls.iter().any(|open| has_found(&open.arguments))
    }

    /// Takes one piece and gives the events it amounts to. Errors are the reader's business.
    pub(super) fn take(&mut self, piece: Piece) -> Vec<ChatEvent> {
        self.holds_anything |= !matches!(piece, Piece::Done | Piece::Error(_) | Piece::Id(_));
        match piece {
            Piece::Text(text) => self.text.push(&text).map(ChatEvent::Text).into_iter().collect(),
            Piece::Reasoning(text) => self.reasoning.push(&text).map(ChatEvent::Reasoning).into_iter().collect(),
            Piece::Call(piece) => self.take_call(piece),
            Piece::Usage(usage) => {
                self.take_usage(usage);
                Vec::new()
            }
            Piece::Model(model) => {
                self.model.get_or_insert(model);
                Vec::new()
            }
            Piece::Id(id) => {
                self.id.get_or_insert(id);
                Vec::new()
            }
            Piece::Finish(finish) => {
                self.take_finish(finish);
                Vec::new()
            }
            Piece::Done => {
                self.is_done = true;
                Vec::new()
            }
            Piece::Error(_) => Vec::new(),
        }
    }

    /// Whether the provider has said that or why it ended.
    pub(super) fn has_ended(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    /// Whether anything was understood at all.
    pub(super) fn holds_anything(&self) -> bool {
        self.holds_anything
    }

    /// Whether anything was given out that somebody may have shown already.
    pub(super) fn has_begun(&self) -> bool {
        !self.text.text.is_empty() || !self.reasoning.text.is_empty() || !self.calls.is_empty()
    }

    pub(super) fn into_answer(
        self,
        asked_model: &str,
        asked_tokens: u64,
        raw: RawResponse,
        is_whole: bool,
    ) -> ChatAnswer {
        let usage = self.usage_or_estimate(asked_tokens);
        let finish = match self.finish {
            _ if !is_whole => Finish::Unfinished,
            // Some servers say `stop` and mean their calls.
            None | Some(Finish::Stop) if !self.calls.is_empty() => Finish::ToolCalls,
            None => Finish::Stop,
            Some(finish) => finish,
        };
        ChatAnswer {
            text: self.text.text,
            reasoning: self.reasoning.text,
            tool_calls: self.calls.into_iter().map(OpenCall::into_call).collect(),
            usage,
            finish,
            model: self.model.unwrap_or_else(|| asked_model.to_owned()),
            id: self.id,
            raw,
        }
    }

    fn take_call(&mut self, piece: CallPiece) -> Vec<ChatEvent> {
        let number = self.find_call(&piece);
        let mut events = Vec::new();
        let number = number.unwrap_or_else(|| {
            let number = self.calls.len();
            let id = if piece.id.is_empty() { format!("call_{number}") } else { piece.id };
            let name = self.scrubber.text(&piece.name).into_owned();
            let id = self.scrubber.text(&id).into_owned();
            events.push(ChatEvent::ToolCall { call: number, id: id.clone(), name: name.clone() });
            self.calls.push(OpenCall { index: piece.index, id, name, arguments: CleanText::new(&self.scrubber) });
            number
        });
        let told = self.calls[number].arguments.push(&piece.arguments);
        events.extend(told.map(|json| ChatEvent::Arguments { call: number, json }));
        events
    }

    /// The call a piece continues. A name with another id begins a new call even under a number that was used:
    /// some servers number all their calls 0, others none.
    fn find_call(&self, piece: &CallPiece) -> Option<usize> {
        let number = match piece.index {
            Some(_) => self.calls.iter().rposition(|open| open.index == piece.index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let begins = !piece.name.is_empty() && piece.id != self.calls[number].id;
        (!begins).then_some(number)
    }

    fn take_usage(&mut self, usage: UsagePiece) {
        self.usage = UsagePiece {
            input: usage.input.or(self.usage.input),
            output: usage.output.or(self.usage.output),
            cached: usage.cached.or(self.usage.cached),
            reasoning: usage.reasoning.or(self.usage.reasoning),
        };
    }

    fn take_finish(&mut self, finish: Finish) {
        // A refusal is told before the `stop` that follows it.
        if self.finish != Some(Finish::ContentFilter) {
            self.finish = Some(finish);
        }
    }

    fn usage_or_estimate(&self, asked_tokens: u64) -> Usage {
        let thought = self.reasoning.text.chars().count();
        let written = self.text.text.chars().count() + thought;
        let called = self.calls.iter().map(|open| open.name.len() + open.arguments.text.chars().count()).sum::<usize>();
        let output_tokens = self.usage.output.unwrap_or_else(|| estimated_tokens(written + called));
        let counted = self.usage.reasoning.filter(|tokens| *tokens > 0);
        Usage {
            input_tokens: self.usage.input.unwrap_or(asked_tokens),
            output_tokens,
            cached_input_tokens: self.usage.cached.unwrap_or(0),
            // Few providers count it apart, and a reader of the answer wants to know that there was any.
            reasoning_tokens: counted.unwrap_or_else(|| estimated_tokens(thought).min(output_tokens)),
            reasoning_is_estimate: counted.is_none() && thought > 0,
            is_estimate: self.usage.input.is_none() || self.usage.output.is_none(),
        }
    }
}
