//! 32 writers on PostgreSQL through the store, beside `pgbench` with the same insert on the same server.
//!
//! pgbench runs twice: a bare insert that commits by itself, and the form of the store's transactions
//! (serializable, begun and committed on their own). Reported, not judged: what the isolation costs is PostgreSQL's.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::postgres::{Client, NoTls};
use anyhow::{Context as _, Result, ensure};
use skein_store::{Location, Store, StoreOptions};
use tokio::task::JoinSet;

use crate::Setting;
use crate::appends::two_threads;
use crate::comparison::{Comparison, median};
use crate::notes::{Notes, VIEWER};
use crate::report::{Line, Target, Unit};

const WRITERS: usize = 32;
const MEASURED_FOR: Duration = Duration::from_secs(5);
const WHAT: &str = "PostgreSQL, 32 writers";

const INSERT: &str = "INSERT INTO items
    (tx, id, owner, type, realized_at, canonical_at, hash, payload_hash, encoding, payload)
VALUES (pg_current_xact_id()::text::bigint, uuid_send(gen_random_uuid()), decode(repeat('07', 16), 'hex'), 'Note',
    floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint,
    floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint,
    decode(repeat('ab', 32), 'hex'), decode(repeat('cd', 32), 'hex'), 0, decode(repeat('61', 400), 'hex'));
";

/// Transactions per second, and how many of a hundred collided and were run again.
#[derive(Clone, Copy)]
struct Measured {
    per_second: f64,
    collided_percent: f64,
}

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let Some(url) = &setting.postgres else {
        let reason = "no server was given; make bench starts one";
        return Ok(vec![Line::unavailable(WHAT, reason)]);
    };
    let server = Server { url: url.clone() };
    let serializable = format!("BEGIN ISOLATION LEVEL SERIALIZABLE;\n{INSERT}COMMIT;\n");
    Ok(vec![
        compare(setting, &server, "one bare insert each", INSERT)?,
        compare(setting, &server, "the same serializable", &serializable)?,
    ])
}

fn compare(setting: &Setting, server: &Server, form: &str, script: &str) -> Result<Line> {
    let script_file = setting.folder.path().join("insert.sql");
    std::fs::write(&script_file, script).context("cannot write the script")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let sides = Comparison::alternate(
        setting.rounds,
        || {
            let measured = through_the_store(&server.fresh_database("skein_bench_ours")?)?;
            ours.push(measured.collided_percent);
            Ok(measured.per_second)
        },
        || {
            let measured = pgbench(server, &script_file)?;
            theirs.push(measured.collided_percent);
            Ok(measured.per_second)
        },
    )?;
    let what = format!("{WHAT} ({:.2} % collided); pgbench: {form} ({:.2} %)", median(&ours), median(&theirs));
    Ok(Line::compared(&what, Unit::PerSecond, &sides, Target::None))
}

fn through_the_store(url: &str) -> Result<Measured> {
    let location = Location::Postgres(url.to_owned());
    let store = Store::open(StoreOptions { connections: WRITERS, ..StoreOptions::at(location) })?;
    let runtime = two_threads()?;
    // Connecting is not what is measured.
    runtime.block_on(write_for(&store, MEASURED_FOR / 10))?;
    let (before, started) = (store.statistics(), Instant::now());
    runtime.block_on(write_for(&store, MEASURED_FOR))?;
    let (after, took) = (store.statistics(), started.elapsed());
    let commits = precise(after.commits - before.commits);
    let collisions = precise(after.collisions - before.collisions);
    Ok(Measured {
        per_second: commits / took.as_secs_f64(),
        collided_percent: 100.0 * collisions / (commits + collisions),
    })
}

async fn write_for(store: &Store, duration: Duration) -> Result<()> {
    let over = Arc::new(AtomicBool::new(false));
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        tasks.spawn(write_until(store.clone(), writer, Arc::clone(&over)));
    }
    tokio::time::sleep(duration).await;
    over.store(true, Ordering::Relaxed);
    tasks.join_all().await.into_iter().collect()
}

async fn write_until(store: Store, writer: usize, over: Arc<AtomicBool>) -> Result<()> {
    let mut notes = Notes::default().skip(writer);
    while !over.load(Ordering::Relaxed) {
        let draft = notes.next().context("there are always more notes")?.draft(None)?;
        store.write(move |tx| tx.append_item(&VIEWER, &draft)).await?;
    }
    Ok(())
}

/// Runs pgbench on a table that the store made.
fn pgbench(server: &Server, script: &Path) -> Result<Measured> {
    let url = server.fresh_database("skein_bench_theirs")?;
    drop(Store::open(StoreOptions::at(Location::Postgres(url.clone())))?);
    let output = Command::new("pgbench")
        // Not as an argument: the address has the password in it, and everybody can list arguments.
        .env("PGDATABASE", url)
        .args(["--no-vacuum", "--protocol=prepared", "--max-tries=40", "--jobs=2"])
        .arg(format!("--client={WRITERS}"))
        .arg(format!("--time={}", MEASURED_FOR.as_secs()))
        .arg("--file")
        .arg(script)
        .output()
        .context("pgbench cannot be started")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "pgbench failed: {complaint}");
    read_pgbench(&said).with_context(|| format!("pgbench said something else: {said}"))
}

fn read_pgbench(said: &str) -> Option<Measured> {
    let number = |start: &str| -> Option<f64> {
        let rest = said.lines().find_map(|line| line.strip_prefix(start))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let committed = number("number of transactions actually processed: ")?;
    let run_again = number("total number of retries: ").unwrap_or(0.0);
    Some(Measured { per_second: number("tps = ")?, collided_percent: 100.0 * run_again / (committed + run_again) })
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
fn precise(count: u64) -> f64 {
    count as f64
}

/// Where databases of our own can be made.
pub(crate) struct Server {
    pub(crate) url: String,
}

impl Server {
    /// Makes a database anew; gives its address.
    pub(crate) fn fresh_database(&self, name: &str) -> Result<String> {
        let client = Client::connect(&self.url, NoTls);
        let mut client = client.context("the PostgreSQL server cannot be reached")?;
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        client.batch_execute(&format!("CREATE DATABASE {name}"))?;
        // What the one before left to be written must not be charged to this one.
        client.batch_execute("CHECKPOINT")?;
        self.address_of(name).context("the PostgreSQL address has no database in it")
    }

    fn address_of(&self, database: &str) -> Option<String> {
        let (address, parameters) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let (server, _) = address.rsplit_once('/')?;
        Some(format!("{server}/{database}?{parameters}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Server, read_pgbench};

    #[test]
    fn another_database_keeps_the_rest_of_the_address() {
        let server = Server { url: "postgresql://a:b@127.0.0.1:5/postgres?sslmode=disable".into() };
        let expected = "postgresql://a:b@127.0.0.1:5/x?sslmode=disable";
        assert_eq!(server.address_of("x").as_deref(), Some(expected));
    }

    #[test]
    fn what_pgbench_says_is_read() {
        let said = "number of transactions actually processed: 980\nnumber of failed transactions: 0 (0.000%)\n\
                    total number of retries: 20\ntps = 1234.5 (without initial connection time)\n";
        let measured = read_pgbench(said).expect("it is all there");
        assert!((measured.per_second - 1234.5).abs() < 1e-9);
        assert!((measured.collided_percent - 2.0).abs() < 1e-9);
    }
}
