//! Limits how large a definition of a process may be, counted on its JSON before anything in it is understood.
//!
//! Understanding a definition takes time for every step, schema and pattern. So what is too large is refused by counting
//! alone, and by its first excess: nobody reads a list of all that is wrong with 8,000 steps.

use serde_json::Value;

use crate::catalog::schema::bounds::pattern_count;
use crate::flow::process::InitialContext;
use crate::flow::step::STEPS_MAX;
use crate::flow::validation::Violation;
use crate::rule::RuleViolation;

/// Most steps that one step depends on.
pub const DEPENDS_ON_MAX: usize = STEPS_MAX;
/// Most patterns in all schemas of a process together; each takes memory and time of its own.
pub const PROCESS_PATTERNS_MAX: usize = 256;

/// Refuses steps that are none (BR-PROCESS-001), too many, or too large in what they list.
pub(crate) fn check_steps(steps: &[Value]) -> Result<(), Violation> {
    let breach = |problem: String, remedy| Violation {
        violation: RuleViolation::new("BR-PROCESS-001", problem, remedy),
        step: None,
        field: Some("steps"),
    };
    if steps.is_empty() {
        return Err(breach("a process has at least one step".to_owned(), "add a step"));
    }
    let count = steps.iter().map(count_steps).sum::<usize>();
    if count > STEPS_MAX {
        let problem = format!("the process has {count} steps, fallbacks included; the limit is {STEPS_MAX}");
        return Err(breach(problem, "move some of them to a process of their own"));
    }
    steps.iter().enumerate().try_for_each(|(at, step)| check_dependencies(step, at + 1))
}

/// Refuses more patterns than [`PROCESS_PATTERNS_MAX`] in what the context and the answers of people have to satisfy.
pub(crate) fn check_patterns(context: &InitialContext, steps: &[Value]) -> Result<(), Violation> {
    let of_context = match context {
        InitialContext::Names(_) => 0,
        InitialContext::Schema(schema) => pattern_count(schema),
    };
    let count = of_context + steps.iter().map(count_patterns).sum::<usize>();
    if count <= PROCESS_PATTERNS_MAX {
        return Ok(());
    }
    let problem = format!("the schemas of the process have {count} patterns; the limit is {PROCESS_PATTERNS_MAX}");
    let violation = RuleViolation::new("BR-STEP-002", problem, "describe the values by fewer patterns");
    Err(Violation { violation, step: None, field: None })
}

fn fallback(step: &Value) -> &[Value] {
    step["fallback"].as_array().map_or(&[], Vec::as_slice)
}

fn count_steps(step: &Value) -> usize {
    1 + fallback(step).iter().map(count_steps).sum::<usize>()
}

fn count_patterns(step: &Value) -> usize {
    pattern_count(&step["ask"]["schema"]) + fallback(step).iter().map(count_patterns).sum::<usize>()
}

fn check_dependencies(step: &Value, number: usize) -> Result<(), Violation> {
    let count = step["dependsOn"].as_array().map_or(0, Vec::len);
    if count <= DEPENDS_ON_MAX {
        return Ok(());
    }
    let problem = format!("step {number} depends on {count} steps; the limit is {DEPENDS_ON_MAX}");
    let violation = RuleViolation::new("BR-PROCESS-003", problem, "name each step it waits for once");
    Err(Violation { violation, step: Some(number), field: Some("dependsOn") })
}
