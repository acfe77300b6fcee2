//! Queued work: transactional enqueue, order, fencing, lost workers; and operations that clients poll.

use std::collections::BTreeSet;

use skein_core::{JobId, Viewer};
use skein_store::StoreError;
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::operations::OperationState;

use crate::fixtures::{START, World, both};

const SYSTEM: Viewer = Viewer::System("test");
const LEASE_MS: i64 = 90_000;

fn enqueue(world: &World, priority: i64, payload: &str) -> JobId {
    let viewer = world.anna.clone();
    let draft = JobDraft { priority, ..JobDraft::new("llm_call", payload.into()) };
    world.write(move |tx| tx.enqueue(&viewer, &draft))
}

fn claim(world: &World, worker: &str) -> Option<Job> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(world.store.claim_job("llm_call", worker, LEASE_MS)).unwrap()
}

both! {
    fn a_job_exists_only_if_its_cause_was_committed(world: &World) {
        let viewer = world.anna.clone();
        let draft = JobDraft::new("llm_call", "{}".into());
        let failed = world.try_write(move |tx| {
            tx.enqueue(&viewer, &draft)?;
            Err::<(), _>(StoreError::Busy)
        });
        assert!(failed.is_err());
        assert_eq!(claim(world, "w"), None);
    }

    fn urgent_jobs_come_first_then_older_ones(world: &World) {
        enqueue(world, 0, "1");
        world.clock.advance(1);
        enqueue(world, 0, "2");
        enqueue(world, 5, "3");
        let order: Vec<String> = (0..3).map(|_| claim(world, "w").unwrap().payload).collect();
        assert_eq!(order, ["3", "1", "2"]);
        assert_eq!(claim(world, "w"), None);
    }

    fn a_worker_thought_lost_cannot_finish_anothers_attempt(world: &World) {
        enqueue(world, 0, "{}");
        let slow = claim(world, "slow").unwrap();
        world.clock.advance(LEASE_MS);
        assert_eq!(world.write(|tx| tx.requeue_lost(&SYSTEM)), 1);
        let quick = claim(world, "quick").unwrap();
        assert_eq!((quick.attempts, quick.lost), (2, 1));
        let late = slow.clone();
        assert!(matches!(world.try_write(move |tx| tx.complete_job(&SYSTEM, &late)), Err(StoreError::LeaseLost(_))));
        assert!(matches!(world.try_write(move |tx| tx.heartbeat(&SYSTEM, &slow, LEASE_MS)), Err(StoreError::LeaseLost(_))));
        world.write(move |tx| tx.complete_job(&SYSTEM, &quick));
        assert_eq!(claim(world, "w"), None);
    }

    fn a_heartbeat_keeps_a_job(world: &World) {
        enqueue(world, 0, "{}");
        let job = claim(world, "w").unwrap();
        world.clock.advance(LEASE_MS - 1);
        world.write(move |tx| tx.heartbeat(&SYSTEM, &job, LEASE_MS));
        world.clock.advance(LEASE_MS - 1);
        assert_eq!(world.write(|tx| tx.requeue_lost(&SYSTEM)), 0);
    }

    fn a_failed_job_is_delayed_or_becomes_a_dead_letter(world: &World) {
        enqueue(world, 0, "{}");
        let job = claim(world, "w").unwrap();
        world.write(move |tx| tx.fail_job(&SYSTEM, &job, "timeout", AfterFailure::RetryAt(START.plus(500))));
        assert_eq!(claim(world, "w"), None);
        world.clock.advance(500);
        let job = claim(world, "w").unwrap();
        world.write(move |tx| tx.fail_job(&SYSTEM, &job, "timeout", AfterFailure::Bury));
        world.clock.advance(1_000_000);
        assert_eq!(claim(world, "w"), None);
    }

    fn many_workers_take_every_job_once(world: &World) {
        let queued: BTreeSet<JobId> = (0..60).map(|_| enqueue(world, 0, "{}")).collect();
        let taken: Vec<JobId> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|worker| scope.spawn(move || std::iter::from_fn(|| claim(world, &format!("w{worker}"))).map(|job| job.id).collect::<Vec<_>>()))
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        assert_eq!(taken.len(), queued.len());
        assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), queued);
    }

    fn an_operation_ends_once_and_is_its_owners(world: &World) {
        let viewer = world.anna.clone();
        let id = world.write(move |tx| tx.start_operation(&viewer, "verify", &OperationState::Queued, None));
        let advance = |state: OperationState| {
            let viewer = world.anna.clone();
            world.try_write(move |tx| tx.advance_operation(&viewer, id, &state))
        };
        advance(OperationState::Processing { progress: 40 }).unwrap();
        advance(OperationState::Completed { result: "{}".into() }).unwrap();
        assert!(advance(OperationState::Cancelled).is_err());
        let viewer = world.anna.clone();
        assert_eq!(world.read(move |tx| tx.operation(&viewer, id)).state, OperationState::Completed { result: "{}".into() });
        let viewer = world.bert.clone();
        assert!(matches!(world.try_read(move |tx| tx.operation(&viewer, id)), Err(StoreError::NotFound(_))));
    }
}
