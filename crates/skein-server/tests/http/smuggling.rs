//! Requests of two meanings: what a proxy in front might read otherwise is refused, or read once and the connection
//! closed; and paths that look like other paths lead nowhere.

use skein_server::ServeOptions;
use tokio::task::spawn_blocking;

use crate::server_fixture::ServerFixture;
use crate::socket::{exchange, start_with};

/// A request that must never be answered: it stands where only a body may stand.
const SMUGGLED: &str = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Sends requests built from the key and the server's address, each on a connection of its own.
async fn answers<const N: usize>(
    world: &ServerFixture,
    requests: impl FnOnce(&str, &str) -> [Vec<u8>; N] + Send + 'static,
) -> [String; N] {
    let running = start_with(world, ServeOptions::default()).await;
    let (address, key) = (running.address, world.key.reveal().to_owned());
    let talk = move || requests(&address.to_string(), &key).map(|request| exchange(address, &request));
    let answers = spawn_blocking(talk).await.unwrap();
    running.end().await;
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_one_length() {
    let world = ServerFixture::new().await;
    let before = world.count().await;
    let refused = answers(&world, |address, key| {
        let post = |framing: &str, rest: &str| {
            let head = format!(
                "POST /api/v1/items HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\n"
            );
            format!("{head}{framing}\r\n{rest}").into_bytes()
        };
        [
            post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"),
            post("Content-Length: 2, 3\r\n", "{}"),
            post("Content-Length: +2\r\n", "{}"),
            post("Content-Length: 0x2\r\n", "{}"),
            post("Content-Length: -1\r\n", "{}"),
            post("Content-Length: 99999999999999999999\r\n", "{}"),
            post("Content-Length: 2\r\n Content-Length: 40\r\n", "{}"),
            post("Content-Length : 2\r\n", "{}"),
            post("Transfer-Encoding: gzip\r\n", "{}"),
            post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
            post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
            post("Transfer-Encoding: chunked\rContent-Length: 2\r\n", "{}"),
            post("X: a\0b\r\nContent-Length: 2\r\n", "{}"),
        ]
    });
    for (shape, answer) in refused.await.into_iter().enumerate() {
        let status = answer.get(9..12).unwrap_or_default();
        assert!(["400", "413"].contains(&status), "shape {shape}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "shape {shape}: {answer}");
    }
    assert_eq!(world.count().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_readers_could_end_differently_ends_the_connection() {
    let world = ServerFixture::new().await;
    let before = world.count().await;
    let read_once = answers(&world, |address, key| {
        let post = |framing: &str, rest: &str| {
            let head = format!(
                "POST /api/v1/items HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\n"
            );
            format!("{head}{framing}\r\n{rest}{SMUGGLED}").into_bytes()
        };
        [
            post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
            post("Transfer-Encoding: chunked\r\n", "2\n{}\n0\n\n"),
            post("Transfer-Encoding: chunked\r\n", "2;a=\n{}\r\n0\r\n\r\n"),
            post("Transfer-Encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n"),
            post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
        ]
    });
    for (shape, answer) in read_once.await.into_iter().enumerate() {
        assert!(answer.starts_with("HTTP/1.1 400 "), "shape {shape}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "shape {shape}: {answer}");
    }
    assert_eq!(world.count().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_are_no_http_are_refused() {
    let world = ServerFixture::new().await;
    let refused = answers(&world, |address, _| {
        [
            format!("GET /health/live\r\nHost: {address}\r\n\r\n"),
            format!("GET /health/live HTTP/3.0\r\nHost: {address}\r\n\r\n"),
            format!("GET  /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\rX: y\r\n\r\n"),
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n folded\r\n\r\n"),
            format!("GET /health/\0live HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
            "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n".to_owned(),
        ]
        .map(String::into_bytes)
    });
    for (shape, answer) in refused.await.into_iter().enumerate() {
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "shape {shape}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_names_another_host_is_refused() {
    let world = ServerFixture::new().await;
    let refused = answers(&world, |address, _| {
        let end = "Connection: close\r\n\r\n";
        [
            format!("GET http://evil.example/health/live HTTP/1.1\r\nHost: {address}\r\n{end}"),
            format!("GET http://{address}/health/live HTTP/1.1\r\nHost: evil.example\r\n{end}"),
            format!("GET http://{address}@evil.example/health/live HTTP/1.1\r\nHost: {address}\r\n{end}"),
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\n{end}"),
            format!("GET /health/live HTTP/1.1\r\nHost: evil.example\r\nHost: {address}\r\n{end}"),
            format!("CONNECT evil.example:443 HTTP/1.1\r\nHost: {address}\r\n{end}"),
            format!("GET /health/live HTTP/1.0\r\n{end}"),
        ]
        .map(String::into_bytes)
    });
    for (shape, answer) in refused.await.into_iter().enumerate() {
        assert!(answer.starts_with("HTTP/1.1 421 ") || answer.starts_with("HTTP/1.0 421 "), "shape {shape}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_look_like_others_lead_nowhere() {
    let world = ServerFixture::new().await;
    world.note("kept in the house").await;
    let nowhere = answers(&world, |address, key| {
        let overlong = format!("/api/v1/items/{}", "a".repeat(8_000));
        let paths = [
            "/api/v1/../v1/items",
            "/api/v1/items/../items",
            "/api/v1/%2e%2e/v1/items",
            "/api/v1/items/%2e%2e",
            "/api/v1/items/..%2f..%2fitems",
            "//api/v1/items",
            "/api//v1/items",
            "/api/v1/items/",
            "/api/v1/items%00",
            "/api/v1/items/%00",
            "/api/v1/items;a=b",
            "/api/v1/./items",
            "/API/v1/items",
            "/api/v1/items%2f",
            "/api/v1/items/%ff%fe",
            "/api/v1/items/%",
            "/..%5c..%5cetc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            overlong.as_str(),
        ];
        paths.map(|path| {
            let head = format!("Host: {address}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n");
            format!("GET {path} HTTP/1.1\r\n{head}\r\n").into_bytes()
        })
    });
    for (shape, answer) in nowhere.await.into_iter().enumerate() {
        let status = answer.get(9..12).unwrap_or_default();
        assert!(["400", "404"].contains(&status), "path {shape}: {answer}");
        assert!(!answer.contains("kept in the house") && !answer.contains("root:"), "path {shape}: {answer}");
    }
}
