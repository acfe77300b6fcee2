//! The machine, move by move, and against an interpreter that knows only the rules.

mod random;
mod reviews;
mod tool_loop;
mod transitions;

use serde_json::{Map, Value, json};

use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{CallSite, Effect, ExecutionOutcome, Fault, Input};
use crate::flow::execution::machine::step;
use crate::flow::execution::state::{Execution, ExecutionStatus, Phase};
use crate::flow::plan::Plan;
use crate::flow::process::Process;
use crate::id::RecordId;
use crate::time::Millis;

const TOOL: RecordId = RecordId::from_bytes([7; 16]);
const OTHER: RecordId = RecordId::from_bytes([8; 16]);

/// A run that is told what happened, and remembers what it asked for last.
struct Run {
    plan: Plan,
    state: Execution,
    effects: Vec<Effect>,
    now: Millis,
}

impl Run {
    /// One that has begun, with `x` = 1.
    fn begun(definition: Value) -> Self {
        let mut run = Self::of(definition);
        run.tell(&Input::Begin);
        run
    }

    fn of(definition: Value) -> Self {
        let process = Process::create(serde_json::from_value(definition).unwrap()).unwrap();
        let plan = Plan::of(&process).unwrap();
        let context = object(json!({ "x": 1 }));
        let state = Execution::of(&process, &plan, context, None);
        Self { plan, state, effects: Vec::new(), now: Millis(1_000) }
    }

    fn tell(&mut self, input: &Input) {
        let moved = step(&self.plan, &self.state, input, self.now);
        assert!(moved.fitted, "{input:?} does not fit {:?}", self.state);
        (self.state, self.effects) = (moved.state, moved.effects);
    }

    /// What does not fit changes nothing.
    fn refuses(&self, input: &Input) {
        let moved = step(&self.plan, &self.state, input, self.now);
        assert!(!moved.fitted, "{input:?} fits {:?}", self.state);
        assert_eq!((moved.state, moved.effects), (self.state.clone(), Vec::new()));
    }

    fn gives(&mut self, step: usize, output: Value) {
        self.tell(&returned(CallSite::of(step), output, 0));
    }

    fn fails(&mut self, step: usize, fault: Fault) {
        self.tell(&Input::Faulted { place: CallSite::of(step), fault });
    }

    fn phases(&self) -> Vec<Phase> {
        self.state.steps.iter().map(|step| step.phase).collect()
    }

    /// The calls of the last move: step, attempt, delay.
    fn calls(&self) -> Vec<(usize, u32, i64)> {
        let call = |effect: &Effect| match effect {
            Effect::Call { place, attempt, delay_ms, .. } => Some((place.step, *attempt, *delay_ms)),
            _ => None,
        };
        self.effects.iter().filter_map(call).collect()
    }

    /// How the last move ended the run.
    fn ending(&self) -> Option<&ExecutionOutcome> {
        self.effects.iter().find_map(|effect| if let Effect::End(ending) = effect { Some(ending) } else { None })
    }

    fn output(&self) -> Value {
        match self.ending() {
            Some(ExecutionOutcome::Completed { output }) => output.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn failure(&self) -> (Option<usize>, String, Option<String>) {
        match self.ending() {
            Some(ExecutionOutcome::Failed { step, fault }) => (*step, fault.code.clone(), fault.rule.clone()),
            other => panic!("{other:?}"),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn returned(place: CallSite, output: Value, tokens: u64) -> Input {
    Input::Returned { place, output, tokens, wishes: Vec::new(), owed: CostTotals::default(), says_nothing: false }
}

/// Something that may pass.
fn passing() -> Fault {
    Fault { retryable: true, ..Fault::new("server_error", "the service is unwell") }
}

fn timeout() -> Fault {
    Fault { retryable: true, ..Fault::new("timeout", "no answer within 5 s") }
}

fn lasting() -> Fault {
    Fault::new("bad_request", "the service does not understand")
}

/// A step that calls a tool; its variable is its id.
fn call(id: &str, changes: Value) -> Value {
    let mut step = json!({ "id": id, "toolId": TOOL, "inputs": { "value": "{x}" }, "output": { "variable": id } });
    for (name, change) in object(changes) {
        step[name] = change;
    }
    step
}

fn optional(id: &str, changes: Value) -> Value {
    let mut step = call(id, changes);
    step["output"]["required"] = json!(false);
    step
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn process(steps: Vec<Value>, output: &str) -> Value {
    json!({ "name": "p", "initialContext": ["x"], "steps": steps, "outputTemplate": output })
}

fn is_over(run: &Run, status: ExecutionStatus) {
    assert_eq!(run.state.status, status);
    assert!(run.state.steps.iter().all(|step| !step.phase.is_open()), "{:?}", run.phases());
    assert_eq!(run.effects.iter().filter(|effect| matches!(effect, Effect::End(_))).count(), 1);
    run.refuses(&Input::Begin);
    run.refuses(&Input::Cancel);
}
