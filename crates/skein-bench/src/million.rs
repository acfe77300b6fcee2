//! A store with a million items: filling it, and what it costs to open and to hold.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use skein_core::Millis;
use skein_store::timeline::sealer::seal_all;
use skein_store::{Location, Store, StoreOptions};

use crate::appends::rate;
use crate::batch::{self, ROWS_PER_TRANSACTION};
use crate::notes::{Note, Notes, Random};
use crate::report::{Line, Target, Unit, grouped};
use crate::{Setting, idle_server, pages};

const OPEN_MS_MAX: f64 = 1_000.0;
/// Seals follow the items as a server's sealer would, a few seconds behind a steady import.
const ITEMS_PER_SEALING: usize = 50_000;
const SEALER: &str = "benchmark";
/// They happened over the years before, roughly in the order they are put in, so that the two clocks differ.
const FIRST_MOMENT: i64 = 1_500_000_000_000;
const MS_BETWEEN: i64 = 100_000;
const MS_OUT_OF_ORDER: u64 = 1_000_000_000;

/// A large store that is closed.
pub(crate) struct Million {
    pub(crate) directory: PathBuf,
    pub(crate) items: usize,
}

impl Million {
    /// Fills an empty directory. The last stretch stays unsealed, as on a server that is being written to.
    pub(crate) fn fill(directory: PathBuf, items: usize) -> Result<Self> {
        let store = open(&directory)?;
        let (mut notes, mut random) = (Notes::default(), Random::default());
        let started = Instant::now();
        let mut moment = FIRST_MOMENT;
        let mut draft = |note: Note| {
            moment += MS_BETWEEN;
            note.draft(Some(Millis(moment.saturating_add_unsigned(random.below(MS_OUT_OF_ORDER)))))
        };
        for first in (0..items).step_by(ROWS_PER_TRANSACTION) {
            if first > 0 && first % ITEMS_PER_SEALING == 0 {
                seal_all(&store, SEALER)?;
            }
            let count = ROWS_PER_TRANSACTION.min(items - first);
            let drafts = notes.by_ref().take(count).map(&mut draft).collect::<Result<_>>()?;
            batch::append(&store, drafts)?;
        }
        let per_second = rate(items, started.elapsed().as_secs_f64());
        println!("(filled a store with {items} items, sealed on the way, at {per_second:.0}/s)");
        Ok(Self { directory, items })
    }

    pub(crate) fn open(&self) -> Result<Store> {
        open(&self.directory)
    }

    /// Seals what is left.
    pub(crate) fn seal(&self) -> Result<()> {
        seal_all(&self.open()?, SEALER)?;
        Ok(())
    }
}

pub(crate) fn open(directory: &Path) -> Result<Store> {
    Ok(Store::open(StoreOptions::at(Location::Directory(directory.to_owned())))?)
}

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let rounds = setting.rounds;
    let one_moment = pages::run_one_moment(setting)?;
    let million = setting.million()?;
    let mut lines = vec![measure_opening(million, rounds)?];
    lines.extend(pages::run(million, rounds)?);
    lines.push(one_moment);
    lines.push(idle_server::run(million)?);
    Ok(lines)
}

fn measure_opening(million: &Million, rounds: u32) -> Result<Line> {
    let measure = |_| {
        let started = Instant::now();
        let store = million.open()?;
        let took = started.elapsed().as_secs_f64() * 1_000.0;
        drop(store);
        Ok(took)
    };
    let measured = (0..rounds).map(measure).collect::<Result<Vec<f64>>>()?;
    let what = format!("opening a store of {} items", grouped(&million.items.to_string()));
    Ok(Line::limited(&what, Unit::Milliseconds, &measured, Target::AtMost(OPEN_MS_MAX)))
}
