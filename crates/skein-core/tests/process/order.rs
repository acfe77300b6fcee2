//! BR-PROCESS-002 to 004: what waits for what.

use serde_json::{Value, json};
use skein_core::flow::plan::Plan;

use crate::samples::{of_steps, refused, step};

fn after(id: &str, deps: Value) -> Value {
    step(id, json!({ "dependsOn": deps }))
}

fn parallel(id: &str, deps: Value) -> Value {
    step(id, json!({ "dependsOn": deps, "execution": { "mode": "parallel" } }))
}

fn deps(steps: Value) -> Vec<Vec<usize>> {
    Plan::of(&of_steps(steps).unwrap()).unwrap().steps().iter().map(|step| step.deps.clone()).collect()
}

#[test]
fn br_process_002_steps_that_wait_for_earlier_ones_holds() {
    assert_eq!(
        deps(json!([step("a", json!({})), after("b", json!(["a"])), after("c", json!(["a"]))])),
        [vec![], vec![0], vec![0, 1]]
    );
}

#[test]
fn br_process_002_steps_that_wait_for_one_another_refuses() {
    let violation = of_steps(json!([
        step("z", json!({})),
        after("a", json!(["c"])),
        after("b", json!(["a"])),
        after("c", json!(["b"]))
    ]))
    .unwrap_err();
    assert_eq!((violation.rule(), violation.problem()), ("BR-PROCESS-002", "the steps a, b, c wait for one another"));
    assert_eq!(refused(of_steps(json!([after("a", json!(["a"]))]))), "BR-PROCESS-002");
}

#[test]
fn br_process_003_dependencies_on_earlier_steps_holds() {
    assert_eq!(
        deps(json!([step("a", json!({})), step("b", json!({})), after("c", json!(["a", "a"]))])),
        [vec![], vec![0], vec![0, 1]]
    );
}

#[test]
fn br_process_003_dependencies_on_later_or_unknown_steps_refuses() {
    let violation = of_steps(json!([after("a", json!(["b"])), step("b", json!({}))])).unwrap_err();
    assert_eq!(
        (violation.rule(), violation.problem()),
        ("BR-PROCESS-003", "step 1 (\"a\") depends on \"b\", which stands behind it")
    );
    assert_eq!(refused(of_steps(json!([after("a", json!(["nobody"]))]))), "BR-PROCESS-003");
}

#[test]
fn br_process_003_a_fallback_says_nothing_about_order_refuses() {
    let stand_in = |changes: Value| step("b", crate::samples::with(json!({ "output": { "variable": "a" } }), changes));
    for changes in [
        json!({ "dependsOn": [] }),
        json!({ "execution": { "mode": "parallel" } }),
        json!({ "fallback": [stand_in(json!({}))] }),
    ] {
        let steps = json!([step("a", json!({ "fallback": [stand_in(changes)] }))]);
        assert_eq!(refused(of_steps(steps)), "BR-PROCESS-003");
    }
}

#[test]
fn br_process_004_parallel_steps_begin_together_and_are_waited_for_holds() {
    let steps = json!([
        step("a", json!({})),
        parallel("b", Value::Null),
        parallel("c", json!(["a"])),
        parallel("d", json!([])),
        step("e", json!({}))
    ]);
    assert_eq!(deps(steps), [vec![], vec![0], vec![0], vec![], vec![1, 2, 3]]);
    assert_eq!(
        deps(json!([parallel("a", Value::Null), parallel("b", Value::Null), step("c", json!({}))])),
        [vec![], vec![], vec![0, 1]]
    );
}

#[test]
fn br_process_004_parallel_steps_that_depend_on_each_other_refuses() {
    let steps = json!([parallel("a", Value::Null), parallel("b", json!(["a"]))]);
    assert_eq!(refused(of_steps(steps)), "BR-PROCESS-004");
    let apart = json!([parallel("a", Value::Null), step("b", json!({})), parallel("c", json!(["a"]))]);
    assert_eq!(refused(of_steps(apart)), "BR-PROCESS-004");
}
