//! Runs told to a collector: after they end, once for each outermost run, again when it is away, never in a run's way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::telemetry::Collector;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::flow::telemetry::TracedContent;
use skein_engine::flow::{Telemetry, TelemetryCounts};
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use tokio::sync::Notify;

use crate::engine_fixture::{EngineFixture, process, step};
use crate::tool_runs;

/// A collector that answers as it is told, and rings for every request.
struct Listener {
    rogue: HostileServer,
    rung: Arc<Notify>,
}

impl Listener {
    fn new(answers: impl Fn(usize) -> u16 + Send + Sync + 'static) -> Self {
        let (rung, count) = (Arc::new(Notify::new()), AtomicUsize::new(0));
        let bell = Arc::clone(&rung);
        let rogue = HostileServer::start(move |_| {
            bell.notify_one();
            Behaviour::answer(answers(count.fetch_add(1, Ordering::Relaxed)), &[], "{}")
        });
        Self { rogue, rung }
    }

    fn telemetry(&self, content: TracedContent) -> Telemetry {
        Telemetry::new(Collector::new(&self.rogue.endpoint(), &[], "test").unwrap(), content)
    }

    /// Every request, once there are so many.
    async fn heard(&self, count: usize) -> Vec<Value> {
        let waited = async {
            while self.rogue.requests().len() < count {
                self.rung.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
        self.rogue.requests().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }
}

fn spans(told: &Value) -> &[Value] {
    told["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap()
}

fn names(told: &Value) -> Vec<&str> {
    spans(told).iter().map(|span| span["name"].as_str().unwrap()).collect()
}

fn attribute<'a>(span: &'a Value, name: &str) -> &'a Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == name);
    found.map_or(&Value::Null, |attribute| &attribute["value"])
}

/// Waits until as much was counted; a count follows its answer at once.
async fn counted(world: &EngineFixture, is_enough: impl Fn(TelemetryCounts) -> bool) -> TelemetryCounts {
    let waited = async {
        loop {
            let counts = world.engine.telemetry_counts();
            if is_enough(counts) {
                return counts;
            }
            skein_testkit::wait::moment().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_model_and_its_tools_is_told_without_what_was_said() {
    let listener = Listener::new(|_| 200);
    let world = EngineFixture::telling(Some(listener.telemetry(TracedContent::LeftOut))).await;
    let rogue = tool_runs::model(false);
    let process = tool_runs::process(&world, &rogue, "never", 4).await;
    let (conversation, _) = world.talk("What shall we eat?").await;
    let (_, run) = world.answer(conversation, process).await;
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    let told = listener.heard(1).await.remove(0);
    let expected = [
        "invoke_agent Cook",
        "step context",
        "step answer",
        "execute_tool Conversation context",
        "chat m",
        "execute_tool Echo",
        "chat m",
    ];
    assert_eq!(names(&told), expected);
    let trace = format!("{:032x}", u128::from_be_bytes(*run.as_bytes()));
    assert!(spans(&told).iter().all(|span| span["traceId"] == trace.as_str()), "{told}");
    let asked = &spans(&told)[4];
    assert_eq!(attribute(asked, "gen_ai.usage.input_tokens"), &json!({ "intValue": "7" }));
    assert_eq!(attribute(asked, "gen_ai.response.id"), &json!({ "stringValue": "c1" }));
    assert_eq!(attribute(asked, "gen_ai.response.model"), &json!({ "stringValue": "m" }));
    let finish = json!({ "arrayValue": { "values": [{ "stringValue": "tool_calls" }] } });
    assert_eq!(attribute(asked, "gen_ai.response.finish_reasons"), &finish);
    assert_eq!(attribute(asked, "gen_ai.conversation.id"), &json!({ "stringValue": conversation.to_string() }));
    assert_eq!(attribute(asked, "server.address"), &json!({ "stringValue": "127.0.0.1" }));
    let text = told.to_string();
    assert!(!text.contains("pancakes") && !text.contains("What shall we eat"), "{text}");
    let counts = counted(&world, |counts| counts.spans == 7).await;
    assert_eq!(counts, TelemetryCounts { spans: 7, ..TelemetryCounts::default() });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_and_those_below_it_are_told_together_and_a_failure_with_its_kind() {
    let listener = Listener::new(|_| 200);
    let world = EngineFixture::telling(Some(listener.telemetry(TracedContent::LeftOut))).await;
    let echo = world.tool("Echo").await;
    let bad = step("bad", echo, json!({ "value": "{x}", "more": "pancakes" }));
    let inner = world.process(process("inner", vec![bad], "{{bad.value}}")).await;
    let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
    let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
    let run = world.run(outer, json!({ "x": "hello" })).await;
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Failed);
    let told = listener.heard(1).await.remove(0);
    assert_eq!(names(&told), ["invoke_agent outer", "step sub", "invoke_agent inner", "step bad"]);
    let [above, sub, below, _] = spans(&told) else { panic!("{told}") };
    assert_eq!((&sub["parentSpanId"], &below["parentSpanId"]), (&above["spanId"], &sub["spanId"]));
    for span in spans(&told) {
        assert_eq!(attribute(span, "error.type"), &json!({ "stringValue": "rule_violation" }), "{span}");
        assert_eq!(span["status"], json!({ "code": 2 }), "{span}");
    }
    assert!(!told.to_string().contains("pancakes"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_busy_is_told_the_same_again_and_no_run_waits_for_it() {
    let listener = Listener::new(|count| if count == 0 { 503 } else { 200 });
    let world = EngineFixture::telling(Some(listener.telemetry(TracedContent::LeftOut))).await;
    let echo = world.tool("Echo").await;
    let id = world.process(process("one", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
    let run = world.run(id, json!({ "x": "hello" })).await;
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    let told = listener.heard(2).await;
    assert_eq!(told[0], told[1], "the same spans with the same ids");
    let counts = counted(&world, |counts| counts.spans > 0).await;
    assert_eq!(counts, TelemetryCounts { spans: 3, failures: 1, ..TelemetryCounts::default() });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_collector_refuses_is_let_go_of_and_counted() {
    let listener = Listener::new(|_| 400);
    let world = EngineFixture::telling(Some(listener.telemetry(TracedContent::LeftOut))).await;
    let echo = world.tool("Echo").await;
    let id = world.process(process("one", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
    for _ in 0..2 {
        let run = world.run(id, json!({ "x": "hello" })).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    }
    let counts = counted(&world, |counts| counts.dropped == 2).await;
    assert_eq!(counts, TelemetryCounts { failures: 2, dropped: 2, ..TelemetryCounts::default() });
    assert_eq!(listener.heard(2).await.len(), 2, "nothing is tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_is_told_where_that_is_wanted() {
    let listener = Listener::new(|_| 200);
    let world = EngineFixture::telling(Some(listener.telemetry(TracedContent::Told))).await;
    let echo = world.tool("Echo").await;
    let id = world.process(process("one", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
    let run = world.run(id, json!({ "x": "pancakes" })).await;
    world.ended(run).await;
    let told = listener.heard(1).await.remove(0);
    let result = attribute(&spans(&told)[2], "gen_ai.tool.call.result");
    assert_eq!(result, &json!({ "stringValue": r#"{"value":"pancakes"}"# }));
}
