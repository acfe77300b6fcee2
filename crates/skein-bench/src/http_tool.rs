//! One tool of the catalogue read over and over by 32 clients, beside the same server saying that it lives.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::Setting;
use crate::appends::two_threads;
use crate::client::{self, Connection};
use crate::comparison::Comparison;
use crate::process::{Server, create_key, skein};
use crate::report::{Line, Target, Unit};

const WHAT: &str = "HTTP: GET of one tool, 32 connections; beside it: /health/live of the same server";
const MEASURED_FOR: Duration = Duration::from_secs(3);
const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(WHAT, "no skein beside this program")]);
    };
    let directory = setting.folder.make("tools")?;
    let server = Server::skein(&program, &directory)?;
    let key = create_key(&program, &directory)?;
    let runtime = two_threads()?;
    let path = runtime.block_on(one_tool(&server.address, &key))?;
    let measure = |path: &str| {
        let request = client::get(&server.address, path, &key);
        runtime.block_on(client::repeat_for(&server.address, vec![request], MEASURED_FOR))
    };
    let sides = Comparison::alternate(setting.rounds, || measure(&path), || measure("/health/live"))?;
    server.stop()?;
    Ok(vec![Line::compared(WHAT, Unit::PerSecond, &sides, Target::AtLeast(SHARE))])
}

/// The path of a tool that every installation has.
async fn one_tool(address: &str, key: &str) -> Result<String> {
    let mut connection = Connection::open(address).await?;
    let listed = connection.ask(&client::get(address, "/api/v1/tools", key), "200").await?;
    let listed: Value = serde_json::from_slice(listed).context("the answer is not JSON")?;
    Ok(format!("/api/v1/tools/{}", listed["data"][0]["id"].as_str().context("there is no tool")?))
}
