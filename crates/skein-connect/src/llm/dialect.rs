//! Builds requests and reads answer pieces in the wire format of each provider.
//!
//! Each dialect is two directions of pure translation. Start at [`build`] and [`read_event`].

mod anthropic;
mod chat_completions;
mod completions;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::chat::{ChatRequest, Dialect, Finish};
use super::fault::LlmFault;
use super::sse::Event;

/// A request in a provider's words.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltRequest {
    /// Goes behind the base address, which ends in `/v1` or the like.
    pub path: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: Value,
}

/// Points in which servers of one dialect differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wording {
    /// Newer models of OpenAI want `max_completion_tokens` where everybody else wants `max_tokens`.
    pub says_completion_tokens: bool,
    /// Whether to ask for the usage of a stream; some older servers refuse the question.
    pub asks_for_usage: bool,
}

impl Default for Wording {
    fn default() -> Self {
        Self { says_completion_tokens: false, asks_for_usage: true }
    }
}

impl Wording {
    /// Another wording to try after this fault; none when it is not about the wording.
    pub fn after(self, fault: &LlmFault) -> Option<Self> {
        let LlmFault::Refused { status: 400 | 422, said } = fault else { return None };
        if said.as_str().contains("max_completion_tokens") && !self.says_completion_tokens {
            return Some(Self { says_completion_tokens: true, ..self });
        }
        if said.as_str().contains("stream_options") && self.asks_for_usage {
            return Some(Self { asks_for_usage: false, ..self });
        }
        None
    }
}

/// Something found in an event or a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
    Call(CallPiece),
    Usage(UsagePiece),
    Model(String),
    /// What the provider calls this answer.
    Id(String),
    Finish(Finish),
    Error(Value),
    /// The provider says that nothing more comes.
    Done,
}

/// Part of a tool call: whatever of it this event tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CallPiece {
    /// The provider's own number of the call.
    pub(crate) index: Option<u64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Counts as far as they are told; a later piece replaces what it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UsagePiece {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) reasoning: Option<u64>,
}

/// The request in the words of the dialect; refused when it cannot be said in them.
pub fn build(dialect: Dialect, request: &ChatRequest, wording: Wording) -> Result<BuiltRequest, LlmFault> {
    let mut built = match dialect {
        Dialect::Chat => chat_completions::build(request, wording),
        Dialect::Completions => completions::build(request, wording)?,
        Dialect::Messages => anthropic::build(request)?,
    };
    if let Value::Object(body) = &mut built.body {
        for (name, value) in &request.custom {
            body.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(built)
}

/// What one event of a stream tells.
pub(crate) fn read_event(dialect: Dialect, event: &Event) -> Result<Vec<Piece>, LlmFault> {
    if event.data.trim() == "[DONE]" {
        return Ok(vec![Piece::Done]);
    }
    if event.data.trim().is_empty() {
        return Ok(Vec::new());
    }
    let value: Value = serde_json::from_str(&event.data)
        .map_err(|error| LlmFault::not_understood(format!("an event of the stream is no JSON ({error})")))?;
    Ok(match dialect {
        Dialect::Messages => anthropic::read_event(&value),
        _ if has_error(&value) || event.name == "error" => vec![Piece::Error(value)],
        Dialect::Chat => chat_completions::read(&value, "delta"),
        Dialect::Completions => completions::read(&value),
    })
}

/// What an answer that came at once tells.
pub(crate) fn read_body(dialect: Dialect, value: &Value) -> Vec<Piece> {
    match dialect {
        _ if has_error(value) => vec![Piece::Error(value.clone())],
        Dialect::Chat => chat_completions::read(value, "message"),
        Dialect::Completions => completions::read(value),
        Dialect::Messages => anthropic::read_message(value),
    }
}

fn has_error(value: &Value) -> bool {
    value.get("error").is_some_and(|error| !error.is_null())
}

/// A text under this name, unless it is empty.
fn text_at(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Adds what both dialects of OpenAI have in common.
fn add_sampling(body: &mut Map<String, Value>, request: &ChatRequest, wording: Wording) {
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if let Some(tokens) = request.max_tokens {
        let name = if wording.says_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.to_owned(), tokens.into());
    }
    if request.stream {
        body.insert("stream".to_owned(), true.into());
        if wording.asks_for_usage {
            body.insert("stream_options".to_owned(), serde_json::json!({"include_usage": true}));
        }
    }
}

/// Usage as both dialects of OpenAI tell it.
fn openai_usage(value: &Value) -> Option<Piece> {
    let usage = value.get("usage").filter(|usage| usage.is_object())?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        // Some servers count nothing and say so with noughts.
        return None;
    }
    let detail = |group: &str, name: &str| usage.get(group).and_then(|group| group.get(name)).and_then(Value::as_u64);
    Some(Piece::Usage(UsagePiece {
        input,
        output,
        cached: detail("prompt_tokens_details", "cached_tokens"),
        reasoning: detail("completion_tokens_details", "reasoning_tokens"),
    }))
}

/// Why an answer ended, as both dialects of OpenAI tell it.
fn openai_finish(choice: &Value) -> Option<Piece> {
    let reason = text_at(choice, "finish_reason")?;
    Some(Piece::Finish(match reason.as_str() {
        "stop" => Finish::Stop,
        "length" => Finish::Length,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        "content_filter" => Finish::ContentFilter,
        _ => Finish::Other(reason),
    }))
}
