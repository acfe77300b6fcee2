//! Tests for every definition: no input makes a plan fail, and every plan obeys its order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use skein_core::catalog::entry::Entry;
use skein_core::flow::plan::{Plan, VariableScope};
use skein_core::flow::process::Process;
use skein_core::flow::step::Step;

use crate::samples::{SEARCH, inputs, process, sent, with};

fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just("{question}".to_owned()),
        Just("{step.found}".to_owned()),
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[0]".to_owned()),
        Just("{{#each tags}}".to_owned()),
        Just("{{/each}}".to_owned()),
        Just("question".to_owned()),
        Just(" && ".to_owned()),
        Just("?.".to_owned()),
        Just("(".to_owned()),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        words().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Steps with random order, some of it impossible.
fn steps() -> impl Strategy<Value = Vec<Value>> {
    let deps = prop::option::of(prop::collection::vec((0_usize..6).prop_map(|dep| format!("s{dep}")), 0..3));
    let mode = prop::sample::select(["parallel", "sequential"].as_slice());
    let step = (deps, mode, prop::option::of(1_u64..50)).prop_map(|(deps, mode, tokens)| {
        let output = with(json!({}), json!({ "tokenBudget": tokens }));
        let step = json!({ "toolId": SEARCH, "output": output, "execution": { "mode": mode } });
        with(step, json!({ "dependsOn": deps }))
    });
    prop::collection::vec(step, 1..6).prop_map(|mut steps| {
        for (at, step) in steps.iter_mut().enumerate() {
            step["id"] = json!(format!("s{at}"));
            step["output"]["variable"] = json!(format!("v{at}"));
        }
        steps
    })
}

proptest! {
    #[test]
    fn a_text_with_doubled_braces_comes_out_as_it_went_in(text in words()) {
        let doubled = text.replace('{', "{{").replace('}', "}}");
        let filled = inputs(json!({ "x": doubled }), json!(1), json!(2)).unwrap();
        prop_assert_eq!(&filled["x"], &json!(text));
    }

    #[test]
    fn what_is_filled_in_is_never_read_again(question in json_value(), found in json_value()) {
        let given = json!({ "whole": "{question}", "text": ["<{question}|{step.found}>"] });
        let filled = inputs(given, question.clone(), found.clone()).unwrap();
        prop_assert_eq!(&filled["whole"], &question);
        let written = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        prop_assert_eq!(&filled["text"][0], &json!(format!("<{}|{}>", written(&question), written(&found))));
    }

    #[test]
    fn nothing_sent_as_a_step_is_more_than_refused(step in json_value(), input in json_value(), condition in words()) {
        prop_assert!(Step::parse(&step, 1).is_err());
        let good = json!({ "id": "a", "toolId": SEARCH, "output": { "variable": "a" }, "inputs": { "x": input }, "execution": { "condition": condition } });
        let _ = process(json!({ "steps": [good], "outputTemplate": "" }));
    }

    #[test]
    fn any_template_is_understood_or_refused(template in words(), question in json_value()) {
        let Ok(process) = process(json!({ "outputTemplate": template })) else { return Ok(()) };
        let context = Map::from_iter([("question".to_owned(), question)]);
        let scope = VariableScope { context: &context, outputs: &BTreeMap::new(), error: None };
        prop_assert!(Plan::of(&process).unwrap().output(&scope).is_ok());
    }

    #[test]
    fn a_plan_runs_forward_within_its_budget(steps in steps(), budget in prop::option::of(1_u64..200)) {
        let changes = json!({ "steps": steps, "outputTemplate": "" });
        let Ok(process) = process(with(changes, json!({ "tokenBudget": budget }))) else { return Ok(()) };
        prop_assert_eq!(Process::from_data(&process.to_data()), Some(process.clone()));
        let plan = Plan::of(&process).unwrap();
        for (at, step) in plan.steps().iter().enumerate() {
            prop_assert!(step.deps.iter().all(|dep| *dep < at) && step.deps.is_sorted());
        }
        if let Some(budget) = budget {
            prop_assert!(plan.steps().iter().filter_map(|step| step.token_budget).sum::<u64>() <= budget);
        }
        let renamed = process.change(sent(json!({ "name": "Other" }))).unwrap();
        prop_assert_eq!(renamed.definition_version, 1);
    }
}
