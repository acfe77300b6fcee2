//! BR-STEP: the shape of a step, its limits, and how it is written.

use serde_json::{Value, json};
use skein_core::catalog::entry::Entry;
use skein_core::flow::plan::{Plan, VariableScope};
use skein_core::flow::step::{Approval, Backoff, OnExpire, Reference, Step, StepTarget};

use crate::samples::{MODEL, OTHER, SEARCH, object, of_steps, refused, step, with};

fn one(changes: Value) -> Result<Step, skein_core::RuleViolation> {
    Step::parse(&step("a", changes), 1)
}

/// Everything a step can say.
fn full() -> Value {
    json!({
        "id": "step-1",
        "name": "Ask the model",
        "toolId": MODEL,
        "inputs": { "prompt": "{question}" },
        "output": { "variable": "a", "tokenBudget": 100, "required": false },
        "execution": { "mode": "parallel", "condition": "question != ''", "timeout": 300, "interactionMode": "manual" },
        "dependsOn": [],
        "review": { "expiresAfter": 60, "onExpire": "default", "default": null },
        "retry": { "maxRetries": 10, "backoff": "exponential", "backoffMs": 1000 },
        "fallback": [{
            "id": "b",
            "ask": { "prompt": "And?", "schema": { "type": "string" } },
            "inputs": {},
            "output": { "variable": "a", "required": true },
            "execution": { "mode": "sequential", "interactionMode": "auto" },
        }],
        "abortWhen": ["error.code == 'x'"],
        "tools": [{ "toolId": SEARCH, "approval": "once" }, { "toolId": OTHER }],
        "toolLimits": { "rounds": 32, "calls": 256, "seconds": 3600, "tokens": 5 },
    })
}

#[test]
fn a_step_is_written_as_it_was_sent() {
    let step = Step::parse(&full(), 1).unwrap();
    assert_eq!(serde_json::to_value(&step).unwrap(), full());
    assert_eq!(step.review.as_ref().unwrap().on_expire, OnExpire::Default(Value::Null));
    assert_eq!(step.offers.iter().map(|offer| offer.approval).collect::<Vec<_>>(), [Some(Approval::Once), None]);
    let process = of_steps(json!([full()])).unwrap();
    assert_eq!(process.to_data()["steps"], json!([full()]));
    let small = json!({ "id": "a", "processId": OTHER, "output": { "variable": "a" } });
    let filled = json!({
        "id": "a", "processId": OTHER, "inputs": {}, "output": { "variable": "a", "required": true },
        "execution": { "mode": "sequential", "interactionMode": "auto" },
    });
    assert_eq!(serde_json::to_value(Step::parse(&small, 1).unwrap()).unwrap(), filled);
}

#[test]
fn br_step_003_conditions_of_earlier_variables_holds() {
    let condition = json!({ "execution": { "condition": "context.question.length > 3 && step.a == null" } });
    assert!(of_steps(json!([step("a", json!({})), step("b", condition)])).is_ok());
}

#[test]
fn br_step_003_conditions_of_other_variables_or_with_effects_refuses() {
    for condition in ["step.b", "error.code", "later > 1", "question = 1", "alert(1)", "question >", ""] {
        let steps = json!([step("a", json!({ "execution": { "condition": condition } })), step("b", json!({}))]);
        let violation = of_steps(steps).unwrap_err();
        assert_eq!(violation.rule(), "BR-STEP-003", "{condition}");
        assert!(violation.problem().starts_with("step 1 (\"a\"): the condition"), "{violation}");
    }
    assert_eq!(refused(of_steps(json!([step("a", json!({ "abortWhen": ["fetch()"] }))]))), "BR-STEP-003");
    assert_eq!(refused(one(json!({ "abortWhen": vec!["true"; 17] }))), "BR-STEP-003");
}

#[test]
fn br_step_004_retries_within_limits_holds() {
    let retry = one(json!({ "retry": { "maxRetries": 10, "backoff": "exponential", "backoffMs": 1_000 } }))
        .unwrap()
        .retry
        .unwrap();
    assert_eq!([1, 2, 3, 9, 200].map(|number| retry.pause_ms(number)), [1_000, 2_000, 4_000, 256_000, 300_000]);
    let fixed = one(json!({ "retry": { "maxRetries": 2, "backoffMs": 50 } })).unwrap().retry.unwrap();
    assert_eq!((fixed.backoff, fixed.pause_ms(2)), (Backoff::Fixed, 50));
}

#[test]
fn br_step_004_retries_beyond_limits_refuses() {
    for retry in [json!({ "maxRetries": 11 }), json!({ "maxRetries": 1, "backoffMs": 300_001 })] {
        assert_eq!(refused(one(json!({ "retry": retry }))), "BR-STEP-004");
    }
}

#[test]
fn br_step_005_timeouts_from_1_to_300_seconds_holds() {
    for timeout in [1, 300] {
        assert_eq!(one(json!({ "execution": { "timeout": timeout } })).unwrap().execution.timeout_s, Some(timeout));
    }
    assert_eq!(one(json!({})).unwrap().execution.timeout_s, None);
}

#[test]
fn br_step_005_other_timeouts_refuses() {
    for timeout in [0, 301] {
        let violation = one(json!({ "execution": { "timeout": timeout } })).unwrap_err();
        assert_eq!(violation.rule(), "BR-STEP-005");
        assert!(violation.problem().contains("step 1: execution.timeout is"), "{violation}");
    }
    assert!(one(json!({ "execution": { "timeout": 1.5 } })).is_err());
}

#[test]
fn br_step_006_people_are_asked_with_the_values_of_the_moment_holds() {
    let ask = json!({ "toolId": null, "ask": { "prompt": "{question} or {step.a.text}?" }, "review": { "expiresAfter": 5, "onExpire": "skip" } });
    let plan = Plan::of(&of_steps(json!([step("a", json!({})), step("b", ask)])).unwrap()).unwrap();
    assert!(plan.steps()[1].definition.waits_for_a_person() && !plan.steps()[0].definition.waits_for_a_person());
    let outputs = [("a".to_owned(), json!({ "text": "that" }))].into();
    let scope = VariableScope { context: &object(json!({ "question": "this" })), outputs: &outputs, error: None };
    assert_eq!(plan.prompt(1, &scope), Ok(Some("this or that?".to_owned())));
    assert_eq!(plan.prompt(0, &scope), Ok(None));
}

#[test]
fn br_step_006_a_default_that_nobody_could_answer_refuses() {
    let ask = |default: Value| {
        let review = json!({ "expiresAfter": 5, "onExpire": "default", "default": default });
        let ask = json!({ "prompt": "?", "schema": { "type": "integer" } });
        of_steps(json!([step("a", json!({ "toolId": null, "ask": ask, "review": review }))]))
    };
    assert!(ask(json!(3)).is_ok());
    let violation = ask(json!("three")).unwrap_err();
    assert_eq!(violation.rule(), "BR-STEP-006");
    assert!(violation.problem().starts_with("step 1: review.default does not fit ask.schema"), "{violation}");
}

#[test]
fn br_step_005_a_member_without_effect_refuses() {
    let ask =
        |more: Value| of_steps(json!([step("a", with(json!({ "toolId": null, "ask": { "prompt": "?" } }), more))]));
    assert!(ask(json!({})).is_ok());
    assert_eq!(refused(ask(json!({ "execution": { "timeout": 5 } }))), "BR-STEP-005");
    assert_eq!(refused(ask(json!({ "execution": { "interactionMode": "manual" } }))), "BR-STEP-005");
    assert_eq!(refused(ask(json!({ "inputs": { "more": "{question}" } }))), "BR-STEP-005");
    let budget = json!({ "output": { "variable": "a", "tokenBudget": 5 } });
    assert_eq!(refused(ask(budget.clone())), "BR-PROCESS-006");
    let nested = with(json!({ "toolId": null, "processId": OTHER }), budget);
    assert_eq!(refused(of_steps(json!([step("a", nested)]))), "BR-PROCESS-006");
    let nested = json!({ "toolId": null, "processId": OTHER, "execution": { "timeout": 5, "interactionMode": "manual" },
        "retry": { "maxRetries": 1 }, "review": { "expiresAfter": 5 } });
    assert!(of_steps(json!([step("a", nested)])).is_ok());
}

#[test]
fn br_step_006_a_review_that_makes_no_sense_refuses() {
    let manual = json!({ "interactionMode": "manual" });
    for review in [
        json!({ "expiresAfter": 0 }),
        json!({ "expiresAfter": 40_000_000 }),
        json!({ "onExpire": "skip" }),
        json!({ "expiresAfter": 5, "onExpire": "default" }),
        json!({ "expiresAfter": 5, "onExpire": "fail", "default": 1 }),
    ] {
        assert_eq!(refused(one(json!({ "execution": manual, "review": review }))), "BR-STEP-006", "{review}");
    }
    assert_eq!(refused(one(json!({ "review": { "expiresAfter": 5 } }))), "BR-STEP-006");
    let ask = |ask: Value, more: Value| one(with(json!({ "toolId": null, "ask": ask }), more));
    let unusable = json!({ "toolId": null, "ask": { "prompt": "?", "schema": { "type": "x" } } });
    assert_eq!(refused(of_steps(json!([step("a", unusable)]))), "BR-STEP-006");
    assert_eq!(refused(ask(json!({ "prompt": "?" }), json!({ "retry": { "maxRetries": 1 } }))), "BR-STEP-006");
}

#[test]
fn br_step_007_exactly_one_target_holds() {
    assert_eq!(one(json!({})).unwrap().target, StepTarget::Tool(SEARCH));
    assert_eq!(one(json!({ "toolId": null, "processId": OTHER })).unwrap().target, StepTarget::Process(OTHER));
    assert!(matches!(one(json!({ "toolId": null, "ask": { "prompt": "?" } })).unwrap().target, StepTarget::Ask(_)));
}

#[test]
fn br_step_007_no_target_or_several_refuses() {
    for changes in [json!({ "toolId": null }), json!({ "processId": OTHER }), json!({ "ask": { "prompt": "?" } })] {
        assert_eq!(refused(one(changes.clone())), "BR-STEP-007", "{changes}");
    }
}

#[test]
fn br_step_007_a_version_of_the_tool_holds() {
    let pinned = one(json!({ "toolVersion": 3, "tools": [{ "toolId": OTHER, "toolVersion": 1 }] })).unwrap();
    let named = |id, version| Reference { id, version };
    let all: Vec<Reference> = pinned.references().collect();
    assert_eq!(all, [named(SEARCH, Some(3)), named(OTHER, Some(1))]);
    assert_eq!((pinned.naming(OTHER), pinned.naming(MODEL)), (named(OTHER, Some(1)), named(MODEL, None)));
    let written = serde_json::to_value(&pinned).unwrap();
    assert_eq!((&written["toolVersion"], &written["tools"][0]["toolVersion"]), (&json!(3), &json!(1)));
}

#[test]
fn br_step_007_a_version_of_nothing_refuses() {
    for changes in [
        json!({ "toolVersion": 0 }),
        json!({ "tools": [{ "toolId": OTHER, "toolVersion": -1 }] }),
        json!({ "toolId": null, "processId": OTHER, "toolVersion": 1 }),
        json!({ "toolId": null, "ask": { "prompt": "?" }, "toolVersion": 1 }),
    ] {
        assert_eq!(refused(one(changes.clone())), "BR-STEP-007", "{changes}");
    }
}

#[test]
fn ids_names_and_offers_have_their_limits() {
    for id in ["", "a b", "ä", &"x".repeat(65)] {
        assert_eq!(refused(Step::parse(&with(step("a", json!({})), json!({ "id": id })), 1)), "BR-PROCESS-001", "{id}");
    }
    assert_eq!(refused(one(json!({ "name": "two\nlines" }))), "BR-PROCESS-001");
    let offer = json!({ "toolId": OTHER });
    for changes in [
        json!({ "tools": [offer, offer] }),
        json!({ "toolLimits": { "rounds": 1 } }),
        json!({ "tools": [offer], "toolLimits": { "rounds": 33 } }),
        json!({ "tools": [offer], "toolLimits": { "calls": 0 } }),
        json!({ "tools": [offer], "toolLimits": { "seconds": 3601 } }),
        json!({ "tools": [offer], "toolId": null, "processId": OTHER }),
    ] {
        assert_eq!(refused(one(changes.clone())), "BR-STEP-001", "{changes}");
    }
    let many: serde_json::Map<String, Value> = (0..101).map(|at| (format!("i{at}"), json!(1))).collect();
    assert_eq!(refused(one(json!({ "inputs": many }))), "BR-STEP-001");
}
