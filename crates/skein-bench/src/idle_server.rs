//! Measures the memory of an idle server over a large store.

use std::time::Duration;

use anyhow::Result;

use crate::million::Million;
use crate::process::{Server, skein};
use crate::report::{Line, Target, Unit};

const WHAT: &str = "resident memory of an idle server on that store";
/// Longer than it takes until the server's sealer has come by and sealed what filling the store left open.
const IDLE: Duration = Duration::from_secs(20);
const MEGABYTES_MAX: f64 = 150.0;

pub(crate) fn run(million: &Million) -> Result<Line> {
    let Some(program) = skein()? else {
        return Ok(Line::unavailable(WHAT, "no skein beside this program"));
    };
    let server = match Server::skein(&program, &million.directory) {
        Ok(server) => server,
        Err(error) => return Ok(Line::unavailable(WHAT, &error.to_string())),
    };
    server.rest(IDLE);
    let megabytes = server.resident_megabytes()?;
    server.stop()?;
    Ok(Line::limited(WHAT, Unit::Megabytes, &[megabytes], Target::AtMost(MEGABYTES_MAX)))
}
