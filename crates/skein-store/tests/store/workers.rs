//! Records of who takes up jobs: seen, counted, silent, gone; and nothing is decided by them.

use skein_core::id::Entropy;
use skein_core::{Viewer, WorkerId};
use skein_store::StoreError;
use skein_store::jobs::JobDraft;
use skein_store::jobs::workers::{Worker, WorkerDraft, WorkerStatus, WorkerTally};

use crate::fixtures::{START, World, both};
use crate::queue::{LEASE_MS, SYSTEM, block_on, wanted};

const DAY_MS: i64 = 24 * 3_600 * 1_000;

fn draft(number: u8) -> WorkerDraft {
    WorkerDraft {
        id: WorkerId::new(START, Entropy([number; 10])),
        queues: vec!["llm_call".into(), "rest_call".into()],
        places: 8,
        host: "machine".into(),
        pid: 4_711,
    }
}

fn register(world: &World, number: u8) -> WorkerId {
    let draft = draft(number);
    let id = draft.id;
    world.write(move |tx| tx.register_worker(&SYSTEM, &draft));
    id
}

fn workers(world: &World) -> Vec<Worker> {
    world.read(|tx| tx.workers(&SYSTEM, LEASE_MS))
}

fn statuses(world: &World) -> Vec<WorkerStatus> {
    workers(world).into_iter().map(|worker| worker.status).collect()
}

both! {
    fn a_worker_is_listed_with_what_it_does(world: &World) {
        let (first, second) = (register(world, 1), register(world, 2));
        let viewer = world.anna.clone();
        let job = world.write(move |tx| tx.enqueue(&viewer, &JobDraft::new("llm_call", "{}".into())));
        let holder = world.store.holder(&second.to_string(), LEASE_MS);
        block_on(world.store.claim_jobs(&holder, &[wanted("llm_call", 1)])).unwrap();
        let listed = workers(world);
        assert_eq!((listed[0].id, listed[0].status, listed[0].current_jobs.len()), (first, WorkerStatus::Idle, 0));
        assert_eq!((listed[1].id, listed[1].status), (second, WorkerStatus::Busy));
        assert_eq!(listed[1].current_jobs, [job]);
        let WorkerDraft { queues, places, host, pid, .. } = draft(1);
        let shown = &listed[0];
        assert_eq!((&shown.queues, shown.places, &shown.host, shown.pid), (&queues, places, &host, pid));
        assert_eq!((shown.started_at, shown.last_heartbeat), (START, START));
    }

    fn a_worker_tells_what_it_did_and_that_it_lives(world: &World) {
        let id = register(world, 1);
        world.clock.advance(LEASE_MS - 1);
        world.write(move |tx| tx.renew_worker(&SYSTEM, id, WorkerTally { processed: 5, errors: 1 }));
        world.clock.advance(LEASE_MS - 1);
        world.write(move |tx| tx.renew_worker(&SYSTEM, id, WorkerTally { processed: 2, errors: 0 }));
        let worker = workers(world).remove(0);
        assert_eq!((worker.processed, worker.errors, worker.status), (7, 1, WorkerStatus::Idle));
        assert_eq!(worker.last_heartbeat, START.plus(2 * LEASE_MS - 2));
    }

    fn a_worker_that_is_silent_or_stopped_is_offline_and_forgotten_after_a_day(world: &World) {
        let (silent, stopped, lively) = (register(world, 1), register(world, 2), register(world, 3));
        world.write(move |tx| tx.decommission_worker(&SYSTEM, stopped, WorkerTally { processed: 1, errors: 0 }));
        assert_eq!(statuses(world), [WorkerStatus::Idle, WorkerStatus::Offline, WorkerStatus::Idle]);
        world.clock.advance(LEASE_MS);
        world.write(move |tx| tx.renew_worker(&SYSTEM, lively, WorkerTally::default()));
        assert_eq!(statuses(world), [WorkerStatus::Offline, WorkerStatus::Offline, WorkerStatus::Idle]);
        assert_eq!(world.write(|tx| tx.sweep_workers(&SYSTEM)), 0);
        world.clock.advance(DAY_MS - LEASE_MS);
        assert_eq!(world.write(|tx| tx.sweep_workers(&SYSTEM)), 2);
        assert_eq!(workers(world).remove(0).id, lively);
        let told = world.try_write(move |tx| tx.renew_worker(&SYSTEM, silent, WorkerTally::default()));
        assert!(matches!(told, Err(StoreError::NotFound(_))));
        register(world, 1);
    }

    fn a_job_is_lost_by_its_own_lease_whatever_its_workers_record_says(world: &World) {
        let id = register(world, 1);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.enqueue(&viewer, &JobDraft::new("llm_call", "{}".into())));
        let holder = world.store.holder(&id.to_string(), LEASE_MS);
        let job = block_on(world.store.claim_jobs(&holder, &[wanted("llm_call", 1)])).unwrap().jobs.remove(0);
        // Its record says it is gone, and then there is none: the lease holds.
        world.write(move |tx| tx.decommission_worker(&SYSTEM, id, WorkerTally::default()));
        world.tamper("DELETE FROM workers").unwrap();
        assert_eq!(block_on(world.store.maintain_queue()).unwrap().requeued, 0);
        assert_eq!(block_on(world.store.keep_jobs(&holder, &[job])).unwrap(), []);
        // Its record says it lives: the lease has run out all the same.
        world.clock.advance(LEASE_MS);
        register(world, 2);
        assert_eq!(block_on(world.store.maintain_queue()).unwrap().requeued, 1);
    }

    fn a_worker_is_told_of_once_and_by_skein_alone(world: &World) {
        let id = register(world, 1);
        assert!(world.try_write(|tx| tx.register_worker(&SYSTEM, &draft(1))).is_err(), "an id is never used again");
        let anna: Viewer = world.anna.clone();
        let refused = world.try_write(move |tx| tx.renew_worker(&anna, id, WorkerTally::default()));
        assert!(matches!(refused, Err(StoreError::Forbidden)));
        let anna: Viewer = world.anna.clone();
        assert!(matches!(world.try_read(move |tx| tx.workers(&anna, LEASE_MS)), Err(StoreError::Forbidden)));
    }
}
