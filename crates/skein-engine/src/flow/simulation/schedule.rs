//! One schedule: what happens next is drawn, until every run has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use skein_core::flow::execution::review::Decision;
use skein_core::{ItemId, Millis, NodeId, RunId};
use skein_store::StoreError;
use skein_store::clock::Clock as _;
use skein_store::jobs::{Holder, Job, Wanted as WantedJobs};

use crate::catalog::calls::Answered;
use crate::flow::call::{self, Came, Prepared};
use crate::flow::claimed::Claimed;
use crate::flow::mover::{Aftermath, Hand};
use crate::flow::simulation::world::World;
use crate::flow::simulation::{Dice, ledger};
use crate::flow::{NewAnswers, NewRun, Wanted};

const LEASE_MS: i64 = 90_000;
pub(super) const LOST_MAX: i64 = 4;
const WORKERS: usize = 3;
/// Far more than any run needs when nothing goes wrong any more.
const DRAINED_WITHIN: usize = 100;

/// What a worker has in its hands.
#[derive(Clone)]
enum Held {
    Claimed { worker: usize, job: Job },
    Called { worker: usize, call: Arc<Prepared> },
}

impl Held {
    fn worker(&self) -> usize {
        let (Self::Claimed { worker, .. } | Self::Called { worker, .. }) = self;
        *worker
    }
}

/// What becomes of whoever is about to commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lives,
    DiesBefore,
    DiesAfter,
    DeliversTwice,
}

/// A run that is looked after, and what it is a run of.
pub(super) struct Looked {
    pub(super) run: RunId,
    pub(super) shape: usize,
    pub(super) node: Option<NodeId>,
}

pub(super) struct Schedule<'a> {
    pub(super) world: &'a mut World,
    dice: Dice,
    pub(super) since: Millis,
    pub(super) runs: Vec<Looked>,
    held: Vec<Held>,
    /// How often each call went out.
    went_out: BTreeMap<ItemId, u32>,
    /// What the steps of runs gave for good.
    pub(super) given: BTreeSet<(RunId, usize)>,
    passed: BTreeMap<(RunId, usize), u32>,
    /// Whether something happened after which a run may fail.
    pub(super) may_fail: bool,
}

impl<'a> Schedule<'a> {
    pub(super) async fn begin(world: &'a mut World, seed: u64) -> Self {
        world.clock.advance(1_000);
        let since = world.clock.now();
        let (runs, held, went_out) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (given, passed) = (BTreeSet::new(), BTreeMap::new());
        let mut schedule =
            Self { world, dice: Dice(seed), since, runs, held, went_out, given, passed, may_fail: false };
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
        ledger::audit(&self).await
    }

    async fn start(&mut self) {
        let shape = self.dice.below(self.world.processes.len());
        let process = self.world.processes[shape];
        let Value::Object(context) = json!({ "x": "x" }) else { unreachable!() };
        let (engine, caller) = (self.world.engine.clone(), self.world.caller.clone());
        if !self.dice.one_in(4) {
            let new = NewRun { context, priority: 0 };
            let run = engine.execute(&caller, self.world.request(), process, new).await.unwrap().value;
            return self.runs.push(Looked { run, shape, node: None });
        }
        let conversation = self.world.conversation().await;
        let wanted = Wanted::After { turn: None, parent: None, sources: Vec::new() };
        let new = NewAnswers { wanted, processes: vec![process], samples: 1, make_active: true, context };
        let begun = engine.answer(&caller, self.world.request(), conversation, new).await.unwrap().value.begun;
        let (grown, run) = &begun[0];
        self.runs.push(Looked { run: *run, shape, node: Some(grown.node.seen.row.id) });
    }

    async fn happen(&mut self) -> Result<(), String> {
        match self.dice.below(12) {
            0..3 => self.claim().await,
            3..8 => self.go_on().await?,
            8 => self.pass_time().await,
            9 => self.beat().await,
            10 => self.decide(false).await?,
            _ if self.dice.one_in(3) => self.crash().await,
            _ if self.dice.one_in(8) => self.cancel().await,
            _ => {}
        }
        Ok(())
    }

    fn holder(&self, worker: usize) -> Holder {
        self.world.store.holder(&format!("worker {worker}"), LEASE_MS)
    }

    async fn claim(&mut self) {
        let (worker, places) = (self.dice.below(WORKERS), 1 + self.dice.below(3));
        let jobs = self.claimed(worker, places).await;
        self.held.extend(jobs.into_iter().map(|job| Held::Claimed { worker, job }));
    }

    async fn claimed(&self, worker: usize, places: usize) -> Vec<Job> {
        let wanted = WantedJobs { queue: "mcp_tool".to_owned(), places };
        let mut jobs = self.world.store.claim_jobs(&self.holder(worker), &[wanted]).await.unwrap().jobs;
        // Ids are drawn anew each time; a schedule is to be the same.
        jobs.sort_by_key(|job| job.run.map(|(run, step)| (self.runs.iter().position(|known| known.run == run), step)));
        jobs
    }

    async fn go_on(&mut self) -> Result<(), String> {
        if self.held.is_empty() {
            self.claim().await;
        }
        if self.held.is_empty() {
            return Ok(());
        }
        let at = self.dice.below(self.held.len());
        let held = self.held.swap_remove(at);
        let fate = match self.dice.below(10) {
            0 => Fate::DiesBefore,
            1 => Fate::DiesAfter,
            2 => Fate::DeliversTwice,
            _ => Fate::Lives,
        };
        match held {
            Held::Claimed { worker, job } => self.take_up(worker, &job, fate).await,
            Held::Called { worker, call } => {
                let outcome = self.outcome(&call);
                self.conclude(worker, &call, outcome, fate).await
            }
        }
    }

    /// What the outside answers.
    fn outcome(&mut self, call: &Prepared) -> Result<Value, Value> {
        match self.dice.below(12) {
            0 => Err(json!({ "code": "timeout", "message": "no answer", "retryable": true, "uncertain": true })),
            1 => Err(json!({ "code": "server_error", "message": "unwell", "retryable": true })),
            2 => Err(json!({ "code": "bad_request", "message": "never", "retryable": false })),
            _ => Ok(given(call.place.step)),
        }
    }

    async fn take_up(&mut self, worker: usize, job: &Job, fate: Fate) -> Result<(), String> {
        self.may_fail |= job.lost >= LOST_MAX;
        let (engine, held, dies) = (self.world.engine.clone(), job.clone(), fate == Fate::DiesBefore);
        let taken = self.world.store.write(move |tx| {
            let taken = crate::flow::claimed::take_up(&engine, tx, &held, LOST_MAX, false)?;
            let taken = taken.ok_or_else(|| StoreError::Unavailable("nothing was taken up".to_owned()))?;
            if dies { Err(StoreError::Forbidden) } else { Ok(taken) }
        });
        match taken.await {
            Ok(taken) if fate != Fate::DiesAfter => {
                let (claimed, after) = taken.value;
                self.hand_over(worker, after)?;
                if let Claimed::Make(call) = claimed {
                    self.goes_out(worker, *call)?;
                }
            }
            Ok(_) | Err(StoreError::Forbidden) => self.die(worker).await,
            Err(StoreError::LeaseLost(_)) => {}
            Err(error) => return Err(format!("a call could not be taken up: {error}")),
        }
        Ok(())
    }

    fn hand_over(&mut self, worker: usize, after: Aftermath) -> Result<(), String> {
        after.handed.into_iter().try_for_each(|call| self.goes_out(worker, call))
    }

    /// A call goes out: what must not be repeated goes out once.
    fn goes_out(&mut self, worker: usize, call: Prepared) -> Result<(), String> {
        let times = self.went_out.entry(call.call).or_default();
        *times += 1;
        if *times > 1 && call.tool() == self.world.never {
            return Err(format!("the call {} must not be repeated and went out {times} times", call.call));
        }
        self.held.push(Held::Called { worker, call: Arc::new(call) });
        Ok(())
    }

    async fn conclude(
        &mut self,
        worker: usize,
        call: &Arc<Prepared>,
        outcome: Result<Value, Value>,
        fate: Fate,
    ) -> Result<(), String> {
        let hand = if self.dice.one_in(2) {
            Hand { holder: Some(self.holder(worker)), kinds: vec![call.kind] }
        } else {
            Hand::default()
        };
        match self.write(call, &outcome, hand, fate == Fate::DiesBefore).await {
            Ok(after) => {
                self.note(call, &outcome);
                if fate == Fate::DiesAfter {
                    self.die(worker).await;
                    return Ok(());
                }
                self.hand_over(worker, after)?;
                if fate == Fate::DeliversTwice && self.write(call, &outcome, Hand::default(), false).await.is_ok() {
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
        call: &Arc<Prepared>,
        outcome: &Result<Value, Value>,
        hand: Hand,
        dies: bool,
    ) -> Result<Aftermath, StoreError> {
        let answered = Answered::own(outcome.clone());
        let came = Came::new(call, answered, None, 1);
        let (engine, call) = (self.world.engine.clone(), Arc::clone(call));
        let written = self.world.store.write(move |tx| {
            let after = call::conclude(&engine, tx, &call, &came, &hand)?;
            if dies { Err(StoreError::Forbidden) } else { Ok(after) }
        });
        Ok(written.await?.value)
    }

    /// Notes what was kept, and whether the run may fail by it.
    fn note(&mut self, call: &Prepared, outcome: &Result<Value, Value>) {
        let at = (call.run, call.place.step);
        let Err(error) = outcome else {
            self.given.insert(at);
            return;
        };
        let is_trouble = self.runs.iter().any(|known| known.run == call.run && known.shape == 2);
        let passed = self.passed.entry(at).or_default();
        *passed += 1;
        let is_repeated = error["retryable"] == true && *passed <= 2;
        self.may_fail |= match at.1 {
            0 | 1 if is_trouble => false,
            2 if is_trouble => !is_repeated,
            _ => true,
        };
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

    async fn pass_time(&mut self) {
        let pause = [1, 500, 2_000, LEASE_MS + 1][self.dice.below(4)];
        self.world.clock.advance(pause);
        self.world.store.tend_queue().await.unwrap();
    }

    /// Signs of life of one worker; it hears of what it lost, or is too slow to.
    async fn beat(&mut self) {
        let worker = self.dice.below(WORKERS);
        let job = |held: &Held| match held {
            Held::Claimed { job, .. } => Some(job.clone()),
            Held::Called { call, .. } => call.job.clone(),
        };
        let own: Vec<Job> = self.held.iter().filter(|held| held.worker() == worker).filter_map(job).collect();
        let lost = self.world.store.keep_jobs(&self.holder(worker), &own).await.unwrap();
        if self.dice.one_in(2) {
            self.held.retain(|held| job(held).is_none_or(|job| !lost.contains(&job.id)));
        }
    }

    async fn decide(&mut self, approves: bool) -> Result<(), String> {
        let (engine, caller) = (self.world.engine.clone(), self.world.caller.clone());
        let open = engine.reviews(&caller, true, None, 10).await.unwrap().rows;
        let Some(review) = open.first() else { return Ok(()) };
        let at = (review.row.run, review.row.place.step);
        let decision = match if approves { 0 } else { self.dice.below(4) } {
            0 | 1 => Decision::Approve { inputs: None, scope: None },
            2 => Decision::Answer { value: given(at.1) },
            _ => Decision::Deny { reason: None },
        };
        *self.passed.entry(at).or_default() += 1;
        match &decision {
            Decision::Answer { .. } => drop(self.given.insert(at)),
            Decision::Deny { .. } => self.may_fail = true,
            Decision::Approve { .. } => {}
        }
        let decided = engine.decide(&caller, self.world.request(), review.row.id, decision).await;
        decided.map(drop).map_err(|error| format!("a decision was refused: {error}"))
    }

    async fn cancel(&mut self) {
        let (engine, caller) = (self.world.engine.clone(), self.world.caller.clone());
        // One that has ended refuses.
        self.may_fail |= engine.cancel_run(&caller, self.world.request(), self.runs[0].run).await.is_ok();
    }

    /// Nothing goes wrong any more, but for those who come late: every run comes to its end.
    async fn drain(&mut self) -> Result<(), String> {
        for _ in 0..DRAINED_WITHIN {
            if ledger::have_ended(self).await {
                return Ok(());
            }
            self.world.clock.advance(LEASE_MS + 1);
            self.world.store.tend_queue().await.unwrap();
            let late = self.held.pop();
            for job in self.claimed(WORKERS, 8).await {
                self.take_up(WORKERS, &job, Fate::Lives).await?;
            }
            if let Some(Held::Called { worker, call }) = late {
                self.conclude(worker, &call, Ok(given(call.place.step)), Fate::Lives).await?;
            }
            let mine = |held: &Held| matches!(held, Held::Called { worker: WORKERS, .. });
            while let Some(at) = self.held.iter().position(mine) {
                let Held::Called { worker, call } = self.held.swap_remove(at) else { unreachable!() };
                self.conclude(worker, &call, Ok(given(call.place.step)), Fate::Lives).await?;
            }
            self.decide(true).await?;
        }
        Err(format!("a run is stuck: {}", ledger::standing(self).await))
    }
}

fn given(step: usize) -> Value {
    json!({ "value": format!("v{step}") })
}
