//! Decides about a claimed job: makes its call, or settles the call of a vanished worker.

use serde_json::{Map, Value, json};
use skein_core::catalog::tool::ToolRetry;
use skein_core::flow::execution::input::{CallSite, Fault, Input};
use skein_core::flow::execution::state::Phase;
use skein_core::flow::tool_call::{CallStatus, ToolResult};
use skein_core::{ExecutionId, ItemId, RecordId};
use skein_store::jobs::{AfterFailure, Job};
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::{ExecutionTransaction, PostCommit, WorkerSlot};
use crate::tool_call::authorize::nothing;
use crate::tool_call::record::PendingCall;

/// What is to be done with a job that was claimed.
pub(crate) enum ClaimOutcome {
    Make(Box<PendingCall>),
    /// There was nothing to make: it is settled.
    Settled,
}

/// Takes up a claimed job: judges and writes down its call, or settles what an earlier worker left behind. With locks alone
/// it does so for plain runs only, and does nothing for others.
pub(crate) fn take_up(
    engine: &Engine,
    tx: &mut Tx<'_>,
    job: &Job,
    lost_max: i64,
    is_locking: bool,
) -> Result<Option<(ClaimOutcome, PostCommit)>, StoreError> {
    let slot = WorkerSlot::default();
    let Some((run, place)) = place_of(job) else {
        return fail_run(engine, tx, job, "it does not say what it is for")
            .map(|after| Some((ClaimOutcome::Settled, after)));
    };
    let mut execution_tx = ExecutionTransaction::new(engine, tx, &slot).locking(is_locking);
    // The run before its job: ending a run locks in the same order.
    let wanted = execution_tx.wanted(run, place)?;
    // Whoever stalled since the claim begins nothing: the call is somebody else's by now.
    execution_tx.tx.hold_job(&SYSTEM, job)?;
    let Some(wanted) = wanted else {
        execution_tx.tx.complete_job(&SYSTEM, job)?;
        return Ok(Some((ClaimOutcome::Settled, execution_tx.finish()?)));
    };
    if is_locking && !execution_tx.load(run)?.is_plain() {
        return Ok(None);
    }
    // It was claimed before it was paused, or given back by whoever was at it.
    if execution_tx.load(run)?.row.paused_at.is_some() {
        execution_tx.tx.pause_job(&SYSTEM, job)?;
        return Ok(Some((ClaimOutcome::Settled, execution_tx.finish()?)));
    }
    execution_tx.begin_call(job, run, place, &wanted, lost_max).map(Some)
}

/// Fails the step of a job that cannot be begun.
pub(crate) fn fail_step(engine: &Engine, tx: &mut Tx<'_>, job: &Job, why: &str) -> Result<PostCommit, StoreError> {
    let Some((run, place)) = place_of(job) else { return fail_run(engine, tx, job, why) };
    let slot = WorkerSlot::default();
    let mut execution_tx = ExecutionTransaction::new(engine, tx, &slot);
    let wanted = execution_tx.wanted(run, place)?;
    execution_tx.tx.fail_job(&SYSTEM, job, why, AfterFailure::Bury)?;
    if let Some(wanted) = wanted {
        execution_tx.fail_call(run, place, wanted.open, Input::Faulted { place, fault: not_begun(why) })?;
    }
    execution_tx.finish()
}

/// Fails the run of a job, where not even its step can be failed.
pub(crate) fn fail_run(engine: &Engine, tx: &mut Tx<'_>, job: &Job, why: &str) -> Result<PostCommit, StoreError> {
    let slot = WorkerSlot::default();
    let mut execution_tx = ExecutionTransaction::new(engine, tx, &slot);
    let run = job.run.map(|(run, _)| (run, execution_tx.tx.locked_execution(&SYSTEM, run)));
    // What cannot be read is ended all the same; what else went wrong has undone the transaction.
    let run = match run {
        Some((_, Err(error))) if !matches!(error, StoreError::Damaged(_) | StoreError::NotFound(_)) => {
            return Err(error);
        }
        run => run,
    };
    execution_tx.tx.fail_job(&SYSTEM, job, why, AfterFailure::Bury)?;
    if let Some((run, row)) = run {
        execution_tx.end_unread(run, row, not_begun(why))?;
    }
    execution_tx.finish()
}

/// Keeps a job for a person to look at.
pub(crate) fn put_aside(_: &Engine, tx: &mut Tx<'_>, job: &Job, why: &str) -> Result<PostCommit, StoreError> {
    tx.fail_job(&SYSTEM, job, why, AfterFailure::Bury)?;
    Ok(PostCommit::default())
}

fn not_begun(why: &str) -> Fault {
    Fault::new("not_begun", format!("the call could not be begun: {why}"))
}

/// Where a job belongs, if it says so.
fn place_of(job: &Job) -> Option<(ExecutionId, CallSite)> {
    Some((job.run?.0, serde_json::from_str(&job.payload).ok()?))
}

impl ExecutionTransaction<'_, '_> {
    fn begin_call(
        mut self,
        job: &Job,
        run: ExecutionId,
        place: CallSite,
        wanted: &AwaitedCall,
        lost_max: i64,
    ) -> Result<(ClaimOutcome, PostCommit), StoreError> {
        let is_lost = job.lost >= lost_max;
        let pending = match wanted.open {
            // Somebody wrote the call down before and vanished. A call that must not be repeated is for a person to judge,
            // however many vanished over it.
            Some(call) => match self.made_again(run, place, call, wanted)? {
                Ok(_) if is_lost => return self.lose_call(job, run, place, Some(call)),
                Ok(pending) => Ok(pending),
                Err(input) => return settle(self, job, run, place, Some(call), input),
            },
            None if is_lost => return self.lose_call(job, run, place, None),
            None => self.made_first(run, place, wanted)?,
        };
        match pending {
            Ok(pending) => {
                let kind = pending.kind;
                let made = ClaimOutcome::Make(Box::new(pending.held_by(job.clone(), kind)));
                Ok((made, self.finish()?))
            }
            Err(fault) => settle(self, job, run, place, None, Input::Faulted { place, fault }),
        }
    }

    /// Fails the step of a call over which too many workers vanished; the job is put aside for a person to look at.
    fn lose_call(
        mut self,
        job: &Job,
        run: ExecutionId,
        place: CallSite,
        open: Option<ItemId>,
    ) -> Result<(ClaimOutcome, PostCommit), StoreError> {
        let message = format!("{} workers vanished while they were at it", job.lost);
        self.tx.fail_job(&SYSTEM, job, &message, AfterFailure::Bury)?;
        let fault = Fault::new("lost_worker", message);
        self.fail_call(run, place, open, Input::Faulted { place, fault })?;
        Ok((ClaimOutcome::Settled, self.finish()?))
    }
}

/// Ends a job without a call.
fn settle(
    mut execution_tx: ExecutionTransaction<'_, '_>,
    job: &Job,
    run: ExecutionId,
    place: CallSite,
    open: Option<ItemId>,
    input: Input,
) -> Result<(ClaimOutcome, PostCommit), StoreError> {
    execution_tx.tx.complete_job(&SYSTEM, job)?;
    execution_tx.fail_call(run, place, open, input)?;
    Ok((ClaimOutcome::Settled, execution_tx.finish()?))
}

impl ExecutionTransaction<'_, '_> {
    /// Tells a run that nothing comes of a call; one that was written down is closed.
    fn fail_call(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        open: Option<ItemId>,
        input: Input,
    ) -> Result<(), StoreError> {
        if let Some(call) = open {
            let message = "its worker vanished while the call was under way; the service may have carried it out";
            let error = json!({ "code": "outcome_unknown", "message": message });
            let result = ToolResult { status: CallStatus::Unknown, error: Some(error), ..nothing(call) };
            self.write_result(run, place, &result, None, None)?;
        }
        self.push_input(run, input);
        Ok(())
    }
}

/// A call that a run waits for.
struct AwaitedCall {
    tool: RecordId,
    inputs: Map<String, Value>,
    attempt: u32,
    /// The call as it was written down before, if it was.
    open: Option<ItemId>,
}

impl ExecutionTransaction<'_, '_> {
    /// What a run waits for at a place, if it still does.
    fn wanted(&mut self, run: ExecutionId, place: CallSite) -> Result<Option<AwaitedCall>, StoreError> {
        use skein_core::flow::step::StepTarget;
        let loaded = match self.load(run) {
            Ok(loaded) if !loaded.state.status.has_ended() => loaded,
            Ok(_) | Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(state) = loaded.state.steps.get(place.step) else { return Ok(None) };
        let row = loaded.steps.get(&place.step);
        Ok(match place.call {
            None => {
                let StepTarget::Tool(tool) = loaded.ready.plan.steps()[place.step].definition.target else {
                    return Ok(None);
                };
                let open = row.and_then(|row| row.call.filter(|_| row.is_open));
                let (inputs, attempt) = (state.inputs.clone(), state.attempt);
                (state.phase == Phase::Calling).then_some(AwaitedCall { tool, inputs, attempt, open })
            }
            Some(index) => {
                let wish = state.dialogue.as_ref().and_then(|dialogue| dialogue.open.get(index));
                wish.filter(|wish| wish.phase == Phase::Calling).and_then(|wish| {
                    let (inputs, open) = (wish.inputs.clone(), wish.call);
                    wish.tool.map(|tool| AwaitedCall { tool, inputs, attempt: 1, open })
                })
            }
        })
    }

    fn made_first(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        wanted: &AwaitedCall,
    ) -> Result<Result<PendingCall, Fault>, StoreError> {
        match self.base(run, place.step, wanted.tool)? {
            Ok(base) => self.prepare(run, place, base, &wanted.inputs, wanted.attempt),
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// Makes a call ready that was written down before; or says why it is not made again.
    fn made_again(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        call: ItemId,
        wanted: &AwaitedCall,
    ) -> Result<Result<PendingCall, Input>, StoreError> {
        let owner = self.load(run)?.row.owner;
        let judged = match self.base(run, place.step, wanted.tool)? {
            Ok(base) => self.judged(owner, base, &wanted.inputs)?,
            Err(fault) => Err(fault),
        };
        let (ready, inputs) = match judged {
            Ok(judged) => judged,
            Err(fault) => {
                let fault = self.explained(run, place.step, wanted.tool, fault)?;
                return Ok(Err(Input::Faulted { place, fault }));
            }
        };
        if ready.retry() == ToolRetry::Never {
            return Ok(Err(Input::Lost { place }));
        }
        self.ready_to_make(run, place, ready, inputs, call, wanted.attempt).map(Ok)
    }
}
