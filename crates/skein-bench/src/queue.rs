//! Claiming jobs where very many wait, beside claiming where few do: owners take turns, and that must not cost more.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use skein_core::{Millis, UserId, Viewer};
use skein_store::jobs::{Job, JobDraft, QueueCapacity};
use skein_store::{Location, Store, StoreOptions};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::Setting;
use crate::appends::two_threads;
use crate::comparison::Comparison;
use crate::notes::Random;
use crate::postgres::Server;
use crate::report::{Line, Target, Unit, grouped};

const FEW: usize = 1_000;
const OWNERS: u64 = 1_000;
const PRIORITIES: u64 = 10;
/// Of a hundred jobs, so many are not due yet.
const DELAYED_PERCENT: u64 = 20;
const HOUR_MS: u64 = 3_600_000;
const QUEUE: &str = "bench";
const LEASE_MS: i64 = 600_000;
const JOBS_PER_TRANSACTION: usize = 2_000;
const FILLERS: usize = 8;
const CLAIMED_PER_ROUND: usize = 512;
const WORKERS: usize = 8;
const JOBS_PER_WORKER: usize = 1_000;
const TIMES_FEW: f64 = 2.0;
const SYSTEM: Viewer = Viewer::System("bench");

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let runtime = two_threads()?;
    let directory = |name: &str| Ok::<_, anyhow::Error>(Location::Directory(setting.folder.make(name)?));
    let mut lines = compare(setting, &runtime, "SQLite", [directory("jobs-many")?, directory("jobs-few")?])?;
    let Some(url) = setting.postgres.clone() else {
        lines.push(Line::unavailable("claiming on PostgreSQL", "no server was given; make bench starts one"));
        return Ok(lines);
    };
    let server = Server { url };
    let database = |name: &str| Ok::<_, anyhow::Error>(Location::Postgres(server.fresh_database(name)?));
    let places = [database("skein_bench_jobs_many")?, database("skein_bench_jobs_few")?];
    lines.extend(compare(setting, &runtime, "PostgreSQL", places)?);
    let chain = database("skein_bench_jobs_chain")?;
    lines.push(runtime.block_on(hand_over(chain))?);
    Ok(lines)
}

/// Workers that each end a job and are handed the next one in the same transaction: what they keep apart by is rows.
async fn hand_over(location: Location) -> Result<Line> {
    let store = Store::open(StoreOptions { connections: WORKERS, ..StoreOptions::at(location) })?;
    let mut working = JoinSet::new();
    let started = Instant::now();
    for worker in 0..WORKERS {
        working.spawn(work(store.clone(), worker));
    }
    working.join_all().await.into_iter().collect::<Result<()>>()?;
    let per_second = crate::appends::rate(WORKERS * JOBS_PER_WORKER, started.elapsed().as_secs_f64());
    let collided = store.statistics().collisions;
    let what = format!(
        "PostgreSQL: 8 workers end a job and are handed the next ({collided} collisions in {} jobs)",
        WORKERS * JOBS_PER_WORKER
    );
    Ok(Line::limited(&what, Unit::PerSecond, &[per_second], Target::None))
}

async fn work(store: Store, worker: usize) -> Result<()> {
    let holder = store.holder(&format!("worker {worker}"), LEASE_MS);
    let owner = Viewer::User(UserId::from_bytes([u8::try_from(worker)?; 16]));
    let mut last: Option<Job> = None;
    for _ in 0..JOBS_PER_WORKER {
        let (holder, owner, done) = (holder.clone(), owner.clone(), last.take());
        let next = store.write(move |tx| {
            let draft = JobDraft::new(QUEUE, "{}".to_owned());
            match &done {
                Some(done) => tx.complete_and_enqueue(&SYSTEM, done, &draft, &holder),
                None => tx.enqueue_leased(&owner, &draft, &holder),
            }
        });
        last = Some(next.await?.value);
    }
    Ok(())
}

fn compare(setting: &Setting, runtime: &Runtime, name: &str, places: [Location; 2]) -> Result<Vec<Line>> {
    let [many, few] = places;
    let many = runtime.block_on(filled(many, setting.items))?;
    let few = runtime.block_on(filled(few, FEW))?;
    let line = |at_once: usize| {
        let sides = Comparison::alternate(
            setting.rounds,
            || runtime.block_on(claim(&many, at_once)),
            || runtime.block_on(claim(&few, at_once)),
        )?;
        let waiting = grouped(&setting.items.to_string());
        let what = format!("{name}: a job claimed, {at_once} at once, of {waiting}; beside it: of 1,000");
        Ok(Line::compared(&what, Unit::Microseconds, &sides, Target::AtMost(TIMES_FEW)))
    };
    [1, 64].into_iter().map(line).collect()
}

/// A store in which so many jobs of a thousand owners wait.
async fn filled(location: Location, jobs: usize) -> Result<Store> {
    let store = Store::open(StoreOptions { connections: FILLERS, ..StoreOptions::at(location) })?;
    let now = store.write(|tx| Ok(tx.now())).await?.value;
    let started = Instant::now();
    let mut random = Random::default();
    let mut filling = JoinSet::new();
    for first in (0..jobs).step_by(JOBS_PER_TRANSACTION) {
        let count = JOBS_PER_TRANSACTION.min(jobs - first);
        let drafts: Vec<(Viewer, JobDraft)> = (0..count).map(|_| drafted(&mut random, now)).collect();
        if filling.len() == FILLERS {
            filling.join_next().await.context("somebody is filling")???;
        }
        let store = store.clone();
        filling.spawn(async move {
            let enqueue = move |tx: &mut skein_store::Tx<'_>| {
                drafts.iter().try_for_each(|(owner, draft)| tx.enqueue(owner, draft).map(drop))
            };
            store.write(enqueue).await.map(drop).map_err(anyhow::Error::from)
        });
    }
    filling.join_all().await.into_iter().collect::<Result<()>>()?;
    if jobs > FEW {
        println!("(queued {jobs} jobs in {:.0} s)", started.elapsed().as_secs_f64());
    }
    Ok(store)
}

fn drafted(random: &mut Random, now: Millis) -> (Viewer, JobDraft) {
    let owner = UserId::from_bytes((u128::from(random.below(OWNERS)) << 64).to_be_bytes());
    let within = i64::try_from(random.below(HOUR_MS)).unwrap_or_default();
    let run_at =
        if random.below(100) < DELAYED_PERCENT { now.plus(HOUR_MS.cast_signed() + within) } else { now.plus(-within) };
    let payload = format!(r#"{{"step":{},"of":"a process that somebody is running right now"}}"#, random.below(100));
    let priority = random.below(PRIORITIES).cast_signed();
    (Viewer::User(owner), JobDraft { priority, run_at: Some(run_at), ..JobDraft::new(QUEUE, payload) })
}

/// Microseconds for each job; they are put back afterwards.
async fn claim(store: &Store, at_once: usize) -> Result<f64> {
    let (holder, wanted) =
        (store.holder("bench", LEASE_MS), [QueueCapacity { queue: QUEUE.to_owned(), places: at_once }]);
    let mut held: Vec<Job> = Vec::new();
    let started = Instant::now();
    while held.len() < CLAIMED_PER_ROUND {
        let claimed = store.claim_jobs(&holder, &wanted).await?.jobs;
        ensure!(claimed.len() == at_once, "less was waiting than was queued");
        held.extend(claimed);
    }
    let each = 1e6 / crate::appends::rate(CLAIMED_PER_ROUND, started.elapsed().as_secs_f64());
    store.write(move |tx| tx.release_jobs(&SYSTEM, &held)).await?;
    Ok(each)
}
