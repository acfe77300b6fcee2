//! The machine: `step(state, input) → (state, effects)`.
//!
//! A step begins when everything it depends on has ended. A failed one is repeated, replaced, or ends the run, in this
//! order; one whose output is not required leaves null instead (rules BR-STEP-004, BR-EXEC-005).

use serde_json::{Map, Value, json};

use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{CallSite, Effect, ExecutionOutcome, Fault, Input, RequestedToolCall};
use crate::flow::execution::review::{ApprovalScope, Decision, ReviewRequest};
use crate::flow::execution::state::{Execution, ExecutionStatus, Phase, StepState};
use crate::flow::execution::tool_loop::told;
use crate::flow::plan::{Plan, PlannedStep};
use crate::flow::step::{Interaction, OnExpire, Step, StepTarget};
use crate::id::RecordId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Where a question stands among the inputs of a step that asks one.
const PROMPT: &str = "prompt";

/// Where a run stands after something happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    pub state: Execution,
    pub effects: Vec<Effect>,
    /// Whether it fitted; what did not changed nothing.
    pub fitted: bool,
}

/// One move of a run.
pub fn step(plan: &Plan, state: &Execution, input: &Input, now: Millis) -> Transition {
    let mut machine = Machine { plan, state: state.clone(), effects: Vec::new(), now, silent: None };
    if state.status.has_ended() || !machine.take(input) {
        return Transition { state: state.clone(), effects: Vec::new(), fitted: false };
    }
    machine.settle();
    Transition { state: machine.state, effects: machine.effects, fitted: true }
}

pub(super) struct Machine<'a> {
    plan: &'a Plan,
    pub(super) state: Execution,
    pub(super) effects: Vec<Effect>,
    pub(super) now: Millis,
    /// The step whose model just said nothing.
    silent: Option<usize>,
}

impl<'a> Machine<'a> {
    /// Whether the input fits where the run stands.
    fn take(&mut self, input: &Input) -> bool {
        match input {
            // What another run gave may be there already.
            Input::Begin => !self.state.steps.iter().any(|step| step.phase.is_open()),
            Input::Returned { place, output, tokens, wishes, owed, says_nothing } => {
                self.silent = says_nothing.then_some(place.step);
                self.is(*place, Phase::Calling) && self.returned(*place, output, *tokens, (wishes, owed))
            }
            Input::Faulted { place, fault } => self.is(*place, Phase::Calling) && self.faulted(*place, fault.clone()),
            Input::Lost { place } => self.is(*place, Phase::Calling) && self.lost(*place),
            Input::Held { place } => place.call.is_none() && self.is(*place, Phase::Calling) && self.held(place.step),
            Input::Decided { place, decision } => {
                (self.is(*place, Phase::Asking) || self.is(*place, Phase::Unknown)) && self.decided(*place, decision)
            }
            Input::Expired { place } => {
                (self.is(*place, Phase::Asking) || self.is(*place, Phase::Unknown)) && self.expired(*place)
            }
            Input::ChildEnded { place, outcome, tokens } => {
                self.is(*place, Phase::Running) && self.child_ended(*place, outcome.clone(), *tokens)
            }
            Input::Cancel => {
                self.end(ExecutionStatus::Cancelled, ExecutionOutcome::Cancelled);
                true
            }
        }
    }

    fn is(&self, place: CallSite, phase: Phase) -> bool {
        let Some(step) = self.state.steps.get(place.step) else { return false };
        match place.call {
            None => step.phase == phase,
            Some(call) => {
                let open = step.dialogue.as_ref().and_then(|dialogue| dialogue.open.get(call));
                step.phase == Phase::Conversing && open.is_some_and(|open| open.phase == phase)
            }
        }
    }

    fn planned(&self, step: usize) -> &'a PlannedStep {
        &self.plan.steps()[step]
    }

    pub(super) fn definition(&self, step: usize) -> &'a Step {
        &self.planned(step).definition
    }

    pub(super) fn at(&mut self, step: usize) -> &mut StepState {
        &mut self.state.steps[step]
    }

    // What happened

    fn returned(
        &mut self,
        place: CallSite,
        output: &Value,
        tokens: u64,
        (wishes, owed): (&[RequestedToolCall], &CostTotals),
    ) -> bool {
        self.at(place.step).tokens += tokens;
        if let Some(fault) = self.over_budget() {
            if let Some(call) = place.call {
                self.note_requested_call(place.step, call, Phase::Done, output.clone());
            }
            self.fail_run(Some(place.step), fault);
            return true;
        }
        match place.call {
            Some(call) => self.requested_call_ended(place.step, call, Phase::Done, output.clone()),
            None if !wishes.is_empty() && !self.definition(place.step).offers.is_empty() => {
                self.converse(place.step, output, wishes, owed);
            }
            None => self.came_out(place.step, output.clone()),
        }
        true
    }

    /// BR-STEP-004: where an output is required, an empty one is none.
    fn came_out(&mut self, step: usize, output: Value) {
        if self.definition(step).output.required && self.is_nothing(step, &output) {
            let fault = Fault::new("empty_output", "the step gave nothing, and its output is required");
            return self.failed(step, fault.by_rule("BR-STEP-004"));
        }
        self.done(step, output);
    }

    /// A model that says nothing gives an object all the same.
    fn is_nothing(&self, step: usize, output: &Value) -> bool {
        self.silent == Some(step) || is_empty(output)
    }

    fn faulted(&mut self, place: CallSite, fault: Fault) -> bool {
        match place.call {
            // The model hears of it and may try something else.
            Some(_) if fault.uncertain => return self.lost(place),
            Some(call) => self.requested_call_ended(place.step, call, Phase::Failed, told(&fault.message)),
            None => self.failed(place.step, fault),
        }
        true
    }

    fn lost(&mut self, place: CallSite) -> bool {
        if let Some(call) = place.call {
            let told = told("nobody knows whether this call was carried out; do not assume either");
            self.requested_call_ended(place.step, call, Phase::Failed, told);
            return true;
        }
        self.ask_whether_again(place.step);
        true
    }

    fn ask_whether_again(&mut self, step: usize) {
        let (definition, inputs) = (self.definition(step), self.state.steps[step].inputs.clone());
        let asked = match definition.target {
            StepTarget::Tool(tool) => ReviewRequest::Unknown { tool: definition.naming(tool), inputs },
            StepTarget::Process(process_id) => ReviewRequest::UnknownProcess { process_id, inputs },
            StepTarget::Ask(_) => return,
        };
        self.at(step).phase = Phase::Unknown;
        self.ask(CallSite::of(step), asked);
    }

    fn decided(&mut self, place: CallSite, decision: &Decision) -> bool {
        match (place.call, decision) {
            (Some(call), _) => self.requested_call_decided(place.step, call, decision),
            // Nobody is there who could answer.
            (None, Decision::Ask { .. }) => return false,
            (None, _) => self.step_decided(place.step, decision),
        }
        self.heard_from_a_person(place.step);
        true
    }

    fn step_decided(&mut self, step: usize, decision: &Decision) {
        match decision {
            Decision::Approve { inputs, scope } => {
                if let Some(inputs) = inputs {
                    self.at(step).inputs.clone_from(inputs);
                }
                if let StepTarget::Tool(called) | StepTarget::Process(called) = self.definition(step).target {
                    let inputs = self.state.steps[step].inputs.clone();
                    self.remember_approval(step, scope.unwrap_or(ApprovalScope::Once), called, &inputs);
                    self.at(step).dialogue.get_or_insert_default().call_approved = true;
                }
                self.call(step, 0);
            }
            Decision::Deny { reason } => {
                let reason = reason.as_deref().unwrap_or("a person denied it");
                self.failed(step, Fault::new("denied", reason));
            }
            Decision::Answer { value } => self.came_out(step, value.clone()),
            Decision::Ask { .. } => {}
        }
    }

    fn expired(&mut self, place: CallSite) -> bool {
        self.nobody_decided(place);
        self.heard_from_a_person(place.step);
        true
    }

    fn nobody_decided(&mut self, place: CallSite) {
        let fault = || Fault::new("review_expired", "nobody decided in time").by_rule("BR-STEP-006");
        if let Some(call) = place.call {
            return self.requested_call_ended(
                place.step,
                call,
                Phase::Failed,
                told("nobody approved this call in time"),
            );
        }
        match self.definition(place.step).review.as_ref().map(|review| &review.on_expire) {
            Some(OnExpire::Default(value)) => self.came_out(place.step, value.clone()),
            Some(OnExpire::Skip) if self.definition(place.step).output.required => {
                let message = "nobody decided in time, and the step's output is required";
                self.failed(place.step, Fault::new("empty_output", message).by_rule("BR-STEP-004"));
            }
            Some(OnExpire::Skip) => self.skip(place.step),
            Some(OnExpire::Fail) | None => self.failed(place.step, fault()),
        }
    }

    fn child_ended(&mut self, place: CallSite, outcome: Result<Value, Fault>, tokens: u64) -> bool {
        match outcome {
            Ok(output) => self.returned(place, &output, tokens, (&[], &CostTotals::default())),
            Err(fault) => {
                self.at(place.step).tokens += tokens;
                self.faulted(place, fault)
            }
        }
    }

    // Steps

    fn done(&mut self, step: usize, output: Value) {
        self.ended(step, Phase::Done, output);
        self.stand_in(step);
    }

    fn skip(&mut self, step: usize) {
        self.ended(step, Phase::Skipped, Value::Null);
        self.stand_in(step);
    }

    fn ended(&mut self, step: usize, phase: Phase, output: Value) {
        let now = self.now;
        let state = self.at(step);
        (state.phase, state.output, state.ended_at) = (phase, output, Some(now));
        state.began_at.get_or_insert(now);
    }

    /// The last step that stands in for another gives it its output.
    fn stand_in(&mut self, step: usize) {
        let Some(replaced) = self.planned(step).stands_in_for else { return };
        if self.planned(replaced).fallback.end == step + 1 && self.state.steps[replaced].phase == Phase::Replaced {
            self.came_out_of_fallback(replaced, step);
        }
    }

    fn came_out_of_fallback(&mut self, replaced: usize, last: usize) {
        let output = self.state.steps[last].output.clone();
        if self.definition(replaced).output.required && self.is_nothing(last, &output) {
            let fault =
                Fault::new("empty_output", "what stood in for the step gave nothing, and its output is required");
            return self.give_up(replaced, fault.by_rule("BR-STEP-004"));
        }
        self.ended(replaced, Phase::Done, output);
    }

    /// Repeats, aborts, replaces, or gives up.
    pub(super) fn failed(&mut self, step: usize, fault: Fault) {
        let repeat = self.repeat_after(step, &fault);
        let would_be_done_again = repeat.is_some() || !self.planned(step).fallback.is_empty();
        if fault.uncertain && would_be_done_again && self.is_called(step) {
            self.at(step).fault = Some(fault);
            return self.ask_whether_again(step);
        }
        if let Some(delay_ms) = repeat {
            self.at(step).fault = Some(fault);
            return self.call(step, delay_ms);
        }
        let error = json!({ "code": fault.code, "message": fault.message });
        let aborts = self.state.with_scope(self.plan, Some(&error), |scope| self.plan.aborts(step, scope));
        match aborts {
            Ok(false) => {}
            Ok(true) => {
                self.ended(step, Phase::Failed, Value::Null);
                return self.fail_run(Some(step), fault);
            }
            Err(violation) => return self.fail_run(Some(step), Fault::breach(&violation)),
        }
        if self.planned(step).fallback.is_empty() {
            return self.give_up(step, fault);
        }
        let state = self.at(step);
        (state.phase, state.fault) = (Phase::Replaced, Some(fault));
    }

    /// Whether its tool or its process is under way.
    fn is_called(&self, step: usize) -> bool {
        matches!(self.state.steps[step].phase, Phase::Calling | Phase::Running)
    }

    /// How long to wait before the call is made again, if it is.
    fn repeat_after(&self, step: usize, fault: &Fault) -> Option<i64> {
        let retry = self.definition(step).retry.as_ref()?;
        let state = &self.state.steps[step];
        // A round of calls is a call that came out.
        let failures = state.attempt.saturating_sub(state.dialogue.as_ref().map_or(0, |dialogue| dialogue.rounds));
        if !self.is_called(step) || !fault.retryable || failures > u32::from(retry.max_retries) {
            return None;
        }
        Some(i64::from(retry.pause_ms(u8::try_from(failures).unwrap_or(u8::MAX))))
    }

    /// A required output that cannot be had ends the run; another is null from here on.
    fn give_up(&mut self, step: usize, fault: Fault) {
        self.ended(step, Phase::Failed, Value::Null);
        self.at(step).fault = Some(fault.clone());
        match self.planned(step).stands_in_for {
            Some(replaced) if self.definition(step).output.required => self.give_up(replaced, fault),
            None if self.definition(step).output.required => self.fail_run(Some(step), fault),
            Some(_) => self.stand_in(step),
            None => {}
        }
    }

    /// Calls the tool of a step, or starts a run of its process.
    pub(super) fn call(&mut self, step: usize, delay_ms: i64) {
        let (now, place) = (self.now, CallSite::of(step));
        let state = self.at(step);
        state.attempt += 1;
        state.began_at.get_or_insert(now);
        let (inputs, attempt) = (state.inputs.clone(), state.attempt);
        match self.definition(step).target {
            StepTarget::Tool(tool) => {
                self.at(step).phase = Phase::Calling;
                self.effects.push(Effect::Call { place, tool, inputs, attempt, delay_ms });
            }
            StepTarget::Process(process) => {
                self.at(step).phase = Phase::Running;
                self.effects.push(Effect::Run { place, process, context: inputs, delay_ms });
            }
            StepTarget::Ask(_) => {}
        }
    }

    pub(super) fn ask(&mut self, place: CallSite, asked: ReviewRequest) {
        let review = self.definition(place.step).review.as_ref();
        let expires_after_s = review.and_then(|review| review.expires_after_s);
        self.wait_for_a_person(place.step);
        self.effects.push(Effect::Ask { place, asked, expires_after_s });
    }

    // The run

    /// Begins whatever can begin, until nothing more can, and ends the run when nothing is left.
    fn settle(&mut self) {
        while !self.state.status.has_ended() {
            let Some(next) = (0..self.state.steps.len()).find(|step| self.can_begin(*step)) else { break };
            self.begin(next);
        }
        let is_over = self.state.steps.iter().zip(self.plan.steps());
        let is_over =
            is_over.filter(|(_, planned)| planned.stands_in_for.is_none()).all(|(step, _)| step.phase.has_ended());
        if is_over && !self.state.status.has_ended() {
            self.complete();
        }
    }

    fn can_begin(&self, step: usize) -> bool {
        let planned = self.planned(step);
        // What stands in for a step is begun when that failed for good.
        let is_wanted =
            planned.stands_in_for.is_none_or(|replaced| self.state.steps[replaced].phase == Phase::Replaced);
        self.state.steps[step].phase == Phase::Waiting
            && is_wanted
            && planned.deps.iter().all(|dep| self.state.steps[*dep].phase.has_ended())
    }

    fn begin(&mut self, step: usize) {
        match self.prepared(step) {
            Ok(None) => self.skip(step),
            Ok(Some(inputs)) => {
                self.at(step).inputs = inputs;
                self.dispatch(step);
            }
            Err(violation) => self.failed(step, Fault::breach(&violation)),
        }
    }

    /// What a step is called with; nothing when its condition does not hold. A person's question is an input too.
    fn prepared(&self, step: usize) -> Result<Option<Map<String, Value>>, RuleViolation> {
        self.state.with_scope(self.plan, None, |scope| {
            if !self.plan.condition(step, scope)? {
                return Ok(None);
            }
            let mut inputs = self.plan.inputs(step, scope)?;
            inputs.extend(self.plan.prompt(step, scope)?.map(|prompt| (PROMPT.to_owned(), Value::String(prompt))));
            Ok(Some(inputs))
        })
    }

    fn dispatch(&mut self, step: usize) {
        let now = self.now;
        self.at(step).began_at = Some(now);
        let definition = self.definition(step);
        let inputs = self.state.steps[step].inputs.clone();
        let place = CallSite::of(step);
        let asked = match &definition.target {
            // BR-STEP-008, BR-EXEC-007: the depth of the whole stack counts, and nobody is asked in vain.
            StepTarget::Process(_) if self.state.levels_left == 0 => return self.failed(step, self.state.too_deep()),
            StepTarget::Tool(called) | StepTarget::Process(called) if !self.needs_approval(step, *called, &inputs) => {
                return self.call(step, 0);
            }
            StepTarget::Tool(tool) => ReviewRequest::Call { tool: definition.naming(*tool), inputs },
            StepTarget::Process(process_id) => ReviewRequest::Process { process_id: *process_id, inputs },
            StepTarget::Ask(ask) => {
                let prompt = inputs.get(PROMPT).and_then(Value::as_str).unwrap_or(&ask.prompt).to_owned();
                ReviewRequest::Answer { prompt, schema: ask.schema.clone() }
            }
        };
        self.at(step).phase = Phase::Asking;
        self.ask(place, asked);
    }

    fn needs_approval(&self, step: usize, called: RecordId, inputs: &Map<String, Value>) -> bool {
        let is_manual = self.definition(step).execution.interaction == Interaction::Manual;
        is_manual && !self.state.is_approved(called, inputs)
    }

    fn over_budget(&self) -> Option<Fault> {
        let (budget, used) = (self.state.token_budget?, self.state.tokens());
        (used > budget).then(|| {
            let message = format!("{used} tokens were used, and the process may use {budget}");
            Fault::new("token_budget_exceeded", message).by_rule("BR-PROCESS-006")
        })
    }

    fn complete(&mut self) {
        match self.state.with_scope(self.plan, None, |scope| self.plan.output(scope)) {
            Ok(output) => self.end(ExecutionStatus::Completed, ExecutionOutcome::Completed { output }),
            Err(violation) => self.fail_run(None, Fault::breach(&violation)),
        }
    }

    fn fail_run(&mut self, step: Option<usize>, fault: Fault) {
        if let Some(step) = step {
            if !self.state.steps[step].phase.has_ended() {
                self.ended(step, Phase::Failed, Value::Null);
            }
            self.at(step).fault = Some(fault.clone());
        }
        self.end(ExecutionStatus::Failed, ExecutionOutcome::Failed { step, fault });
    }

    /// Whatever is still open is taken back: nothing follows an end.
    fn end(&mut self, status: ExecutionStatus, ending: ExecutionOutcome) {
        if self.state.status.has_ended() {
            return;
        }
        self.state.status = status;
        let now = self.now;
        let mut is_open = false;
        for step in &mut self.state.steps {
            // A step that failed may leave calls behind that its model asked for.
            is_open |= step.phase.is_open() || step.dialogue.as_ref().is_some_and(|dialogue| !dialogue.is_answered());
            if step.phase.is_open() {
                (step.phase, step.ended_at) = (Phase::Cancelled, Some(now));
            }
        }
        // What was asked for in this very move is not begun at all.
        self.effects.clear();
        if is_open {
            self.effects.push(Effect::Withdraw);
        }
        self.effects.push(Effect::End(ending));
    }
}

/// Whether an output counts as none (rule BR-STEP-004).
pub(crate) fn is_empty(output: &Value) -> bool {
    match output {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
