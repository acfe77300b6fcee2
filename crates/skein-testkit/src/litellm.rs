//! An OpenAI-compatible server written by others that needs no weights, for tests of language models.
//!
//! Our own idea of the API would agree with our own client and prove nothing. The proxy of litellm (from PyPI, pinned in
//! `scripts/requirements.txt`) answers every question to [`Litellm::MODEL`] with [`Litellm::ANSWER`] and asks nobody. Vectors
//! of [`Litellm::EMBEDDER`] are the first eight bytes of a text's SHA-256, each as a part of 255.
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
    pub const EMBEDDER: &str = "digest";
    /// One that gives a single vector, however many texts it is sent.
    pub const LAZY_EMBEDDER: &str = "lazy";
    /// The key it accepts.
    pub const KEY: &str = "sk-skein-test-0123456789abcdef0123456789abcdef";

    /// Starts the server on a port of its own choice; it takes about ten seconds.
    pub fn start() -> Self {
        let folder = Scratch::new(0o700);
        let config = folder.path().join("config.yaml");
        fs::write(&config, configuration()).expect("a scratch folder can be written");
        fs::write(folder.path().join("digest.py"), DIGEST).expect("a scratch folder can be written");
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

/// The model behind [`Litellm::EMBEDDER`]; the proxy does all the rest.
const DIGEST: &str = r#"
import hashlib
from litellm import CustomLLM

class Digest(CustomLLM):
    async def aembedding(self, model, input, model_response, *args, **kwargs):
        vectors = ([byte / 255 for byte in hashlib.sha256(text.encode()).digest()[:8]] for text in input)
        model_response.model = model
        model_response.data = [dict(object="embedding", index=i, embedding=v) for i, v in enumerate(vectors)]
        model_response.usage = dict(prompt_tokens=len(input), total_tokens=len(input), completion_tokens=0)
        return model_response

digest = Digest()
"#;

fn configuration() -> String {
    let (model, answer, key) = (Litellm::MODEL, Litellm::ANSWER, Litellm::KEY);
    let (embedder, lazy) = (Litellm::EMBEDDER, Litellm::LAZY_EMBEDDER);
    let entry = |name: &str, params: &str| format!("  - model_name: {name}\n    litellm_params: {{{params}}}\n");
    let models = [
        entry(model, &format!("model: openai/{model}, api_key: none, mock_response: \"{answer}\"")),
        entry(embedder, "model: digest/digest"),
        entry(lazy, "model: openai/text-embedding-3-small, api_key: none, mock_response: [0.5, -0.25]"),
    ];
    let provider =
        "litellm_settings:\n  custom_provider_map:\n    - {provider: digest, custom_handler: digest.digest}\n";
    format!("model_list:\n{}{provider}general_settings:\n  master_key: {key}\n", models.concat())
}
