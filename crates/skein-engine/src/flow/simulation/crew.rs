//! The crew itself, where the clock stands still: what it does about bugs, a store that is busy, and those who vanished.

use std::time::Duration;

use serde_json::{Value, json};
use skein_core::RunId;
use skein_core::flow::execution::state::RunStatus;

use crate::flow::simulation::Bug;
use crate::flow::simulation::world::World;
use crate::flow::{Crew, NewRun, Pools, ShownRun};

/// The first of the processes: one step after the other.
const CHAIN: usize = 0;
const SOON: Duration = Duration::from_secs(60);

impl World {
    async fn begin(&self) -> RunId {
        let Value::Object(context) = json!({ "x": "x" }) else { unreachable!() };
        let new = NewRun { context, priority: 0 };
        let (caller, process) = (&self.caller, self.processes[CHAIN]);
        self.engine.execute(caller, self.request(), process, new).await.unwrap().value
    }

    async fn ended(&self, run: RunId) -> ShownRun {
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
    let world = World::new(Some(Bug::PanickingCall)).await;
    let one_place = Pools(vec![(skein_core::catalog::operation::OperationType::McpTool, 1)]);
    let crew = Crew::start(world.engine.clone(), &one_place);
    for _ in 0..2 {
        let run = world.begin().await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!((shown.row.status, failure.fault.code.as_str()), (RunStatus::Failed, "internal"));
        assert_eq!(shown.calls[0].result.as_ref().unwrap().said["error"]["code"], "internal");
    }
    crew.stop(SOON).await;
}
