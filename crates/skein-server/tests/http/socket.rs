//! A server on a real socket, and a client that sends whatever it likes.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use skein_server::ServeOptions;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::server_fixture::ServerFixture;

/// Far above what anything here takes; a test that waits longer has failed.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) ended: JoinHandle<std::io::Result<()>>,
}

impl Running {
    /// Tells the server to stop, and waits until it has.
    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap().unwrap();
    }
}

pub(crate) async fn start(world: &ServerFixture) -> Running {
    start_with(world, ServeOptions::default()).await
}

pub(crate) async fn start_with(world: &ServerFixture, options: ServeOptions) -> Running {
    start_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), world, options)
}

pub(crate) fn start_on(listener: TcpListener, world: &ServerFixture, options: ServeOptions) -> Running {
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { stopped.await.unwrap_or_default() };
    let ended = tokio::spawn(skein_server::serve(listener, world.context(), options, stopped));
    Running { address, stop, ended }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads until the text ends with `end`.
pub(crate) fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with(end) {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

/// Sends these bytes on a connection of their own and reads whatever comes until the server closes it.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    // A server that refuses early may close while we still write.
    let _ = stream.write_all(bytes);
    read_to_end(&mut stream)
}

/// Reads until the server closes; a reset is an end too.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    match stream.read_to_end(&mut read) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => {
            panic!("the server neither answers nor closes: {error}")
        }
        _ => String::from_utf8(read).unwrap(),
    }
}

/// Reads one answer and leaves the connection for the next.
pub(crate) fn read_answer(stream: &mut TcpStream) -> String {
    let head = read_until(stream, "\r\n\r\n");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head + std::str::from_utf8(&body).unwrap()
}
