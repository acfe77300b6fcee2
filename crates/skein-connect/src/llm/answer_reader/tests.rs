//! Answers as providers document them, whole and in pieces of every size.

use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

use super::{AnswerReader, RESPONSE_BYTES_MAX};
use crate::credential::{MARK, Scrubber};
use crate::llm::chat::{ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, Finish, Message, ToolCall, Usage};
use crate::llm::fault::{LlmFault, StreamBreak};

const CHAT_STREAM: &str = include_str!("fixtures/chat_stream.txt");
const CHAT_TOOLS: &str = include_str!("fixtures/chat_tools_stream.txt");
const COMPLETIONS_STREAM: &str = include_str!("fixtures/completions_stream.txt");
const MESSAGES_STREAM: &str = include_str!("fixtures/messages_stream.txt");
const MESSAGES_TOOLS: &str = include_str!("fixtures/messages_tools_stream.txt");

struct Read {
    events: Vec<ChatEvent>,
    outcome: Result<ChatAnswer, ChatFailure>,
}

fn read(dialect: Dialect, status: u16, content_type: &str, pieces: &[&[u8]]) -> Read {
    let request = ChatRequest::new("asked-model", vec![Message::user("How are you today?")]);
    let headers = vec![("content-type".to_owned(), content_type.to_owned())];
    let mut reader = AnswerReader::new(dialect, &request, status, headers, &Scrubber::default());
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(fault) = reader.push(piece, &mut events) {
            return Read { events, outcome: Err(reader.fail(fault)) };
        }
    }
    let outcome = reader.finish().map(|(last, answer)| {
        events.extend(last);
        answer
    });
    Read { events, outcome }
}

fn stream(dialect: Dialect, body: &str) -> Read {
    read(dialect, 200, "text/event-stream; charset=utf-8", &[body.as_bytes()])
}

fn whole(dialect: Dialect, body: &Value) -> Read {
    read(dialect, 200, "application/json", &[body.to_string().as_bytes()])
}

fn told_text(events: &[ChatEvent]) -> String {
    let text = |event: &ChatEvent| if let ChatEvent::Text(text) = event { text.clone() } else { String::new() };
    events.iter().map(text).collect()
}

fn fault(read: Read) -> LlmFault {
    read.outcome.unwrap_err().fault
}

#[test]
fn a_chat_stream_is_read() {
    let read = stream(Dialect::Chat, CHAT_STREAM);
    let answer = read.outcome.unwrap();
    assert_eq!(answer.text, "Grüße, Ana! 👋");
    assert_eq!(told_text(&read.events), answer.text);
    assert_eq!((answer.finish, answer.model.as_str()), (Finish::Stop, "gpt-4o-mini-2024-07-18"));
    let usage = Usage { input_tokens: 19, output_tokens: 6, cached_input_tokens: 8, ..Usage::default() };
    assert_eq!(answer.usage, usage);
    assert_eq!(answer.raw.body, CHAT_STREAM.as_bytes());
}

#[test]
fn tool_calls_of_a_chat_stream_are_put_together() {
    let read = stream(Dialect::Chat, CHAT_TOOLS);
    let answer = read.outcome.unwrap();
    assert_eq!(answer.tool_calls, weather_calls());
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(told_calls(&read.events), weather_calls());
}

#[test]
fn a_completions_stream_is_read() {
    let answer = stream(Dialect::Completions, COMPLETIONS_STREAM).outcome.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), (" upon a time", Finish::Length));
    assert!(answer.usage.is_estimate, "this server told none");
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (5, 3));
}

#[test]
fn a_messages_stream_is_read() {
    let read = stream(Dialect::Messages, MESSAGES_STREAM);
    let answer = read.outcome.unwrap();
    assert_eq!(answer.text, "Grüße, Ana!");
    assert_eq!(answer.reasoning, "She greets.");
    assert_eq!(told_text(&read.events), answer.text);
    assert_eq!((answer.finish, answer.model.as_str()), (Finish::Stop, "claude-sonnet-4-5-20250929"));
    let (input_tokens, output_tokens, cached_input_tokens) = (35, 15, 10);
    // "She greets." is reckoned: this provider counts it with the rest.
    let (reasoning_tokens, reasoning_is_estimate, is_estimate) = (3, true, false);
    let usage = Usage {
        input_tokens,
        output_tokens,
        cached_input_tokens,
        reasoning_tokens,
        reasoning_is_estimate,
        is_estimate,
    };
    assert_eq!(answer.usage, usage);
}

#[test]
fn thoughts_are_reckoned_where_the_provider_did_not_count_them_and_that_is_told() {
    let read = |thought: &str, usage: Value| {
        let body =
            json!({"choices": [{"message": {"content": "Four.", "reasoning_content": thought}}], "usage": usage});
        let usage = whole(Dialect::Chat, &body).outcome.unwrap().usage;
        (usage.reasoning_tokens, usage.reasoning_is_estimate, usage.is_estimate)
    };
    let told = |usage: Value| json!({"prompt_tokens": 9, "completion_tokens": 20, "completion_tokens_details": usage});
    assert_eq!(read("Two and two.", told(json!({"reasoning_tokens": 17}))), (17, false, false));
    assert_eq!(read("Two and two.", told(json!({"reasoning_tokens": 0}))), (3, true, false));
    assert_eq!(read("Two and two.", told(json!(null))), (3, true, false));
    assert_eq!(read("Two and two.", json!(null)), (3, true, true));
    assert_eq!(read("", told(json!(null))), (0, false, false), "nothing was thought aloud");
}

#[test]
fn tool_calls_of_a_messages_stream_are_put_together() {
    let read = stream(Dialect::Messages, MESSAGES_TOOLS);
    let answer = read.outcome.unwrap();
    assert_eq!(answer.text, "Let me look.");
    assert_eq!(answer.tool_calls, weather_calls());
    assert_eq!(told_calls(&read.events), weather_calls());
    assert_eq!(answer.finish, Finish::ToolCalls);
}

fn weather_calls() -> Vec<ToolCall> {
    let call = |id: &str, place: &str| ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        arguments: format!("{{\"place\": \"{place}\"}}"),
    };
    vec![call("call_1", "Zürich"), call("call_2", "Oslo")]
}

fn told_calls(events: &[ChatEvent]) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    for event in events {
        match event {
            ChatEvent::ToolCall { id, name, .. } => {
                calls.push(ToolCall { id: id.clone(), name: name.clone(), arguments: String::new() });
            }
            ChatEvent::Arguments { call, json } => calls[*call].arguments.push_str(json),
            _ => {}
        }
    }
    calls
}

#[test]
fn whole_answers_are_read_as_streams_are() {
    let chat = json!({"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}});
    let messages = json!({"type": "message", "model": "m", "content": [{"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}}], "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4}});
    for (dialect, body) in [(Dialect::Chat, chat), (Dialect::Messages, messages)] {
        let read = whole(dialect, &body);
        let answer = read.outcome.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("Hi", Finish::ToolCalls));
        assert_eq!(answer.tool_calls, [ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() }]);
        assert_eq!(answer.usage, Usage { input_tokens: 3, output_tokens: 4, ..Usage::default() });
        assert_eq!(told_calls(&read.events), answer.tool_calls);
    }
    let completion = json!({"choices": [{"text": " upon", "finish_reason": "stop"}]});
    assert_eq!(whole(Dialect::Completions, &completion).outcome.unwrap().text, " upon");
}

#[test]
fn calls_without_numbers_or_all_numbered_nought_are_told_apart() {
    let chunk = |index: &str, id: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{{index}\"id\":\"{id}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}\n\n"
        )
    };
    for index in ["", "\"index\":0,"] {
        let body = chunk(index, "a") + &chunk(index, "b") + "data: [DONE]\n\n";
        let answer = stream(Dialect::Chat, &body).outcome.unwrap();
        let ids: Vec<_> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(answer.finish, Finish::ToolCalls);
    }
}

#[test]
fn a_refusal_of_the_model_is_its_answer() {
    let body = json!({"choices": [{"message": {"content": null, "refusal": "I will not."}, "finish_reason": "stop"}]});
    let answer = whole(Dialect::Chat, &body).outcome.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("I will not.", Finish::ContentFilter));
}

#[test]
fn a_document_sent_instead_of_a_stream_is_read_and_the_reverse() {
    let body = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).to_string();
    for content_type in ["", "text/plain", "application/json"] {
        let answer = read(Dialect::Chat, 200, content_type, &[b" \n", body.as_bytes()]).outcome.unwrap();
        assert_eq!(answer.text, "Hi", "{content_type}");
    }
    assert_eq!(read(Dialect::Chat, 200, "", &[CHAT_STREAM.as_bytes()]).outcome.unwrap().text, "Grüße, Ana! 👋");
}

#[test]
fn a_stream_that_ends_early_is_broken_and_keeps_what_came() {
    let cut = CHAT_STREAM.find("Ana").unwrap();
    let failure = stream(Dialect::Chat, &CHAT_STREAM[..cut]).outcome.unwrap_err();
    assert_eq!(failure.fault, LlmFault::BrokenStream(StreamBreak::EndedEarly));
    assert!(failure.is_retryable());
    let so_far = failure.so_far.unwrap();
    assert_eq!((so_far.text.as_str(), so_far.finish), ("Grüße, ", Finish::Unfinished));
    assert_eq!(so_far.raw.body, &CHAT_STREAM.as_bytes()[..cut]);
}

#[test]
fn an_error_told_after_the_answer_began_is_a_break_and_before_it_a_refusal() {
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let begun = &MESSAGES_STREAM[..MESSAGES_STREAM.find("event: content_block_stop").unwrap()];
    let broken = stream(Dialect::Messages, &format!("{begun}{error}"));
    assert_eq!(broken.events.len(), 1, "what came before the error is given out");
    let LlmFault::BrokenStream(StreamBreak::Reported(cause)) = fault(broken) else { panic!("no break") };
    assert!(matches!(*cause, LlmFault::Overloaded { .. }));
    assert!(matches!(fault(stream(Dialect::Messages, error)), LlmFault::Overloaded { .. }));
    let openai = "data: {\"error\":{\"code\":429,\"message\":\"Rate limited upstream\"}}\n\n";
    assert!(matches!(fault(stream(Dialect::Chat, openai)), LlmFault::RateLimited { .. }));
}

#[test]
fn what_is_no_answer_is_not_understood() {
    let page = read(Dialect::Chat, 200, "text/html", &[b"<!doctype html><title>Welcome</title>"]);
    assert!(fault(page).to_string().contains("a web page came instead"));
    for body in ["{}", "[]", "{\"hello\":1}", "nonsense", "{\"choices\":[]}"] {
        let read = read(Dialect::Chat, 200, "application/json", &[body.as_bytes()]);
        assert!(matches!(fault(read), LlmFault::NotUnderstood(_)), "{body}");
    }
    assert!(matches!(fault(stream(Dialect::Chat, "data: {not json}\n\n")), LlmFault::NotUnderstood(_)));
    assert!(matches!(fault(stream(Dialect::Chat, "data: [DONE]\n\n")), LlmFault::NotUnderstood(_)));
    assert!(matches!(fault(read(Dialect::Chat, 200, "", &[])), LlmFault::NotUnderstood(_)));
}

#[test]
fn a_response_without_end_is_cut_at_its_limit() {
    let request = ChatRequest::new("m", Vec::new());
    let mut reader = AnswerReader::new(Dialect::Chat, &request, 200, Vec::new(), &Scrubber::default());
    let piece = vec![b'x'; 3 * 1024 * 1024];
    let fault = std::iter::repeat_with(|| reader.push(&piece, &mut Vec::new())).find_map(Result::err).unwrap();
    assert_eq!(fault, LlmFault::TooLarge { limit: RESPONSE_BYTES_MAX });
    assert_eq!(reader.fail(fault).so_far.unwrap().raw.body.len(), RESPONSE_BYTES_MAX);
}

#[test]
fn a_secret_that_comes_back_is_replaced_wherever_it_is_cut() {
    let secret = "sk-canary-9f3a7c51";
    let scrubber = Scrubber::new([secret.as_bytes()]);
    let request = ChatRequest::new("m", Vec::new());
    let chunk = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    // Once whole, and once in two pieces of the answer, which only meet in its text.
    let body = chunk(&format!("a {secret} b ")) + &chunk("sk-cana") + &chunk("ry-9f3a7c51 c") + "data: [DONE]\n\n";
    for cut in 0..body.len() {
        let headers = vec![("x-echo".to_owned(), format!("Bearer {secret}"))];
        let mut reader = AnswerReader::new(Dialect::Chat, &request, 200, headers, &scrubber);
        let mut events = Vec::new();
        reader.push(&body.as_bytes()[..cut], &mut events).unwrap();
        reader.push(&body.as_bytes()[cut..], &mut events).unwrap();
        let (last, answer) = reader.finish().unwrap();
        events.extend(last);
        assert_eq!(answer.text, format!("a {MARK} b {MARK} c"));
        assert_eq!(told_text(&events), answer.text);
        assert!(answer.raw.scrubbed && answer.raw.header("x-echo") == Some(&format!("Bearer {MARK}")));
        let raw = answer.raw.hashed_bytes();
        let raw = String::from_utf8_lossy(&raw);
        assert!(!raw.contains(secret) && !raw.contains("sk-cana") && !raw.contains("ry-9f3a7c51"), "{raw}");
    }
    let mut reader = AnswerReader::new(Dialect::Chat, &request, 401, Vec::new(), &scrubber);
    reader
        .push(format!("{{\"error\":{{\"message\":\"Incorrect key {secret}\"}}}}").as_bytes(), &mut Vec::new())
        .unwrap();
    assert_eq!(
        reader.finish().unwrap_err().to_string(),
        format!("the provider does not accept the key: Incorrect key {MARK}")
    );
}

/// Whole texts and calls, which do not depend on how often they were told.
fn check_cut(dialect: Dialect, body: &str, at_once: &Read, cuts: &[usize]) {
    let mut pieces: Vec<&[u8]> = Vec::new();
    let mut rest = body.as_bytes();
    let mut taken = 0;
    for &cut in cuts {
        let (piece, after) = rest.split_at((cut - taken).min(rest.len()));
        pieces.push(piece);
        (rest, taken) = (after, cut);
    }
    pieces.push(rest);
    let cut = read(dialect, 200, "text/event-stream; charset=utf-8", &pieces);
    assert_eq!(cut.events, at_once.events);
    assert_eq!(cut.outcome, at_once.outcome);
}

const STREAMS: [(Dialect, &str); 5] = [
    (Dialect::Chat, CHAT_STREAM),
    (Dialect::Chat, CHAT_TOOLS),
    (Dialect::Completions, COMPLETIONS_STREAM),
    (Dialect::Messages, MESSAGES_STREAM),
    (Dialect::Messages, MESSAGES_TOOLS),
];

#[test]
fn cutting_a_stream_at_any_byte_changes_nothing() {
    for (dialect, body) in STREAMS {
        let at_once = stream(dialect, body);
        for cut in 0..=body.len() {
            check_cut(dialect, body, &at_once, &[cut]);
        }
        check_cut(dialect, body, &at_once, &(0..body.len()).collect::<Vec<_>>());
    }
}

#[test]
fn a_stream_cut_short_anywhere_is_never_taken_for_a_whole_one() {
    for (dialect, body) in STREAMS {
        let ended =
            ["\"finish_reason\":\"", "\"stop_reason\":\""].iter().filter_map(|mark| body.rfind(mark)).max().unwrap();
        for cut in 0..ended {
            let outcome = stream(dialect, &String::from_utf8_lossy(&body.as_bytes()[..cut])).outcome;
            assert!(outcome.is_err(), "{dialect:?} cut at {cut}");
        }
    }
}

proptest! {
    #[test]
    fn cutting_a_stream_anywhere_changes_nothing(which in 0..STREAMS.len(), mut cuts in proptest::collection::vec(0..3_000_usize, 0..20)) {
        cuts.sort_unstable();
        let (dialect, body) = STREAMS[which];
        check_cut(dialect, body, &stream(dialect, body), &cuts);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(body in proptest::collection::vec(any::<u8>(), 0..400), which in 0..3_usize) {
        let dialect = [Dialect::Chat, Dialect::Completions, Dialect::Messages][which];
        for content_type in ["text/event-stream", "application/json", ""] {
            let _ = read(dialect, 200, content_type, &[&body]);
        }
    }
}
