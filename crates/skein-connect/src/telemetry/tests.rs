//! Tests the request to a collector and the reading of its answers.

use serde_json::json;
use skein_core::Millis;
use skein_core::flow::telemetry::{Attribute, SpanKind, SpanStatus};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use super::*;

fn span() -> Span {
    Span {
        trace_id: [0xab; 16],
        id: [1; 8],
        parent: Some([2; 8]),
        name: "chat m".to_owned(),
        kind: SpanKind::Client,
        began_at: Millis(1_700_000_000_123),
        ended_at: Millis(1_700_000_000_124),
        attributes: vec![
            ("text", Attribute::Text("t".to_owned())),
            ("whole", Attribute::Whole(i64::MAX)),
            ("real", Attribute::Real(0.5)),
            ("truth", Attribute::Truth(true)),
            ("texts", Attribute::Texts(vec!["stop".to_owned()])),
        ],
        status: SpanStatus::Error(None),
    }
}

async fn told(
    behaviour: Behaviour,
) -> (Result<DeliveryResult, DeliveryError>, Vec<skein_testkit::hostile_server::Request>) {
    let hostile = HostileServer::start(move |_| behaviour.clone());
    let headers = ["Authorization=Bearer a=b".to_owned(), "x-tenant = herons".to_owned()];
    let collector = Collector::new(&format!("{}/otlp/", hostile.endpoint()), &headers, "0.1.0").unwrap();
    let told = collector.tell(&[span()]).await;
    (told, hostile.requests())
}

#[tokio::test]
async fn spans_are_spelled_as_otlp_wants_them() {
    let (taken, requests) = told(Behaviour::json("{}")).await;
    assert_eq!(taken, Ok(DeliveryResult::default()));
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/otlp/v1/traces"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!((request.header("authorization"), request.header("x-tenant")), (Some("Bearer a=b"), Some("herons")));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let scope = &body["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(scope["schemaUrl"], "https://opentelemetry.io/schemas/1.41.0");
    let expected = json!({
        "traceId": "ab".repeat(16), "spanId": "01".repeat(8), "parentSpanId": "02".repeat(8), "name": "chat m", "kind": 3,
        "startTimeUnixNano": "1700000000123000000", "endTimeUnixNano": "1700000000124000000", "status": { "code": 2 },
        "attributes": [
            { "key": "text", "value": { "stringValue": "t" } },
            { "key": "whole", "value": { "intValue": "9223372036854775807" } },
            { "key": "real", "value": { "doubleValue": 0.5 } },
            { "key": "truth", "value": { "boolValue": true } },
            { "key": "texts", "value": { "arrayValue": { "values": [{ "stringValue": "stop" }] } } },
        ],
    });
    assert_eq!(scope["spans"], json!([expected]));
}

#[tokio::test]
async fn what_may_pass_is_told_from_what_will_not() {
    for status in [429, 500, 502, 503] {
        let (untold, requests) = told(Behaviour::answer(status, &[("retry-after", "7")], "busy")).await;
        let Err(DeliveryError::Later { after, .. }) = untold else { panic!("{status}: {untold:?}") };
        assert_eq!((after, requests.len()), (Some(Duration::from_secs(7)), 1), "who asks decides when");
    }
    for status in [400, 401, 404, 413] {
        let (untold, _) = told(Behaviour::answer(status, &[], "no")).await;
        assert!(matches!(untold, Err(DeliveryError::Never(CallFault::Status { .. }))), "{status}: {untold:?}");
    }
    let (untold, _) = told(Behaviour::Reset(Vec::new())).await;
    assert!(matches!(untold, Err(DeliveryError::Later { after: None, .. })), "{untold:?}");
}

#[tokio::test]
async fn what_opens_a_collector_goes_nowhere_else() {
    let elsewhere = HostileServer::start(|_| Behaviour::json("{}"));
    let (untold, _) = told(Behaviour::redirect(307, &elsewhere.endpoint())).await;
    assert!(matches!(untold, Err(DeliveryError::Never(CallFault::Redirect { .. }))), "{untold:?}");
    assert!(elsewhere.requests().is_empty());
    let collector = Collector::new("http://127.0.0.1:4318", &["key=s3cret".to_owned()], "0.1.0").unwrap();
    assert!(!format!("{collector:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_collector_may_take_a_part() {
    let partial = r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
    let (taken, _) = told(Behaviour::json(partial)).await;
    assert_eq!(taken, Ok(DeliveryResult { rejected: 2, why: Some("too old".to_owned()) }));
    let (taken, _) = told(Behaviour::json("not json")).await;
    assert_eq!(taken, Ok(DeliveryResult::default()), "it has taken them");
}

#[test]
fn what_is_no_collector_is_refused() {
    for bad in ["", "collector:4318", "ftp://c", "http://anna:pass@c"] {
        assert!(matches!(Collector::new(bad, &[], "0"), Err(BadCollector::Address(_))), "{bad}");
    }
    for bad in ["novalue", "bad name=x", "n=a\u{7}b"] {
        let refused = Collector::new("http://c", &[bad.to_owned()], "0");
        assert!(matches!(refused, Err(BadCollector::Header)), "{bad}: {refused:?}");
    }
}

#[tokio::test]
async fn what_is_nobodys_address_is_never_called() {
    let collector = Collector::new("http://169.254.169.254", &[], "0").unwrap();
    assert!(matches!(collector.tell(&[span()]).await, Err(DeliveryError::Never(CallFault::Refused(_)))));
}
