//! A program of its own that runs a process of five steps over and over: what is counted about it is all there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Map, Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::operation::OperationType;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::flow::process::{Process, ProcessDraft};
use skein_core::{RecordId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::flow::{ExecutionRequest, PoolSizes, StreamEvent};
use skein_engine::{Caller, Engine, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::catalog::entries::VisibleQuery;
use skein_store::{Location, Store, StoreOptions};
use tokio::task::JoinSet;

use crate::appends::{rate, two_threads};
use crate::client::uuid;

pub(crate) const STEPS: usize = 5;
/// A tool that gives back what it is given: it is called, checked and recorded as any other.
const NO_OP: &str = "Echo";
const WARM_UP_RUNS: usize = 20;

/// What to run, and where.
#[derive(Debug, Clone, Args)]
pub(crate) struct Alone {
    /// A directory for blobs, and for the database where no other is named
    pub(crate) directory: std::path::PathBuf,
    #[arg(long)]
    pub(crate) database: Option<String>,
    #[arg(long)]
    pub(crate) runs: usize,
    #[arg(long)]
    pub(crate) at_once: usize,
    /// How many calls are made at once
    #[arg(long)]
    pub(crate) places: usize,
}

/// Steps per second, and commits per step.
pub(crate) struct Ran {
    pub(crate) steps_per_second: f64,
    pub(crate) commits_per_step: f64,
}

impl Ran {
    pub(crate) fn read(said: &str) -> Result<Self> {
        let mut figures = said.split_whitespace().map(str::parse);
        let mut figure = || figures.next().context("a figure is missing")?.context("not a figure");
        Ok(Self { steps_per_second: figure()?, commits_per_step: figure()? })
    }
}

impl Alone {
    /// Runs, and says what [`Ran::read`] reads.
    pub(crate) fn run(&self) -> Result<String> {
        let Ran { steps_per_second, commits_per_step } = two_threads()?.block_on(self.measure())?;
        Ok(format!("{steps_per_second} {commits_per_step}"))
    }

    async fn measure(&self) -> Result<Ran> {
        let location = match &self.database {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::Directory(self.directory.clone()),
        };
        let store = Store::open(StoreOptions::at(location))?;
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw()?), Guard::default(), HttpOptions::default())
            .map_err(anyhow::Error::msg)?;
        let engine = Engine::new(store.clone(), Blobs::directory(&self.directory.join("blobs"))?, gateway);
        engine.prepare().await?;
        let key = KeyText::draw();
        engine.admit_start_key(&key).await?;
        let caller = Arc::new(engine.authenticate(&PresentedCredential::Key(key), None).await?);
        let pools = PoolSizes(vec![(OperationType::McpTool, self.places)]);
        let worker = Worker::with_pools(engine.clone(), "bench".to_owned(), &pools);
        let process = five_steps(&store, &caller).await?;
        run_all(&engine, &caller, process, WARM_UP_RUNS, self.at_once).await?;
        let (before, started) = (engine.statistics().commits, Instant::now());
        run_all(&engine, &caller, process, self.runs, self.at_once).await?;
        let seconds = started.elapsed().as_secs_f64();
        let commits = usize::try_from(engine.statistics().commits - before)?;
        worker.stop(std::time::Duration::from_secs(1)).await;
        let steps = self.runs * STEPS;
        Ok(Ran { steps_per_second: rate(steps, seconds), commits_per_step: rate(commits, rate(steps, 1.0)) })
    }
}

/// Each step hands its value on to the next.
pub(crate) fn chain(tool: RecordId) -> Value {
    let step = |step: usize| {
        let value = if step == 0 { "{x}".to_owned() } else { format!("{{step.v{}.value}}", step - 1) };
        json!({ "id": format!("s{step}"), "toolId": tool, "inputs": { "value": value },
            "output": { "variable": format!("v{step}") } })
    };
    let steps: Vec<Value> = (0..STEPS).map(step).collect();
    let output = format!("{{{{v{}.value}}}}", STEPS - 1);
    json!({ "name": "Five steps", "initialContext": ["x"], "steps": steps, "outputTemplate": output })
}

async fn five_steps(store: &Store, caller: &Caller) -> Result<RecordId> {
    let viewer = Viewer::User(caller.user);
    let (of, query) = (viewer.clone(), VisibleQuery::of(Tool::record_type(), 100));
    let tools = store.read(move |tx| tx.records_visible(&of, &query)).await?.rows;
    let tool = tools.into_iter().find(|tool| tool.content.name() == Some(NO_OP)).context("there is no such tool")?.id;
    let draft: ProcessDraft = serde_json::from_value(chain(tool))?;
    let content = Process::create(draft)?.to_content(false);
    Ok(store.write(move |tx| tx.create_entry(&viewer, content.clone(), None)).await?.value.id)
}

/// So many runs, so many of them at once: whoever sees one end starts the next.
async fn run_all(engine: &Engine, caller: &Arc<Caller>, process: RecordId, runs: usize, at_once: usize) -> Result<()> {
    let begun = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..at_once {
        let (engine, caller, begun) = (engine.clone(), Arc::clone(caller), Arc::clone(&begun));
        callers.spawn(async move {
            while begun.fetch_add(1, Ordering::Relaxed) < runs {
                run_one(&engine, &caller, process).await?;
            }
            Ok(())
        });
    }
    callers.join_all().await.into_iter().collect()
}

async fn run_one(engine: &Engine, caller: &Caller, process: RecordId) -> Result<()> {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = uuid(u128::from(DRAWN.fetch_add(1, Ordering::Relaxed))).parse()?;
    let request = Request::new(caller, &key, "POST", "/bench", b"");
    let new = ExecutionRequest { context: Map::from_iter([("x".to_owned(), json!("hello"))]), priority: 0 };
    let run = engine.execute(caller, request, process, new).await?.value;
    let mut listening = engine.listen(caller, run, 0).await?;
    loop {
        if let StreamEvent::End(status) = listening.next().await? {
            ensure!(status == ExecutionStatus::Completed, "a run ended as {status:?}");
            return Ok(());
        }
    }
}
