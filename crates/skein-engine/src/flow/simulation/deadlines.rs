//! Deadlines of nested executions, where the clock is moved by hand.

use serde_json::json;
use skein_core::ExecutionId;
use skein_core::flow::execution::state::ExecutionStatus;

use crate::flow::SYSTEM;
use crate::flow::simulation::environment::Environment;

const TIMEOUT_S: i64 = 30;

async fn pass(world: &Environment, seconds: i64) {
    world.clock.advance(seconds * 1_000);
    world.store.maintain_queue().await.unwrap();
    world.engine.fire_timers().await.unwrap();
}

/// A run whose step runs a process that waits for a person.
async fn begun(world: &Environment) -> ExecutionId {
    let ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    let inner = world.process("waits", [ask]).await;
    let nested = json!({ "id": "n", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "n" },
        "execution": { "timeout": TIMEOUT_S } });
    world.begin_of(world.process("outer", [nested]).await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_does_not_run_while_its_execution_is_paused() {
    let world = Environment::new(None).await;
    let run = begun(&world).await;
    let pause = |is_paused| world.engine.pause_run(&world.caller, world.request(), run, is_paused);
    pass(&world, TIMEOUT_S - 1).await;
    pause(true).await.unwrap();
    pass(&world, 10 * TIMEOUT_S).await;
    pause(false).await.unwrap();
    pass(&world, 0).await;
    assert_eq!(world.engine.run(&world.caller, run).await.unwrap().row.status, ExecutionStatus::Running);
    pass(&world, 1).await;
    let shown = world.ended(run).await;
    assert_eq!(shown.row.failure.unwrap().fault.code, "timeout");
    assert_eq!(shown.children[0].row.status, ExecutionStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_ends_leaves_no_deadline() {
    let world = Environment::new(None).await;
    let run = begun(&world).await;
    let child = world.engine.run(&world.caller, run).await.unwrap().children[0].row.id;
    let deadlines = || world.store.read(move |tx| tx.jobs_of(&SYSTEM, child));
    assert_eq!(deadlines().await.unwrap().len(), 1);
    let review = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.remove(0);
    let answer = skein_core::flow::execution::review::Decision::Answer { value: json!("here") };
    world.engine.decide(&world.caller, world.request(), review.row.id, answer).await.unwrap();
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    assert!(deadlines().await.unwrap().is_empty());
}
