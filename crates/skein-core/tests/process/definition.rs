//! BR-PROCESS: what a process consists of, what it may name, what it may spend, and how it is kept.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use skein_core::RuleViolation;
use skein_core::catalog::entry::Entry;
use skein_core::flow::plan::{Plan, VariableScope};
use skein_core::flow::process::{InitialContext, Process, ProcessChange, ProcessDraft};

use crate::samples::{MODEL, OTHER, SEARCH, object, of_steps, process, process_draft, refused, sent, step, with};

fn change(changes: Value) -> Result<Process, RuleViolation> {
    process(json!({})).unwrap().change(sent::<ProcessChange>(changes))
}

fn budgets(total: Option<u64>, steps: Vec<Option<u64>>) -> Result<Vec<Option<u64>>, RuleViolation> {
    let output = |at: usize, tokens: Option<u64>| {
        with(json!({ "variable": format!("v{at}") }), json!({ "tokenBudget": tokens }))
    };
    let steps: Vec<Value> = steps
        .into_iter()
        .enumerate()
        .map(|(at, tokens)| step(&format!("s{at}"), json!({ "output": output(at, tokens) })))
        .collect();
    let process = process(json!({ "steps": steps, "outputTemplate": "", "tokenBudget": total }))?;
    Ok(Plan::of(&process)?.steps().iter().map(|step| step.token_budget).collect())
}

#[test]
fn br_process_001_one_step_is_enough_holds() {
    let process = of_steps(json!([step("only", json!({}))])).unwrap();
    assert_eq!(Process::from_data(&process.to_data()).as_ref(), Some(&process));
    assert_eq!((process.max_recursion_depth, process.enabled, process.definition_version), (3, true, 1));
}

#[test]
fn a_process_is_kept_as_it_always_was() {
    let kept = json!({
        "name": "Answer",
        "initialContext": ["question"],
        "steps": [
            {
                "id": "found", "toolId": SEARCH, "inputs": { "query": "{question}" },
                "output": { "variable": "found", "required": true },
                "execution": { "mode": "sequential", "interactionMode": "auto" },
            },
            {
                "id": "answer", "toolId": MODEL, "inputs": { "prompt": "{question}: {step.found}" },
                "output": { "variable": "answer", "required": true },
                "execution": { "mode": "sequential", "interactionMode": "auto" },
            },
        ],
        "outputTemplate": "{{answer}}",
        "maxRecursionDepth": 3,
        "enabled": true,
        "archived": false,
        "definitionVersion": 1,
    });
    assert_eq!(Value::Object(process(json!({})).unwrap().to_data()), kept);
}

#[test]
fn br_process_001_no_steps_too_many_or_the_same_twice_refuses() {
    assert_eq!(refused(of_steps(json!([]))), "BR-PROCESS-001");
    assert_eq!(refused(process(json!({ "steps": null }))), "BR-PROCESS-001");
    assert_eq!(refused(change(json!({ "steps": [] }))), "BR-PROCESS-001");
    let many: Vec<Value> = (0..101).map(|at| step(&format!("s{at}"), json!({}))).collect();
    assert_eq!(refused(of_steps(json!(many))), "BR-PROCESS-001");
    let twice = json!([step("a", json!({})), step("a", json!({ "output": { "variable": "b" } }))]);
    assert_eq!(refused(of_steps(twice)), "BR-PROCESS-001");
    let stand_ins: Vec<Value> = (0..100).map(|at| step(&format!("f{at}"), json!({}))).collect();
    let fallbacks = json!([step("f99x", json!({ "output": { "variable": "f99" }, "fallback": stand_ins }))]);
    assert_eq!(refused(of_steps(fallbacks)), "BR-PROCESS-001");
}

#[test]
fn br_process_001_a_step_of_another_shape_refuses_by_number() {
    let violation = of_steps(json!([step("a", json!({})), step("b", json!({ "colour": "red" }))])).unwrap_err();
    assert!(violation.problem().starts_with("step 2 is not understood: unknown field `colour`"), "{violation}");
    assert_eq!(refused(of_steps(json!(["a step"]))), "BR-PROCESS-001");
}

#[test]
fn br_process_005_every_variable_has_one_origin_holds() {
    assert!(
        process(json!({ "outputTemplate": "{{question}} {{context.question}} {{step.found}} {{answer}}" })).is_ok()
    );
}

#[test]
fn br_process_005_an_unknown_or_doubled_variable_refuses() {
    for template in ["{{later}}", "{{#if later}}{{/if}}", "{{context.answer}}", "{{step.question}}"] {
        assert_eq!(refused(process(json!({ "outputTemplate": template }))), "BR-PROCESS-005", "{template}");
    }
    let same = |variable: &str| step("b", json!({ "output": { "variable": variable } }));
    assert_eq!(refused(of_steps(json!([step("a", json!({})), same("a")]))), "BR-PROCESS-005");
    assert_eq!(refused(of_steps(json!([same("question")]))), "BR-PROCESS-005");
    for variable in ["", "1x", "a-b", "step", "context", "error", "this", "undefined", "ä", &"x".repeat(65)] {
        assert_eq!(refused(of_steps(json!([same(variable)]))), "BR-PROCESS-005", "{variable}");
    }
}

#[test]
fn br_process_005_a_fallback_fills_the_variable_of_its_step_holds() {
    let fallback = json!([
        step("look", json!({})),
        step("tell", json!({ "output": { "variable": "a" }, "inputs": { "x": "{step.look}" } }))
    ]);
    let after = step("b", json!({ "inputs": { "x": "{step.a}" } }));
    let plan = Plan::of(&of_steps(json!([step("a", json!({ "fallback": fallback })), after])).unwrap()).unwrap();
    let places: Vec<_> =
        plan.steps().iter().map(|step| (step.deps.clone(), step.stands_in_for, step.fallback.clone())).collect();
    let expected = vec![(vec![], None, 2..4), (vec![0], None, 4..4), (vec![], Some(0), 0..0), (vec![2], Some(0), 0..0)];
    assert_eq!(places, expected);
}

#[test]
fn br_process_005_a_fallback_that_ends_elsewhere_or_is_seen_from_outside_refuses() {
    let a = |fallback: Value| step("a", json!({ "fallback": fallback }));
    assert_eq!(refused(of_steps(json!([a(json!([step("look", json!({}))]))]))), "BR-PROCESS-005");
    let tell = step("tell", json!({ "output": { "variable": "a" } }));
    let outside = step("b", json!({ "inputs": { "x": "{step.look}" } }));
    assert_eq!(refused(of_steps(json!([a(json!([step("look", json!({})), tell])), outside]))), "BR-STEP-002");
}

#[test]
fn br_process_006_unspecified_budgets_share_the_rest_holds() {
    assert_eq!(budgets(None, vec![None, Some(5)]).unwrap(), [None, Some(5)]);
    assert_eq!(
        budgets(Some(100), vec![Some(30), None, None, Some(20)]).unwrap(),
        [Some(30), Some(25), Some(25), Some(20)]
    );
    assert_eq!(budgets(Some(10), vec![None, None, None]).unwrap(), [Some(4), Some(3), Some(3)]);
    assert_eq!(budgets(Some(10), vec![Some(10), None]).unwrap(), [Some(10), Some(0)]);
}

#[test]
fn br_process_006_steps_that_ask_for_more_refuses() {
    let violation = budgets(Some(100), vec![Some(60), Some(41)]).unwrap_err();
    assert_eq!(
        (violation.rule(), violation.problem()),
        ("BR-PROCESS-006", "the steps ask for 101 tokens, and the process has 100")
    );
    assert_eq!(refused(budgets(Some(0), vec![None])), "BR-PROCESS-006");
    assert_eq!(refused(budgets(Some(5), vec![Some(0)])), "BR-PROCESS-006");
    assert_eq!(refused(budgets(Some(u64::MAX), vec![None])), "BR-PROCESS-006");
    let output = |tokens: u64| json!({ "variable": "a", "tokenBudget": tokens });
    let fallback = json!([step("b", json!({ "output": output(9) }))]);
    let step = step("a", json!({ "output": output(8), "fallback": fallback }));
    assert_eq!(refused(of_steps(json!([step]))), "BR-PROCESS-006");
}

#[test]
fn br_cross_003_the_parts_never_exceed_the_whole_holds() {
    for (total, steps) in [(7, vec![None; 3]), (100, vec![Some(99), None, None]), (1, vec![None; 20])] {
        let parts: u64 = budgets(Some(total), steps).unwrap().into_iter().flatten().sum();
        assert_eq!(parts, total);
    }
}

#[test]
fn br_cross_003_a_change_that_lowers_the_whole_below_its_parts_refuses() {
    let parts = json!([step("a", json!({ "output": { "variable": "a", "tokenBudget": 50 } }))]);
    let process = process(json!({ "steps": parts, "outputTemplate": "", "tokenBudget": 50 })).unwrap();
    assert_eq!(refused(process.change(sent(json!({ "tokenBudget": 49 })))), "BR-PROCESS-006");
    assert_eq!(process.change(sent(json!({ "tokenBudget": null }))).unwrap().token_budget, None);
}

#[test]
fn br_process_007_the_depth_is_bounded_holds_and_refuses() {
    assert_eq!(process(json!({ "maxRecursionDepth": 10 })).unwrap().max_recursion_depth, 10);
    for depth in [0, 11, 1_000] {
        assert_eq!(refused(process(json!({ "maxRecursionDepth": depth }))), "BR-PROCESS-007", "{depth}");
    }
}

#[test]
fn br_process_008_an_archived_process_is_kept_and_changed_no_more_refuses() {
    let archived = process(json!({})).unwrap().archive();
    assert!(archived.archived && !archived.enabled && archived.definition_version == 1);
    assert_eq!(Process::from_data(&archived.to_data()).as_ref(), Some(&archived));
    assert_eq!(refused(archived.change(sent(json!({ "enabled": true })))), "BR-PROCESS-008");
    assert_eq!(refused(change(json!({ "archived": true }))), "BR-PROCESS-008");
}

#[test]
fn br_process_010_owner_and_sharing_cannot_be_set_refuses() {
    assert_eq!(refused(change(json!({ "ownerId": "usr_x" }))), "BR-PROCESS-010");
    assert_eq!(refused(change(json!({ "shared": true }))), "BR-PROCESS-010");
    assert!(serde_json::from_value::<ProcessDraft>(with(process_draft(), json!({ "shared": true }))).is_err());
}

#[test]
fn what_the_process_does_is_versioned_and_its_name_is_not() {
    let version = |changes| change(changes).unwrap().definition_version;
    assert_eq!(version(json!({ "name": "Other", "enabled": false, "description": "x" })), 1);
    assert_eq!(version(json!({ "outputTemplate": "{{answer}}", "steps": process_draft()["steps"] })), 1);
    assert_eq!(version(json!({ "outputTemplate": "{{answer}}!" })), 2);
    assert_eq!(version(json!({ "maxRecursionDepth": 4 })), 2);
    assert_eq!(version(json!({ "initialContext": ["question", "more"] })), 2);
    assert_eq!(version(json!({ "steps": [step("answer", json!({}))] })), 2);
}

#[test]
fn a_change_leaves_no_broken_definition() {
    assert_eq!(refused(change(json!({ "initialContext": ["query"] }))), "BR-STEP-002");
    assert_eq!(refused(change(json!({ "steps": [step("found", json!({}))] }))), "BR-PROCESS-005");
}

#[test]
fn what_a_process_names_is_listed_once() {
    let fallback = json!([step("b", json!({ "toolId": OTHER, "output": { "variable": "a" } }))]);
    let steps = json!([
        step("a", json!({ "fallback": fallback })),
        step("c", json!({ "toolId": MODEL, "tools": [{ "toolId": SEARCH }] }))
    ]);
    let named: Vec<_> = of_steps(steps).unwrap().references().iter().map(|named| named.id).collect();
    assert_eq!(named, [SEARCH, MODEL, OTHER]);
}

#[test]
fn an_initial_context_is_names_or_a_schema() {
    let schema = json!({ "type": "object", "properties": { "question": { "type": "string" }, "limit": { "type": "integer", "default": 3 } }, "required": ["question"] });
    let process = process(json!({ "initialContext": schema })).unwrap();
    assert_eq!(process.to_data()["initialContext"], schema);
    let values = process.initial_context.with_defaults(object(json!({ "question": "x" })));
    assert_eq!(values["limit"], 3);
    assert_eq!(process.initial_context.check_values(&values), Ok(()));
    for values in [json!({}), json!({ "question": 1 }), json!({ "question": "x", "more": 1 })] {
        assert_eq!(refused(process.initial_context.check_values(&object(values))), "BR-STEP-001");
    }
    let names = InitialContext::Names(vec!["a".to_owned()]);
    assert_eq!(names.check_values(&object(json!({ "a": null }))), Ok(()));
    assert_eq!(refused(names.check_values(&Map::new())), "BR-STEP-001");
    for context in [
        json!(["a", "a"]),
        json!(["1a"]),
        json!(true),
        json!({ "type": "array" }),
        json!({ "type": "nonsense" }),
        json!({ "properties": { "a b": {} } }),
    ] {
        assert_eq!(refused(crate::samples::process(json!({ "initialContext": context }))), "BR-STEP-002", "{context}");
    }
}

#[test]
fn the_answer_is_a_text_and_the_step_that_speaks_it_is_known() {
    let plan = Plan::of(&process(json!({ "outputTemplate": "{{answer.text}}" })).unwrap()).unwrap();
    assert_eq!(plan.streamed_step(), Some(1));
    let outputs = BTreeMap::from([("answer".to_owned(), json!({ "text": "<b>" }))]);
    let scope = VariableScope { context: &Map::new(), outputs: &outputs, error: None };
    assert_eq!(plan.output(&scope), Ok(json!("<b>")));
    for template in ["{{question}}", "It is {{answer}}", ""] {
        let plan = Plan::of(&process(json!({ "outputTemplate": template })).unwrap()).unwrap();
        assert_eq!(plan.streamed_step(), None, "{template}");
    }
}

#[test]
fn conditions_are_asked_with_the_values_of_the_moment() {
    let steps = json!([
        step("found", json!({})),
        step(
            "next",
            json!({ "execution": { "condition": "step.found.length > 1" }, "abortWhen": ["error.code == 'DENIED'", "found[0] === 'stop'"] })
        )
    ]);
    let plan = Plan::of(&of_steps(steps).unwrap()).unwrap();
    let ask = |found: Value, error: Option<Value>| {
        let outputs = BTreeMap::from([("found".to_owned(), found)]);
        let scope = VariableScope { context: &Map::new(), outputs: &outputs, error: error.as_ref() };
        (plan.condition(0, &scope), plan.condition(1, &scope), plan.aborts(1, &scope))
    };
    assert_eq!(ask(json!([1, 2]), Some(json!({ "code": "DENIED" }))), (Ok(true), Ok(true), Ok(true)));
    assert_eq!(ask(json!(["stop"]), Some(json!({ "code": "OTHER" }))), (Ok(true), Ok(false), Ok(true)));
    let (_, condition, _) = ask(Value::Null, Some(json!({})));
    assert_eq!(refused(condition), "BR-STEP-003");
}
