//! Defines a chat request, its events and its answer, the same for every provider.
//!
//! The dialects translate these values to and from bytes; nobody else knows what a provider calls things.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value};
use skein_core::canonical::{Escape, object_to_string};
use skein_core::catalog::secret::{SecretPlace, SecretUse};
use skein_core::digest::Digest;

use super::fault::LlmFault;
use crate::http::is_shown;

/// How many characters stand for one token where nobody has counted.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// How a provider wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's chat completions, as most servers speak them.
    Chat,
    /// OpenAI's older completions: one prompt, no roles, no tools.
    Completions,
    /// Anthropic's messages.
    Messages,
}

impl Dialect {
    /// Where a key goes when nobody says otherwise.
    pub fn key_use(self) -> SecretUse {
        let (name, prefix) = match self {
            Self::Chat | Self::Completions => ("Authorization", Some("Bearer ".to_owned())),
            Self::Messages => ("x-api-key", None),
        };
        SecretUse { place: SecretPlace::Header, name: name.to_owned(), prefix }
    }
}

/// One question to a model, with all it needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    pub model: String,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolDefinition>,
    pub tool_choice: ToolChoice,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    pub stop: Vec<String>,
    pub response_format: ResponseFormat,
    /// Whether the answer comes in pieces. It is the same answer either way.
    pub stream: bool,
    /// Whether the last message is a text to be continued, which matters where a conversation is written out.
    pub continues: bool,
    /// Fields added to a provider's request as they are, unless the dialect writes them itself.
    pub custom: Map<String, Value>,
}

impl ChatRequest {
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            temperature: None,
            max_tokens: None,
            stop: Vec::new(),
            response_format: ResponseFormat::Text,
            stream: false,
            continues: false,
            custom: Map::new(),
        }
    }

    #[must_use]
    pub fn streamed(mut self) -> Self {
        self.stream = true;
        self
    }

    /// Tokens of everything that is sent, reckoned from its length.
    pub fn estimated_tokens(&self) -> u64 {
        let tools =
            self.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len());
        let characters = self.messages.iter().map(Message::characters).chain(tools).sum();
        let images: u64 = self.messages.iter().flat_map(Message::images).map(|image| image.tokens).sum();
        estimated_tokens(characters) + images
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(Vec<Part>),
    User(Vec<Part>),
    Assistant {
        parts: Vec<Part>,
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool gave back for the call with this id.
    Tool {
        call_id: String,
        content: String,
        is_error: bool,
    },
}

impl Message {
    pub fn system(text: impl Into<String>) -> Self {
        Self::System(vec![Part::Text(text.into())])
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant { parts: vec![Part::Text(text.into())], tool_calls: Vec::new() }
    }

    /// The parts of a message that a person or a model wrote; none of a tool's.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::System(parts) | Self::User(parts) | Self::Assistant { parts, .. } => parts,
            Self::Tool { .. } => &[],
        }
    }

    /// The images that are sent as such.
    pub fn images(&self) -> impl Iterator<Item = &ImagePart> {
        let parts = if matches!(self, Self::User(_)) { self.parts() } else { &[] };
        parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text(_) | Part::Attached(_) => None,
        })
    }

    /// Texts and images in their order, texts that stand side by side as one.
    pub(super) fn runs(&self) -> Vec<MessageRun<'_>> {
        let mut runs: Vec<MessageRun<'_>> = Vec::new();
        for part in self.parts() {
            match (part, runs.last_mut()) {
                (Part::Image(image), _) => runs.push(MessageRun::Image(image)),
                (_, Some(MessageRun::Text(last))) => {
                    last.push_str("\n\n");
                    last.push_str(&part.written_out());
                }
                _ => runs.push(MessageRun::Text(part.written_out())),
            }
        }
        runs
    }

    /// The message as one text, attached texts marked as such.
    pub fn text(&self) -> String {
        match self {
            Self::Tool { content, .. } => content.clone(),
            _ => self
                .parts()
                .iter()
                .map(Part::written_out)
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n\n"),
        }
    }

    fn characters(&self) -> usize {
        let calls = match self {
            Self::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        };
        self.text().chars().count()
            + calls.iter().map(|call| call.name.len() + call.arguments.chars().count()).sum::<usize>()
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Attached(Attachment),
    /// Providers take it in messages of the user only; anywhere else it is written out.
    Image(ImagePart),
}

/// An image as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagePart {
    /// `image/png`, `image/jpeg` or `image/webp`.
    pub media_type: String,
    pub data: Bytes,
    /// Estimated from its size.
    pub tokens: u64,
    /// Stands for it where an image cannot.
    pub description: String,
}

/// A text that was put beside a message: a document, a note, something recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub title: String,
    /// A link or an id by which the reader finds it again.
    pub source: Option<String>,
    pub text: String,
}

impl Part {
    /// As a text: an attached one with its title, an image by its description.
    pub fn written_out(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Attached(attachment) => attachment.written_out(),
            Self::Image(image) => image.description.clone(),
        }
    }
}

impl Attachment {
    /// As models read it best: between tags that name it.
    fn written_out(&self) -> String {
        let quoted = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace(['\n', '\r'], " ");
        let source = self.source.as_deref().map_or(String::new(), |source| format!(" source=\"{}\"", quoted(source)));
        format!("<document title=\"{}\"{source}>\n{}\n</document>", quoted(&self.title), self.text)
    }
}

/// A stretch of a message.
pub(super) enum MessageRun<'a> {
    Text(String),
    Image(&'a ImagePart),
}

/// What a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    pub name: String,
    pub description: String,
    /// A JSON schema of the arguments.
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    #[default]
    Auto,
    /// It may call none.
    Forbidden,
    /// It must call one.
    Required,
    /// It must call this one.
    Named(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum ResponseFormat {
    #[default]
    Text,
    /// Any JSON object.
    Json,
    /// JSON of this schema.
    Schema { name: String, schema: Value },
}

/// A call a model wants made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON as the model wrote it, which need not be valid.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments as a JSON object; an empty text is an empty object.
    pub fn parsed_arguments(&self) -> Result<Map<String, Value>, LlmFault> {
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(&self.arguments).map_err(|error| {
            LlmFault::not_understood(format!(
                "the arguments of the call of {:?} are no JSON object ({error})",
                self.name
            ))
        })
    }
}

/// One thing that happened while an answer came in.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// More of the text.
    Text(String),
    /// More of what the model thought aloud before it answered.
    Reasoning(String),
    /// The model begins to call a tool; `call` counts the calls of this answer from 0.
    ToolCall {
        call: usize,
        id: String,
        name: String,
    },
    /// More of the arguments of that call.
    Arguments {
        call: usize,
        json: String,
    },
    Usage(Usage),
    /// The last event.
    End(Box<ChatAnswer>),
}

/// What a model answered, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    pub text: String,
    pub reasoning: String,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    pub finish: Finish,
    /// The model as the provider names it.
    pub model: String,
    /// What the provider calls this answer.
    pub id: Option<String>,
    pub raw: RawResponse,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or came upon a stop sequence.
    Stop,
    /// The limit of tokens was reached.
    Length,
    ToolCalls,
    /// The provider or the model held the rest back.
    ContentFilter,
    /// A reason only this provider knows.
    Other(String),
    /// It did not: the answer was cut off.
    Unfinished,
}

/// What an answer cost in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of the input, what the provider had kept from earlier.
    pub cached_input_tokens: u64,
    /// Of the output, what went into thinking.
    pub reasoning_tokens: u64,
    /// The thinking alone is reckoned from its length, because the provider shows it and does not count it.
    pub reasoning_is_estimate: bool,
    /// Reckoned from lengths, because the provider did not say.
    pub is_estimate: bool,
}

/// Tokens reckoned from a number of characters.
pub fn estimated_tokens(characters: usize) -> u64 {
    characters.div_ceil(CHARACTERS_PER_TOKEN) as u64
}

/// The response as it was received, the bytes of secrets in use replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    pub status: u16,
    /// Names in lower case, in the order they came; a name may come twice.
    pub headers: Vec<(String, String)>,
    /// Without transfer framing; of a stream all bytes in order; of a broken one those that came.
    pub body: Bytes,
    /// Whether bytes of a secret were replaced in it.
    pub scrubbed: bool,
}

impl RawResponse {
    /// The value of the first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The headers a person may see; [`Self::headers`] is what the hash covers.
    pub fn shown_headers(&self) -> Vec<(String, String)> {
        self.headers.iter().filter(|(name, _)| is_shown(name)).cloned().collect()
    }

    /// Headers as canonical JSON; values of a name that came twice are joined as HTTP joins them.
    pub fn headers_json(&self) -> String {
        let mut object: Map<String, Value> = Map::new();
        for (name, value) in &self.headers {
            match object.get_mut(name) {
                Some(Value::String(earlier)) => {
                    earlier.push_str(", ");
                    earlier.push_str(value);
                }
                _ => drop(object.insert(name.clone(), Value::String(value.clone()))),
            }
        }
        object_to_string(&object, Escape::Unicode)
    }

    /// The bytes a node's hash covers: headers, an empty line, body.
    pub fn hashed_bytes(&self) -> Vec<u8> {
        [self.headers_json().as_bytes(), b"\n\n", &self.body].concat()
    }

    pub fn digest(&self) -> Digest {
        Digest::of(&self.hashed_bytes())
    }
}

/// An answer that did not come, or not whole.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct ChatFailure {
    pub fault: LlmFault,
    /// What had come by then, with the raw response; none when nothing did.
    pub so_far: Option<Box<ChatAnswer>>,
}

impl ChatFailure {
    pub fn without_answer(fault: LlmFault) -> Self {
        Self { fault, so_far: None }
    }

    pub fn is_retryable(&self) -> bool {
        self.fault.is_retryable()
    }

    pub fn retry_after(&self) -> Option<Duration> {
        self.fault.retry_after()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_hashed_and_not_shown() {
        let header = |name: &str| (name.to_owned(), "x".to_owned());
        let headers = vec![header("set-cookie"), header("date"), header("set-cookie2")];
        let raw = RawResponse { status: 200, headers, body: Bytes::new(), scrubbed: false };
        assert_eq!(raw.shown_headers(), [header("date")]);
        assert!(raw.headers_json().contains("set-cookie2"));
    }
}
