//! Random processes and random orders of what happens, against an interpreter that knows only the rules.
//!
//! The interpreter works out from the beginning, after every move, what has become of each step: from what happened to
//! that step and to those it waits for, whatever the order. It shares no code with the machine but the plan's shape.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{OTHER, Run, TOOL, call, lasting, passing, process, returned};
use crate::flow::execution::input::{CallSite, Input};
use crate::flow::execution::machine::step;
use crate::flow::execution::review::Decision;
use crate::flow::execution::state::{ExecutionStatus, Phase};
use crate::flow::plan::PlannedStep;
use crate::time::Millis;

/// Draws from a seed, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

/// What happened to a step, as the interpreter is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RandomOutcome {
    Something,
    Nothing,
    Passing,
    Lasting,
    /// A person said no, which aborts nothing here.
    Denied,
}

/// What has become of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepFate {
    Waiting,
    Open,
    Something,
    Nothing,
    Skipped,
    Failed,
    Aborted,
}

impl StepFate {
    fn has_ended(self) -> bool {
        !matches!(self, Self::Waiting | Self::Open)
    }
}

struct ReferenceInterpreter<'a> {
    steps: &'a [PlannedStep],
    came: &'a [Vec<RandomOutcome>],
}

impl ReferenceInterpreter<'_> {
    /// How the step itself fared, whatever stands in for it.
    fn own(&self, at: usize) -> StepFate {
        let planned = &self.steps[at];
        let definition = &planned.definition;
        let is_free = planned.deps.iter().all(|dep| self.fate(*dep).has_ended());
        // The rest of a fallback is not begun when one of it failed that is needed.
        let is_idle =
            |before: usize| self.own(before) == StepFate::Failed && self.steps[before].definition.output.required;
        let earlier = planned.stands_in_for.map_or(0..0, |main| self.steps[main].fallback.start..at);
        if earlier.into_iter().any(is_idle) {
            return StepFate::Waiting;
        }
        if !is_free || planned.stands_in_for.is_some_and(|main| self.own(main) != StepFate::Failed) {
            return StepFate::Waiting;
        }
        if definition.execution.condition.as_deref() == Some("x === 2") {
            return StepFate::Skipped;
        }
        let retries = definition.retry.map_or(0, |retry| usize::from(retry.max_retries));
        let failed = |aborts: bool| {
            if aborts && !definition.abort_when.is_empty() { StepFate::Aborted } else { StepFate::Failed }
        };
        for (tried, came) in self.came[at].iter().enumerate() {
            match came {
                RandomOutcome::Something => return StepFate::Something,
                RandomOutcome::Nothing if definition.output.required => return failed(false),
                RandomOutcome::Nothing => return StepFate::Nothing,
                RandomOutcome::Lasting => return failed(true),
                RandomOutcome::Denied => return failed(false),
                RandomOutcome::Passing if tried >= retries => return failed(false),
                RandomOutcome::Passing => {}
            }
        }
        StepFate::Open
    }

    fn fate(&self, at: usize) -> StepFate {
        let (own, planned) = (self.own(at), &self.steps[at]);
        if own != StepFate::Failed || planned.fallback.is_empty() {
            return own;
        }
        let mut last = StepFate::Open;
        for stand_in in planned.fallback.clone() {
            last = self.own(stand_in);
            match last {
                StepFate::Waiting | StepFate::Open => return StepFate::Open,
                StepFate::Aborted => return StepFate::Aborted,
                StepFate::Failed if self.steps[stand_in].definition.output.required => return StepFate::Failed,
                _ => {}
            }
        }
        match last {
            StepFate::Something => StepFate::Something,
            _ if planned.definition.output.required => StepFate::Failed,
            _ => StepFate::Nothing,
        }
    }

    fn status(&self) -> ExecutionStatus {
        let main = || (0..self.steps.len()).filter(|at| self.steps[*at].stands_in_for.is_none());
        let ends_all = |at: usize| match self.fate(at) {
            StepFate::Failed => self.steps[at].definition.output.required,
            fate => fate == StepFate::Aborted,
        };
        if main().any(ends_all) {
            ExecutionStatus::Failed
        } else if main().all(|at| self.fate(at).has_ended()) {
            ExecutionStatus::Completed
        } else {
            ExecutionStatus::Running
        }
    }
}

fn random_step(dice: &mut Dice, at: usize, parallel: &[bool]) -> Value {
    let id = format!("s{at}");
    let mut step = call(&id, json!({}));
    step["output"]["required"] = json!(!dice.one_in(3));
    match dice.below(6) {
        0 => {
            step.as_object_mut().unwrap().remove("toolId");
            step["processId"] = json!(OTHER);
            step["retry"] = json!({ "maxRetries": dice.below(3), "backoffMs": 5 });
            if dice.one_in(2) {
                step["execution"]["interactionMode"] = json!("manual");
            }
        }
        1 => {
            step.as_object_mut().unwrap().remove("toolId");
            step.as_object_mut().unwrap().remove("inputs");
            step["ask"] = json!({ "prompt": "{x}?" });
        }
        2 => step["execution"]["interactionMode"] = json!("manual"),
        _ => step["retry"] = json!({ "maxRetries": dice.below(3), "backoffMs": 5 }),
    }
    if parallel[at] {
        step["execution"]["mode"] = json!("parallel");
    }
    if dice.one_in(4) {
        step["execution"]["condition"] = json!(format!("x === {}", 1 + dice.below(2)));
    }
    if dice.one_in(2) {
        let may = (0..at).filter(|dep| !(parallel[at] && parallel[*dep]));
        let deps: Vec<String> = may.filter(|_| dice.one_in(2)).map(|dep| format!("s{dep}")).collect();
        step["dependsOn"] = json!(deps);
    }
    if dice.one_in(4) {
        step["abortWhen"] = json!(["error.code === 'bad_request'"]);
    }
    if dice.one_in(3) {
        step["fallback"] = random_fallback(dice, &id);
    }
    step
}

fn random_fallback(dice: &mut Dice, id: &str) -> Value {
    let count = 1 + dice.below(2);
    let stand_in = |number: usize| {
        let variable = if number + 1 == count { id.to_owned() } else { format!("{id}_{number}") };
        let output = json!({ "variable": variable, "required": !dice.one_in(3) });
        json!({ "id": format!("{id}_{number}"), "toolId": TOOL, "inputs": {}, "output": output })
    };
    (0..count).map(stand_in).collect()
}

fn random_process(dice: &mut Dice) -> Value {
    let parallel: Vec<bool> = (0..=dice.below(6)).map(|_| dice.one_in(2)).collect();
    let steps = (0..parallel.len()).map(|at| random_step(dice, at, &parallel)).collect();
    process(steps, "the end")
}

/// Something that can happen to an open step next, and what the interpreter makes of it.
fn random_input(dice: &mut Dice, at: usize, phase: Phase) -> (Input, Option<RandomOutcome>) {
    let place = CallSite::of(at);
    let came = [
        RandomOutcome::Something,
        RandomOutcome::Something,
        RandomOutcome::Nothing,
        RandomOutcome::Passing,
        RandomOutcome::Lasting,
    ][dice.below(5)];
    let output = if came == RandomOutcome::Something { json!(at) } else { Value::Null };
    let fault = if came == RandomOutcome::Passing { passing() } else { lasting() };
    let is_output = matches!(came, RandomOutcome::Something | RandomOutcome::Nothing);
    match phase {
        Phase::Calling if is_output => (returned(place, output, 0), Some(came)),
        Phase::Calling => (Input::Faulted { place, fault }, Some(came)),
        Phase::Running => {
            let outcome = if is_output { Ok(output) } else { Err(fault) };
            (Input::ChildEnded { place, outcome, tokens: 1 }, Some(came))
        }
        _ => {
            let decision = match came {
                RandomOutcome::Something => Decision::Answer { value: output },
                RandomOutcome::Nothing => Decision::Approve { inputs: None, scope: None },
                _ => return (Input::Decided { place, decision: Decision::Deny { reason: None } }, None),
            };
            (Input::Decided { place, decision }, Some(came))
        }
    }
}

/// What a person can say depends on whether an answer or a call is at stake.
fn fitting(run: &Run, at: usize, drawn: (Input, Option<RandomOutcome>)) -> (Input, Option<RandomOutcome>) {
    let (phase, is_ask) = (run.state.steps[at].phase, run.state.steps[at].inputs.contains_key("prompt"));
    let place = CallSite::of(at);
    match drawn {
        drawn if phase != Phase::Asking => drawn,
        (denied, None) => (denied, Some(RandomOutcome::Denied)),
        (_, Some(RandomOutcome::Nothing)) if is_ask => {
            (Input::Decided { place, decision: Decision::Answer { value: Value::Null } }, Some(RandomOutcome::Nothing))
        }
        (_, Some(RandomOutcome::Something)) if is_ask => {
            (Input::Decided { place, decision: Decision::Answer { value: json!(1) } }, Some(RandomOutcome::Something))
        }
        _ => (Input::Decided { place, decision: Decision::Approve { inputs: None, scope: None } }, None),
    }
}

fn assert_agrees(run: &Run, came: &[Vec<RandomOutcome>], before: &[Phase]) {
    let reference = ReferenceInterpreter { steps: run.plan.steps(), came };
    assert_eq!(run.state.status, reference.status(), "{:?}\n{came:?}", run.phases());
    for (at, (phase, earlier)) in run.phases().into_iter().zip(before).enumerate() {
        assert!(!earlier.has_ended() || *earlier == phase, "step {at} ended twice");
        if run.state.status != ExecutionStatus::Running && (phase == Phase::Cancelled || phase == Phase::Waiting) {
            continue;
        }
        let fate = if run.plan.steps()[at].stands_in_for.is_some() { reference.own(at) } else { reference.fate(at) };
        let agrees = match fate {
            StepFate::Waiting => phase == Phase::Waiting,
            StepFate::Open => phase.is_open(),
            StepFate::Something | StepFate::Nothing => phase == Phase::Done,
            StepFate::Skipped => phase == Phase::Skipped,
            StepFate::Failed | StepFate::Aborted => phase == Phase::Failed,
        };
        assert!(agrees, "step {at} is {phase:?} and should be {fate:?}: {:?}\n{came:?}", run.phases());
    }
    let is_moving = run.state.steps.iter().any(|step| step.phase.is_open());
    assert_eq!(is_moving, run.state.status == ExecutionStatus::Running, "a run moves until it has ended");
}

fn live(seed: u64) {
    let mut dice = Dice(seed);
    let definition = random_process(&mut dice);
    let mut run = Run::of(definition.clone());
    let mut came = vec![Vec::new(); run.state.steps.len()];
    let mut told = vec![Input::Begin];
    let before = run.phases();
    run.tell(&Input::Begin);
    assert_agrees(&run, &came, &before);
    while run.state.status == ExecutionStatus::Running {
        let open: Vec<usize> = (0..came.len()).filter(|at| is_tellable(run.state.steps[*at].phase)).collect();
        let at = open[dice.below(open.len())];
        let drawn = random_input(&mut dice, at, run.state.steps[at].phase);
        let (input, came_of_it) = fitting(&run, at, drawn);
        let before = run.phases();
        run.now = Millis(run.now.0 + 1);
        run.tell(&input);
        came[at].extend(came_of_it);
        told.push(input);
        assert_agrees(&run, &came, &before);
        stray(&run, &mut dice);
    }
    assert!(run.ending().is_some());
    assert_same(definition, &told, &run);
}

fn is_tellable(phase: Phase) -> bool {
    phase.is_open() && phase != Phase::Replaced
}

/// Something that happens where nothing is waited for changes nothing.
fn stray(run: &Run, dice: &mut Dice) {
    let at = dice.below(run.state.steps.len() + 1);
    let phase = run.state.steps.get(at).map_or(Phase::Done, |step| step.phase);
    let is_live = run.state.status == ExecutionStatus::Running;
    if !(is_live && phase == Phase::Calling) {
        run.refuses(&returned(CallSite::of(at), json!(0), 1));
        run.refuses(&Input::Lost { place: CallSite::of(at) });
    }
    if !(is_live && phase == Phase::Running) {
        run.refuses(&Input::ChildEnded { place: CallSite::of(at), outcome: Ok(json!(0)), tokens: 1 });
    }
    if !(is_live && phase == Phase::Asking) {
        run.refuses(&Input::Expired { place: CallSite::of(at) });
    }
}

fn assert_same(definition: Value, told: &[Input], run: &Run) {
    let mut again = Run::of(definition);
    let mut effects = Vec::new();
    for (moves, input) in told.iter().enumerate() {
        let moved = step(&again.plan, &again.state, input, Millis(1_000 + i64::try_from(moves).unwrap()));
        (again.state, effects) = (moved.state, moved.effects);
    }
    assert_eq!((again.state, effects), (run.state.clone(), run.effects.clone()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_process_in_any_order_goes_as_the_rules_say(seed in any::<u64>()) {
        live(seed);
    }
}
