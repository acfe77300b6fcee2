//! Simulates the removal of old rows, with a clock moved by hand.

use skein_core::{ExecutionId, Millis, RecordId, Viewer};
use skein_store::StoreError;
use skein_store::flow::StreamChunk;

use crate::flow::SYSTEM;
use crate::flow::simulation::environment::Environment;
use crate::flow::{PoolSizes, WorkerPool};

const HOUR_MS: i64 = 60 * 60 * 1_000;
const DAY_MS: i64 = 24 * HOUR_MS;

impl Environment {
    /// A run that said something and waits.
    async fn said(&self) -> ExecutionId {
        let run = self.begin().await;
        let job = self.claimed().await;
        let said = vec![StreamChunk { number: 1, is_reset: false, text: "A heron".to_owned() }];
        let say = self.store.write(move |tx| {
            tx.put_chunks(&SYSTEM, &job, run, &said)?;
            tx.release_jobs(&SYSTEM, std::slice::from_ref(&job))
        });
        say.await.unwrap();
        run
    }

    async fn finish(&self, run: ExecutionId) {
        let worker_pool = WorkerPool::start(self.engine.clone(), &PoolSizes::default());
        self.ended(run).await;
        worker_pool.stop(crate::flow::simulation::worker_pool::SOON).await;
    }

    async fn pieces(&self, run: ExecutionId) -> usize {
        self.store.read(move |tx| tx.chunks_after(run, 0)).await.unwrap().len()
    }

    async fn measured(&self, process: RecordId) -> usize {
        let viewer = Viewer::User(self.caller.user);
        let look = self.store.read(move |tx| tx.measurements(&viewer, process, "latency_ms", Millis(0), 10));
        look.await.unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_said_is_kept_for_an_hour_after_its_end() {
    let world = Environment::new(None).await;
    let run = world.said().await;
    world.clock.advance(3 * HOUR_MS);
    world.engine.sweep_runs().await;
    assert_eq!(world.pieces(run).await, 1, "it has not ended");
    world.finish(run).await;
    world.clock.advance(HOUR_MS - 1);
    world.engine.sweep_runs().await;
    assert_eq!(world.pieces(run).await, 1);
    world.clock.advance(1);
    world.engine.sweep_runs().await;
    assert_eq!(world.pieces(run).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_of_a_run_and_what_was_measured_of_it_go_when_the_setting_says_so_and_its_facts_stay() {
    let world = Environment::new(None).await;
    let two = serde_json::json!(2);
    let changed = world.engine.change_setting(&world.caller, world.request(), "executions.keptDays", &two, None);
    changed.await.unwrap();
    let run = world.said().await;
    world.finish(run).await;
    let process = world.chain;
    world.clock.advance(2 * DAY_MS - 1);
    world.engine.sweep_runs().await;
    assert!(world.engine.run(&world.caller, run).await.is_ok());
    assert_eq!(world.measured(process).await, 1);
    world.clock.advance(2);
    world.engine.sweep_runs().await;
    let row = world.store.read(move |tx| tx.execution(&SYSTEM, run)).await;
    assert!(matches!(row, Err(StoreError::NotFound(_))), "{row:?}");
    assert_eq!(world.measured(process).await, 0);
    let fact = skein_core::ItemId::from_bytes(*run.as_bytes());
    assert!(world.store.read(move |tx| tx.item(&SYSTEM, fact)).await.is_ok());
}
