//! The client that asks both sides: prepared bytes out, and of an answer only as much read as it takes to find its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::appends::rate;

pub(crate) const CONNECTIONS: usize = 32;
const READ_BYTES: usize = 16 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";
const LENGTH: &[u8] = b"content-length:";

/// One connection that is kept.
pub(crate) struct Connection {
    stream: TcpStream,
    /// The last answer, whole.
    answer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("the server cannot be reached")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(READ_BYTES) })
    }

    /// Sends a request and waits for its whole answer, which must have this status; gives the answer's body.
    pub(crate) async fn ask(&mut self, request: &[u8], status: &str) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.answer.clear();
        let body = loop {
            let read = self.stream.read_buf(&mut self.answer).await?;
            ensure!(read > 0, "the server hung up");
            if let Some(body) = whole_body(&self.answer)? {
                break body;
            }
        };
        let is_expected = self.answer.get(9..12) == Some(status.as_bytes());
        ensure!(is_expected, "not answered with {status}: {}", String::from_utf8_lossy(&self.answer));
        Ok(&self.answer[body..])
    }
}

/// Where the body begins, once all of it is there.
fn whole_body(answer: &[u8]) -> Result<Option<usize>> {
    let Some(head) = answer.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END) else { return Ok(None) };
    let mut lines = answer[..head].split(|byte| *byte == b'\n');
    let length = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(LENGTH.len())?;
        name.eq_ignore_ascii_case(LENGTH).then(|| value.trim_ascii())
    });
    let length: usize = str::from_utf8(length.context("an answer without a length")?)?.parse()?;
    let body = head + HEAD_END.len();
    Ok((answer.len() >= body + length).then_some(body))
}

/// `GET path`, signed in where there is a key.
pub(crate) fn get(address: &str, path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\r\n").into_bytes()
}

/// `POST path` under an idempotency key.
pub(crate) fn post(address: &str, path: &str, key: &str, idempotency_key: u128, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Idempotency-Key: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        uuid(idempotency_key),
        body.len(),
    );
    [head.as_bytes(), body].concat()
}

/// `POST /api/v1/items` under an idempotency key.
pub(crate) fn post_item(address: &str, key: &str, idempotency_key: u128, body: &[u8]) -> Vec<u8> {
    post(address, "/api/v1/items", key, idempotency_key, body)
}

pub(crate) fn uuid(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Asks these in turn, over and over, on all connections at once, each beginning elsewhere; answers per second.
pub(crate) async fn repeat_for(address: &str, requests: Vec<Vec<u8>>, duration: Duration) -> Result<f64> {
    let (connections, requests) = (open_all(address).await?, Arc::new(requests));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for (at, mut connection) in connections.into_iter().enumerate() {
        let requests = Arc::clone(&requests);
        tasks.spawn(async move {
            let mut answers = 0;
            let mut next = requests.iter().cycle().skip(at * requests.len() / CONNECTIONS);
            while started.elapsed() < duration {
                connection.ask(next.next().context("nothing to ask for")?, "200").await?;
                answers += 1;
            }
            Ok::<usize, anyhow::Error>(answers)
        });
    }
    let answers = tasks.join_all().await.into_iter().sum::<Result<usize>>()?;
    Ok(rate(answers, started.elapsed().as_secs_f64()))
}

/// Sends each of these once, shared out over all connections; answers per second.
pub(crate) async fn send_all(address: &str, mut shares: Vec<Vec<Vec<u8>>>) -> Result<f64> {
    let (connections, count) = (open_all(address).await?, shares.iter().map(Vec::len).sum());
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for (mut connection, share) in connections.into_iter().zip(shares.drain(..)) {
        tasks.spawn(async move {
            for request in &share {
                connection.ask(request, "201").await?;
            }
            Ok(())
        });
    }
    tasks.join_all().await.into_iter().collect::<Result<()>>()?;
    Ok(rate(count, started.elapsed().as_secs_f64()))
}

async fn open_all(address: &str) -> Result<Vec<Connection>> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(address).await?);
    }
    Ok(connections)
}

#[cfg(test)]
mod tests {
    use super::{uuid, whole_body};

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
        assert_eq!(whole_body(answer).unwrap(), Some(answer.len() - 2));
        assert_eq!(whole_body(&answer[..answer.len() - 1]).unwrap(), None);
        assert_eq!(whole_body(b"HTTP/1.1 200 OK\r\n").unwrap(), None);
        assert!(whole_body(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    #[test]
    fn keys_are_written_as_uuids() {
        assert_eq!(uuid(0x0123), "00000000-0000-0000-0000-000000000123");
    }
}
