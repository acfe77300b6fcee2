//! The server on a real socket: answering, and stopping when it is told to.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use skein_server::ServeOptions;
use tokio::task::spawn_blocking;

use crate::server_fixture::ServerFixture;
use crate::socket::{Running, connect, read_answer, read_to_end, read_until, start, start_with};

#[tokio::test(flavor = "multi_thread")]
async fn items_are_stated_and_read_over_a_socket() {
    let world = ServerFixture::new().await;
    let Running { address, stop, ended } = start(&world).await;
    let key = world.key.reveal().to_owned();
    let body = r#"{"_type":"Note","data":{"description":"over the wire"}}"#;
    let talk = move || {
        let mut stream = connect(address);
        let head = format!(
            "Host: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\n"
        );
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
    let world = ServerFixture::new().await;
    let Running { address, stop, ended } = start(&world).await;
    let key = world.key.reveal().to_owned();
    let mut idle = spawn_blocking(move || connect(address)).await.unwrap();
    let begin = move || {
        let mut stream = connect(address);
        write!(stream, "POST /api/v1/items HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\n").unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_outlasts_the_grace_is_cut() {
    let world = ServerFixture::new().await;
    let options = ServeOptions { grace: Duration::from_millis(1), ..ServeOptions::default() };
    let Running { address, stop, ended } = start_with(&world, options).await;
    let key = world.key.reveal().to_owned();
    let begin = move || {
        let mut stream = connect(address);
        write!(stream, "POST /api/v1/items HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nIdempotency-Key: 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d\r\n").unwrap();
        write!(stream, "Expect: 100-continue\r\nContent-Length: 43\r\n\r\n").unwrap();
        assert_eq!(read_until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        stream
    };
    let mut busy = spawn_blocking(begin).await.unwrap();
    stop.send(()).unwrap();
    ended.await.unwrap().unwrap();
    assert_eq!(spawn_blocking(move || read_to_end(&mut busy)).await.unwrap(), "");
}
