//! Clients that want to hold the server up: slow ones, floods, and too many at once.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use skein_server::http::limits;
use skein_server::{AllowedHosts, Peer, ServeOptions};
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tower::ServiceExt as _;

use crate::server_fixture::{HOST, ServerFixture};
use crate::socket::{connect, exchange, read_answer, read_to_end, start, start_on, start_with};

const SHORT: Duration = Duration::from_millis(20);

/// Runs a client that blocks against a server with these options.
async fn against<T: Send + 'static>(
    world: &ServerFixture,
    options: ServeOptions,
    client: impl FnOnce(SocketAddr) -> T + Send + 'static,
) -> T {
    let running = start_with(world, options).await;
    let address = running.address;
    let outcome = spawn_blocking(move || client(address)).await.unwrap();
    running.end().await;
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_never_ends_is_cut_off() {
    let world = ServerFixture::new().await;
    let options = ServeOptions { head_time_max: SHORT, ..ServeOptions::default() };
    let answers = against(&world, options, |address| {
        let slow = exchange(address, b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: a");
        [slow, exchange(address, b"")]
    });
    assert_eq!(answers.await, ["", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_without_a_next_request_is_closed() {
    let world = ServerFixture::new().await;
    let options = ServeOptions { head_time_max: SHORT, ..ServeOptions::default() };
    // The first request is there before its time begins.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut stream = connect(address);
    let request = format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let running = start_on(listener, &world, options);
    let (answer, rest) = spawn_blocking(move || (read_answer(&mut stream), read_to_end(&mut stream))).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert_eq!(rest, "");
    running.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_answered_and_nothing_is_kept() {
    let world = ServerFixture::new().await;
    let before = world.count().await;
    let options = ServeOptions { body_time_max: SHORT, ..ServeOptions::default() };
    let key = world.key.reveal().to_owned();
    let answer = against(&world, options, move |address| {
        let head = format!(
            "Host: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\nContent-Length: 43\r\n"
        );
        let request = format!("POST /api/v1/items HTTP/1.1\r\n{head}\r\n{{\"_type\":\"Note\"");
        exchange(address, request.as_bytes())
    });
    let answer = answer.await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("body_too_slow"), "{answer}");
    assert_eq!(world.count().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_headers_are_refused() {
    let world = ServerFixture::new().await;
    let answers = against(&world, ServeOptions::default(), |address| {
        let many = "X-Flood: a\r\n".repeat(limits::HEADERS_MAX);
        let large = format!("X-Flood: {}\r\n", "a".repeat(limits::HEAD_BYTES_MAX));
        let endless = "X-Flood: a\r\n".repeat(1 << 16);
        let long_path = "a".repeat(limits::HEAD_BYTES_MAX);
        let requests = [
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n{many}\r\n"),
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n{large}\r\n"),
            format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n{endless}"),
            format!("GET /{long_path} HTTP/1.1\r\nHost: {address}\r\n\r\n"),
        ];
        requests.map(|request| exchange(address, request.as_bytes()))
    });
    let [many, large, endless, long_path] = answers.await;
    for refused in [many, large, long_path] {
        assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
    }
    // The server closes while the flood still comes, so the answer may be lost on the way.
    assert!(endless.is_empty() || endless.starts_with("HTTP/1.1 431 "), "{endless}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let world = ServerFixture::new().await;
    let options = ServeOptions { connections_max: 1, ..ServeOptions::default() };
    let answer = against(&world, options, |address| {
        let request = format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let mut first = connect(address);
        first.write_all(request.as_bytes()).unwrap();
        read_answer(&mut first);
        let mut second = connect(address);
        second.write_all(request.as_bytes()).unwrap();
        for _ in 0..20 {
            first.write_all(request.as_bytes()).unwrap();
            read_answer(&mut first);
        }
        second.set_nonblocking(true).unwrap();
        assert_eq!(second.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        second.set_nonblocking(false).unwrap();
        drop(first);
        read_answer(&mut second)
    });
    assert!(answer.await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_connections_that_say_nothing_do_not_keep_others_out() {
    let world = ServerFixture::new().await;
    let options = ServeOptions { connections_max: 16, head_time_max: SHORT, ..ServeOptions::default() };
    // All of them are there, and what the last one asks, before anybody's time begins.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let silent: Vec<_> = (0..100).map(|_| connect(address)).collect();
    let mut honest = connect(address);
    let request = format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n");
    honest.write_all(request.as_bytes()).unwrap();
    let running = start_on(listener, &world, options);
    let answer = spawn_blocking(move || read_answer(&mut honest)).await.unwrap();
    drop(silent);
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    running.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_after_a_request_ends_the_connection() {
    let world = ServerFixture::new().await;
    let running = start(&world).await;
    let address = running.address;
    let answer = spawn_blocking(move || {
        let request = format!("GET /health/live HTTP/1.1\r\nHost: {address}\r\n\r\n\x16\x03\x01 garbage\r\n\r\n{{}}");
        exchange(address, request.as_bytes())
    });
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 2, "{answer}");
    assert!(answer.contains("HTTP/1.1 400 Bad Request"), "{answer}");
    running.end().await;
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_back() {
    let world = ServerFixture::new().await;
    let hosts = AllowedHosts::new("127.0.0.1:7420".parse().unwrap(), Vec::new());
    let router = skein_server::router(world.context(), hosts);
    let ask = async |peer: &str| {
        let peer: SocketAddr = peer.parse().unwrap();
        let request = Request::get("/health/live").header("host", HOST).extension(Peer::at(peer));
        router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    };
    let refused = loop {
        let response = ask("203.0.113.7:5000").await;
        if response.status() != 200 {
            break response;
        }
    };
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    let body = to_bytes(refused.into_body(), usize::MAX).await.unwrap();
    let envelope: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&envelope["error"]["code"], &envelope["error"]["retryable"]), (&"rate_limited".into(), &true.into()));
    assert_eq!(ask("203.0.113.8:5000").await.status(), 200);
}
