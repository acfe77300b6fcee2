//! A seeded simulation: the real moves of the real engine, on SQLite with a stopped clock, in any order and with
//! everything that goes wrong.
//!
//! A schedule draws what happens next: a worker claims, begins a call, brings back what came of it; commits, or dies right
//! before or right after; is slow, and delivers late or twice; leases run out; the whole process dies and another takes
//! over in the same moment. People answer when they like, twice at once, or too late; they pause runs and let them go on. In
//! the end every run must have ended, and what is written down must be what follows from what was seen from outside: that is
//! worked out by [`oracle`], which knows of no pause.

mod deadlines;
mod definitions;
mod environment;
mod ledger;
mod observations;
mod oracle;
mod retention;
mod reviews;
mod schedule;
mod script;
mod worker_pool;

use std::ops::Range;

use serde_json::Value;
use skein_core::flow::execution::machine::Transition;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::Phase;

use crate::engine::Engine;
use crate::flow::simulation::environment::Environment;
use crate::flow::simulation::schedule::Schedule;

/// What can be done wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlantedBug {
    /// A worker that lost its job may still bring something back.
    NoFence,
    /// A call is queued twice.
    DoubleEnqueue,
    /// Nobody remembers that a call was begun.
    LostIntent,
    /// Whoever makes a call breaks off in the middle.
    PanickingCall,
    /// A step that is skipped gives an empty text.
    EmptyForSkipped,
    /// What a person changed in a call they approved is not what is called.
    ForgottenEdit,
    /// A run that is paused goes on.
    UnheardPause,
}

impl PlantedBug {
    pub(crate) fn is_in(self, engine: &Engine) -> bool {
        engine.parts().worker_pool.planted.get() == Some(&self)
    }

    pub(crate) fn with_empty_outputs(self, engine: &Engine, mut moved: Transition) -> Transition {
        let skipped = moved.state.steps.iter_mut().filter(|step| step.phase == Phase::Skipped && self.is_in(engine));
        skipped.for_each(|step| step.output = Value::String(String::new()));
        moved
    }

    pub(crate) fn without_edits(self, engine: &Engine, decision: Decision) -> Decision {
        match decision {
            Decision::Approve { scope, .. } if self.is_in(engine) => Decision::Approve { inputs: None, scope },
            decision => decision,
        }
    }
}

/// Draws from a seed, the same every time.
pub(crate) struct SeededRandom(pub(crate) u64);

impl SeededRandom {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// How many schedules each half of a run of the tests goes through; more by `SKEIN_SCHEDULES`.
const SCHEDULES: u64 = 1_000;
/// A planted bug is found within so many.
const FOUND_WITHIN: u64 = 200;

async fn first_wrong(bug: Option<PlantedBug>, seeds: Range<u64>) -> Option<(u64, String)> {
    let mut world = Environment::new(bug).await;
    for seed in seeds {
        if let Err(problem) = Schedule::begin(&mut world, seed).await.play().await {
            return Some((seed, problem));
        }
    }
    None
}

/// Two halves, so that two processors share them.
async fn survive(half: u64) {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests asks for more")]
    let asked = std::env::var("SKEIN_SCHEDULES");
    let schedules = asked.ok().and_then(|text| text.parse().ok()).unwrap_or(SCHEDULES);
    let begun = std::time::Instant::now();
    if let Some((seed, problem)) = first_wrong(None, half * schedules..(half + 1) * schedules).await {
        panic!("schedule {seed}: {problem}");
    }
    eprintln!("{schedules} schedules in {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_survive_whatever_happens_to_those_who_work_on_them() {
    survive(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_survive_whatever_else_happens_to_those_who_work_on_them() {
    survive(1).await;
}

async fn is_found(bug: PlantedBug) {
    let found = first_wrong(Some(bug), 0..FOUND_WITHIN).await;
    let (seed, problem) = found.unwrap_or_else(|| panic!("{bug:?} was not found in {FOUND_WITHIN} schedules"));
    // What is kept of a run is compared with its rows in every test; a bug is to be found without that.
    assert!(!problem.contains("changed past what is kept of it"), "{bug:?}, schedule {seed}: {problem}");
    eprintln!("{bug:?} was found by schedule {seed}: {}", problem.lines().next().unwrap_or_default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_fence_is_found() {
    is_found(PlantedBug::NoFence).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_queued_twice_is_found() {
    is_found(PlantedBug::DoubleEnqueue).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_intent_is_found() {
    is_found(PlantedBug::LostIntent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skipped_step_that_gives_an_empty_text_is_found() {
    is_found(PlantedBug::EmptyForSkipped).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_is_forgotten_is_found() {
    is_found(PlantedBug::ForgottenEdit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_that_is_not_heard_is_found() {
    is_found(PlantedBug::UnheardPause).await;
}
