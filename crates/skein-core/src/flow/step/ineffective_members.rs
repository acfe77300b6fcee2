//! Refuses members of a step that would have no effect, shapes that cannot be asked for, and defaults that nobody could have
//! answered with.
//!
//! These checks run when a process is defined or changed (decisions Z31, Z32). A definition that was stored earlier is still read.

use serde_json::Value;

use super::{Interaction, OnExpire, Step, StepTarget};
use crate::catalog::schema::{self, AtOnce, Schema, SchemaJudge};
use crate::flow::execution::machine::is_empty;
use crate::flow::execution::review::check_answer;
use crate::rule::RuleViolation;

impl Step {
    /// Checks the step and its fallback; `number` is its place, from 1.
    pub(crate) fn check_effects(&self, number: usize) -> Result<(), RuleViolation> {
        let mut all = std::iter::once(self).chain(&self.fallback);
        let checked = all.try_for_each(|step| step.check_useless().and_then(|()| step.check_answers()));
        checked.map_err(|broken| {
            let problem = format!("step {number}: {}", broken.problem());
            RuleViolation::new(broken.rule(), problem, broken.remedy())
        })
    }

    fn check_useless(&self) -> Result<(), RuleViolation> {
        let refuse = |rule, problem, remedy| Err(RuleViolation::new(rule, problem, remedy));
        let asks = matches!(self.target, StepTarget::Ask(_));
        if asks && self.execution.timeout_s.is_some() {
            let problem = "execution.timeout has no effect on a question to a person";
            return refuse(
                "BR-STEP-005",
                problem,
                "leave it out; review.expiresAfter limits how long a person is waited for",
            );
        }
        if asks && self.execution.interaction == Interaction::Manual {
            let problem = "execution.interactionMode manual has no effect on a question to a person";
            return refuse("BR-STEP-005", problem, "leave it out; a person is asked anyway");
        }
        if asks && !self.inputs.is_empty() {
            let problem = "inputs have no effect on a question to a person";
            return refuse("BR-STEP-005", problem, "leave them out; fill what is asked in by places of ask.prompt");
        }
        if !matches!(self.target, StepTarget::Tool(_)) && self.output.token_budget.is_some() {
            let problem = "output.tokenBudget has no effect: the step calls no model";
            return refuse("BR-PROCESS-006", problem, "leave it out; a process has a tokenBudget of its own");
        }
        Ok(())
    }

    /// Checks an output that a person puts in place of the step's own (rule BR-STEP-004; decision Z32).
    pub fn check_output(&self, output: &Value) -> Result<(), RuleViolation> {
        self.check_output_by(output, &AtOnce)
    }

    /// [`Self::check_output`] with a judge of schemas.
    pub fn check_output_by<J: SchemaJudge>(&self, output: &Value, judge: &J) -> Result<(), J::Error> {
        if self.output.required && is_empty(output) {
            let problem = format!("{:?} is required and would be empty", self.output.variable);
            return Err(RuleViolation::new("BR-STEP-004", problem, "give an output that is not empty").into());
        }
        match &self.target {
            StepTarget::Ask(ask) => check_answer(&ask.schema, output, judge),
            StepTarget::Tool(_) | StepTarget::Process(_) => Ok(()),
        }
    }

    /// The shape that is asked for is a JSON Schema. Decision Z32: a default is an answer, so it has this shape.
    fn check_answers(&self) -> Result<(), RuleViolation> {
        let StepTarget::Ask(ask) = &self.target else { return Ok(()) };
        let schema = Schema::compile(&ask.schema).map_err(|bad| {
            let problem = format!("ask.schema is not usable: {bad}");
            RuleViolation::new("BR-STEP-006", problem, "describe the answer by a JSON Schema")
        })?;
        let Some(OnExpire::Default(default)) = self.review.as_ref().map(|review| &review.on_expire) else {
            return Ok(());
        };
        schema.check(default).map_err(|breaches| {
            let problem = format!("review.default does not fit ask.schema: {}", schema::describe(&breaches));
            RuleViolation::new("BR-STEP-006", problem, "give a default of the shape that is asked for")
        })
    }
}
