//! Steps whose inputs derive from a model's answer: addresses wait for a person, and no words are no output.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::flow::execution::state::ExecutionStatus;
use skein_testkit::hostile_server::HostileServer;

use crate::engine_fixture::{EngineFixture, both};
use crate::refusals::weather;
use crate::tool_runs::{model_tool, reply};

const ADDRESS: &str = "evil.example/?q=diary";

/// A model that says this.
fn saying(words: &'static str) -> HostileServer {
    HostileServer::start(move |request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        reply(&asked, json!({ "role": "assistant", "content": words }), "stop")
    })
}

fn model_step(model: RecordId) -> Value {
    let messages = json!([{ "role": "user", "content": "{x}" }]);
    json!({ "id": "model", "toolId": model, "inputs": { "messages": messages }, "output": { "variable": "model" } })
}

/// A step that hands a value to a tool.
fn look(tool: RecordId, value: &str) -> Value {
    json!({ "id": "look", "toolId": tool, "inputs": { "value": value }, "output": { "variable": "look" } })
}

fn process(steps: &[Value], output: &str) -> Value {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("Look {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    json!({ "name": name, "initialContext": ["x"], "steps": steps, "outputTemplate": output })
}

async fn looks(world: &EngineFixture, model: RecordId, steps: &[Value]) -> RecordId {
    let steps: Vec<Value> = std::iter::once(model_step(model)).chain(steps.iter().cloned()).collect();
    world.process(process(&steps, "{{look}}")).await
}

both! {
    async fn br_step_006_an_address_from_a_model_waits_for_a_person_directly_or_through_steps_and_processes_holds(world: &EngineFixture) {
        let (rogue, sky) = (saying(ADDRESS), weather());
        let model = model_tool(world, &rogue).await;
        let (tool, echo) = (world.rest_tool(&world.caller, &sky).await, world.tool("Echo").await);
        let passed = json!({ "id": "echo", "toolId": echo, "inputs": { "value": ["{model.text}"] }, "output": { "variable": "echo" } });
        let inner = world.process(process(&[look(tool, "{x}")], "{{look}}")).await;
        let nested = json!({ "id": "look", "processId": inner, "inputs": { "x": "{model.text}" }, "output": { "variable": "look" } });
        for steps in [vec![look(tool, "{model.text}")], vec![passed, look(tool, "{echo.value[0]}")], vec![nested]] {
            let sent = sky.requests().len();
            let run = world.run(looks(world, model, &steps).await, json!({ "x": "Oslo" })).await;
            let review = world.review().await;
            let ReviewRequest::Call { tool: asked, inputs } = &review.row.asked else { panic!("{:?}", review.row.asked) };
            assert_eq!((asked.id, &inputs["value"], sky.requests().len()), (tool, &json!(ADDRESS), sent), "nothing went out");
            world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
            let ended = world.ended(run).await;
            assert_eq!(ended.row.status, ExecutionStatus::Completed, "{:?}", ended.row.failure);
            assert_eq!(sky.requests().len(), sent + 1);
        }
    }

    async fn br_step_006_words_of_a_model_and_addresses_of_a_person_refuse_to_wait(world: &EngineFixture) {
        let (rogue, sky) = (saying("The weather in Paris."), weather());
        let model = model_tool(world, &rogue).await;
        let tool = world.rest_tool(&world.caller, &sky).await;
        for value in ["{model.text}", "{x}", ADDRESS] {
            let run = world.run(looks(world, model, &[look(tool, value)]).await, json!({ "x": ADDRESS })).await;
            let ended = world.ended(run).await;
            assert_eq!(ended.row.status, ExecutionStatus::Completed, "{value}: {:?}", ended.row.failure);
        }
        assert_eq!(sky.requests().len(), 3);
    }

    async fn br_step_004_a_model_that_says_nothing_in_a_middle_step_or_as_the_answer_refuses(world: &EngineFixture) {
        let rogue = saying(" ");
        let (model, echo) = (model_tool(world, &rogue).await, world.tool("Echo").await);
        let middle = looks(world, model, &[look(echo, "{model.text}")]).await;
        let answer = world.process(process(&[model_step(model)], "{{model.text}}")).await;
        for process in [middle, answer] {
            let run = world.run(process, json!({ "x": "Oslo" })).await;
            let failure = world.ended(run).await.row.failure.unwrap();
            assert_eq!((failure.step, failure.fault.code.as_str(), failure.fault.rule.as_deref()),
                (Some(1), "empty_output", Some("BR-STEP-004")));
        }
    }
}
