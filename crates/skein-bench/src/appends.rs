//! Single appends from many callers at once, each durable before its caller goes on.
//!
//! Beside it: one thread that writes 64 rows per transaction without ever waiting for a caller.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use skein_store::{Location, Store, StoreOptions};
use tokio::task::JoinSet;

use crate::comparison::Comparison;
use crate::notes::{Note, VIEWER, notes};
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare};

const ITEMS: usize = 32_768;
const BARE_ROWS_PER_TRANSACTION: usize = 64;
const RUNTIME_THREADS: usize = 2;
/// How many callers, and which share of the bare program's rate they shall reach.
const CASES: [(usize, f64); 2] = [(64, 0.5), (256, 0.8)];

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let notes: Arc<[Note]> = notes(ITEMS).into();
    CASES.iter().map(|(callers, share)| compare(setting, &notes, *callers, *share)).collect()
}

fn compare(setting: &Setting, notes: &Arc<[Note]>, callers: usize, share: f64) -> Result<Line> {
    let payloads: Vec<Vec<u8>> = notes.iter().map(Note::payload).collect();
    let sides = Comparison::alternate(
        setting.rounds,
        || through_the_store(setting, notes, callers),
        || {
            let directory = setting.folder.make("bare")?;
            bare::make_tables(&directory)?;
            let took = bare::append(&directory, &payloads, BARE_ROWS_PER_TRANSACTION)?;
            Ok(rate(payloads.len(), took.as_secs_f64()))
        },
    )?;
    let what = format!("single durable appends, {callers} callers; bare: 64 rows per transaction");
    Ok(Line::compared(&what, Unit::PerSecond, &sides, Target::AtLeast(share)))
}

/// Items per second over all callers.
pub(crate) fn through_the_store(setting: &Setting, notes: &Arc<[Note]>, callers: usize) -> Result<f64> {
    let directory = setting.folder.make("ours")?;
    let store = Store::open(StoreOptions::at(Location::Directory(directory)))?;
    let runtime = two_threads()?;
    let started = Instant::now();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for caller in 0..callers {
            tasks.spawn(append_share(store.clone(), Arc::clone(notes), caller, callers));
        }
        tasks.join_all().await.into_iter().collect::<Result<()>>()
    })?;
    Ok(rate(notes.len(), started.elapsed().as_secs_f64()))
}

/// What one caller does: state a note, wait until it is durable, state the next.
async fn append_share(store: Store, notes: Arc<[Note]>, caller: usize, callers: usize) -> Result<()> {
    for note in notes.iter().skip(caller).step_by(callers) {
        let draft = note.draft(None)?;
        store.write(move |tx| tx.append_item(&VIEWER, &draft)).await?;
    }
    Ok(())
}

pub(crate) fn two_threads() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Ok(builder.worker_threads(RUNTIME_THREADS).enable_all().build()?)
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn rate(count: usize, seconds: f64) -> f64 {
    count as f64 / seconds
}
