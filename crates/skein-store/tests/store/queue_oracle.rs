//! A queue kept naively in memory: whatever is queued, claimed, failed and given back, the store takes the same jobs in the
//! same order, and nobody who waits is passed over twice by the same owner.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use skein_core::{JobId, Millis, UserId, Viewer};
use skein_store::clock::Clock as _;
use skein_store::jobs::{AfterFailure, Job, JobDraft};

use crate::fixtures::World;
use crate::queue::{LEASE_MS, SYSTEM, block_on, wanted};

const QUEUES: [&str; 2] = ["llm_call", "rest_call"];

#[derive(Debug, Clone)]
enum Deed {
    Enqueue { owner: u8, queue: usize, priority: i64, delay: i64 },
    Claim { places: [usize; 2] },
    Complete { which: usize },
    Retry { which: usize, delay: i64 },
    Release { which: usize },
    Pass { milliseconds: i64 },
    LoseAll,
}

fn deed() -> impl Strategy<Value = Deed> {
    let delay = || prop_oneof![3 => Just(0_i64), 1 => 0..50_i64];
    prop_oneof![
        // One owner queues far more than the others.
        8 => (prop_oneof![4 => Just(3_u8), 3 => 0..6_u8], 0..2_usize, 0..3_i64, delay())
            .prop_map(|(owner, queue, priority, delay)| Deed::Enqueue { owner, queue, priority, delay }),
        5 => [0..3_usize, 0..3_usize].prop_map(|places| Deed::Claim { places }),
        2 => (0..9_usize).prop_map(|which| Deed::Complete { which }),
        1 => (0..9_usize, delay()).prop_map(|(which, delay)| Deed::Retry { which, delay }),
        1 => (0..9_usize).prop_map(|which| Deed::Release { which }),
        2 => (1..40_i64).prop_map(|milliseconds| Deed::Pass { milliseconds }),
        1 => Just(Deed::LoseAll),
    ]
}

struct Waiting {
    owner: UserId,
    queue: usize,
    priority: i64,
    run_at: Millis,
}

struct Life<'a> {
    world: &'a World,
    waiting: BTreeMap<JobId, Waiting>,
    held: Vec<(Job, Waiting)>,
    last: [Option<UserId>; 2],
    /// Who was served while somebody waits, by queue and whoever waits.
    passed_over: BTreeMap<(usize, UserId), BTreeSet<UserId>>,
}

impl Life<'_> {
    fn now(&self) -> Millis {
        self.world.clock.now()
    }

    fn ready(&self, queue: usize) -> impl Iterator<Item = (&JobId, &Waiting)> {
        let now = self.now();
        self.waiting.iter().filter(move |(_, job)| job.queue == queue && job.run_at <= now)
    }

    /// The best job of the next owner after the last one, by going through everything.
    fn next(&self, queue: usize) -> Option<JobId> {
        let owners: BTreeSet<UserId> = self.ready(queue).map(|(_, job)| job.owner).collect();
        let after = owners.iter().find(|owner| self.last[queue].is_none_or(|last| **owner > last));
        let owner = after.or(owners.first())?;
        let theirs = self.ready(queue).filter(|(_, job)| job.owner == *owner);
        theirs.min_by_key(|(id, job)| (-job.priority, job.run_at, **id)).map(|(id, _)| *id)
    }

    fn claim(&mut self, places: [usize; 2]) -> Result<(), TestCaseError> {
        let room: Vec<_> = QUEUES.iter().zip(places).map(|(queue, places)| wanted(queue, places)).collect();
        let holder = self.world.store.holder("w", LEASE_MS);
        let claimed = block_on(self.world.store.claim_jobs(&holder, &room)).unwrap();
        let mut jobs = claimed.jobs.into_iter();
        for (queue, places) in places.into_iter().enumerate() {
            for _ in 0..places {
                let Some(expected) = self.next(queue) else { break };
                let job = jobs.next();
                prop_assert_eq!(job.as_ref().map(|job| job.id), Some(expected));
                let (job, kept) = (job.expect("just compared"), self.waiting.remove(&expected).unwrap());
                self.serve(queue, job.owner)?;
                self.held.push((job, kept));
            }
        }
        prop_assert_eq!(jobs.next(), None);
        Ok(())
    }

    /// Nobody who waits sees the same owner served twice before their own turn.
    fn serve(&mut self, queue: usize, served: UserId) -> Result<(), TestCaseError> {
        self.last[queue] = Some(served);
        let waiting: BTreeSet<UserId> = self.ready(queue).map(|(_, job)| job.owner).collect();
        self.passed_over.retain(|(of, owner), _| *of != queue || (waiting.contains(owner) && *owner != served));
        for owner in waiting.into_iter().filter(|owner| *owner != served) {
            let is_first = self.passed_over.entry((queue, owner)).or_default().insert(served);
            prop_assert!(is_first, "{} was passed over twice by {}", owner, served);
        }
        Ok(())
    }

    fn enqueue(&mut self, owner: u8, queue: usize, priority: i64, delay: i64) {
        let (owner, run_at) = (UserId::from_bytes([owner; 16]), self.now().plus(delay));
        let draft = JobDraft { priority, run_at: Some(run_at), ..JobDraft::new(QUEUES[queue], "{}".into()) };
        let id = self.world.write(move |tx| tx.enqueue(&Viewer::User(owner), &draft));
        self.waiting.insert(id, Waiting { owner, queue, priority, run_at });
    }

    fn take_held(&mut self, which: usize) -> Option<(Job, Waiting)> {
        (which < self.held.len()).then(|| self.held.swap_remove(which))
    }

    fn perform(&mut self, deed: &Deed) -> Result<(), TestCaseError> {
        match *deed {
            Deed::Enqueue { owner, queue, priority, delay } => self.enqueue(owner, queue, priority, delay),
            Deed::Claim { places } => self.claim(places)?,
            Deed::Complete { which } => {
                if let Some((job, _)) = self.take_held(which) {
                    self.world.write(move |tx| tx.complete_job(&SYSTEM, &job));
                }
            }
            Deed::Retry { which, delay } => {
                if let Some((job, kept)) = self.take_held(which) {
                    let (id, at) = (job.id, self.now().plus(delay));
                    self.world.write(move |tx| tx.fail_job(&SYSTEM, &job, "again", AfterFailure::RetryAt(at)));
                    self.waiting.insert(id, Waiting { run_at: at, ..kept });
                }
            }
            Deed::Release { which } => {
                if let Some((job, kept)) = self.take_held(which) {
                    let id = job.id;
                    self.world.write(move |tx| tx.release_jobs(&SYSTEM, std::slice::from_ref(&job)));
                    self.waiting.insert(id, kept);
                }
            }
            Deed::Pass { milliseconds } => self.world.clock.advance(milliseconds),
            Deed::LoseAll => {
                self.world.clock.advance(LEASE_MS);
                let tended = block_on(self.world.store.maintain_queue()).unwrap();
                prop_assert_eq!(tended.requeued, self.held.len() as u64);
                self.waiting.extend(self.held.drain(..).map(|(job, kept)| (job.id, kept)));
            }
        }
        Ok(())
    }
}

fn live(world: &World, deeds: &[Deed]) -> Result<(), TestCaseError> {
    let life =
        Life { world, waiting: BTreeMap::new(), held: Vec::new(), last: [None; 2], passed_over: BTreeMap::new() };
    deeds.iter().try_fold(life, |mut life, deed| life.perform(deed).map(|()| life)).map(drop)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_queue_on_sqlite_gives_turns_as_a_plain_list(deeds in prop::collection::vec(deed(), 1..80)) {
        live(&World::sqlite(), &deeds)?;
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn a_queue_on_postgres_gives_turns_as_a_plain_list(deeds in prop::collection::vec(deed(), 1..80)) {
        live(&World::postgres(), &deeds)?;
    }
}
