//! What people are asked, where the clock is moved by hand.

use serde_json::json;
use skein_core::flow::execution::review::Decision;
use skein_store::StoreError;

use crate::error::EngineError;
use crate::flow::simulation::world::World;

const WAITS_S: i64 = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn br_step_006_an_answer_after_its_time_refuses_though_nobody_looked_yet() {
    let world = World::new(None).await;
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
