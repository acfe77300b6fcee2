//! Runs of processes as the doors start them, on both databases.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::state::RunStatus;
use skein_core::flow::process::{Process, ProcessDraft};
use skein_core::{RecordId, RunId, Viewer};
use skein_engine::account::Presented;
use skein_engine::catalog::{Outside, Passing};
use skein_engine::flow::{NewRun, ShownRun};
use skein_engine::{Caller, Engine, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::catalogue::VisibleQuery;
use skein_store::{Location, Store, StoreOptions};
use tempfile::TempDir;

struct World {
    engine: Engine,
    store: Store,
    caller: Caller,
    _worker: Worker,
    _dir: TempDir,
}

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        let outside = Outside::new(Box::new(Passing::draw().unwrap()), Guard::default(), HttpOptions::default());
        let engine = Engine::new(store.clone(), blobs, outside.unwrap());
        engine.prepare().await.unwrap();
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&Presented::Key(key), None).await.unwrap();
        let worker = Worker::start(engine.clone(), "test".to_owned());
        Self { engine, store, caller, _worker: worker, _dir: dir }
    }

    async fn tool(&self, name: &'static str) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(skein_core::catalog::tool::Tool::record_type(), 100);
        let tools = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap();
        tools.rows.into_iter().find(|tool| tool.content.name() == Some(name)).unwrap().id
    }

    async fn process(&self, definition: Value) -> RecordId {
        let draft: ProcessDraft = serde_json::from_value(definition).unwrap();
        let content = Process::create(draft).unwrap().to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let made = self.store.write(move |tx| tx.create_catalogued(&viewer, content.clone(), None));
        made.await.unwrap().value.id
    }

    async fn run(&self, process: RecordId, context: Value) -> RunId {
        let Value::Object(context) = context else { unreachable!() };
        let new = NewRun { context, priority: 0 };
        self.engine.execute(&self.caller, fresh(&self.caller), process, new).await.unwrap().value
    }

    /// Waits until a run has ended.
    async fn ended(&self, run: RunId) -> ShownRun {
        let mut rung = self.store.wake().subscribe();
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if shown.row.status.has_ended() {
                return shown;
            }
            tokio::time::timeout(Duration::from_secs(30), rung.changed()).await.unwrap().unwrap();
        }
    }
}

fn fresh(caller: &Caller) -> Request {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
    Request::new(caller, &key.parse().unwrap(), "POST", "/test", b"")
}

fn chain(tool: RecordId, steps: usize) -> Value {
    let steps: Vec<Value> = (0..steps)
        .map(|step| {
            let value = if step == 0 { "{x}".to_owned() } else { format!("{{step.v{}.value}}", step - 1) };
            json!({ "id": format!("s{step}"), "toolId": tool, "inputs": { "value": value },
                "output": { "variable": format!("v{step}") } })
        })
        .collect();
    let last = steps.len() - 1;
    json!({ "name": "chain", "initialContext": ["x"], "steps": steps, "outputTemplate": format!("{{{{v{last}.value}}}}") })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_of_steps_hands_on_what_each_gives() {
    let world = World::new().await;
    let echo = world.tool("Echo").await;
    let process = world.process(chain(echo, 5)).await;
    let before = world.engine.statistics();
    let run = world.run(process, json!({ "x": "hello" })).await;
    let shown = world.ended(run).await;
    assert_eq!(shown.row.status, RunStatus::Completed, "{:?}", shown.row.failure);
    assert_eq!(shown.row.output, Some(json!("hello")));
    assert_eq!(shown.steps.len(), 5);
    let commits = world.engine.statistics().commits - before.commits;
    assert!(commits <= 6, "{commits} commits");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_not_there_fails_the_run_and_says_which() {
    let world = World::new().await;
    let echo = world.tool("Echo").await;
    let mut definition = chain(echo, 2);
    definition["steps"][1]["inputs"] = json!({ "value": 1, "more": 2 });
    let process = world.process(definition).await;
    let run = world.run(process, json!({ "x": "hello" })).await;
    let shown = world.ended(run).await;
    assert_eq!(shown.row.status, RunStatus::Failed);
    let failure = shown.row.failure.unwrap();
    assert_eq!((failure.step, failure.fault.rule.as_deref()), (Some(2), Some("BR-TOOL-002")), "{failure:?}");
    let _ = Map::<String, Value>::new();
}
