//! People: approving, denying, answering, being late; and calls whose end nobody saw.

use serde_json::{Map, Value, json};

use super::{Fault, OTHER, Run, TOOL, call, is_over, object, optional, process, returned, timeout};
use crate::flow::execution::input::{CallSite, Effect, Input};
use crate::flow::execution::review::{ApprovalScope, Decision, ReviewRequest};
use crate::flow::execution::state::{ExecutionStatus, Phase};
use crate::flow::step::Reference;

fn manual(review: Value) -> Run {
    let mut step = call("a", json!({ "execution": { "interactionMode": "manual" } }));
    if !review.is_null() {
        step["review"] = review;
    }
    let next = optional("b", json!({ "inputs": { "value": "{step.a}" } }));
    Run::begun(process(vec![step, next], "{{a}}"))
}

/// A step that runs a process, with so much more.
fn nested(changes: Value) -> Run {
    let mut step = json!({ "id": "a", "processId": OTHER, "inputs": { "y": "{x}" }, "output": { "variable": "a" } });
    for (name, change) in object(changes) {
        step[name] = change;
    }
    Run::begun(process(vec![step], "{{a}}"))
}

fn child_ends(outcome: Result<Value, Fault>) -> Input {
    Input::ChildEnded { place: CallSite::of(0), outcome, tokens: 0 }
}

#[test]
fn br_step_006_a_manual_process_starts_when_a_person_approves_holds() {
    let mut run = nested(json!({ "execution": { "interactionMode": "manual" } }));
    let asked = ReviewRequest::Process { process_id: OTHER, inputs: object(json!({ "y": 1 })) };
    assert_eq!(run.effects, [Effect::Ask { place: CallSite::of(0), asked: asked.clone(), expires_after_s: None }]);
    run.refuses(&child_ends(Ok(json!("early"))));
    let edited = object(json!({ "y": 2 }));
    run.tell(&approve(Some(edited.clone())));
    assert_eq!(run.effects, [Effect::Run { place: CallSite::of(0), process: OTHER, context: edited, delay_ms: 0 }]);
    run.tell(&child_ends(Ok(json!("below"))));
    assert_eq!(run.output(), json!("below"));
    let always = Decision::Approve { inputs: None, scope: Some(ApprovalScope::Always) };
    assert_eq!(asked.check(&always).unwrap_err().rule(), "BR-STEP-006");
    assert!(asked.check(&Decision::Answer { value: json!(1) }).is_err());
}

#[test]
fn br_step_006_a_denied_process_refuses_and_never_starts() {
    let mut run = nested(json!({ "execution": { "interactionMode": "manual" } }));
    run.tell(&deny());
    assert_eq!(run.failure(), (Some(0), "denied".to_owned(), None));
    assert!(!run.effects.iter().any(|effect| matches!(effect, Effect::Run { .. })));
}

#[test]
fn br_step_004_a_nested_execution_that_fails_is_started_again_holds() {
    let mut run = nested(json!({ "retry": { "maxRetries": 2, "backoff": "exponential", "backoffMs": 50 } }));
    for delay in [50, 100] {
        run.tell(&child_ends(Err(timeout())));
        let [Effect::Run { process: OTHER, delay_ms, .. }] = run.effects[..] else { panic!("{:?}", run.effects) };
        assert_eq!(delay_ms, delay);
    }
    run.tell(&child_ends(Err(timeout())));
    assert_eq!((run.failure().1, run.state.steps[0].attempt), ("timeout".to_owned(), 3));
    let mut lasting = nested(json!({ "retry": { "maxRetries": 2 } }));
    lasting.tell(&child_ends(Err(super::lasting())));
    assert_eq!(lasting.state.steps[0].attempt, 1);
}

#[test]
fn br_step_004_a_nested_execution_that_may_have_acted_is_repeated_by_a_person_alone() {
    let mut run = nested(json!({ "retry": { "maxRetries": 1 } }));
    run.tell(&child_ends(Err(Fault { uncertain: true, ..timeout() })));
    let [Effect::Ask { asked, .. }] = &run.effects[..] else { panic!("{:?}", run.effects) };
    assert_eq!(*asked, ReviewRequest::UnknownProcess { process_id: OTHER, inputs: object(json!({ "y": 1 })) });
    run.tell(&approve(None));
    assert!(matches!(run.effects[..], [Effect::Run { .. }]), "{:?}", run.effects);
}

#[test]
fn br_step_004_an_empty_output_after_expiry_refuses_where_it_is_required() {
    for review in [
        json!({ "expiresAfter": 60, "onExpire": "skip" }),
        json!({ "expiresAfter": 60, "onExpire": "default", "default": null }),
    ] {
        let mut run = manual(review);
        run.tell(&Input::Expired { place: CallSite::of(0) });
        assert_eq!(run.failure(), (Some(0), "empty_output".to_owned(), Some("BR-STEP-004".to_owned())));
    }
}

fn decide(decision: Decision) -> Input {
    Input::Decided { place: CallSite::of(0), decision }
}

fn approve(inputs: Option<Map<String, Value>>) -> Input {
    decide(Decision::Approve { inputs, scope: None })
}

fn deny() -> Input {
    decide(Decision::Deny { reason: Some("not this".to_owned()) })
}

#[test]
fn br_step_006_a_manual_step_is_called_when_a_person_approves_holds() {
    let mut run = manual(json!(null));
    let inputs = object(json!({ "value": 1 }));
    let asked = ReviewRequest::Call { tool: TOOL.into(), inputs };
    assert_eq!(run.effects, [Effect::Ask { place: CallSite::of(0), asked, expires_after_s: None }]);
    run.refuses(&returned(CallSite::of(0), json!(1), 0));
    let edited = object(json!({ "value": 2 }));
    run.tell(&approve(Some(edited.clone())));
    assert!(matches!(&run.effects[..], [Effect::Call { inputs, attempt: 1, .. }] if *inputs == edited));
    run.refuses(&approve(None));
    run.refuses(&Input::Expired { place: CallSite::of(0) });
    run.gives(0, json!("ok"));
    run.gives(1, json!("ok"));
    is_over(&run, ExecutionStatus::Completed);
}

#[test]
fn br_step_006_a_denied_call_refuses() {
    let mut run = manual(json!(null));
    run.tell(&deny());
    assert_eq!(run.failure(), (Some(0), "denied".to_owned(), None));
    assert_eq!(run.state.steps[0].attempt, 0);
}

#[test]
fn br_step_006_asking_back_where_nobody_answers_or_nothing_is_asked_refuses() {
    let ask = |question: &str| Decision::Ask { question: question.to_owned() };
    let (inputs, name) = (Map::new(), "echo".to_owned());
    let wish = ReviewRequest::Wish { tool: TOOL.into(), name, inputs: inputs.clone() };
    for fine in ["?", &"é".repeat(4_000)] {
        assert_eq!(wish.check(&ask(fine)), Ok(()));
    }
    for bad in ["", " \n", &"é".repeat(4_001)] {
        assert_eq!(wish.check(&ask(bad)).unwrap_err().rule(), "BR-STEP-006");
    }
    for asked in [
        ReviewRequest::Call { tool: TOOL.into(), inputs: inputs.clone() },
        ReviewRequest::Unknown { tool: TOOL.into(), inputs },
        ReviewRequest::Answer { prompt: "?".to_owned(), schema: json!({}) },
    ] {
        assert_eq!(asked.check(&ask("Why?")).unwrap_err().rule(), "BR-STEP-006");
    }
    manual(json!(null)).refuses(&decide(ask("Why?")));
    assert_eq!(ask("Why?").without_words(), ask(""));
}

#[test]
fn br_step_006_an_answer_is_the_output_holds() {
    let ask = json!({ "id": "a", "ask": { "prompt": "How many, {x}?", "schema": { "type": "integer" } },
        "output": { "variable": "a" } });
    let mut run = Run::begun(process(vec![ask], "{{a}}"));
    let Effect::Ask { asked, .. } = &run.effects[0] else { panic!("{:?}", run.effects) };
    assert_eq!(
        *asked,
        ReviewRequest::Answer { prompt: "How many, 1?".to_owned(), schema: json!({ "type": "integer" }) }
    );
    assert!(asked.check(&Decision::Answer { value: json!("three") }).is_err());
    assert!(asked.check(&Decision::Approve { inputs: None, scope: None }).is_err());
    run.tell(&decide(Decision::Answer { value: json!(3) }));
    assert_eq!(run.output(), json!("3"));
}

#[test]
fn br_step_006_a_question_nobody_answers_in_time_holds_to_what_was_said() {
    let expired = Input::Expired { place: CallSite::of(0) };
    let mut failing = manual(json!({ "expiresAfter": 60 }));
    assert!(matches!(failing.effects[..], [Effect::Ask { expires_after_s: Some(60), .. }]));
    failing.tell(&expired);
    assert_eq!(failing.failure().2.as_deref(), Some("BR-STEP-006"));
    failing.refuses(&approve(None));

    let review = json!({ "expiresAfter": 60, "onExpire": "skip" });
    let step = optional("a", json!({ "execution": { "interactionMode": "manual" }, "review": review }));
    let next = optional("b", json!({ "inputs": { "value": "{step.a}" } }));
    let mut skipped = Run::begun(process(vec![step, next], "{{a}}"));
    skipped.tell(&expired);
    assert_eq!(skipped.phases(), [Phase::Skipped, Phase::Calling]);
    skipped.refuses(&approve(None));

    let mut settled = manual(json!({ "expiresAfter": 60, "onExpire": "default", "default": "as ever" }));
    settled.tell(&expired);
    assert_eq!(settled.state.steps[1].inputs, object(json!({ "value": "as ever" })));
    settled.refuses(&expired);
}

#[test]
fn what_may_have_been_done_is_not_repeated_blindly() {
    let uncertain = || Fault { uncertain: true, ..timeout() };
    let begun = |retry: Value| Run::begun(process(vec![call("a", retry)], "{{a}}"));
    let faulted = Input::Faulted { place: CallSite::of(0), fault: uncertain() };

    let mut run = begun(json!({ "retry": { "maxRetries": 2 } }));
    run.tell(&faulted);
    assert_eq!(run.phases(), [Phase::Unknown]);
    assert!(matches!(
        run.effects[..],
        [Effect::Ask { asked: ReviewRequest::Unknown { tool: Reference { id: TOOL, version: None }, .. }, .. }]
    ));
    run.tell(&approve(None));
    assert_eq!(run.calls(), [(0, 2, 0)], "a person had it made again");

    let mut run = begun(json!({ "fallback": [call("b", json!({ "output": { "variable": "a" } }))] }));
    run.tell(&faulted);
    assert_eq!(run.phases()[0], Phase::Unknown, "nor does another stand in before somebody knows");
    run.tell(&deny());
    assert_eq!(run.calls().len(), 1, "the other is called");

    let mut run = begun(json!({}));
    run.tell(&faulted);
    assert_eq!(run.failure().1, "timeout", "where nothing is to be done again it fails as it did");
}

fn lost() -> Run {
    let mut run = Run::begun(process(vec![call("a", json!({ "retry": { "maxRetries": 2 } }))], "{{a}}"));
    run.tell(&Input::Lost { place: CallSite::of(0) });
    run
}

#[test]
fn a_call_whose_end_nobody_saw_is_left_to_a_person_and_not_repeated() {
    let mut run = lost();
    assert_eq!(run.phases(), [Phase::Unknown]);
    assert!(matches!(
        run.effects[..],
        [Effect::Ask { asked: ReviewRequest::Unknown { tool: Reference { id: TOOL, version: None }, .. }, .. }]
    ));
    run.refuses(&returned(CallSite::of(0), json!("late"), 0));
    run.refuses(&Input::Lost { place: CallSite::of(0) });
    run.tell(&approve(None));
    assert_eq!(run.calls(), [(0, 2, 0)]);

    let mut run = lost();
    run.tell(&decide(Decision::Answer { value: json!("it was done") }));
    assert_eq!(run.output(), json!("it was done"));

    let mut run = lost();
    run.tell(&deny());
    assert_eq!(run.failure().1, "denied");
}

#[test]
fn cancelling_takes_a_question_and_a_run_below_back() {
    let sub = json!({ "id": "s", "processId": OTHER, "inputs": {}, "output": { "variable": "s" },
        "execution": { "mode": "parallel" } });
    let manual = json!({ "mode": "parallel", "interactionMode": "manual" });
    let mut run = Run::begun(process(vec![call("a", json!({ "execution": manual })), sub], "{{a}}"));
    assert_eq!(run.phases(), [Phase::Asking, Phase::Running]);
    run.tell(&Input::Cancel);
    assert_eq!(run.phases(), [Phase::Cancelled, Phase::Cancelled]);
    assert_eq!(run.effects[0], Effect::Withdraw);
    run.refuses(&approve(None));
    run.refuses(&Input::ChildEnded { place: CallSite::of(1), outcome: Ok(json!(1)), tokens: 0 });
}

#[test]
fn z14_a_manual_call_that_was_approved_for_the_run_is_not_asked_about_again_holds() {
    let manual = |id: &str, value: i64| {
        call(id, json!({ "inputs": { "value": value }, "execution": { "interactionMode": "manual" } }))
    };
    for (scope, asked) in [
        (None, [true, true]),
        (Some(ApprovalScope::Once), [true, true]),
        (Some(ApprovalScope::SameArguments), [false, true]),
        // Whether it stands is known outside of the run.
        (Some(ApprovalScope::Always), [true, true]),
        (Some(ApprovalScope::Run), [false, false]),
    ] {
        let mut run = Run::begun(process(vec![manual("a", 1), manual("b", 1), manual("c", 2)], "{{a}}"));
        run.tell(&decide(Decision::Approve { inputs: None, scope }));
        for (step, is_asked) in [1, 2].into_iter().zip(asked) {
            run.gives(step - 1, json!("ok"));
            assert_eq!(run.phases()[step] == Phase::Asking, is_asked, "{scope:?} {step}");
            if is_asked {
                run.tell(&Input::Decided {
                    place: CallSite::of(step),
                    decision: Decision::Approve { inputs: None, scope: None },
                });
            }
        }
        run.gives(2, json!("ok"));
        is_over(&run, ExecutionStatus::Completed);
    }
}

#[test]
fn br_step_006_a_call_whose_end_nobody_saw_is_approved_once_refuses() {
    let asked = ReviewRequest::Unknown { tool: TOOL.into(), inputs: Map::new() };
    let approve = |scope| asked.check(&Decision::Approve { inputs: None, scope });
    assert!(approve(None).is_ok() && approve(Some(ApprovalScope::Once)).is_ok());
    assert!(approve(Some(ApprovalScope::Run)).is_err() && approve(Some(ApprovalScope::SameArguments)).is_err());
    assert!(approve(Some(ApprovalScope::Always)).is_err());
}

#[test]
fn br_step_006_a_held_call_is_made_once_a_person_approves_and_repeated_without_asking_holds() {
    let mut run = Run::begun(process(vec![call("a", json!({ "retry": { "maxRetries": 1 } }))], "{{a}}"));
    let place = CallSite::of(0);
    run.tell(&Input::Held { place });
    assert_eq!((run.phases(), run.state.steps[0].attempt), (vec![Phase::Asking], 0));
    let asked = ReviewRequest::Call { tool: TOOL.into(), inputs: object(json!({ "value": 1 })) };
    assert_eq!(run.effects, [Effect::Ask { place, asked, expires_after_s: None }]);
    assert!(!run.state.is_call_approved(0, TOOL));
    run.refuses(&Input::Held { place });
    run.tell(&approve(None));
    assert_eq!(run.calls(), [(0, 1, 0)]);
    run.fails(0, super::passing());
    assert_eq!(run.calls(), [(0, 2, 0)]);
    assert!(run.state.is_call_approved(0, TOOL), "the same call is not asked about again");
}

#[test]
fn br_step_006_a_held_call_that_is_denied_refuses_and_is_never_made() {
    let mut run = Run::begun(process(vec![call("a", json!({}))], "{{a}}"));
    run.tell(&Input::Held { place: CallSite::of(0) });
    run.tell(&deny());
    assert_eq!(run.failure(), (Some(0), "denied".to_owned(), None));
}
