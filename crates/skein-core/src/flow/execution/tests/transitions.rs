//! Calls, repeats, stand-ins, conditions, order, budgets and ends.

use serde_json::{Value, json};

use super::{OTHER, Run, call, is_over, lasting, object, optional, passing, process, returned, timeout};
use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{CallSite, Effect, ExecutionOutcome, Fault, Input};
use crate::flow::execution::machine::step;
use crate::flow::execution::state::{Execution, ExecutionStatus, Phase};
use crate::flow::plan::Plan;
use crate::flow::process::Process;
use crate::time::Millis;

#[test]
fn each_step_is_called_with_what_the_one_before_gave() {
    let second = call("b", json!({ "inputs": { "value": "{step.a.n}", "word": "got {step.a.n}" } }));
    let mut run = Run::begun(process(vec![call("a", json!({})), second], "{{b}}"));
    assert_eq!(run.calls(), [(0, 1, 0)]);
    assert_eq!(run.state.steps[0].began_at, Some(Millis(1_000)));
    run.now = Millis(2_000);
    run.gives(0, json!({ "n": 5 }));
    assert_eq!(run.state.steps[1].inputs, object(json!({ "value": 5, "word": "got 5" })));
    assert_eq!(run.state.steps[0].ended_at, Some(Millis(2_000)));
    run.refuses(&returned(CallSite::of(0), json!(6), 0));
    run.gives(1, json!("six"));
    assert_eq!(run.output(), json!("six"));
    is_over(&run, ExecutionStatus::Completed);
    run.refuses(&returned(CallSite::of(1), json!("seven"), 0));
}

#[test]
fn what_is_nowhere_in_the_run_changes_nothing() {
    let run = Run::begun(process(vec![call("a", json!({})), call("b", json!({}))], "{{b}}"));
    run.refuses(&Input::Begin);
    for place in [CallSite::of(1), CallSite::of(2), CallSite { step: 0, call: Some(0) }] {
        run.refuses(&returned(place, json!(1), 0));
        run.refuses(&Input::Faulted { place, fault: lasting() });
        run.refuses(&Input::Lost { place });
        run.refuses(&Input::Expired { place });
        run.refuses(&Input::ChildEnded { place, outcome: Ok(json!(1)), tokens: 1 });
    }
    run.refuses(&Input::Expired { place: CallSite::of(0) });
    run.refuses(&Input::ChildEnded { place: CallSite::of(0), outcome: Ok(json!(1)), tokens: 1 });
}

fn retried(backoff: &str) -> Value {
    let retry = json!({ "maxRetries": 3, "backoff": backoff, "backoffMs": 100 });
    process(vec![call("a", json!({ "retry": retry }))], "{{a}}")
}

#[test]
fn a_call_that_may_come_out_is_made_again_after_a_pause() {
    for (backoff, pauses) in [("fixed", [100, 100, 100]), ("exponential", [100, 200, 400])] {
        let mut run = Run::begun(retried(backoff));
        for (attempt, pause) in (2..).zip(pauses) {
            run.fails(0, passing());
            assert_eq!(run.calls(), [(0, attempt, pause)], "{backoff}");
        }
        run.fails(0, passing());
        assert_eq!(run.failure().0, Some(0));
        is_over(&run, ExecutionStatus::Failed);
    }
    let mut run = Run::begun(retried("fixed"));
    run.fails(0, passing());
    run.gives(0, json!("late"));
    assert_eq!(run.output(), json!("late"));
}

#[test]
fn a_call_that_will_not_come_out_is_not_made_again() {
    let mut run = Run::begun(retried("fixed"));
    run.fails(0, lasting());
    assert_eq!(run.failure(), (Some(0), "bad_request".to_owned(), None));
    assert_eq!(run.state.steps[0].attempt, 1);
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
fn replaced(fallback: Value, required: bool) -> Value {
    let output = json!({ "variable": "a", "required": required });
    let main = call("a", json!({ "fallback": fallback, "output": output, "retry": { "maxRetries": 1 } }));
    process(vec![main, call("z", json!({ "inputs": { "value": "{step.a}" } }))], "{{z}}")
}

#[test]
fn what_stands_in_for_a_failed_step_gives_its_output() {
    let fallback = json!([
        call("b", json!({})),
        call("c", json!({ "inputs": { "value": "{step.b}" }, "output": { "variable": "a" } })),
    ]);
    let mut run = Run::begun(replaced(fallback, true));
    run.fails(0, passing());
    assert_eq!(run.calls(), [(0, 2, 0)]);
    run.fails(0, passing());
    assert_eq!((run.phases()[0], run.calls()), (Phase::Replaced, vec![(2, 1, 0)]));
    run.gives(2, json!("b's"));
    assert_eq!(run.state.steps[3].inputs, object(json!({ "value": "b's" })));
    run.gives(3, json!("c's"));
    assert_eq!((run.phases()[0], &run.state.steps[0].output), (Phase::Done, &json!("c's")));
    assert_eq!(run.state.steps[1].inputs, object(json!({ "value": "c's" })));
    run.gives(1, json!("end"));
    is_over(&run, ExecutionStatus::Completed);
}

#[test]
fn where_the_stand_in_fails_too_the_step_has_failed() {
    let fallback = json!([call("c", json!({ "output": { "variable": "a" } }))]);
    let mut run = Run::begun(replaced(fallback.clone(), true));
    run.fails(0, lasting());
    run.fails(2, lasting());
    assert_eq!(run.failure().0, Some(0));
    is_over(&run, ExecutionStatus::Failed);
    let mut run = Run::begun(replaced(fallback, false));
    run.fails(0, lasting());
    run.fails(2, lasting());
    assert_eq!((run.phases()[0], run.calls()), (Phase::Failed, vec![(1, 1, 0)]));
    assert_eq!(run.state.steps[1].inputs, object(json!({ "value": null })));
}

#[test]
fn br_step_004_a_stand_in_that_gives_nothing_refuses() {
    let fallback = json!([optional("c", json!({ "output": { "variable": "a", "required": false } }))]);
    let mut run = Run::begun(replaced(fallback, true));
    run.fails(0, lasting());
    run.gives(2, json!(null));
    assert_eq!(run.failure(), (Some(0), "empty_output".to_owned(), Some("BR-STEP-004".to_owned())));
}

#[test]
fn a_failure_that_meets_an_abort_condition_ends_the_run_at_once() {
    let steps = |condition: &str| {
        let fallback = json!([call("c", json!({ "output": { "variable": "a" } }))]);
        vec![optional("a", json!({ "abortWhen": [condition], "fallback": fallback }))]
    };
    let mut run = Run::begun(process(steps("error.code === 'bad_request'"), "done"));
    run.fails(0, lasting());
    assert_eq!(run.failure().1, "bad_request");
    is_over(&run, ExecutionStatus::Failed);
    let mut run = Run::begun(process(steps("error.code === 'bad_request'"), "done"));
    run.fails(0, passing());
    assert_eq!(run.calls(), [(1, 1, 0)]);
}

#[test]
fn br_step_004_an_optional_output_that_cannot_be_had_is_null_holds() {
    let next = call("b", json!({ "inputs": { "value": "{step.a}" } }));
    let mut run = Run::begun(process(vec![optional("a", json!({})), next], "{{b}}"));
    run.fails(0, lasting());
    assert_eq!((run.phases()[0], &run.state.steps[0].output), (Phase::Failed, &json!(null)));
    assert_eq!(run.state.steps[1].inputs, object(json!({ "value": null })));
    run.gives(1, json!("went on"));
    assert_eq!(run.output(), json!("went on"));
}

#[test]
fn br_step_004_an_empty_output_where_one_is_required_refuses() {
    for empty in [json!(null), json!(""), json!([]), json!({})] {
        let mut run = Run::begun(process(vec![call("a", json!({}))], "{{a}}"));
        run.gives(0, empty.clone());
        assert_eq!(run.failure().2.as_deref(), Some("BR-STEP-004"), "{empty}");
        let mut run = Run::begun(process(vec![optional("a", json!({}))], "{{a}}"));
        run.gives(0, empty);
        is_over(&run, ExecutionStatus::Completed);
    }
    for full in [json!(false), json!(0), json!(" "), json!([null])] {
        let mut run = Run::begun(process(vec![call("a", json!({}))], "ok"));
        run.gives(0, full);
        is_over(&run, ExecutionStatus::Completed);
    }
}

#[test]
fn br_step_003_a_step_whose_condition_does_not_hold_is_skipped_holds() {
    let conditional = |condition: &str| {
        let a = call("a", json!({ "execution": { "condition": condition } }));
        let b = call("b", json!({ "inputs": { "value": "{step.a}" } }));
        Run::begun(process(vec![a, b], "{{b}}"))
    };
    let skipped = conditional("x === 2");
    assert_eq!((skipped.phases()[0], skipped.calls()), (Phase::Skipped, vec![(1, 1, 0)]));
    assert_eq!(skipped.state.steps[1].inputs, object(json!({ "value": null })));
    assert_eq!(conditional("x === 1").calls(), [(0, 1, 0)]);
}

fn parallel(id: &str, changes: Value) -> Value {
    let mut step = call(id, changes);
    step["execution"]["mode"] = json!("parallel");
    step
}

#[test]
fn br_exec_004_parallel_steps_are_collected_in_their_order_holds() {
    let all = "{{#each all}}{{this}}{{/each}}";
    let join = call("all", json!({ "inputs": { "value": ["{step.a}", "{step.b}", "{step.c}"] } }));
    let steps = || vec![parallel("a", json!({})), parallel("b", json!({})), parallel("c", json!({})), join.clone()];
    let mut ends = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let mut run = Run::begun(process(steps(), all));
        assert_eq!(run.calls(), [(0, 1, 0), (1, 1, 0), (2, 1, 0)]);
        for (nth, at) in order.into_iter().enumerate() {
            run.gives(at, json!(format!("o{at}")));
            assert_eq!(run.calls().is_empty(), nth < 2, "the join waits for all three");
        }
        ends.push((run.state, run.effects));
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "the order of the ends shows: {ends:?}");
    assert_eq!(ends[0].0.steps[3].inputs, object(json!({ "value": ["o0", "o1", "o2"] })));
}

#[test]
fn br_exec_004_parallel_steps_fail_one_by_one_holds() {
    let mut optional_one = parallel("a", json!({}));
    optional_one["output"]["required"] = json!(false);
    let mut run = Run::begun(process(vec![optional_one, parallel("b", json!({}))], "{{b}}"));
    run.fails(0, lasting());
    assert_eq!(run.phases(), [Phase::Failed, Phase::Calling]);
    run.gives(1, json!("other"));
    assert_eq!(run.output(), json!("other"));
    let mut run = Run::begun(process(vec![parallel("a", json!({})), parallel("b", json!({}))], "{{b}}"));
    run.fails(0, lasting());
    assert_eq!(run.phases(), [Phase::Failed, Phase::Cancelled]);
    assert!(matches!(run.effects[..], [Effect::Withdraw, Effect::End(ExecutionOutcome::Failed { .. })]));
}

#[test]
fn br_exec_004_what_comes_of_a_neighbour_refuses_to_change_a_parallel_step() {
    let reading = parallel("b", json!({ "inputs": { "value": "{step.a}" } }));
    let refused =
        Process::create(serde_json::from_value(process(vec![parallel("a", json!({})), reading], "")).unwrap());
    assert_eq!(refused.unwrap_err().rule(), "BR-STEP-002", "a step does not read what runs beside it");

    let retry = json!({ "maxRetries": 1, "backoff": "fixed", "backoffMs": 100 });
    let repeated = parallel("b", json!({ "retry": retry }));
    let mut run = Run::begun(process(vec![parallel("a", json!({})), repeated], "{{b}}"));
    let before = run.state.steps[1].clone();
    run.gives(0, json!({ "x": "changed" }));
    assert_eq!(run.state.steps[1], before);
    run.fails(1, passing());
    assert_eq!(
        run.state.steps[1].inputs,
        object(json!({ "value": 1 })),
        "a repeat is made with what was read at first"
    );
    assert_eq!(run.state.context, object(json!({ "x": 1 })));
    // What comes after a neighbour ended the run is not collected.
    let mut run = Run::begun(process(vec![parallel("a", json!({})), parallel("b", json!({}))], "{{b}}"));
    run.fails(0, lasting());
    run.refuses(&returned(CallSite::of(1), json!("late"), 5));
    assert_eq!((&run.state.steps[1].output, run.state.tokens()), (&json!(null), 0));
}

#[test]
fn br_exec_005_a_timeout_of_a_required_step_refuses() {
    let mut run = Run::begun(process(vec![call("a", json!({ "execution": { "timeout": 5 } }))], "{{a}}"));
    run.fails(0, timeout());
    assert_eq!(run.failure(), (Some(0), "timeout".to_owned(), None));
}

#[test]
fn br_exec_005_a_timeout_of_an_optional_step_is_null_and_the_run_goes_on_holds() {
    let next = call("b", json!({}));
    let mut run = Run::begun(process(vec![optional("a", json!({ "execution": { "timeout": 5 } })), next], "{{b}}"));
    run.fails(0, timeout());
    assert_eq!((run.phases()[0], run.calls()), (Phase::Failed, vec![(1, 1, 0)]));
}

#[test]
fn br_exec_006_a_failure_names_its_step_and_keeps_the_error_message_holds() {
    let mut run = Run::begun(process(vec![call("a", json!({})), call("b", json!({}))], "{{b}}"));
    run.gives(0, json!(1));
    run.fails(1, lasting());
    assert!(matches!(run.ending(), Some(ExecutionOutcome::Failed { step: Some(1), fault }) if *fault == lasting()));
    assert_eq!(run.state.steps[1].fault, Some(lasting()));
    assert_eq!(run.state.steps[0].output, json!(1), "what was given before is kept");
}

#[test]
fn cancelling_takes_back_what_is_open_and_begins_nothing() {
    let steps = vec![parallel("a", json!({})), parallel("b", json!({})), call("c", json!({}))];
    let mut run = Run::begun(process(steps, "{{c}}"));
    run.gives(0, json!(1));
    run.tell(&Input::Cancel);
    assert_eq!(run.phases(), [Phase::Done, Phase::Cancelled, Phase::Waiting]);
    assert_eq!(run.effects, [Effect::Withdraw, Effect::End(ExecutionOutcome::Cancelled)]);
    is_over(&run, ExecutionStatus::Cancelled);
    run.refuses(&returned(CallSite::of(1), json!(1), 0));
}

#[test]
fn br_process_006_a_run_beyond_its_budget_refuses() {
    let mut definition = process(vec![call("a", json!({})), call("b", json!({}))], "{{b}}");
    definition["tokenBudget"] = json!(100);
    let mut run = Run::begun(definition.clone());
    run.tell(&returned(CallSite::of(0), json!(1), 60));
    run.tell(&returned(CallSite::of(1), json!(1), 41));
    assert_eq!(run.failure(), (Some(1), "token_budget_exceeded".to_owned(), Some("BR-PROCESS-006".to_owned())));
    let mut run = Run::begun(definition);
    run.tell(&returned(CallSite::of(0), json!(1), 60));
    run.tell(&returned(CallSite::of(1), json!(1), 40));
    is_over(&run, ExecutionStatus::Completed);
}

fn nested(depth: u8) -> Value {
    let sub = json!({ "id": "sub", "processId": OTHER, "inputs": { "y": "{x}" }, "output": { "variable": "sub" } });
    let mut definition = process(vec![sub], "{{sub}}");
    definition["maxRecursionDepth"] = json!(depth);
    definition
}

#[test]
fn a_step_that_runs_a_process_waits_for_it_and_counts_its_tokens() {
    let mut run = Run::begun(nested(1));
    let context = object(json!({ "y": 1 }));
    assert_eq!(run.effects, [Effect::Run { place: CallSite::of(0), process: OTHER, context, delay_ms: 0 }]);
    run.refuses(&returned(CallSite::of(0), json!(1), 0));
    run.tell(&Input::ChildEnded { place: CallSite::of(0), outcome: Ok(json!("below")), tokens: 7 });
    assert_eq!((run.output(), run.state.tokens()), (json!("below"), 7));
    let mut run = Run::begun(nested(1));
    run.tell(&Input::ChildEnded { place: CallSite::of(0), outcome: Err(lasting()), tokens: 7 });
    assert_eq!((run.failure().1, run.state.tokens()), ("bad_request".to_owned(), 7));
}

/// A run so far below the outermost one, with so many levels left above it.
fn nested_in(stack: &[&str], left: Option<u8>) -> (Plan, Execution) {
    let process = Process::create(serde_json::from_value(nested(10)).unwrap()).unwrap();
    let plan = Plan::of(&process).unwrap();
    let stack: Vec<String> = stack.iter().map(|name| (*name).to_owned()).collect();
    let above = left.map(|left| (left, stack.as_slice()));
    let state = Execution::of(&process, &plan, object(json!({ "x": 1 })), above);
    (plan, state)
}

#[test]
fn br_step_008_a_process_within_the_depth_is_run_and_counts_holds() {
    let (plan, outermost) = nested_in(&[], None);
    assert_eq!(outermost.levels_left, 10, "as many as its process says");
    let (_, below) = nested_in(&["outer"], Some(3));
    assert_eq!(below.levels_left, 2, "whatever its own process says");
    let moved = step(&plan, &below, &Input::Begin, Millis(0));
    assert!(matches!(moved.effects[..], [Effect::Run { process: OTHER, .. }]), "{:?}", moved.effects);
}

#[test]
fn br_exec_007_the_depth_is_part_of_the_run_and_looked_at_before_each_start_holds() {
    for (stack, left) in [(&["a"][..], 2), (&["a", "b"], 2), (&["a", "b", "c"], 5)] {
        let (plan, state) = nested_in(stack, Some(left));
        assert_eq!((state.depth(), state.levels_left), (stack.len() + 1, left - 1));
        let moved = step(&plan, &state, &Input::Begin, Millis(0));
        assert!(matches!(moved.effects[..], [Effect::Run { .. }]), "{stack:?}: {:?}", moved.effects);
    }
    let (_, outermost) = nested_in(&[], None);
    assert_eq!(outermost.depth(), 1);
}

#[test]
fn br_exec_007_a_start_beyond_the_depth_refuses_and_names_it() {
    let (plan, state) = nested_in(&["outer", "inner"], Some(1));
    let moved = step(&plan, &state, &Input::Begin, Millis(0));
    let [Effect::End(ExecutionOutcome::Failed { step: Some(0), fault })] = &moved.effects[..] else {
        panic!("nothing is started: {:?}", moved.effects)
    };
    assert_eq!(fault.code, "recursion_limit_exceeded");
    assert_eq!(fault.message, "runs are nested too deep at depth 3: outer → inner → p");
    assert_eq!(fault.details, json!({ "callStack": ["outer", "inner", "p"], "depth": 3 }));
}

#[test]
fn br_step_008_the_depth_of_the_whole_stack_refuses() {
    let process = Process::create(serde_json::from_value(nested(10)).unwrap()).unwrap();
    let plan = Plan::of(&process).unwrap();
    let stack = ["outer".to_owned(), "inner".to_owned()];
    for (left, is_run) in [(2, true), (1, false), (0, false)] {
        let state = Execution::of(&process, &plan, object(json!({ "x": 1 })), Some((left, &stack)));
        let moved = step(&plan, &state, &Input::Begin, Millis(0));
        assert_eq!(matches!(moved.effects[..], [Effect::Run { .. }]), is_run, "{left} levels left");
        if let [Effect::End(ExecutionOutcome::Failed { fault: Fault { message, rule, .. }, .. })] = &moved.effects[..] {
            assert_eq!(rule.as_deref(), Some("BR-STEP-008"));
            assert!(message.contains("outer → inner → p"), "{message}");
        }
    }
}

#[test]
fn an_output_that_cannot_be_made_fails_the_run_and_no_step() {
    let template = format!("{{{{#each a}}}}{}{{{{/each}}}}", "word ".repeat(1_000));
    let mut run = Run::begun(process(vec![call("a", json!({}))], &template));
    run.gives(0, json!(vec![0; 100_000]));
    assert_eq!(run.failure().0, None);
    is_over(&run, ExecutionStatus::Failed);
}

#[test]
fn br_step_004_a_model_that_says_nothing_where_its_words_are_required_refuses() {
    let silent = |step| Input::Returned {
        place: CallSite::of(step),
        output: json!({ "text": "", "model": "m" }),
        tokens: 1,
        wishes: Vec::new(),
        owed: CostTotals::default(),
        says_nothing: true,
    };
    let empty = (Some(0), "empty_output".to_owned(), Some("BR-STEP-004".to_owned()));
    let mut required = Run::begun(process(vec![call("a", json!({}))], "{{a.text}}"));
    required.tell(&silent(0));
    assert_eq!(required.failure(), empty);
    let mut free = Run::begun(process(vec![optional("a", json!({}))], "{{a.text}}"));
    free.tell(&silent(0));
    assert_eq!(free.output(), json!(""));
    // What stands in for it says nothing either.
    let mut last = optional("last", json!({}));
    last["output"]["variable"] = json!("a");
    let mut replaced = Run::begun(process(vec![call("a", json!({ "fallback": [last] }))], "{{a.text}}"));
    replaced.tell(&silent(0));
    replaced.tell(&silent(1));
    assert_eq!(replaced.failure(), empty);
}
