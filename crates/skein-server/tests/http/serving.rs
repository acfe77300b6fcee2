//! The server on a real socket: answering, and stopping when it is told to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::world::World;

/// Far above what anything here takes; a test that waits longer has failed.
const PATIENCE: Duration = Duration::from_mins(1);

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<std::io::Result<()>>,
}

async fn start(world: &World) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { stopped.await.unwrap_or_default() };
    let ended = tokio::spawn(skein_server::serve(listener, world.context(), Vec::new(), stopped));
    Running { address, stop, ended }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads until the text ends with `end`.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with(end) {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

/// Reads one answer and leaves the connection for the next.
fn read_answer(stream: &mut TcpStream) -> String {
    let head = read_until(stream, "\r\n\r\n");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_stated_and_read_over_a_socket() {
    let world = World::new().await;
    let Running { address, stop, ended } = start(&world).await;
    let key = world.key.reveal().to_owned();
    let body = r#"{"_type":"Note","data":{"description":"over the wire"}}"#;
    let talk = move || {
        let mut stream = connect(address);
        let head = format!("Host: {address}\r\nAuthorization: Bearer {key}\r\n");
        write!(stream, "POST /api/v1/items HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let created = read_answer(&mut stream);
        write!(stream, "GET /api/v1/items?type=Note HTTP/1.1\r\n{head}\r\n").unwrap();
        (created, read_answer(&mut stream))
    };
    let (created, listed) = spawn_blocking(talk).await.unwrap();
    assert!(created.starts_with("HTTP/1.1 201 Created\r\n"), "{created}");
    assert!(listed.starts_with("HTTP/1.1 200 OK\r\n") && listed.contains("over the wire"), "{listed}");
    stop.send(()).unwrap();
    ended.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_finishes_requests_under_way_and_closes_idle_connections() {
    let world = World::new().await;
    let Running { address, stop, ended } = start(&world).await;
    let key = world.key.reveal().to_owned();
    let mut idle = spawn_blocking(move || connect(address)).await.unwrap();
    let begin = move || {
        let mut stream = connect(address);
        write!(stream, "POST /api/v1/items HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n").unwrap();
        write!(stream, "Expect: 100-continue\r\nContent-Length: 43\r\n\r\n").unwrap();
        // The server asks for the body: the request is under way.
        assert_eq!(read_until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        stream
    };
    let mut busy = spawn_blocking(begin).await.unwrap();
    stop.send(()).unwrap();
    let finish = move || {
        assert_eq!(idle.read(&mut [0]).unwrap(), 0, "an idle connection is closed");
        busy.write_all(br#"{"_type":"Note","data":{"description":"a"}}"#).unwrap();
        let mut answer = String::new();
        busy.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = spawn_blocking(finish).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    ended.await.unwrap().unwrap();
}
