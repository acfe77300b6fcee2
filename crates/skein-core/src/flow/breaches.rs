//! All that is wrong with a definition, for whoever is still writing it.
//!
//! Making a process stops at the first breach. Here one concern is looked at after another, with the others taken out of
//! the way, so that every concern has its say: each step by itself, the order of the steps, the budgets, the answer.

use serde_json::{Map, Value};

use crate::flow::plan::Plan;
use crate::flow::process::{InitialContext, Process, ProcessDraft};
use crate::flow::step::{Reference, STEPS_MAX, Step};
use crate::flow::target::{TargetBreach, TargetView};
use crate::id::UserId;
use crate::rule::RuleViolation;

/// The members of a step that can be left out, so that it shows whether one of them is to blame.
const OPTIONAL: [&str; 11] = [
    "inputs",
    "abortWhen",
    "review",
    "retry",
    "dependsOn",
    "execution.condition",
    "execution.timeout",
    "output.tokenBudget",
    "ask.prompt",
    "ask.schema",
    "fallback",
];

/// What is wrong, and where, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    pub violation: RuleViolation,
    /// The step, from 1.
    pub step: Option<usize>,
    /// The member of the step, else of the process, as clients spell it: `outputTemplate`, `execution.timeout`.
    pub field: Option<&'static str>,
}

/// What a draft breaks that needs nothing but the draft itself; nothing if it makes a process.
pub fn of_draft(draft: &ProcessDraft) -> Vec<Breach> {
    let Err(first) = Process::create(draft.clone()) else { return Vec::new() };
    let mut found = Found::default();
    let quiet = quieted(draft);
    of_skeleton(draft, &quiet, &mut found);
    for (at, step) in draft.steps.iter().enumerate().take(STEPS_MAX) {
        of_step(&quiet, at, step, &mut found);
    }
    for (field, concern) in concerns(draft, &quiet) {
        found.add(Process::create(concern).err(), None, Some(field));
    }
    found.add(Some(first), None, None);
    found.0
}

/// Breaches, each once: the first place that is told of one is the narrowest.
#[derive(Default)]
struct Found(Vec<Breach>);

impl Found {
    fn has(&self, violation: &RuleViolation) -> bool {
        self.0.iter().any(|breach| breach.violation == *violation)
    }

    fn add(&mut self, violation: Option<RuleViolation>, step: Option<usize>, field: Option<&'static str>) {
        if let Some(violation) = violation.filter(|violation| !self.has(violation)) {
            self.0.push(Breach { violation, step, field });
        }
    }
}

/// What is wrong with the steps when they say nothing but who they are, whom they call and what they give.
fn of_skeleton(draft: &ProcessDraft, quiet: &ProcessDraft, found: &mut Found) {
    for (at, step) in draft.steps.iter().enumerate().take(STEPS_MAX) {
        if let Err(broken) = Step::parse(&silenced(step), at + 1) {
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
    }
    let Err(broken) = Process::create(quiet.clone()) else { return };
    // The first step with which it is wrong.
    let until = |count: usize| ProcessDraft { steps: quiet.steps[..count].to_vec(), ..quiet.clone() };
    let count = quiet.steps.len().min(STEPS_MAX);
    let step = (1..=count).find(|count| Process::create(until(*count)).err().as_ref() == Some(&broken));
    found.add(Some(broken), step, None);
}

/// What is wrong with a step among others that say nothing.
fn of_step(quiet: &ProcessDraft, at: usize, step: &Value, found: &mut Found) {
    let broken_with = |step: Value| {
        let mut steps = quiet.steps.clone();
        steps[at] = step;
        Process::create(ProcessDraft { steps, ..quiet.clone() }).err()
    };
    let Some(broken) = broken_with(step.clone()) else { return };
    if found.has(&broken) {
        return;
    }
    for field in OPTIONAL {
        found.add(broken_with(only(step, &[field])), Some(at + 1), Some(field));
    }
    // A default has the shape that is asked for.
    found.add(broken_with(only(step, &["review", "ask.schema"])), Some(at + 1), Some("review"));
    found.add(Some(broken), Some(at + 1), None);
}

/// What a process of `owner` breaks by the targets it names, step by step.
pub fn of_targets<'a>(
    process: &Process,
    plan: &Plan,
    owner: UserId,
    lookup: impl Fn(Reference) -> TargetView<'a>,
) -> Vec<Breach> {
    let breach = |breach: TargetBreach| {
        let (step, field) = match plan.steps()[breach.step].stands_in_for {
            None => (breach.step, breach.field),
            Some(replaced) => (replaced, "fallback"),
        };
        let violation = RuleViolation::new(breach.rule, breach.problem, breach.remedy);
        Breach { violation, step: Some(step + 1), field: Some(field) }
    };
    process.target_breaches(plan, owner, lookup).into_iter().map(breach).collect()
}

/// The draft with everything silenced that can be.
fn quieted(draft: &ProcessDraft) -> ProcessDraft {
    ProcessDraft {
        steps: draft.steps.iter().map(silenced).collect(),
        output_template: plain_answer(&draft.steps),
        token_budget: None,
        max_recursion_depth: None,
        ..draft.clone()
    }
}

/// The draft once for each concern of the whole process, with all others silenced.
fn concerns(draft: &ProcessDraft, quiet: &ProcessDraft) -> Vec<(&'static str, ProcessDraft)> {
    let free = free_name(&draft.initial_context);
    let ask = serde_json::json!({ "id": free, "ask": { "prompt": "" }, "output": { "variable": free } });
    let alone = |context: &InitialContext| ProcessDraft {
        steps: vec![ask.clone()],
        initial_context: context.clone(),
        output_template: format!("{{{{{free}}}}}"),
        ..quiet.clone()
    };
    let context = alone(&draft.initial_context);
    let depth = ProcessDraft { max_recursion_depth: draft.max_recursion_depth, ..alone(&InitialContext::default()) };
    let answer = ProcessDraft { output_template: draft.output_template.clone(), ..quiet.clone() };
    let order =
        ProcessDraft { steps: draft.steps.iter().map(|step| only(step, &["dependsOn"])).collect(), ..quiet.clone() };
    let budgets = ProcessDraft {
        steps: draft.steps.iter().map(|step| only(step, &["output.tokenBudget"])).collect(),
        token_budget: draft.token_budget,
        ..quiet.clone()
    };
    vec![
        ("initialContext", context),
        ("maxRecursionDepth", depth),
        ("outputTemplate", answer),
        ("steps", order),
        ("tokenBudget", budgets),
    ]
}

/// A name that the context does not use.
fn free_name(context: &InitialContext) -> String {
    let names = context.names();
    let mut free = "a".to_owned();
    while names.contains(free.as_str()) {
        free.push('a');
    }
    free
}

/// An answer that nothing is wrong with, as long as the first step gives something.
fn plain_answer(steps: &[Value]) -> String {
    let variable = steps.first().and_then(|step| step["output"]["variable"].as_str());
    variable.map_or_else(String::new, |variable| format!("{{{{{variable}}}}}"))
}

/// A step that says nothing a rule could be about but its id, its target and its variable.
fn silenced(step: &Value) -> Value {
    only(step, &[])
}

/// [`silenced`], but for the members that are kept.
fn only(step: &Value, kept: &[&str]) -> Value {
    let Some(members) = step.as_object() else { return step.clone() };
    let mut quiet = members.clone();
    for member in ["inputs", "abortWhen", "review", "retry", "dependsOn"] {
        if !kept.contains(&member) {
            quiet.remove(member);
        }
    }
    silence(quiet.get_mut("execution"), |execution| {
        execution.retain(|member, _| {
            let is_silent = !["condition", "timeout"].contains(&member.as_str());
            is_silent || kept.contains(&format!("execution.{member}").as_str())
        });
    });
    silence(quiet.get_mut("output"), |output| {
        if !kept.contains(&"output.tokenBudget") {
            output.remove("tokenBudget");
        }
    });
    silence(quiet.get_mut("ask"), |ask| {
        if !kept.contains(&"ask.prompt") {
            ask.insert("prompt".to_owned(), "".into());
        }
        if !kept.contains(&"ask.schema") {
            ask.remove("schema");
        }
    });
    if kept.contains(&"fallback") {
        return quiet.into();
    }
    if let Some(inner) = quiet.get_mut("fallback").and_then(Value::as_array_mut) {
        // What is wrong inside is wrong with the fallback; budgets are shared out among all steps.
        let kept = if kept.contains(&"output.tokenBudget") { &["output.tokenBudget"][..] } else { &[] };
        for step in inner {
            *step = only(step, kept);
        }
    }
    quiet.into()
}

fn silence(member: Option<&mut Value>, quieten: impl FnOnce(&mut Map<String, Value>)) {
    if let Some(members) = member.and_then(Value::as_object_mut) {
        quieten(members);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(draft: Value) -> Vec<&'static str> {
        of_draft(&serde_json::from_value(draft).unwrap()).iter().map(|breach| breach.violation.rule()).collect()
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
        let found = of_draft(&serde_json::from_value(draft).unwrap());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].violation.problem().contains("nobody"), "{found:?}");
        assert!(found[1].violation.problem().contains("nothing"), "{found:?}");
    }

    fn places(draft: Value) -> Vec<(&'static str, Option<usize>, Option<&'static str>)> {
        let found = of_draft(&serde_json::from_value(draft).unwrap());
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
    }
}
