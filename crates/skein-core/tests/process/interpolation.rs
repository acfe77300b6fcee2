//! BR-STEP-002: which variables inputs may name, and what becomes of the places.

use serde_json::{Value, json};
use skein_core::flow::interpolate::{PLACES_MAX, TEXT_BYTES_MAX};

use crate::samples::{inputs, of_steps, refused, step};

/// What an input becomes when the question is `q` and `found` is as given.
fn filled(input: Value) -> Value {
    let found = json!({ "n": 7, "list": [{ "t": "one" }, [1, 2]], "null": null, "text": "{question}", "a-b": true });
    let inputs = inputs(json!({ "x": input }), json!("q"), found).unwrap();
    inputs.get("x").cloned().unwrap_or(json!("absent"))
}

#[test]
fn br_step_002_a_whole_place_keeps_its_type_holds() {
    for (input, expected) in [
        (json!("{question}"), json!("q")),
        (json!("{context.question}"), json!("q")),
        (json!("{step.found.n}"), json!(7)),
        (json!("{found.list[0].t}"), json!("one")),
        (json!("{found.list[1]}"), json!([1, 2])),
        (json!("{found.list[1][1]}"), json!(2)),
        (json!("{found.a-b}"), json!(true)),
        (json!("{found.null}"), json!(null)),
        (json!("{found.nothing}"), json!("absent")),
        (json!("{found.list[9]}"), json!("absent")),
        (
            json!(["{found.n}", { "k": "{found.list[1]}", "l": "{found.nothing}" }]),
            json!([7, { "k": [1, 2], "l": null }]),
        ),
        (json!(["{{question}}", 1, {}]), json!(["{question}", 1, {}])),
        (json!(12), json!(12)),
    ] {
        assert_eq!(filled(input.clone()), expected, "{input}");
    }
}

#[test]
fn br_step_002_places_in_a_text_are_written_into_it_holds() {
    for (input, expected) in [
        ("", ""),
        ("a {question} b{found.n}", "a q b7"),
        ("{found.list[1]}{found.null}{found.nothing}!", "[1,2]!"),
        ("{{question}} {{{question}}}", "{question} {q}"),
        ("{\"a\": 1} { question } {} {1} } {", "{\"a\": 1} { question } {} {1} } {"),
        ("{found.text}.", "{question}."),
    ] {
        assert_eq!(filled(json!(input)), json!(expected), "{input}");
    }
}

#[test]
fn br_step_002_a_name_that_is_not_in_the_chain_refuses() {
    for place in [
        "{later}",
        "{step.question}",
        "{context.found}",
        "{step.next}",
        "{step}",
        "{context}",
        "{error.code}",
        "{questions}",
    ] {
        let violation = inputs(json!({ "a": { "b": [place] } }), json!(""), json!("")).unwrap_err();
        assert_eq!(violation.rule(), "BR-STEP-002", "{place}");
        assert!(violation.problem().starts_with("step 2 (\"next\"): input \"a\": "), "{violation}");
        assert!(violation.problem().contains("here are context.question, step.found"), "{violation}");
    }
    for place in ["{question.}", "{question..a}", "{question[x]}", "{question[1}", "{question]}", "{question[0]a}"] {
        assert_eq!(refused(inputs(json!({ "a": place }), json!(""), json!(""))), "BR-STEP-002", "{place}");
    }
}

#[test]
fn br_step_002_beside_is_not_before_refuses() {
    let parallel =
        |id: &str, input: &str| step(id, json!({ "inputs": { "x": input }, "execution": { "mode": "parallel" } }));
    assert_eq!(refused(of_steps(json!([parallel("a", ""), parallel("b", "{step.a}")]))), "BR-STEP-002");
    let apart =
        step("c", json!({ "inputs": { "x": "{step.a}" }, "dependsOn": [], "execution": { "mode": "parallel" } }));
    assert_eq!(refused(of_steps(json!([step("a", json!({})), apart]))), "BR-STEP-002");
    assert!(of_steps(json!([parallel("a", ""), step("b", json!({})), parallel("c", "{step.a}")])).is_ok());
}

#[test]
fn bombs_are_refused() {
    let refused = |input: Value, found: Value| refused(inputs(json!({ "x": input }), json!(""), found));
    assert_eq!(refused(json!("{found}".repeat(PLACES_MAX + 1)), json!("")), "BR-STEP-002");
    assert_eq!(refused(json!("x".repeat(TEXT_BYTES_MAX + 1)), json!("")), "BR-STEP-002");
    let large = json!("x".repeat(1 << 20));
    assert_eq!(refused(json!("{found}".repeat(9)), large.clone()), "BR-STEP-002");
    assert_eq!(refused(json!(vec!["{found}"; 9]), json!([large])), "BR-STEP-002");
    assert_eq!(refused(json!(format!("{{found{}}}", ".a".repeat(40))), json!("")), "BR-STEP-002");
}
