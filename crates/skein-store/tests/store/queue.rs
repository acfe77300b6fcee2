//! The queue: turns, delays, leases, epochs, what is put aside, what belongs to a run, and who is woken.

use std::collections::{BTreeMap, BTreeSet};

use postgres::fallible_iterator::FallibleIterator as _;
use serde_json::json;
use skein_core::id::Entropy;
use skein_core::{ExecutionId, JobId, UserId, Viewer};
use skein_store::flow::StreamChunk;
use skein_store::jobs::{
    AfterFailure, ClaimResult, DeadLetter, ExecutionJob, Job, JobDraft, JobHolder, JobState, LeaseMaintenance,
    LeaseTerms, QueueCapacity,
};
use skein_store::{Store, StoreError, StoreOptions};

use crate::fixtures::{Place, START, World, both, user, wait_until};

pub(crate) const SYSTEM: Viewer = Viewer::System("test");
pub(crate) const LEASE_MS: i64 = 90_000;
const QUEUE: &str = "llm_call";

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn wanted(queue: &str, places: usize) -> QueueCapacity {
    QueueCapacity { queue: queue.to_owned(), places }
}

fn claim_of(store: &Store, worker: &str, wanted: &[QueueCapacity]) -> ClaimResult {
    block_on(store.claim_jobs(&store.holder(worker, LEASE_MS), wanted)).unwrap()
}

fn claim(world: &World, places: usize) -> Vec<Job> {
    claim_of(&world.store, "w", &[wanted(QUEUE, places)]).jobs
}

fn claim_one(world: &World) -> Job {
    claim(world, 1).remove(0)
}

fn enqueue_as(world: &World, viewer: &Viewer, draft: JobDraft) -> JobId {
    let viewer = viewer.clone();
    world.write(move |tx| tx.enqueue(&viewer, &draft))
}

fn enqueue(world: &World) -> JobId {
    enqueue_as(world, &world.anna, draft())
}

fn draft() -> JobDraft {
    JobDraft::new(QUEUE, "{}".into())
}

fn later(milliseconds: i64) -> JobDraft {
    JobDraft { run_at: Some(START.plus(milliseconds)), ..draft() }
}

fn run(number: u8) -> ExecutionId {
    ExecutionId::new(START, Entropy([number; 10]))
}

fn of_run(number: u8, step: i64) -> JobDraft {
    JobDraft { run: Some((run(number), step)), ..draft() }
}

#[expect(clippy::needless_pass_by_value, reason = "what is asked about is made on the spot")]
fn is_lost<T>(outcome: Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::LeaseLost(_)))
}

fn completes(world: &World, job: &Job) -> Result<(), StoreError> {
    let job = job.clone();
    world.try_write(move |tx| tx.complete_job(&SYSTEM, &job))
}

/// Another process on the same database, with the same clock.
fn another(world: &World) -> Store {
    let options = StoreOptions::at(world.store.location().clone());
    Store::open(StoreOptions { clock: Some(world.clock.clone()), connections: 2, ..options }).unwrap()
}

/// Lets a job's worker vanish so often.
fn lose(world: &World, times: i64) -> Job {
    for _ in 0..times {
        claim_one(world);
        world.clock.advance(LEASE_MS);
        assert_eq!(block_on(world.store.maintain_queue()).unwrap(), LeaseMaintenance { promoted: 0, requeued: 1 });
    }
    claim_one(world)
}

fn dead(world: &World, viewer: &Viewer) -> Vec<DeadLetter> {
    let viewer = viewer.clone();
    world.read(move |tx| tx.dead_letters(&viewer, None, 10)).rows
}

both! {
    fn owners_take_turns_however_much_one_of_them_queues(world: &World) {
        for _ in 0..50 {
            enqueue_as(world, &world.anna, JobDraft { priority: 100, ..draft() });
        }
        world.clock.advance(1);
        for _ in 0..3 {
            enqueue_as(world, &world.bert, draft());
        }
        let owners: Vec<UserId> = (0..6).map(|_| claim_one(world).owner).collect();
        let berts = owners.iter().filter(|owner| **owner == user(&world.bert)).count();
        assert_eq!(berts, 3, "{owners:?}");
        assert!(owners.windows(2).all(|pair| pair[0] != pair[1]), "{owners:?}");
        assert!(claim(world, 100).iter().all(|job| job.owner == user(&world.anna)));
    }

    fn a_worker_that_lost_its_job_writes_nothing(world: &World) {
        enqueue_as(world, &world.anna, of_run(1, 0));
        let stalled = claim_one(world);
        let piece = |number, text: &str| StreamChunk { number, is_reset: false, text: text.to_owned() };
        let says = |job: &Job, piece: StreamChunk| {
            let job = job.clone();
            world.try_write(move |tx| tx.put_chunks(&SYSTEM, &job, run(1), std::slice::from_ref(&piece)))
        };
        says(&stalled, piece(1, "Her")).unwrap();
        world.clock.advance(LEASE_MS);
        block_on(world.store.maintain_queue()).unwrap();
        let anew = claim_one(world);
        assert!(is_lost(says(&stalled, piece(2, "on"))), "somebody else says it by now");
        assert_eq!(world.read(|tx| tx.last_chunk(run(1))), 1, "so numbers go on where they stopped");
        says(&anew, piece(2, "Stork")).unwrap();
        assert!(is_lost(says(&stalled, piece(3, "s"))));
        assert_eq!(world.read(|tx| tx.chunks_after(run(1), 0)), [piece(1, "Her"), piece(2, "Stork")]);
    }

    fn one_claim_goes_round_the_owners_too(world: &World) {
        let system = Viewer::System("the lowest id of all");
        for viewer in [&world.anna, &world.anna, &world.anna, &world.bert, &system] {
            enqueue_as(world, viewer, draft());
        }
        let first: BTreeSet<UserId> = claim(world, 3).iter().map(|job| job.owner).collect();
        assert_eq!(first.len(), 3);
        assert_eq!(claim(world, 10).len(), 2);
    }

    fn one_claim_takes_from_several_queues_as_there_is_room(world: &World) {
        for queue in ["rest_call", "rest_call", "rest_call", "mcp_tool", "graph_query"] {
            enqueue_as(world, &world.anna, JobDraft::new(queue, "{}".into()));
        }
        let room = [wanted("rest_call", 2), wanted("mcp_tool", 4), wanted("graph_query", 0), wanted("no_such", 1)];
        let taken = claim_of(&world.store, "w", &room).jobs;
        let queues: Vec<&str> = taken.iter().map(|job| job.queue.as_str()).collect();
        assert_eq!(queues, ["rest_call", "rest_call", "mcp_tool"]);
        assert!(taken.iter().all(|job| (job.attempts, job.fence, job.lost) == (1, 1, 0)));
    }

    fn two_processes_that_claim_at_once_take_different_jobs(world: &World) {
        let queued: BTreeSet<JobId> = (0..40)
            .flat_map(|_| [enqueue(world), enqueue_as(world, &world.bert, draft())])
            .collect();
        let other = another(world);
        let taken: Vec<JobId> = std::thread::scope(|scope| {
            let claim_all = |store: &Store, worker: &str| {
                let mut all = Vec::new();
                loop {
                    let jobs = claim_of(store, worker, &[wanted(QUEUE, 3)]).jobs;
                    if jobs.is_empty() {
                        return all;
                    }
                    all.extend(jobs.into_iter().map(|job| job.id));
                }
            };
            let (here, there) = (&world.store, &other);
            let claimers: Vec<_> = [(here, "a"), (there, "b"), (here, "c"), (there, "d")]
                .map(|(store, worker)| scope.spawn(move || claim_all(store, worker)))
                .into();
            claimers.into_iter().flat_map(|claimer| claimer.join().unwrap()).collect()
        });
        assert_eq!(taken.len(), queued.len());
        assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), queued);
    }

    fn a_delayed_job_waits_for_its_moment_and_says_when_that_is(world: &World) {
        let late = enqueue_as(world, &world.anna, later(500));
        assert_eq!(claim_of(&world.store, "w", &[wanted(QUEUE, 1)]), ClaimResult { jobs: vec![], due_in_ms: Some(500) });
        world.clock.advance(499);
        assert_eq!(claim_of(&world.store, "w", &[wanted(QUEUE, 1)]), ClaimResult { jobs: vec![], due_in_ms: Some(1) });
        world.clock.advance(1);
        let claimed = claim_of(&world.store, "w", &[wanted(QUEUE, 2)]);
        assert_eq!((claimed.jobs[0].id, claimed.due_in_ms), (late, None));
        // One that need not wait is not asked about.
        enqueue_as(world, &world.anna, later(9_000));
        enqueue(world);
        assert_eq!(claim_of(&world.store, "w", &[wanted(QUEUE, 1)]).due_in_ms, None);
    }

    fn very_many_that_are_due_at_once_all_come(world: &World) {
        let viewer = world.anna.clone();
        world.write(move |tx| (0..1_100).try_for_each(|_| tx.enqueue(&viewer, &later(10)).map(drop)));
        world.clock.advance(10);
        assert_eq!(claim(world, 200).len(), 64, "one claim makes ready only so many");
        assert_eq!(block_on(world.store.maintain_queue()).unwrap(), LeaseMaintenance { promoted: 1_036, requeued: 0 });
        let mut left = 1_036;
        while left > 0 {
            left -= claim(world, 256).len();
        }
        assert_eq!(claim(world, 1), []);
    }

    fn a_job_handed_over_is_its_holders_alone(world: &World) {
        let (viewer, holder) = (world.anna.clone(), world.store.holder("w", LEASE_MS));
        let handed = world.write(move |tx| tx.enqueue_leased(&viewer, &of_run(1, 2), &holder));
        assert_eq!((handed.attempts, handed.fence, handed.run), (1, 1, Some((run(1), 2))));
        assert_eq!(claim(world, 1), []);
        world.clock.advance(LEASE_MS);
        block_on(world.store.maintain_queue()).unwrap();
        let taken = claim_one(world);
        assert_eq!((taken.id, taken.attempts, taken.lost, taken.fence), (handed.id, 2, 1, 2));
        assert!(is_lost(completes(world, &handed)));
        completes(world, &taken).unwrap();
        assert!(is_lost(completes(world, &taken)), "a job ends once");
    }

    fn a_job_is_passed_on_in_the_transaction_that_ends_it(world: &World) {
        enqueue_as(world, &world.anna, of_run(1, 0));
        let (done, holder) = (claim_one(world), world.store.holder("w", LEASE_MS));
        let held = done.clone();
        world.clock.advance(LEASE_MS - 1);
        let failed = world.try_write({
            let (held, holder) = (done.clone(), holder.clone());
            move |tx| {
                tx.complete_and_enqueue(&SYSTEM, &held, &of_run(1, 1), &holder)?;
                Err::<(), _>(StoreError::Busy)
            }
        });
        assert!(failed.is_err());
        let handing = holder.clone();
        let next = world.write(move |tx| {
            let draft = JobDraft { queue: "rest_call".into(), payload: "2".into(), ..of_run(1, 1) };
            tx.complete_and_enqueue(&SYSTEM, &held, &draft, &handing)
        });
        assert_eq!((next.run, next.attempts, next.lost, next.owner), (Some((run(1), 1)), 1, 0, user(&world.anna)));
        assert!(is_lost(completes(world, &done)), "it was ended");
        let late = done.clone();
        assert!(is_lost(world.try_write(move |tx| tx.complete_and_enqueue(&SYSTEM, &late, &draft(), &holder))));
        // The next one is held for as long as if it had just been claimed, and found again when it is lost.
        world.clock.advance(LEASE_MS - 1);
        assert_eq!(block_on(world.store.maintain_queue()).unwrap().requeued, 0);
        world.clock.advance(1);
        assert_eq!(block_on(world.store.maintain_queue()).unwrap().requeued, 1);
        assert_eq!(claim(world, 1), []);
        let again = claim_of(&world.store, "x", &[wanted("rest_call", 1)]).jobs.remove(0);
        assert_eq!((again.payload.as_str(), again.run, again.attempts, again.lost), ("2", next.run, 2, 1));
        assert!(is_lost(completes(world, &next)));
        completes(world, &again).unwrap();
    }

    fn a_worker_that_lost_a_job_can_do_nothing_with_it(world: &World) {
        enqueue(world);
        let slow = claim_one(world);
        world.clock.advance(LEASE_MS);
        block_on(world.store.maintain_queue()).unwrap();
        for state in ["waiting", "held by another"] {
            if state == "held by another" {
                claim_one(world);
            }
            let late = slow.clone();
            assert!(is_lost(world.try_write(move |tx| tx.heartbeat(&SYSTEM, &late, LEASE_MS))), "{state}");
            let late = slow.clone();
            assert!(is_lost(world.try_write(move |tx| tx.fail_job(&SYSTEM, &late, "x", AfterFailure::Bury))), "{state}");
            let late = slow.clone();
            assert!(is_lost(world.try_write(move |tx| tx.fail_job(&SYSTEM, &late, "x", AfterFailure::RetryAt(START)))), "{state}");
            let late = slow.clone();
            world.write(move |tx| tx.release_jobs(&SYSTEM, std::slice::from_ref(&late)));
            assert!(is_lost(completes(world, &slow)), "{state}");
        }
        assert_eq!(claim(world, 1), [], "what was released late is still held by another");
    }

    fn all_jobs_of_a_process_are_kept_at_once_and_the_lost_ones_named(world: &World) {
        for _ in 0..40 {
            enqueue(world);
        }
        let (jobs, holder) = (claim(world, 40), world.store.holder("w", LEASE_MS));
        let keep = |jobs: &[Job], holder: &JobHolder| block_on(world.store.keep_jobs(holder, jobs)).unwrap();
        world.clock.advance(LEASE_MS - 1);
        assert_eq!(keep(&jobs, &holder), []);
        assert_eq!(keep(&[], &holder), []);
        world.clock.advance(LEASE_MS - 1);
        assert_eq!(block_on(world.store.maintain_queue()).unwrap(), LeaseMaintenance::default());
        // One is done, one was given back and is held under the same name again.
        completes(world, &jobs[3]).unwrap();
        let back = jobs[5].clone();
        world.write(move |tx| tx.release_jobs(&SYSTEM, std::slice::from_ref(&back)));
        assert_eq!(claim_one(world).id, jobs[5].id);
        assert_eq!(keep(&jobs, &holder), [jobs[3].id, jobs[5].id]);
        assert_eq!(keep(&jobs[..2], &world.store.holder("somebody else", LEASE_MS)), [jobs[0].id, jobs[1].id]);
    }

    fn what_an_earlier_start_held_is_lost_at_once_where_one_has_the_database_alone(world: &World) {
        let alone = matches!(world.place, Place::Sqlite(_));
        enqueue(world);
        block_on(world.store.begin_epoch()).unwrap();
        let before = claim_one(world);
        let next = another(world);
        assert_eq!(claim_of(&next, "x", &[wanted(QUEUE, 1)]).jobs, [], "nothing is lost before the lock was taken");
        block_on(next.begin_epoch()).unwrap();
        let taken = claim_of(&next, "x", &[wanted(QUEUE, 1)]).jobs;
        // Where others may be at work, only a lease that ran out is lost.
        assert_eq!(taken.len(), usize::from(alone));
        assert_eq!(is_lost(completes(world, &before)), alone);
        assert_eq!(next.holder("x", LEASE_MS).epoch, if alone { 2 } else { 0 });
        for taken in taken {
            assert_eq!((taken.lost, taken.fence), (1, 2));
            // Not by time: what this epoch holds stays, whenever the clock says it was claimed.
            world.clock.advance(-1_000_000);
            completes(world, &taken).unwrap();
        }
    }

    fn a_copied_store_knows_no_epoch_and_voids_what_it_holds(world: &World) {
        enqueue(world);
        claim_one(world);
        if matches!(world.place, Place::Postgres(_)) {
            return;
        }
        world.tamper("UPDATE jobs SET epoch = 7").unwrap();
        let copy = another(world);
        block_on(copy.begin_epoch()).unwrap();
        assert_eq!(copy.holder("x", LEASE_MS).epoch, 8);
        assert_eq!(claim_of(&copy, "x", &[wanted(QUEUE, 1)]).jobs.len(), 1);
    }

    fn losses_are_counted_apart_from_failures(world: &World) {
        enqueue(world);
        let job = claim_one(world);
        world.write(move |tx| tx.fail_job(&SYSTEM, &job, "timeout", AfterFailure::RetryAt(START)));
        let job = lose(world, 2);
        assert_eq!((job.attempts, job.lost, job.tries()), (4, 2, 2));
    }

    fn what_is_given_back_counts_as_never_claimed_and_what_is_abandoned_as_lost(world: &World) {
        enqueue(world);
        let job = claim_one(world);
        assert_eq!((job.attempts, job.lost, job.tries()), (1, 0, 1));
        let held = job.clone();
        world.write(move |tx| tx.release_jobs(&SYSTEM, std::slice::from_ref(&held)));
        let again = claim_one(world);
        assert_eq!((again.attempts, again.lost, again.tries()), (1, 0, 1));
        assert!(again.fence > job.fence && is_lost(completes(world, &job)));
        world.write(move |tx| tx.abandon_jobs(&SYSTEM, std::slice::from_ref(&again)));
        let again = claim_one(world);
        assert_eq!((again.attempts, again.lost, again.tries()), (2, 1, 1));
    }

    fn what_was_put_aside_outlives_the_jobs_of_its_run(world: &World) {
        let (dead_id, waiting) = (enqueue_as(world, &world.anna, of_run(1, 4)), of_run(1, 5));
        let job = claim_one(world);
        enqueue_as(world, &world.anna, waiting);
        world.write(move |tx| tx.fail_job(&SYSTEM, &job, "no", AfterFailure::Bury));
        assert_eq!(world.write(|tx| tx.cancel_jobs_of(&SYSTEM, run(1))), []);
        let left = world.read(|tx| tx.jobs_of(&SYSTEM, run(1)));
        assert_eq!(left.iter().map(|job| job.id).collect::<Vec<_>>(), [dead_id]);
    }

    fn what_was_put_aside_is_seen_by_its_owner_and_by_skein(world: &World) {
        let id = enqueue_as(world, &world.anna, of_run(1, 4));
        let job = claim_one(world);
        let held = job.clone();
        world.write(move |tx| tx.fail_job(&SYSTEM, &held, "no\0such key", AfterFailure::Bury));
        assert_eq!(dead(world, &world.bert), []);
        let found = dead(world, &world.anna);
        assert_eq!((found[0].reason.as_deref().unwrap(), found[0].run, found[0].died_at), ("nosuch key", Some((run(1), 4)), START));
        assert_eq!(dead(world, &SYSTEM), found);
        let after = world.read(move |tx| tx.dead_letters(&SYSTEM, Some(id), 10)).rows;
        assert_eq!(after, []);
        assert!(is_lost(completes(world, &job)));
    }

    fn what_was_put_aside_is_nobodys_to_claim_and_forgotten_in_time(world: &World) {
        let id = enqueue(world);
        let job = claim_one(world);
        world.clock.advance(5);
        world.write(move |tx| tx.fail_job(&SYSTEM, &job, "no", AfterFailure::Bury));
        world.clock.advance(LEASE_MS);
        block_on(world.store.maintain_queue()).unwrap();
        assert_eq!(claim(world, 1), []);
        assert_eq!(world.write(|tx| tx.sweep_dead_letters(&SYSTEM, LEASE_MS + 1)), 0);
        assert_eq!(dead(world, &SYSTEM).len(), 1);
        let other = enqueue(world);
        assert_eq!(world.write(|tx| tx.sweep_dead_letters(&SYSTEM, LEASE_MS)), 1);
        assert_eq!(dead(world, &SYSTEM), []);
        assert_eq!((claim_one(world).id, other == id), (other, false));
    }

    fn everybody_is_told_how_many_jobs_of_theirs_wait_for_a_worker(world: &World) {
        enqueue(world);
        enqueue(world);
        enqueue_as(world, &world.anna, later(500));
        enqueue_as(world, &world.bert, draft());
        let waiting = |viewer: &Viewer, queue: &'static str, most| {
            let viewer = viewer.clone();
            world.read(move |tx| tx.queued_jobs(&viewer, queue, most))
        };
        assert_eq!((waiting(&world.anna, QUEUE, 10), waiting(&world.anna, QUEUE, 1)), (2, 1));
        assert_eq!((waiting(&world.bert, QUEUE, 10), waiting(&world.bert, "rest_call", 10)), (1, 0));
        assert_eq!(claim(world, 3).len(), 3);
        assert_eq!(waiting(&world.anna, QUEUE, 10), 0, "what a worker holds waits no more");
    }

    fn a_run_is_cancelled_with_all_its_jobs_also_those_under_way(world: &World) {
        let under_way = enqueue_as(world, &world.anna, of_run(1, 0));
        let job = claim_one(world);
        enqueue_as(world, &world.anna, JobDraft { run: Some((run(1), 1)), ..later(500) });
        enqueue_as(world, &world.anna, of_run(1, 2));
        let anothers = enqueue_as(world, &world.anna, of_run(2, 0));
        let states = world.read(|tx| tx.jobs_of(&SYSTEM, run(1)));
        let mut states: Vec<_> = states.iter().map(|job| (job.step, job.state, job.worker.as_deref())).collect();
        states.sort_by_key(|(step, ..)| *step);
        let expected = [(0, JobState::Leased, Some("w")), (1, JobState::Delayed, None), (2, JobState::Queued, None)];
        assert_eq!(states, expected);
        let viewer = world.anna.clone();
        assert!(matches!(world.try_write(move |tx| tx.cancel_jobs_of(&viewer, run(1))), Err(StoreError::Forbidden)));
        assert_eq!(world.write(|tx| tx.cancel_jobs_of(&SYSTEM, run(1))), [under_way]);
        assert!(is_lost(completes(world, &job)));
        assert_eq!(world.read(|tx| tx.jobs_of(&SYSTEM, run(1))), []);
        assert_eq!(claim_one(world).id, anothers);
        world.clock.advance(500);
        assert_eq!(claim(world, 1), []);
    }

    fn the_jobs_of_a_paused_run_are_found_by_nobody_until_it_goes_on_and_are_due_when_they_were(world: &World) {
        let queued = enqueue_as(world, &world.anna, of_run(1, 0));
        let delayed = enqueue_as(world, &world.anna, JobDraft { run: Some((run(1), 1)), ..later(500) });
        let under_way = enqueue_as(world, &world.anna, JobDraft { priority: 1, ..of_run(1, 2) });
        let held = claim_one(world);
        assert_eq!(held.id, under_way);
        let anothers = enqueue_as(world, &world.anna, of_run(2, 0));
        let before = world.read(|tx| tx.jobs_of(&SYSTEM, run(1)));
        let viewer = world.anna.clone();
        assert!(matches!(world.try_write(move |tx| tx.pause_jobs_of(&viewer, run(1))), Err(StoreError::Forbidden)));
        for _ in 0..2 {
            world.write(|tx| tx.pause_jobs_of(&SYSTEM, run(1)));
        }
        let viewer = world.anna.clone();
        let parked = world.write(move |tx| tx.enqueue_paused(&viewer, &of_run(1, 3)));
        world.clock.advance(1_000);
        assert_eq!(claim_one(world).id, anothers, "whoever comes after them is not kept waiting");
        assert_eq!(claim(world, 8), [], "and nothing else is found");

        // What was claimed before is parked as if it had not been; whoever lost it parks nothing.
        let job = held.clone();
        world.write(move |tx| tx.pause_job(&SYSTEM, &job));
        let job = held.clone();
        assert!(is_lost(world.try_write(move |tx| tx.pause_job(&SYSTEM, &job))));
        assert_eq!(claim(world, 8), []);
        world.clock.advance(1_000_000_000_000);
        assert_eq!(claim(world, 8), [], "no clock ever comes there");

        let viewer = world.anna.clone();
        assert!(matches!(world.try_write(move |tx| tx.resume_jobs_of(&viewer, run(1))), Err(StoreError::Forbidden)));
        assert!(world.write(|tx| tx.resume_jobs_of(&SYSTEM, run(1))));
        assert!(!world.write(|tx| tx.resume_jobs_of(&SYSTEM, run(1))), "once is enough");
        let after = world.read(|tx| tx.jobs_of(&SYSTEM, run(1)));
        let moments = |jobs: &[ExecutionJob]| jobs.iter().map(|job| (job.id, job.run_at)).collect::<BTreeMap<_, _>>();
        let (mut after, before) = (moments(&after), moments(&before));
        assert_eq!(after.remove(&parked), Some(START));
        assert_eq!(after, before, "each has the moment it had");
        let claimed = claim(world, 8).into_iter().map(|job| (job.id, (job.attempts, job.fence))).collect::<BTreeMap<_, _>>();
        let expected = [(queued, (1, 1)), (delayed, (1, 1)), (under_way, (1, 2)), (parked, (1, 1))];
        assert_eq!(claimed, BTreeMap::from(expected));
    }

    fn a_parked_job_that_is_not_due_yet_waits_on_when_its_run_goes_on(world: &World) {
        enqueue_as(world, &world.anna, JobDraft { run: Some((run(1), 1)), ..later(500) });
        world.write(|tx| tx.pause_jobs_of(&SYSTEM, run(1)));
        world.write(|tx| tx.resume_jobs_of(&SYSTEM, run(1)));
        assert_eq!(claim(world, 1), []);
        world.clock.advance(500);
        assert_eq!(claim(world, 1).len(), 1);
    }

    fn how_jobs_are_held_is_a_setting(world: &World) {
        let terms = || world.read(|tx| tx.lease_terms(&SYSTEM));
        assert_eq!(terms(), LeaseTerms { heartbeat_ms: 30_000, lease_ms: 90_000, lost_max: 3 });
        world.write(|tx| {
            tx.set_setting(&SYSTEM, "workers.heartbeatSeconds", &json!(60), None)?;
            tx.set_setting(&SYSTEM, "workers.lostMax", &json!(1), None)
        });
        assert_eq!(terms(), LeaseTerms { heartbeat_ms: 60_000, lease_ms: 120_000, lost_max: 1 });
    }

    fn workers_are_woken_by_ready_jobs_and_by_nothing_else(world: &World) {
        let mut wake = world.store.job_wake().subscribe();
        if matches!(world.place, Place::Sqlite(_)) {
            wake.borrow_and_update();
            enqueue_as(world, &world.anna, later(60_000));
            world.note("a fact");
            assert_eq!(claim(world, 1), []);
            assert!(!wake.has_changed().unwrap(), "nothing became ready");
        }
        wake.borrow_and_update();
        enqueue(world);
        wait_until("somebody is woken", || wake.has_changed().unwrap());
    }

    fn a_job_belongs_to_nobody_who_may_not_write(world: &World) {
        enqueue(world);
        let job = claim_one(world);
        let (viewer, held) = (world.anna.clone(), job.clone());
        assert!(matches!(world.try_write(move |tx| tx.complete_job(&viewer, &held)), Err(StoreError::Forbidden)));
        let (viewer, held) = (world.anna.clone(), job.clone());
        assert!(matches!(world.try_write(move |tx| tx.heartbeat(&viewer, &held, 1)), Err(StoreError::Forbidden)));
        let viewer = world.anna.clone();
        assert!(matches!(world.try_write(move |tx| tx.requeue_lost(&viewer)), Err(StoreError::Forbidden)));
        completes(world, &job).unwrap();
    }
}

#[test]
fn a_job_that_is_ready_is_told_to_other_servers_on_postgres() {
    let world = World::postgres();
    let url = match &world.place {
        Place::Postgres(database) => database.url().to_owned(),
        Place::Sqlite(_) => unreachable!("it was made on PostgreSQL"),
    };
    let mut listener = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    listener.batch_execute("LISTEN skein_jobs").unwrap();
    let other = another(&world);
    let mut wake = other.job_wake().subscribe();
    wake.borrow_and_update();
    enqueue(&world);
    let told = listener.notifications().blocking_iter().next().unwrap();
    assert_eq!(told.map(|told| told.channel().to_owned()).as_deref(), Some("skein_jobs"));
    wait_until("the other server is woken", || wake.has_changed().unwrap());
}
