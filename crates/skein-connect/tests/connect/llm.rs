//! Language models over real connections: a server by others, one that misbehaves, and the built-in model.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use http::HeaderMap;
use serde_json::{Value, json};
use skein_connect::credential::Credential;
use skein_connect::http::{CallFault, Limits};
use skein_connect::llm::{
    ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, Finish, LIMITS, LanguageModel, LlmFault, Message,
    Provider, StreamBreak,
};
use skein_core::catalog::secret::SecretType;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};
use skein_testkit::litellm::Litellm;

use crate::fixtures::client;

fn model(address: SocketAddr, dialect: Dialect, base_url: String) -> LanguageModel {
    LanguageModel::Provider(Provider {
        http: client(&[address]),
        dialect,
        base_url,
        credential: None,
        headers: HeaderMap::new(),
        limits: LIMITS,
    })
}

fn of_hostile(hostile: &HostileServer, dialect: Dialect) -> LanguageModel {
    model(hostile.address(), dialect, hostile.endpoint())
}

fn question() -> ChatRequest {
    ChatRequest::new(Litellm::MODEL, vec![Message::system("Be brief."), Message::user("When is the launch?")])
}

async fn read(model: &LanguageModel, request: &ChatRequest) -> (Vec<ChatEvent>, ChatAnswer) {
    let mut events: Vec<ChatEvent> = model.chat(request).await.unwrap().map(Result::unwrap).collect().await;
    let Some(ChatEvent::End(answer)) = events.pop() else { panic!("no end") };
    (events, *answer)
}

fn texts(events: &[ChatEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| if let ChatEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

#[tokio::test]
async fn a_server_by_others_answers_in_every_dialect_whole_and_streamed() {
    let server = Litellm::start();
    for dialect in [Dialect::Chat, Dialect::Completions, Dialect::Messages] {
        let LanguageModel::Provider(mut provider) = model(server.address(), dialect, server.endpoint()) else {
            unreachable!()
        };
        let key = Credential::new(SecretType::ApiKey, Litellm::KEY.as_bytes(), Some(&dialect.key_use())).unwrap();
        provider.credential = Some(Arc::new(key));
        let model = LanguageModel::Provider(provider);
        for request in [question(), question().streamed()] {
            let (events, answer) = read(&model, &request).await;
            assert_eq!(answer.text, Litellm::ANSWER, "{dialect:?}");
            assert_eq!(texts(&events).concat(), answer.text);
            assert_eq!((answer.finish, answer.model.as_str()), (Finish::Stop, Litellm::MODEL));
            assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0);
            assert_eq!((answer.raw.status, answer.raw.body.is_empty()), (200, false));
            assert!(answer.raw.header("content-type").is_some());
            // This server streams no Anthropic messages when it makes them up.
            assert!(!request.stream || dialect == Dialect::Messages || texts(&events).len() > 3);
        }
        let unknown = ChatRequest { model: "nobody".to_owned(), ..question() };
        let refused = model.answer(&unknown).await.unwrap_err();
        assert!(matches!(refused.fault, LlmFault::ModelNotFound { .. }), "{dialect:?}: {refused}");
        assert!(refused.so_far.is_some_and(|so_far| !so_far.raw.body.is_empty()));
    }
}

fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
}

fn delta(text: &str) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": {"content": text}}]})
}

fn head(length: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{length}\r\n")
}

/// A piece in the framing of HTTP.
fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

async fn broken(behaviour: Behaviour) -> (Vec<ChatEvent>, ChatFailure) {
    let hostile = HostileServer::start(move |_| behaviour.clone());
    let mut events = Vec::new();
    let mut answers = of_hostile(&hostile, Dialect::Chat).chat(&question().streamed()).await.unwrap();
    while let Some(event) = answers.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(failure) => return (events, failure),
        }
    }
    panic!("the answer did not break");
}

#[tokio::test]
async fn a_stream_that_breaks_gives_what_came_and_says_how_it_broke() {
    let begun = sse(&[delta("Hello"), delta(", Ana")]);
    let ended = Behaviour::Raw(format!("{}{begun}", head("connection: close\r\n")).into_bytes());
    let cut = Behaviour::Raw(format!("{}{}", head("transfer-encoding: chunked\r\n"), chunk(&begun)).into_bytes());
    let reset = Behaviour::Reset(format!("{}{}", head("transfer-encoding: chunked\r\n"), chunk(&begun)).into_bytes());
    for (behaviour, is_lost) in [(ended, false), (cut, true), (reset, true)] {
        let (events, failure) = broken(behaviour.clone()).await;
        let LlmFault::BrokenStream(how) = &failure.fault else { panic!("{behaviour:?}: {failure}") };
        assert_eq!(matches!(how, StreamBreak::Lost(_)), is_lost, "{behaviour:?}: {how}");
        let so_far = failure.so_far.unwrap();
        assert_eq!((so_far.text.as_str(), &so_far.finish), (texts(&events).concat().as_str(), &Finish::Unfinished));
        if !matches!(behaviour, Behaviour::Reset(_)) {
            assert_eq!((so_far.text.as_str(), so_far.raw.body), ("Hello, Ana", begun.clone().into()));
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_told_with_its_cause() {
    let error = json!({"error": {"message": "Overloaded", "type": "overloaded_error"}});
    let body = sse(&[delta("Hello"), error]);
    let (events, failure) = broken(Behaviour::answer(200, &[("content-type", "text/event-stream")], body)).await;
    assert_eq!(texts(&events), ["Hello"]);
    assert!(matches!(failure.fault, LlmFault::BrokenStream(StreamBreak::Reported(_))), "{failure}");
    assert!(failure.is_retryable());
}

#[tokio::test]
async fn silence_and_endless_answers_are_bounded() {
    let begun = format!("{}{}", head("transfer-encoding: chunked\r\n"), chunk(&sse(&[delta("Hello")])));
    let hostile = HostileServer::start(move |request| {
        if request.path.contains("endless") { Behaviour::Endless } else { Behaviour::Stall(begun.clone().into_bytes()) }
    });
    let LanguageModel::Provider(mut provider) = of_hostile(&hostile, Dialect::Chat) else { unreachable!() };
    provider.limits = Limits { idle: Duration::from_millis(80), ..LIMITS };
    let stalled = LanguageModel::Provider(provider.clone()).answer(&question().streamed()).await.unwrap_err();
    assert!(matches!(stalled.fault, LlmFault::BrokenStream(StreamBreak::Lost(_))), "{stalled}");
    assert_eq!(stalled.so_far.unwrap().text, "Hello");
    provider.base_url = format!("{}/endless", hostile.endpoint());
    provider.limits = LIMITS;
    let endless = LanguageModel::Provider(provider).answer(&question()).await.unwrap_err();
    assert!(matches!(endless.fault, LlmFault::TooLarge { .. }), "{endless}");
}

#[tokio::test]
async fn what_a_provider_refuses_comes_at_once_with_its_words_and_raw_response() {
    let error = json!({"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}});
    let hostile = HostileServer::start(move |_| {
        Behaviour::answer(429, &[("retry-after", "3"), ("x-request-id", "r1")], error.to_string())
    });
    let failure = of_hostile(&hostile, Dialect::Chat).chat(&question().streamed()).await.unwrap_err();
    assert_eq!((failure.fault.code(), failure.retry_after()), ("llm_rate_limited", Some(Duration::from_secs(3))));
    assert_eq!(failure.fault.to_string(), "the provider limits how often it is asked: Rate limit reached");
    let raw = failure.so_far.unwrap().raw;
    assert_eq!((raw.status, raw.header("x-request-id")), (429, Some("r1")));
    assert_eq!(hostile.requests().len(), 1, "the caller decides whether to ask again");
}

#[tokio::test]
async fn a_provider_that_wants_another_word_gets_it() {
    let answer = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).to_string();
    let hostile = HostileServer::start(move |request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        if body.get("max_tokens").is_none() {
            return Behaviour::json(&answer);
        }
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        Behaviour::answer(400, &[], json!({"error": {"message": message, "code": "unsupported_parameter"}}).to_string())
    });
    let request = ChatRequest { max_tokens: Some(50), ..question() };
    assert_eq!(of_hostile(&hostile, Dialect::Chat).answer(&request).await.unwrap().text, "Hi");
    let asked: Vec<Value> =
        hostile.requests().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect();
    assert_eq!((asked.len(), &asked[1]["max_completion_tokens"]), (2, &json!(50)));
}

#[tokio::test]
async fn each_dialect_asks_at_its_own_place_with_its_own_headers() {
    let hostile = HostileServer::start(|_| Behaviour::answer(500, &[], ""));
    for dialect in [Dialect::Chat, Dialect::Completions, Dialect::Messages] {
        let failure = of_hostile(&hostile, dialect).answer(&question()).await.unwrap_err();
        assert_eq!(failure.fault.code(), "llm_provider_failed");
    }
    let requests = hostile.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/v1/chat/completions", "/v1/completions", "/v1/messages"]);
    let version = |request: &Request| request.header("anthropic-version").map(str::to_owned);
    assert_eq!(requests.iter().map(version).collect::<Vec<_>>(), [None, None, Some("2023-06-01".to_owned())]);
}

#[tokio::test]
async fn a_model_on_an_address_nobody_allowed_is_not_asked() {
    let hostile = HostileServer::start(|_| Behaviour::json("{}"));
    let provider = Provider {
        http: client(&[]),
        dialect: Dialect::Chat,
        base_url: hostile.endpoint(),
        credential: None,
        headers: HeaderMap::new(),
        limits: LIMITS,
    };
    let failure = LanguageModel::Provider(provider).answer(&question()).await.unwrap_err();
    assert!(matches!(failure.fault, LlmFault::Call(CallFault::Refused(_))), "{failure}");
    assert!(hostile.requests().is_empty());
}

#[tokio::test]
async fn the_built_in_model_streams_word_by_word_what_it_answers_at_once() {
    let (events, streamed) = read(&LanguageModel::Offline, &question().streamed()).await;
    let whole = LanguageModel::Offline.answer(&question()).await.unwrap();
    assert_eq!(streamed, whole);
    assert_eq!(texts(&events).concat(), whole.text);
    assert!(texts(&events).len() > 20);
    assert!(whole.text.contains("Built-in offline model") && whole.usage.is_estimate);
}
