//! An OpenAI-compatible server written by others that needs no weights, for tests of language models.
//!
//! Our own idea of the API would agree with our own client and prove nothing. The proxy of litellm (from PyPI, pinned in
//! `scripts/requirements.txt`) answers every question to [`Litellm::MODEL`] with [`Litellm::ANSWER`] and asks nobody.
//!
//! Start at [`Litellm::start`].

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use crate::process::{Child, Program, Stream};
use crate::python::installed;
use crate::scratch::Scratch;

/// It loads hundreds of modules before it listens, which takes long on a machine with much else to do.
const START: Duration = Duration::from_mins(3);

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct Litellm {
    _server: Child,
    _folder: Scratch,
    address: SocketAddr,
}

impl Litellm {
    pub const MODEL: &str = "mock";
    pub const ANSWER: &str = "The launch moved to 12 March. Grüße aus Zürich!";
    /// The key it accepts.
    pub const KEY: &str = "sk-skein-test-0123456789abcdef0123456789abcdef";

    /// Starts the server on a port of its own choice; it takes about ten seconds.
    pub fn start() -> Self {
        let folder = Scratch::new(0o700);
        let config = folder.path().join("config.yaml");
        fs::write(&config, configuration()).expect("a scratch folder can be written");
        let server = Program::new(installed("litellm"))
            .args(["--host", "127.0.0.1", "--port", "0", "--telemetry", "False", "--config"])
            .arg(config)
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .spawn();
        let line = server.find_line(Stream::Stderr, "Uvicorn running on http://", START);
        let line = line.unwrap_or_else(|| panic!("litellm did not start:\n{}", server.stderr()));
        let address = line.rsplit("http://").next().and_then(|rest| rest.split(' ').next());
        let address = address.and_then(|address| address.parse().ok()).expect("the line holds the address");
        Self { _server: server, _folder: folder, address }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn endpoint(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

fn configuration() -> String {
    let (model, answer, key) = (Litellm::MODEL, Litellm::ANSWER, Litellm::KEY);
    format!(
        "model_list:\n  - model_name: {model}\n    litellm_params:\n      model: openai/{model}\n      api_key: none\n      \
         mock_response: \"{answer}\"\ngeneral_settings:\n  master_key: {key}\n"
    )
}
