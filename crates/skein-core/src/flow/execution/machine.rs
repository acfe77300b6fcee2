//! The machine: `step(state, input) → (state, effects)`.
//!
//! A step begins when everything it depends on has ended. A failed one is repeated, replaced, or ends the run, in this
//! order; one whose output is not required leaves null instead (rules BR-STEP-004, BR-EXEC-005).

use serde_json::{Map, Value, json};

use crate::flow::execution::dialogue::{Dialogue, Spent, told};
use crate::flow::execution::input::{Effect, Ending, Fault, Input, Place, Wish};
use crate::flow::execution::review::{Asked, Decision};
use crate::flow::execution::state::{Execution, Phase, RunStatus, StepState};
use crate::flow::plan::{Plan, PlannedStep};
use crate::flow::step::{Approval, Interaction, Offer, OnExpire, Step, Target};
use crate::id::RecordId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Where a question stands among the inputs of a step that asks one.
const PROMPT: &str = "prompt";

/// Where a run stands after something happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    pub state: Execution,
    pub effects: Vec<Effect>,
    /// Whether it fitted; what did not changed nothing.
    pub fitted: bool,
}

/// One move of a run.
pub fn step(plan: &Plan, state: &Execution, input: &Input, now: Millis) -> Moved {
    let mut machine = Machine { plan, state: state.clone(), effects: Vec::new(), now };
    if state.status.has_ended() || !machine.take(input) {
        return Moved { state: state.clone(), effects: Vec::new(), fitted: false };
    }
    machine.settle();
    Moved { state: machine.state, effects: machine.effects, fitted: true }
}

struct Machine<'a> {
    plan: &'a Plan,
    state: Execution,
    effects: Vec<Effect>,
    now: Millis,
}

impl<'a> Machine<'a> {
    /// Whether the input fits where the run stands.
    fn take(&mut self, input: &Input) -> bool {
        match input {
            // What another run gave may be there already.
            Input::Begin => !self.state.steps.iter().any(|step| step.phase.is_open()),
            Input::Returned { place, output, tokens, wishes } => {
                self.is(*place, Phase::Calling) && self.returned(*place, output, *tokens, wishes)
            }
            Input::Faulted { place, fault } => self.is(*place, Phase::Calling) && self.faulted(*place, fault.clone()),
            Input::Lost { place } => self.is(*place, Phase::Calling) && self.lost(*place),
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
                self.end(RunStatus::Cancelled, Ending::Cancelled);
                true
            }
        }
    }

    fn is(&self, place: Place, phase: Phase) -> bool {
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

    fn definition(&self, step: usize) -> &'a Step {
        &self.planned(step).definition
    }

    fn at(&mut self, step: usize) -> &mut StepState {
        &mut self.state.steps[step]
    }

    // What happened

    fn returned(&mut self, place: Place, output: &Value, tokens: u64, wishes: &[Wish]) -> bool {
        self.at(place.step).tokens += tokens;
        if let Some(fault) = self.over_budget() {
            if let Some(call) = place.call {
                self.note_wish(place.step, call, Phase::Done, output.clone());
            }
            self.fail_run(Some(place.step), fault);
            return true;
        }
        match place.call {
            Some(call) => self.wish_ended(place.step, call, Phase::Done, output.clone()),
            None if !wishes.is_empty() && !self.definition(place.step).offers.is_empty() => {
                self.converse(place.step, output, wishes);
            }
            None => self.came_out(place.step, output.clone()),
        }
        true
    }

    /// BR-STEP-004: where an output is required, an empty one is none.
    fn came_out(&mut self, step: usize, output: Value) {
        if self.definition(step).output.required && is_empty(&output) {
            let fault = Fault::new("empty_output", "the step gave nothing, and its output is required");
            return self.failed(step, fault.by_rule("BR-STEP-004"));
        }
        self.done(step, output);
    }

    fn faulted(&mut self, place: Place, fault: Fault) -> bool {
        match place.call {
            // The model hears of it and may try something else.
            Some(call) => self.wish_ended(place.step, call, Phase::Failed, told(&fault.message)),
            None => self.failed(place.step, fault),
        }
        true
    }

    fn lost(&mut self, place: Place) -> bool {
        if let Some(call) = place.call {
            let told = told("nobody knows whether this call was carried out; do not assume either");
            self.wish_ended(place.step, call, Phase::Failed, told);
            return true;
        }
        let Target::Tool(tool_id) = self.definition(place.step).target else { return false };
        let inputs = self.state.steps[place.step].inputs.clone();
        self.at(place.step).phase = Phase::Unknown;
        self.ask(place, Asked::Unknown { tool_id, inputs });
        true
    }

    fn decided(&mut self, place: Place, decision: &Decision) -> bool {
        match place.call {
            Some(call) => self.wish_decided(place.step, call, decision),
            None => self.step_decided(place.step, decision),
        }
        true
    }

    fn step_decided(&mut self, step: usize, decision: &Decision) {
        match decision {
            Decision::Approve { inputs } => {
                if let Some(inputs) = inputs {
                    self.at(step).inputs.clone_from(inputs);
                }
                self.call(step, 0);
            }
            Decision::Deny { reason } => {
                let reason = reason.as_deref().unwrap_or("a person denied it");
                self.failed(step, Fault::new("denied", reason));
            }
            Decision::Answer { value } => self.came_out(step, value.clone()),
        }
    }

    fn expired(&mut self, place: Place) -> bool {
        let fault = || Fault::new("review_expired", "nobody decided in time").by_rule("BR-STEP-006");
        if let Some(call) = place.call {
            self.wish_ended(place.step, call, Phase::Failed, told("nobody approved this call in time"));
            return true;
        }
        match self.definition(place.step).review.as_ref().map(|review| &review.on_expire) {
            Some(OnExpire::Default(value)) => self.done(place.step, value.clone()),
            Some(OnExpire::Skip) => self.skip(place.step),
            Some(OnExpire::Fail) | None => self.failed(place.step, fault()),
        }
        true
    }

    fn child_ended(&mut self, place: Place, outcome: Result<Value, Fault>, tokens: u64) -> bool {
        match outcome {
            Ok(output) => self.returned(place, &output, tokens, &[]),
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
            let output = self.state.steps[step].output.clone();
            self.came_out_of_fallback(replaced, output);
        }
    }

    fn came_out_of_fallback(&mut self, replaced: usize, output: Value) {
        if self.definition(replaced).output.required && is_empty(&output) {
            let fault =
                Fault::new("empty_output", "what stood in for the step gave nothing, and its output is required");
            return self.give_up(replaced, fault.by_rule("BR-STEP-004"));
        }
        self.ended(replaced, Phase::Done, output);
    }

    /// Repeats, aborts, replaces, or gives up.
    fn failed(&mut self, step: usize, fault: Fault) {
        if let Some(delay_ms) = self.repeat_after(step, &fault) {
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

    /// How long to wait before the call is made again, if it is.
    fn repeat_after(&self, step: usize, fault: &Fault) -> Option<i64> {
        let retry = self.definition(step).retry.as_ref()?;
        let state = &self.state.steps[step];
        let is_call = matches!(self.definition(step).target, Target::Tool(_)) && state.phase == Phase::Calling;
        // A round of calls is a call that came out.
        let failures = state.attempt.saturating_sub(state.dialogue.as_ref().map_or(0, |dialogue| dialogue.rounds));
        if !is_call || !fault.retryable || failures > u32::from(retry.max_retries) {
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

    fn call(&mut self, step: usize, delay_ms: i64) {
        let Target::Tool(tool) = self.definition(step).target else { return };
        let now = self.now;
        let state = self.at(step);
        state.phase = Phase::Calling;
        state.attempt += 1;
        state.began_at.get_or_insert(now);
        let (inputs, attempt) = (state.inputs.clone(), state.attempt);
        self.effects.push(Effect::Call { place: Place::of(step), tool, inputs, attempt, delay_ms });
    }

    fn ask(&mut self, place: Place, asked: Asked) {
        let review = self.definition(place.step).review.as_ref();
        let expires_after_s = review.and_then(|review| review.expires_after_s);
        self.effects.push(Effect::Ask { place, asked, expires_after_s });
    }

    // Calls a model asks for

    fn converse(&mut self, step: usize, output: &Value, wishes: &[Wish]) {
        let limits = self.definition(step).offer_limits.unwrap_or_default();
        let now = self.now;
        let state = self.at(step);
        let spent = Spent::since(state.began_at, now, state.tokens);
        let mut dialogue = state.dialogue.take().unwrap_or_default();
        let opened = dialogue.open_round(&output["text"], wishes, &limits, spent);
        state.dialogue = Some(dialogue);
        if let Err(fault) = opened {
            return self.failed(step, fault);
        }
        state.phase = Phase::Conversing;
        self.open_calls(step);
        self.answer_model(step);
    }

    fn open_calls(&mut self, step: usize) {
        let open = self.state.steps[step].dialogue.as_ref().map(|dialogue| dialogue.open.clone()).unwrap_or_default();
        for (index, call) in open.into_iter().enumerate() {
            let place = Place { step, call: Some(index) };
            match (call.phase, call.tool) {
                (Phase::Calling, Some(tool)) => self.wish_called(place, tool, call.inputs),
                (Phase::Asking, Some(tool_id)) => {
                    self.ask(place, Asked::Wish { tool_id, name: call.name, inputs: call.inputs });
                }
                _ => {}
            }
        }
    }

    fn wish_called(&mut self, place: Place, tool: RecordId, inputs: Map<String, Value>) {
        self.effects.push(Effect::Call { place, tool, inputs, attempt: 1, delay_ms: 0 });
    }

    fn wish_decided(&mut self, step: usize, call: usize, decision: &Decision) {
        let Some(dialogue) = self.at(step).dialogue.as_mut() else { return };
        let open = &mut dialogue.open[call];
        match (decision, open.tool) {
            (Decision::Approve { inputs }, Some(tool)) => {
                if let Some(inputs) = inputs {
                    open.inputs.clone_from(inputs);
                }
                open.phase = Phase::Calling;
                let inputs = open.inputs.clone();
                dialogue.approved.push(tool);
                self.remember_approval(step, tool);
                self.wish_called(Place { step, call: Some(call) }, tool, inputs);
            }
            (Decision::Deny { reason }, _) => {
                let reason = reason.as_deref().unwrap_or("no reason was given");
                self.wish_ended(step, call, Phase::Failed, told(&format!("the person denied this call: {reason}")));
            }
            (Decision::Answer { value }, _) => self.wish_ended(step, call, Phase::Done, value.clone()),
            (Decision::Approve { .. }, None) => {}
        }
    }

    /// Only tools that are to be approved once are remembered.
    fn remember_approval(&mut self, step: usize, tool: RecordId) {
        let is_once = |offer: &Offer| offer.tool_id == tool && offer.approval == Some(Approval::Once);
        if !self.definition(step).offers.iter().any(is_once)
            && let Some(dialogue) = self.at(step).dialogue.as_mut()
        {
            dialogue.approved.retain(|approved| *approved != tool);
        }
    }

    fn wish_ended(&mut self, step: usize, call: usize, phase: Phase, result: Value) {
        self.note_wish(step, call, phase, result);
        self.answer_model(step);
    }

    fn note_wish(&mut self, step: usize, call: usize, phase: Phase, result: Value) {
        if let Some(open) = self.at(step).dialogue.as_mut().and_then(|dialogue| dialogue.open.get_mut(call)) {
            (open.phase, open.result) = (phase, result);
        }
    }

    /// When every call of a round has ended, the model is asked again.
    fn answer_model(&mut self, step: usize) {
        let Some(dialogue) = self.at(step).dialogue.as_mut().filter(|dialogue| dialogue.is_answered()) else { return };
        Dialogue::close_round(dialogue);
        self.call(step, 0);
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
        let place = Place::of(step);
        match (&definition.target, definition.execution.interaction) {
            (Target::Tool(_), Interaction::Auto) => self.call(step, 0),
            (Target::Tool(tool_id), Interaction::Manual) => {
                self.at(step).phase = Phase::Asking;
                self.ask(place, Asked::Call { tool_id: *tool_id, inputs });
            }
            (Target::Ask(ask), _) => {
                self.at(step).phase = Phase::Asking;
                let prompt = inputs.get(PROMPT).and_then(Value::as_str).unwrap_or(&ask.prompt).to_owned();
                self.ask(place, Asked::Answer { prompt, schema: ask.schema.clone() });
            }
            (Target::Process(process), _) => self.run(place, *process, inputs),
        }
    }

    /// BR-STEP-008, BR-EXEC-007: the depth of the whole stack counts, and is looked at before each run that is started.
    fn run(&mut self, place: Place, process: RecordId, context: Map<String, Value>) {
        if self.state.levels_left == 0 {
            return self.failed(place.step, self.state.too_deep());
        }
        self.at(place.step).phase = Phase::Running;
        self.effects.push(Effect::Run { place, process, context });
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
            Ok(output) => self.end(RunStatus::Completed, Ending::Completed { output }),
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
        self.end(RunStatus::Failed, Ending::Failed { step, fault });
    }

    /// Whatever is still open is taken back: nothing follows an end.
    fn end(&mut self, status: RunStatus, ending: Ending) {
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

fn is_empty(output: &Value) -> bool {
    match output {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
