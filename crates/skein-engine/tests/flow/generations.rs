//! Generations of many nodes: read from the rows of executions, and from items once these are gone.

use serde_json::{Value, json};
use skein_core::flow::tool_call::{CallRequester, CallStatus};
use skein_core::{NodeId, Viewer};
use skein_engine::flow::{Generation, Reasoning};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::costs::{PRICES, priced};
use crate::engine_fixture::{EngineFixture, both};
use crate::tool_runs;

async fn generations(world: &EngineFixture, nodes: &[NodeId]) -> Vec<Generation> {
    world.engine.generations(&world.caller, nodes.to_vec()).await.unwrap()
}

/// A model that thinks aloud, and whose provider counts that or does not.
fn thinking(counted: Option<u64>) -> HostileServer {
    let details = counted.map(|tokens| json!({ "reasoning_tokens": tokens }));
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 60, "completion_tokens_details": details });
    let chunk = |more: Value| {
        let mut chunk = json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [] });
        chunk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("data: {chunk}\n\n")
    };
    let delta = json!({ "role": "assistant", "reasoning_content": "Two and two.", "content": "Four." });
    let said = chunk(json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }] }));
    let body = said + &chunk(json!({ "usage": usage })) + "data: [DONE]\n\n";
    HostileServer::start(move |_| Behaviour::answer(200, &[("content-type", "text/event-stream")], body.clone()))
}

both! {
    async fn an_answer_tells_its_tokens_its_cost_and_every_call_in_a_line(world: &EngineFixture) {
        let rogue = tool_runs::model(false);
        let model = priced(world, &rogue, PRICES()).await;
        let cook = tool_runs::process_of(world, model, "never", 3).await;
        let (conversation, asked) = world.talk("What is there to eat?").await;
        let (node, run) = world.answer(conversation, cook).await;
        world.ended(run).await;
        let made = generations(world, &[asked, node]).await;
        assert_eq!(made.len(), 1, "nobody made what a person said: {made:?}");
        assert_eq!((made[0].node, made[0].run), (node, run));
        assert_eq!((made[0].input_tokens, made[0].output_tokens), (Some(14), Some(10)));
        let spending = made[0].spending.clone().unwrap();
        let owed = json!([{ "payerId": world.caller.user, "currency": "USD", "amount": "0.000135" }]);
        assert_eq!((json!(spending.owed), spending.is_complete), (owed, true));
        let lines: Vec<_> = made[0].calls.iter().map(|call| (call.operation.as_deref(), call.asker, call.is_own)).collect();
        assert_eq!(lines, [
            (Some("mcp_tool"), Some(CallRequester::Process), true),
            (Some("llm_call"), Some(CallRequester::Process), false),
            (Some("mcp_tool"), Some(CallRequester::Model), true),
            (Some("llm_call"), Some(CallRequester::Process), false),
        ]);
        assert_eq!(made[0].calls[2].name.as_deref(), Some("Echo"));
        assert!(made[0].calls.iter().all(|call| call.status == Some(CallStatus::Success)), "{made:?}");
        let models: Vec<_> = made[0].calls.iter().map(|call| call.model.as_deref()).collect();
        assert_eq!(models, [None, Some("m"), None, Some("m")]);
        let answers: Vec<_> = made[0].calls.iter().map(|call| call.raw_response.is_some()).collect();
        assert_eq!(answers, [false, true, false, true]);
        assert!(made[0].calls.iter().all(|call| call.reasoning.is_none()), "it did not think aloud: {made:?}");
    }

    async fn how_much_a_model_thought_is_told_with_whether_anybody_counted_it(world: &EngineFixture) {
        let told = async |rogue: HostileServer| {
            let cook = tool_runs::process(world, &rogue, "never", 1).await;
            let (conversation, _) = world.talk("What are two and two?").await;
            let (node, run) = world.answer(conversation, cook).await;
            world.ended(run).await;
            generations(world, &[node]).await[0].calls[1].reasoning
        };
        assert_eq!(told(thinking(Some(41))).await, Some(Reasoning { tokens: 41, is_estimate: false }));
        assert_eq!(told(thinking(None)).await, Some(Reasoning { tokens: 3, is_estimate: true }));
    }

    async fn what_is_told_of_an_answer_outlives_the_rows_of_its_run(world: &EngineFixture) {
        let rogue = tool_runs::model(false);
        let model = priced(world, &rogue, PRICES()).await;
        let cook = tool_runs::process_of(world, model, "never", 3).await;
        let (conversation, _) = world.talk("What is there to eat?").await;
        let (node, run) = world.answer(conversation, cook).await;
        world.ended(run).await;
        let before = generations(world, &[node]).await;
        world.store.write(|tx| tx.sweep_executions(&Viewer::System("test"), 0)).await.unwrap();
        let mut after = generations(world, &[node]).await;
        let spending = after[0].spending.as_mut().unwrap();
        assert!(!std::mem::replace(&mut spending.is_complete, true), "runs it started are not looked for");
        assert_eq!(after, before);
    }

    async fn others_are_told_nothing_of_how_an_answer_was_made(world: &EngineFixture) {
        let (conversation, _) = world.talk("Where did the heron stand?").await;
        let chat = world.process_named("Chat").await;
        let (node, run) = world.answer(conversation, chat).await;
        world.ended(run).await;
        let other = world.other("bert").await;
        assert_eq!(world.engine.generations(&other, vec![node]).await.unwrap(), []);
        assert_eq!(generations(world, &[node]).await.len(), 1);
        world.store.write(|tx| tx.sweep_executions(&Viewer::System("test"), 0)).await.unwrap();
        assert_eq!(world.engine.generations(&other, vec![node]).await.unwrap(), []);
    }
}
