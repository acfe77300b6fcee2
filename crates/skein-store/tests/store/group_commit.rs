//! Functions that lock what they rely on and share transactions where several can: each is answered as if it were alone.

use std::sync::mpsc::{Sender, channel};

use skein_core::account::idempotency::IdempotencyKey;
use skein_core::{RuleViolation, Viewer};
use skein_store::jobs::{Job, JobDraft};
use skein_store::operations::{OperationState, RepeatCheck};
use skein_store::{LockTarget, StoreError, Tx};

use crate::fixtures::{World, both, note};

const SYSTEM: Viewer = Viewer::System("test");
const LEASE_MS: i64 = 90_000;

pub(crate) type Deed = Box<dyn FnMut(&mut Tx<'_>) -> Result<u64, StoreError> + Send>;

pub(crate) fn deed(run: impl FnMut(&mut Tx<'_>) -> Result<u64, StoreError> + Send + 'static) -> Deed {
    Box::new(run)
}

/// What comes of functions that gather while everybody who could run them is held up; and how many commits it took.
fn gathered(world: &World, deeds: Vec<Deed>) -> (Vec<Result<u64, StoreError>>, u64) {
    gathered_about(world, deeds.into_iter().map(|deed| (None, deed)).collect())
}

/// [`gathered`] of functions that need locks.
pub(crate) fn gathered_about(
    world: &World,
    deeds: Vec<(Option<LockTarget>, Deed)>,
) -> (Vec<Result<u64, StoreError>>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (held, holding) = hold_up(world).await;
        let before = world.store.statistics().commits;
        let waiting: Vec<_> = deeds.into_iter().map(|(about, deed)| submit(world, about, deed)).collect();
        // Each is handed in before this goes on.
        tokio::task::yield_now().await;
        let holders = held.len() as u64;
        drop(held);
        let mut came = Vec::new();
        for outcome in waiting {
            came.push(outcome.await.unwrap());
        }
        // One of them may end after all that waited was served by the other.
        for holder in holding {
            holder.await.unwrap().unwrap();
        }
        (came, world.store.statistics().commits.saturating_sub(before + holders))
    })
}

type Outcome = tokio::task::JoinHandle<Result<u64, StoreError>>;

fn submit(world: &World, about: Option<LockTarget>, deed: Deed) -> Outcome {
    let store = world.store.clone();
    tokio::spawn(async move { store.write_locking(1, about, deed).await.map(|committed| committed.value) })
}

/// Keeps every connection busy that serves such functions, until what comes back first is dropped.
async fn hold_up(world: &World) -> (Vec<Sender<()>>, Vec<Outcome>) {
    let at_once = if world.store.is_alone() { 1 } else { 4 };
    let serving = std::thread::available_parallelism().map_or(1, usize::from).min(at_once);
    let (mut held, mut holding) = (Vec::new(), Vec::new());
    for _ in 0..serving {
        let (entered, has_entered) = tokio::sync::oneshot::channel();
        let (release, released) = channel::<()>();
        let mut entered = Some(entered);
        holding.push(submit(
            world,
            None,
            deed(move |_| {
                let _ = entered.take().map(|entered| entered.send(()));
                let _ = released.recv();
                Ok(0)
            }),
        ));
        has_entered.await.unwrap();
        held.push(release);
    }
    (held, holding)
}

fn queue(world: &World, payload: u64) -> Deed {
    let viewer = world.anna.clone();
    deed(move |tx| {
        tx.enqueue(&viewer, &JobDraft::new("llm_call", payload.to_string()))?;
        tx.append_item(&viewer, &note(&payload.to_string(), None))?;
        Ok(payload)
    })
}

fn claim_all(world: &World) -> Vec<Job> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let claim = || runtime.block_on(world.store.claim_job("llm_call", "w", LEASE_MS)).unwrap();
    let mut jobs: Vec<Job> = std::iter::from_fn(claim).collect();
    jobs.sort_by_key(|job| job.payload.clone());
    jobs
}

fn payloads(world: &World) -> Vec<String> {
    claim_all(world).into_iter().map(|job| job.payload).collect()
}

both! {
    fn what_gathers_is_written_whole(world: &World) {
        let (came, _) = gathered(world, (0..8).map(|number| queue(world, number)).collect());
        let came: Vec<u64> = came.into_iter().map(Result::unwrap).collect();
        assert_eq!(came, (0..8).collect::<Vec<_>>(), "each is told what came of its own");
        assert_eq!(payloads(world), ["0", "1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn what_is_refused_refuses_nobody_else(world: &World) {
        let anna = world.anna.clone();
        let refused = deed(move |tx| {
            tx.enqueue(&anna, &JobDraft::new("llm_call", "9".to_owned()))?;
            Err(RuleViolation::new("BR-EXEC-003", "no", "do not").into())
        });
        let panicking = deed(|_| panic!("on purpose"));
        let (came, _) = gathered(world, vec![queue(world, 1), refused, panicking, queue(world, 2)]);
        assert!(matches!(came[1], Err(StoreError::Rule(_))), "{came:?}");
        assert!(matches!(came[2], Err(StoreError::Panicked(_))), "{came:?}");
        assert_eq!((came[0].as_ref().ok(), came[3].as_ref().ok()), (Some(&1), Some(&2)));
        assert_eq!(payloads(world), ["1", "2"]);
    }

    fn only_who_lost_a_job_is_told_so(world: &World) {
        gathered(world, (1..4).map(|number| queue(world, number)).collect());
        let mut held = claim_all(world);
        world.clock.advance(LEASE_MS);
        assert_eq!(world.write(|tx| tx.requeue_lost(&SYSTEM)), 3);
        let again = claim_all(world);
        // The second is finished by whoever lost it, the others by who holds them.
        held[0] = again[0].clone();
        held[2] = again[2].clone();
        let finish = |job: &Job| {
            let job = job.clone();
            deed(move |tx| tx.complete_job(&SYSTEM, &job).map(|()| 1))
        };
        let (came, _) = gathered(world, held.iter().map(finish).collect());
        assert!(matches!(came[1], Err(StoreError::LeaseLost(_))), "{came:?}");
        assert!(came[0].is_ok() && came[2].is_ok(), "{came:?}");
        world.clock.advance(LEASE_MS);
        assert_eq!(world.write(|tx| tx.requeue_lost(&SYSTEM)), 1, "the second is still to be done");
    }

    fn br_idemp_003_of_two_requests_that_gather_one_is_carried_out_holds(world: &World) {
        let key: IdempotencyKey = "a1b2c3d4-e5f6-4890-abcd-ef1234567890".parse().unwrap();
        let request = key.mark(world.anna.owner(), "POST", "/x", b"");
        let asking = || {
            let (anna, request) = (world.anna.clone(), request);
            deed(move |tx| match tx.repeat(&anna, &request)? {
                RepeatCheck::Of(_) => Ok(1),
                RepeatCheck::First => {
                    tx.append_item(&anna, &note("once", None))?;
                    let done = OperationState::Completed { result: "{}".to_owned() };
                    tx.start_operation(&anna, "item.append", &done, Some(&request)).map(|_| 0)
                }
            })
        };
        let (came, _) = gathered(world, vec![asking(), queue(world, 7), asking()]);
        let mut came: Vec<u64> = came.into_iter().map(Result::unwrap).collect();
        came.sort_unstable();
        assert_eq!(came, [0, 1, 7], "one is carried out, the other is told of it, and nobody else is disturbed");
    }

    fn a_read_writes_nothing(world: &World) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (anna, bert) = (world.anna.clone(), world.bert.clone());
        let at_once = runtime.block_on(world.store.look_up(move |tx| tx.append_item(&anna, &note("no", None)).map(drop)));
        let later = runtime.block_on(world.store.look_up(move |tx| tx.enqueue(&bert, &JobDraft::new("llm_call", "1".to_owned())).map(drop)));
        assert!(at_once.is_err() && later.is_err(), "{at_once:?} {later:?}");
        assert!(payloads(world).is_empty());
    }
}

#[test]
fn what_gathers_takes_one_commit_on_postgres() {
    let world = World::postgres();
    let (came, commits) = gathered(&world, (0..20).map(|number| queue(&world, number)).collect());
    assert!(came.iter().all(Result::is_ok), "{came:?}");
    assert_eq!(commits, 1);
}
