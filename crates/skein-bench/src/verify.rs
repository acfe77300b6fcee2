//! Proving a large store unaltered, beside a program that only reads the same rows and hashes them.

use std::time::Instant;

use anyhow::{Result, ensure};
use skein_store::blobs::Blobs;
use skein_store::verify::{VerifyOptions, verify};
use skein_store::{Location, Store};

use crate::appends::rate;
use crate::comparison::Comparison;
use crate::million::Million;
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare};

const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let rounds = setting.rounds;
    let million = setting.million()?;
    million.seal()?;
    let sides = Comparison::alternate(
        rounds,
        || through_the_store(million),
        || {
            let (items, took) = bare::hash_everything(&million.directory)?;
            Ok(rate(usize::try_from(items)?, took.as_secs_f64()))
        },
    )?;
    let what = "verify, hashes and seals; bare: read and hash the same rows";
    Ok(vec![Line::compared(what, Unit::PerSecond, &sides, Target::AtLeast(SHARE))])
}

/// Items verified per second.
fn through_the_store(million: &Million) -> Result<f64> {
    let store = Store::open_read_only(Location::Directory(million.directory.clone()))?;
    let blobs = Blobs::directory(&million.directory.join("blobs"))?;
    let started = Instant::now();
    let report = verify(&store, &blobs, &VerifyOptions::default(), &mut |_| {})?;
    let took = started.elapsed().as_secs_f64();
    ensure!(report.breaks.is_empty(), "verification found {:?}", report.breaks.first());
    ensure!(report.unsealed == 0, "{} items are not sealed", report.unsealed);
    Ok(rate(usize::try_from(report.items)?, took))
}
