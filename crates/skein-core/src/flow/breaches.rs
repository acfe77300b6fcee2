//! All that is wrong with a definition, for whoever is still writing it.
//!
//! Making a process stops at the first breach. Here one concern is looked at after another, with the others taken out of
//! the way, so that every concern has its say: each step by itself, the order of the steps, the budgets, the answer.

use serde_json::{Map, Value};

use crate::flow::plan::Plan;
use crate::flow::process::{InitialContext, Process, ProcessDraft};
use crate::flow::step::{STEPS_MAX, Step};
use crate::flow::target::TargetView;
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

/// What a draft breaks that needs nothing but the draft itself; nothing if it makes a process.
pub fn of_draft(draft: &ProcessDraft) -> Vec<RuleViolation> {
    let Err(first) = Process::create(draft.clone()) else { return Vec::new() };
    let mut found = vec![first];
    for concern in concerns(draft) {
        if let Err(broken) = Process::create(concern)
            && !found.contains(&broken)
        {
            found.push(broken);
        }
    }
    let steps = draft.steps.iter().take(STEPS_MAX).enumerate();
    let unread: Vec<RuleViolation> = steps.filter_map(|(at, step)| Step::parse(step, at + 1).err()).collect();
    found.extend(unread.into_iter().filter(|broken| !found.contains(broken)).collect::<Vec<_>>());
    found
}

/// What a process of `owner` breaks by the targets it names: first as they are, then as if all were within reach, then as
/// if all were enabled too, so that one rule does not hide the next.
pub fn of_targets<'a>(
    process: &Process,
    plan: &Plan,
    owner: UserId,
    lookup: impl Fn(RecordId) -> TargetView<'a>,
) -> Vec<RuleViolation> {
    let mut found = Vec::new();
    for (is_in_reach, is_enabled) in [(false, false), (true, false), (true, true)] {
        let seen = |id| mended(lookup(id), is_in_reach.then_some(owner), is_enabled);
        if let Err(broken) = process.check_targets(plan, owner, seen)
            && found.iter().all(|before: &RuleViolation| before.rule() != broken.rule())
        {
            found.push(broken);
        }
    }
    found
}

/// A target as it would be if it were its user's own, or enabled.
fn mended(view: TargetView<'_>, owner: Option<UserId>, is_enabled: bool) -> TargetView<'_> {
    match view {
        TargetView::Tool { owner: whose, shared, enabled, name, input_schema, operation } => {
            let (owner, enabled) = (owner.unwrap_or(whose), enabled || is_enabled);
            TargetView::Tool { owner, shared, enabled, name, input_schema, operation }
        }
        TargetView::Process { owner: whose, enabled, name, initial_context } => {
            let (owner, enabled) = (owner.unwrap_or(whose), enabled || is_enabled);
            TargetView::Process { owner, enabled, name, initial_context }
        }
        TargetView::Missing => TargetView::Missing,
    }
}

/// The draft once for each concern, with all others silenced.
fn concerns(draft: &ProcessDraft) -> Vec<ProcessDraft> {
    let quiet = ProcessDraft {
        steps: draft.steps.iter().map(silenced).collect(),
        output_template: plain_answer(&draft.steps),
        token_budget: None,
        max_recursion_depth: None,
        ..draft.clone()
    };
    let ask = serde_json::json!({ "id": "a", "ask": { "prompt": "" }, "output": { "variable": "a" } });
    let alone = |context: &InitialContext| ProcessDraft {
        steps: vec![ask.clone()],
        initial_context: context.clone(),
        output_template: "{{a}}".to_owned(),
        ..quiet.clone()
    };
    let context = alone(&draft.initial_context);
    let depth = ProcessDraft { max_recursion_depth: draft.max_recursion_depth, ..alone(&InitialContext::default()) };
    let answer = ProcessDraft { output_template: draft.output_template.clone(), ..quiet.clone() };
    let order =
        ProcessDraft { steps: draft.steps.iter().map(|step| only(step, &["dependsOn"])).collect(), ..quiet.clone() };
    let budgets = ProcessDraft {
        steps: draft.steps.iter().map(|step| only(step, &["tokenBudget"])).collect(),
        token_budget: draft.token_budget,
        ..quiet.clone()
    };
    let each = (0..draft.steps.len().min(STEPS_MAX)).map(|at| {
        let mut steps = quiet.steps.clone();
        steps[at] = draft.steps[at].clone();
        ProcessDraft { steps, ..quiet.clone() }
    });
    [context, depth, answer, order, budgets].into_iter().chain(each).collect()
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
        for member in ["condition", "timeout"] {
            execution.remove(member);
        }
    });
    silence(quiet.get_mut("output"), |output| {
        if !kept.contains(&"tokenBudget") {
            output.remove("tokenBudget");
        }
    });
    silence(quiet.get_mut("ask"), |ask| {
        ask.insert("prompt".to_owned(), "".into());
        ask.remove("schema");
    });
    if let Some(inner) = quiet.get_mut("fallback").and_then(Value::as_array_mut) {
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
        of_draft(&serde_json::from_value(draft).unwrap()).iter().map(RuleViolation::rule).collect()
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
        assert!(found[0].problem().contains("nobody") && found[1].problem().contains("nothing"), "{found:?}");
    }
}
