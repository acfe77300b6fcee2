//! OpenAI's older completions: one prompt goes in, its continuation comes out.
//!
//! A single message of a person is the prompt as it stands, which is how base models are used. So is a text to be
//! continued, behind the instructions for it. A conversation is written out as a transcript that ends where the model is to
//! go on.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{BuiltRequest, Piece, Wording, add_sampling, openai_finish, openai_usage, text_at};
use crate::llm::chat::{ChatRequest, Message, ResponseFormat};
use crate::llm::fault::LlmFault;

/// Where the next turn of the person would begin: the model must not write it for them.
const NEXT_TURN: &str = "\nUser:";

pub(super) fn build(request: &ChatRequest, wording: Wording) -> Result<BuiltRequest, LlmFault> {
    if !request.tools.is_empty() {
        return Err(unsupported("tools cannot be offered to a completions API"));
    }
    if request.response_format != ResponseFormat::Text {
        return Err(unsupported("a completions API cannot be held to a response format"));
    }
    let mut stop = request.stop.clone();
    let prompt = match request.messages.as_slice() {
        [only @ Message::User(_)] => only.text(),
        messages if request.continues => messages.iter().map(Message::text).collect::<Vec<_>>().join("\n\n"),
        messages => {
            if stop.is_empty() {
                stop.push(NEXT_TURN.to_owned());
            }
            transcript(messages)
        }
    };
    // This API never took the newer name of the limit.
    let wording = Wording { says_completion_tokens: false, ..wording };
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("prompt".to_owned(), prompt.into());
    add_sampling(&mut body, request, wording);
    if !stop.is_empty() {
        body.insert("stop".to_owned(), stop.into());
    }
    Ok(BuiltRequest { path: "/completions", headers: &[], body: Value::Object(body) })
}

fn unsupported(what: &str) -> LlmFault {
    LlmFault::Unsupported(what.to_owned())
}

fn transcript(messages: &[Message]) -> String {
    let mut prompt = String::new();
    for message in messages {
        let speaker = match message {
            Message::System(_) => "",
            Message::User(_) => "User: ",
            Message::Assistant { .. } => "Assistant: ",
            Message::Tool { .. } => "Tool: ",
        };
        let _ = write!(prompt, "{speaker}{}\n\n", message.text());
    }
    prompt + "Assistant:"
}

pub(super) fn read(value: &Value) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = text_at(value, "model").map(Piece::Model).into_iter().collect();
    pieces.extend(text_at(value, "id").map(Piece::Id));
    if let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) {
        pieces.extend(text_at(choice, "text").map(Piece::Text));
        pieces.extend(openai_finish(choice));
    }
    pieces.extend(openai_usage(value));
    pieces
}
