//! Definitions that are too large are refused by counting, before anything in them is understood.

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::catalog::schema::bounds::PATTERNS_MAX;
use skein_core::flow::draft_size::{DEPENDS_ON_MAX, PROCESS_PATTERNS_MAX};
use skein_core::flow::process::{Process, ProcessDraft, REFERENCES_MAX};
use skein_core::flow::step::{OFFERS_MAX, STEPS_MAX, Step};
use skein_core::flow::validation::{BREACHES_MAX, Violation, of_draft};

use crate::samples::{MODEL, sent, step};

fn draft(steps: Vec<Value>) -> ProcessDraft {
    sent(json!({ "name": "n", "steps": steps, "outputTemplate": "{{s0}}" }))
}

fn ask(number: usize, changes: &Value) -> Value {
    let mut step =
        json!({ "id": format!("s{number}"), "ask": { "prompt": "?" }, "output": { "variable": format!("s{number}") } });
    for (name, change) in changes.as_object().unwrap() {
        step[name] = change.clone();
    }
    step
}

fn asks(count: usize) -> Vec<Value> {
    (0..count).map(|number| ask(number, &json!({}))).collect()
}

/// The only breach, which making the process is refused by as well.
fn sole_breach(draft: ProcessDraft) -> Violation {
    let found = of_draft(&draft).into_list();
    let [breach] = found.as_slice() else { panic!("{} breaches, the first: {:?}", found.len(), found.first()) };
    assert_eq!(Process::create(draft).unwrap_err(), breach.violation);
    breach.clone()
}

fn place(breach: &Violation) -> (&'static str, Option<usize>, Option<&'static str>) {
    (breach.violation.rule(), breach.step, breach.field)
}

#[test]
fn br_process_001_the_most_steps_holds_and_more_refuses_without_looking_into_them() {
    assert!(Process::create(draft(asks(STEPS_MAX))).is_ok());
    assert_eq!(place(&sole_breach(draft(asks(STEPS_MAX + 1)))), ("BR-PROCESS-001", None, Some("steps")));
    // Each of these is no step at all, and nobody is told so 8,400 times.
    let breach = sole_breach(draft(vec![json!({ "toolLimits": 1 }); 8_400]));
    assert_eq!(place(&breach), ("BR-PROCESS-001", None, Some("steps")));
    assert!(breach.violation.problem().contains("8400"), "{breach:?}");
}

#[test]
fn br_process_001_steps_of_fallbacks_at_any_depth_count_and_refuses() {
    let fallback = vec![json!({}); 8_400];
    let wide = draft(vec![ask(0, &json!({ "fallback": fallback }))]);
    assert_eq!(place(&sole_breach(wide)), ("BR-PROCESS-001", None, Some("steps")));
    let nested = (0..STEPS_MAX).fold(json!({}), |inner, _| json!({ "fallback": [inner] }));
    assert_eq!(place(&sole_breach(draft(vec![nested]))), ("BR-PROCESS-001", None, Some("steps")));
}

#[test]
fn br_process_003_more_dependencies_than_there_can_be_steps_refuses() {
    let waiting = |count: usize| {
        let names = vec!["s0"; count];
        draft(vec![ask(0, &json!({})), ask(1, &json!({ "dependsOn": names }))])
    };
    assert!(Process::create(waiting(DEPENDS_ON_MAX)).is_ok());
    assert_eq!(place(&sole_breach(waiting(DEPENDS_ON_MAX + 1))), ("BR-PROCESS-003", Some(2), Some("dependsOn")));
    // One that was kept before there was a limit is still read.
    let step = ask(1, &json!({ "dependsOn": vec!["s0"; DEPENDS_ON_MAX + 1] }));
    assert!(Step::parse(&step, 1).is_ok());
}

#[test]
fn br_step_002_more_patterns_than_a_process_may_have_refuses() {
    let patterns = |count: usize| {
        let properties: Vec<(String, Value)> =
            (0..count).map(|number| (format!("p{number}"), json!({ "pattern": format!("^{number}$") }))).collect();
        json!({ "properties": Value::Object(properties.into_iter().collect()) })
    };
    let full = PROCESS_PATTERNS_MAX / PATTERNS_MAX;
    let asking = |steps: usize| {
        let step = |number| ask(number, &json!({ "ask": { "prompt": "?", "schema": patterns(PATTERNS_MAX) } }));
        draft((0..steps).map(step).collect())
    };
    assert!(Process::create(asking(full)).is_ok());
    assert_eq!(place(&sole_breach(asking(full + 1))).0, "BR-STEP-002");
    let mut described = asking(full);
    described.initial_context = sent(patterns(1));
    assert_eq!(place(&sole_breach(described)).0, "BR-STEP-002");
}

#[test]
fn br_step_007_more_tools_than_a_process_may_name_refuses() {
    let offering = |tools: usize| {
        let offer = |number: usize| {
            let mut id = [200; 16];
            id[0] = u8::try_from(number).unwrap();
            json!({ "toolId": RecordId::from_bytes(id) })
        };
        let tools: Vec<Value> = (0..tools).map(offer).collect();
        let steps = tools.chunks(OFFERS_MAX).enumerate();
        draft(steps.map(|(at, tools)| step(&format!("s{at}"), json!({ "toolId": MODEL, "tools": tools }))).collect())
    };
    // The model is one of them.
    assert!(Process::create(offering(REFERENCES_MAX - 1)).is_ok());
    let found = of_draft(&offering(REFERENCES_MAX)).into_list();
    assert_eq!(found.iter().map(place).collect::<Vec<_>>(), [("BR-STEP-007", Some(4), None)]);
}

#[test]
fn as_many_breaches_as_are_listed_and_no_more() {
    let broken = json!({ "ask": { "prompt": "{nobody}", "schema": { "type": "no type" } } });
    let steps: Vec<Value> = (0..STEPS_MAX).map(|number| ask(number, &broken)).collect();
    let found = of_draft(&draft(steps));
    assert!(found.is_truncated());
    assert_eq!(found.into_list().len(), BREACHES_MAX);
    let few = of_draft(&draft(vec![ask(0, &broken)]));
    assert_eq!((few.is_truncated(), few.into_list().len()), (false, 2));
}

/// The largest definition that is looked into, with a breach in each step: context, steps, texts and schemas at their limits.
#[test]
fn the_largest_definition_with_a_breach_in_each_step_is_judged_step_by_step() {
    let properties: Vec<(String, Value)> = (0..99)
        .map(|number| (format!("c{number}"), json!({ "type": "string", "description": "x".repeat(2_000) })))
        .collect();
    let context = json!({ "type": "object", "properties": Value::Object(properties.into_iter().collect()) });
    let prompt = format!("{}{{nobody}}", "{c1} ".repeat(900));
    let steps: Vec<Value> = (0..STEPS_MAX).map(|number| ask(number, &json!({ "ask": { "prompt": prompt } }))).collect();
    let draft: ProcessDraft =
        sent(json!({ "name": "n", "initialContext": context, "steps": steps, "outputTemplate": "{{nothing}}" }));
    let found = of_draft(&draft);
    assert!(found.is_truncated());
    let found = found.into_list();
    assert_eq!(found.iter().filter_map(|breach| breach.step).collect::<Vec<_>>(), (1..=STEPS_MAX).collect::<Vec<_>>());
    assert!(found.iter().all(|breach| breach.violation.problem().len() < 1_100), "{:?}", found[0]);
}

#[test]
fn br_step_002_braces_that_open_no_place_holds_in_a_text_of_any_length() {
    let text = "{a".repeat((256 << 10) / 2);
    let made = Process::create(draft(vec![ask(0, &json!({ "ask": { "prompt": text } }))]));
    assert!(made.is_ok(), "{made:?}");
}
