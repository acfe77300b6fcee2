//! Measures the time of an answer's first words from the provider's socket, through an execution, to its listener.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Setting;
use crate::appends::two_threads;
use crate::client;
use crate::comparison::median;
use crate::definitions::{Maker, OneStep};
use crate::process::{Server, create_key_for, skein};
use crate::report::{Line, Target, Unit};
use crate::stream::{TokenServer, since};

const WHAT: &str = "runs: first words of an answer, from the provider's write to a listener's read, median";
const TOKENS: usize = 5;
const RUNS_PER_ROUND: usize = 50;
const MILLISECONDS_MAX: f64 = 5.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(WHAT, "no skein beside this program")]);
    };
    let directory = setting.folder.make("first-byte")?;
    let server = Server::skein(&program, &directory)?;
    let key = create_key_for(&program, &directory, None, "admin")?;
    let clock = Instant::now();
    let provider = TokenServer::start(clock, TOKENS)?;
    let measured = two_threads()?.block_on(async {
        let mut maker = Maker::at(&server.address, &key).await?;
        let process = maker.one_step(provider.address, &answering()).await?;
        let mut rounds = Vec::new();
        for _ in 0..setting.rounds {
            let mut waits = Vec::with_capacity(RUNS_PER_ROUND);
            for _ in 0..RUNS_PER_ROUND {
                let run = maker.execute(&process).await?;
                waits.push(first_words(&server.address, &key, &run, clock).await?);
            }
            rounds.push(median(&waits));
        }
        Ok::<_, anyhow::Error>(rounds)
    })?;
    provider.stop()?;
    server.stop()?;
    Ok(vec![Line::limited(WHAT, Unit::Milliseconds, &measured, Target::AtMost(MILLISECONDS_MAX))])
}

fn answering() -> OneStep {
    OneStep {
        name: "Answer",
        service: "llm_provider",
        model: Some("bench"),
        operation: json!({ "type": "llm_call", "promptTemplate": "Go." }),
        output: "{{a.text}}",
    }
}

/// Listens to a run; milliseconds from when its first words were written to when they are read.
async fn first_words(address: &str, key: &str, run: &str, clock: Instant) -> Result<f64> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&client::get(address, &format!("/api/v1/executions/{run}/stream"), key)).await?;
    let mut heard = Vec::new();
    loop {
        anyhow::ensure!(stream.read_buf(&mut heard).await? > 0, "the stream ended without a word");
        let text = String::from_utf8_lossy(&heard);
        if let Some((_, rest)) = text.split_once("\"text\":\"")
            && let Some((words, _)) = rest.split_once('"')
        {
            return since(words.split_whitespace().next().context("a piece without words")?, clock);
        }
    }
}
