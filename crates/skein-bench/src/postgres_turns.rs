//! Turns written by 16 clients over HTTP to a server on PostgreSQL, beside items written by as many.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Setting;
use crate::appends::{rate, two_threads};
use crate::client::{self, Connection};
use crate::comparison::Comparison;
use crate::definitions::Maker;
use crate::notes::{Notes, Random};
use crate::postgres::Server as Databases;
use crate::process::{Server, create_key_for, skein};
use crate::report::{Line, Target, Unit};
use crate::turns_counted;

const WRITERS: usize = 16;
const MEASURED_FOR: Duration = Duration::from_secs(5);
const APART: &str = "postgres: turns, 16 writers in 16 conversations over HTTP; beside it: items, 16 writers over HTTP";
const IN_ONE: &str =
    "postgres: turns, 16 writers in one conversation over HTTP; beside it: items, 16 writers over HTTP";
const SHARE: f64 = 0.5;

/// What the clients write.
#[derive(Clone, Copy)]
enum Written {
    Items,
    /// Turns of so many conversations.
    Turns(usize),
}

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let (Some(program), Some(url)) = (skein()?, &setting.postgres) else {
        return Ok(vec![Line::unavailable(APART, "needs skein beside this program and PostgreSQL")]);
    };
    let databases = Databases { url: url.clone() };
    let measure = |written| {
        let database = databases.fresh_database("skein_bench_turns")?;
        over_http(setting, &program, &database, written)
    };
    let compare = |conversations| {
        Comparison::alternate(setting.rounds, || measure(Written::Turns(conversations)), || measure(Written::Items))
    };
    let mut lines = vec![
        Line::compared(APART, Unit::PerSecond, &compare(WRITERS)?, Target::AtLeast(SHARE)),
        Line::compared(IN_ONE, Unit::PerSecond, &compare(1)?, Target::None),
    ];
    lines.extend(turns_counted::lines(setting, &databases)?);
    Ok(lines)
}

/// What all clients of a new server write per second.
fn over_http(setting: &Setting, program: &Path, database: &str, written: Written) -> Result<f64> {
    let directory = setting.folder.make("turns")?;
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", database, "--dir"]).arg(&directory);
    let server = Server::start({
        command.stderr(Stdio::null());
        command
    })?;
    let key = create_key_for(program, &directory, Some(database), "write")?;
    let measured = two_threads()?.block_on(write(&server.address, &key, written))?;
    server.stop()?;
    Ok(measured)
}

async fn write(address: &str, key: &str, written: Written) -> Result<f64> {
    let mut maker = Maker::at(address, key).await?;
    let mut conversations = Vec::new();
    if let Written::Turns(count) = written {
        for _ in 0..count {
            conversations.push(begun(&mut maker).await?);
        }
    }
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let conversation = conversations.get(writer % conversations.len().max(1)).cloned();
        let client = Client::open(address, key, writer).await?;
        tasks.spawn(client.write_until(started + MEASURED_FOR, conversation));
    }
    let count = tasks.join_all().await.into_iter().sum::<Result<usize>>()?;
    Ok(rate(count, started.elapsed().as_secs_f64()))
}

/// A conversation with one turn: its id and that of the node.
async fn begun(maker: &mut Maker) -> Result<(String, String)> {
    let made = maker.post("/conversations", &json!({}), "201").await?;
    let id = made["id"].as_str().context("a conversation has an id")?.to_owned();
    let first = json!({ "text": "first", "speaker": "user" });
    let said = maker.post(&format!("/conversations/{id}/turns"), &first, "201").await?;
    Ok((id, node_of(&said)?))
}

fn node_of(answer: &Value) -> Result<String> {
    Ok(answer["node"]["id"].as_str().context("what was said has an id")?.to_owned())
}

struct Client {
    connection: Connection,
    address: String,
    key: String,
    random: Random,
    notes: std::iter::Skip<Notes>,
}

impl Client {
    async fn open(address: &str, key: &str, number: usize) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address).await?,
            address: address.to_owned(),
            key: key.to_owned(),
            random: Random::seeded(number + 1),
            notes: Notes::default().skip(number),
        })
    }

    /// Writes turns after a node of a conversation, or items; how many.
    async fn write_until(mut self, end: Instant, mut place: Option<(String, String)>) -> Result<usize> {
        let mut written = 0;
        while Instant::now() < end {
            let body = self.notes.next().context("there are always more notes")?.body();
            if let Some((id, parent)) = &mut place {
                *parent = self.say(id, parent, &body).await?;
            } else {
                let request = client::post_item(&self.address, &self.key, self.random.next_key(), &body);
                self.connection.ask(&request, "201").await?;
            }
            written += 1;
        }
        Ok(written)
    }

    /// Says what a note says after a node; the new node.
    async fn say(&mut self, id: &str, parent: &str, note: &[u8]) -> Result<String> {
        let body = json!({ "text": String::from_utf8_lossy(note), "speaker": "user", "parentAlternativeId": parent });
        let path = format!("/api/v1/conversations/{id}/turns");
        let body = body.to_string();
        let request = client::post(&self.address, &path, &self.key, self.random.next_key(), body.as_bytes());
        let answer = self.connection.ask(&request, "201").await?;
        node_of(&serde_json::from_slice(answer)?)
    }
}
