//! Rules of every path: health, hosts and origins, correlation, fallbacks.

use std::io::Read as _;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use flate2::read::GzDecoder;
use tower::ServiceExt as _;

use crate::server_fixture::{Answer, HOST, ServerFixture};

async fn get(world: &ServerFixture, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    world.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn health_needs_no_key() {
    let world = ServerFixture::new().await;
    for (path, status) in [("/health/live", "live"), ("/health/ready", "ready")] {
        let answer = get(&world, path, &[("host", HOST)]).await;
        assert_eq!((answer.status, answer.json()["status"].as_str()), (StatusCode::OK, Some(status)));
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_at_the_start_and_programs_never_do() {
    let world = ServerFixture::new().await;
    let browser = ("accept", "text/html");
    let page = get(&world, "/", &[("host", HOST), browser]).await;
    assert_eq!((page.status, page.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src '"), "{:?}", page.headers);
    assert_eq!(page.header("cache-control"), "no-store");
    for path in ["/api/v1/nothing", "/api/nothing", "/health/nothing", "/metrics/nothing", "/assets/nothing.js"] {
        let answer = get(&world, path, &[("host", HOST), browser]).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::NOT_FOUND, "not_found"), "{path}");
    }
    assert_eq!(get(&world, "/c/x", &[("host", HOST)]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused_everywhere() {
    let world = ServerFixture::new().await;
    for path in ["/", "/health/live", "/api/v1/items", "/nothing"] {
        let rebound = get(&world, path, &[("host", "evil.example:7420")]).await;
        assert_eq!((rebound.status.as_u16(), rebound.code().as_str()), (421, "host_not_allowed"), "{path}");
        let foreign = get(&world, path, &[("host", HOST), ("origin", "http://evil.example")]).await;
        assert_eq!((foreign.status.as_u16(), foreign.code().as_str()), (403, "origin_not_allowed"), "{path}");
    }
    assert_eq!(get(&world, "/health/live", &[]).await.code(), "host_not_allowed");
    let absolute = get(&world, "http://evil.example/health/live", &[("host", HOST)]).await;
    assert_eq!(absolute.code(), "host_not_allowed");
    let own = get(&world, "/health/live", &[("host", HOST), ("origin", "http://localhost:7420")]).await;
    assert_eq!(own.status, StatusCode::OK);
}

#[tokio::test]
async fn a_correlation_id_is_echoed_or_drawn() {
    let world = ServerFixture::new().await;
    let echoed = get(&world, "/nothing", &[("host", HOST), ("x-correlation-id", "trace-7")]).await;
    assert_eq!(echoed.header("x-correlation-id"), "trace-7");
    assert_eq!(echoed.json()["error"]["correlationId"], "trace-7");
    let long = "x".repeat(129);
    for illegal in ["", "two words", &long] {
        let drawn = get(&world, "/health/live", &[("host", HOST), ("x-correlation-id", illegal)]).await;
        assert_eq!(drawn.header("x-correlation-id").len(), 32, "{illegal:?}");
    }
}

#[tokio::test]
async fn a_request_id_is_echoed_and_stands_in_for_a_missing_correlation_id() {
    let world = ServerFixture::new().await;
    let one = get(&world, "/nothing", &[("host", HOST), ("x-request-id", "r-1")]).await;
    assert_eq!((one.header("x-request-id"), one.header("x-correlation-id")), ("r-1", "r-1"));
    let both = [("host", HOST), ("x-request-id", "r-1"), ("x-correlation-id", "c-1")];
    let both = get(&world, "/nothing", &both).await;
    assert_eq!((both.header("x-request-id"), both.header("x-correlation-id")), ("r-1", "c-1"));
    let none = get(&world, "/nothing", &[("host", HOST)]).await;
    assert_eq!(none.header("x-request-id"), none.header("x-correlation-id"));
    assert!(none.header("x-response-time").parse::<f64>().unwrap() >= 0.0);
}

#[tokio::test]
async fn unknown_paths_and_methods_are_answered_in_the_envelope() {
    let world = ServerFixture::new().await;
    let path = world.get("/api/v2/items").await;
    assert_eq!((path.status.as_u16(), path.code().as_str()), (404, "not_found"));
    let request = world.request("DELETE", "/api/v1/items").body(Body::empty()).unwrap();
    let method = world.send(request).await;
    assert_eq!((method.status.as_u16(), method.code().as_str()), (405, "method_not_allowed"));
    assert_eq!(method.header("allow"), "GET,HEAD,POST");
}

#[tokio::test]
async fn answers_are_neither_guessed_kept_framed_nor_run() {
    let world = ServerFixture::new().await;
    for path in ["/", "/api/v1/items", "/nothing", "/health/live"] {
        let answer = world.get(path).await;
        let header = |name: &str| answer.header(name).to_owned();
        assert_eq!((header("x-content-type-options"), header("cache-control")), ("nosniff".into(), "no-store".into()));
        assert_eq!((header("referrer-policy"), header("x-frame-options")), ("no-referrer".into(), "DENY".into()));
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let policies: Vec<_> = answer.headers.get_all("content-security-policy").iter().collect();
        // The page, where it is built, may run what comes with it.
        let own = if path == "/" { "default-src 'self'" } else { "default-src 'none'" };
        let policy = policies[0].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") || policy.starts_with(own), "{path}: {policies:?}");
        assert!(policies.iter().any(|p| p.to_str().unwrap().contains("frame-ancestors 'none'")), "{path}");
    }
}

#[tokio::test]
async fn a_list_is_compressed_for_who_asks() {
    let world = ServerFixture::new().await;
    world.note(&"long ".repeat(1_000)).await;
    let request = |encoding: &str| world.request("GET", "/api/v1/items").header("accept-encoding", encoding);
    let plain = world.send(request("identity").body(Body::empty()).unwrap()).await;
    assert_eq!(plain.header("content-encoding"), "");
    let hosts = skein_server::AllowedHosts::new("127.0.0.1:7420".parse().unwrap(), Vec::new());
    let router = skein_server::router(world.context(), hosts);
    let response = router.oneshot(request("gzip").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.text);
}
