//! From starting a server on an empty directory to its first answer that it is ready.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use crate::Setting;
use crate::appends::two_threads;
use crate::client::{self, Connection};
use crate::process::{Server, skein};
use crate::report::{Line, Target, Unit};

const WHAT: &str = "start of a server on an empty store, until it says it is ready";
const STARTS: usize = 10;
const MILLISECONDS_MAX: f64 = 300.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(WHAT, "no skein beside this program")]);
    };
    let measured = (0..STARTS).map(|_| milliseconds(setting, &program)).collect::<Result<Vec<f64>>>()?;
    Ok(vec![Line::limited(WHAT, Unit::Milliseconds, &measured, Target::AtMost(MILLISECONDS_MAX))])
}

fn milliseconds(setting: &Setting, program: &Path) -> Result<f64> {
    let directory = setting.folder.make("started")?;
    let runtime = two_threads()?;
    let started = Instant::now();
    let server = Server::skein(program, &directory)?;
    runtime.block_on(async {
        let request = client::get(&server.address, "/health/ready", "");
        Connection::open(&server.address).await?.ask(&request, "200").await.map(drop)
    })?;
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    server.stop()?;
    Ok(took)
}
