//! Lock order: a transaction locks the execution first, then its review, operation and jobs.

use postgres::{Client, NoTls};
use serde_json::json;
use skein_core::account::Role;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::{ExecutionId, RecordId, Viewer};
use skein_engine::flow::Delegate;
use skein_testkit::wait;

use crate::engine_fixture::{EngineFixture, fresh, process};

/// Somebody else at the database, who holds a run.
struct Holding(Client);

impl Holding {
    fn of(world: &EngineFixture, run: ExecutionId) -> Self {
        blocking(|| {
            let mut client = Client::connect(world.url(), NoTls).unwrap();
            client.batch_execute("SET lock_timeout = '5s'; BEGIN").unwrap();
            let held = client.execute("UPDATE executions SET priority = priority WHERE id = $1", &[&bytes(run)]);
            assert_eq!(held.unwrap(), 1);
            Self(client)
        })
    }

    /// Somebody waits for the run; whatever they took before is held by now.
    fn is_waited_for(&mut self) {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let mut look = || (self.0.query_one(waiting, &[]).unwrap().get::<_, i64>(0) > 0).then_some(());
        blocking(|| wait::until("somebody waits for the run", &mut look));
    }

    /// Takes what belongs to the run, as its end does, and lets go of all of it.
    fn takes_the_rest(mut self, table: &str, column: &str, id: &[u8]) {
        let take = format!("UPDATE {table} SET status = status WHERE {column} = $1");
        blocking(|| {
            assert_eq!(self.0.execute(&take, &[&id]).unwrap(), 1, "nobody who waits for the run holds it");
            self.0.batch_execute("ROLLBACK").unwrap();
            drop(self);
        });
    }
}

fn blocking<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

fn bytes(run: ExecutionId) -> Vec<u8> {
    run.as_bytes().to_vec()
}

async fn asking(world: &EngineFixture) -> RecordId {
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    world.process(process("asks", vec![ask], "{{a}}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_decision_takes_the_run_before_the_question() {
    let world = EngineFixture::postgres().await;
    let run = world.run(asking(&world).await, json!({ "x": 1 })).await;
    let review = world.review().await;
    let mut holding = Holding::of(&world, run);
    let (engine, caller, id) = (world.engine.clone(), world.caller.clone(), review.row.id);
    let deciding = tokio::spawn(async move {
        engine.decide(&caller, fresh(&caller), id, Decision::Answer { value: json!("yes") }).await.unwrap();
    });
    holding.is_waited_for();
    holding.takes_the_rest("reviews", "run", &bytes(run));
    deciding.await.unwrap();
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn putting_a_question_into_other_hands_takes_the_run_first() {
    let world = EngineFixture::postgres().await;
    let run = world.run(asking(&world).await, json!({ "x": 1 })).await;
    let review = world.review().await.row.id;
    let ben = world.store.write(|tx| tx.create_user(&Viewer::System("test"), "Ben", Role::User)).await.unwrap().value;
    let mut holding = Holding::of(&world, run);
    let (engine, caller) = (world.engine.clone(), world.caller.clone());
    let giving = tokio::spawn(async move {
        engine.delegate_review(&caller, fresh(&caller), review, Delegate::User(ben)).await.unwrap();
    });
    holding.is_waited_for();
    holding.takes_the_rest("reviews", "run", &bytes(run));
    giving.await.unwrap();
    assert_eq!(world.review().await.row.delegate, Some(ben));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn cancelling_an_operation_takes_its_run_first() {
    let world = EngineFixture::postgres().await;
    let run = world.run(asking(&world).await, json!({ "x": 1 })).await;
    world.review().await;
    let operation = world.engine.run(&world.caller, run).await.unwrap().row.operation.unwrap();
    let mut holding = Holding::of(&world, run);
    let (engine, caller) = (world.engine.clone(), world.caller.clone());
    let cancelling = tokio::spawn(async move {
        engine.cancel(&caller, fresh(&caller), operation).await.unwrap();
    });
    holding.is_waited_for();
    holding.takes_the_rest("operations", "id", operation.as_bytes());
    cancelling.await.unwrap();
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Cancelled);
}
