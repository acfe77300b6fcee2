//! Runs that runs start: by a step, or by a tool that stands in front of a process.

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::catalog::operation::OperationType;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_engine::flow::PoolSizes;

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

impl EngineFixture {
    /// A tool that runs whichever process it is told to.
    async fn runner(&self) -> RecordId {
        let service = self.service_of(self.tool("Echo").await).await;
        let operation = json!({ "type": "mcp_tool", "tool": "run_process",
            "arguments": { "processId": "{{process}}", "context": { "x": "{{x}}" } } });
        let inputs = json!({ "type": "object", "required": ["process"],
            "properties": { "process": { "type": "string" }, "x": {} }, "additionalProperties": false });
        let tool = json!({ "name": "Runner", "serviceId": service, "connectionParams": {}, "operation": operation,
            "inputSchema": inputs });
        let tool = serde_json::from_value(tool).unwrap();
        self.engine.create_tool(&self.caller, fresh(&self.caller), tool).await.unwrap().value.id
    }

    /// A process whose only step runs another one by a tool.
    async fn running(&self, name: &str, runner: RecordId, below: &Value) -> RecordId {
        let steps = vec![step("sub", runner, json!({ "process": below, "x": "{x}" }))];
        self.process(process(name, steps, "{{sub}}")).await
    }
}

async fn echoing(world: &EngineFixture) -> RecordId {
    let echo = world.tool("Echo").await;
    world.process(process("inner", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await
}

both! {
    async fn a_tool_in_front_of_a_process_is_a_call_with_a_result_and_causes_what_follows(world: &EngineFixture) {
        let (runner, inner, echo) = (world.runner().await, echoing(world).await, world.tool("Echo").await);
        let steps = vec![
            step("sub", runner, json!({ "process": inner, "x": "{x}" })),
            step("after", echo, json!({ "value": "{step.sub}!" })),
        ];
        let outer = world.process(process("outer", steps, "{{after.value}}")).await;
        let run = world.run(outer, json!({ "x": "hi" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("hi!")), "{:?}", shown.row.failure);
        let [called, after] = &shown.calls[..] else { panic!("two calls: {:?}", shown.calls) };
        assert_eq!((&called.said["toolId"], &called.said["operation"]), (&json!(runner), &json!("mcp_tool")));
        assert_eq!(called.said["inputs"]["x"], "hi");
        let came = called.result.as_ref().unwrap();
        assert_eq!((&came.said["status"], &came.said["output"]), (&json!("success"), &json!("hi")));
        let below = &shown.children[0].calls[0];
        assert_eq!((below.caused_by, after.caused_by), (Some(called.id), Some(called.id)));
        assert_eq!(shown.steps[0].row.call, Some(called.id));
        assert!(!shown.steps[0].row.is_open);
    }

    async fn what_fails_or_is_cancelled_behind_a_tool_is_the_result_of_its_call(world: &EngineFixture) {
        let (runner, echo) = (world.runner().await, world.tool("Echo").await);
        let failing = process("failing", vec![step("a", echo, json!({ "value": 1, "more": 2 }))], "{{a}}");
        let failing = json!(world.process(failing).await);
        let outer = world.running("outer", runner, &failing).await;
        let run = world.run(outer, json!({ "x": "hi" })).await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-TOOL-002"), "{failure:?}");
        assert_eq!((&failure.fault.details["toolName"], &failure.fault.details["processName"]), (&json!("Runner"), &json!("failing")));
        let came = shown.calls[0].result.as_ref().unwrap();
        assert_eq!((&came.said["status"], &came.said["error"]["rule"]), (&json!("error"), &json!("BR-TOOL-002")));
        let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
        let asking = json!(world.process(process("asking", vec![ask], "{{a}}")).await);
        let outer = world.running("outer 2", runner, &asking).await;
        let run = world.run(outer, json!({ "x": "hi" })).await;
        world.review().await;
        world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
        let shown = world.ended(run).await;
        assert_eq!((shown.row.status, shown.children[0].row.status), (ExecutionStatus::Cancelled, ExecutionStatus::Cancelled));
        assert_eq!(shown.calls[0].result.as_ref().unwrap().said["status"], "cancelled");
        let results = world.facts(&world.caller, ItemType::TOOL_RESULT).await;
        let call = json!(shown.calls[0].id);
        assert_eq!(results.iter().filter(|result| result["callId"] == call).count(), 1, "one result for each call");
    }

    async fn br_step_008_a_stack_as_deep_as_it_may_be_gives_its_output_holds(world: &EngineFixture) {
        let (runner, mut below) = (world.runner().await, echoing(world).await);
        for level in 1..=3 {
            // By a tool and by a step in turn: both count.
            below = if level % 2 == 0 {
                let call = json!({ "id": "sub", "processId": below, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
                world.process(process(&format!("p{level}"), vec![call], "{{sub}}")).await
            } else {
                world.running(&format!("p{level}"), runner, &json!(below)).await
            };
        }
        let run = world.run(below, json!({ "x": "deep" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.output, Some(json!("deep")), "{:?}", shown.row.failure);
        let mut depths = Vec::new();
        let mut at = &shown;
        loop {
            depths.push((at.row.stack.len(), at.row.levels_left));
            let [child] = &at.children[..] else { break };
            at = child;
        }
        assert_eq!(depths, [(1, 3), (2, 2), (3, 1), (4, 0)]);
    }

    async fn br_exec_007_a_process_that_runs_itself_by_a_tool_refuses_at_its_depth(world: &EngineFixture) {
        let (runner, id) = (world.runner().await, echoing(world).await);
        let steps = vec![step("again", runner, json!({ "process": id, "x": "{x}" }))];
        let change = json!({ "name": "ouroboros", "steps": steps, "outputTemplate": "{{again}}" });
        let hash = world.engine.process(&world.caller, id, None).await.unwrap().hash;
        let change = serde_json::from_value(change).unwrap();
        world.engine.change_process(&world.caller, fresh(&world.caller), id, change, hash).await.unwrap();
        let run = world.run(id, json!({ "x": "deep" })).await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.clone().unwrap();
        assert_eq!((failure.fault.code.as_str(), failure.fault.rule.as_deref()), ("recursion_limit_exceeded", Some("BR-STEP-008")));
        let stack = ["ouroboros"; 4].join(" → ");
        assert!(failure.fault.message.contains(&format!("nested too deep at depth 4: {stack}")), "{}", failure.fault.message);
        let (mut at, mut runs) = (&shown, 1);
        while let [child] = &at.children[..] {
            (at, runs) = (child, runs + 1);
        }
        assert_eq!((runs, at.steps[0].row.state.phase), (4, Phase::Failed), "none was begun beyond the depth");
    }
}

/// Neither a step that calls a process nor a tool in front of one holds the only place there is while it waits.
async fn deeper_than_there_are_places(world: &EngineFixture) {
    let (runner, mut below) = (world.runner().await, echoing(world).await);
    for level in 0..3 {
        let sub = if level % 2 == 0 {
            json!({ "id": "sub", "processId": below, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } })
        } else {
            step("sub", runner, json!({ "process": below, "x": "{x}" }))
        };
        let echo = step("after", world.tool("Echo").await, json!({ "value": "{step.sub}!" }));
        below = world.process(process(&format!("level {level}"), vec![sub, echo], "{{after.value}}")).await;
    }
    let shown = world.ended(world.run(below, json!({ "x": "deep" })).await).await;
    assert_eq!(shown.row.output, Some(json!("deep!!!")), "{:?}", shown.row.failure);
}

fn one_place() -> PoolSizes {
    PoolSizes(vec![(OperationType::McpTool, 1)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_nest_deeper_than_there_are_places_on_sqlite() {
    deeper_than_there_are_places(&EngineFixture::sqlite_with(&one_place()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_nest_deeper_than_there_are_places_on_postgres() {
    deeper_than_there_are_places(&EngineFixture::postgres_with(&one_place()).await).await;
}
