//! Takes out of a step, as it was sent, all that a rule could be about, but for the members to be looked at.

use serde_json::{Map, Value};

/// The members of a step that can be left out, so that it shows whether one of them is to blame.
pub(super) const OPTIONAL: [&str; 12] = [
    "inputs",
    "abortWhen",
    "review",
    "retry",
    "dependsOn",
    "execution.condition",
    "execution.timeout",
    "execution.interactionMode",
    "output.tokenBudget",
    "ask.prompt",
    "ask.schema",
    "fallback",
];

/// A step that says nothing a rule could be about but its id, its target and its variable.
pub(super) fn silenced(step: &Value) -> Value {
    only(step, &[])
}

/// [`silenced`], but for the members that are kept.
pub(super) fn only(step: &Value, kept: &[&str]) -> Value {
    let Some(members) = step.as_object() else { return step.clone() };
    let mut quiet = members.clone();
    for member in ["inputs", "abortWhen", "review", "retry", "dependsOn"] {
        if !kept.contains(&member) {
            quiet.remove(member);
        }
    }
    // Of other steps a review depends on it.
    let loud: &[&str] =
        if step["ask"].is_object() { &["condition", "timeout", "interactionMode"] } else { &["condition", "timeout"] };
    silence(quiet.get_mut("execution"), |execution| {
        execution.retain(|member, _| {
            let is_silent = !loud.contains(&member.as_str());
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
