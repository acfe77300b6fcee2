//! Costs of executions: by the prices of tools, owed by the owner of the secret, unknown without prices.

use serde_json::{Value, json};
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::item_payload::ExecutionEnded;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::garden::item::ItemType;
use skein_core::{Millis, RecordId, Viewer};
use skein_engine::flow::ShownExecution;
use skein_store::timeline::items::ItemQuery;
use skein_testkit::hostile_server::HostileServer;

use crate::engine_fixture::{EngineFixture, fresh, process};
use crate::tool_runs;

pub(crate) async fn priced(world: &EngineFixture, rogue: &HostileServer, pricing: Value) -> RecordId {
    let tool = tool_runs::model_tool(world, rogue).await;
    let viewer = Viewer::User(world.caller.user);
    let hash = world.store.read(move |tx| tx.record(&viewer, tool)).await.unwrap().hash;
    let change = serde_json::from_value(json!({ "pricing": pricing })).unwrap();
    world.engine.change_tool(&world.caller, fresh(&world.caller), tool, change, hash).await.unwrap();
    tool
}

fn asking(id: &str, tool: RecordId) -> Value {
    let messages = json!([{ "role": "user", "content": "hello" }]);
    json!({ "id": id, "toolId": tool, "inputs": { "messages": messages }, "output": { "variable": id } })
}

fn owed(world: &EngineFixture, amount: &str) -> Value {
    json!([{ "payerId": world.caller.user, "currency": "USD", "amount": amount }])
}

fn told(shown: &ShownExecution) -> (Value, bool) {
    let spending = shown.spending().unwrap();
    (json!(spending.owed), spending.is_complete)
}

/// How a run ended, as it stays for good.
async fn ended(world: &EngineFixture, shown: &ShownExecution) -> ExecutionEnded {
    let viewer = Viewer::User(world.caller.user);
    let query = ItemQuery { item_type: Some(ItemType::EXECUTION_ENDED), limit: 100, ..ItemQuery::default() };
    let page = world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap();
    let facts = page.rows.iter().filter_map(|stored| ExecutionEnded::from_document(&stored.item.document()?));
    facts.into_iter().find(|ended| ended.run_id == shown.row.id).unwrap()
}

async fn measured(world: &EngineFixture, of: RecordId, name: &'static str) -> Vec<f64> {
    let viewer = Viewer::User(world.caller.user);
    let values = world.store.read(move |tx| tx.measurements(&viewer, of, name, Millis(0), 10)).await.unwrap();
    values.into_iter().map(|(_, value)| value).collect()
}

/// The model uses 7 tokens in and 5 out for each answer.
pub(crate) const PRICES: fn() -> Value =
    || json!({ "currency": "USD", "inputPerMillion": 2.5, "outputPerMillion": 10 });

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_share_008_steps_runs_and_those_below_sum_what_their_calls_cost_holds() {
    let world = EngineFixture::new().await;
    let rogue = tool_runs::model(false);
    let model = priced(&world, &rogue, PRICES()).await;
    let inner = world.process(process("inner", vec![asking("a", model), asking("b", model)], "{{b.text}}")).await;
    let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
    let outer = world.process(process("outer", vec![asking("first", model), call], "{{sub}}")).await;
    let run = world.run(outer, json!({ "x": 1 })).await;
    let shown = world.ended(run).await;
    assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
    assert_eq!(shown.calls[0].result.as_ref().unwrap().said["cost"], owed(&world, "0.0000675")[0]);
    assert_eq!(told(&shown), (owed(&world, "0.0002025"), true));
    assert_eq!(told(&shown.children[0]), (owed(&world, "0.000135"), true));
    let of_step = |step| json!(shown.spending_of(step).unwrap().owed);
    assert_eq!((of_step(0), of_step(1)), (owed(&world, "0.0000675"), owed(&world, "0.000135")));
    assert_eq!(json!(ended(&world, &shown).await.owed), owed(&world, "0.0002025"));
    assert_eq!(json!(ended(&world, &shown.children[0]).await.owed), owed(&world, "0.000135"));
    assert_eq!(measured(&world, model, "cost.USD").await, [0.000_067_5; 3]);
    assert_eq!(measured(&world, outer, "cost.USD").await, [0.000_202_5]);
    // Beginning again at the second step does not pay for the first one again.
    let branching = skein_engine::flow::Branching { step: Some("sub".to_owned()), ..Default::default() };
    let again = world.engine.branch_run(&world.caller, fresh(&world.caller), run, branching).await.unwrap().value;
    let again = world.ended(again).await;
    assert_eq!(told(&again), (owed(&world, "0.000135"), true));
    assert_eq!(json!(ended(&world, &again).await.owed), owed(&world, "0.000135"));
    assert_eq!(again.row.tokens * 3, shown.row.tokens * 2, "nor are its tokens counted again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_share_008_without_a_price_a_cost_is_unknown_and_not_zero_holds() {
    let world = EngineFixture::new().await;
    let rogue = tool_runs::model(false);
    let model = tool_runs::model_tool(&world, &rogue).await;
    let id = world.process(process("free", vec![asking("a", model)], "{{a.text}}")).await;
    let run = world.run(id, json!({ "x": 1 })).await;
    let shown = world.ended(run).await;
    assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
    assert_eq!(shown.calls[0].result.as_ref().unwrap().said["cost"], Value::Null);
    assert_eq!((shown.spending(), shown.spending_of(0)), (None, None));
    assert_eq!(ended(&world, &shown).await.owed, CostTotals::default());
    assert!(measured(&world, model, "cost.USD").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_share_008_what_a_model_asks_of_its_tools_is_summed_with_its_answers_holds() {
    let world = EngineFixture::new().await;
    let rogue = tool_runs::model(false);
    let model = priced(&world, &rogue, PRICES()).await;
    let echo = world.tool("Echo").await;
    let mut answer = asking("answer", model);
    answer["tools"] = json!([{ "toolId": echo, "approval": "never" }]);
    let id = world.process(process("Cook", vec![answer], "{{answer.text}}")).await;
    let run = world.run(id, json!({ "x": 1 })).await;
    let shown = world.ended(run).await;
    assert_eq!((shown.row.status, shown.calls.len()), (ExecutionStatus::Completed, 3), "{:?}", shown.row.failure);
    assert_eq!(told(&shown), (owed(&world, "0.000135"), true));
    assert_eq!(json!(ended(&world, &shown).await.owed), owed(&world, "0.000135"), "it was kept beside the dialogue");
}
