//! REST calls against httpbin, and against a service that answers as badly as it can.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::credential::{Credential, MARK};
use skein_connect::http::{CallFault, Limits, Phase, Retry};
use skein_connect::rest::{CallReport, RestRequest, call};
use skein_core::catalog::operation::rest::{Accept, RenderedRest, RestCall};
use skein_core::catalog::secret::{SecretPlace, SecretType, SecretUse};
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::httpbin::Httpbin;

use crate::fixtures::client;

fn rendered(operation: Value, inputs: Value) -> RenderedRest {
    let operation: RestCall = serde_json::from_value(operation).unwrap();
    let Value::Object(inputs) = inputs else { panic!("inputs are an object") };
    operation.render(&inputs.into_iter().collect()).unwrap()
}

fn request<'a>(endpoint: &'a str, rendered: &'a RenderedRest) -> RestRequest<'a> {
    let limits = Limits { answer_bytes_max: 1 << 20, ..Limits::default() };
    RestRequest { endpoint, rendered, accept: Accept::Json, credential: None, limits, retry: Retry::NEVER }
}

#[tokio::test]
async fn a_call_reaches_a_real_service_as_it_was_rendered() {
    let httpbin = Httpbin::start();
    let operation = json!({"method": "POST", "path": "/anything/{{name}}", "query": {"q": "{{q}}"},
        "headers": {"X-Trace": "t-{{name}}"}, "body": {"list": "{{list}}", "text": "\"{{q}}\""}});
    let rendered = rendered(operation, json!({"name": "a/b?c", "q": "x&y=z \"", "list": [1, 2]}));
    let report = call(&client(&[httpbin.address()]), &request(&httpbin.endpoint(), &rendered)).await.unwrap();
    let output = report.output.unwrap();
    assert_eq!(output["json"], json!({"list": [1, 2], "text": "\"x&y=z \"\""}));
    assert_eq!((&output["args"]["q"], &output["method"]), (&json!("x&y=z \""), &json!("POST")));
    assert_eq!(output["headers"]["X-Trace"], json!("t-a/b?c"));
    assert_eq!(report.response.unwrap().status, 200);
}

#[tokio::test]
async fn each_type_of_secret_is_accepted_by_a_real_service_and_seen_by_nobody() {
    let httpbin = Httpbin::start();
    let key_use = SecretUse { place: SecretPlace::Query, name: "key".to_owned(), prefix: None };
    let cases = [
        (SecretType::ApiKey, "canary-api-key", None, "/bearer"),
        (SecretType::ApiKey, "canary-api-key", Some(&key_use), "/anything"),
        (SecretType::OauthToken, r#"{"accessToken": "canary-api-key"}"#, None, "/bearer"),
        (SecretType::Password, r#"{"username": "me", "password": "canary-pass"}"#, None, "/basic-auth/me/canary-pass"),
    ];
    for (secret_type, value, key_use, path) in cases {
        let credential = Some(Arc::new(Credential::new(secret_type, value.as_bytes(), key_use).unwrap()));
        let rendered = rendered(json!({"method": "GET", "path": path}), json!({}));
        let endpoint = httpbin.endpoint();
        let request = RestRequest { credential, ..request(&endpoint, &rendered) };
        let report = call(&client(&[httpbin.address()]), &request).await.unwrap();
        assert!(report.output.is_ok(), "{report:?}");
        let shown = format!("{report:?}");
        assert!(!shown.contains("canary") && shown.contains(MARK), "{shown}");
        assert!(!shown.contains("Y2FuYXJ5") && !shown.contains("bWU6Y2FuYXJ5"), "{shown}");
        assert_eq!(report.was_scrubbed, !path.starts_with("/basic"));
    }
}

#[tokio::test]
async fn redirects_and_texts_of_a_real_service_are_read() {
    let httpbin = Httpbin::start();
    let client = client(&[httpbin.address()]);
    let redirected = rendered(json!({"method": "GET", "path": "/redirect/3"}), json!({}));
    let report = call(&client, &request(&httpbin.endpoint(), &redirected)).await.unwrap();
    assert!(report.output.unwrap()["url"].as_str().unwrap().ends_with("/get"));
    let robots = rendered(json!({"method": "GET", "path": "/robots.txt", "accept": "text"}), json!({}));
    let report = call(&client, &RestRequest { accept: Accept::Text, ..request(&httpbin.endpoint(), &robots) }).await;
    assert!(report.unwrap().output.unwrap().as_str().unwrap().starts_with("User-agent"));
    let html = rendered(json!({"method": "GET", "path": "/html"}), json!({}));
    let report = call(&client, &request(&httpbin.endpoint(), &html)).await.unwrap();
    assert!(matches!(report.output, Err(CallFault::Content { .. })), "{report:?}");
}

async fn answered(behaviour: Behaviour, accept: Accept) -> CallReport {
    answered_within(Limits::default(), behaviour, accept).await
}

async fn answered_within(limits: Limits, behaviour: Behaviour, accept: Accept) -> CallReport {
    let hostile = HostileServer::start(move |_| behaviour.clone());
    let rendered = rendered(json!({"method": "GET", "path": "/"}), json!({}));
    let limits = Limits { answer_bytes_max: 1 << 20, ..limits };
    let endpoint = hostile.endpoint();
    let request = RestRequest { accept, limits, ..request(&endpoint, &rendered) };
    call(&client(&[hostile.address()]), &request).await.unwrap()
}

fn typed(content_type: &str, body: &[u8]) -> Behaviour {
    Behaviour::answer(200, &[("content-type", content_type)], body)
}

#[tokio::test]
async fn what_is_not_the_expected_content_is_a_fault_that_says_so() {
    for (behaviour, accept, part) in [
        (Behaviour::json("{\"a\": "), Accept::Json, "broken at line 1"),
        (Behaviour::json("\u{7}"), Accept::Json, "broken"),
        (Behaviour::json(&"[".repeat(100_000)), Accept::Json, "broken"),
        (typed("text/html", b"<html>"), Accept::Json, "text/html"),
        (typed("image/png", b"{}"), Accept::Json, "image/png"),
        (typed("text/plain", b"\xff\xfe"), Accept::Text, "UTF-8"),
        (Behaviour::answer(200, &[("content-encoding", "gzip")], "x"), Accept::Json, "compressed"),
    ] {
        let report = answered(behaviour, accept).await;
        let fault = report.output.unwrap_err();
        assert!(matches!(&fault, CallFault::Content { cause, .. } if cause.contains(part)), "{fault}");
        assert!(report.response.is_some());
    }
}

#[tokio::test]
async fn json_of_every_kind_is_read_and_nothing_is_null() {
    for (content_type, body, expected) in [
        ("application/json; charset=utf-8", "[1]", json!([1])),
        ("application/problem+json", "{}", json!({})),
        ("Application/JSON", "\"é\"", json!("é")),
        ("application/json", "", Value::Null),
    ] {
        assert_eq!(answered(typed(content_type, body.as_bytes()), Accept::Json).await.output, Ok(expected));
    }
    assert_eq!(answered(Behaviour::answer(200, &[], "7"), Accept::Json).await.output, Ok(json!(7)));
}

#[tokio::test]
async fn a_status_of_failure_is_a_fault_with_the_answer_beside_it() {
    for (status, is_retryable) in [(400, false), (403, false), (404, false), (429, true), (500, false), (503, true)] {
        let report = answered(Behaviour::answer(status, &[], "why"), Accept::Json).await;
        let fault = report.output.unwrap_err();
        assert!(matches!(fault, CallFault::Status { status: found, .. } if found == status), "{fault}");
        assert_eq!(fault.is_retryable(), is_retryable, "{status}");
        assert_eq!(report.response.unwrap().body, "why");
    }
}

#[tokio::test]
async fn slow_endless_huge_and_broken_answers_are_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let part = format!("{head}content-length: 9\r\n\r\n[1").into_bytes();
    let huge = format!("{head}content-length: 300000000\r\n\r\n").into_bytes();
    let fault = |behaviour| async { answered(behaviour, Accept::Json).await.output.unwrap_err() };
    let short = Duration::from_millis(100);
    let late = Limits { first_byte: short, ..Limits::default() };
    let report = answered_within(late, Behaviour::Silence, Accept::Json).await;
    assert!(matches!(report.output, Err(CallFault::Timeout { phase: Phase::FirstByte, .. })));
    let idle = Limits { idle: short, ..Limits::default() };
    let report = answered_within(idle, Behaviour::Stall(part.clone()), Accept::Json).await;
    assert!(matches!(report.output, Err(CallFault::Timeout { phase: Phase::Idle, .. })));
    assert!(matches!(fault(Behaviour::Endless).await, CallFault::TooLarge { .. }));
    assert!(matches!(fault(Behaviour::Stall(huge)).await, CallFault::TooLarge { .. }));
    assert!(matches!(fault(Behaviour::Raw(part.clone())).await, CallFault::Reset { .. }));
    assert!(matches!(fault(Behaviour::Reset(part)).await, CallFault::Reset { .. }));
}

#[tokio::test]
async fn a_secret_given_as_an_input_is_shown_nowhere() {
    let hostile = HostileServer::start(|request| Behaviour::json(&json!({"echo": request.path}).to_string()));
    let credential = Some(Arc::new(Credential::new(SecretType::ApiKey, b"canary/key", None).unwrap()));
    let operation = json!({"method": "POST", "path": "/{{x}}", "query": {"q": "{{x}}"}, "headers": {"X-A": "{{x}}"},
        "body": {"x": "{{x}}"}});
    let rendered = rendered(operation, json!({"x": "canary/key"}));
    let endpoint = hostile.endpoint();
    let report =
        call(&client(&[hostile.address()]), &RestRequest { credential, ..request(&endpoint, &rendered) }).await;
    let shown = format!("{report:?}");
    assert!(!shown.contains("canary") && report.unwrap().was_scrubbed, "{shown}");
}

/// What is reported of an answer to a call with this key.
async fn told_with_key(key: &str, behaviour: Behaviour) -> CallReport {
    let hostile = HostileServer::start(move |_| behaviour.clone());
    let credential = Some(Arc::new(Credential::new(SecretType::ApiKey, key.as_bytes(), None).unwrap()));
    let rendered = rendered(json!({"method": "GET", "path": "/"}), json!({}));
    let endpoint = hostile.endpoint();
    call(&client(&[hostile.address()]), &RestRequest { credential, ..request(&endpoint, &rendered) }).await.unwrap()
}

#[tokio::test]
async fn a_fault_does_not_tell_the_secret() {
    let key = "Canary-\"Key\"";
    let long = format!("{}/{key}", "x".repeat(95));
    for behaviour in [
        Behaviour::answer(200, &[("content-type", key)], "x"),
        Behaviour::answer(200, &[("content-type", &long)], "x"),
        Behaviour::answer(200, &[("content-type", "text/html; charset=Canary-\"Key\"")], "x"),
        Behaviour::answer(200, &[("content-encoding", key)], "x"),
    ] {
        let report = told_with_key(key, behaviour).await;
        assert!(matches!(report.output, Err(CallFault::Content { .. })), "{report:?}");
        assert!(!format!("{report:?}").to_lowercase().contains("canary"), "{report:?}");
    }
    for location in ["http://canary.key.invalid/", "http://127.0.0.1:1/canary.key", "canary.key://host/"] {
        let report = told_with_key("canary.key", Behaviour::redirect(302, location)).await;
        assert!(report.output.is_err() && !format!("{report:?}").contains("canary"), "{report:?}");
    }
}

#[tokio::test]
async fn a_key_that_a_service_escapes_is_withheld_from_the_stored_body() {
    let key = "Canary/7+x==";
    for spelled in [r"Canary\/7\u002Bx\u003d\u003D", "Canary&#47;7&plus;x&#x3D;&equals;", "canary%2f7%2Bx%3D%3d"] {
        let report = told_with_key(key, Behaviour::json(&format!(r#"{{"echo":"Bearer {spelled}"}}"#))).await;
        let body = &report.response.as_ref().unwrap().body;
        assert_eq!(body, &format!(r#"{{"echo":"Bearer {MARK}"}}"#), "{spelled}");
        assert!(report.was_scrubbed);
        assert_eq!(report.output, Ok(json!({ "echo": format!("Bearer {MARK}") })), "{spelled}");
    }
}

#[tokio::test]
async fn a_key_of_digits_is_withheld_as_a_number_too() {
    let report = told_with_key("90210777", Behaviour::json(r#"{"yourKey": 90210777, "n": 90210}"#)).await;
    assert!(report.was_scrubbed && !format!("{report:?}").contains("90210777"), "{report:?}");
    assert_eq!(report.output, Ok(json!({"yourKey": MARK, "n": 90210})));
}

#[tokio::test]
async fn what_is_shown_holds_no_character_that_documents_refuse() {
    let report = told_with_key("canary-key", typed("application/json", b"\"a\0b\"")).await;
    assert_eq!(report.response.unwrap().body, "\"ab\"");
}

#[tokio::test]
async fn cookies_of_an_answer_are_not_shown() {
    let headers = [("Set-Cookie", "session=abc"), ("set-cookie2", "old=def"), ("x-kept", "yes"), ("SET-COOKIE", "c=d")];
    let report = answered(Behaviour::answer(200, &headers, "7"), Accept::Json).await;
    let shown = report.response.unwrap().headers;
    assert!(shown.contains(&("x-kept".to_owned(), "yes".to_owned())), "{shown:?}");
    assert!(!shown.iter().any(|(name, _)| name.starts_with("set-cookie")), "{shown:?}");
}
