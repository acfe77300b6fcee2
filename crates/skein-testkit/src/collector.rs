//! A collector of traces that knows OpenTelemetry's own definitions and refuses what they do not allow.
//!
//! Our own idea of OTLP would agree with our own exporter and prove nothing. The definitions are the package
//! opentelemetry-proto (from PyPI, pinned in `scripts/requirements.txt`); `scripts/otlp_collector.py` listens for them.
//!
//! Start at [`Collector::start`].

use std::path::Path;

use crate::process::{Child, Program};
use crate::python::installed;

/// A running collector. Dropping it ends it.
#[derive(Debug)]
pub struct Collector {
    server: Child,
    endpoint: String,
}

impl Collector {
    /// Starts it on a port of its own choice.
    pub fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/otlp_collector.py");
        let server = Program::new(installed("python3")).arg(script).spawn();
        let line = server.wait_for_line("Listening on http://");
        let endpoint = line.trim().trim_start_matches("Listening on ").to_owned();
        Self { server, endpoint }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The first request it took in which `marker` stands, as JSON. Panics when none comes in time.
    pub fn wait_for(&self, marker: &str) -> String {
        let line = self.server.wait_for_line(marker);
        line.trim().strip_prefix("TOOK ").unwrap_or_else(|| panic!("the collector said {line}")).to_owned()
    }

    /// All it said: a line for each request, `TOOK` or `REFUSED`.
    pub fn said(&self) -> String {
        self.server.stdout()
    }
}
