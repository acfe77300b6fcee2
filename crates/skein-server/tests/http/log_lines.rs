//! Log lines of requests: complete by themselves, without secrets or a client's own words.

use std::cell::RefCell;
use std::io;
use std::sync::{Mutex, Once};

use axum::body::Body;
use axum::http::Request;
use tokio::task::spawn_blocking;

use crate::server_fixture::{HOST, ServerFixture};
use crate::socket::{exchange, start};

thread_local! {
    /// Everything that is logged on this thread, which is where a test with one thread runs its server.
    static LOGGED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Everything that any thread of this process logged.
static LOGGED_BY_ALL: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Begins to keep what this thread logs. One subscriber serves all tests of the process, because one per thread would
/// race for what the callsites remember.
pub(crate) fn capture() {
    static START: Once = Once::new();
    START.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false);
        subscriber.with_writer(|| Log).init();
    });
    LOGGED.take();
}

pub(crate) fn logged() -> String {
    LOGGED.with_borrow(|logged| String::from_utf8(logged.clone()).unwrap())
}

/// The log of the whole process, for work that moves between threads. Other tests may log beside this one.
pub(crate) fn logged_by_all() -> String {
    String::from_utf8(LOGGED_BY_ALL.lock().unwrap().clone()).unwrap()
}

/// The lines about requests.
fn requests() -> Vec<String> {
    logged().lines().filter(|line| line.contains("was answered with")).map(str::to_owned).collect()
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED_BY_ALL.lock().unwrap().extend_from_slice(bytes);
        LOGGED.with_borrow_mut(|logged| logged.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_line_says_what_was_asked_and_how_it_ended() {
    let world = ServerFixture::new().await;
    capture();
    world.get("/api/v1/items/item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A?secret=hunter2").await;
    let lines = requests();
    assert_eq!(lines.len(), 1);
    for part in [
        "GET /api/v1/items/{id} was answered with 400",
        "method=\"GET\"",
        "route=\"/api/v1/items/{id}\"",
        "status=400",
        "took_us=",
        "bytes=",
        "user=user_",
        "correlation_id=",
    ] {
        assert!(lines[0].contains(part), "{part} is missing: {}", lines[0]);
    }
}

#[tokio::test]
async fn no_secret_reaches_the_log() {
    let world = ServerFixture::new().await;
    capture();
    world.note("hunter2").await;
    for path in ["/sign-in/hunter2", "/api/v1/items?cursor=hunter2", "/api/v1/items/hunter2"] {
        world.get(path).await;
        let request = world.request("POST", path).header("user-agent", "hunter2").header("cookie", "a=hunter2");
        world.send(request.body("hunter2".into()).unwrap()).await;
    }
    assert_eq!(requests().len(), 7);
    assert!(!logged().contains("hunter2") && !logged().contains(world.key.reveal()), "{}", logged());
}

#[tokio::test]
async fn a_client_cannot_write_lines_of_its_own() {
    let world = ServerFixture::new().await;
    capture();
    let forged = "%0d%0a%1b%5b31mINFO%20forged";
    let ids = ["a\tforged", "a forged", "é-forged", "\u{9b}31mforged"];
    for id in ids {
        let request = Request::get(format!("/{forged}/api?{forged}")).header("host", HOST);
        let request = request.header("x-correlation-id", id.as_bytes()).header("user-agent", id.as_bytes());
        let request = request.method("FORGED").header("x-request-id", id.as_bytes());
        world.send(request.body(Body::empty()).unwrap()).await;
    }
    assert_eq!(requests().len(), ids.len());
    assert!(requests().iter().all(|line| line.contains("other - was answered with 404")), "{}", logged());
    assert!(!logged().to_lowercase().contains("forged"), "{}", logged());
}

#[tokio::test]
async fn raw_control_characters_on_the_wire_stay_there() {
    let world = ServerFixture::new().await;
    capture();
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
    assert_eq!(requests().len(), 1, "{}", logged());
    assert!(requests()[0].contains("peer=127.0.0.1:"), "{}", logged());
    assert!(!logged().contains("forged") && !logged().contains('\x1b'), "{}", logged());
}
