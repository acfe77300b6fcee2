//! The built-in model: no key, no network, no weights. It quotes what it is given and says where it stands.
//!
//! It stands behind the same interface as any other model and is deterministic: the same conversation gets the same
//! answer, byte for byte. What it says of its own accord is in `phrases.rs`; everything else is a quote. Start at
//! [`answer`]; the order of thought is `gather`, `intent`, then `reply`, which asks `relevance` and
//! `summary` for passages and `quote` for their wording.

mod intent;
mod passage;
mod person_facts;
mod phrases;
mod quote;
mod relevance;
mod reply;
mod request_parts;
mod summarize;
mod summary;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Value, json};
use skein_core::canonical::{Escape, to_string};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::llm::chat::CHARACTERS_PER_TOKEN;
use crate::llm::{ChatAnswer, ChatRequest, Finish, LlmFault, RawResponse, ResponseFormat, Usage, estimated_tokens};

/// How the built-in model is called.
pub const MODEL: &str = "skein-offline-1";

/// The answer of the built-in model. It calls no tools, and refuses to fill a form.
pub fn answer(request: &ChatRequest) -> Result<ChatAnswer, LlmFault> {
    if request.response_format != ResponseFormat::Text {
        let refusal = "the built-in offline model answers in quotes and cannot be held to a JSON format";
        return Err(LlmFault::Unsupported(refusal.to_owned()));
    }
    let reply = reply::reply(&request_parts::gather(request));
    let (text, finish) = limited(format!("{}\n\n{}", reply.text, phrases::LABEL), request);
    let usage = Usage {
        input_tokens: request.estimated_tokens(),
        output_tokens: estimated_tokens(text.chars().count()),
        is_estimate: true,
        ..Usage::default()
    };
    let raw = raw_response(&reply, &text, &finish, usage);
    Ok(ChatAnswer {
        text,
        reasoning: String::new(),
        tool_calls: Vec::new(),
        usage,
        finish,
        model: MODEL.to_owned(),
        id: None,
        raw,
    })
}

/// The text in pieces, as models send theirs: a word with what stands before the next.
pub fn pieces(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.unicode_word_indices().map(|(start, _)| start).collect();
    if let Some(first) = starts.first_mut() {
        *first = 0;
    } else if !text.is_empty() {
        starts.push(0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// Keeps to the limit of tokens and the stop sequences, as any model does.
fn limited(mut text: String, request: &ChatRequest) -> (String, Finish) {
    let stops = request.stop.iter().filter(|stop| !stop.is_empty());
    if let Some(stop) = stops.filter_map(|stop| text.find(stop.as_str())).min() {
        text.truncate(stop);
    }
    let most = request.max_tokens.map_or(usize::MAX, |tokens| (tokens as usize).saturating_mul(CHARACTERS_PER_TOKEN));
    match text.char_indices().nth(most) {
        Some((cut, _)) => {
            text.truncate(cut);
            (text, Finish::Length)
        }
        None => (text, Finish::Stop),
    }
}

fn raw_response(reply: &reply::Reply, text: &str, finish: &Finish, usage: Usage) -> RawResponse {
    let quote = |quote: &quote::Quote| -> Value {
        json!({"text": quote.text, "source": quote.source.label, "link": quote.source.link, "heading": quote.heading})
    };
    let quotes: Vec<Value> = reply.quotes.iter().map(quote).collect();
    let body = json!({
        "model": MODEL,
        "kind": reply.kind,
        "text": text,
        "quotes": quotes,
        "finish": if *finish == Finish::Length { "length" } else { "stop" },
        "usage": {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "isEstimate": true},
    });
    RawResponse {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: to_string(&body, Escape::Unicode).into(),
        scrubbed: false,
    }
}
