//! Traces of executions: causes, also once the rows are gone, and ends with their operation.

use std::time::Duration;

use serde_json::json;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_core::garden::relation::Endpoint;
use skein_core::{ItemId, Viewer};
use skein_store::timeline::items::ItemQuery;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

both! {
    async fn z13_what_a_person_said_triggers_the_calls_and_these_the_answer_holds(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Where did the heron stand? It stood in the reeds.").await;
        let chat = world.process_named("Chat").await;
        let (node, run) = world.answer(conversation, chat).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.calls.len(), 2, "{:?}", shown.row.failure);
        let [context, answer] = [&shown.calls[0], &shown.calls[1]];
        assert_eq!(context.caused_by, Some(ItemId::from(asked)));
        assert_eq!(answer.caused_by, Some(context.id));
        let viewer = Viewer::User(world.caller.user);
        let triggering = world.store.read(move |tx| tx.triggering(&viewer, ItemId::from(node))).await.unwrap();
        assert_eq!(triggering, Some(Endpoint::Item(answer.id)));
        assert_eq!((&answer.said["sequence"], &answer.said["predecessor"]), (&json!(2), &json!(context.id)));
        assert_eq!(answer.said["sessionId"], json!(conversation));
        assert_eq!(answer.said["executorId"], json!(world.caller.user));
        let result = answer.result.as_ref().unwrap();
        assert_eq!((&result.said["status"], &result.said["callId"]), (&json!("success"), &json!(answer.id)));
        assert!(result.said["usage"]["outputTokens"].as_u64().unwrap() > 0);
    }

    async fn a_step_that_builds_on_several_names_the_latest_as_cause_and_the_others_beside(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let [first, second] = ["a", "b"].map(|id| {
            let mut step = step(id, echo, json!({ "value": "{x}" }));
            step["execution"] = json!({ "mode": "parallel" });
            step
        });
        let both = step("c", echo, json!({ "value": "{step.a.value} {step.b.value}" }));
        let id = world.process(process("join", vec![first, second, both], "{{c.value}}")).await;
        let run = world.run(id, json!({ "x": "hi" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("hi hi")), "{:?}", shown.row.failure);
        let last = shown.calls.iter().find(|call| call.step == 2).unwrap();
        let mut causes = vec![last.caused_by.unwrap()];
        causes.extend(&last.derived_from);
        causes.sort();
        let mut earlier: Vec<ItemId> = shown.calls.iter().filter(|call| call.step < 2).map(|call| call.id).collect();
        earlier.sort();
        assert_eq!(causes, earlier);
        assert_eq!(last.caused_by, earlier.last().copied());
    }

    async fn a_trace_is_whole_after_its_rows_were_forgotten(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let inner = world.process(process("inner", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
        let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
        let after = step("after", echo, json!({ "value": "{step.sub}" }));
        let outer = world.process(process("outer", vec![call, after], "{{after.value}}")).await;
        let run = world.run(outer, json!({ "x": "hi" })).await;
        let before = world.ended(run).await;
        assert_eq!(before.row.output, Some(json!("hi")), "{:?}", before.row.failure);
        let swept = world.store.write(|tx| tx.sweep_executions(&Viewer::System("test"), 0)).await.unwrap().value;
        assert!(swept >= 2, "{swept}");
        let again = world.engine.run(&world.caller, run).await.unwrap();
        assert_eq!((&again.row.status, &again.row.output), (&before.row.status, &before.row.output));
        assert_eq!((&again.row.context, again.row.process), (&before.row.context, before.row.process));
        assert_eq!(again.calls, before.calls);
        assert_eq!((again.children.len(), &again.children[0].calls), (1, &before.children[0].calls));
        let phases = |shown: &skein_engine::flow::ShownExecution| -> Vec<Phase> {
            shown.steps.iter().map(|step| step.row.state.phase).collect()
        };
        assert_eq!(phases(&again), phases(&before));
        assert_eq!(again.steps[1].row.state.output, before.steps[1].row.state.output);
        let unknown = skein_core::ExecutionId::from_bytes(*before.calls[0].id.as_bytes());
        assert!(world.engine.run(&world.caller, unknown).await.is_err(), "a call is no run");
    }

    async fn cancelling_the_operation_of_a_run_cancels_the_run(world: &EngineFixture) {
        let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
        let id = world.process(process("asks", vec![ask], "{{a}}")).await;
        let new = skein_engine::flow::ExecutionRequest { context: json!({ "x": 1 }).as_object().unwrap().clone(), priority: 0 };
        let begun = world.engine.execute(&world.caller, fresh(&world.caller), id, new).await.unwrap();
        world.engine.cancel(&world.caller, fresh(&world.caller), begun.operation).await.unwrap();
        let shown = world.ended(begun.value).await;
        assert_eq!(shown.row.status, ExecutionStatus::Cancelled);
        assert!(world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.is_empty());
        assert!(world.engine.cancel(&world.caller, fresh(&world.caller), begun.operation).await.is_err());
    }

    async fn br_obs_001_a_run_leaves_trigger_steps_calls_end_time_and_use_on_record_holds(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Where did the heron stand? It stood in the reeds.").await;
        let chat = world.process_named("Chat").await;
        let (node, run) = world.answer(conversation, chat).await;
        let shown = world.ended(run).await;
        let begun = world.facts(&world.caller, ItemType::EXECUTION_BEGUN).await;
        let [begun] = &begun[..] else { panic!("one run: {begun:?}") };
        assert_eq!(begun["trigger"], json!({ "by": "person", "userId": world.caller.user }));
        assert_eq!((&begun["processId"], &begun["context"]["nodeId"]), (&json!(chat), &json!(asked)));
        assert_eq!(begun["target"], json!({ "conversationId": conversation, "nodeId": node, "parentId": asked }));
        assert!(shown.row.created_at.0 > 0 && shown.row.ended_at >= Some(shown.row.created_at));
        for step in &shown.steps {
            let state = &step.row.state;
            assert!(state.phase == Phase::Done && !state.inputs.is_empty() && !state.output.is_null(), "{step:?}");
            assert!(state.began_at.is_some() && state.ended_at >= state.began_at, "{step:?}");
        }
        assert_eq!(shown.calls.len(), shown.steps.len());
        for (call, step) in shown.calls.iter().zip(&shown.steps) {
            assert_eq!(call.said["inputs"], json!(step.row.state.inputs));
            let came = call.result.as_ref().unwrap();
            assert_eq!((&came.said["status"], &came.said["output"]), (&json!("success"), &step.row.state.output));
            assert!(came.said["latencyMs"].is_i64(), "{came:?}");
        }
        let ended = world.facts(&world.caller, ItemType::EXECUTION_ENDED).await;
        let [ended] = &ended[..] else { panic!("one end: {ended:?}") };
        assert_eq!((&ended["runId"], &ended["status"]), (&json!(run), &json!("completed")));
        assert_eq!(ended["output"], json!(world.said(node).await));
        assert!(ended["tokens"].as_u64().unwrap() > 0 && ended["latencyMs"].is_i64(), "{ended}");
        assert_eq!(ended["steps"].as_array().unwrap().len(), shown.steps.len());
    }

    async fn br_obs_001_a_run_that_comes_to_nothing_refuses_to_go_without_a_trace(world: &EngineFixture) {
        let rogue = HostileServer::start(|_| Behaviour::Silence);
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let echo = world.tool("Echo").await;
        let first = || step("first", echo, json!({ "value": "{x}" }));
        let unfit = step("second", echo, json!({ "value": 1, "more": 2 }));
        let failing = world.process(process("failing", vec![first(), unfit], "{{second}}")).await;
        let hanging = step("second", tool, json!({ "value": "{x}" }));
        let hanging = world.process(process("hanging", vec![first(), hanging], "{{second}}")).await;
        let failed = world.run(failing, json!({ "x": "Oslo" })).await;
        let failed = world.ended(failed).await;
        let cancelled = world.run(hanging, json!({ "x": "Oslo" })).await;
        let arrived = async {
            while rogue.requests().is_empty() {
                skein_testkit::wait::moment().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), arrived).await.unwrap();
        world.engine.cancel_run(&world.caller, fresh(&world.caller), cancelled).await.unwrap();
        let cancelled = world.ended(cancelled).await;
        let ended = world.facts(&world.caller, ItemType::EXECUTION_ENDED).await;
        for (shown, status) in [(&failed, "failed"), (&cancelled, "cancelled")] {
            let end = ended.iter().find(|ended| ended["runId"] == json!(shown.row.id)).unwrap();
            assert_eq!((&end["status"], &end["output"]), (&json!(status), &json!(null)));
            assert_eq!(end["steps"][0]["phase"], "done");
            assert_eq!(shown.calls[0].result.as_ref().unwrap().said["output"]["value"], "Oslo");
            assert!(shown.calls.iter().all(|call| call.result.is_some()), "no call is left open: {:?}", shown.calls);
            assert!(end["latencyMs"].is_i64() && end["tokens"].is_u64(), "{end}");
        }
        let reason = ended.iter().find(|ended| ended["status"] == "failed").unwrap();
        assert_eq!((&reason["failure"]["stepId"], &reason["failure"]["rule"]), (&json!("second"), &json!("BR-TOOL-002")));
        assert_eq!(cancelled.calls[1].result.as_ref().unwrap().said["status"], "cancelled");
        // What happened cannot be taken out of it: only what was said.
        let viewer = Viewer::User(world.caller.user);
        let query = ItemQuery { item_type: Some(ItemType::EXECUTION_MOVED), limit: 1, ..ItemQuery::default() };
        let moved = world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap().rows[0].item.header.id;
        let viewer = Viewer::User(world.caller.user);
        assert!(world.store.write(move |tx| tx.redact_item(&viewer, moved, "gone")).await.is_err());
    }
}
