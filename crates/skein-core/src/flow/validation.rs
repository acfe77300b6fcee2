//! Validates a definition of a process and lists every violation in one pass.
//!
//! Making a process stops at the first breach. Here each concern is looked at by itself, with the others taken out of the
//! way: each step among steps that say nothing, the order of the steps, the budgets, the answer. A step is judged in its
//! place and the others are not judged again for it, so the work grows with the definition and no faster.

mod step_reduction;

use serde_json::Value;

use crate::flow::plan::{self, LocatedViolation, Neighbours, Plan};
use crate::flow::process::{Process, ProcessDraft, check_token_budget, recursion_depth};
use crate::flow::step::{Reference, Step};
use crate::flow::target::{TargetBreach, TargetView};
use crate::id::UserId;
use crate::rule::RuleViolation;
use step_reduction::{OPTIONAL, only, silenced};

/// Most breaches listed for one definition.
pub const BREACHES_MAX: usize = 100;
/// Longest text of a problem, in characters; a definition is quoted in it.
const PROBLEM_CHARS_MAX: usize = 1_000;

/// What is wrong, and where, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub violation: RuleViolation,
    /// The step, from 1.
    pub step: Option<usize>,
    /// The member of the step, else of the process, as clients spell it: `outputTemplate`, `execution.timeout`.
    pub field: Option<&'static str>,
}

/// The breaches of a definition, each once, at most [`BREACHES_MAX`]: the first place that breaks a rule is the narrowest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations {
    list: Vec<Violation>,
    is_truncated: bool,
}

impl Violations {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there are more than are listed.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub fn list(&self) -> &[Violation] {
        &self.list
    }

    pub fn into_list(self) -> Vec<Violation> {
        self.list
    }

    fn has(&self, violation: &RuleViolation) -> bool {
        self.list.iter().any(|breach| breach.violation == *violation)
    }

    fn add(&mut self, violation: Option<RuleViolation>, step: Option<usize>, field: Option<&'static str>) {
        let violation = violation.map(shortened).filter(|violation| !self.has(violation));
        match violation {
            Some(_) if self.list.len() == BREACHES_MAX => self.is_truncated = true,
            Some(violation) => self.list.push(Violation { violation, step, field }),
            None => {}
        }
    }
}

impl From<Violation> for Violations {
    fn from(breach: Violation) -> Self {
        Self { list: vec![breach], is_truncated: false }
    }
}

fn shortened(violation: RuleViolation) -> RuleViolation {
    match violation.problem().char_indices().nth(PROBLEM_CHARS_MAX) {
        None => violation,
        Some((end, _)) => {
            let problem = format!("{}…", &violation.problem()[..end]);
            RuleViolation::new(violation.rule(), problem, violation.remedy())
        }
    }
}

/// What a draft breaks that needs nothing but the draft itself; nothing if it makes a process. A draft that is too large is
/// not looked into.
pub fn of_draft(draft: &ProcessDraft) -> Violations {
    if let Err(too_large) = draft.check_size() {
        return too_large.into();
    }
    let Err(first) = Process::create(draft.clone()) else { return Violations::default() };
    let mut found = Violations::default();
    let quiet = of_skeleton(draft, &mut found);
    let neighbours = quiet.as_ref().and_then(|quiet| of_neighbours(quiet, &mut found));
    for (at, step) in draft.steps.iter().enumerate() {
        if !found.is_truncated {
            of_step(neighbours.as_ref(), at, step, &mut found);
        }
    }
    if let Some(neighbours) = &neighbours {
        of_whole(draft, neighbours, &mut found);
    }
    found.add(Some(first), None, None);
    found
}

/// What is wrong with the context, the depth, and the steps when they say nothing but who they are, whom they call and what
/// they give; the process they make then, unless something is.
fn of_skeleton(draft: &ProcessDraft, found: &mut Violations) -> Option<Process> {
    found.add(draft.initial_context.check().err(), None, Some("initialContext"));
    let is_context_sound = found.is_empty();
    found.add(recursion_depth(draft.max_recursion_depth).err(), None, Some("maxRecursionDepth"));
    let steps = draft.steps.iter().enumerate().filter_map(|(at, step)| {
        let parsed = Step::parse(&silenced(step), at + 1);
        parsed.map_err(|broken| of_silenced(step, at, broken, found)).ok()
    });
    let steps: Vec<Step> = steps.collect();
    (is_context_sound && steps.len() == draft.steps.len()).then(|| Process {
        name: draft.name.clone(),
        description: None,
        initial_context: draft.initial_context.clone(),
        steps,
        output_template: String::new(),
        token_budget: None,
        max_recursion_depth: 1,
        enabled: draft.enabled,
        archived: false,
        definition_version: 1,
    })
}

/// What makes no step even when the step says nothing else.
fn of_silenced(step: &Value, at: usize, broken: RuleViolation, found: &mut Violations) {
    let field = ["toolVersion", "toolLimits", "tools", "name"].into_iter().find(|member| {
        let mut less = silenced(step);
        less.as_object_mut().is_some_and(|members| members.remove(*member).is_some())
            && Step::parse(&less, at + 1).err().as_ref() != Some(&broken)
    });
    let field = field.or(match broken.rule() {
        "BR-STEP-007" => Some("toolId"),
        "BR-PROCESS-005" => Some("output.variable"),
        _ => None,
    });
    found.add(Some(broken), Some(at + 1), field);
}

/// What is wrong with the ids, variables and versions of silenced steps; the steps as neighbours, unless something is.
fn of_neighbours<'a>(quiet: &'a Process, found: &mut Violations) -> Option<Neighbours<'a>> {
    let neighbours = quiet.check_versions().and_then(|()| Neighbours::of(quiet));
    neighbours
        .map_err(|LocatedViolation { violation, step }| found.add(Some(violation), step.map(|at| at + 1), None))
        .ok()
}

/// What is wrong with a step: by itself, and among its neighbours if these are sound.
fn of_step(neighbours: Option<&Neighbours>, at: usize, step: &Value, found: &mut Violations) {
    let broken_with = |step: &Value| {
        let judged = Step::parse(step, at + 1).and_then(|step| {
            step.check_effects(at + 1)?;
            neighbours.map_or(Ok(()), |neighbours| neighbours.check(at, &step))
        });
        judged.err()
    };
    let Some(broken) = broken_with(step).map(shortened) else { return };
    if found.has(&broken) {
        return;
    }
    for field in OPTIONAL {
        found.add(broken_with(&only(step, &[field])), Some(at + 1), Some(field));
    }
    // A default has the shape that is asked for.
    found.add(broken_with(&only(step, &["review", "ask.schema"])), Some(at + 1), Some("review"));
    found.add(Some(broken), Some(at + 1), None);
}

/// What is wrong with the answer, the order of the steps and the budgets.
fn of_whole(draft: &ProcessDraft, neighbours: &Neighbours, found: &mut Violations) {
    found.add(neighbours.check_template(&draft.output_template).err(), None, Some("outputTemplate"));
    let with = |kept: &str| -> Option<Vec<Step>> {
        let steps = draft.steps.iter().enumerate();
        steps.map(|(at, step)| Step::parse(&only(step, &[kept]), at + 1).ok()).collect()
    };
    // Steps that cannot be understood with it were told of before.
    let order = with("dependsOn").and_then(|steps| plan::check_order(&steps, None).err());
    found.add(order, None, Some("steps"));
    let whole = check_token_budget(draft.token_budget);
    let budgets = whole.map(|()| with("output.tokenBudget"));
    let budgets = budgets.and_then(|steps| steps.map_or(Ok(()), |steps| plan::check_order(&steps, draft.token_budget)));
    found.add(budgets.err(), None, Some("tokenBudget"));
}

/// What a process of `owner` breaks by the targets it names, step by step.
pub fn of_targets<'a>(
    process: &Process,
    plan: &Plan,
    owner: UserId,
    lookup: impl Fn(Reference) -> TargetView<'a>,
) -> Violations {
    let mut found = Violations::default();
    for TargetBreach { rule, step, field, problem, remedy } in process.target_breaches(plan, owner, lookup) {
        let (step, field) = match plan.steps()[step].stands_in_for {
            None => (step, field),
            Some(replaced) => (replaced, "fallback"),
        };
        found.add(Some(RuleViolation::new(rule, problem, remedy)), Some(step + 1), Some(field));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(draft: Value) -> Vec<Violation> {
        of_draft(&serde_json::from_value(draft).unwrap()).into_list()
    }

    fn rules(draft: Value) -> Vec<&'static str> {
        list(draft).iter().map(|breach| breach.violation.rule()).collect()
    }

    fn ask(id: &str) -> Value {
        json!({ "id": id, "ask": { "prompt": "?" }, "output": { "variable": id } })
    }

    #[test]
    fn a_sound_draft_breaks_nothing() {
        assert_eq!(rules(json!({ "name": "n", "steps": [ask("a"), ask("b")], "outputTemplate": "{{a}}" })), [""; 0]);
    }

    #[test]
    fn every_concern_has_its_say() {
        let (mut early, mut late) = (ask("early"), ask("late"));
        early["dependsOn"] = json!(["late"]);
        late["execution"] = json!({ "timeout": 301 });
        late["ask"]["prompt"] = json!("{nobody}");
        let mut twice = ask("twice");
        twice["toolId"] = json!("entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z");
        let draft =
            json!({ "name": "n", "steps": [early, late], "outputTemplate": "{{late}}", "maxRecursionDepth": 11 });
        let found = rules(draft);
        for rule in ["BR-PROCESS-007", "BR-PROCESS-003", "BR-STEP-005"] {
            assert!(found.contains(&rule), "{rule} is not in {found:?}");
        }
        assert!(
            rules(json!({ "name": "n", "steps": [ask("a"), twice], "outputTemplate": "{{a}}" }))
                .contains(&"BR-STEP-007")
        );
        assert_eq!(rules(json!({ "name": "n", "steps": [], "outputTemplate": "" })), ["BR-PROCESS-001"]);
    }

    #[test]
    fn each_step_is_heard_by_itself() {
        let (mut first, mut second) = (ask("first"), ask("second"));
        first["ask"]["prompt"] = json!("{nobody}");
        second["ask"]["prompt"] = json!("{nothing}");
        let draft = json!({ "name": "n", "steps": [first, second], "outputTemplate": "{{first}}" });
        let found = list(draft);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].violation.problem().contains("nobody"), "{found:?}");
        assert!(found[1].violation.problem().contains("nothing"), "{found:?}");
    }

    fn places(draft: Value) -> Vec<(&'static str, Option<usize>, Option<&'static str>)> {
        let found = list(draft);
        found.iter().map(|breach| (breach.violation.rule(), breach.step, breach.field)).collect()
    }

    #[test]
    fn each_breach_says_where_it_is() {
        let (mut first, mut second, mut third) = (ask("first"), ask("second"), ask("third"));
        first["ask"]["prompt"] = json!("{nobody}");
        second["execution"] = json!({ "timeout": 301, "condition": "nothing > 1" });
        third["fallback"] = json!([{ "id": "f", "ask": { "prompt": "{nobody}" }, "output": { "variable": "third" } }]);
        let draft = json!({ "name": "n", "steps": [first, second, third], "outputTemplate": "{{none}}",
            "maxRecursionDepth": 11 });
        let found = places(draft);
        for wanted in [
            (Some(1), Some("ask.prompt")),
            (Some(2), Some("execution.timeout")),
            (Some(2), Some("execution.condition")),
            (Some(3), Some("fallback")),
            (None, Some("outputTemplate")),
            (None, Some("maxRecursionDepth")),
        ] {
            assert!(found.iter().any(|(_, step, field)| (*step, *field) == wanted), "{wanted:?} is not in {found:?}");
        }
        assert_eq!(found.len(), 6, "{found:?}");
    }

    #[test]
    fn what_makes_no_step_says_which_it_is() {
        let mut bad = ask("second");
        bad["toolLimits"] = json!({});
        let draft = json!({ "name": "n", "steps": [ask("first"), bad], "outputTemplate": "{{first}}" });
        assert_eq!(places(draft), [("BR-STEP-001", Some(2), Some("toolLimits"))]);
        let draft = json!({ "name": "n", "steps": [ask("one"), ask("two"), ask("one")], "outputTemplate": "{{one}}" });
        assert_eq!(places(draft).iter().map(|(_, step, _)| *step).collect::<Vec<_>>(), [Some(3)]);
    }

    #[test]
    fn what_a_draft_names_is_its_own() {
        let mut bad = ask("b");
        bad["execution"] = json!({ "timeout": 301 });
        let draft = json!({ "name": "n", "initialContext": ["a", "aa"], "steps": [bad], "outputTemplate": "{{b}}" });
        assert_eq!(places(draft), [("BR-STEP-005", Some(1), Some("execution.timeout"))]);
        let mut idle = ask("b");
        idle["execution"] = json!({ "interactionMode": "manual" });
        idle["inputs"] = json!({ "more": "a" });
        let draft = json!({ "name": "n", "steps": [idle], "outputTemplate": "{{b}}" });
        let of = |field| ("BR-STEP-005", Some(1), Some(field));
        assert_eq!(places(draft), [of("inputs"), of("execution.interactionMode")]);
    }
}
