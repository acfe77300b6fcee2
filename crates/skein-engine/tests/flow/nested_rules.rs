//! Steps that run a process obey the rules of steps that call a tool: approval, timeout, retry (decision Z31).

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_store::flow::ReviewStatus;

use crate::engine_fixture::{EngineFixture, both, process, step};

/// A process whose only step runs another, with so much more said of the step.
async fn outer(world: &EngineFixture, inner: RecordId, more: Value) -> RecordId {
    let mut nested =
        json!({ "id": "nested", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "n" } });
    for (name, value) in more.as_object().unwrap() {
        nested[name] = value.clone();
    }
    world.process(process("outer", vec![nested], "{{n}}")).await
}

async fn echoing(world: &EngineFixture) -> RecordId {
    let echo = step("a", world.tool("Echo").await, json!({ "value": "{x}" }));
    world.process(process("inner", vec![echo], "{{a.value}}")).await
}

/// A process that waits for a person who never answers.
async fn waiting(world: &EngineFixture) -> RecordId {
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    world.process(process("waits", vec![ask], "{{a}}")).await
}

both! {
    async fn br_step_006_a_nested_process_starts_only_after_approval_holds(world: &EngineFixture) {
        let inner = echoing(world).await;
        let id = outer(world, inner, json!({ "execution": { "interactionMode": "manual" } })).await;
        let run = world.run(id, json!({ "x": "on" })).await;
        let review = world.review().await;
        let ReviewRequest::Process { process_id, inputs } = &review.row.asked else { panic!("{:?}", review.row.asked) };
        assert_eq!((*process_id, inputs["x"].clone()), (inner, json!("on")));
        assert_eq!(review.called_process_name.as_deref(), Some("inner"));
        assert!(world.engine.run(&world.caller, run).await.unwrap().children.is_empty(), "nothing has started");
        let edited = serde_json::Map::from_iter([("x".to_owned(), json!("edited"))]);
        world.decide(&review, Decision::Approve { inputs: Some(edited), scope: None }).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.output, shown.children.len()), (Some(json!("edited")), 1));
    }

    async fn br_step_006_a_denied_nested_process_refuses_and_starts_nothing(world: &EngineFixture) {
        let inner = echoing(world).await;
        let id = outer(world, inner, json!({ "execution": { "interactionMode": "manual" } })).await;
        let run = world.run(id, json!({ "x": "on" })).await;
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.failure.unwrap().fault.code.as_str(), shown.children.len()), ("denied", 0));
    }

    async fn br_step_005_a_timeout_cancels_a_nested_execution_and_a_retry_starts_another_holds(world: &EngineFixture) {
        let inner = waiting(world).await;
        let id = outer(world, inner, json!({ "execution": { "timeout": 1 }, "retry": { "maxRetries": 1, "backoffMs": 1 } })).await;
        let run = world.run(id, json!({ "x": "on" })).await;
        let shown = world.ended(run).await;
        let fault = shown.row.failure.unwrap().fault;
        assert_eq!((fault.code.as_str(), fault.rule.as_deref()), ("timeout", Some("BR-STEP-005")));
        assert_eq!(shown.steps[0].row.state.attempt, 2);
        let children: Vec<ExecutionStatus> = shown.children.iter().map(|child| child.row.status).collect();
        assert_eq!(children, [ExecutionStatus::Cancelled, ExecutionStatus::Cancelled]);
        let reviews = world.engine.reviews(&world.caller, false, None, 10).await.unwrap().rows;
        assert!(reviews.iter().all(|review| review.row.status == ReviewStatus::Withdrawn), "{reviews:?}");
    }

    async fn br_step_004_an_expired_question_without_an_answer_refuses_where_its_output_is_required(world: &EngineFixture) {
        let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" },
            "review": { "expiresAfter": 1, "onExpire": "skip" } });
        let id = world.process(process("asks", vec![ask], "{{a}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.steps[0].row.state.phase, Phase::Failed);
        assert_eq!(shown.row.failure.unwrap().fault.rule.as_deref(), Some("BR-STEP-004"));
    }
}
