//! Applies inputs to executions inside one transaction and writes the resulting rows, items, jobs and reviews.
//!
//! One thing that happened may move several runs: the end of one is what another waited for. So a mover keeps every run
//! it touched, goes on until nothing is left to do, and writes each of them once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value};
use skein_core::catalog::operation::OperationType;
use skein_core::flow::cost::{Cost, CostTotals};
use skein_core::flow::execution::input::{CallSite, Effect, Fault, Input};
use skein_core::flow::execution::item_payload::{
    CallRecord, CausalLink, CausalLinkKind, ExecutionMoved, StepMoved, review_asked,
};
use skein_core::flow::execution::machine::step;
use skein_core::flow::execution::review::{ApprovalScope, Decision, ReviewRequest};
use skein_core::flow::execution::state::{Execution, Phase};
use skein_core::flow::plan::PlannedStep;
use skein_core::flow::step::{Reference, StepTarget};
use skein_core::flow::tool_call::ToolResult;
use skein_core::garden::item::ItemDraft;
use skein_core::{Digest, ExecutionId, ItemId, RecordId, ReviewId, UserId, Viewer};
use skein_store::flow::{ExecutionRow, LastCall, NewReview, StepRow};
use skein_store::jobs::{Job, JobDraft, JobHolder};
use skein_store::timeline::items::PreparedItem;
use skein_store::{SqlError, StoreError, Tx};

use crate::engine::Engine;
use crate::flow::SYSTEM;
use crate::flow::execution::children::is_process_in_disguise;
use crate::flow::execution::streams::EndedExecution;
use crate::flow::process::plan_cache::ReadyProcess;
use crate::tool_call::dependencies::CallDependencies;
use crate::tool_call::record::PendingCall;

/// Whoever can take a call up at once: the worker at hand, and for which kinds it has a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkerSlot {
    pub(crate) holder: Option<JobHolder>,
    pub(crate) kinds: Vec<OperationType>,
}

/// What a transaction that moved runs asks to be done after it is committed.
#[derive(Default)]
pub(crate) struct PostCommit {
    /// Calls for the worker at hand, written down and leased.
    pub(crate) handed: Vec<PendingCall>,
    /// Whether others have something to take up.
    pub(crate) queued: bool,
    /// Runs that ended: whoever listens hears no more.
    pub(crate) ended: Vec<EndedExecution>,
    /// Runs whose calls are to be broken off.
    pub(crate) withdrawn: Vec<ExecutionId>,
}

/// A run as this transaction sees it.
pub(crate) struct LoadedExecution {
    pub(crate) row: ExecutionRow,
    pub(crate) state: Execution,
    pub(crate) ready: Arc<ReadyProcess>,
    pub(crate) steps: BTreeMap<usize, StepRow>,
    touched: Vec<usize>,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) links: Vec<CausalLink>,
}

pub(crate) struct ExecutionTransaction<'a, 't> {
    pub(crate) engine: &'a Engine,
    pub(crate) tx: &'a mut Tx<'t>,
    pub(crate) slot: &'a WorkerSlot,
    pub(crate) runs: BTreeMap<ExecutionId, LoadedExecution>,
    pub(crate) pending: VecDeque<(ExecutionId, Input)>,
    pub(crate) after: PostCommit,
    /// The last call of each session, as far as this transaction made it.
    pub(crate) sequences: BTreeMap<ExecutionId, Option<LastCall>>,
    /// Facts that are stated and not recorded yet: most moves state three, and one statement records them.
    stated: Vec<PreparedItem>,
    /// The job that is done, until its row is passed on or gone.
    done: Option<Job>,
    /// Whether this transaction keeps apart from others by locks alone.
    pub(crate) is_locking: bool,
    /// Records that must be now what they were when they were read.
    pub(crate) relied_on: Vec<(RecordId, Digest)>,
    /// Nested executions that are cancelled because their time is over, and what their parents hear.
    pub(crate) timed_out: BTreeMap<ExecutionId, Fault>,
}

impl<'a, 't> ExecutionTransaction<'a, 't> {
    pub(crate) fn new(engine: &'a Engine, tx: &'a mut Tx<'t>, slot: &'a WorkerSlot) -> Self {
        let (runs, pending, after) = (BTreeMap::new(), VecDeque::new(), PostCommit::default());
        Self {
            engine,
            tx,
            slot,
            runs,
            pending,
            after,
            sequences: BTreeMap::new(),
            stated: Vec::new(),
            done: None,
            is_locking: false,
            relied_on: Vec::new(),
            timed_out: BTreeMap::new(),
        }
    }

    /// For a transaction that keeps apart from others by locks alone ([`LoadedExecution::is_plain`]).
    pub(crate) fn locking(self, is_locking: bool) -> Self {
        Self { is_locking, ..self }
    }

    /// Tells a run what happened; [`Self::finish`] carries on from there.
    pub(crate) fn push_input(&mut self, run: ExecutionId, input: Input) {
        self.pending.push_back((run, input));
    }

    /// Goes on until nothing is left to do, and writes everything down. Whoever lost their job writes nothing.
    pub(crate) fn finish(mut self) -> Result<PostCommit, StoreError> {
        while let Some((run, input)) = self.pending.pop_front() {
            self.move_run(run, &input)?;
        }
        let runs: Vec<ExecutionId> = self.runs.keys().copied().collect();
        for run in runs {
            self.write(run)?;
        }
        self.let_go()?;
        // Everybody holds them in the same order.
        self.relied_on.sort_unstable_by_key(|(record, _)| *record);
        self.relied_on.dedup();
        for (record, hash) in std::mem::take(&mut self.relied_on) {
            self.tx.rely_on_record(&SYSTEM, record, hash)?;
        }
        for (run, loaded) in self.runs.into_iter().filter(|(_, loaded)| !loaded.state.status.has_ended()) {
            let last = self.sequences.get(&run).copied().flatten();
            self.tx.leave_execution(loaded.row, loaded.steps.into_values().collect(), last);
        }
        Ok(self.after)
    }

    /// A job is done with this move: its row is passed on to the first call that is handed over, or taken off the queue.
    pub(crate) fn finishes(&mut self, job: Job) {
        self.done = Some(job);
    }

    /// Takes the job that is done off the queue.
    pub(crate) fn let_go(&mut self) -> Result<(), StoreError> {
        let Some(done) = self.done.take() else { return Ok(()) };
        let held = self.tx.complete_job(&SYSTEM, &done);
        #[cfg(test)]
        let held = if crate::flow::simulation::PlantedBug::NoFence.is_in(self.engine) { Ok(()) } else { held };
        held
    }

    /// Leases a call to the worker at hand.
    fn lease(&mut self, viewer: &Viewer, draft: &JobDraft, holder: &JobHolder) -> Result<Job, StoreError> {
        let Some(done) = self.done.take() else { return self.tx.enqueue_leased(viewer, draft, holder) };
        let passed = self.tx.complete_and_enqueue(&SYSTEM, &done, draft, holder);
        #[cfg(test)]
        if passed.is_err() && crate::flow::simulation::PlantedBug::NoFence.is_in(self.engine) {
            return self.tx.enqueue_leased(viewer, draft, holder);
        }
        passed
    }

    pub(crate) fn load(&mut self, run: ExecutionId) -> Result<&mut LoadedExecution, StoreError> {
        if !self.runs.contains_key(&run) {
            let row = self.tx.locked_execution(&SYSTEM, run)?;
            let ready = self.engine.parts().plans.of(self.tx, row.process, row.process_version)?;
            // A run that answers nowhere and that nobody started has the numbers of its calls to itself.
            let rows = if row.session == run {
                let (rows, last) = self.tx.steps_and_last_call(row.owner, run)?;
                self.sequences.entry(run).or_insert(last);
                rows
            } else {
                self.tx.execution_steps(run)?
            };
            let state = row.standing(&rows, &ready.process, &ready.plan);
            let steps = rows.into_iter().map(|row| (row.step, row)).collect();
            self.keep(LoadedExecution::new(row, state, ready, steps));
        }
        Ok(self.runs.get_mut(&run).expect("it was put there"))
    }

    pub(crate) fn keep(&mut self, loaded: LoadedExecution) {
        self.runs.insert(loaded.row.id, loaded);
    }

    fn move_run(&mut self, run: ExecutionId, input: &Input) -> Result<(), StoreError> {
        let now = self.tx.now();
        #[cfg(test)]
        let engine = self.engine;
        let loaded = self.load(run)?;
        let moved = step(&loaded.ready.plan, &loaded.state, input, now);
        #[cfg(test)]
        let moved = crate::flow::simulation::PlantedBug::EmptyForSkipped.with_empty_outputs(engine, moved);
        if !moved.fitted {
            return Ok(());
        }
        let converses = moved.state.steps.iter().any(|step| step.dialogue.is_some());
        let before = converses.then(|| loaded.state.clone());
        loaded.take(moved.state);
        if let Some(before) = before {
            self.flush_items()?;
            self.tell_tool_runs(run, &before)?;
        }
        for effect in moved.effects {
            self.carry_out(run, effect)?;
        }
        Ok(())
    }

    /// States a fact; it is recorded before anything that could refer to it.
    pub(crate) fn append_item(&mut self, owner: UserId, draft: ItemDraft) -> Result<ItemId, StoreError> {
        let drawn = self.tx.draw_item(&Viewer::User(owner), draft)?;
        let id = drawn.id();
        self.stated.push(drawn);
        Ok(id)
    }

    /// Records what was stated.
    pub(crate) fn flush_items(&mut self) -> Result<(), StoreError> {
        match std::mem::take(&mut self.stated) {
            stated if stated.is_empty() => Ok(()),
            stated => self.tx.append_drawn(stated).map_err(raced),
        }
    }

    fn carry_out(&mut self, run: ExecutionId, effect: Effect) -> Result<(), StoreError> {
        if !matches!(effect, Effect::Call { .. }) {
            self.flush_items()?;
        }
        match effect {
            Effect::Call { place, tool, inputs, attempt, delay_ms } => {
                self.call(run, place, tool, &inputs, attempt, delay_ms)
            }
            Effect::Ask { place, asked, expires_after_s } => self.ask(run, place, &asked, expires_after_s),
            Effect::Run { place, delay_ms, .. } if delay_ms > 0 => self.start_later(run, place, delay_ms),
            Effect::Run { place, process, context, .. } => self.start_child(run, place, process, context),
            Effect::Withdraw => self.withdraw(run),
            Effect::End(ending) => self.end(run, ending),
        }
    }

    /// Queues a call, or makes it ready for the worker at hand; while the run is paused, it waits until that goes on.
    fn call(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        tool: RecordId,
        inputs: &Map<String, Value>,
        attempt: u32,
        delay_ms: i64,
    ) -> Result<(), StoreError> {
        let LoadedExecution { row: ExecutionRow { owner, paused_at, .. }, .. } = *self.load(run)?;
        let base = match self.base(run, place.step, tool)? {
            Ok(base) if is_process_in_disguise(&base.tool) => return self.start_disguised(run, place, base, inputs),
            Ok(base) if self.is_held(run, place, &base, inputs)? => {
                self.push_input(run, Input::Held { place });
                return Ok(());
            }
            Ok(base) => base,
            Err(fault) => {
                self.push_input(run, Input::Faulted { place, fault });
                return Ok(());
            }
        };
        let kind = base.tool.entry.operation.kind();
        let draft = self.job(run, place, kind, delay_ms)?;
        #[cfg(test)]
        let paused_at = paused_at.filter(|_| !crate::flow::simulation::PlantedBug::UnheardPause.is_in(self.engine));
        if paused_at.is_some() {
            return self.tx.enqueue_paused(&Viewer::User(owner), &draft).map(drop);
        }
        let holder = self.slot.holder.as_ref().filter(|_| delay_ms == 0 && self.has_place(kind)).cloned();
        let Some(holder) = holder else {
            let viewer = Viewer::User(owner);
            self.tx.enqueue(&viewer, &draft)?;
            #[cfg(test)]
            if crate::flow::simulation::PlantedBug::DoubleEnqueue.is_in(self.engine) {
                self.tx.enqueue(&viewer, &draft)?;
            }
            self.after.queued = true;
            return Ok(());
        };
        let pending = match self.prepare(run, place, base, inputs, attempt)? {
            Ok(pending) => pending,
            Err(fault) => {
                self.push_input(run, Input::Faulted { place, fault });
                return Ok(());
            }
        };
        let job = self.lease(&Viewer::User(owner), &draft, &holder)?;
        self.after.handed.push(pending.held_by(job, kind));
        Ok(())
    }

    /// A tool with all that a call of it by a step stands on, as it is now, whether or not it may be called.
    pub(crate) fn base(
        &mut self,
        run: ExecutionId,
        step: usize,
        tool: RecordId,
    ) -> Result<Result<CallDependencies, Fault>, StoreError> {
        let (executor, named) = (self.load(run)?.row.owner, self.naming(run, step, tool)?);
        match CallDependencies::read(self.tx, &self.engine.parts().entries, executor, named) {
            Ok(base) => Ok(base.ok_or_else(|| no_such_tool(tool))),
            Err(StoreError::Rule(violation)) => Ok(Err(Fault::breach(&violation))),
            Err(error) => Err(error),
        }
    }

    /// A tool as a step of a run names it.
    pub(crate) fn naming(&mut self, run: ExecutionId, step: usize, tool: RecordId) -> Result<Reference, StoreError> {
        Ok(self.load(run)?.ready.plan.steps()[step].definition.naming(tool))
    }

    /// A worker has one place to offer for each kind it names.
    fn has_place(&self, kind: OperationType) -> bool {
        let offered = self.slot.kinds.iter().filter(|offered| **offered == kind).count();
        let taken = self.after.handed.iter().filter(|handed| handed.kind == kind).count();
        taken < offered
    }

    fn job(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        kind: OperationType,
        delay_ms: i64,
    ) -> Result<JobDraft, StoreError> {
        let priority = self.load(run)?.row.priority;
        let run_at = (delay_ms > 0).then(|| self.tx.now().plus(delay_ms));
        let payload = serde_json::to_string(&place).expect("a place is plain JSON");
        let step = i64::try_from(place.step).expect("steps are few");
        Ok(JobDraft { queue: kind.as_str().to_owned(), priority, run_at, payload, run: Some((run, step)) })
    }

    fn ask(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        asked: &ReviewRequest,
        expires_after_s: Option<u64>,
    ) -> Result<(), StoreError> {
        let now = self.tx.now();
        let expires_at =
            expires_after_s.map(|seconds| now.plus(i64::try_from(seconds).unwrap_or(i64::MAX / 2_000) * 1_000));
        let owner = self.load(run)?.row.owner;
        if self.is_approved_for_good(owner, asked)? {
            let decision = Decision::Approve { inputs: None, scope: Some(ApprovalScope::Once) };
            self.push_input(run, Input::Decided { place, decision });
            return Ok(());
        }
        let step = self.load(run)?.ready.plan.steps()[place.step].definition.id.clone();
        let question = match review_asked(run, &step, asked) {
            Ok(question) => question,
            // Nobody could be shown it.
            Err(bad) => {
                let decision = Decision::Deny { reason: Some(format!("the question cannot be kept: {bad}")) };
                self.push_input(run, Input::Decided { place, decision });
                return Ok(());
            }
        };
        let item = self.tx.append_item(&Viewer::User(owner), &question)?.item.header.id;
        let id = ReviewId::from_bytes(*item.as_bytes());
        self.tx.insert_review(&NewReview { id, owner, run, place, asked, expires_at })
    }

    /// Writes where a run stands now, and the one fact that tells this move.
    fn write(&mut self, run: ExecutionId) -> Result<(), StoreError> {
        let Some(loaded) = self.runs.get_mut(&run) else { return Ok(()) };
        let mut touched = std::mem::take(&mut loaded.touched);
        touched.sort_unstable();
        touched.dedup();
        let rows: Vec<StepRow> = touched.iter().filter_map(|step| loaded.steps.get(step)).cloned().collect();
        let moved = ExecutionMoved {
            run_id: run,
            steps: rows.iter().map(|row| StepMoved { step: row.step, phase: row.state.phase }).collect(),
            calls: std::mem::take(&mut loaded.calls),
            links: std::mem::take(&mut loaded.links),
        };
        let owner = loaded.row.owner;
        if !moved.steps.is_empty() || !moved.calls.is_empty() || !moved.links.is_empty() {
            self.append_item(owner, moved.to_draft()?)?;
        }
        self.flush_items()?;
        self.tx.put_steps(run, &rows)
    }
}

impl LoadedExecution {
    pub(crate) fn new(
        row: ExecutionRow,
        state: Execution,
        ready: Arc<ReadyProcess>,
        steps: BTreeMap<usize, StepRow>,
    ) -> Self {
        Self { row, state, ready, steps, touched: Vec::new(), calls: Vec::new(), links: Vec::new() }
    }

    /// Whether moving it touches nothing but itself and what it calls: no conversation, no other run. Then locking the run
    /// is enough to keep others apart.
    pub(crate) fn is_plain(&self) -> bool {
        let calls_a_tool = |step: &PlannedStep| {
            matches!(step.definition.target, StepTarget::Tool(_)) && step.definition.offers.is_empty()
        };
        self.row.target.is_none() && self.row.parent.is_none() && self.ready.plan.steps().iter().all(calls_a_tool)
    }

    /// Takes up where the run stands now; only what changed is written.
    fn take(&mut self, state: Execution) {
        for (index, (before, after)) in self.state.steps.iter().zip(&state.steps).enumerate() {
            if before != after {
                self.touched.push(index);
                step_row(&mut self.steps, index).state = after.clone();
            }
        }
        self.state = state;
    }

    /// A step's row, to be written.
    pub(crate) fn touch(&mut self, step: usize) -> &mut StepRow {
        self.touched.push(step);
        step_row(&mut self.steps, step)
    }

    /// Notes a call that was written down for a step, or for what its model asked for.
    pub(crate) fn note_call(&mut self, made: CallRecord) {
        let (call, place) = (made.call_id, made.place);
        match place.call {
            None => {
                let row = self.touch(place.step);
                (row.call, row.is_open) = (Some(call), true);
            }
            Some(index) => {
                let dialogue = self.state.steps[place.step].dialogue.as_mut();
                if let Some(open) = dialogue.and_then(|dialogue| dialogue.open.get_mut(index)) {
                    open.call = Some(call);
                }
                let state = self.state.steps[place.step].clone();
                self.touch(place.step).state = state;
            }
        }
        self.calls.push(made);
    }

    /// Notes what came of a call.
    pub(crate) fn note_result(&mut self, place: CallSite, result: &ToolResult, written: ItemId, raw: Option<ItemId>) {
        self.links.push(CausalLink { kind: CausalLinkKind::ResultOf, source: written, target: result.call });
        self.note_costs(place.step, result.cost);
        if place.call.is_none() {
            let row = self.touch(place.step);
            row.is_open = false;
            row.raw = raw.or(row.raw);
        }
    }

    /// Notes what was spent for a step.
    pub(crate) fn note_costs(&mut self, step: usize, costs: impl IntoIterator<Item = Cost>) {
        let mut costs = costs.into_iter().peekable();
        if costs.peek().is_some() {
            self.touch(step).owed.extend(costs);
        }
    }

    /// What the calls of a step cost so far, as far as that is known.
    pub(crate) fn owed_by(&self, step: usize) -> CostTotals {
        self.steps.get(&step).map(|row| row.owed.clone()).unwrap_or_default()
    }

    /// What the run and those it started cost so far, as far as that is known.
    pub(crate) fn owed(&self) -> CostTotals {
        let mut owed = CostTotals::default();
        owed.extend(self.steps.values().flat_map(|row| row.owed.costs()));
        owed
    }

    /// The calls whose end is not known: of steps, and of what models asked for.
    pub(crate) fn open_calls(&self) -> Vec<(CallSite, ItemId)> {
        let mut open = Vec::new();
        for row in self.steps.values() {
            if let Some(call) = row.call.filter(|_| row.is_open) {
                open.push((CallSite::of(row.step), call));
            }
            let wishes = row.state.dialogue.iter().flat_map(|dialogue| dialogue.open.iter().enumerate());
            for (index, wish) in wishes.filter(|(_, wish)| wish.phase == Phase::Calling) {
                open.extend(wish.call.map(|call| (CallSite { step: row.step, call: Some(index) }, call)));
            }
        }
        open
    }

    /// The latest call a step builds upon, else what led to the run (decision Z13).
    pub(crate) fn cause_of(&self, step: usize) -> ItemId {
        self.causes_of(step).into_iter().max().unwrap_or(self.row.cause)
    }

    /// Every call a step builds upon.
    pub(crate) fn causes_of(&self, step: usize) -> BTreeSet<ItemId> {
        let (mut causes, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![step]);
        while let Some(step) = open.pop() {
            let planned = &self.ready.plan.steps()[step];
            for dep in planned.deps.iter().chain(&planned.stands_in_for) {
                if !seen.insert(*dep) {
                    continue;
                }
                match self.steps.get(dep).and_then(|row| row.call) {
                    Some(call) => _ = causes.insert(call),
                    // A step that did not call anything hands on what led to it.
                    None => open.push(*dep),
                }
            }
        }
        causes
    }

    /// The call made last, in the order of the steps.
    pub(crate) fn last_cause(&self) -> ItemId {
        self.steps.values().filter_map(|row| row.call).max().unwrap_or(self.row.cause)
    }
}

fn step_row(steps: &mut BTreeMap<usize, StepRow>, step: usize) -> &mut StepRow {
    let blank = || StepRow::waiting(step);
    steps.entry(step).or_insert_with(blank)
}

pub(crate) fn no_such_tool(tool: RecordId) -> Fault {
    Fault::new("tool_not_found", format!("Tool {tool} does not exist")).by_rule("BR-EXEC-003")
}

/// Another run of the same session took the next number: run again, it will be seen.
fn raced(error: StoreError) -> StoreError {
    match error {
        StoreError::Sql(SqlError::Unique(detail)) => SqlError::Collision(detail).into(),
        error => error,
    }
}
