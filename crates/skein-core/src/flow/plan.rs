//! A process made ready to run: every expression parsed once, every step with what it waits for.
//!
//! Making a plan is checking the definition: [`Plan::of`] holds all rules that need nothing but the process itself.
//! While the process runs, everything about its expressions is asked here, by the number of the step.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value};

use crate::flow::budget;
use crate::flow::condition::Condition;
use crate::flow::interpolate::{InterpolatedValue, ROOM_BYTES};
use crate::flow::process::Process;
use crate::flow::scope::{Names, Variable, VariableOrigin};
use crate::flow::step::{STEPS_MAX, Step, StepMode, StepTarget};
use crate::flow::step_set::StepSet;
use crate::flow::template::Template;
use crate::rule::RuleViolation;

pub use crate::flow::scope::VariableScope;

/// A process made ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    steps: Vec<PlannedStep>,
    expressions: Vec<Expressions>,
    template: Template,
}

/// A step and its place among the others.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    /// As it was defined, but for its fallback, which stands after all main steps.
    pub definition: Step,
    /// The steps that must have ended before it begins, in ascending order.
    pub deps: Vec<usize>,
    /// The step whose failure it is for.
    pub stands_in_for: Option<usize>,
    /// The steps that stand in for it, in order; empty if there are none.
    pub fallback: Range<usize>,
    /// Its part of the budget of the process.
    pub token_budget: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
struct Expressions {
    inputs: Vec<(String, InterpolatedValue)>,
    prompt: Option<InterpolatedValue>,
    condition: Option<Condition>,
    abort_when: Vec<Condition>,
}

impl Plan {
    /// Makes a process ready, if its definition breaks no rule.
    pub fn of(process: &Process) -> Result<Self, RuleViolation> {
        process.initial_context.check()?;
        let steps = place_steps(&process.steps, process.token_budget).map_err(|located| located.violation)?;
        check_variables(process, &steps).map_err(|located| located.violation)?;
        let chains = chains(&steps);
        let context = process.initial_context.names();
        let expressions = (0..steps.len()).map(|at| {
            let outputs = chains[at].iter().map(|dep| steps[dep].definition.output.variable.as_str()).collect();
            let names = Names { context: context.clone(), outputs, error: false };
            Expressions::parse(&steps[at].definition, names).map_err(|broken| of_step(&describe(&steps, at), &broken))
        });
        let expressions = expressions.collect::<Result<_, _>>()?;
        let outputs = process.steps.iter().map(|step| step.output.variable.as_str()).collect();
        let template = Template::parse(&process.output_template, &Names { context, outputs, error: false })?;
        Ok(Self { steps, expressions, template })
    }

    /// All steps by number: the main ones in their order, then those of fallbacks.
    pub fn steps(&self) -> &[PlannedStep] {
        &self.steps
    }

    /// The inputs of a step with every place filled. A place that is all of an input gives it its own type.
    pub fn inputs(&self, step: usize, scope: &VariableScope) -> Result<Map<String, Value>, RuleViolation> {
        let mut room = ROOM_BYTES;
        let given = self.expressions[step].inputs.iter().filter(|(_, value)| !value.is_absent(scope));
        given.map(|(name, value)| Ok((name.clone(), value.fill(scope, &mut room)?))).collect()
    }

    /// What a person is asked, if the step asks one.
    pub fn prompt(&self, step: usize, scope: &VariableScope) -> Result<Option<String>, RuleViolation> {
        let Some(prompt) = &self.expressions[step].prompt else { return Ok(None) };
        prompt.fill_as_text(scope, &mut ROOM_BYTES.clone()).map(Some)
    }

    /// Whether a step is to be run; without a condition it is.
    pub fn condition(&self, step: usize, scope: &VariableScope) -> Result<bool, RuleViolation> {
        self.expressions[step].condition.as_ref().map_or(Ok(true), |condition| condition.holds(scope))
    }

    /// Whether the failure of a step, which stands in the scope as `error`, ends the process.
    pub fn aborts(&self, step: usize, scope: &VariableScope) -> Result<bool, RuleViolation> {
        for condition in &self.expressions[step].abort_when {
            if condition.holds(scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the process answers.
    pub fn output(&self, scope: &VariableScope) -> Result<Value, RuleViolation> {
        self.template.render(scope).map(Value::String)
    }

    /// The step whose variable alone fills the output template, so that what it says can be passed on as it comes.
    pub fn streamed_step(&self) -> Option<usize> {
        let Variable::Named(VariableOrigin::Step, name) = self.template.sole_variable()? else { return None };
        self.main_steps().find(|(_, step)| step.definition.output.variable == *name).map(|(at, _)| at)
    }

    fn main_steps(&self) -> impl Iterator<Item = (usize, &PlannedStep)> {
        self.steps.iter().enumerate().take_while(|(_, step)| step.stands_in_for.is_none())
    }

    /// The inputs of a step by name, for those who compare them with what the target asks for.
    pub(crate) fn planned_inputs(&self, step: usize) -> &[(String, InterpolatedValue)] {
        &self.expressions[step].inputs
    }

    /// A step by its number, for lists of what is wrong: `Step 2`, `Step 2 (fallback 1)`.
    pub(crate) fn title(&self, step: usize) -> String {
        match self.steps[step].stands_in_for {
            None => format!("Step {}", step + 1),
            Some(main) => format!("Step {} (fallback {})", main + 1, step - self.steps[main].fallback.start + 1),
        }
    }
}

/// Sound steps, among which one at a time is judged as if it stood in the place of another.
pub(crate) struct Neighbours<'a> {
    process: &'a Process,
    numbers: BTreeMap<&'a str, usize>,
    chains: Vec<StepSet>,
}

impl<'a> Neighbours<'a> {
    pub(crate) fn of(process: &'a Process) -> Result<Self, LocatedViolation> {
        let steps = place_steps(&process.steps, process.token_budget)?;
        check_variables(process, &steps)?;
        Ok(Self { process, numbers: number_steps(&process.steps)?, chains: chains(&steps) })
    }

    /// Whether a step with the id and the variable of the one at this place could stand there.
    pub(crate) fn check(&self, at: usize, step: &Step) -> Result<(), RuleViolation> {
        let main = &self.process.steps;
        if step.depends_on.iter().flatten().any(|id| *id == step.id) {
            return Err(wait_for_one_another(&[&step.id]));
        }
        let deps: StepSet = dependencies(main, at, step, &self.numbers)?.into_iter().collect();
        step.fallback.iter().try_for_each(|inner| budget::stand_in(inner, step.output.token_budget).map(drop))?;
        let ended = deps.iter().fold(deps, |ended, dep| ended.with(self.chains[dep]));
        let mut outputs: BTreeSet<&str> = ended.iter().map(|dep| main[dep].output.variable.as_str()).collect();
        let parse = |step: &Step, fallback, outputs: &BTreeSet<&str>| {
            let parsed = Expressions::parse(step, self.names(outputs.clone()));
            parsed.map(drop).map_err(|broken| of_step(&describe_step(step, at, fallback), &broken))
        };
        parse(step, None, &outputs)?;
        for (order, inner) in step.fallback.iter().enumerate() {
            parse(inner, Some(order), &outputs)?;
            outputs.insert(&inner.output.variable);
        }
        Ok(())
    }

    /// Whether a text could be what the process answers.
    pub(crate) fn check_template(&self, template: &str) -> Result<(), RuleViolation> {
        let outputs = self.process.steps.iter().map(|step| step.output.variable.as_str()).collect();
        Template::parse(template, &self.names(outputs)).map(drop)
    }

    fn names<'n>(&'n self, outputs: BTreeSet<&'n str>) -> Names<'n> {
        Names { context: self.process.initial_context.names(), outputs, error: false }
    }
}

impl Expressions {
    fn parse(step: &Step, names: Names) -> Result<Self, RuleViolation> {
        let places = &mut 0;
        let inputs = step.inputs.iter().map(|(name, value)| {
            InterpolatedValue::parse(value, &names, places).map(|value| (name.clone(), value)).map_err(|broken| {
                let problem = format!("input {name:?}: {}", broken.problem());
                RuleViolation::new(broken.rule(), problem, broken.remedy())
            })
        });
        let inputs = inputs.collect::<Result<_, _>>()?;
        let prompt = match &step.target {
            StepTarget::Ask(ask) => Some(InterpolatedValue::parse_text(&ask.prompt, &names, places)?),
            StepTarget::Tool(_) | StepTarget::Process(_) => None,
        };
        let condition = step.execution.condition.as_ref();
        let condition = condition.map(|source| Condition::parse(source, &names)).transpose()?;
        let names = Names { error: true, ..names };
        let abort_when = step.abort_when.iter().map(|source| Condition::parse(source, &names));
        Ok(Self { inputs, prompt, condition, abort_when: abort_when.collect::<Result<_, _>>()? })
    }
}

/// A rule that is broken, and by which main step, from 0, as far as that can be told.
#[derive(Debug)]
pub(crate) struct LocatedViolation {
    pub(crate) violation: RuleViolation,
    pub(crate) step: Option<usize>,
}

impl From<RuleViolation> for LocatedViolation {
    fn from(violation: RuleViolation) -> Self {
        Self { violation, step: None }
    }
}

/// Whether steps can stand in this order and share this budget.
pub(crate) fn check_order(main: &[Step], token_budget: Option<u64>) -> Result<(), RuleViolation> {
    place_steps(main, token_budget).map(drop).map_err(|located| located.violation)
}

/// Puts the steps in their places: dependencies by number, fallbacks at the end, budgets divided.
fn place_steps(main: &[Step], token_budget: Option<u64>) -> Result<Vec<PlannedStep>, LocatedViolation> {
    let count = main.iter().map(|step| 1 + step.fallback.len()).sum::<usize>();
    if main.is_empty() || count > STEPS_MAX {
        let problem = format!("a process has 1 to {STEPS_MAX} steps, and this one {count}");
        return Err(RuleViolation::new("BR-PROCESS-001", problem, "move some of them to a process of their own").into());
    }
    let numbers = number_steps(main)?;
    check_acyclic(main, &numbers)?;
    let budgets = budget::divide(token_budget, main)?;
    let mut steps = Vec::with_capacity(count);
    for (at, step) in main.iter().enumerate() {
        let deps = dependencies(main, at, step, &numbers)?;
        let definition = Step { fallback: Vec::new(), ..step.clone() };
        let token_budget = budgets[at];
        steps.push(PlannedStep { definition, deps, stands_in_for: None, fallback: 0..0, token_budget });
    }
    for (at, step) in main.iter().enumerate() {
        let first = steps.len();
        for (order, inner) in step.fallback.iter().enumerate() {
            let mut deps = steps[at].deps.clone();
            deps.extend((order > 0).then(|| first + order - 1));
            let token_budget = budget::stand_in(inner, budgets[at])?;
            let (definition, stands_in_for) = (inner.clone(), Some(at));
            steps.push(PlannedStep { definition, deps, stands_in_for, fallback: 0..0, token_budget });
        }
        steps[at].fallback = first..steps.len();
    }
    Ok(steps)
}

/// The number of each main step by its id; ids are used once, fallbacks included.
fn number_steps(main: &[Step]) -> Result<BTreeMap<&str, usize>, LocatedViolation> {
    let mut seen = BTreeSet::new();
    let all = main.iter().enumerate();
    let mut all =
        all.flat_map(|(at, step)| std::iter::once(step).chain(&step.fallback).map(move |step| (at, &*step.id)));
    if let Some((at, twice)) = all.find(|(_, id)| !seen.insert(*id)) {
        let problem = format!("two steps have the id {twice:?}");
        let violation = RuleViolation::new("BR-PROCESS-001", problem, "give each step an id of its own");
        return Err(LocatedViolation { violation, step: Some(at) });
    }
    Ok(main.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect())
}

/// BR-PROCESS-002: what each step names leads back to none of them.
fn check_acyclic(main: &[Step], numbers: &BTreeMap<&str, usize>) -> Result<(), RuleViolation> {
    let named = |step: &Step| -> StepSet {
        step.depends_on.iter().flatten().filter_map(|id| numbers.get(id.as_str()).copied()).collect()
    };
    let named: Vec<StepSet> = main.iter().map(named).collect();
    let mut waiting: StepSet = (0..main.len()).collect();
    loop {
        let still: StepSet = waiting.iter().filter(|at| named[*at].meets(waiting)).collect();
        if still.is_empty() {
            return Ok(());
        }
        if still == std::mem::replace(&mut waiting, still) {
            let ids: Vec<&str> = waiting.iter().map(|at| main[at].id.as_str()).collect();
            return Err(wait_for_one_another(&ids));
        }
    }
}

fn wait_for_one_another(ids: &[&str]) -> RuleViolation {
    let problem = format!("the steps {} wait for one another", ids.join(", "));
    RuleViolation::new("BR-PROCESS-002", problem, "take one of their dependsOn away")
}

/// What a step waits for at a place among the others. It names earlier steps; a sequential one also waits for those right
/// before it, and a parallel one that names none begins after the nearest sequential one (decision A58).
fn dependencies(
    main: &[Step],
    at: usize,
    step: &Step,
    numbers: &BTreeMap<&str, usize>,
) -> Result<Vec<usize>, RuleViolation> {
    let is_parallel = |step: &Step| step.execution.mode == StepMode::Parallel;
    let mut deps = BTreeSet::new();
    for id in step.depends_on.iter().flatten() {
        let earlier = numbers.get(id.as_str()).copied().filter(|dep| *dep < at);
        let Some(dep) = earlier else {
            let is_later = numbers.contains_key(id.as_str());
            let what = if is_later { "stands behind it" } else { "is none of the process" };
            let problem = format!("step {} ({:?}) depends on {id:?}, which {what}", at + 1, step.id);
            return Err(RuleViolation::new("BR-PROCESS-003", problem, "depend on steps that stand before it"));
        };
        if is_parallel(step) && is_parallel(&main[dep]) {
            let problem = format!("the parallel steps {:?} and {id:?} depend on each other", step.id);
            let remedy = "make one of them sequential, or take the dependsOn away";
            return Err(RuleViolation::new("BR-PROCESS-004", problem, remedy));
        }
        deps.insert(dep);
    }
    let last_sequential = (0..at).rev().find(|before| !is_parallel(&main[*before]));
    match (step.execution.mode, &step.depends_on) {
        (StepMode::Parallel, Some(_)) => {}
        (StepMode::Parallel, None) => deps.extend(last_sequential),
        (StepMode::Sequential, _) => {
            let group = last_sequential.map_or(0, |sequential| sequential + 1)..at;
            if group.is_empty() { deps.extend(last_sequential) } else { deps.extend(group) }
        }
    }
    Ok(deps.into_iter().collect())
}

/// BR-PROCESS-005: a name says where a value comes from, so it is used once. The last step of a fallback alone shares
/// the variable of the step it stands in for.
fn check_variables(process: &Process, steps: &[PlannedStep]) -> Result<(), LocatedViolation> {
    let mut seen = process.initial_context.names();
    for (at, step) in steps.iter().enumerate() {
        let is_stand_in = step.stands_in_for.is_some_and(|main| steps[main].fallback.end == at + 1);
        let variable = step.definition.output.variable.as_str();
        if !is_stand_in && !seen.insert(variable) {
            let problem =
                format!("{} has the output variable {variable:?}, which is used already", describe(steps, at));
            let violation = RuleViolation::new("BR-PROCESS-005", problem, "give every variable a name of its own");
            return Err(LocatedViolation { violation, step: Some(step.stands_in_for.unwrap_or(at)) });
        }
    }
    Ok(())
}

/// All steps that have ended when each step begins, direct and indirect.
fn chains(steps: &[PlannedStep]) -> Vec<StepSet> {
    let mut chains: Vec<StepSet> = Vec::with_capacity(steps.len());
    for step in steps {
        let direct: StepSet = step.deps.iter().copied().collect();
        chains.push(direct.iter().fold(direct, |chain, dep| chain.with(chains[dep])));
    }
    chains
}

fn describe(steps: &[PlannedStep], at: usize) -> String {
    let step = &steps[at];
    match step.stands_in_for {
        None => describe_step(&step.definition, at, None),
        Some(main) => describe_step(&step.definition, main, Some(at - steps[main].fallback.start)),
    }
}

fn describe_step(step: &Step, main: usize, fallback: Option<usize>) -> String {
    let id = &step.id;
    match fallback {
        None => format!("step {} ({id:?})", main + 1),
        Some(order) => format!("step {}, fallback {} ({id:?})", main + 1, order + 1),
    }
}

fn of_step(step: &str, broken: &RuleViolation) -> RuleViolation {
    RuleViolation::new(broken.rule(), format!("{step}: {}", broken.problem()), broken.remedy())
}
