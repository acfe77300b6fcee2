//! The crew itself, where the clock stands still: what it does about bugs, a store that is busy, and those who vanished.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use skein_core::catalog::operation::OperationType;
use skein_core::flow::execution::review::ReviewRequest;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::{ExecutionId, RecordId, Viewer, WorkerId};
use skein_store::jobs::workers::{Worker, WorkerDraft, WorkerStatus, WorkerTally};
use skein_store::jobs::{DeadLetter, ExecutionJob, Job};

use crate::flow::simulation::PlantedBug;
use crate::flow::simulation::environment::Environment;
use crate::flow::{ExecutionRequest, PoolSizes, SYSTEM, ShownExecution, WorkerPool};
use crate::jobs::worker_loop;
use crate::jobs::worker_pool::LeasedJob;

pub(super) const SOON: Duration = Duration::from_mins(1);
const LEASE_MS: i64 = 90_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const LOST_MAX: i64 = 3;
/// More than may wait to be written.
const TOO_MUCH: usize = 64 << 20;

impl Environment {
    pub(super) async fn begin(&self) -> ExecutionId {
        self.begin_of(self.chain).await
    }

    pub(super) async fn begin_of(&self, process: RecordId) -> ExecutionId {
        let Value::Object(context) = json!({ "x": "x" }) else { unreachable!() };
        let new = ExecutionRequest { context, priority: 0 };
        self.engine.execute(&self.caller, self.request(), process, new).await.unwrap().value
    }

    pub(super) async fn claimed(&self) -> Job {
        self.store.claim_job("mcp_tool", "somebody", LEASE_MS).await.unwrap().unwrap()
    }

    /// A worker takes up what waits, begins it or not, and vanishes with its process.
    async fn vanish(&self, begins: bool) {
        let job = self.claimed().await;
        if begins {
            worker_loop::begin(&self.engine, LeasedJob::of(&self.engine, &job), None, LOST_MAX).await;
        }
        self.store.begin_epoch().await.unwrap();
    }

    async fn take_up(&self) {
        worker_loop::begin(&self.engine, LeasedJob::of(&self.engine, &self.claimed().await), None, LOST_MAX).await;
    }

    async fn dead(&self) -> Vec<DeadLetter> {
        let viewer = Viewer::User(self.caller.user);
        self.store.read(move |tx| tx.dead_letters(&viewer, None, 10)).await.unwrap().rows
    }

    async fn workers(&self) -> Vec<Worker> {
        self.engine.workers(&self.caller).await.unwrap()
    }

    async fn jobs(&self, run: ExecutionId) -> Vec<ExecutionJob> {
        self.store.read(move |tx| tx.jobs_of(&SYSTEM, run)).await.unwrap()
    }

    pub(super) async fn ended(&self, run: ExecutionId) -> ShownExecution {
        let mut rung = self.store.wake().subscribe();
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if shown.row.status.has_ended() {
                return shown;
            }
            tokio::time::timeout(SOON, rung.changed()).await.unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bug_in_a_call_is_an_error_of_that_call_and_frees_its_place() {
    let world = Environment::new(Some(PlantedBug::PanickingCall)).await;
    let one_place = PoolSizes(vec![(OperationType::McpTool, 1)]);
    let worker_pool = WorkerPool::start(world.engine.clone(), &one_place);
    for _ in 0..2 {
        let run = world.begin().await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!((shown.row.status, failure.fault.code.as_str()), (ExecutionStatus::Failed, "internal"));
        assert_eq!(shown.calls[0].result.as_ref().unwrap().said["error"]["code"], "internal");
    }
    worker_pool.stop(SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_busy_is_waited_for_before_a_call_is_begun() {
    let world = Environment::new(None).await;
    let run = world.begin().await;
    let job = world.claimed().await;
    let ((begun, is_begun), (end, ends)) = (mpsc::channel(), mpsc::channel::<()>());
    let mut writing = Box::pin(world.store.write_weighing(TOO_MUCH, move |_| {
        let _ = begun.send(());
        let _ = ends.recv();
        Ok(())
    }));
    assert!(futures::poll!(&mut writing).is_pending());
    is_begun.recv().unwrap();
    let mut filling = Box::pin(world.store.write_weighing(TOO_MUCH, |_| Ok(())));
    assert!(futures::poll!(&mut filling).is_pending());
    let mut beginning = Box::pin(worker_loop::begin(&world.engine, LeasedJob::of(&world.engine, &job), None, LOST_MAX));
    assert!(futures::poll!(&mut beginning).is_pending(), "it is tried again");
    drop(end);
    writing.await.unwrap();
    filling.await.unwrap();
    beginning.await;
    assert_eq!(world.engine.run(&world.caller, run).await.unwrap().calls.len(), 1, "the call is written down");
    assert_eq!(world.jobs(run).await[0].lost, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_stops_and_starts_again_is_not_lost_however_often() {
    let world = Environment::new(None).await;
    let run = world.begin().await;
    for _ in 0..2 * LOST_MAX {
        let job = world.claimed().await;
        world.store.write(move |tx| tx.release_jobs(&SYSTEM, std::slice::from_ref(&job))).await.unwrap();
        world.store.begin_epoch().await.unwrap();
    }
    let standing = &world.jobs(run).await[0];
    assert_eq!((standing.attempts, standing.lost), (0, 0));
    let worker_pool = WorkerPool::start(world.engine.clone(), &PoolSizes::default());
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    worker_pool.stop(SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_over_which_too_many_vanish_fails_its_step_and_is_put_aside() {
    let world = Environment::new(None).await;
    for begins in [false, true] {
        let run = world.begin().await;
        for _ in 0..LOST_MAX {
            world.vanish(begins).await;
        }
        world.take_up().await;
        let failure = world.engine.run(&world.caller, run).await.unwrap().row.failure.unwrap();
        assert_eq!(failure.fault.code, "lost_worker", "{failure:?}");
        let dead = world.dead().await;
        let aside = dead.iter().find(|job| job.run == Some((run, 0))).unwrap();
        assert_eq!((aside.lost, aside.reason.as_deref()), (LOST_MAX, Some("3 workers vanished while they were at it")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_must_not_be_repeated_is_for_a_person_however_many_vanished_over_it() {
    let world = Environment::new(None).await;
    let once =
        json!({ "id": "a", "toolId": world.tools.once, "inputs": { "value": "{x}" }, "output": { "variable": "a" } });
    let run = world.begin_of(world.process("once", [once]).await).await;
    for _ in 1..LOST_MAX {
        world.vanish(false).await;
    }
    world.vanish(true).await;
    world.take_up().await;
    let open = world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows;
    assert_eq!((open.len(), open[0].row.run), (1, run));
    assert!(matches!(open[0].row.asked, ReviewRequest::Unknown { .. }), "{:?}", open[0].row.asked);
    assert_eq!(world.dead().await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_stops_is_offline_at_once_with_all_it_did_and_forgotten_by_those_who_come_later() {
    let world = Environment::new(None).await;
    let worker_pool = WorkerPool::start(world.engine.clone(), &PoolSizes::default());
    let run = world.begin().await;
    world.ended(run).await;
    worker_pool.stop(SOON).await;
    let stopped = world.workers().await.remove(0);
    assert_eq!((stopped.status, stopped.processed, stopped.errors), (WorkerStatus::Offline, 3, 0));
    world.clock.advance(DAY_MS);
    let mut world = world;
    world.restart().await;
    let worker_pool = WorkerPool::start(world.engine.clone(), &PoolSizes::default());
    let run = world.begin().await;
    world.ended(run).await;
    let workers = world.workers().await;
    assert_eq!(workers.len(), 1, "{workers:?}");
    assert_ne!(workers[0].id, stopped.id);
    worker_pool.stop(SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_forgotten_makes_itself_known_again() {
    let world = Environment::new(None).await;
    let id = WorkerId::from_bytes([7; 16]);
    let draft = WorkerDraft { id, queues: vec!["mcp_tool".to_owned()], places: 1, host: "here".to_owned(), pid: 1 };
    world.engine.parts().worker_pool.owe(WorkerTally { processed: 4, errors: 1 });
    worker_loop::say_alive(&world.engine, &draft).await.unwrap();
    let known = world.workers().await.remove(0);
    assert_eq!((known.id, known.status, known.processed, known.errors), (id, WorkerStatus::Idle, 4, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_handed_over_by_the_move_that_ends_its_run_is_told_as_not_made() {
    let world = Environment::new(None).await;
    let step = |id: &str, value: &str| {
        json!({ "id": id, "toolId": world.tools.once, "inputs": { "value": value }, "output": { "variable": id },
            "execution": { "mode": if id == "a" { "sequential" } else { "parallel" } } })
    };
    let process = world.process("fails", [step("a", "{x}"), step("b", "{a.nowhere}"), step("c", "{x}")]).await;
    let run = world.begin_of(process).await;
    let worker_pool = WorkerPool::start(world.engine.clone(), &PoolSizes(vec![(OperationType::McpTool, 1)]));
    let shown = world.ended(run).await;
    worker_pool.stop(SOON).await;
    assert_eq!(shown.row.failure.unwrap().step_id.as_deref(), Some("b"));
    let told = &shown.calls[1].result.as_ref().unwrap().said;
    assert_eq!((&told["status"], &told["error"]["code"]), (&json!("cancelled"), &json!("not_made")), "{told:?}");
}
