//! Beginning again where a run stopped, or could have gone otherwise: what its earlier steps gave is kept.
//!
//! What an earlier run spent and what a person approved for it stays its own. Where it answered in a conversation, the new
//! one answers there too, as a further alternative: what was said or failed stays.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::item_payload::OutputTarget;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::flow::plan::Plan;
use skein_core::flow::step;
use skein_core::tree::node::ExecutedBy;
use skein_core::tree::rollback::PriorState;
use skein_core::{ExecutionId, PathId, RuleViolation, UserId, Viewer};
use skein_store::flow::{ExecutionRow, StepRow};
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::answer::authorship::expected_author;
use crate::flow::answer::request::sources_of;
use crate::flow::answer::rollback::{begun, prior_path};
use crate::flow::execution::begin::{Branch, ExecutionStart};
use crate::flow::execution::lookup::{ShownExecution, ShownStep};
use crate::flow::process::plan_cache::ReadyProcess;
use crate::request::{CommittedChange, Isolation, Request};

const RULE: &str = "BR-EXEC-006";

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
    /// Begins a new run where an earlier one stopped or could have gone otherwise.
    pub async fn branch_run(
        &self,
        caller: &Caller,
        request: Request,
        id: ExecutionId,
        branching: Branching,
    ) -> Result<CommittedChange<ExecutionId>, EngineError> {
        let engine = self.clone();
        self.start(caller, request, "execution.branch", Isolation::Serially, move |tx, viewer, operation| {
            let row = tx.execution(viewer, id)?;
            let shown = engine.show_run(tx, row)?;
            let ready = engine.parts().plans.of(tx, shown.row.process, shown.row.process_version)?;
            let anew = done_anew(&shown, &ready.plan, branching.step.as_deref())?;
            engine.check_outputs(tx, viewer.owner(), &branching.outputs, &ready.plan, &anew)?;
            let kept = shown.steps.iter().filter(|step| !anew.contains(&step.row.step));
            let steps = kept.map(|step| {
                let variable = &ready.plan.steps()[step.row.step].definition.output.variable;
                taken_over(step, branching.outputs.get(variable))
            });
            let steps = steps.collect();
            let (target, prior) = place_again(tx, viewer, &shown.row, &ready)?.unzip();
            Ok(ExecutionStart {
                owner: viewer.owner(),
                process: shown.row.process,
                context: branching.context.clone().unwrap_or_else(|| shown.row.context.clone()),
                operation: Some(operation),
                priority: shown.row.priority,
                session: target.map(|target| ExecutionId::from_bytes(*target.conversation_id.as_bytes())),
                cause: target.and_then(|target| target.parent_id).map(Into::into),
                target,
                prior: prior.unwrap_or_default(),
                branch: Some(Branch {
                    from: id,
                    process_version: shown.row.process_version,
                    steps,
                    outputs: branching.outputs.clone(),
                }),
                ..ExecutionStart::default()
            })
        })
        .await
    }

    /// What a person puts in place of an output stands where the output of a kept step stood, and fits as that did.
    fn check_outputs(
        &self,
        tx: &mut Tx<'_>,
        owner: UserId,
        outputs: &Map<String, Value>,
        plan: &Plan,
        anew: &BTreeSet<usize>,
    ) -> Result<(), StoreError> {
        for (variable, output) in outputs {
            let step = plan.steps().iter().position(|planned| planned.definition.output.variable == *variable);
            let Some(step) = step else {
                return refuse(format!("no step gives {variable:?}"), "name the variable of an earlier step");
            };
            if anew.contains(&step) {
                return refuse(format!("{variable:?} is given anew"), "branch at a later step, or leave it out");
            }
            let definition = &plan.steps()[step].definition;
            definition.check_output_by(output, &self.judge(owner))?;
            if let step::StepTarget::Tool(tool) = definition.target {
                match self.parts().entries.past.load(tx, &SYSTEM, owner, definition.naming(tool)) {
                    Ok(tool) => self.check_output(owner, &tool, output)?,
                    Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// What an earlier step gave, without what it cost and what a person approved for that run.
fn taken_over(step: &ShownStep, output: Option<&Value>) -> StepRow {
    let mut row = StepRow { owed: CostTotals::default(), ..step.row.clone() };
    row.state.tokens = 0;
    if let Some(dialogue) = &mut row.state.dialogue {
        dialogue.approved.clear();
    }
    if let Some(output) = output {
        (row.state.output, row.state.phase) = (output.clone(), Phase::Done);
        // A person's output is no model's answer.
        row.raw = None;
    }
    row
}

/// A place beside the answer of an earlier run, if it was to make one.
fn place_again(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    earlier: &ExecutionRow,
    ready: &ReadyProcess,
) -> Result<Option<(OutputTarget, PriorState)>, StoreError> {
    let Some(OutputTarget { conversation_id: conversation, node_id, parent_id: parent }) = earlier.target else {
        return Ok(None);
    };
    let turn = match tx.node(viewer, node_id) {
        Ok(node) => node.turn(),
        Err(StoreError::NotFound(_) | StoreError::Refused(_)) => None,
        Err(error) => return Err(error),
    };
    let Some(turn) = turn else { return Ok(None) };
    // A reader who went elsewhere stays there. A failed answer sent its reader back to where they were.
    let path = PathId::main_of(conversation);
    let cursor = tx.path_cursor(viewer, conversation, path)?;
    let before = begun(tx, viewer, earlier.id)?.and_then(|begun| begun.prior.path).map(|path| path.cursor.or(parent));
    let leads = (cursor == Some(node_id) || before == Some(cursor)).then_some(path);
    let (author, author_type) = expected_author(tx, viewer, ready)?;
    let executed_by = ExecutedBy { process_id: earlier.process, version: earlier.process_version };
    let placing = NodePlacement {
        conversation,
        position: NodePosition::Beside { turn, parent },
        author,
        author_type,
        sources: sources_of(tx, viewer, node_id)?,
        executed_by: Some(executed_by),
        leads,
    };
    let archived_until = tx.conversation(viewer, conversation)?.archived.then(|| tx.now());
    let (node, moved) = tx.reserve_node(viewer, &placing)?;
    let led = leads.map(|_| prior_path(tx, viewer, cursor, &node, &moved)).transpose()?;
    let target = OutputTarget { conversation_id: conversation, node_id: node.id, parent_id: node.parent };
    Ok(Some((target, PriorState { path: led, hint: None, archived_until })))
}

fn refuse<T>(problem: String, remedy: &'static str) -> Result<T, StoreError> {
    Err(RuleViolation::new(RULE, problem, remedy).into())
}

/// The steps that are done anew: the one that is named or those that did not come out, and all that build upon them. What
/// else came out is kept, so that nothing is called twice that need not be.
fn done_anew(shown: &ShownExecution, plan: &Plan, named: Option<&str>) -> Result<BTreeSet<usize>, StoreError> {
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
fn begin_at(shown: &ShownExecution, named: Option<&str>) -> Result<Option<usize>, StoreError> {
    if let Some(named) = named {
        let found = shown.steps.iter().position(|step| step.id == named);
        return found.map_or_else(
            || refuse(format!("there is no step called {named:?}"), "name a step of the process"),
            |at| Ok(Some(at)),
        );
    }
    if shown.row.status != ExecutionStatus::Failed && shown.row.status != ExecutionStatus::Cancelled {
        return refuse(format!("the run is {}", shown.row.status.as_str()), "name the step to branch at");
    }
    Ok(None)
}
