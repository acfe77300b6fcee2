//! Anthropic's messages.
//!
//! They differ from chat completions in three ways that matter: instructions stand apart from the conversation,
//! turns must alternate (results of tools count as the person's), and an answer is a list of blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::{BuiltRequest, CallPiece, Piece, UsagePiece, text_at};
use crate::llm::chat::{
    ChatRequest, Finish, Message, MessageRun, ResponseFormat, ToolCall, ToolChoice, ToolDefinition,
};
use crate::llm::fault::LlmFault;

const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// The API requires a limit of tokens; this one is used when nobody set any.
const TOKENS_UNLESS_TOLD: u32 = 4_096;

/// Stands where the person's first turn is missing: the API wants it to come first.
const MISSING_TURN: &str = "(The conversation begins with your message.)";

pub(super) fn build(request: &ChatRequest) -> Result<BuiltRequest, LlmFault> {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("max_tokens".to_owned(), request.max_tokens.unwrap_or(TOKENS_UNLESS_TOLD).into());
    let system = instructions(&request.messages);
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), turns(&request.messages));
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".to_owned(), request.stop.clone().into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        body.insert("tool_choice".to_owned(), tool_choice(&request.tool_choice));
    }
    match &request.response_format {
        ResponseFormat::Text => {}
        ResponseFormat::Json => {
            return Err(LlmFault::Unsupported("Anthropic's API gives JSON only by a schema".to_owned()));
        }
        ResponseFormat::Schema { schema, .. } => {
            let config = json!({"format": {"type": "json_schema", "schema": schema}});
            body.insert("output_config".to_owned(), config);
        }
    }
    if request.stream {
        body.insert("stream".to_owned(), true.into());
    }
    Ok(BuiltRequest { path: "/messages", headers: HEADERS, body: Value::Object(body) })
}

fn instructions(messages: &[Message]) -> String {
    let system = messages.iter().filter(|message| matches!(message, Message::System(_)));
    system.map(Message::text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The conversation with neighbouring turns of one side merged.
fn turns(messages: &[Message]) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (role, blocks) in messages.iter().filter_map(blocks).filter(|(_, blocks)| !blocks.is_empty()) {
        match turns.last_mut() {
            Some((last, merged)) if *last == role => merged.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role != "user") {
        turns.insert(0, ("user", vec![text_block(MISSING_TURN)]));
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(message: &Message) -> Option<(&'static str, Vec<Value>)> {
    let text = message.text();
    // Empty blocks are refused, and so is white space at the end of what the model is to go on from.
    let text_blocks = |text: &str| if text.trim().is_empty() { Vec::new() } else { vec![text_block(text)] };
    match message {
        Message::System(_) => None,
        Message::User(_) => Some(("user", message.runs().iter().filter_map(user_block).collect())),
        Message::Assistant { tool_calls, .. } => {
            let mut blocks = text_blocks(text.trim_end());
            blocks.extend(tool_calls.iter().map(tool_use));
            Some(("assistant", blocks))
        }
        Message::Tool { call_id, is_error, .. } => {
            let mut block = json!({"type": "tool_result", "tool_use_id": call_id, "content": text});
            if *is_error {
                block["is_error"] = true.into();
            }
            Some(("user", vec![block]))
        }
    }
}

fn user_block(run: &MessageRun<'_>) -> Option<Value> {
    match run {
        MessageRun::Text(text) if text.trim().is_empty() => None,
        MessageRun::Text(text) => Some(text_block(text)),
        MessageRun::Image(image) => {
            let source = json!({"type": "base64", "media_type": image.media_type, "data": BASE64.encode(&image.data)});
            Some(json!({"type": "image", "source": source}))
        }
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_use(call: &ToolCall) -> Value {
    // The API takes objects only; what a model once wrote wrongly is passed on as it was.
    let input = call
        .parsed_arguments()
        .unwrap_or_else(|_| Map::from_iter([("arguments".to_owned(), Value::String(call.arguments.clone()))]));
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::Forbidden => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Named(name) => json!({"type": "tool", "name": name}),
    }
}

pub(super) fn read_event(value: &Value) -> Vec<Piece> {
    let index = value.get("index").and_then(Value::as_u64);
    match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => read_message(value.get("message").unwrap_or(&Value::Null)),
        "content_block_start" => block(value.get("content_block").unwrap_or(&Value::Null), index, true),
        "content_block_delta" => delta(value.get("delta").unwrap_or(&Value::Null), index),
        "message_delta" => {
            let finish = value.get("delta").and_then(finish);
            finish.into_iter().chain(usage(value)).collect()
        }
        "message_stop" => vec![Piece::Done],
        "error" => vec![Piece::Error(value.clone())],
        // Pings, ends of blocks, and what is yet to be invented.
        _ => Vec::new(),
    }
}

/// A whole message, or the empty one a stream begins with.
pub(super) fn read_message(message: &Value) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = text_at(message, "model").map(Piece::Model).into_iter().collect();
    pieces.extend(text_at(message, "id").map(Piece::Id));
    let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, content) in (0..).zip(blocks) {
        pieces.extend(block(content, Some(index), false));
    }
    pieces.extend(finish(message));
    pieces.extend(usage(message));
    pieces
}

/// A block of a message. Of one that is only beginning, the input is a placeholder.
fn block(block: &Value, index: Option<u64>, is_beginning: bool) -> Vec<Piece> {
    match block.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text" => text_at(block, "text").map(Piece::Text).into_iter().collect(),
        "thinking" => text_at(block, "thinking").map(Piece::Reasoning).into_iter().collect(),
        "tool_use" => {
            let input = block.get("input").filter(|_| !is_beginning).map(Value::to_string);
            vec![Piece::Call(CallPiece {
                index,
                id: text_at(block, "id").unwrap_or_default(),
                name: text_at(block, "name").unwrap_or_default(),
                arguments: input.unwrap_or_default(),
            })]
        }
        _ => Vec::new(),
    }
}

fn delta(delta: &Value, index: Option<u64>) -> Vec<Piece> {
    let text = |name: &str| text_at(delta, name);
    let piece = match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text_delta" => text("text").map(Piece::Text),
        "thinking_delta" => text("thinking").map(Piece::Reasoning),
        "input_json_delta" => {
            let arguments = text("partial_json");
            arguments.map(|arguments| Piece::Call(CallPiece { index, arguments, ..CallPiece::default() }))
        }
        _ => None,
    };
    piece.into_iter().collect()
}

fn finish(message: &Value) -> Option<Piece> {
    let reason = text_at(message, "stop_reason")?;
    Some(Piece::Finish(match reason.as_str() {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_use" => Finish::ToolCalls,
        "refusal" => Finish::ContentFilter,
        _ => Finish::Other(reason),
    }))
}

/// Input is told in three parts: new, written to the provider's cache, read from it.
fn usage(value: &Value) -> Option<Piece> {
    let usage = value.get("usage").filter(|usage| usage.is_object())?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = count("cache_read_input_tokens");
    let beside = cached.unwrap_or(0).saturating_add(count("cache_creation_input_tokens").unwrap_or(0));
    Some(Piece::Usage(UsagePiece {
        input: count("input_tokens").map(|input| input.saturating_add(beside)),
        output: count("output_tokens"),
        cached,
        reasoning: None,
    }))
}
