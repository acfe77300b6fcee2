//! OpenAI's chat completions, as OpenAI, gateways, servers on this machine and most others speak them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::{BuiltRequest, CallPiece, Piece, Wording, add_sampling, openai_finish, openai_usage, text_at};
use crate::llm::chat::{ChatRequest, Finish, Message, MessageRun, ResponseFormat, ToolCall, ToolChoice};

pub(super) fn build(request: &ChatRequest, wording: Wording) -> BuiltRequest {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("messages".to_owned(), request.messages.iter().map(message).collect());
    add_sampling(&mut body, request, wording);
    if !request.stop.is_empty() {
        body.insert("stop".to_owned(), request.stop.clone().into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(request));
        body.insert("tool_choice".to_owned(), tool_choice(&request.tool_choice));
    }
    match &request.response_format {
        ResponseFormat::Text => {}
        ResponseFormat::Json => drop(body.insert("response_format".to_owned(), json!({"type": "json_object"}))),
        ResponseFormat::Schema { name, schema } => {
            let format =
                json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": true}});
            body.insert("response_format".to_owned(), format);
        }
    }
    BuiltRequest { path: "/chat/completions", headers: &[], body: Value::Object(body) }
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(_) => json!({"role": "system", "content": message.text()}),
        Message::User(_) if message.images().next().is_some() => {
            json!({"role": "user", "content": message.runs().iter().filter_map(content_part).collect::<Vec<_>>()})
        }
        Message::User(_) => json!({"role": "user", "content": message.text()}),
        Message::Assistant { tool_calls, .. } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": message.text()})
        }
        Message::Assistant { tool_calls, .. } => {
            let text = message.text();
            let content = if text.is_empty() { Value::Null } else { text.into() };
            let calls: Vec<Value> = tool_calls.iter().map(tool_call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { call_id, content, .. } => json!({"role": "tool", "tool_call_id": call_id, "content": content}),
    }
}

/// A part of a message that has images; empty texts are refused.
fn content_part(run: &MessageRun<'_>) -> Option<Value> {
    match run {
        MessageRun::Text(text) if text.trim().is_empty() => None,
        MessageRun::Text(text) => Some(json!({"type": "text", "text": text})),
        MessageRun::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type, BASE64.encode(&image.data));
            Some(json!({"type": "image_url", "image_url": {"url": url}}))
        }
    }
}

fn tool_call(call: &ToolCall) -> Value {
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn tools(request: &ChatRequest) -> Value {
    let tool = |tool: &crate::llm::chat::ToolDefinition| {
        let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
        json!({"type": "function", "function": function})
    };
    request.tools.iter().map(tool).collect()
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Forbidden => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

/// Reads a chunk of a stream (`part` is `delta`) or a whole answer (`message`): they differ in that word only.
pub(super) fn read(value: &Value, part: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = text_at(value, "model").map(Piece::Model).into_iter().collect();
    pieces.extend(text_at(value, "id").map(Piece::Id));
    // One answer is requested; of several the first is used.
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let choices = value.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if let Some(choice) = choices.iter().find(first) {
        pieces.extend(choice.get(part).map(read_part).unwrap_or_default());
        pieces.extend(openai_finish(choice));
    }
    pieces.extend(openai_usage(value));
    pieces
}

fn read_part(part: &Value) -> Vec<Piece> {
    let reasoning = text_at(part, "reasoning_content").or_else(|| text_at(part, "reasoning"));
    let mut pieces: Vec<Piece> = reasoning.map(Piece::Reasoning).into_iter().collect();
    pieces.extend(content(part).map(Piece::Text));
    if let Some(refusal) = text_at(part, "refusal") {
        pieces.extend([Piece::Text(refusal), Piece::Finish(Finish::ContentFilter)]);
    }
    let calls = part.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    pieces.extend(calls.iter().map(call_piece).map(Piece::Call));
    pieces
}

/// The text, which is a string or, with some servers, a list of parts.
fn content(part: &Value) -> Option<String> {
    let texts = part.get("content").and_then(Value::as_array);
    let joined = texts.map(|texts| texts.iter().filter_map(|each| text_at(each, "text")).collect::<String>());
    text_at(part, "content").or(joined).filter(|text| !text.is_empty())
}

fn call_piece(call: &Value) -> CallPiece {
    let function = call.get("function").unwrap_or(&Value::Null);
    let arguments = match function.get("arguments") {
        Some(Value::String(json)) => json.clone(),
        Some(object @ Value::Object(_)) => object.to_string(),
        _ => String::new(),
    };
    CallPiece {
        index: call.get("index").and_then(Value::as_u64),
        id: text_at(call, "id").unwrap_or_default(),
        name: text_at(function, "name").unwrap_or_default(),
        arguments,
    }
}
