//! Refusals of requests about items: status, stable code and envelope, with nothing written.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use skein_core::account::Scope;

use crate::server_fixture::{HOST, ServerFixture, fresh_key};

const NOTE: &str = r#"{"_type":"Note","data":{"description":"a"}}"#;

/// Posts what must be refused, and looks that nothing was written.
async fn check(world: &ServerFixture, body: impl Into<Body>, status: u16, code: &str) -> serde_json::Value {
    let before = world.count().await;
    let answer = world.post("/api/v1/items", body).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{}", answer.text);
    assert_eq!(world.count().await, before);
    answer.json()["error"].take()
}

#[tokio::test]
async fn bodies_that_are_not_what_they_should_be() {
    let world = ServerFixture::new().await;
    for body in ["{}", r#"{"_type":"Note"}"#, r#"{"data":{}}"#, r#"{"_type":5,"data":{}}"#, r#"{"items":{}}"#] {
        check(&world, body, 400, "invalid_body").await;
    }
    for body in ["", "[]", "null", "{", r#"{"_type":"Note","data":[]}"#, r#"{"_type":"Note","data":{} x}"#] {
        check(&world, body, 400, "invalid_document").await;
    }
}

#[tokio::test]
async fn unknown_and_doubled_fields() {
    let world = ServerFixture::new().await;
    let unknown = r#"{"_type":"Note","data":{"description":"a"},"owner":"user_1"}"#;
    let error = check(&world, unknown, 400, "invalid_body").await;
    assert_eq!(error["details"]["field"], "owner");
    check(&world, r#"{"_type":"Note","_type":"Note","data":{}}"#, 400, "invalid_document").await;
    check(&world, r#"{"_type":"Note","data":{"a":1,"a":2}}"#, 400, "invalid_document").await;
    check(&world, r#"{"items":[],"_type":"Note"}"#, 400, "invalid_body").await;
}

#[tokio::test]
async fn mg_soil_002_a_recorded_time_from_outside_refuses() {
    let world = ServerFixture::new().await;
    let stated = r#"{"_type":"Note","data":{"description":"a"},"realizedAt":"2020-01-01T00:00:00.000Z"}"#;
    let error = check(&world, stated, 400, "invalid_body").await;
    assert_eq!(error["details"]["field"], "realizedAt");
}

#[tokio::test]
async fn documents_that_cannot_be_kept() {
    let world = ServerFixture::new().await;
    let in_data = |data: &str| format!(r#"{{"_type":"X","data":{{"a":{data}}}}}"#);
    check(&world, in_data(r#""x\u0000y""#), 400, "invalid_document").await;
    check(&world, in_data("9223372036854775808"), 400, "invalid_document").await;
    check(&world, in_data("1e999"), 400, "invalid_document").await;
    check(&world, in_data(r#""\ud800""#), 400, "invalid_document").await;
    check(&world, in_data(&format!("{}{}", "[".repeat(64), "]".repeat(64))), 400, "invalid_document").await;
    check(&world, in_data(&"[".repeat(1 << 20)), 400, "invalid_document").await;
    check(&world, in_data(&format!("\"{}\"", "x".repeat(1 << 20))), 413, "too_large").await;
    check(&world, b"{\"_type\":\"X\",\"data\":{\"a\":\"\xff\"}}".to_vec(), 400, "invalid_document").await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_announced_or_not() {
    let world = ServerFixture::new().await;
    let large = vec![b' '; skein_server::http::limits::BODY_BYTES_MAX + 1];
    check(&world, large.clone(), 413, "too_large").await;
    let request = world
        .request("POST", "/api/v1/items")
        .header("idempotency-key", fresh_key())
        .header("content-length", large.len());
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.code().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "too_large"));
}

#[tokio::test]
async fn times_that_are_none() {
    let world = ServerFixture::new().await;
    for at in [r#""yesterday""#, "5", r#""2025-01-01""#, r#""+010000-01-01T00:00:00Z""#] {
        let body = format!(r#"{{"_type":"Note","data":{{"description":"a"}},"canonicalAt":{at}}}"#);
        check(&world, body, 400, "invalid_body").await;
    }
}

#[tokio::test]
async fn breaches_of_rules_name_the_rule() {
    let world = ServerFixture::new().await;
    let cases = [
        (r#"{"_type":"note","data":{}}"#, "MG-SOIL-003"),
        (r#"{"_type":"Seal","data":{}}"#, "MG-SOIL-003"),
        (r#"{"_type":"X","data":{"_type":1}}"#, "MG-SOIL-004"),
        (r#"{"_type":"Note","data":{}}"#, "MG-SOIL-009"),
    ];
    for (body, rule) in cases {
        let error = check(&world, body, 422, "rule_violation").await;
        assert_eq!((&error["rule"], &error["retryable"]), (&rule.into(), &false.into()));
    }
}

#[tokio::test]
async fn one_bad_item_keeps_its_batch_out() {
    let world = ServerFixture::new().await;
    let batch = |second: &str| format!(r#"{{"items":[{NOTE},{second}]}}"#);
    let error = check(&world, batch(r#"{"_type":"Note","data":{}}"#), 422, "rule_violation").await;
    assert_eq!(error["details"]["index"], 1);
    let error = check(&world, batch(r#"{"_type":"X","data":{"a":1,"a":1}}"#), 400, "invalid_document").await;
    assert_eq!(error["details"], serde_json::json!({ "field": "data", "index": 1 }));
    check(&world, batch(&batch(NOTE)), 400, "invalid_body").await;
}

#[tokio::test]
async fn batches_of_nothing_or_too_much() {
    let world = ServerFixture::new().await;
    check(&world, r#"{"items":[]}"#, 400, "invalid_body").await;
    let many = format!(r#"{{"items":[{}]}}"#, vec![NOTE; 1_001].join(","));
    check(&world, many, 400, "invalid_body").await;
}

#[tokio::test]
async fn a_body_labelled_as_something_else() {
    let world = ServerFixture::new().await;
    let before = world.count().await;
    let request = world
        .request("POST", "/api/v1/items")
        .header("idempotency-key", fresh_key())
        .header("content-type", "text/plain");
    let answer = world.send(request.body(NOTE.into()).unwrap()).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (415, "unsupported_media_type"));
    let unlabelled =
        world.request("POST", "/api/v1/items").header("idempotency-key", fresh_key()).body(NOTE.into()).unwrap();
    assert_eq!(world.send(unlabelled).await.status, StatusCode::CREATED);
    assert_eq!(world.count().await, before + 1);
}

#[tokio::test]
async fn ids_that_are_none_or_not_there() {
    let world = ServerFixture::new().await;
    let check = async |id: &str, status: u16, code: &str| {
        let answer = world.get(&format!("/api/v1/items/{id}")).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{id}");
    };
    for id in ["x", "item_", "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "%ff", "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2AA"] {
        check(id, 400, "invalid_id").await;
    }
    check("item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", 404, "not_found").await;
}

#[tokio::test]
async fn parameters_that_are_unknown_doubled_or_wrong() {
    let world = ServerFixture::new().await;
    let check = async |query: &str, code: &str| {
        let answer = world.get(&format!("/api/v1/items?{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (400, code), "{query}");
    };
    for query in
        ["page=1", "limit=0", "limit=1001", "limit=-1", "clock=wall", "order=up", "from=x", "type=_", "limit=1&limit=1"]
    {
        check(query, "invalid_query").await;
    }
    for cursor in ["x", "ra", "ra1", "rax.1", "ra1.-1", "ca1.1", "rd1.1", "ra1.99999999999999999999"] {
        check(&format!("cursor={cursor}"), "invalid_cursor").await;
    }
    let item = world.get("/api/v1/items/item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A?full=1").await;
    assert_eq!((item.status.as_u16(), item.code().as_str()), (400, "invalid_query"));
    assert_eq!(world.post("/api/v1/items?dry=1", NOTE).await.code(), "invalid_query");
}

#[tokio::test]
async fn keys_that_are_missing_wrong_or_revoked() {
    let world = ServerFixture::new().await;
    let revoked = world.new_key(Scope::Admin).await;
    let id = world.get("/api/v1/keys").await.json()["data"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.change("DELETE", &format!("/api/v1/keys/{id}"), "").await.status, StatusCode::OK);
    let revoked = format!("Bearer {}", revoked.reveal());
    let unknown = format!("Bearer {}", skein_engine::KeyText::draw().reveal());
    for authorization in ["", "Bearer", "Bearer sk_x", "Basic abc", "Bearer é", &revoked, &unknown] {
        let request = Request::post("/api/v1/items").header("host", HOST).header("authorization", authorization);
        let answer = world.send(request.body(NOTE.into()).unwrap()).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (401, "unauthenticated"), "{authorization}");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    assert!(world.get("/api/v1/items?type=Note").await.json()["data"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_key_for_reading_may_read_and_not_write() {
    let world = ServerFixture::new().await;
    let admin = world.admin.clone();
    let reader = world.asked_by(admin, Scope::Read).await;
    check(&reader, NOTE, 403, "permission_denied").await;
    assert_eq!(reader.get("/api/v1/items").await.status, StatusCode::OK);
}
