//! Runs as people see them: steps in a row, questions, branches, ends, answers in conversations.

use serde_json::{Value, json};
use skein_core::flow::execution::review::{ApprovalScope, Decision};
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{RecordId, Viewer};
use skein_engine::flow::{AnswerTarget, Branching, ExecutionRequest, NewAnswers, StreamEvent};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

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

/// On SQLite: where others share a database, theirs are counted too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n_steps_in_a_row_take_n_and_one_commits() {
    let world = EngineFixture::new().await;
    let echo = world.tool("Echo").await;
    let process = world.process(chain(echo, 5)).await;
    // By then the worker has made itself known, and what it thinks of the tool.
    let first = world.run(process, json!({ "x": "first" })).await;
    world.ended(first).await;
    let before = world.engine.statistics();
    let run = world.run(process, json!({ "x": "hello" })).await;
    world.ended(run).await;
    let commits = world.engine.statistics().commits - before.commits;
    assert_eq!(commits, 6);
}

both! {
    async fn where_a_run_that_begins_stands_on_the_timeline_is_told(world: &EngineFixture) {
        let process = world.process(chain(world.tool("Echo").await, 1)).await;
        let new = ExecutionRequest { context: json!({ "x": "hello" }).as_object().unwrap().clone(), priority: 0 };
        let begun = world.engine.execute(&world.caller, fresh(&world.caller), process, new).await.unwrap();
        assert!(begun.cursor.unwrap().position > 0);
        world.ended(begun.value).await;
    }

    async fn a_chain_of_steps_hands_on_what_each_gives(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let process = world.process(chain(echo, 5)).await;
        let run = world.run(process, json!({ "x": "hello" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert_eq!(shown.row.output, Some(json!("hello")));
        assert_eq!(shown.steps.len(), 5);
    }

    async fn a_step_that_is_not_there_fails_the_run_and_says_which(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let mut definition = chain(echo, 2);
        definition["steps"][1]["inputs"] = json!({ "value": 1, "more": 2 });
        let process = world.process(definition).await;
        let run = world.run(process, json!({ "x": "hello" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Failed);
        let failure = shown.row.failure.unwrap();
        assert_eq!((failure.step, failure.fault.rule.as_deref()), (Some(2), Some("BR-TOOL-002")), "{failure:?}");
    }

    async fn a_person_is_asked_edits_the_call_and_the_run_goes_on(world: &EngineFixture) {
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
        let approve = Decision::Approve { inputs: Some(inputs), scope: None };
        world.engine.decide(&world.caller, fresh(&world.caller), open[0].row.id, approve.clone()).await.unwrap();
        assert!(world.engine.decide(&world.caller, fresh(&world.caller), open[0].row.id, approve).await.is_err());
        let asked = world.review().await;
        assert_eq!(json!(asked.row.asked)["prompt"], "How many, hello?");
        let bad = Decision::Answer { value: json!("three") };
        assert!(world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, bad).await.is_err());
        let answer = Decision::Answer { value: json!(3) };
        world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, answer).await.unwrap();
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("edited 3")), "{:?}", shown.row.failure);
    }

    async fn z14_an_approval_reaches_as_far_as_is_said_and_that_stands_in_the_decision(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let manual = |id: &str, value: &str| {
            let mut step = step(id, echo, json!({ "value": value }));
            step["execution"] = json!({ "interactionMode": "manual" });
            step
        };
        let steps = vec![manual("first", "{x}"), manual("again", "{x}"), manual("other", "not {x}"), manual("last", "{x} at last")];
        let id = world.process(process("approves", steps, "{{last.value}}")).await;
        let run = world.run(id, json!({ "x": "hello" })).await;
        let approve = |scope| Decision::Approve { inputs: None, scope: Some(scope) };
        world.decide(&world.review().await, approve(ApprovalScope::SameArguments)).await;
        let other = world.review().await;
        assert_eq!(other.step_id, "other", "the same call is not asked about again, another one is");
        world.decide(&other, approve(ApprovalScope::Run)).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("hello at last")), "{:?}", shown.row.failure);
        let decided = world.facts(&world.caller, ItemType::REVIEW_DECIDED).await;
        let scopes: Vec<String> = decided.iter().map(ToString::to_string).collect();
        assert_eq!(scopes.len(), 2, "{scopes:?}");
        assert!(scopes.iter().any(|fact| fact.contains("\"sameArguments\"")), "{scopes:?}");
        assert!(scopes.iter().any(|fact| fact.contains("\"scope\":\"run\"")), "{scopes:?}");
    }

    async fn z14_an_approval_for_good_counts_in_every_run_until_it_is_revoked_or_the_tool_changes(world: &EngineFixture) {
        let rogue = HostileServer::start(|_| Behaviour::json(r#"{ "sky": "clear" }"#));
        let weather = world.rest_tool(&world.caller, &rogue).await;
        let mut manual = step("look", weather, json!({ "value": "{x}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let id = world.process(process("looks", vec![manual], "{{look}}")).await;
        let approve = |scope| Decision::Approve { inputs: None, scope: Some(scope) };

        let first = world.run(id, json!({ "x": "Bern" })).await;
        let question = world.review().await;
        world.decide(&question, approve(ApprovalScope::Always)).await;
        assert_eq!(world.ended(first).await.row.status, ExecutionStatus::Completed);
        let second = world.ended(world.run(id, json!({ "x": "Basel" })).await).await;
        assert_eq!((second.row.status, second.reviews.len()), (ExecutionStatus::Completed, 0), "nobody is asked");
        let [stands] = &world.engine.approvals(&world.caller, None, 10).await.unwrap().rows[..] else { panic!("one") };
        assert_eq!((stands.approval.entry.tool_id, stands.approval.entry.review_id), (weather, question.row.id));
        assert!(stands.counts);
        let other = world.other("bert").await;
        assert!(world.engine.approvals(&other, None, 10).await.unwrap().rows.is_empty());
        assert!(world.engine.revoke_approval(&other, fresh(&other), stands.approval.id).await.is_err());

        // Another tool under the same name is not what was approved.
        let viewer = Viewer::User(world.caller.user);
        let hash = world.store.read(move |tx| tx.record(&viewer, weather)).await.unwrap().hash;
        let change = serde_json::from_value(json!({ "operation": { "type": "rest_call", "method": "GET", "path": "/tomorrow/{{value}}" } })).unwrap();
        world.engine.change_tool(&world.caller, fresh(&world.caller), weather, change, hash).await.unwrap();
        assert!(!world.engine.approvals(&world.caller, None, 10).await.unwrap().rows[0].counts);
        let third = world.run(id, json!({ "x": "Chur" })).await;
        world.decide(&world.review().await, approve(ApprovalScope::Always)).await;
        assert_eq!(world.ended(third).await.row.status, ExecutionStatus::Completed);
        let renewed = world.engine.approvals(&world.caller, None, 10).await.unwrap().rows;
        assert_eq!((renewed.len(), renewed[0].approval.id, renewed[0].counts), (1, stands.approval.id, true));

        let revoked = world.engine.revoke_approval(&world.caller, fresh(&world.caller), stands.approval.id).await;
        assert_eq!(revoked.unwrap().value.id, stands.approval.id);
        world.run(id, json!({ "x": "Thun" })).await;
        assert_eq!(world.review().await.step_id, "look", "people are asked again");
    }

    async fn a_denied_call_fails_the_run_and_resuming_keeps_what_came_before(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let mut manual = step("second", echo, json!({ "value": "{step.first.value}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let first = step("first", echo, json!({ "value": "{x}" }));
        let id = world.process(process("deny", vec![first, manual], "{{second.value}}")).await;
        let run = world.run(id, json!({ "x": 7 })).await;
        world.decide(&world.review().await, Decision::Deny { reason: Some("not now".to_owned()) }).await;
        let failed = world.ended(run).await;
        let failure = failed.row.failure.unwrap();
        assert_eq!((failure.fault.code.as_str(), failure.fault.message.as_str()), ("denied", "not now"));
        let branching = Branching::default();
        let again = world.engine.branch_run(&world.caller, fresh(&world.caller), run, branching).await.unwrap().value;
        world.decide(&world.review().await, Decision::Approve { inputs: None, scope: None }).await;
        let shown = world.ended(again).await;
        assert_eq!(shown.row.output, Some(json!("7")), "{:?}", shown.row.failure);
        assert_eq!(shown.steps[0].row.call, failed.steps[0].row.call, "the first step was not called again");
        assert_eq!(shown.row.branched_from, Some(run));
    }

    async fn cancelling_takes_back_what_is_open_and_runs_below(world: &EngineFixture) {
        let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
        let inner = world.process(process("inner", vec![ask], "{{a}}")).await;
        let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
        let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
        let run = world.run(outer, json!({ "x": 1 })).await;
        let shown = world.engine.run(&world.caller, run).await.unwrap();
        assert_eq!((shown.steps[0].row.state.phase, shown.children.len()), (Phase::Running, 1));
        world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
        let shown = world.ended(run).await;
        assert_eq!((shown.row.status, shown.children[0].row.status), (ExecutionStatus::Cancelled, ExecutionStatus::Cancelled));
        assert!(world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.is_empty());
        assert!(world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.is_err());
    }

    async fn br_step_008_runs_that_nest_too_deep_fail_with_their_stack_refuses(world: &EngineFixture) {
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

    async fn a_conversation_answers_with_no_key_and_can_be_heard(world: &EngineFixture) {
        let (conversation, _) = world.talk("The heron stood in the reeds. Where did the heron stand?").await;
        let chat = world.process_named("Chat").await;
        let new = NewAnswers {
            wanted: AnswerTarget::After { turn: None, parent: None, sources: Vec::new() },
            processes: vec![chat],
            samples: 2,
            make_active: true, remember_process: true,
            context: serde_json::Map::new(),
        };
        let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await.unwrap().value;
        assert_eq!(begun.begun.len(), 2);
        let (grown, run) = &begun.begun[0];
        let mut listening = world.engine.listen(&world.caller, *run, 0).await.unwrap();
        let mut heard = String::new();
        let status = loop {
            match listening.next().await.unwrap() {
                StreamEvent::Piece(piece) if piece.is_reset => heard.clear(),
                StreamEvent::Piece(piece) => heard += &piece.text,
                StreamEvent::End(status) => break status,
            }
        };
        assert_eq!(status, ExecutionStatus::Completed, "{:?}", world.ended(*run).await.row.failure);
        world.ended(begun.begun[1].1).await;
        let node = world.engine.node(&world.caller, grown.node.seen.row.id).await.unwrap();
        assert_eq!(node.seen.row.status, GenerationStatus::Complete);
        let text = node.seen.content.as_ref().unwrap()["text"].as_str().unwrap().to_owned();
        assert_eq!(heard, text);
        assert!(text.contains("heron"), "{text}");
        assert_eq!(node.seen.row.executed_by.map(|by| by.process_id), Some(chat));
        let hinted = world.engine.conversation(&world.caller, conversation).await.unwrap();
        assert_eq!(hinted.shown.entry.process_id, None, "several answers at once leave the hint (BR-CONV-001A)");
    }
}
