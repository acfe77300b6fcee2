//! Completes an execution: delivers its output and closes everything it left open.

use serde_json::{Value, json};
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::input::{ExecutionOutcome, Fault, Input};
use skein_core::flow::execution::item_payload::{
    CausalLink, CausalLinkKind, ExecutionEnded, Failure, OutputTarget, StepSummary,
};
use skein_core::flow::execution::state::{Execution, ExecutionStatus};
use skein_core::tree::content::Content;
use skein_core::{ExecutionId, ItemId, Viewer};
use skein_store::StoreError;
use skein_store::flow::ExecutionRow;
use skein_store::metrics::Measurement;
use skein_store::operations::OperationState;
use skein_store::tree::append::{NodeBody, RawResponseSource};

use crate::flow::SYSTEM;
use crate::flow::answer::authorship::AuthoredText;
use crate::flow::execution::streams::EndedExecution;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::jobs::telemetry;
use crate::tree::follow_answer;

/// How much of an output an operation tells; the rest is told by the run.
const OUTPUT_TOLD_BYTES_MAX: usize = 256 << 10;

/// What became of a run, as its rows and facts tell it.
struct Outcome {
    status: ExecutionStatus,
    output: Value,
    failure: Option<Failure>,
}

impl ExecutionTransaction<'_, '_> {
    pub(crate) fn end(&mut self, run: ExecutionId, ending: ExecutionOutcome) -> Result<(), StoreError> {
        let mut outcome = self.outcome(run, ending)?;
        let mut ended = self.told(run, &outcome)?;
        let mut draft = ended.to_draft();
        if let Err(bad) = &draft {
            let fault = Fault::new("output_not_storable", format!("the output of the process cannot be kept: {bad}"));
            outcome = self.outcome(run, ExecutionOutcome::Failed { step: None, fault })?;
        }
        let target = self.load(run)?.row.target;
        if let Some(target) = target {
            self.fill_node(run, target, &mut outcome)?;
        }
        if draft.is_err() || target.is_some() {
            ended = self.told(run, &outcome)?;
            draft = ended.to_draft();
        }
        let loaded = self.load(run)?;
        loaded.state.status = outcome.status;
        let (row, state) = (loaded.row.clone(), loaded.state.clone());
        self.append_item(row.owner, draft?)?;
        let output = Some(&outcome.output).filter(|_| outcome.status == ExecutionStatus::Completed);
        self.tx.end_execution(run, &state, output, outcome.failure.as_ref())?;
        self.measure_run(&row, &ended)?;
        if let Some(operation) = row.operation {
            self.tx.end_operation(&SYSTEM, operation, &operation_state(run, &outcome))?;
        }
        if let Some((parent, place)) = row.parent {
            let result = match outcome.failure {
                None if outcome.status == ExecutionStatus::Completed => Ok(outcome.output),
                None => Err(self.timed_out.remove(&run).unwrap_or_else(cancelled)),
                Some(failure) => Err(child_fault(run, failure)),
            };
            self.tell_parent((parent, place), result, &ended)?;
        } else if self.engine.parts().gateway.telemetry().is_some() {
            telemetry::enqueue(self.tx, &Viewer::User(row.owner), run)?;
        }
        let is_silent = self.load(run)?.ready.plan.streamed_step().is_none();
        self.after.ended.push(EndedExecution { run, status: outcome.status, is_silent });
        Ok(())
    }

    /// Ends a run as failed that cannot be moved any more, because where it stands cannot be read: of that, there is its row
    /// at most. What its steps were at is told by their own facts.
    pub(crate) fn end_unread(
        &mut self,
        run: ExecutionId,
        row: Result<ExecutionRow, StoreError>,
        fault: Fault,
    ) -> Result<(), StoreError> {
        self.tx.cancel_jobs_of(&SYSTEM, run)?;
        self.withdraw_reviews(run)?;
        self.after.withdrawn.push(run);
        let status = ExecutionStatus::Failed;
        let (context, steps, stack) = Default::default();
        let state = Execution { status, context, steps, levels_left: 0, stack, token_budget: None };
        let row = match row {
            Ok(row) if row.status.has_ended() => return Ok(()),
            Ok(row) => row,
            Err(StoreError::NotFound(_)) => return Ok(()),
            // Nobody can be told what nobody can read: only that it is over.
            Err(StoreError::Damaged(_)) => return self.tx.end_execution(run, &state, None, None),
            Err(error) => return Err(error),
        };
        let failure = Failure {
            process_id: row.process,
            process_name: row.process_name.clone(),
            step: None,
            step_id: None,
            suggested_action: suggestion(&fault).to_owned(),
            fault,
        };
        let outcome = Outcome { status, output: Value::Null, failure: Some(failure.clone()) };
        let ended = ExecutionEnded {
            run_id: run,
            status,
            output: Value::Null,
            failure: outcome.failure.clone(),
            latency_ms: self.tx.now().0 - row.created_at.0,
            tokens: 0,
            owed: CostTotals::default(),
            steps: Vec::new(),
        };
        let viewer = Viewer::User(row.owner);
        self.tx.append_item(&viewer, &ended.to_draft()?)?;
        self.tx.end_execution(run, &state, None, Some(&failure))?;
        self.measure_run(&row, &ended)?;
        if let Some(target) = row.target {
            self.leave_node(&viewer, run, target, &failure.fault.message)?;
        }
        if let Some(operation) = row.operation {
            self.tx.end_operation(&SYSTEM, operation, &operation_state(run, &outcome))?;
        }
        for child in self.tx.child_executions(run)?.into_iter().filter(|child| !child.status.has_ended()) {
            self.push_input(child.id, Input::Cancel);
        }
        if let Some(parent) = row.parent {
            self.tell_parent(parent, Err(child_fault(run, failure)), &ended)?;
        }
        self.after.ended.push(EndedExecution { run, status, is_silent: false });
        Ok(())
    }

    /// The end of a run as a fact.
    fn told(&mut self, run: ExecutionId, outcome: &Outcome) -> Result<ExecutionEnded, StoreError> {
        let (now, loaded) = (self.tx.now(), self.load(run)?);
        Ok(ExecutionEnded {
            run_id: run,
            status: outcome.status,
            output: outcome.output.clone(),
            failure: outcome.failure.clone(),
            latency_ms: now.0 - loaded.row.created_at.0,
            tokens: loaded.state.tokens(),
            owed: loaded.owed(),
            steps: told_steps(loaded),
        })
    }

    fn outcome(&mut self, run: ExecutionId, ending: ExecutionOutcome) -> Result<Outcome, StoreError> {
        Ok(match ending {
            ExecutionOutcome::Completed { output } => {
                Outcome { status: ExecutionStatus::Completed, output, failure: None }
            }
            ExecutionOutcome::Cancelled => {
                Outcome { status: ExecutionStatus::Cancelled, output: Value::Null, failure: None }
            }
            ExecutionOutcome::Failed { step, fault } => {
                let fault = match step {
                    Some(step) => self.explained_failure(run, step, fault)?,
                    None => fault,
                };
                let loaded = self.load(run)?;
                let step_id = step.map(|step| loaded.ready.plan.steps()[step].definition.id.clone());
                let failure = Failure {
                    process_id: loaded.row.process,
                    process_name: loaded.row.process_name.clone(),
                    step: step.map(|step| step + 1),
                    step_id,
                    suggested_action: suggestion(&fault).to_owned(),
                    fault,
                };
                Outcome { status: ExecutionStatus::Failed, output: Value::Null, failure: Some(failure) }
            }
        })
    }

    /// Whole or not at all: the node is completed with the whole output, or left as one that came to nothing (rule
    /// BR-EXEC-001).
    fn fill_node(&mut self, run: ExecutionId, target: OutputTarget, outcome: &mut Outcome) -> Result<(), StoreError> {
        let viewer = Viewer::User(self.load(run)?.row.owner);
        if outcome.status == ExecutionStatus::Completed {
            match self.complete_node(run, target, &outcome.output)? {
                Ok(()) => return Ok(()),
                Err(fault) => *outcome = self.outcome(run, ExecutionOutcome::Failed { step: None, fault })?,
            }
        }
        let reason = match &outcome.failure {
            Some(failure) => failure.fault.message.clone(),
            None => "it was cancelled".to_owned(),
        };
        self.leave_node(&viewer, run, target, &reason)
    }

    /// Leaves a node as one that came to nothing, and the conversation as it was before the answer was requested.
    fn leave_node(
        &mut self,
        viewer: &Viewer,
        run: ExecutionId,
        target: OutputTarget,
        reason: &str,
    ) -> Result<(), StoreError> {
        match self.tx.fail_node(viewer, target.node_id, reason) {
            Ok(_) => self.roll_back(viewer, run, target),
            // It is no longer pending, or gone: there is nothing to leave behind.
            Err(StoreError::Refused(_) | StoreError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn complete_node(
        &mut self,
        run: ExecutionId,
        target: OutputTarget,
        output: &Value,
    ) -> Result<Result<(), Fault>, StoreError> {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let AuthoredText { author, text, raw } = self.authored_output(run, text)?;
        let content = json!({ "type": "text", "text": text });
        let checked = Content::parse(&content).and_then(|content| content.refuse_empty().map(|()| content));
        let content = match checked {
            Ok(content) => content.to_document(),
            Err(violation) => return Ok(Err(Fault::breach(&violation))),
        };
        let viewer = Viewer::User(self.load(run)?.row.owner);
        let said = NodeBody { content, created_at: None, raw: raw.map(RawResponseSource::Kept) };
        match self.tx.complete_node_by(&viewer, target.node_id, &said, author) {
            Ok(answer) => {
                follow_answer(self.tx, &viewer, &answer)?;
                let node = ItemId::from(target.node_id);
                let mut cited = self.fused_from(run, target)?;
                if raw.is_none() {
                    cited.extend(self.responses_of(run)?);
                }
                let loaded = self.load(run)?;
                let cause = loaded.last_cause();
                loaded.links.push(CausalLink { kind: CausalLinkKind::Triggers, source: cause, target: node });
                let cite = |from| CausalLink { kind: CausalLinkKind::DerivedFrom, source: node, target: from };
                loaded.links.extend(cited.into_iter().map(cite));
                Ok(Ok(()))
            }
            Err(StoreError::Rule(violation)) => Ok(Err(Fault::breach(&violation))),
            Err(error @ (StoreError::Refused(_) | StoreError::NotFound(_) | StoreError::Forbidden)) => {
                Ok(Err(Fault::new("node_unavailable", error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes back everything a run has open: calls, questions, other runs.
    pub(crate) fn withdraw(&mut self, run: ExecutionId) -> Result<(), StoreError> {
        self.let_go()?;
        // What was to be called at once is not.
        let unmade = self.after.handed.extract_if(.., |handed| handed.run == run);
        let unmade: Vec<ItemId> = unmade.map(|handed| handed.call).collect();
        self.tx.cancel_jobs_of(&SYSTEM, run)?;
        self.withdraw_reviews(run)?;
        self.close_calls(run, &unmade)?;
        for child in self.tx.child_executions(run)? {
            if !child.status.has_ended() {
                self.push_input(child.id, Input::Cancel);
            }
        }
        self.after.withdrawn.push(run);
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "durations and tokens are far below 2^52")]
    fn measure_run(&mut self, row: &ExecutionRow, ended: &ExecutionEnded) -> Result<(), StoreError> {
        let (entity, run) = (row.process, Some(row.id));
        let of = |name, value| Measurement { name, scope: "process", entity, run, value };
        self.tx.measure(row.owner, &of("latency_ms", ended.latency_ms as f64))?;
        self.tx.measure(row.owner, &of("tokens", ended.tokens as f64))?;
        if ended.status == ExecutionStatus::Failed {
            self.tx.measure(row.owner, &of("errors", 1.0))?;
        }
        for cost in ended.owed.costs() {
            let name = format!("cost.{}", cost.currency);
            self.tx.measure(cost.payer_id, &Measurement { name: &name, ..of("cost", cost.amount.as_f64()) })?;
        }
        Ok(())
    }
}

fn told_steps(loaded: &crate::flow::execution::transaction::LoadedExecution) -> Vec<StepSummary> {
    let steps = loaded.ready.plan.steps().iter().zip(&loaded.state.steps);
    let told = steps.map(|(planned, state)| StepSummary {
        id: planned.definition.id.clone(),
        phase: state.phase,
        attempts: state.attempt,
        fault: state.fault.clone(),
    });
    told.collect()
}

/// What a person can do about a failure.
fn suggestion(fault: &Fault) -> &'static str {
    match fault.code.as_str() {
        "tool_inaccessible" => "ask the tool's owner to share it again, or put another tool in its place",
        "tool_not_found" => "put another tool in its place",
        "timeout" => "give the step a longer timeout, or try again later",
        "recursion_limit_exceeded" => "nest the processes less deep, or raise maxRecursionDepth",
        "output_not_storable" => "let the output template, or the tool, select less",
        "token_budget_exceeded" => "raise the process's tokenBudget, or ask for less",
        "denied" => "run it again with other inputs",
        "lost_worker" => "see what ends the workers at this call, then resume the run",
        "not_begun" => "mend what the message says, then resume the run",
        "review_expired" => "run it again and decide in time, or let the review wait longer",
        "rule_violation" => "mend what the rule names, then resume the run",
        _ if fault.retryable => "resume the run later: this may pass",
        _ => "look at the step's call, mend it, then resume the run",
    }
}

fn cancelled() -> Fault {
    Fault::new("cancelled", "the run it started was cancelled")
}

fn child_fault(run: ExecutionId, failure: Failure) -> Fault {
    let mut fault = failure.fault;
    let inner = std::mem::take(&mut fault.details);
    fault.message = format!("{}: {}", failure.process_name, fault.message);
    fault.details = json!({ "runId": run, "processName": failure.process_name, "stepId": failure.step_id,
        "details": inner });
    fault
}

fn operation_state(run: ExecutionId, outcome: &Outcome) -> OperationState {
    match (outcome.status, &outcome.failure) {
        (ExecutionStatus::Completed, _) => {
            let mut result = json!({ "runId": run });
            if outcome.output.to_string().len() <= OUTPUT_TOLD_BYTES_MAX {
                result["output"] = outcome.output.clone();
            }
            OperationState::Completed { result: result.to_string() }
        }
        (_, Some(failure)) => {
            let mut error = serde_json::to_value(failure).unwrap_or_default();
            error["runId"] = json!(run);
            OperationState::Failed { error: error.to_string() }
        }
        _ => OperationState::Cancelled,
    }
}
