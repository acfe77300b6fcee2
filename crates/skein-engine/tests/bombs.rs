//! Processes that would grow without bound, and answers that are too large to keep: bounded, and reported by the run.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::flow::process::Process;
use skein_core::garden::record::Act;
use skein_core::{RecordId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::flow::{ExecutionRequest, ShownExecution};
use skein_engine::{Caller, Engine, EngineError, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::catalog::entries::VisibleQuery;
use skein_store::{Location, Store, StoreOptions};
use tempfile::TempDir;

struct EngineFixture {
    engine: Engine,
    store: Store,
    caller: Caller,
    echo: RecordId,
    _worker: Worker,
    _dir: TempDir,
}

impl EngineFixture {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default());
        let engine = Engine::new(store.clone(), blobs, gateway.unwrap());
        engine.prepare().await.unwrap();
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap();
        let worker = Worker::start(engine.clone(), "test".to_owned());
        let (viewer, query) = (Viewer::User(caller.user), VisibleQuery::of(Tool::record_type(), 100));
        let tools = store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap();
        let echo = tools.rows.into_iter().find(|tool| tool.content.name() == Some("Echo")).unwrap().id;
        Self { engine, store, caller, echo, _worker: worker, _dir: dir }
    }

    /// A process may name itself only once it is there.
    async fn redefine(&self, process: RecordId, definition: Value) {
        let content = Process::create(serde_json::from_value(definition).unwrap()).unwrap().to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let change = self.store.write(move |tx| {
            let hash = tx.record(&viewer, process)?.hash;
            tx.update_entry(&viewer, process, hash, content.clone(), Act::Plain, None)
        });
        change.await.unwrap();
    }

    async fn process(&self, name: &str, steps: Vec<Value>, output: &str) -> RecordId {
        let definition = json!({ "name": name, "initialContext": ["x"], "steps": steps, "outputTemplate": output });
        let content = Process::create(serde_json::from_value(definition).unwrap()).unwrap().to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let made = self.store.write(move |tx| tx.create_entry(&viewer, content.clone(), None));
        made.await.unwrap().value.id
    }

    /// A step that gives back what it is given.
    fn echo(&self, id: &str, value: &str) -> Value {
        json!({ "id": id, "toolId": self.echo, "inputs": { "value": value }, "output": { "variable": id } })
    }

    async fn run(&self, process: RecordId, x: &str) -> Result<ShownExecution, EngineError> {
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
        let request = Request::new(&self.caller, &key.parse().unwrap(), "POST", "/test", b"");
        let Value::Object(context) = json!({ "x": x }) else { unreachable!() };
        let mut rung = self.store.wake().subscribe();
        let run =
            self.engine.execute(&self.caller, request, process, ExecutionRequest { context, priority: 0 }).await?.value;
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if shown.row.status.has_ended() {
                return Ok(shown);
            }
            // Leases last longer than this: nothing here waits for one to run out.
            tokio::time::timeout(Duration::from_secs(30), rung.changed()).await.unwrap().unwrap();
        }
    }
}

fn failed(shown: &ShownExecution) -> (String, String) {
    assert_eq!(shown.row.status, ExecutionStatus::Failed, "{:?}", shown.row);
    let fault = shown.row.failure.clone().unwrap().fault;
    (fault.code, fault.message)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_of_megabytes_is_refused_before_anything_begins() {
    let world = EngineFixture::new().await;
    let process = world.process("p", vec![world.echo("a", "{x}")], "{{a.value}}").await;
    assert!(world.run(process, &"x".repeat(8 << 20)).await.is_err());
    let shown = world.run(process, &"x".repeat(300 << 10)).await.unwrap();
    assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_that_double_from_step_to_step_end_the_run_at_their_limit() {
    let world = EngineFixture::new().await;
    let mut steps = vec![world.echo("s0", "{x}{x}")];
    for number in 1..30 {
        let before = number - 1;
        steps.push(world.echo(&format!("s{number}"), &format!("{{step.s{before}.value}}{{step.s{before}.value}}")));
    }
    let process = world.process("double", steps, "{{s29.value}}").await;
    let (code, message) = failed(&world.run(process, &"x".repeat(1 << 10)).await.unwrap());
    assert!(
        ["rule_violation", "inputs_not_storable", "output_not_storable"].contains(&code.as_str()),
        "{code}: {message}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_output_that_is_too_large_to_keep_fails_the_run_and_no_call_is_repeated() {
    let world = EngineFixture::new().await;
    let steps = vec![world.echo("a", "{x}"), world.echo("b", "{x}")];
    let process = world.process("large", steps, "{{a.value}}{{b.value}}{{a.value}}").await;
    let shown = world.run(process, &"x".repeat(500 << 10)).await.unwrap();
    assert_eq!(failed(&shown).0, "output_not_storable");
    assert!(shown.steps.iter().all(|step| step.row.state.attempt == 1 && !step.row.is_open));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_or_a_run_below_that_is_too_large_fails_the_run() {
    let world = EngineFixture::new().await;
    let inner = world.process("inner", vec![world.echo("a", "1")], "{{a.value}}").await;
    let twice = "{step.a.value}{step.b.value}{step.a.value}";
    let large = || vec![world.echo("a", "{x}"), world.echo("b", "{x}")];
    let ask = json!({ "id": "q", "ask": { "prompt": twice }, "output": { "variable": "q" } });
    let sub = json!({ "id": "q", "processId": inner, "inputs": { "x": twice }, "output": { "variable": "q" } });
    for (name, last) in [("ask", ask), ("sub", sub)] {
        let process = world.process(name, large().into_iter().chain([last]).collect(), "{{q}}").await;
        let (code, message) = failed(&world.run(process, &"x".repeat(500 << 10)).await.unwrap());
        assert!(
            ["denied", "rule_violation", "inputs_not_storable"].contains(&code.as_str()),
            "{name}: {code} {message}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_runs_itself_many_times_over_leads_to_so_many_runs_and_no_more() {
    let world = EngineFixture::new().await;
    let process = world.process("many", vec![world.echo("a", "{x}")], "{{a.value}}").await;
    let sub = |number: usize| {
        let id = format!("s{number}");
        json!({ "id": id, "processId": process, "inputs": { "x": "{step.a.value}" }, "output": { "variable": id },
            "execution": { "mode": "parallel" } })
    };
    let steps: Vec<Value> = std::iter::once(world.echo("a", "{x}")).chain((0..20).map(sub)).collect();
    world
        .redefine(
            process,
            json!({ "name": "many", "initialContext": ["x"], "steps": steps, "maxRecursionDepth": 10,
        "outputTemplate": "{{a.value}}" }),
        )
        .await;
    let shown = world.run(process, "wide").await.unwrap();
    let (code, message) = failed(&shown);
    assert_eq!(code, "too_many_runs", "{message}");
    let run = shown.row.id;
    let count = world.store.read(move |tx| tx.executions_below(run, 10_000)).await.unwrap();
    assert!((500..=1_000).contains(&count), "{count}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_runs_itself_ends_at_the_depth_that_is_allowed() {
    let world = EngineFixture::new().await;
    let process = world.process("self", vec![world.echo("a", "{x}")], "{{a.value}}").await;
    let sub = json!({ "id": "s", "processId": process, "inputs": { "x": "{x}" }, "output": { "variable": "s" } });
    let definition = json!({ "name": "self", "initialContext": ["x"], "steps": [sub], "outputTemplate": "{{s}}" });
    world.redefine(process, definition).await;
    let shown = world.run(process, "deep").await.unwrap();
    let (code, message) = failed(&shown);
    assert_eq!(code, "recursion_limit_exceeded", "{message}");
    assert!(message.contains("self → self → self"), "{message}");
}
