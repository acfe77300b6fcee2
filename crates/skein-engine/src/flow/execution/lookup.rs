//! Reads and cancels executions.

use serde_json::Value;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::flow::execution::input::Input;
use skein_core::{ExecutionId, OperationId, RuleViolation, Viewer};
use skein_store::flow::{ExecutionFilter, ExecutionRow, ReviewRow, StepRow};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::{ExecutionTransaction, PostCommit, WorkerSlot};
use crate::flow::trace::{self, TracedCall};
use crate::request::{CommittedChange, Outcome, Request, referred};

/// A run with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownExecution {
    /// The run.
    pub row: ExecutionRow,
    /// Its steps in order, those that wait included.
    pub steps: Vec<ShownStep>,
    /// What people were asked.
    pub reviews: Vec<ReviewRow>,
    /// The runs it started.
    pub children: Vec<ShownExecution>,
    /// Every call it made, in order.
    pub calls: Vec<TracedCall>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownStep {
    /// As its process calls it.
    pub id: String,
    /// Where it stands.
    pub row: StepRow,
}

impl Outcome for ShownExecution {
    fn reference(&self) -> Value {
        serde_json::json!({ "run": self.row.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let row = tx.execution(viewer, referred(reference, "run")?)?;
        Ok(Self { row, steps: Vec::new(), reviews: Vec::new(), children: Vec::new(), calls: Vec::new() })
    }
}

impl Engine {
    /// The caller's runs, newest first.
    pub async fn runs(
        &self,
        caller: &Caller,
        filter: ExecutionFilter,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Page<ExecutionRow, ExecutionId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.executions(&viewer, &filter, before, limit)).await?)
    }

    /// A run with its steps, calls, questions, and the runs it started; by its facts alone once its rows were forgotten.
    pub async fn run(&self, caller: &Caller, id: ExecutionId) -> Result<ShownExecution, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        Ok(self.parts().store.read(move |tx| engine.shown(tx, &viewer, id)).await?)
    }

    pub(crate) fn shown(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        id: ExecutionId,
    ) -> Result<ShownExecution, StoreError> {
        match tx.execution(viewer, id) {
            Ok(row) => self.show_run(tx, row),
            Err(StoreError::NotFound(_)) => self.run_by_facts(tx, viewer, id, 0),
            Err(error) => Err(error),
        }
    }

    /// Runs nest a few levels at most.
    pub(crate) fn show_run(&self, tx: &mut Tx<'_>, row: ExecutionRow) -> Result<ShownExecution, StoreError> {
        let ready = self.parts().plans.of(tx, row.process, row.process_version)?;
        let mut rows = tx.execution_steps(row.id)?.into_iter().peekable();
        let mut steps = Vec::new();
        for (index, planned) in ready.plan.steps().iter().enumerate() {
            let row = rows.next_if(|row| row.step == index).unwrap_or_else(|| StepRow::waiting(index));
            steps.push(ShownStep { id: planned.definition.id.clone(), row });
        }
        let reviews = tx.reviews_of(row.id)?;
        let children = tx.child_executions(row.id)?;
        let children = children.into_iter().map(|child| self.show_run(tx, child)).collect::<Result<_, _>>()?;
        let calls = trace::calls(tx, &Viewer::User(row.owner), row.id)?;
        Ok(ShownExecution { row, steps, reviews, children, calls })
    }

    /// The run that an operation stands for.
    pub(crate) async fn run_of(&self, caller: &Caller, operation: OperationId) -> Result<ExecutionId, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let found = tx.execution_of_operation(&viewer, operation)?;
            found.ok_or_else(|| StoreError::NotFound(operation.to_string()))
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// Cancels a run that has not ended: nothing more is begun, and what is under way is broken off.
    pub async fn cancel_run(
        &self,
        caller: &Caller,
        request: Request,
        id: ExecutionId,
    ) -> Result<CommittedChange<ShownExecution>, EngineError> {
        // What was said by now can still be heard afterwards.
        self.parts().streams.write(&self.parts().store, id).await;
        self.change_moving(caller, request, "execution.cancel", move |engine, tx, viewer, slot| {
            let row = tx.execution(viewer, id)?;
            if row.status.has_ended() {
                return Err(has_ended(&row, "nothing of it is left to cancel").into());
            }
            let after = cancel_all(engine, tx, slot, &[id])?;
            let row = tx.execution(viewer, id)?;
            Ok((engine.show_run(tx, row)?, after))
        })
        .await
    }
}

/// Takes runs back with all they have open.
pub(crate) fn cancel_all(
    engine: &Engine,
    tx: &mut Tx<'_>,
    slot: &WorkerSlot,
    runs: &[ExecutionId],
) -> Result<PostCommit, StoreError> {
    let mut execution_tx = ExecutionTransaction::new(engine, tx, slot);
    for run in runs {
        execution_tx.push_input(*run, Input::Cancel);
    }
    execution_tx.finish()
}

/// Keeps others from moving the run that an operation stands for, if it stands for one, until the transaction ends.
pub(crate) fn lock_run_of(tx: &mut Tx<'_>, viewer: &Viewer, operation: OperationId) -> Result<(), StoreError> {
    match tx.execution_of_operation(viewer, operation)? {
        Some(run) => tx.locked_execution(&SYSTEM, run).map(drop),
        None => Ok(()),
    }
}

/// Takes back the run that an operation stands for, if it stands for one that has not ended.
pub(crate) fn cancel_of(
    engine: &Engine,
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    operation: OperationId,
) -> Result<Option<PostCommit>, StoreError> {
    let Some(run) = tx.execution_of_operation(viewer, operation)? else { return Ok(None) };
    if tx.execution(viewer, run)?.status.has_ended() {
        return Ok(None);
    }
    cancel_all(engine, tx, &WorkerSlot::default(), &[run]).map(Some)
}

pub(crate) fn has_ended(row: &ExecutionRow, remedy: &'static str) -> SharingRefusal {
    let problem = format!("the run is {} already", row.status.as_str());
    SharingRefusal::Conflict(RuleViolation::new("BR-EXEC-001", problem, remedy))
}
