//! Timers of nested executions: the deadline of one that runs, and the delayed start of the next attempt (decision Z31).
//!
//! A timer is a job that no worker claims. Maintenance takes it when it is due, in the transaction that acts on it. The job
//! belongs to the execution it is about, so ending that execution removes it and pausing it stops the clock.

use serde_json::json;
use skein_core::catalog::tool::ToolRetry;
use skein_core::flow::execution::input::{CallSite, Fault, Input};
use skein_core::flow::execution::state::Phase;
use skein_core::flow::step::StepTarget;
use skein_core::{ExecutionId, Millis, RecordId, Viewer};
use skein_store::jobs::{DueJob, JobDraft};
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::flow::SYSTEM;
use crate::flow::execution::children::is_process_in_disguise;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::jobs::worker_loop::pause_after;
use crate::jobs::worker_pool::OfferedPlaces;
use crate::tool_call::record::retry_of;

/// The queue of deadlines: each belongs to the nested execution that it ends.
pub(crate) const DEADLINE: &str = "deadline";
/// The queue of delayed starts: each belongs to the execution whose step starts another.
const START: &str = "start";
/// Timers that are handled at a time.
const AT_ONCE: i64 = 64;

impl Engine {
    /// Acts on every timer that is due. One that fails keeps no other waiting; it stays due.
    pub(crate) async fn fire_timers(&self) -> Result<(), StoreError> {
        for queue in [DEADLINE, START] {
            let mut last = None;
            loop {
                let after = last.take();
                let due = self.parts().store.read(move |tx| tx.due_jobs(&SYSTEM, queue, after, AT_ONCE)).await?;
                for timer in &due {
                    match self.fire_timer(timer, false).await {
                        Err(StoreError::NeedsComputation(computation)) => {
                            let late = timer.clone();
                            let fire = move |engine: Self| async move { engine.fire_timer(&late, true).await };
                            self.postpone(timer.id.to_string(), computation, fire);
                        }
                        Err(error) if pause_after(&error).is_some() => return Err(error),
                        Err(error) => tracing::warn!(%error, job = %timer.id, queue, "a timer could not be acted on"),
                        Ok(()) => {}
                    }
                }
                match due.last() {
                    Some(timer) => last = Some(timer.id),
                    None => break,
                }
            }
        }
        Ok(())
    }

    async fn fire_timer(&self, timer: &DueJob, waits_for_computations: bool) -> Result<(), StoreError> {
        let (engine, timer) = (self.clone(), timer.clone());
        let places = OfferedPlaces::new(self.free_slots());
        let offered = places.clone();
        let fire = move |tx: &mut Tx<'_>| {
            offered.to(|slot| {
                let mut execution_tx = ExecutionTransaction::new(&engine, tx, slot);
                // The run before its job: ending a run locks in the same order.
                match execution_tx.load(timer.run) {
                    Ok(_) | Err(StoreError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
                if execution_tx.tx.take_due_job(&SYSTEM, timer.id)? && execution_tx.is_running(timer.run)? {
                    match timer.queue.as_str() {
                        DEADLINE => execution_tx.time_out(timer.run)?,
                        _ => execution_tx.start_delayed(timer.run, &timer.payload)?,
                    }
                }
                execution_tx.finish()
            })
        };
        let store = &self.parts().store;
        let fired =
            if waits_for_computations { store.write(fire).await } else { store.write_without_computing(fire).await };
        self.after(fired?.value, places.take());
        Ok(())
    }
}

impl ExecutionTransaction<'_, '_> {
    fn is_running(&mut self, run: ExecutionId) -> Result<bool, StoreError> {
        match self.load(run) {
            Ok(loaded) => Ok(!loaded.state.status.has_ended()),
            Err(StoreError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How long the run that a step starts may take.
    fn timeout_s(&mut self, run: ExecutionId, place: CallSite) -> Result<Option<u32>, StoreError> {
        Ok(self.load(run)?.ready.plan.steps()[place.step].definition.execution.timeout_s)
    }

    /// Sets the deadline of a nested execution that begins now, if its step has a timeout (rule BR-STEP-005).
    pub(crate) fn set_deadline(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        child: ExecutionId,
    ) -> Result<(), StoreError> {
        let Some(seconds) = self.timeout_s(run, place)? else { return Ok(()) };
        let at = self.tx.now().plus(i64::from(seconds) * 1_000);
        self.set_timer(child, DEADLINE, at, place)
    }

    /// Removes the deadline of a nested execution that ended.
    pub(crate) fn clear_deadline(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        child: ExecutionId,
    ) -> Result<(), StoreError> {
        if self.timeout_s(run, place)?.is_some() {
            self.tx.cancel_queue_of(&SYSTEM, child, DEADLINE)?;
        }
        Ok(())
    }

    /// Starts the run of a step after a pause.
    pub(crate) fn start_later(&mut self, run: ExecutionId, place: CallSite, delay_ms: i64) -> Result<(), StoreError> {
        let at = self.tx.now().plus(delay_ms);
        self.set_timer(run, START, at, place)
    }

    fn set_timer(&mut self, run: ExecutionId, queue: &str, at: Millis, place: CallSite) -> Result<(), StoreError> {
        let row = &self.load(run)?.row;
        let (viewer, is_paused, priority) = (Viewer::User(row.owner), row.paused_at.is_some(), row.priority);
        let payload = serde_json::to_string(&place).expect("a place is plain JSON");
        let step = i64::try_from(place.step).expect("steps are few");
        let draft = JobDraft { queue: queue.to_owned(), priority, run_at: Some(at), payload, run: Some((run, step)) };
        let queued = if is_paused { self.tx.enqueue_paused(&viewer, &draft) } else { self.tx.enqueue(&viewer, &draft) };
        queued.map(drop)
    }

    fn start_delayed(&mut self, run: ExecutionId, payload: &str) -> Result<(), StoreError> {
        let place: CallSite = serde_json::from_str(payload).map_err(|_| StoreError::Damaged("a timer".to_owned()))?;
        let loaded = self.load(run)?;
        let state = &loaded.state.steps[place.step];
        let StepTarget::Process(process) = loaded.ready.plan.steps()[place.step].definition.target else {
            return Ok(());
        };
        if state.phase != Phase::Running {
            return Ok(());
        }
        let context = state.inputs.clone();
        self.start_child(run, place, process, context)
    }

    /// Cancels a nested execution whose time is over. Its parent hears of a timeout.
    fn time_out(&mut self, child: ExecutionId) -> Result<(), StoreError> {
        let Some((parent, place)) = self.load(child)?.row.parent else { return Ok(()) };
        let seconds = self.timeout_s(parent, place)?.unwrap_or_default();
        let message = format!("the nested execution did not end within {seconds} s");
        let details = json!({ "runId": child, "step": place.step + 1 });
        let uncertain = self.has_unrepeatable_call(child)?;
        let fault =
            Fault { retryable: true, uncertain, details, ..Fault::new("timeout", message).by_rule("BR-STEP-005") };
        self.timed_out.insert(child, fault);
        self.push_input(child, Input::Cancel);
        Ok(())
    }

    /// Whether a call is under way, in the run or below it, that must not be made twice.
    fn has_unrepeatable_call(&mut self, run: ExecutionId) -> Result<bool, StoreError> {
        for (place, _) in self.load(run)?.open_calls() {
            if self.is_unrepeatable(run, place)? {
                return Ok(true);
            }
        }
        for child in self.tx.child_executions(run)?.into_iter().filter(|child| !child.status.has_ended()) {
            if self.has_unrepeatable_call(child.id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_unrepeatable(&mut self, run: ExecutionId, place: CallSite) -> Result<bool, StoreError> {
        let Some(tool) = self.called_tool(run, place)? else { return Ok(false) };
        let Ok(base) = self.base(run, place.step, tool)? else { return Ok(true) };
        // The run behind it is looked at by itself.
        let retry = retry_of(&base.tool.entry, base.service.as_ref().map(|service| &service.entry));
        Ok(!is_process_in_disguise(&base.tool) && retry == ToolRetry::Never)
    }

    fn called_tool(&mut self, run: ExecutionId, place: CallSite) -> Result<Option<RecordId>, StoreError> {
        let loaded = self.load(run)?;
        Ok(match (place.call, &loaded.ready.plan.steps()[place.step].definition.target) {
            (None, StepTarget::Tool(tool)) => Some(*tool),
            (None, StepTarget::Process(_) | StepTarget::Ask(_)) => None,
            (Some(call), _) => {
                let dialogue = loaded.state.steps[place.step].dialogue.as_ref();
                dialogue.and_then(|dialogue| dialogue.open.get(call)?.tool)
            }
        })
    }
}
