//! A second opinion on what a run comes to: its definition, read as data and carried out in the plainest way there is.
//!
//! The engine moves a run by one thing at a time, may be interrupted anywhere, and goes on from what it wrote down. This
//! walks through the steps once, from the first to the last, as if it were all done in one breath; and it shares nothing
//! with the engine: neither the machine nor the plan, nor how places, conditions and templates are filled. Where the two
//! differ, one of them is wrong. It understands the processes that [`crate::flow::simulation::definitions`] draws and no others.
//!
//! It is told what the outside answers and what became of each call, and says what must follow. Steps beside each other
//! end in any order, so a run that fails may bear the fault of any of them; that is the only thing left open. Start at
//! [`expected`].

mod expressions;
mod tool_call;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value, json};
use skein_core::flow::execution::input;
use skein_core::flow::execution::review::Decision;

use self::expressions::{VisibleVariables, is_nothing};
use crate::flow::simulation::oracle::tool_call::CallOracle;

/// All that happens outside of a run. `at` names a step of a run or a call that a model asked for; calls and questions there
/// are counted from 0.
pub(super) trait Externals {
    fn answer(&self, at: &str, number: usize, inputs: &Map<String, Value>) -> Result<Value, ExternalError>;
    /// What a model says that was told this by its tools; nothing for a call that did not come out.
    fn says(&self, at: &str, number: usize, told: &[Option<String>]) -> Result<Value, ExternalError>;
    fn fate(&self, at: &str, number: usize) -> CallFate;
    fn decision(&self, at: &str, number: usize) -> Option<Decision>;
    fn kind(&self, tool: &str) -> Kind;
    /// The tool that a model means by a name.
    fn tool(&self, name: &str) -> Option<String>;
    fn process(&self, id: &str) -> &Value;
    /// The fault that a nested run ended with: steps beside each other fail in any order, so one of several is what was seen.
    fn nested_fault(&self, at: &str) -> Option<&input::Fault>;
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallFate {
    /// Nothing yet.
    Open,
    /// What came of it was written down.
    Kept,
    /// It was begun, and whoever made it vanished.
    Lost,
    /// Too many vanished over it.
    GivenUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    /// Calling it twice does no harm.
    Safe,
    Once,
}

/// An error of the outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExternalError {
    pub(super) fault: Fault,
    pub(super) may_pass: bool,
    /// Whether it may have been carried out.
    pub(super) is_uncertain: bool,
}

/// Why a step failed; the message where it is not the engine's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    pub(super) code: String,
    pub(super) message: Option<String>,
    pub(super) may_pass: bool,
    /// Whether it may have been carried out and must not be twice.
    pub(super) is_uncertain: bool,
}

/// What a step comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepOutcome {
    /// It waits for something that did not happen.
    Open,
    Done(Value),
    Skipped,
    /// By one of these.
    Failed(BTreeSet<Fault>),
}

#[derive(Debug, Default)]
pub(super) struct Step {
    /// Nothing where it is not reached.
    pub(super) came: Option<StepOutcome>,
    pub(super) inputs: Map<String, Value>,
    pub(super) attempts: u32,
    pub(super) deps: Vec<usize>,
}

/// What a run comes to.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// The main steps, then those of fallbacks.
    pub(super) steps: Vec<Step>,
    /// What it answers, if it completes.
    pub(super) output: Option<String>,
    /// By which steps it may fail, and how: then it does not complete.
    pub(super) faults: Vec<(usize, BTreeSet<Fault>)>,
    /// By the step that started them, and in which attempt.
    pub(super) children: BTreeMap<(usize, usize), Self>,
    /// Every call that is made, with its inputs.
    pub(super) calls: BTreeMap<(String, usize), Map<String, Value>>,
}

impl Fault {
    fn of(code: &str) -> Self {
        Self { code: code.to_owned(), message: None, may_pass: false, is_uncertain: false }
    }

    /// Whether the engine's fault is this one.
    pub(super) fn is(&self, other: &input::Fault) -> bool {
        self.code == other.code && self.message.as_ref().is_none_or(|message| *message == other.message)
    }

    /// Whether it is what the run above makes of the fault of one it started.
    fn is_within(&self, process: &str, other: &input::Fault) -> bool {
        let message = format!("{process}: {}", other.message);
        self.code == other.code && self.message.as_ref().is_none_or(|told| *told == message)
    }
}

impl StepOutcome {
    fn failed(fault: Fault) -> Self {
        Self::Failed(BTreeSet::from([fault]))
    }
}

/// What the run of an attempt is called, from 0.
pub(super) fn nested_name(step: &str, attempt: usize) -> String {
    if attempt == 0 { step.to_owned() } else { format!("{step}~{attempt}") }
}

fn process_name<'a>(reading: &Reading<'a>, process: &str) -> &'a str {
    reading.outside.process(process)["name"].as_str().unwrap_or_default()
}

/// All steps of a process: the main ones in their order, then those of fallbacks.
pub(super) fn steps(process: &Value) -> Vec<&Value> {
    let main = || process["steps"].as_array().into_iter().flatten();
    main().chain(main().flat_map(|step| step["fallback"].as_array().into_iter().flatten())).collect()
}

/// Which steps must have ended before one of the main steps begins (decision A58).
pub(super) fn deps(main: &[&Value], at: usize) -> Vec<usize> {
    let is_parallel = |step: usize| main[step]["execution"]["mode"] == "parallel";
    let named = main[at]["dependsOn"].as_array();
    let mut deps: BTreeSet<usize> =
        named.into_iter().flatten().filter_map(|id| main.iter().position(|step| step["id"] == *id)).collect();
    let before = (0..at).rev().find(|step| !is_parallel(*step));
    if !is_parallel(at) {
        let beside = before.map_or(0, |step| step + 1)..at;
        deps.extend(before.filter(|_| beside.is_empty()));
        deps.extend(beside);
    } else if named.is_none() {
        deps.extend(before);
    }
    deps.into_iter().collect()
}

/// What a run of a process with this context comes to.
pub(super) fn expected(outside: &dyn Externals, process: &str, context: &Map<String, Value>, path: &str) -> Expected {
    let definition = outside.process(process);
    let steps = steps(definition);
    let expected = Expected { steps: steps.iter().map(|_| Step::default()).collect(), ..Expected::default() };
    let mut reading = Reading { outside, path, steps, seen: context.clone(), expected };
    let main = definition["steps"].as_array().map_or(0, Vec::len);
    for at in 0..main {
        reading.main_step(main, at);
    }
    let has_come = |step: &Step| matches!(&step.came, Some(came) if *came != StepOutcome::Open);
    if reading.expected.faults.is_empty() && reading.expected.steps[..main].iter().all(has_come) {
        let template = definition["outputTemplate"].as_str().unwrap_or_default();
        reading.expected.output = Some(VisibleVariables(&reading.seen).render(template));
    }
    reading.expected
}

struct Reading<'a> {
    outside: &'a dyn Externals,
    path: &'a str,
    steps: Vec<&'a Value>,
    seen: Map<String, Value>,
    expected: Expected,
}

impl Reading<'_> {
    fn main_step(&mut self, main: usize, at: usize) {
        let (deps, inner) = (deps(&self.steps[..main], at), self.stand_ins(main, at));
        for step in inner.clone() {
            let before = (step > inner.start).then(|| step - 1);
            self.expected.steps[step].deps = deps.iter().copied().chain(before).collect();
        }
        let is_over = |dep: &usize| {
            let came = self.expected.steps[*dep].came.as_ref();
            came.is_some_and(|came| *came != StepOutcome::Open)
                && !self.expected.faults.iter().any(|(step, _)| step == dep)
        };
        let is_reached = deps.iter().all(is_over);
        self.expected.steps[at].deps = deps;
        if !is_reached {
            return;
        }
        let came = match self.carried_out(at) {
            StepOutcome::Failed(faults) if self.aborts(at, &faults) => {
                self.expected.faults.push((at, faults.clone()));
                StepOutcome::Failed(faults)
            }
            StepOutcome::Failed(_) if !inner.is_empty() => self.fallback(at, inner),
            came => came,
        };
        self.settle(at, came);
    }

    /// Where the steps are that stand in for a main step.
    fn stand_ins(&self, main: usize, at: usize) -> Range<usize> {
        let count = |step: &Value| step["fallback"].as_array().map_or(0, Vec::len);
        let first = main + self.steps[..at].iter().map(|step| count(step)).sum::<usize>();
        first..first + count(self.steps[at])
    }

    /// Keeps what a main step came to, and whether the run can go on without it.
    fn settle(&mut self, at: usize, came: StepOutcome) {
        let is_fatal = self.expected.faults.iter().any(|(step, _)| *step == at);
        if let (StepOutcome::Failed(faults), true, false) = (&came, self.is_required(at), is_fatal) {
            self.expected.faults.push((at, faults.clone()));
        }
        self.see(at, &came);
        self.expected.steps[at].came = Some(came);
    }

    fn see(&mut self, at: usize, came: &StepOutcome) {
        let value = if let StepOutcome::Done(value) = came { value.clone() } else { Value::Null };
        let variable = self.steps[at]["output"]["variable"].as_str().unwrap_or_default();
        self.seen.insert(variable.to_owned(), value);
    }

    fn is_required(&self, at: usize) -> bool {
        self.steps[at]["output"]["required"] != false
    }

    fn aborts(&self, at: usize, faults: &BTreeSet<Fault>) -> bool {
        let when = self.steps[at]["abortWhen"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let errors = faults.iter().map(|fault| Map::from_iter([("error".to_owned(), json!({ "code": fault.code }))]));
        let errors: Vec<_> = errors.collect();
        when.into_iter().any(|condition| errors.iter().any(|error| VisibleVariables(error).holds(condition)))
    }

    /// What steps that stand in for another come to; the last one's output is its output.
    fn fallback(&mut self, replaced: usize, inner: Range<usize>) -> StepOutcome {
        let mut last = StepOutcome::Open;
        for at in inner {
            last = self.carried_out(at);
            self.see(at, &last);
            self.expected.steps[at].came = Some(last.clone());
            if last == StepOutcome::Open || (matches!(last, StepOutcome::Failed(_)) && self.is_required(at)) {
                return last;
            }
        }
        self.came_out(replaced, if let StepOutcome::Done(value) = last { value } else { Value::Null })
    }

    fn came_out(&self, at: usize, output: Value) -> StepOutcome {
        if self.is_required(at) && is_nothing(&output) {
            return StepOutcome::failed(Fault::of("empty_output"));
        }
        StepOutcome::Done(output)
    }

    fn carried_out(&mut self, at: usize) -> StepOutcome {
        let step = self.steps[at];
        let seen = VisibleVariables(&self.seen);
        if step["execution"]["condition"].as_str().is_some_and(|condition| !seen.holds(condition)) {
            return StepOutcome::Skipped;
        }
        let mut inputs = seen.filled(&step["inputs"]);
        if let Some(prompt) = step["ask"]["prompt"].as_str() {
            inputs.insert("prompt".to_owned(), Value::String(seen.text(prompt, "{", "}")));
        }
        self.expected.steps[at].inputs.clone_from(&inputs);
        let name = format!("{}/{}", self.path, step["id"].as_str().unwrap_or_default());
        match (step["processId"].as_str(), step["toolId"].as_str()) {
            (Some(process), _) => self.nested(at, process, inputs, &name),
            (None, Some(tool)) => CallOracle::of(self, at, tool, name, inputs).carried_out(),
            (None, None) => self.decided(at, &name, 0).unwrap_or_else(|decision| match decision {
                Decision::Answer { value } => self.came_out(at, value),
                Decision::Approve { .. } | Decision::Deny { .. } | Decision::Ask { .. } => {
                    unreachable!("a question is answered or denied")
                }
            }),
        }
    }

    /// A step that runs a process, again and again if need be: like one that calls a tool (decision Z31).
    fn nested(&mut self, at: usize, process: &str, mut inputs: Map<String, Value>, name: &str) -> StepOutcome {
        let step = self.steps[at];
        let (retries, has_fallback) = (step["retry"]["maxRetries"].as_u64().unwrap_or(0), step["fallback"].is_array());
        let mut asks = step["execution"]["interactionMode"] == "manual";
        let mut questions = 0;
        for attempt in 0.. {
            if asks {
                match self.decided(at, name, questions) {
                    Ok(came) => return came,
                    Err(Decision::Answer { value }) => return self.came_out(at, value),
                    Err(Decision::Approve { inputs: edited, .. }) => inputs = edited.unwrap_or(inputs),
                    Err(Decision::Deny { .. } | Decision::Ask { .. }) => unreachable!("what is denied has failed"),
                }
                questions += 1;
                self.expected.steps[at].inputs.clone_from(&inputs);
            }
            self.expected.steps[at].attempts += 1;
            let at_child = nested_name(name, attempt);
            let came = self.run((at, attempt), process, &inputs, &at_child);
            let StepOutcome::Failed(faults) = came else { return came };
            let seen = self.outside.nested_fault(&at_child);
            let Some(fault) =
                seen.and_then(|seen| faults.iter().find(|fault| fault.is_within(process_name(self, process), seen)))
            else {
                return StepOutcome::Failed(faults);
            };
            let is_repeated = fault.may_pass && (attempt as u64) < retries;
            asks = fault.is_uncertain && (is_repeated || has_fallback);
            if !is_repeated && !asks {
                return StepOutcome::failed(fault.clone());
            }
        }
        unreachable!("attempts end")
    }

    fn run(
        &mut self,
        (at, attempt): (usize, usize),
        process: &str,
        context: &Map<String, Value>,
        name: &str,
    ) -> StepOutcome {
        let mut child = expected(self.outside, process, context, name);
        self.expected.calls.append(&mut child.calls);
        let title = self.outside.process(process)["name"].as_str().unwrap_or_default();
        let within = |fault: &Fault| Fault {
            message: fault.message.as_ref().map(|message| format!("{title}: {message}")),
            ..fault.clone()
        };
        let faults: BTreeSet<Fault> = child.faults.iter().flat_map(|(_, faults)| faults.iter().map(within)).collect();
        let came = match &child.output {
            Some(output) => self.came_out(at, Value::String(output.clone())),
            None if faults.is_empty() => StepOutcome::Open,
            None => StepOutcome::Failed(faults),
        };
        self.expected.children.insert((at, attempt), child);
        came
    }

    /// What a question comes to where nobody says yes: what somebody decided otherwise is given back.
    fn decided(&self, at: usize, name: &str, number: usize) -> Result<StepOutcome, Decision> {
        let review = &self.steps[at]["review"];
        match self.outside.decision(name, number) {
            Some(Decision::Deny { reason }) => {
                let message = reason.unwrap_or_else(|| "a person denied it".to_owned());
                Ok(StepOutcome::failed(Fault { message: Some(message), ..Fault::of("denied") }))
            }
            Some(decision) => Err(decision),
            None if review["expiresAfter"].is_null() => Ok(StepOutcome::Open),
            None => Ok(match review["onExpire"].as_str() {
                Some("skip") if self.is_required(at) => StepOutcome::failed(Fault::of("empty_output")),
                Some("skip") => StepOutcome::Skipped,
                Some("default") => self.came_out(at, review["default"].clone()),
                _ => StepOutcome::failed(Fault::of("review_expired")),
            }),
        }
    }
}
