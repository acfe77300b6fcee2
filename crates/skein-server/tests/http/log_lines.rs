//! What the log says of requests: enough to read alone, nothing secret, and nothing in a client's own words.

use std::io;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use tokio::task::spawn_blocking;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use crate::socket::{exchange, start};
use crate::world::{HOST, World};

/// Everything that is logged on this thread, which is where a test with one thread runs its server.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn capture() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false);
        let subscriber = subscriber.with_writer(log.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The lines about requests.
    fn requests(&self) -> Vec<String> {
        self.text().lines().filter(|line| line.contains("was answered with")).map(str::to_owned).collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn a_line_says_what_was_asked_and_how_it_ended() {
    let world = World::new().await;
    let (log, _guard) = Log::capture();
    world.get("/api/v1/items/item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A?secret=hunter2").await;
    let lines = log.requests();
    assert_eq!(lines.len(), 1);
    for part in [
        "GET /api/v1/items/{id} was answered with 400",
        "method=\"GET\"",
        "route=\"/api/v1/items/{id}\"",
        "status=400",
        "took_us=",
        "bytes=",
        "correlation_id=",
    ] {
        assert!(lines[0].contains(part), "{part} is missing: {}", lines[0]);
    }
}

#[tokio::test]
async fn no_secret_reaches_the_log() {
    let world = World::new().await;
    let (log, _guard) = Log::capture();
    world.note("hunter2").await;
    for path in ["/sign-in/hunter2", "/api/v1/items?cursor=hunter2", "/api/v1/items/hunter2"] {
        world.get(path).await;
        let request = world.request("POST", path).header("user-agent", "hunter2").header("cookie", "a=hunter2");
        world.send(request.body("hunter2".into()).unwrap()).await;
    }
    assert_eq!(log.requests().len(), 7);
    assert!(!log.text().contains("hunter2") && !log.text().contains(world.key.reveal()), "{}", log.text());
}

#[tokio::test]
async fn a_client_cannot_write_lines_of_its_own() {
    let world = World::new().await;
    let (log, _guard) = Log::capture();
    let forged = "%0d%0a%1b%5b31mINFO%20forged";
    let ids = ["a\tforged", "a forged", "é-forged", "\u{9b}31mforged"];
    for id in ids {
        let request = Request::get(format!("/{forged}/api?{forged}")).header("host", HOST);
        let request = request.header("x-correlation-id", id.as_bytes()).header("user-agent", id.as_bytes());
        let request = request.method("FORGED").header("x-request-id", id.as_bytes());
        world.send(request.body(Body::empty()).unwrap()).await;
    }
    assert_eq!(log.requests().len(), ids.len());
    assert!(log.requests().iter().all(|line| line.contains("other - was answered with 404")), "{}", log.text());
    assert!(!log.text().to_lowercase().contains("forged"), "{}", log.text());
}

#[tokio::test]
async fn raw_control_characters_on_the_wire_stay_there() {
    let world = World::new().await;
    let (log, _guard) = Log::capture();
    let running = start(&world).await;
    let address = running.address;
    let talk = move || {
        for request in [
            format!("GET /\x1b[31mforged HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nX-Correlation-ID: a\x1b[31mforged\r\n\r\n"),
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nUser-Agent: a\rforged\r\nConnection: close\r\n\r\n"),
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nUser-Agent: a\r\n forged\r\nConnection: close\r\n\r\n"),
        ] {
            exchange(address, request.as_bytes());
        }
        exchange(address, format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())
    };
    let last = spawn_blocking(talk).await.unwrap();
    running.end().await;
    assert!(last.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(log.requests().len(), 1, "{}", log.text());
    assert!(log.requests()[0].contains("peer=127.0.0.1:"), "{}", log.text());
    assert!(!log.text().contains("forged") && !log.text().contains('\x1b'), "{}", log.text());
}
