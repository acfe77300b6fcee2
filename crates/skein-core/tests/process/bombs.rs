//! Definitions that would make a parser call itself until the stack is used up, on a stack that is small already.

use serde_json::json;
use skein_core::flow::condition::CONDITION_BYTES_MAX;
use skein_core::flow::step::Step;
use skein_core::flow::template::TEMPLATE_DEPTH_MAX;

use crate::samples::{of_steps, process, refused, step};

const STACK_BYTES: usize = 1 << 20;

/// What nests as it repeats.
const NESTING: [&str; 31] = [
    "(",
    "[",
    "{",
    "!",
    "~",
    "-",
    "- ",
    "typeof ",
    "a?",
    "a?a:",
    "a**",
    "a=>",
    "a=",
    "new ",
    "`${",
    "async(",
    "class extends ",
    "function(){return ",
    "(a=",
    "({a:",
    "a<(",
    "a.",
    "a+",
    "a?.",
    "yield ",
    "await ",
    "...",
    "@a ",
    "/",
    "<a>",
    "1,",
];

fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap().join().unwrap()
}

#[test]
fn br_step_003_conditions_that_nest_refuses() {
    on_a_small_stack(|| {
        let conditional =
            |condition: &str| of_steps(json!([step("a", json!({ "execution": { "condition": condition } }))]));
        for piece in NESTING {
            for times in [31, 63, 127, CONDITION_BYTES_MAX / piece.len()] {
                let bomb = piece.repeat(times);
                assert_eq!(refused(conditional(&bomb)), "BR-STEP-003", "{piece}");
                let fuse = format!("{}question", bomb.replace('a', "question"));
                let rule = conditional(&fuse).err().map(|violation| violation.rule());
                assert!(rule.is_none_or(|rule| rule == "BR-STEP-003"), "{piece}");
            }
        }
    });
}

#[test]
fn br_process_005_the_deepest_templates_holds_and_deeper_ones_refuses() {
    let nested = |depth: usize| format!("{}x{}", "{{#if answer}}".repeat(depth), "{{/if}}".repeat(depth));
    let chained = |depth: usize| format!("{{{{#if answer}}}}{}{{{{/if}}}}", "{{else if answer}}".repeat(depth));
    on_a_small_stack(move || {
        for template in [nested(TEMPLATE_DEPTH_MAX), chained(TEMPLATE_DEPTH_MAX - 1)] {
            assert!(process(json!({ "outputTemplate": template })).is_ok());
        }
        for template in [nested(TEMPLATE_DEPTH_MAX + 1), chained(300), "{{#if answer}}".repeat(400), "{{(".repeat(400)]
        {
            assert_eq!(refused(process(json!({ "outputTemplate": template }))), "BR-PROCESS-005");
        }
    });
}

#[test]
fn br_process_003_fallbacks_of_fallbacks_refuses_at_any_depth() {
    let deepest = (0..30).fold(step("a", json!({})), |inner, _| step("a", json!({ "fallback": [inner] })));
    assert_eq!(on_a_small_stack(move || refused(Step::parse(&deepest, 1))), "BR-PROCESS-003");
}
