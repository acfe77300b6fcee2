//! A plain HTTP client over one kept-alive connection, without a library between the test and the bytes.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// As they came, without their line ends.
    pub headers: Vec<String>,
    pub body: String,
}

impl Answer {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let of_name = |line: &String| line.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.headers
            .iter()
            .find(|line| of_name(line))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim())
    }
}

/// An idempotency key nobody has used: a UUID of random bits.
pub fn fresh_key() -> io::Result<String> {
    let mut bits = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bits)?;
    let hex = format!("{:032x}", u128::from_be_bytes(bits));
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

impl Connection {
    /// Connects to `http://host:port`.
    pub fn open(address: &str) -> io::Result<Self> {
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), host })
    }

    /// One request with a bearer key and a JSON body, which may be empty; under an idempotency key of its own.
    pub fn request(&mut self, method: &str, path: &str, key: &str, body: &str) -> io::Result<Answer> {
        let headers = format!("Authorization: Bearer {key}\r\nIdempotency-Key: {}\r\n", fresh_key()?);
        self.send(method, path, &headers, body)
    }

    /// One request with headers as they are given, each with its line end. Its body is JSON if they name no other type.
    pub fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) -> io::Result<Answer> {
        let label = if headers.contains("Content-Type: ") { "" } else { "Content-Type: application/json\r\n" };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{label}{headers}Content-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    /// What a stream of events says, up to the piece that holds `last`.
    pub fn watch(&mut self, path: &str, headers: &str, last: &str) -> io::Result<String> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.host);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut heard = self.answer()?.body;
        while !heard.contains(last) {
            let size = usize::from_str_radix(&self.line()?, 16).map_err(|_| cut_off())?;
            let mut piece = vec![0; size + "\r\n".len()];
            self.stream.read_exact(&mut piece)?;
            heard.push_str(&String::from_utf8_lossy(&piece[..size]));
        }
        Ok(heard)
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let status = self.line()?.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut_off)?;
        let mut answer = Answer { status, headers: Vec::new(), body: String::new() };
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            answer.headers.push(line);
        }
        let length = answer.header("content-length").map_or(Ok(0), str::parse).map_err(|_| cut_off())?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Ok(answer)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(cut_off());
        }
        Ok(line.trim_end().to_owned())
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the answer was cut off")
}
