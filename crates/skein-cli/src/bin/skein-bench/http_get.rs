//! One item read over and over by 32 clients, beside a bare axum handler with the same bytes in memory.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::appends::two_threads;
use crate::client::{self, Connection};
use crate::comparison::Comparison;
use crate::notes::notes;
use crate::process::{Server, create_key, skein};
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare_server};

const WHAT: &str = "HTTP: GET of one item, 32 connections; bare: axum handler, same bytes";
const MEASURED_FOR: Duration = Duration::from_secs(3);
const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(WHAT, "no skein beside this program")]);
    };
    let directory = setting.folder.make("served")?;
    let ours = Server::skein(&program, &directory)?;
    let key = create_key(&program, &directory)?;
    let runtime = two_threads()?;
    let (path, body) = runtime.block_on(one_item(&ours.address, &key))?;
    let body_file = setting.folder.path().join("item.json");
    std::fs::write(&body_file, body).context("cannot write what is to be answered")?;
    let theirs = bare_server::start(&body_file)?;
    let measure = |server: &Server| {
        let request = client::get(&server.address, &path, &key);
        runtime.block_on(client::repeat_for(&server.address, request, MEASURED_FOR))
    };
    let sides = Comparison::alternate(setting.rounds, || measure(&ours), || measure(&theirs))?;
    ours.stop()?;
    Ok(vec![Line::compared(WHAT, Unit::PerSecond, &sides, Target::AtLeast(SHARE))])
}

/// Writes an item; gives its path, and the body it is read with.
async fn one_item(address: &str, key: &str) -> Result<(String, Vec<u8>)> {
    let mut connection = Connection::open(address).await?;
    let note = notes(1).remove(0);
    let made = connection.ask(&client::post_item(address, key, 1, &note.body()), "201").await?;
    let made: Value = serde_json::from_slice(made).context("the answer is not JSON")?;
    let path = format!("/api/v1/items/{}", made["id"].as_str().context("an item has an id")?);
    let body = connection.ask(&client::get(address, &path, key), "200").await?;
    Ok((path, body.to_vec()))
}
