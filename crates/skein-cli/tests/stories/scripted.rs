//! A server that answers as it is told, for what a real one does too seldom.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use skein_testkit::process::Program;

use crate::server::{Finished, SKEIN, finish};

/// A request as it arrived; the head in small letters.
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
    }
}

/// Gives these answers, one per connection, and ends each connection after it.
pub(crate) struct Scripted {
    pub(crate) address: String,
    heard: Receiver<ReceivedRequest>,
}

impl Scripted {
    pub(crate) fn start(answers: &[Vec<u8>]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (hear, heard) = mpsc::channel();
        let answers = answers.to_vec();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                hear.send(read_request(&stream)).unwrap();
                stream.write_all(&answer).unwrap();
            }
        });
        Self { address, heard }
    }

    /// Runs `skein` against it, then says what it heard.
    pub(crate) fn run(self, words: &[&str]) -> (Finished, Vec<ReceivedRequest>) {
        let skein = Program::new(SKEIN).args(["--server", &self.address, "--key", "sk_x"]);
        let finished = finish(skein.args(words.iter().copied()));
        (finished, self.heard.try_iter().collect())
    }
}

/// An answer of `status` with a JSON body.
pub(crate) fn answer(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}

fn read_request(stream: &TcpStream) -> ReceivedRequest {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the request was cut off");
    }
    let mut request = ReceivedRequest { head: head.to_lowercase(), body: Vec::new() };
    let length: u64 = request.header("content-length").parse().unwrap_or_default();
    reader.take(length).read_to_end(&mut request.body).unwrap();
    request
}
