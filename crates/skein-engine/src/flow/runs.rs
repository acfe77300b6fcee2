//! Looking at runs, cancelling them, and beginning again where one stopped.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use skein_core::catalog::sharing::Refused;
use skein_core::flow::cost::Owed;
use skein_core::flow::execution::input::Input;
use skein_core::flow::execution::state::{Phase, RunStatus};
use skein_core::flow::plan::Plan;
use skein_core::{OperationId, RuleViolation, RunId, Viewer};
use skein_store::flow::{ExecutionFilter, ExecutionRow, ReviewRow, StepRow};
use skein_store::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::begin::{Beginning, Branch};
use crate::flow::mover::{Aftermath, Hand, Mover};
use crate::flow::trace::{self, TracedCall};
use crate::request::{Apart, Changed, Outcome, Request, referred};

/// A run with everything that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownRun {
    /// The run.
    pub row: ExecutionRow,
    /// Its steps in order, those that wait included.
    pub steps: Vec<ShownStep>,
    /// What people were asked.
    pub reviews: Vec<ReviewRow>,
    /// The runs it started.
    pub children: Vec<ShownRun>,
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

impl Outcome for ShownRun {
    fn reference(&self) -> Value {
        serde_json::json!({ "run": self.row.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let row = tx.execution(viewer, referred(reference, "run")?)?;
        Ok(Self { row, steps: Vec::new(), reviews: Vec::new(), children: Vec::new(), calls: Vec::new() })
    }
}

/// Where a run is to begin again, and what is changed before it does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branching {
    /// The step to begin at; the one that failed unless it is named.
    pub step: Option<String>,
    /// In place of what earlier steps gave, by their variables.
    pub outputs: Map<String, Value>,
    /// In place of what the run was given.
    pub context: Option<Map<String, Value>>,
}

impl Engine {
    /// The caller's runs, newest first.
    pub async fn runs(
        &self,
        caller: &Caller,
        filter: ExecutionFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<Page<ExecutionRow, RunId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.executions(&viewer, &filter, before, limit)).await?)
    }

    /// A run with its steps, calls, questions, and the runs it started; by its facts alone once its rows were forgotten.
    pub async fn run(&self, caller: &Caller, id: RunId) -> Result<ShownRun, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        Ok(self.parts().store.read(move |tx| engine.shown(tx, &viewer, id)).await?)
    }

    pub(super) fn shown(&self, tx: &mut Tx<'_>, viewer: &Viewer, id: RunId) -> Result<ShownRun, StoreError> {
        match tx.execution(viewer, id) {
            Ok(row) => self.show_run(tx, row),
            Err(StoreError::NotFound(_)) => self.run_by_facts(tx, viewer, id, 0),
            Err(error) => Err(error),
        }
    }

    /// Runs nest a few levels at most.
    fn show_run(&self, tx: &mut Tx<'_>, row: ExecutionRow) -> Result<ShownRun, StoreError> {
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
        Ok(ShownRun { row, steps, reviews, children, calls })
    }

    /// The run that an operation stands for.
    pub(super) async fn run_of(&self, caller: &Caller, operation: OperationId) -> Result<RunId, EngineError> {
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
        id: RunId,
    ) -> Result<Changed<ShownRun>, EngineError> {
        // What was said by now can still be heard afterwards.
        self.parts().streams.write(&self.parts().store, id).await;
        self.change_moving(caller, request, "execution.cancel", move |engine, tx, viewer, hand| {
            let row = tx.execution(viewer, id)?;
            if row.status.has_ended() {
                return Err(has_ended(&row).into());
            }
            let after = cancel_all(engine, tx, hand, &[id])?;
            let row = tx.execution(viewer, id)?;
            Ok((engine.show_run(tx, row)?, after))
        })
        .await
    }

    /// Begins a new run where an earlier one stopped or could have gone otherwise: what its earlier steps gave is kept.
    pub async fn branch_run(
        &self,
        caller: &Caller,
        request: Request,
        id: RunId,
        branching: Branching,
    ) -> Result<Changed<RunId>, EngineError> {
        let engine = self.clone();
        self.start(caller, request, "execution.branch", Apart::Serially, move |tx, viewer, operation| {
            let row = tx.execution(viewer, id)?;
            let shown = engine.show_run(tx, row)?;
            let ready = engine.parts().plans.of(tx, shown.row.process, shown.row.process_version)?;
            let anew = done_anew(&shown, &ready.plan, branching.step.as_deref())?;
            let kept = shown.steps.iter().filter(|step| !anew.contains(&step.row.step));
            let steps = kept.map(|step| {
                let variable = &ready.plan.steps()[step.row.step].definition.output.variable;
                // What the earlier run spent is its own.
                let mut row = StepRow { owed: Owed::default(), ..step.row.clone() };
                if let Some(output) = branching.outputs.get(variable) {
                    (row.state.output, row.state.phase) = (output.clone(), Phase::Done);
                }
                row
            });
            let steps = steps.collect();
            Ok(Beginning {
                owner: viewer.owner(),
                process: shown.row.process,
                context: branching.context.clone().unwrap_or_else(|| shown.row.context.clone()),
                operation: Some(operation),
                priority: shown.row.priority,
                branch: Some(Branch {
                    from: id,
                    process_version: shown.row.process_version,
                    steps,
                    outputs: branching.outputs.clone(),
                }),
                ..Beginning::default()
            })
        })
        .await
    }
}

/// The steps that are done anew: the one that is named or those that did not come out, and all that build upon them. What
/// else came out is kept, so that nothing is called twice that need not be.
fn done_anew(shown: &ShownRun, plan: &Plan, named: Option<&str>) -> Result<BTreeSet<usize>, StoreError> {
    let came_out = |step: &&ShownStep| match step.row.state.phase {
        Phase::Done | Phase::Skipped => true,
        Phase::Failed => !plan.steps()[step.row.step].definition.output.required,
        _ => false,
    };
    let mut anew: BTreeSet<usize> =
        shown.steps.iter().filter(|step| !came_out(step)).map(|step| step.row.step).collect();
    anew.extend(begin_at(shown, named)?);
    // Whatever a step builds upon stands before it, and what stands in for one after all.
    for (index, planned) in plan.steps().iter().enumerate() {
        if planned.deps.iter().chain(&planned.stands_in_for).any(|dep| anew.contains(dep)) {
            anew.insert(index);
        }
    }
    Ok(anew)
}

/// The step that is named; none where a run that did not come out is to go on.
fn begin_at(shown: &ShownRun, named: Option<&str>) -> Result<Option<usize>, StoreError> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-EXEC-006", problem, remedy).into());
    if let Some(named) = named {
        let found = shown.steps.iter().position(|step| step.id == named);
        return found.map_or_else(
            || refuse(format!("there is no step called {named:?}"), "name a step of the process"),
            |at| Ok(Some(at)),
        );
    }
    if shown.row.status != RunStatus::Failed && shown.row.status != RunStatus::Cancelled {
        return refuse(format!("the run is {}", shown.row.status.as_str()), "name the step to branch at");
    }
    Ok(None)
}

/// Takes runs back with all they have open.
pub(crate) fn cancel_all(
    engine: &Engine,
    tx: &mut Tx<'_>,
    hand: &Hand,
    runs: &[RunId],
) -> Result<Aftermath, StoreError> {
    let mut mover = Mover::new(engine, tx, hand);
    for run in runs {
        mover.tell(*run, Input::Cancel);
    }
    mover.finish()
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
) -> Result<Option<Aftermath>, StoreError> {
    let Some(run) = tx.execution_of_operation(viewer, operation)? else { return Ok(None) };
    if tx.execution(viewer, run)?.status.has_ended() {
        return Ok(None);
    }
    cancel_all(engine, tx, &Hand::default(), &[run]).map(Some)
}

fn has_ended(row: &ExecutionRow) -> Refused {
    let problem = format!("the run is {} already", row.status.as_str());
    Refused::Conflict(RuleViolation::new("BR-EXEC-001", problem, "nothing of it is left to cancel"))
}
