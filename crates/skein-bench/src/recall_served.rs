//! The same memory behind a server: how soon after its start it is searched, how fast over HTTP, and what that takes in memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::client::{self, CONNECTIONS, Connection};
use crate::notes::Random;
use crate::process::Server;
use crate::recall_fixture::RecallSummary;
use crate::recall_texts::{EpisodeText, Question};

const SEARCH: &str = "/api/v1/search";
const LOOK_AGAIN: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_mins(2);
/// Brought over HTTP, so that what writing takes is in the memory that is measured.
const BROUGHT: usize = 2_048;

/// A directory with a memory, and who may ask.
pub(crate) struct ApiClient {
    pub(crate) program: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) known: RecallSummary,
}

/// A server that answered rightly.
pub(crate) struct RecallResult {
    server: Server,
    connection: Connection,
    /// From starting its process.
    pub(crate) milliseconds: f64,
}

impl ApiClient {
    /// Starts a server and asks until the index answers with what is looked for.
    pub(crate) async fn start(&self) -> Result<RecallResult> {
        let started = Instant::now();
        let server = Server::skein(&self.program, &self.directory)?;
        let mut connection = Connection::open(&server.address).await?;
        let request = self.search(&server, &json!({ "text": self.known.witness.question() }));
        loop {
            // While the index is opened words are looked for in the store, and that may end as too slow.
            let is_found = match connection.ask(&request, "200").await {
                Ok(answer) => self.is_found(answer)?,
                Err(error) if started.elapsed() > PATIENCE => return Err(error),
                Err(_) => {
                    connection = Connection::open(&server.address).await?;
                    false
                }
            };
            if is_found {
                break;
            }
            ensure!(started.elapsed() < PATIENCE, "the server does not find what it has indexed");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(RecallResult { server, connection, milliseconds: started.elapsed().as_secs_f64() * 1_000.0 })
    }

    fn search(&self, server: &Server, body: &Value) -> Vec<u8> {
        client::post(&server.address, SEARCH, self.known.key.reveal(), 0, body.to_string().as_bytes())
    }

    fn is_found(&self, answer: &[u8]) -> Result<bool> {
        let answer: Value = serde_json::from_slice(answer).context("the answer is not JSON")?;
        let wanted = self.known.witness.id().to_string();
        let found = answer["data"].as_array().context("a list of what was found")?;
        let is_there = found.iter().any(|found| found["episodeId"] == wanted.as_str());
        Ok(is_there && answer["searched"]["by"] == "index")
    }

    /// Milliseconds for each question, one after the other.
    pub(crate) async fn ask(&self, found: &mut RecallResult, questions: &[Question]) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(questions.len());
        for question in questions {
            let request = self.search(&found.server, &json!({ "text": question.text }));
            let started = Instant::now();
            found.connection.ask(&request, "200").await?;
            times.push(started.elapsed().as_secs_f64() * 1_000.0);
        }
        Ok(times)
    }

    /// Most memory that server took, with some more brought to it; after that it is stopped.
    pub(crate) async fn most_megabytes(&self, mut found: RecallResult) -> Result<f64> {
        let (first, key) = (self.known.episodes, self.known.key.reveal());
        let mut keys = Random::seeded(first);
        let mut shares = vec![Vec::new(); CONNECTIONS];
        for number in first..first + BROUGHT {
            let EpisodeText { speaker, text } = EpisodeText::of(number);
            let body = json!({ "source": "message", "content": text, "speaker": speaker }).to_string();
            let address = &found.server.address;
            let request = client::post(address, "/api/v1/episodes", key, keys.next_key(), body.as_bytes());
            shares[number % CONNECTIONS].push(request);
        }
        client::send_all(&found.server.address, shares).await?;
        // The one before was idle meanwhile, perhaps for too long.
        found.connection = Connection::open(&found.server.address).await?;
        let started = Instant::now();
        let question = json!({ "text": EpisodeText::of(first).text, "atLeast": "latest" });
        loop {
            let request = self.search(&found.server, &question);
            let answer: Value = serde_json::from_slice(found.connection.ask(&request, "200").await?)?;
            if answer["searched"]["indexBehind"] == false {
                break;
            }
            ensure!(started.elapsed() < PATIENCE, "what was brought is not indexed");
        }
        let megabytes = found.server.most_megabytes()?;
        found.stop()?;
        Ok(megabytes)
    }
}

impl RecallResult {
    pub(crate) fn stop(self) -> Result<()> {
        drop(self.connection);
        self.server.stop()
    }
}
