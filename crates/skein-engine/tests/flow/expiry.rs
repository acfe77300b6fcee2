//! Questions that nobody answers in time.

use postgres::{Client, NoTls};
use serde_json::{Value, json};
use skein_core::account::Role;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_core::{RecordId, Viewer};
use skein_engine::EngineError;
use skein_engine::flow::{Delegate, ShownExecution};
use skein_store::StoreError;
use skein_store::flow::ReviewStatus;
use skein_store::timeline::items::ItemQuery;

use crate::engine_fixture::{EngineFixture, both, fresh, heard, process, step};

const SYSTEM: Viewer = Viewer::System("test");

/// A process that asks and, when nobody answers, goes on as it is told.
async fn asking(world: &EngineFixture, review: Value) -> RecordId {
    let mut ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a", "required": false } });
    ask["review"] = review;
    let after = step("after", world.tool("Echo").await, json!({ "value": "{x}" }));
    world.process(process("asks", vec![ask, after], "{{after.value}} {{a}}")).await
}

async fn expired(world: &EngineFixture, review: Value) -> ShownExecution {
    let run = world.run(asking(world, review).await, json!({ "x": "on" })).await;
    world.ended(run).await
}

both! {
    async fn br_step_006_a_question_nobody_answers_takes_its_default_and_leaves_a_fact_holds(world: &EngineFixture) {
        let shown = expired(world, json!({ "expiresAfter": 1, "onExpire": "default", "default": "nobody" })).await;
        assert_eq!((shown.row.status, shown.row.output), (ExecutionStatus::Completed, Some(json!("on nobody"))));
        let reviews = world.engine.reviews(&world.caller, false, None, 10).await.unwrap().rows;
        assert_eq!((reviews.len(), reviews[0].row.status), (1, ReviewStatus::Expired));
        let decided = world.facts(&world.caller, ItemType::REVIEW_DECIDED).await;
        let told = json!({ "reviewId": reviews[0].row.id, "deciderId": null, "decided": { "decision": "expired" } });
        assert_eq!(decided, [told]);
    }

    async fn br_step_006_a_question_nobody_answers_may_be_skipped_holds(world: &EngineFixture) {
        let shown = expired(world, json!({ "expiresAfter": 1, "onExpire": "skip" })).await;
        assert_eq!((shown.row.status, shown.steps[0].row.state.phase), (ExecutionStatus::Completed, Phase::Skipped));
    }

    async fn br_step_006_an_answer_after_its_time_refuses(world: &EngineFixture) {
        let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" },
            "review": { "expiresAfter": 1, "onExpire": "fail" } });
        let id = world.process(process("asks", vec![ask], "{{a}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        let failure = world.ended(run).await.row.failure.unwrap();
        assert_eq!((failure.fault.code.as_str(), failure.fault.rule.as_deref()), ("review_expired", Some("BR-STEP-006")));
        let review = world.engine.reviews(&world.caller, false, None, 10).await.unwrap().rows.remove(0);
        let late = Decision::Answer { value: json!("late") };
        let refused = world.engine.decide(&world.caller, fresh(&world.caller), review.row.id, late).await;
        assert!(matches!(refused, Err(EngineError::Store(StoreError::Refused(_)))), "{refused:?}");
        assert_eq!(world.facts(&world.caller, ItemType::REVIEW_DECIDED).await.len(), 1);
    }

    async fn an_answer_in_time_is_what_counts(world: &EngineFixture) {
        let mut ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
        ask["review"] = json!({ "expiresAfter": 600, "onExpire": "fail" });
        let id = world.process(process("asks", vec![ask], "{{a}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        world.decide(&world.review().await, Decision::Answer { value: json!("yes") }).await;
        assert_eq!(world.ended(run).await.row.output, Some(json!("yes")));
        assert_eq!(world.facts(&world.caller, ItemType::REVIEW_DECIDED).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn whoever_was_asked_is_told_when_the_time_is_over() {
    let world = EngineFixture::postgres().await;
    let id = asking(&world, json!({ "expiresAfter": 600, "onExpire": "skip" })).await;
    let ben = world.store.write(|tx| tx.create_user(&SYSTEM, "Ben", Role::User)).await.unwrap().value;
    let run = world.run(id, json!({ "x": "on" })).await;
    let review = world.review().await.row.id;
    let (caller, to) = (&world.caller, Delegate::User(ben));
    world.engine.delegate_review(caller, fresh(caller), review, to).await.unwrap();
    tokio::task::block_in_place(|| {
        let mut client = Client::connect(world.url(), NoTls).unwrap();
        assert_eq!(client.execute("UPDATE reviews SET expires_at = created_at", &[]).unwrap(), 1);
    });
    world.ended(run).await;
    let query = ItemQuery { item_type: Some(ItemType::SYSTEM_EVENT), limit: 10, ..ItemQuery::default() };
    let told = world.store.read(move |tx| tx.items(&Viewer::User(ben), &query)).await.unwrap().rows;
    let told: Vec<Value> = told.iter().map(|stored| stored.item.document().unwrap()["event"].clone()).collect();
    assert_eq!(told, ["review.delegated", "review.taken_back"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_question_that_cannot_be_ended_keeps_no_other_waiting() {
    let world = EngineFixture::postgres().await;
    let id = asking(&world, json!({ "expiresAfter": 600, "onExpire": "default", "default": "nobody" })).await;
    let damaged = world.run(id, json!({ "x": "on" })).await;
    let fine = world.run(id, json!({ "x": "on" })).await;
    tokio::task::block_in_place(|| {
        let mut client = Client::connect(world.url(), NoTls).unwrap();
        let mut tampered = client.transaction().unwrap();
        let damage = "UPDATE execution_steps SET inputs = '{' WHERE run = $1";
        assert_eq!(tampered.execute(damage, &[&damaged.as_bytes().to_vec()]).unwrap(), 1);
        assert_eq!(tampered.execute("UPDATE reviews SET expires_at = created_at", &[]).unwrap(), 2);
        tampered.commit().unwrap();
    });
    assert_eq!(world.ended(fine).await.row.output, Some(json!("on nobody")));
    let row = || world.store.read(move |tx| tx.execution(&SYSTEM, damaged));
    let mut rung = world.store.wake().subscribe();
    while !row().await.unwrap().status.has_ended() {
        heard(&mut rung).await;
    }
    let failure = row().await.unwrap().failure.unwrap();
    assert!(failure.fault.message.contains("run skein verify"), "{}", failure.fault.message);
}
