//! One schedule: what happens next is drawn, until every run has ended.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skein_core::flow::execution::input::CallSite;
use skein_core::flow::execution::review::Decision;
use skein_core::{ExecutionId, Millis, NodeId};
use skein_store::StoreError;
use skein_store::clock::Clock as _;
use skein_store::jobs::{Job, JobHolder, QueueCapacity as WantedJobs};

use crate::error::EngineError;
use crate::flow::execution::transaction::{PostCommit, WorkerSlot};
use crate::flow::review::decisions::ShownReview;
use crate::flow::simulation::environment::Environment;
use crate::flow::simulation::observations::Observations;
use crate::flow::simulation::script::Script;
use crate::flow::simulation::{SeededRandom, definitions, ledger};
use crate::flow::{AnswerTarget, ExecutionRequest, NewAnswers, SYSTEM};
use crate::tool_call::claim::ClaimOutcome;
use crate::tool_call::execute::CallResponse;
use crate::tool_call::record::{self, CallOutcome, PendingCall};

const LEASE_MS: i64 = 9_000;
pub(super) const LOST_MAX: i64 = 4;
const WORKERS: usize = 3;
/// More than a schedule leads to at once.
const REVIEWS_MAX: usize = 50;
/// Far more than any run needs when nothing goes wrong any more.
const DRAINED_WITHIN: usize = 100;

/// What a worker has in its hands.
#[derive(Clone)]
enum HeldWork {
    Claimed { worker: usize, job: Job },
    Called { worker: usize, call: Arc<PendingCall> },
}

impl HeldWork {
    fn worker(&self) -> usize {
        let (Self::Claimed { worker, .. } | Self::Called { worker, .. }) = self;
        *worker
    }
}

/// What becomes of whoever is about to commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommitFate {
    Lives,
    DiesBefore,
    DiesAfter,
    DeliversTwice,
}

/// A run that is looked after.
pub(super) struct ObservedExecution {
    pub(super) run: ExecutionId,
    pub(super) node: Option<NodeId>,
    pub(super) context: Map<String, Value>,
    /// Nothing of it, nor of what it started, may go out.
    is_paused: bool,
}

pub(super) struct Schedule<'a> {
    pub(super) world: &'a mut Environment,
    dice: SeededRandom,
    pub(super) since: Millis,
    pub(super) runs: Vec<ObservedExecution>,
    held: Vec<HeldWork>,
    pub(super) noted: Observations,
}

impl<'a> Schedule<'a> {
    pub(super) async fn begin(world: &'a mut Environment, seed: u64) -> Self {
        world.clock.advance(1_000);
        let since = world.clock.now();
        let noted = Observations::new(Script { seed }, world.tools.clone(), world.library.clone());
        let (runs, held) = (Vec::new(), Vec::new());
        let mut schedule = Self { world, dice: SeededRandom(seed), since, runs, held, noted };
        schedule.start().await;
        schedule
    }

    pub(super) async fn play(mut self) -> Result<(), String> {
        for _ in 0..10 + self.dice.below(25) {
            self.world.clock.advance(1);
            self.happen().await?;
            if self.dice.one_in(4) {
                ledger::check_nodes(&self).await?;
            }
        }
        self.drain().await?;
        ledger::note_ends(&mut self).await;
        ledger::audit(&self).await.map_err(|problem| format!("{problem}\n{}", self.noted.told()))
    }

    async fn start(&mut self) {
        let definition = Arc::new(definitions::process(&mut self.dice, &self.world.tools, "drawn"));
        let process = self.world.define(&definition).await;
        let Value::Object(context) = json!({ "x": "x", "y": { "list": ["first", 2] } }) else { unreachable!() };
        let (engine, caller) = (self.world.engine.clone(), self.world.caller.clone());
        let given = context.clone();
        let (run, node) = if self.dice.one_in(4) {
            let conversation = self.world.conversation().await;
            let wanted = AnswerTarget::After { turn: None, parent: None, sources: Vec::new() };
            let new = NewAnswers {
                wanted,
                processes: vec![process],
                samples: 1,
                make_active: true,
                remember_process: true,
                context,
            };
            let begun = engine.answer(&caller, self.world.request(), conversation, new).await.unwrap().value.begun;
            let (grown, run) = &begun[0];
            (*run, Some(grown.node.seen.row.id))
        } else {
            let new = ExecutionRequest { context, priority: 0 };
            (engine.execute(&caller, self.world.request(), process, new).await.unwrap().value, None)
        };
        self.noted.begins(run, process, definition);
        self.runs.push(ObservedExecution { run, node, context: given, is_paused: false });
    }

    async fn happen(&mut self) -> Result<(), String> {
        match self.dice.below(13) {
            0..3 => self.claim().await?,
            3..8 => self.go_on().await?,
            8 => self.pass_time().await?,
            9 => self.beat().await,
            10 => self.decide().await?,
            11 => self.pause().await,
            _ if self.dice.one_in(3) => self.crash().await,
            _ if self.dice.one_in(8) => self.cancel().await,
            _ => {}
        }
        Ok(())
    }

    fn holder(&self, worker: usize) -> JobHolder {
        self.world.store.holder(&format!("worker {worker}"), LEASE_MS)
    }

    async fn claim(&mut self) -> Result<(), String> {
        let (worker, places) = (self.dice.below(WORKERS), 1 + self.dice.below(3));
        let jobs = self.claimed(worker, places).await?;
        self.held.extend(jobs.into_iter().map(|job| HeldWork::Claimed { worker, job }));
        Ok(())
    }

    async fn claimed(&mut self, worker: usize, places: usize) -> Result<Vec<Job>, String> {
        let wanted = ["mcp_tool", "llm_call"].map(|queue| WantedJobs { queue: queue.to_owned(), places });
        let jobs = self.world.store.claim_jobs(&self.holder(worker), &wanted).await.unwrap().jobs;
        let mut named = Vec::new();
        for job in jobs {
            let (run, place) = placed(&job);
            self.know(run).await;
            self.noted.takes(&job)?;
            named.push((self.noted.at(run, place), job));
        }
        // Ids are drawn anew each time; a schedule is to be the same.
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(named.into_iter().map(|(_, job)| job).collect())
    }

    /// Learns which step started a run.
    async fn know(&mut self, run: ExecutionId) {
        if self.noted.knows(run) {
            return;
        }
        let row = self.world.store.read(move |tx| tx.execution(&SYSTEM, run)).await.unwrap();
        let parent = row.parent.expect("only runs start runs that nobody asked for");
        let started = self.world.store.read(move |tx| tx.child_executions(parent.0)).await.unwrap();
        let attempt = started.iter().filter(|child| child.parent == Some(parent) && child.id < run).count();
        self.noted.begins_within(parent, attempt, run, row.process);
    }

    async fn go_on(&mut self) -> Result<(), String> {
        if self.held.is_empty() {
            self.claim().await?;
        }
        if self.held.is_empty() {
            return Ok(());
        }
        let at = self.dice.below(self.held.len());
        let held = self.held.swap_remove(at);
        let fate = match self.dice.below(10) {
            0 => CommitFate::DiesBefore,
            1 => CommitFate::DiesAfter,
            2 => CommitFate::DeliversTwice,
            _ => CommitFate::Lives,
        };
        match held {
            HeldWork::Claimed { worker, job } => self.take_up(worker, &job, fate).await,
            HeldWork::Called { worker, call } => self.conclude(worker, &call, fate).await,
        }
    }

    async fn take_up(&mut self, worker: usize, job: &Job, fate: CommitFate) -> Result<(), String> {
        let (engine, held, dies) = (self.world.engine.clone(), job.clone(), fate == CommitFate::DiesBefore);
        let taken = self.world.store.write(move |tx| {
            let taken = crate::tool_call::claim::take_up(&engine, tx, &held, LOST_MAX, false)?;
            let taken = taken.ok_or_else(|| StoreError::Unavailable("nothing was taken up".to_owned()))?;
            if dies { Err(StoreError::Forbidden) } else { Ok(taken) }
        });
        match taken.await {
            Ok(taken) => {
                let (run, place) = placed(job);
                if self.is_paused(run) {
                    self.noted.parks(job);
                } else {
                    self.noted.takes_up(job, run, place);
                }
                let made = match taken.value.0 {
                    ClaimOutcome::Make(call) => Some(*call),
                    ClaimOutcome::Settled => None,
                };
                if let Some(call) = &made {
                    self.noted.begun(call);
                }
                if fate == CommitFate::DiesAfter {
                    self.die(worker).await;
                } else {
                    made.into_iter().try_for_each(|call| self.goes_out(worker, call))?;
                }
            }
            Err(StoreError::Forbidden) => self.die(worker).await,
            Err(StoreError::LeaseLost(_)) => {}
            Err(error) => return Err(format!("a call could not be taken up: {error}")),
        }
        Ok(())
    }

    fn goes_out(&mut self, worker: usize, call: PendingCall) -> Result<(), String> {
        if self.is_paused(call.run) {
            return Err(format!("a paused run called {}", self.noted.at(call.run, call.place)));
        }
        self.noted.goes_out(&call)?;
        self.held.push(HeldWork::Called { worker, call: Arc::new(call) });
        Ok(())
    }

    async fn conclude(&mut self, worker: usize, call: &Arc<PendingCall>, fate: CommitFate) -> Result<(), String> {
        let slot = if self.dice.one_in(2) {
            WorkerSlot { holder: Some(self.holder(worker)), kinds: vec![call.kind] }
        } else {
            WorkerSlot::default()
        };
        let outcome = self.noted.outcome(call);
        match self.write(call, &outcome, slot, fate == CommitFate::DiesBefore).await {
            Ok(after) => {
                for handed in &after.handed {
                    self.know(handed.run).await;
                }
                self.noted.kept(call, &outcome, &after.handed);
                if fate == CommitFate::DiesAfter {
                    self.die(worker).await;
                    return Ok(());
                }
                after.handed.into_iter().try_for_each(|call| self.goes_out(worker, call))?;
                if fate == CommitFate::DeliversTwice
                    && self.write(call, &outcome, WorkerSlot::default(), false).await.is_ok()
                {
                    return Err(format!("what came of {} was kept twice", call.call));
                }
                Ok(())
            }
            Err(StoreError::Forbidden) => {
                self.die(worker).await;
                Ok(())
            }
            Err(StoreError::LeaseLost(_)) => Ok(()),
            Err(error) => Err(format!("what came of a call could not be kept: {error}")),
        }
    }

    async fn write(
        &self,
        call: &Arc<PendingCall>,
        outcome: &Result<Value, Value>,
        slot: WorkerSlot,
        dies: bool,
    ) -> Result<PostCommit, StoreError> {
        let answered = CallResponse::own(outcome.clone());
        let came = CallOutcome::new(call, answered, None, 1);
        let (engine, call) = (self.world.engine.clone(), Arc::clone(call));
        let written = self.world.store.write(move |tx| {
            let after = record::conclude(&engine, tx, &call, &came, &slot)?;
            if dies { Err(StoreError::Forbidden) } else { Ok(after) }
        });
        Ok(written.await?.value)
    }

    /// A worker vanishes, alone or with everything around it.
    async fn die(&mut self, worker: usize) {
        if self.dice.one_in(2) {
            return self.crash().await;
        }
        self.held.retain(|held| held.worker() != worker);
    }

    /// Another process takes over, and may be asked for something new in the same moment.
    async fn crash(&mut self) {
        let is_before = self.dice.one_in(2);
        let is_asked = self.runs.len() < 2 && self.dice.one_in(3);
        if is_asked && is_before {
            self.start().await;
        }
        self.held.clear();
        self.world.restart().await;
        if is_asked && !is_before {
            self.start().await;
        }
    }

    async fn pass_time(&mut self) -> Result<(), String> {
        let pauses = [1, 500, 2_000, LEASE_MS + 1, definitions::EXPIRES_AFTER_S * 1_000];
        let pause = pauses[self.dice.below(pauses.len())];
        self.world.clock.advance(pause);
        // Time goes by, and nobody looks at once.
        if self.dice.one_in(3) { Ok(()) } else { self.tend().await }
    }

    /// Looks after the queue, and after questions whose time is over.
    async fn tend(&mut self) -> Result<(), String> {
        self.world.store.maintain_queue().await.unwrap();
        self.world.engine.expire_reviews().await.unwrap();
        self.world.engine.fire_timers().await.unwrap();
        let open = self.open_reviews().await;
        match open.iter().find(|review| self.is_over(review)) {
            Some(review) => Err(format!("a question whose time is over is open: {:?}", review.row)),
            None => Ok(()),
        }
    }

    /// Whether nobody may answer any more.
    fn is_over(&self, review: &ShownReview) -> bool {
        let waits_s = self.noted.waits_s(review.row.run, review.row.place);
        waits_s.is_some_and(|waits_s| review.row.created_at.plus(waits_s * 1_000) <= self.world.clock.now())
    }

    /// Signs of life of one worker; it hears of what it lost, or is too slow to.
    async fn beat(&mut self) {
        let worker = self.dice.below(WORKERS);
        let job = |held: &HeldWork| match held {
            HeldWork::Claimed { job, .. } => Some(job.clone()),
            HeldWork::Called { call, .. } => call.job.clone(),
        };
        let own: Vec<Job> = self.held.iter().filter(|held| held.worker() == worker).filter_map(job).collect();
        let lost = self.world.store.keep_jobs(&self.holder(worker), &own).await.unwrap();
        if self.dice.one_in(2) {
            self.held.retain(|held| job(held).is_none_or(|job| !lost.contains(&job.id)));
        }
    }

    /// What people are asked, in an order that is the same each time.
    async fn open_reviews(&mut self) -> Vec<ShownReview> {
        let mut open = self.world.engine.reviews(&self.world.caller, true, None, REVIEWS_MAX).await.unwrap().rows;
        for review in &open {
            self.know(review.row.run).await;
        }
        open.sort_by_key(|review| self.noted.at(review.row.run, review.row.place));
        open
    }

    /// Somebody answers one of the questions, or two do at once.
    async fn decide(&mut self) -> Result<(), String> {
        let mut open = self.open_reviews().await;
        if open.is_empty() {
            return Ok(());
        }
        let review = open.swap_remove(self.dice.below(open.len()));
        let (run, place) = (review.row.run, review.row.place);
        let Some(decision) = self.noted.decides(run, place, &review.row.asked) else { return Ok(()) };
        let other = Decision::Deny { reason: Some("somebody else denied it".to_owned()) };
        let mut decisions = vec![decision];
        decisions.extend(self.dice.one_in(4).then_some(other));
        let all = decisions.iter().map(|decision| self.told(&review, decision.clone()));
        let told: Vec<Result<(), EngineError>> = futures::future::join_all(all).await;
        let mut counted = decisions.into_iter().zip(&told).filter(|(_, told)| told.is_ok()).map(|(said, _)| said);
        match (counted.next(), counted.next(), self.is_over(&review)) {
            (Some(decision), None, false) => self.noted.decided(run, place, decision),
            (None, None, true) => {}
            _ => return Err(format!("of what was said to {:?} something else counted: {told:?}", review.row)),
        }
        Ok(())
    }

    async fn told(&self, review: &ShownReview, decision: Decision) -> Result<(), EngineError> {
        let world = &self.world;
        world.engine.decide(&world.caller, world.request(), review.row.id, decision).await.map(drop)
    }

    async fn cancel(&mut self) {
        let (engine, caller, run) = (self.world.engine.clone(), self.world.caller.clone(), self.runs[0].run);
        // One that has ended refuses.
        if engine.cancel_run(&caller, self.world.request(), run).await.is_ok() {
            self.noted.cancelled(run);
        }
    }

    /// Somebody pauses a run, or lets it go on.
    async fn pause(&mut self) {
        let at = self.dice.below(self.runs.len());
        self.set_paused(at, !self.runs[at].is_paused).await;
    }

    async fn set_paused(&mut self, at: usize, is_paused: bool) {
        let (engine, caller) = (self.world.engine.clone(), self.world.caller.clone());
        // One that has ended refuses.
        if engine.pause_run(&caller, self.world.request(), self.runs[at].run, is_paused).await.is_ok() {
            self.runs[at].is_paused = is_paused;
        }
    }

    fn is_paused(&self, run: ExecutionId) -> bool {
        self.runs.iter().any(|looked| looked.is_paused && self.noted.is_within(run, looked.run))
    }

    /// Nothing goes wrong any more, but for those who come late: every run comes to its end.
    async fn drain(&mut self) -> Result<(), String> {
        for at in 0..self.runs.len() {
            self.set_paused(at, false).await;
        }
        for _ in 0..DRAINED_WITHIN {
            if ledger::have_ended(self).await {
                return Ok(());
            }
            self.world.clock.advance(LEASE_MS + 1);
            self.tend().await?;
            let late = self.held.pop();
            for job in self.claimed(WORKERS, 8).await? {
                self.take_up(WORKERS, &job, CommitFate::Lives).await?;
            }
            if let Some(HeldWork::Called { worker, call }) = late {
                self.conclude(worker, &call, CommitFate::Lives).await?;
            }
            let mine = |held: &HeldWork| matches!(held, HeldWork::Called { worker: WORKERS, .. });
            while let Some(at) = self.held.iter().position(mine) {
                let HeldWork::Called { worker, call } = self.held.swap_remove(at) else { unreachable!() };
                self.conclude(worker, &call, CommitFate::Lives).await?;
            }
            self.decide().await?;
        }
        Err(format!("a run is stuck: {}", ledger::standing(self).await))
    }
}

/// What a job is for.
fn placed(job: &Job) -> (ExecutionId, CallSite) {
    (job.run.unwrap().0, serde_json::from_str(&job.payload).unwrap())
}
