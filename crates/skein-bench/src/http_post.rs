//! Items written by 32 clients over HTTP, each under an idempotency key of its own, beside 32 callers of the store.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use crate::Setting;
use crate::appends::{through_the_store, two_threads};
use crate::client::{self, CONNECTIONS};
use crate::comparison::Comparison;
use crate::notes::{Note, Random, notes};
use crate::process::{Server, create_key, skein};
use crate::report::{Line, Target, Unit};

const WHAT: &str = "HTTP: POST of an item, 32 connections; beside it: the store, 32 callers";
const ITEMS: usize = 32_768;
const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(program) = skein()? else {
        return Ok(vec![Line::unavailable(WHAT, "no skein beside this program")]);
    };
    let notes: Arc<[Note]> = notes(ITEMS).into();
    let sides = Comparison::alternate(
        setting.rounds,
        || over_http(setting, &program, &notes),
        || through_the_store(setting, &notes, CONNECTIONS),
    )?;
    Ok(vec![Line::compared(WHAT, Unit::PerSecond, &sides, Target::AtLeast(SHARE))])
}

/// Items per second over all connections of a new server.
fn over_http(setting: &Setting, program: &Path, notes: &[Note]) -> Result<f64> {
    let directory = setting.folder.make("served")?;
    let server = Server::skein(program, &directory)?;
    let key = create_key(program, &directory)?;
    let mut random = Random::default();
    let mut shares = vec![Vec::new(); CONNECTIONS];
    for (at, note) in notes.iter().enumerate() {
        let request = client::post_item(&server.address, &key, random.next_key(), &note.body());
        shares[at % CONNECTIONS].push(request);
    }
    let measured = two_threads()?.block_on(client::send_all(&server.address, shares))?;
    server.stop()?;
    Ok(measured)
}
