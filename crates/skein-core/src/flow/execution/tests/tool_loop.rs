//! Tests the rounds of tool calls that a model requests while it answers a step.

use serde_json::{Value, json};

use super::{OTHER, Run, TOOL, call, is_over, lasting, object, passing, process, returned};
use crate::flow::cost::{Cost, CostTotals};
use crate::flow::execution::input::{CallSite, Effect, ExecutionOutcome, Input, RequestedToolCall};
use crate::flow::execution::review::{ApprovalScope, Decision};
use crate::flow::execution::state::{ExecutionStatus, Phase};
use crate::flow::execution::tool_loop::RESULT_BYTES_MAX;
use crate::id::UserId;
use crate::time::Millis;

fn talking(changes: Value) -> Run {
    let mut step = call("a", json!({ "tools": [{ "toolId": OTHER }, { "toolId": TOOL, "approval": "once" }] }));
    let mut definition = process(Vec::new(), "{{a.text}}");
    for (name, change) in object(changes) {
        if name == "tokenBudget" { definition[name] = change } else { step[name] = change }
    }
    definition["steps"] = json!([step]);
    Run::begun(definition)
}

fn wish(id: &str, tool: Option<crate::id::RecordId>, needs_approval: bool) -> RequestedToolCall {
    RequestedToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        tool,
        arguments: json!({ "q": id }),
        needs_approval,
    }
}

fn asks(run: &mut Run, wishes: Vec<RequestedToolCall>) {
    asks_having_spent(run, wishes, "0");
}

fn asks_having_spent(run: &mut Run, wishes: Vec<RequestedToolCall>, dollars: &str) {
    let mut owed = CostTotals::default();
    let amount = dollars.to_owned().try_into().unwrap();
    owed.add(Cost { payer_id: UserId::from_bytes([1; 16]), currency: "USD".to_owned().try_into().unwrap(), amount });
    run.tell(&Input::Returned {
        place: CallSite::of(0),
        output: json!({ "text": "hm" }),
        tokens: 1,
        wishes,
        owed,
        says_nothing: false,
    });
}

fn approve(call: usize, scope: Option<ApprovalScope>) -> Input {
    Input::Decided { place: at(call), decision: Decision::Approve { inputs: None, scope } }
}

fn at(call: usize) -> CallSite {
    CallSite { step: 0, call: Some(call) }
}

fn messages(run: &Run) -> Vec<Value> {
    run.state.steps[0].dialogue.as_ref().unwrap().messages.clone()
}

#[test]
fn z14_calls_of_a_round_are_made_and_told_in_the_order_they_were_asked_for_holds() {
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(OTHER), false), wish("two", Some(OTHER), false)]);
    assert_eq!(run.phases(), [Phase::Conversing]);
    assert_eq!(run.effects.len(), 2);
    run.refuses(&returned(CallSite::of(0), json!({ "text": "early" }), 0));
    run.tell(&returned(at(1), json!("second"), 0));
    run.refuses(&returned(at(1), json!("again"), 0));
    assert_eq!(run.effects, []);
    run.tell(&Input::Faulted { place: at(0), fault: lasting() });
    assert_eq!(run.calls(), [(0, 2, 0)]);
    let told: Vec<Value> = messages(&run).into_iter().skip(1).map(|message| message["content"].clone()).collect();
    assert_eq!(told, [json!(r#"{"error":"the service does not understand"}"#), json!("second")]);
    run.tell(&returned(CallSite::of(0), json!({ "text": "so" }), 0));
    assert_eq!(run.output(), json!("so"));
    is_over(&run, ExecutionStatus::Completed);
}

#[test]
fn z14_calls_that_make_no_sense_are_told_to_the_model_refuses() {
    let mut run = talking(json!({}));
    let odd = RequestedToolCall { arguments: json!("[]"), ..wish("two", Some(OTHER), false) };
    asks(&mut run, vec![wish("one", None, false), odd]);
    assert_eq!(run.calls(), [(0, 2, 0)], "nothing is called, and the model is asked again");
    assert_eq!(messages(&run).len(), 3);
}

#[test]
fn z14_rounds_calls_time_and_tokens_beyond_the_limits_refuses() {
    let over = |limits: Value, rounds: usize, later: i64| {
        let mut run = talking(json!({ "toolLimits": limits }));
        for _ in 0..rounds {
            asks(&mut run, vec![wish("one", Some(OTHER), false)]);
            if run.state.status.has_ended() {
                break;
            }
            run.tell(&returned(at(0), json!("found"), 0));
            run.now = Millis(run.now.0 + later);
        }
        run
    };
    for (limits, later) in [
        (json!({ "rounds": 2 }), 0),
        (json!({ "calls": 2 }), 0),
        (json!({ "seconds": 9 }), 5_000),
        (json!({ "tokens": 2 }), 0),
    ] {
        let run = over(limits.clone(), 3, later);
        assert_eq!(run.failure(), (Some(0), "tool_limit_exceeded".to_owned(), Some("Z14".to_owned())), "{limits}");
        is_over(&run, ExecutionStatus::Failed);
        assert_eq!(over(limits, 2, later).calls(), [(0, 3, 0)]);
    }
}

#[test]
fn z14_a_call_that_is_to_be_approved_waits_for_a_person_holds() {
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(OTHER), true)]);
    assert!(matches!(run.effects[..], [Effect::Ask { .. }]));
    run.tell(&Input::Decided { place: at(0), decision: Decision::Deny { reason: None } });
    assert!(messages(&run)[1]["content"].as_str().unwrap().contains("denied"));
    asks(&mut run, vec![wish("two", Some(OTHER), true)]);
    run.tell(&Input::Decided {
        place: at(0),
        decision: Decision::Approve { inputs: Some(object(json!({ "q": 9 }))), scope: None },
    });
    assert!(matches!(&run.effects[..], [Effect::Call { inputs, .. }] if *inputs == object(json!({ "q": 9 }))));
    run.refuses(&Input::Expired { place: at(0) });
    run.tell(&Input::Lost { place: at(0) });
    assert_eq!(run.calls(), [(0, 3, 0)], "the model hears that nobody knows, and goes on");
    asks(&mut run, vec![wish("three", Some(OTHER), true)]);
    run.tell(&Input::Expired { place: at(0) });
    assert_eq!(run.calls(), [(0, 4, 0)]);
}

#[test]
fn br_step_006_a_model_that_is_asked_back_goes_on_without_the_call_holds() {
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(OTHER), true), wish("two", Some(OTHER), true)]);
    run.tell(&Input::Decided { place: at(0), decision: Decision::Ask { question: "Why Bern?".to_owned() } });
    assert_eq!(run.effects, [], "the other one is still asked about");
    run.refuses(&approve(0, None));
    run.tell(&approve(1, None));
    run.tell(&returned(at(1), json!("found"), 0));
    assert_eq!(run.calls(), [(0, 2, 0)], "the model is asked again");
    let told = messages(&run)[1]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("not made") && told.contains("Why Bern?"), "{told}");
    asks(&mut run, vec![wish("one", Some(OTHER), true)]);
    assert!(matches!(run.effects[..], [Effect::Ask { .. }]), "what is asked for again is a new question");
    run.tell(&Input::Decided { place: at(0), decision: Decision::Ask { question: "Why not Basel?".to_owned() } });
    run.tell(&returned(CallSite::of(0), json!({ "text": "Because of the bears." }), 0));
    assert_eq!(run.output(), json!("Because of the bears."));
}

#[test]
fn z14_what_is_approved_once_is_not_asked_again_and_what_always_is_holds() {
    for (tool, is_asked_again) in [(TOOL, false), (OTHER, true)] {
        let mut run = talking(json!({}));
        asks(&mut run, vec![wish("one", Some(tool), true)]);
        run.tell(&approve(0, None));
        run.tell(&returned(at(0), json!(1), 0));
        asks(&mut run, vec![wish("two", Some(tool), true)]);
        assert_eq!(matches!(run.effects[..], [Effect::Ask { .. }]), is_asked_again);
    }
}

#[test]
fn rounds_of_calls_are_not_repeats_of_a_failed_one() {
    let mut run = talking(json!({ "retry": { "maxRetries": 1, "backoffMs": 10 } }));
    for _ in 0..3 {
        asks(&mut run, vec![wish("one", Some(OTHER), false)]);
        run.tell(&returned(at(0), json!(1), 0));
    }
    run.fails(0, passing());
    assert_eq!(run.calls(), [(0, 5, 10)]);
    run.fails(0, passing());
    assert_eq!(run.failure().1, "server_error");
}

#[test]
fn br_process_006_a_call_of_a_round_that_breaks_the_budget_takes_the_others_back_refuses() {
    let mut run = talking(json!({ "tokenBudget": 100 }));
    asks(&mut run, vec![wish("one", Some(OTHER), false), wish("two", Some(OTHER), true)]);
    run.tell(&returned(at(0), json!(1), 100));
    assert_eq!(run.failure().2.as_deref(), Some("BR-PROCESS-006"));
    assert!(
        matches!(run.effects[..], [Effect::Withdraw, Effect::End(ExecutionOutcome::Failed { .. })]),
        "{:?}",
        run.effects
    );
    let open = &run.state.steps[0].dialogue.as_ref().unwrap().open;
    assert_eq!((open[0].phase, open[1].phase), (Phase::Done, Phase::Asking));
}

#[test]
fn a_result_of_megabytes_is_cut_before_a_model_reads_it() {
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(OTHER), false)]);
    run.tell(&returned(at(0), json!("ä".repeat(4 << 20)), 0));
    let told = messages(&run)[1]["content"].as_str().unwrap().len();
    assert!(told <= RESULT_BYTES_MAX + 16, "{told}");
}

#[test]
fn z14_an_approval_reaches_as_far_as_the_person_says_holds() {
    for (scope, again, other) in [
        (ApprovalScope::Once, true, true),
        (ApprovalScope::SameArguments, false, true),
        (ApprovalScope::Run, false, false),
    ] {
        let mut run = talking(json!({}));
        asks(&mut run, vec![wish("one", Some(OTHER), true)]);
        run.tell(&approve(0, Some(scope)));
        run.tell(&returned(at(0), json!(1), 0));
        asks(&mut run, vec![wish("one", Some(OTHER), true), wish("two", Some(OTHER), true)]);
        let open = &run.state.steps[0].dialogue.as_ref().unwrap().open;
        let is_asked = |call: usize| open[call].phase == Phase::Asking;
        assert_eq!((is_asked(0), is_asked(1)), (again, other), "{scope:?}");
    }
    // Also narrower than what the step says.
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(TOOL), true)]);
    run.tell(&approve(0, Some(ApprovalScope::Once)));
    run.tell(&returned(at(0), json!(1), 0));
    asks(&mut run, vec![wish("one", Some(TOOL), true)]);
    assert!(matches!(run.effects[..], [Effect::Ask { .. }]));
}

#[test]
fn z14_what_was_approved_is_what_the_person_made_of_it_holds() {
    let mut run = talking(json!({}));
    asks(&mut run, vec![wish("one", Some(OTHER), true)]);
    let inputs = Some(object(json!({ "q": "two" })));
    let scope = Some(ApprovalScope::SameArguments);
    run.tell(&Input::Decided { place: at(0), decision: Decision::Approve { inputs, scope } });
    run.tell(&returned(at(0), json!(1), 0));
    asks(&mut run, vec![wish("one", Some(OTHER), true), wish("two", Some(OTHER), true)]);
    let open = &run.state.steps[0].dialogue.as_ref().unwrap().open;
    assert_eq!((open[0].phase, open[1].phase), (Phase::Asking, Phase::Calling));
}

#[test]
fn z14_more_than_may_be_spent_refuses() {
    let limits = |currency: &str| json!({ "toolLimits": { "cost": { "amount": "0.5", "currency": currency } } });
    let mut run = talking(limits("USD"));
    asks_having_spent(&mut run, vec![wish("one", Some(OTHER), false)], "0.5");
    run.tell(&returned(at(0), json!(1), 0));
    asks_having_spent(&mut run, vec![wish("two", Some(OTHER), false)], "0.500000000001");
    assert_eq!(run.failure(), (Some(0), "tool_limit_exceeded".to_owned(), Some("Z14".to_owned())));
    let mut run = talking(limits("EUR"));
    asks_having_spent(&mut run, vec![wish("one", Some(OTHER), false)], "9");
    assert_eq!(run.phases(), [Phase::Conversing], "what is spent in another currency is not counted");
}

#[test]
fn z14_the_time_a_person_takes_is_not_the_steps_holds() {
    const HOUR_MS: i64 = 3_600_000;
    let mut run = talking(json!({ "toolLimits": { "seconds": 9 }, "execution": { "interactionMode": "manual" } }));
    run.now = Millis(run.now.0 + HOUR_MS);
    let approved = Decision::Approve { inputs: None, scope: None };
    run.tell(&Input::Decided { place: CallSite::of(0), decision: approved });
    asks(&mut run, vec![wish("one", Some(OTHER), true), wish("two", Some(OTHER), true)]);
    run.now = Millis(run.now.0 + HOUR_MS);
    run.tell(&approve(0, None));
    run.tell(&returned(at(0), json!(1), 0));
    run.now = Millis(run.now.0 + HOUR_MS);
    run.tell(&Input::Expired { place: at(1) });
    run.now = Millis(run.now.0 + 9_000);
    asks(&mut run, vec![wish("three", Some(OTHER), false)]);
    assert_eq!(run.phases(), [Phase::Conversing]);
    run.tell(&returned(at(0), json!(1), 0));
    run.now = Millis(run.now.0 + 1_000);
    asks(&mut run, vec![wish("four", Some(OTHER), false)]);
    assert_eq!(run.failure().1, "tool_limit_exceeded");
}

#[test]
fn z14_the_time_a_run_is_paused_is_not_the_steps_holds() {
    const HOUR_MS: i64 = 3_600_000;
    let mut run = talking(json!({ "toolLimits": { "seconds": 9 } }));
    let pass = |run: &mut Run| {
        let since = run.now;
        run.now = Millis(run.now.0 + HOUR_MS);
        run.state.steps[0].was_paused(since, run.now);
    };
    pass(&mut run);
    asks(&mut run, vec![wish("one", Some(OTHER), true)]);
    assert_eq!(run.phases(), [Phase::Conversing]);
    // A person is waited for all the while: that is counted once.
    pass(&mut run);
    run.tell(&approve(0, None));
    assert_eq!(run.state.steps[0].dialogue.as_ref().unwrap().waited_ms, 2 * HOUR_MS);
    run.tell(&returned(at(0), json!(1), 0));
    run.now = Millis(run.now.0 + 10_000);
    asks(&mut run, vec![wish("two", Some(OTHER), false)]);
    assert_eq!(run.failure().1, "tool_limit_exceeded");
}
