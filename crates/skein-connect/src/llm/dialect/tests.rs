//! Tests the exact request that each dialect builds.

use serde_json::json;

use super::{Wording, build};
use crate::llm::chat::{
    Attachment, ChatRequest, Dialect, ImagePart, Message, Part, ResponseFormat, ToolCall, ToolChoice, ToolDefinition,
};
use crate::llm::fault::{LlmFault, ProviderMessage};

fn conversation() -> ChatRequest {
    let call = |id: &str| ToolCall { id: id.into(), name: "weather".into(), arguments: "{\"place\":\"Oslo\"}".into() };
    let result = |id: &str| Message::Tool { call_id: id.into(), content: "rain".into(), is_error: id == "2" };
    let mut request = ChatRequest::new(
        "m",
        vec![
            Message::system("Be brief."),
            Message::user("Weather?"),
            Message::Assistant { parts: Vec::new(), tool_calls: vec![call("1"), call("2")] },
            result("1"),
            result("2"),
            Message::user("And?"),
        ],
    );
    request.tools = vec![ToolDefinition {
        name: "weather".into(),
        description: "Tells the weather.".into(),
        parameters: json!({"type": "object"}),
    }];
    request.tool_choice = ToolChoice::Required;
    request.temperature = Some(0.5);
    request.max_tokens = Some(100);
    request.stop = vec!["END".into()];
    request.streamed()
}

#[test]
fn chat_completions_are_written_as_documented() {
    let built = build(Dialect::Chat, &conversation(), Wording::default()).unwrap();
    let function = json!({"name": "weather", "arguments": "{\"place\":\"Oslo\"}"});
    assert_eq!(built.path, "/chat/completions");
    assert_eq!(
        built.body,
        json!({"model": "m", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": function}, {"id": "2", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": "rain"},
            {"role": "tool", "tool_call_id": "2", "content": "rain"},
            {"role": "user", "content": "And?"}],
        "tools": [{"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": {"type": "object"}}}],
        "tool_choice": "required", "temperature": 0.5, "max_tokens": 100, "stop": ["END"],
        "stream": true, "stream_options": {"include_usage": true}})
    );
}

#[test]
fn messages_keep_instructions_apart_and_merge_turns() {
    let built = build(Dialect::Messages, &conversation(), Wording::default()).unwrap();
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "weather", "input": {"place": "Oslo"}});
    assert_eq!((built.path, built.headers), ("/messages", &[("anthropic-version", "2023-06-01")][..]));
    assert_eq!(
        built.body,
        json!({"model": "m", "max_tokens": 100, "system": "Be brief.", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {"role": "assistant", "content": [call("1"), call("2")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "2", "content": "rain", "is_error": true},
                {"type": "text", "text": "And?"}]}],
        "tools": [{"name": "weather", "description": "Tells the weather.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any"}, "temperature": 0.5, "stop_sequences": ["END"], "stream": true})
    );
}

#[test]
fn messages_begin_with_the_person_and_hold_no_empty_text() {
    let request =
        ChatRequest::new("m", vec![Message::assistant("Hello. \n"), Message::user("  "), Message::assistant("Go on")]);
    let built = build(Dialect::Messages, &request, Wording::default()).unwrap();
    let messages = built.body["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &messages[0]["role"]), (2, &json!("user")));
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "Hello."}, {"type": "text", "text": "Go on"}]));
    assert_eq!(built.body["max_tokens"], 4_096);
}

#[test]
fn one_message_is_a_prompt_and_several_are_a_transcript() {
    let prompt = |messages| {
        let built = build(Dialect::Completions, &ChatRequest::new("m", messages), Wording::default()).unwrap();
        (built.body["prompt"].as_str().unwrap().to_owned(), built.body.get("stop").cloned())
    };
    assert_eq!(prompt(vec![Message::user("Once upon")]), ("Once upon".to_owned(), None));
    let messages =
        vec![Message::system("Be brief."), Message::user("Hi"), Message::assistant("Hello"), Message::user("Bye")];
    let expected = "Be brief.\n\nUser: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant:".to_owned();
    assert_eq!(prompt(messages), (expected, Some(json!(["\nUser:"]))));
}

#[test]
fn what_a_dialect_cannot_say_is_refused() {
    let mut json_wanted = ChatRequest::new("m", vec![Message::user("x")]);
    json_wanted.response_format = ResponseFormat::Json;
    for (dialect, request) in [
        (Dialect::Completions, conversation()),
        (Dialect::Completions, json_wanted.clone()),
        (Dialect::Messages, json_wanted),
    ] {
        let refused = build(dialect, &request, Wording::default()).unwrap_err();
        assert!(matches!(refused, LlmFault::Unsupported(_)), "{refused}");
    }
}

#[test]
fn schemas_are_passed_on() {
    let mut request = ChatRequest::new("m", vec![Message::user("x")]);
    request.response_format = ResponseFormat::Schema { name: "s".into(), schema: json!({"type": "object"}) };
    let body = |dialect| build(dialect, &request, Wording::default()).unwrap().body;
    let chat =
        json!({"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}, "strict": true}});
    assert_eq!(body(Dialect::Chat)["response_format"], chat);
    let messages = json!({"format": {"type": "json_schema", "schema": {"type": "object"}}});
    assert_eq!(body(Dialect::Messages)["output_config"], messages);
}

#[test]
fn attached_texts_are_named_where_they_stand() {
    let attachment = Attachment { title: "a \"b\"".into(), source: Some("skein:1".into()), text: "Text.".into() };
    let message = Message::User(vec![Part::Text("Read:".into()), Part::Attached(attachment)]);
    let expected = "Read:\n\n<document title=\"a &quot;b&quot;\" source=\"skein:1\">\nText.\n</document>";
    assert_eq!(message.text(), expected);
}

#[test]
fn a_complaint_about_the_wording_changes_it_once() {
    let refused = |said: &str| LlmFault::Refused { status: 400, said: ProviderMessage::new(said) };
    let tokens = refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
    let second = Wording::default().after(&tokens).unwrap();
    assert!(second.says_completion_tokens && second.after(&tokens).is_none());
    let built = build(Dialect::Chat, &conversation(), second).unwrap();
    assert_eq!((built.body.get("max_tokens"), &built.body["max_completion_tokens"]), (None, &json!(100)));
    let third = second.after(&refused("Unrecognized request argument: stream_options")).unwrap();
    assert!(build(Dialect::Chat, &conversation(), third).unwrap().body.get("stream_options").is_none());
    assert_eq!(Wording::default().after(&refused("no such thing")), None);
}

fn picture() -> ImagePart {
    let data = bytes::Bytes::from_static(&[0xff, 0xd8, 0xff]);
    ImagePart { media_type: "image/jpeg".into(), data, tokens: 85, description: "[image: A heron.]".into() }
}

#[test]
fn images_of_a_user_stand_where_they_stood_in_each_dialect() {
    let parts = vec![Part::Text("Which bird?".into()), Part::Image(picture()), Part::Text("And why?".into())];
    let request = ChatRequest::new("m", vec![Message::system("Be brief."), Message::User(parts)]);
    let chat = build(Dialect::Chat, &request, Wording::default()).unwrap().body;
    let url = json!({"url": "data:image/jpeg;base64,/9j/"});
    let (before, after) = (json!({"type": "text", "text": "Which bird?"}), json!({"type": "text", "text": "And why?"}));
    let content = json!([before, {"type": "image_url", "image_url": url}, after]);
    assert_eq!(chat["messages"][1], json!({"role": "user", "content": content}));
    let messages = build(Dialect::Messages, &request, Wording::default()).unwrap().body;
    let source = json!({"type": "base64", "media_type": "image/jpeg", "data": "/9j/"});
    let content = json!([before, {"type": "image", "source": source}, after]);
    assert_eq!(messages["messages"], json!([{"role": "user", "content": content}]));
    let completions = build(Dialect::Completions, &request, Wording::default()).unwrap().body;
    assert_eq!(completions["prompt"], "Be brief.\n\nUser: Which bird?\n\n[image: A heron.]\n\nAnd why?\n\nAssistant:");
    assert_eq!(
        request.estimated_tokens(),
        85 + "Be brief.Which bird?\n\n[image: A heron.]\n\nAnd why?".len().div_ceil(4) as u64
    );
}

#[test]
fn an_image_alone_is_a_message_and_one_that_is_not_the_users_is_written_out() {
    let alone = ChatRequest::new("m", vec![Message::User(vec![Part::Image(picture())])]);
    let body = |dialect, request: &ChatRequest| build(dialect, request, Wording::default()).unwrap().body;
    assert_eq!(body(Dialect::Chat, &alone)["messages"][0]["content"].as_array().unwrap().len(), 1);
    assert_eq!(body(Dialect::Messages, &alone)["messages"][0]["content"].as_array().unwrap().len(), 1);
    let said = Message::Assistant { parts: vec![Part::Image(picture())], tool_calls: Vec::new() };
    let said = ChatRequest::new("m", vec![Message::user("Draw."), said]);
    assert_eq!(body(Dialect::Chat, &said)["messages"][1]["content"], "[image: A heron.]");
    assert_eq!(body(Dialect::Messages, &said)["messages"][1]["content"][0]["text"], "[image: A heron.]");
}

#[test]
fn a_text_to_be_continued_stands_behind_its_instructions() {
    let mut request = ChatRequest::new("m", vec![Message::system("In verse."), Message::user("Once upon")]);
    request.continues = true;
    let built = build(Dialect::Completions, &request, Wording::default()).unwrap();
    assert_eq!((built.body["prompt"].as_str(), built.body.get("stop")), (Some("In verse.\n\nOnce upon"), None));
}
