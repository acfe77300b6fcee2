//! Many items at once, as an import appends them: the same number per transaction on both sides.

use std::time::Instant;

use anyhow::Result;
use skein_core::garden::item::ItemDraft;
use skein_store::{Location, Store, StoreOptions};

use crate::appends::rate;
use crate::comparison::Comparison;
use crate::notes::{Note, VIEWER, notes};
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare};

const ITEMS: usize = 100_000;
pub(crate) const ROWS_PER_TRANSACTION: usize = 1_000;
const SHARE: f64 = 0.5;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let notes = notes(ITEMS);
    let payloads: Vec<Vec<u8>> = notes.iter().map(Note::payload).collect();
    let sides = Comparison::alternate(
        setting.rounds,
        || through_the_store(setting, &notes),
        || {
            let directory = setting.folder.make("bare")?;
            bare::make_tables(&directory)?;
            let took = bare::append(&directory, &payloads, ROWS_PER_TRANSACTION)?;
            Ok(rate(payloads.len(), took.as_secs_f64()))
        },
    )?;
    let what = "batch append of 100,000 items, 1,000 per transaction on both sides";
    Ok(vec![Line::compared(what, Unit::PerSecond, &sides, Target::AtLeast(SHARE))])
}

fn through_the_store(setting: &Setting, notes: &[Note]) -> Result<f64> {
    let directory = setting.folder.make("ours")?;
    let store = Store::open(StoreOptions::at(Location::Directory(directory)))?;
    let started = Instant::now();
    for chunk in notes.chunks(ROWS_PER_TRANSACTION) {
        let drafts = chunk.iter().map(|note| note.draft(None)).collect::<Result<_>>()?;
        append(&store, drafts)?;
    }
    Ok(rate(notes.len(), started.elapsed().as_secs_f64()))
}

/// One transaction with all of them.
pub(crate) fn append(store: &Store, drafts: Vec<ItemDraft>) -> Result<()> {
    store.write_blocking(move |tx| tx.append_items(&VIEWER, &drafts).map(drop))?;
    Ok(())
}
