//! Measures the cost of idempotency keys: one more row in the same transaction, and no further commit.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use skein_core::account::idempotency::IdempotencyKey;
use skein_store::operations::{OperationState, RepeatCheck};
use skein_store::store::database_file;
use skein_store::{Location, Store, StoreError, StoreOptions, Tx};
use tokio::task::JoinSet;

use crate::Setting;
use crate::appends::{rate, through_the_store, two_threads};
use crate::client::{self, CONNECTIONS, Connection, uuid};
use crate::comparison::Comparison;
use crate::notes::{Note, OWNER, Random, VIEWER, notes};
use crate::process::{Server, create_key, skein};
use crate::report::{Line, Target, Unit};
use crate::{bare, wal};

const COUNTED: &str = "HTTP: operation rows per POST of an item";
const COMMITS: &str = "HTTP: commits, each with one sync, per POST of an item, one after the other";
const COMPARED: &str = "single appends with their operations, 32 callers; beside it: without operations";
/// So few that the log is not started anew meanwhile, which would hide commits.
const POSTS: u32 = 50;
const ITEMS: usize = 32_768;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let mut lines = match skein()? {
        Some(program) => counted(setting, &program)?,
        None => vec![Line::unavailable(COUNTED, "no skein beside this program")],
    };
    let notes: Arc<[Note]> = notes(ITEMS).into();
    let sides = Comparison::alternate(
        setting.rounds,
        || with_operations(setting, &notes),
        || through_the_store(setting, &notes, CONNECTIONS),
    )?;
    lines.push(Line::compared(COMPARED, Unit::PerSecond, &sides, Target::None));
    Ok(lines)
}

/// Posts over one connection and looks into the database, and into its log, before and after.
fn counted(setting: &Setting, program: &Path) -> Result<Vec<Line>> {
    let directory = setting.folder.make("served")?;
    let server = Server::skein(program, &directory)?;
    let key = create_key(program, &directory)?;
    let log = database_file(&directory).with_extension("db-wal");
    let look = || Ok::<_, anyhow::Error>((rows(&directory)?, wal::commits(&log)?));
    let (before, after) = two_threads()?.block_on(async {
        let mut connection = Connection::open(&server.address).await?;
        let (mut random, mut notes) = (Random::default(), notes(POSTS as usize + 1).into_iter());
        let mut post =
            || notes.next().map(|note| client::post_item(&server.address, &key, random.next_key(), &note.body()));
        // The first use of a key is noted, once.
        connection.ask(&post().context("there is a first note")?, "201").await?;
        let before = look()?;
        while let Some(request) = post() {
            connection.ask(&request, "201").await?;
        }
        Ok::<_, anyhow::Error>((before, look()?))
    })?;
    server.stop()?;
    ensure!(before.1.log == after.1.log, "the log was started anew while its commits were counted");
    let each = |count: u32| [f64::from(count) / f64::from(POSTS)];
    let commits = after.1.commits - before.1.commits;
    Ok(vec![
        Line::limited(COUNTED, Unit::Each, &each(after.0 - before.0), Target::AtMost(1.0)),
        Line::limited(COMMITS, Unit::Each, &each(commits), Target::AtMost(1.0)),
    ])
}

fn rows(directory: &Path) -> Result<u32> {
    let connection = bare::open_for_reading(directory)?;
    Ok(connection.query_row("SELECT count(*) FROM operations", [], |row| row.get(0))?)
}

/// Items per second over all callers, each item with the operation a request is told again by.
fn with_operations(setting: &Setting, notes: &Arc<[Note]>) -> Result<f64> {
    let directory = setting.folder.make("ours")?;
    let store = Store::open(StoreOptions::at(Location::Directory(directory)))?;
    let runtime = two_threads()?;
    let started = Instant::now();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for caller in 0..CONNECTIONS {
            tasks.spawn(append_share(store.clone(), Arc::clone(notes), caller));
        }
        tasks.join_all().await.into_iter().collect::<Result<()>>()
    })?;
    Ok(rate(notes.len(), started.elapsed().as_secs_f64()))
}

async fn append_share(store: Store, notes: Arc<[Note]>, caller: usize) -> Result<()> {
    let mut random = Random::seeded(caller);
    for note in notes.iter().skip(caller).step_by(CONNECTIONS) {
        let draft = note.draft(None)?;
        let key: IdempotencyKey = uuid(random.next_key()).parse()?;
        let mark = key.mark(OWNER, "POST", "/api/v1/items", &note.body());
        let append = move |tx: &mut Tx<'_>| {
            if tx.repeat(&VIEWER, &mark)? != RepeatCheck::First {
                return Err(StoreError::RequestMismatch);
            }
            let stored = tx.append_item(&VIEWER, &draft)?;
            let result = json!({ "item": stored.item.header.id }).to_string();
            tx.start_operation(&VIEWER, "item.append", &OperationState::Completed { result }, Some(&mark))
        };
        store.write(append).await?;
    }
    Ok(())
}
