//! Simulates reviews and their expiry, with a clock moved by hand.

use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::Role;
use skein_core::flow::execution::review::Decision;
use skein_core::garden::item::ItemType;
use skein_store::StoreError;
use skein_store::timeline::items::ItemQuery;

use crate::error::EngineError;
use crate::flow::simulation::environment::Environment;
use crate::flow::{Delegate, SYSTEM};

const WAITS_S: i64 = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_step_006_an_answer_after_its_time_refuses_though_nobody_looked_yet() {
    let world = Environment::new(None).await;
    let review = json!({ "expiresAfter": WAITS_S, "onExpire": "fail" });
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" }, "review": review });
    let run = world.begin_of(world.process("asks", [ask]).await).await;
    let question = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.remove(0);
    world.clock.advance(WAITS_S * 1_000);
    let late = Decision::Answer { value: json!("late") };
    let refused = world.engine.decide(&world.caller, world.request(), question.row.id, late).await;
    assert!(matches!(refused, Err(EngineError::Store(StoreError::Refused(_)))), "{refused:?}");
    world.engine.expire_reviews().await.unwrap();
    let failure = world.ended(run).await.row.failure.unwrap();
    assert_eq!(failure.fault.code, "review_expired");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_was_asked_is_told_when_the_time_is_over() {
    let world = Environment::new(None).await;
    let review = json!({ "expiresAfter": WAITS_S, "onExpire": "skip" });
    let output = json!({ "variable": "a", "required": false });
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": output, "review": review });
    let run = world.begin_of(world.process("asks", [ask]).await).await;
    let ben = world.store.write(|tx| tx.create_user(&SYSTEM, "Ben", Role::User)).await.unwrap().value;
    let question = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.remove(0);
    let to = Delegate::User(ben);
    world.engine.delegate_review(&world.caller, world.request(), question.row.id, to).await.unwrap();
    world.clock.advance(WAITS_S * 1_000);
    world.engine.expire_reviews().await.unwrap();
    world.ended(run).await;
    let query = ItemQuery { item_type: Some(ItemType::SYSTEM_EVENT), limit: 10, ..ItemQuery::default() };
    let told = world.store.read(move |tx| tx.items(&Viewer::User(ben), &query)).await.unwrap().rows;
    let told: Vec<Value> = told.iter().map(|stored| stored.item.document().unwrap()["event"].clone()).collect();
    assert_eq!(told, ["review.delegated", "review.taken_back"]);
}
