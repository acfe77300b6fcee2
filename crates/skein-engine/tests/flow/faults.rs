//! Calls that take too long, fail, or are not wanted any more.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use postgres::{Client, NoTls};
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::catalog::operation::OperationType;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_engine::flow::PoolSizes;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, heard, process, step};

/// Far below a heartbeat, far above what a machine that is busy needs.
const SOON: Duration = Duration::from_secs(15);

const SYSTEM: Viewer = Viewer::System("test");

/// A service that never answers about the place called never.
fn moody() -> HostileServer {
    HostileServer::start(|request| match request.path.as_str() {
        "/now/never" => Behaviour::Silence,
        "/now/broken" => Behaviour::answer(500, &[("content-type", "text/plain")], "the rain gauge is broken"),
        _ => Behaviour::json(r#"{"celsius":7}"#),
    })
}

/// A service that answers when it is told to.
fn waiting() -> (HostileServer, Sender<()>) {
    let (answer, told) = channel();
    let told = Mutex::new(told);
    let rogue = HostileServer::start(move |_| {
        let _ = told.lock().unwrap().recv();
        Behaviour::json(r#"{"celsius":7}"#)
    });
    (rogue, answer)
}

both! {
    async fn br_tool_005_a_call_that_is_under_way_when_its_tool_is_disabled_is_finished_holds(world: &EngineFixture) {
        let (rogue, answer) = waiting();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let now = step("now", tool, json!({ "value": "Oslo" }));
        let mut later = step("later", tool, json!({ "value": "Bergen" }));
        later["output"]["required"] = json!(false);
        let id = world.process(process("both", vec![now, later], "{{now.celsius}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        while rogue.requests().is_empty() {
            skein_testkit::wait::moment().await;
        }
        let viewer = Viewer::User(world.caller.user);
        let hash = world.store.read(move |tx| tx.record(&viewer, tool)).await.unwrap().hash;
        let change = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_tool(&world.caller, fresh(&world.caller), tool, change, hash).await.unwrap();
        answer.send(()).unwrap();
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("7")), "{:?}", shown.row.failure);
        let later = shown.steps[1].row.state.fault.as_ref().unwrap();
        assert_eq!(rogue.requests().len(), 1, "the next is refused: {later:?}");
        assert!(later.rule.is_some(), "{later:?}");
    }

    async fn br_process_006_a_model_is_told_how_long_it_may_answer_and_the_run_ends_where_the_budget_does(world: &EngineFixture) {
        let rogue = crate::tool_runs::model(false);
        let model = crate::tool_runs::model_tool(world, &rogue).await;
        let messages = json!([{ "role": "user", "content": "hello" }]);
        let ask = |id: &str| step(id, model, json!({ "messages": messages }));
        let mut definition = process("thrifty", vec![ask("a"), ask("b"), ask("c")], "{{c.text}}");
        // Each answer takes twelve.
        definition["tokenBudget"] = json!(18);
        let id = world.process(definition).await;
        let shown = world.ended(world.run(id, json!({ "x": 1 })).await).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!((failure.fault.code.as_str(), failure.step), ("token_budget_exceeded", Some(2)));
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-PROCESS-006"));
        let asked: Vec<Value> = rogue.requests().iter().map(|asked| serde_json::from_slice(&asked.body).unwrap()).collect();
        let told: Vec<&Value> = asked.iter().map(|asked| &asked["max_tokens"]).collect();
        assert_eq!(told, [&json!(6), &json!(6)], "each step has a third of the whole, and the third was not asked");
    }

    async fn br_step_005_a_call_beyond_its_time_is_ended_and_an_optional_step_goes_on_holds(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let mut slow = step("slow", tool, json!({ "value": "never" }));
        slow["execution"] = json!({ "timeout": 1 });
        slow["output"]["required"] = json!(false);
        let after = step("after", world.tool("Echo").await, json!({ "value": "{x}" }));
        let id = world.process(process("patient", vec![slow, after], "{{after.value}}")).await;
        let run = world.run(id, json!({ "x": "went on" })).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.status, shown.row.output), (ExecutionStatus::Completed, Some(json!("went on"))));
        let slow = &shown.steps[0].row.state;
        assert_eq!((slow.phase, slow.fault.as_ref().unwrap().code.as_str()), (Phase::Failed, "timeout"));
        assert_eq!(shown.calls[0].result.as_ref().unwrap().said["error"]["message"], "no answer within 1 s");
        let latency = shown.calls[0].result.as_ref().unwrap().said["latencyMs"].as_i64().unwrap();
        assert!((1_000..60_000).contains(&latency), "{latency}");
    }

    async fn br_step_005_a_call_beyond_its_time_where_its_output_is_required_refuses(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let mut slow = step("slow", tool, json!({ "value": "never" }));
        slow["execution"] = json!({ "timeout": 1 });
        let after = step("after", world.tool("Echo").await, json!({ "value": "{x}" }));
        let id = world.process(process("strict", vec![slow, after], "{{after.value}}")).await;
        let run = world.run(id, json!({ "x": "went on" })).await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!((failure.step, failure.fault.code.as_str()), (Some(1), "timeout"));
        assert_eq!(shown.calls.len(), 1, "what comes after it was not called");
    }

    async fn br_exec_006_a_failed_call_tells_process_step_tool_service_and_its_own_words_holds(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let first = step("first", world.tool("Echo").await, json!({ "value": "{x}" }));
        let second = step("now", tool, json!({ "value": "{x}" }));
        let id = world.process(process("Forecast", vec![first, second], "{{now}}")).await;
        let run = world.run(id, json!({ "x": "broken" })).await;
        let failure = world.ended(run).await.row.failure.unwrap();
        assert_eq!((failure.process_id, failure.process_name.as_str()), (id, "Forecast"));
        assert_eq!((failure.step, failure.step_id.as_deref()), (Some(2), Some("now")));
        let details = &failure.fault.details;
        assert_eq!((&details["toolId"], &details["toolName"]), (&json!(tool), &json!("Weather now")));
        assert_eq!(details["serviceName"], "Weather");
        let told = format!("{} {details}", failure.fault.message);
        assert!(told.contains("500"), "{told}");
        assert!(!failure.suggested_action.is_empty());
    }

    async fn br_exec_006_no_failure_refuses_to_say_where_it_happened(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let mut manual = step("now", tool, json!({ "value": "{x}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let unfit = step("now", tool, json!({ "value": 7 }));
        let missing = step("now", tool, json!({ "value": "{x.y}" }));
        for (name, step) in [("denied", manual), ("unfit", unfit), ("missing", missing)] {
            let inner = world.process(process(name, vec![step], "{{now}}")).await;
            let run = world.run(inner, json!({ "x": "Oslo" })).await;
            if name == "denied" {
                world.decide(&world.review().await, Decision::Deny { reason: Some("not today".to_owned()) }).await;
            }
            let failure = world.ended(run).await.row.failure.unwrap();
            assert_eq!((failure.process_name.as_str(), failure.step_id.as_deref()), (name, Some("now")), "{failure:?}");
            let details = &failure.fault.details;
            assert_eq!((&details["toolName"], &details["serviceName"]), (&json!("Weather now"), &json!("Weather")), "{failure:?}");
            assert!(!failure.fault.message.is_empty());
            // One level up, it is still told.
            if name == "unfit" {
                let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
                let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
                let run = world.run(outer, json!({ "x": "Oslo" })).await;
                let above = world.ended(run).await.row.failure.unwrap();
                assert_eq!((above.process_name.as_str(), above.step_id.as_deref()), ("outer", Some("sub")));
                assert!(above.fault.message.contains(&failure.fault.message), "{}", above.fault.message);
                assert_eq!(above.fault.details["details"], failure.fault.details);
            }
        }
        assert!(rogue.requests().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_cancelled_at_another_server_leaves_its_place_at_once() {
    let kinds = [OperationType::RestCall, OperationType::McpTool];
    let world = EngineFixture::postgres_with(&PoolSizes(kinds.map(|kind| (kind, 1)).to_vec())).await;
    let rogue = moody();
    let tool = world.rest_tool(&world.caller, &rogue).await;
    let process = world.one_step(tool).await;
    let stuck = world.run(process, json!({ "x": "never" })).await;
    let arrived = async {
        while rogue.requests().is_empty() {
            skein_testkit::wait::moment().await;
        }
    };
    tokio::time::timeout(SOON, arrived).await.unwrap();
    let elsewhere = world.another();
    elsewhere.cancel_run(&world.caller, fresh(&world.caller), stuck).await.unwrap();
    // There is one place for such calls, and the one that is not wanted any more holds it.
    let next = world.run(process, json!({ "x": "Oslo" })).await;
    let shown = tokio::time::timeout(SOON, world.ended(next)).await.unwrap();
    assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_run_that_cannot_be_read_any_more_ends_as_failed_and_says_so() {
    let world = EngineFixture::postgres_with(&PoolSizes(vec![(OperationType::RestCall, 1)])).await;
    let rogue = moody();
    let tool = world.rest_tool(&world.caller, &rogue).await;
    let process = world.one_step(tool).await;
    // There is one place, and it is taken: the next call waits for it.
    let first = world.run(process, json!({ "x": "never" })).await;
    while rogue.requests().is_empty() {
        skein_testkit::wait::moment().await;
    }
    let damaged = world.run(process, json!({ "x": "Oslo" })).await;
    tokio::task::block_in_place(|| {
        let mut client = Client::connect(world.url(), NoTls).unwrap();
        let damage = "UPDATE execution_steps SET inputs = '{' WHERE run = $1";
        assert_eq!(client.execute(damage, &[&damaged.as_bytes().to_vec()]).unwrap(), 1);
    });
    world.engine.cancel_run(&world.caller, fresh(&world.caller), first).await.unwrap();
    let row = || world.store.read(move |tx| tx.execution(&SYSTEM, damaged));
    let mut rung = world.store.wake().subscribe();
    while !row().await.unwrap().status.has_ended() {
        heard(&mut rung).await;
    }
    let row = row().await.unwrap();
    let failure = row.failure.unwrap();
    assert_eq!((row.status, failure.fault.code.as_str()), (ExecutionStatus::Failed, "not_begun"));
    assert!(failure.fault.message.contains("run skein verify"), "{}", failure.fault.message);
    let dead = world.store.read(|tx| tx.dead_letters(&SYSTEM, None, 10)).await.unwrap().rows;
    assert_eq!((dead.len(), dead[0].run, dead[0].attempts), (1, Some((damaged, 0)), 3));
    // Nobody is held up by it.
    let next = world.run(process, json!({ "x": "Oslo" })).await;
    assert_eq!(world.ended(next).await.row.status, ExecutionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_comes_of_a_call_that_somebody_else_took_over_is_not_kept() {
    let world = EngineFixture::sqlite_with(&PoolSizes(vec![(OperationType::RestCall, 1)])).await;
    let ((arrive, arrived), (open, opened)) = (channel(), channel::<()>());
    let (arrive, opened) = (Mutex::new(arrive), Mutex::new(opened));
    let rogue = HostileServer::start(move |request| {
        if request.path == "/now/late" {
            arrive.lock().unwrap().send(()).unwrap();
            let _ = opened.lock().unwrap().recv();
        }
        Behaviour::json(r#"{"celsius":7}"#)
    });
    let tool = world.rest_tool(&world.caller, &rogue).await;
    let process = world.one_step(tool).await;
    let late = world.run(process, json!({ "x": "late" })).await;
    tokio::task::block_in_place(|| arrived.recv_timeout(SOON).unwrap());
    // Whoever makes the call is thought gone; its only place is taken, so somebody else has the job.
    world.store.begin_epoch().await.unwrap();
    let taken = world.store.claim_job("rest_call", "another", 90_000).await.unwrap().unwrap();
    drop(open);
    // There is a place again: what came of the call was brought back.
    let next = world.run(process, json!({ "x": "Oslo" })).await;
    assert_eq!(world.ended(next).await.row.status, ExecutionStatus::Completed);
    assert_eq!(world.engine.run(&world.caller, late).await.unwrap().row.status, ExecutionStatus::Running);
    assert_eq!(world.facts(&world.caller, ItemType::TOOL_RESULT).await.len(), 1, "that of the other run");
    let held = world.store.read(move |tx| tx.jobs_of(&SYSTEM, late)).await.unwrap();
    assert_eq!((held[0].id, held[0].worker.as_deref()), (taken.id, Some("another")));
}
