//! An HTTP service written by others that shows what it was sent, for tests of what goes out.
//!
//! httpbin is from PyPI, pinned in `scripts/requirements.txt`. Start at [`Httpbin::start`].

use std::net::SocketAddr;

use crate::process::{Child, Program, Stream};
use crate::python::installed;

/// A running service. Dropping it ends it.
#[derive(Debug)]
pub struct Httpbin {
    _server: Child,
    address: SocketAddr,
}

impl Httpbin {
    /// Starts the service on a port of its own choice.
    pub fn start() -> Self {
        let flask = ["--app", "httpbin:app", "run", "--host", "127.0.0.1", "--port", "0"];
        let server = Program::new(installed("flask")).args(flask).spawn();
        let line = server.wait_for_line_on(Stream::Stderr, "Running on http://");
        let address = line.rsplit("http://").next().expect("the marker holds it").trim();
        let address = address.parse().expect("flask prints an address and a port");
        Self { _server: server, address }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
