//! Pausing runs and letting them go on (decision 0026): whatever a paused run would call next waits in the queue, out of
//! everybody's way.

use std::collections::VecDeque;

use serde_json::Map;
use skein_core::garden::event::EventName;
use skein_core::{ExecutionId, Millis, Viewer};
use skein_store::flow::{ExecutionRow, StepRow};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::execution::lookup::{ShownExecution, has_ended};
use crate::flow::execution::timers::DEADLINE;
use crate::flow::execution::transaction::PostCommit;
use crate::request::{CommittedChange, Request};

impl Engine {
    /// Pauses a run that has not ended, with all that it started: nothing more is begun, and what is under way ends as ever. Or
    /// lets it go on. Where that is so already, nothing changes.
    pub async fn pause_run(
        &self,
        caller: &Caller,
        request: Request,
        id: ExecutionId,
        is_paused: bool,
    ) -> Result<CommittedChange<ShownExecution>, EngineError> {
        let kind = if is_paused { "execution.pause" } else { "execution.go_on" };
        self.change_moving(caller, request, kind, move |engine, tx, viewer, _| {
            let row = tx.execution(viewer, id)?;
            if row.status.has_ended() {
                return Err(
                    has_ended(&row, "nothing of it is left to begin; resume or branch it to run it again").into()
                );
            }
            let queued = pause_all(engine, tx, viewer, id, is_paused)?;
            let row = tx.execution(viewer, id)?;
            Ok((engine.show_run(tx, row)?, PostCommit { queued, ..PostCommit::default() }))
        })
        .await
    }
}

/// Pauses a run and those below it, or lets them go on; whether there is something to take up.
fn pause_all(
    engine: &Engine,
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    outermost: ExecutionId,
    is_paused: bool,
) -> Result<bool, StoreError> {
    let mut runs = VecDeque::from([outermost]);
    let mut queued = false;
    while let Some(run) = runs.pop_front() {
        // The run before its jobs, and before those it started: whoever cancels takes them in this order, too.
        let row = tx.locked_execution(&SYSTEM, run)?;
        if row.status.has_ended() {
            continue;
        }
        if row.paused_at.is_some() != is_paused {
            queued |= pause_one(engine, tx, viewer, &row, is_paused)?;
        }
        let below = tx.child_executions(run)?;
        runs.extend(below.into_iter().filter(|child| !child.status.has_ended()).map(|child| child.id));
    }
    Ok(queued)
}

fn pause_one(
    engine: &Engine,
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    row: &ExecutionRow,
    is_paused: bool,
) -> Result<bool, StoreError> {
    let (run, now) = (row.id, tx.now());
    if let Some(since) = row.paused_at {
        note_waited(engine, tx, row, since)?;
        // A nested execution's time does not run while it is paused.
        tx.delay_queue_of(&SYSTEM, run, DEADLINE, now.0 - since.max(row.created_at).0)?;
    }
    tx.note_paused(&SYSTEM, run, is_paused.then_some(now))?;
    let (told, queued) = if is_paused {
        tx.pause_jobs_of(&SYSTEM, run)?;
        (EventName::ExecutionPaused, false)
    } else {
        (EventName::ExecutionContinued, tx.resume_jobs_of(&SYSTEM, run)?)
    };
    tx.append_item(viewer, &told.to_draft(Some(&run.to_string()), Map::new()))?;
    Ok(queued)
}

/// Models may take so long with their tools, and being paused is none of that (decision Z14).
fn note_waited(engine: &Engine, tx: &mut Tx<'_>, row: &ExecutionRow, since: Millis) -> Result<(), StoreError> {
    let ready = engine.parts().plans.of(tx, row.process, row.process_version)?;
    let offers = |step: &StepRow| !ready.plan.steps()[step.step].definition.offers.is_empty();
    let mut steps: Vec<StepRow> = tx.execution_steps(row.id)?.into_iter().filter(offers).collect();
    for step in &mut steps {
        step.state.was_paused(since, tx.now());
    }
    if steps.is_empty() { Ok(()) } else { tx.put_steps(row.id, &steps) }
}
