//! An S3-compatible service written by others, for tests of the blob store.
//!
//! Our own idea of S3 would agree with our own client and prove nothing. Moto (from PyPI, pinned in
//! `scripts/requirements.txt`) accepts any key pair and keeps objects in memory.
//!
//! Start at [`Moto::start`].

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::process::{Child, DEADLINE, Program, Stream};
use crate::python::installed;

/// A running service with one empty bucket. Dropping it ends it.
#[derive(Debug)]
pub struct Moto {
    _server: Child,
    address: String,
    endpoint: String,
}

impl Moto {
    /// The bucket every service starts with.
    pub const BUCKET: &str = "skein";

    /// Starts the service on a port of its own choice and makes [`Moto::BUCKET`].
    pub fn start() -> Self {
        let server = Program::new(installed("moto_server")).args(["-H", "127.0.0.1", "-p", "0"]).spawn();
        let line = server.wait_for_line_on(Stream::Stderr, "Running on http://");
        let address = line.rsplit("http://").next().expect("the marker holds it").trim().to_owned();
        let endpoint = format!("http://{address}");
        let moto = Self { _server: server, address, endpoint };
        moto.create_bucket(Self::BUCKET);
        moto
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Makes one more bucket, in the region `us-east-1`.
    pub fn create_bucket(&self, name: &str) {
        let answer = self.put(name).unwrap_or_else(|error| panic!("moto did not answer: {error}"));
        assert!(answer.starts_with("HTTP/1.1 200"), "moto refused bucket {name}: {answer}");
    }

    fn put(&self, path: &str) -> std::io::Result<String> {
        let mut connection = TcpStream::connect(&self.address)?;
        connection.set_read_timeout(Some(DEADLINE))?;
        let host = &self.address;
        write!(connection, "PUT /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::Moto;

    #[test]
    fn a_service_answers_and_keeps_its_buckets() {
        let moto = Moto::start();
        moto.create_bucket("another");
        assert!(moto.endpoint().starts_with("http://127.0.0.1:"));
        let answer = moto.put("another/").expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
