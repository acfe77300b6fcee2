//! One item read over and over by 32 clients, then many in turn, beside a bare axum handler with bytes in memory.

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

const ONE: &str = "HTTP: GET of one item, 32 connections; bare: axum handler, same bytes";
const MANY: &str = "HTTP: GET of 8,192 items in turn, more than are kept in memory; bare: axum handler, bytes of one";
/// Several times as many answers as the server keeps in memory.
const ITEMS: usize = 8_192;
const MEASURED_FOR: Duration = Duration::from_secs(3);
const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok([ONE, MANY].map(|what| Line::unavailable(what, "no skein beside this program")).into());
    };
    let directory = setting.folder.make("served")?;
    let ours = Server::skein(&program, &directory)?;
    let key = create_key(&program, &directory)?;
    let runtime = two_threads()?;
    let (paths, body) = runtime.block_on(write_items(&ours.address, &key))?;
    let body_file = setting.folder.path().join("item.json");
    std::fs::write(&body_file, body).context("cannot write what is to be answered")?;
    let theirs = bare_server::start(&body_file)?;
    let measure = |server: &Server, paths: &[String]| {
        let requests = paths.iter().map(|path| client::get(&server.address, path, &key)).collect();
        runtime.block_on(client::repeat_for(&server.address, requests, MEASURED_FOR))
    };
    let compare =
        |paths: &[String]| Comparison::alternate(setting.rounds, || measure(&ours, paths), || measure(&theirs, paths));
    let (one, many) = (compare(&paths[..1])?, compare(&paths)?);
    ours.stop()?;
    Ok(vec![
        Line::compared(ONE, Unit::PerSecond, &one, Target::AtLeast(SHARE)),
        Line::compared(MANY, Unit::PerSecond, &many, Target::None),
    ])
}

/// Writes items; gives their paths, and the body the first is read with.
async fn write_items(address: &str, key: &str) -> Result<(Vec<String>, Vec<u8>)> {
    let mut connection = Connection::open(address).await?;
    let mut paths = Vec::with_capacity(ITEMS);
    for (note, idempotency_key) in notes(ITEMS).iter().zip(1..) {
        let made = connection.ask(&client::post_item(address, key, idempotency_key, &note.body()), "201").await?;
        let made: Value = serde_json::from_slice(made).context("the answer is not JSON")?;
        paths.push(format!("/api/v1/items/{}", made["id"].as_str().context("an item has an id")?));
    }
    let body = connection.ask(&client::get(address, &paths[0], key), "200").await?.to_vec();
    Ok((paths, body))
}
