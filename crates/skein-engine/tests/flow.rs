//! Runs of processes as the doors start them, on both databases.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "flow/costs.rs"]
mod costs;
#[path = "flow/memory.rs"]
mod memory;
#[path = "flow/refusals.rs"]
mod refusals;
#[path = "flow/telemetry.rs"]
mod telemetry;
#[path = "flow/tool_runs.rs"]
mod tool_runs;
#[path = "flow/trace.rs"]
mod trace;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::Phase;
use skein_core::flow::execution::state::RunStatus;
use skein_core::flow::process::{Process, ProcessDraft};
use skein_core::tree::conversation::ConversationDraft;
use skein_core::tree::status::GenerationStatus;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, RecordId, RunId, Viewer};
use skein_engine::account::Presented;
use skein_engine::catalog::{Outside, Passing};
use skein_engine::flow::{Branching, Heard, NewAnswers, NewRun, ShownRun, Telemetry, Wanted};
use skein_engine::tree::{NewTurn, conversation_id};
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
        Self::telling(None).await
    }

    /// One whose runs are told to a collector.
    async fn telling(telemetry: Option<Telemetry>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        let outside = Outside::new(Box::new(Passing::draw().unwrap()), Guard::default(), HttpOptions::default());
        let engine = Engine::new(store.clone(), blobs, outside.unwrap().telling(telemetry));
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

    async fn process_named(&self, name: &'static str) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(Process::record_type(), 100);
        let found = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap().rows;
        found.into_iter().find(|process| process.content.name() == Some(name)).unwrap().id
    }

    /// A conversation in which something was said.
    async fn talk(&self, text: &str) -> (ConversationId, NodeId) {
        let draft: ConversationDraft = serde_json::from_value(json!({ "title": "Herons" })).unwrap();
        let made = self.engine.create_conversation(&self.caller, fresh(&self.caller), draft).await.unwrap();
        let conversation = conversation_id(made.value.shown.id);
        let said = NewTurn {
            parent: None,
            parent_turn: None,
            speaker: Speaker::User,
            turn_type: None,
            content: json!({ "type": "text", "text": text }),
            sources: Vec::new(),
            process: None,
        };
        let grown = self.engine.append_turn(&self.caller, fresh(&self.caller), conversation, said).await.unwrap();
        (conversation, grown.value.node.seen.row.id)
    }

    /// Has a process answer in a conversation; the kept place, and the run that fills it.
    async fn answer(&self, conversation: ConversationId, process: RecordId) -> (NodeId, RunId) {
        let new = NewAnswers {
            wanted: Wanted::After { turn: None, parent: None, sources: Vec::new() },
            processes: vec![process],
            samples: 1,
            make_active: true,
            context: serde_json::Map::new(),
        };
        let begun = self.engine.answer(&self.caller, fresh(&self.caller), conversation, new).await.unwrap().value;
        (begun.begun[0].0.node.seen.row.id, begun.begun[0].1)
    }

    /// What a node says.
    async fn said(&self, node: NodeId) -> String {
        let node = self.engine.node(&self.caller, node).await.unwrap();
        node.seen.content.unwrap()["text"].as_str().unwrap().to_owned()
    }

    /// Waits until a run has ended.
    async fn ended(&self, run: RunId) -> ShownRun {
        let mut rung = self.store.wake().subscribe();
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if shown.row.status.has_ended() {
                return shown;
            }
            heard(&mut rung).await;
        }
    }
}

/// Something happened; in a test it happens soon.
async fn heard(rung: &mut tokio::sync::watch::Receiver<u64>) {
    tokio::time::timeout(Duration::from_secs(30), rung.changed()).await.unwrap().unwrap();
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
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn step(id: &str, tool: RecordId, inputs: Value) -> Value {
    json!({ "id": id, "toolId": tool, "inputs": inputs, "output": { "variable": id } })
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn process(name: &str, steps: Vec<Value>, output: &str) -> Value {
    json!({ "name": name, "initialContext": ["x"], "steps": steps, "outputTemplate": output })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_edits_the_call_and_the_run_goes_on() {
    let world = World::new().await;
    let echo = world.tool("Echo").await;
    let mut manual = step("told", echo, json!({ "value": "{x}" }));
    manual["execution"] = json!({ "interactionMode": "manual" });
    let ask = json!({ "id": "wanted", "ask": { "prompt": "How many, {x}?", "schema": { "type": "integer" } },
        "output": { "variable": "wanted" } });
    let id = world.process(process("ask", vec![manual, ask], "{{told.value}} {{wanted}}")).await;
    let run = world.run(id, json!({ "x": "hello" })).await;
    let open = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows;
    assert_eq!((open.len(), open[0].step_id.as_str()), (1, "told"));
    let wrong = Decision::Answer { value: json!(3) };
    assert!(world.engine.decide(&world.caller, fresh(&world.caller), open[0].row.id, wrong).await.is_err());
    let Value::Object(inputs) = json!({ "value": "edited" }) else { unreachable!() };
    let approve = Decision::Approve { inputs: Some(inputs) };
    world.engine.decide(&world.caller, fresh(&world.caller), open[0].row.id, approve.clone()).await.unwrap();
    assert!(world.engine.decide(&world.caller, fresh(&world.caller), open[0].row.id, approve).await.is_err());
    let mut rung = world.store.wake().subscribe();
    let asked = loop {
        let open = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows;
        if let Some(asked) = open.into_iter().next() {
            break asked;
        }
        heard(&mut rung).await;
    };
    assert_eq!(json!(asked.row.asked)["prompt"], "How many, hello?");
    let bad = Decision::Answer { value: json!("three") };
    assert!(world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, bad).await.is_err());
    let answer = Decision::Answer { value: json!(3) };
    world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, answer).await.unwrap();
    let shown = world.ended(run).await;
    assert_eq!(shown.row.output, Some(json!("edited 3")), "{:?}", shown.row.failure);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_call_fails_the_run_and_resuming_keeps_what_came_before() {
    let world = World::new().await;
    let echo = world.tool("Echo").await;
    let mut manual = step("second", echo, json!({ "value": "{step.first.value}" }));
    manual["execution"] = json!({ "interactionMode": "manual" });
    let first = step("first", echo, json!({ "value": "{x}" }));
    let id = world.process(process("deny", vec![first, manual], "{{second.value}}")).await;
    let run = world.run(id, json!({ "x": 7 })).await;
    let decide = async |decision: Decision| {
        let mut rung = world.store.wake().subscribe();
        loop {
            let open = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows;
            if let Some(review) = open.first() {
                let decided = world.engine.decide(&world.caller, fresh(&world.caller), review.row.id, decision.clone());
                break decided.await.unwrap();
            }
            heard(&mut rung).await;
        }
    };
    decide(Decision::Deny { reason: Some("not now".to_owned()) }).await;
    let failed = world.ended(run).await;
    let failure = failed.row.failure.unwrap();
    assert_eq!((failure.fault.code.as_str(), failure.fault.message.as_str()), ("denied", "not now"));
    let branching = Branching::default();
    let again = world.engine.branch_run(&world.caller, fresh(&world.caller), run, branching).await.unwrap().value;
    decide(Decision::Approve { inputs: None }).await;
    let shown = world.ended(again).await;
    assert_eq!(shown.row.output, Some(json!("7")), "{:?}", shown.row.failure);
    assert_eq!(shown.steps[0].row.call, failed.steps[0].row.call, "the first step was not called again");
    assert_eq!(shown.row.branched_from, Some(run));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_takes_back_what_is_open_and_runs_below() {
    let world = World::new().await;
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    let inner = world.process(process("inner", vec![ask], "{{a}}")).await;
    let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
    let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
    let run = world.run(outer, json!({ "x": 1 })).await;
    let shown = world.engine.run(&world.caller, run).await.unwrap();
    assert_eq!((shown.steps[0].row.state.phase, shown.children.len()), (Phase::Running, 1));
    world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
    let shown = world.ended(run).await;
    assert_eq!((shown.row.status, shown.children[0].row.status), (RunStatus::Cancelled, RunStatus::Cancelled));
    assert!(world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.is_empty());
    assert!(world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_step_008_runs_that_nest_too_deep_fail_with_their_stack_refuses() {
    let world = World::new().await;
    let echo = world.tool("Echo").await;
    let mut below = world.process(process("p0", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
    for level in 1..=4 {
        let call =
            json!({ "id": "sub", "processId": below, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
        below = world.process(process(&format!("p{level}"), vec![call], "{{sub}}")).await;
        let run = world.run(below, json!({ "x": "deep" })).await;
        let shown = world.ended(run).await;
        if level <= 3 {
            assert_eq!(shown.row.output, Some(json!("deep")), "level {level}: {:?}", shown.row.failure);
            continue;
        }
        let failure = shown.row.failure.unwrap();
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-STEP-008"), "{failure:?}");
        assert!(failure.fault.message.contains("p4 → p3 → p2 → p1"), "{}", failure.fault.message);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_answers_with_no_key_and_can_be_heard() {
    let world = World::new().await;
    let draft: ConversationDraft = serde_json::from_value(json!({ "title": "Herons" })).unwrap();
    let made = world.engine.create_conversation(&world.caller, fresh(&world.caller), draft).await.unwrap();
    let conversation = conversation_id(made.value.shown.id);
    let said = NewTurn {
        parent: None,
        parent_turn: None,
        speaker: Speaker::User,
        turn_type: None,
        content: json!({ "type": "text", "text": "The heron stood in the reeds. Where did the heron stand?" }),
        sources: Vec::new(),
        process: None,
    };
    world.engine.append_turn(&world.caller, fresh(&world.caller), conversation, said).await.unwrap();
    let viewer = Viewer::User(world.caller.user);
    let query = VisibleQuery::of(Process::record_type(), 10);
    let processes = world.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap().rows;
    let chat = processes.iter().find(|process| process.content.name() == Some("Chat")).unwrap().id;
    let new = NewAnswers {
        wanted: Wanted::After { turn: None, parent: None, sources: Vec::new() },
        processes: vec![chat],
        samples: 2,
        make_active: true,
        context: serde_json::Map::new(),
    };
    let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await.unwrap().value;
    assert_eq!(begun.begun.len(), 2);
    let (grown, run) = &begun.begun[0];
    let mut listening = world.engine.listen(&world.caller, *run, 0).await.unwrap();
    let mut heard = String::new();
    let status = loop {
        match listening.next().await.unwrap() {
            Heard::Piece(piece) if piece.is_reset => heard.clear(),
            Heard::Piece(piece) => heard += &piece.text,
            Heard::End(status) => break status,
        }
    };
    assert_eq!(status, RunStatus::Completed, "{:?}", world.ended(*run).await.row.failure);
    world.ended(begun.begun[1].1).await;
    let node = world.engine.node(&world.caller, grown.node.seen.row.id).await.unwrap();
    assert_eq!(node.seen.row.status, GenerationStatus::Complete);
    let text = node.seen.content.as_ref().unwrap()["text"].as_str().unwrap().to_owned();
    assert_eq!(heard, text);
    assert!(text.contains("heron"), "{text}");
    assert_eq!(node.seen.row.executed_by.map(|by| by.process_id), Some(chat));
    let hinted = world.engine.conversation(&world.caller, conversation).await.unwrap();
    assert_eq!(hinted.shown.entry.process_id, Some(chat));
}
