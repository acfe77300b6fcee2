//! Divides the token budget of a process among its steps (BR-PROCESS-006, BR-CROSS-003).
//!
//! What steps ask for is theirs, and the steps that ask for nothing share the rest in equal parts; where it does not
//! divide, the earlier ones get one token more. So the parts never exceed the whole.

use crate::flow::step::Step;
use crate::rule::RuleViolation;

/// The budget of each step. Without one for the process, a step has what it asks for.
pub(crate) fn divide(total: Option<u64>, steps: &[Step]) -> Result<Vec<Option<u64>>, RuleViolation> {
    let asked: Vec<Option<u64>> = steps.iter().map(|step| step.output.token_budget).collect();
    let Some(total) = total else { return Ok(asked) };
    let sum = asked.iter().flatten().fold(0_u64, |sum, part| sum.saturating_add(*part));
    if sum > total {
        let problem = format!("the steps ask for {sum} tokens, and the process has {total}");
        let remedy = "raise the tokenBudget of the process, or lower those of its steps";
        return Err(RuleViolation::new("BR-PROCESS-006", problem, remedy));
    }
    let rest = total - sum;
    let sharers = asked.iter().filter(|part| part.is_none()).count() as u64;
    let mut larger_parts = if sharers == 0 { 0 } else { rest % sharers };
    let mut share = || {
        let part = rest / sharers + u64::from(larger_parts > 0);
        larger_parts = larger_parts.saturating_sub(1);
        part
    };
    Ok(asked.into_iter().map(|part| part.or_else(|| Some(share()))).collect())
}

/// The budget of a fallback step: the one of the step it stands in for, or less if it asks for less.
pub(crate) fn stand_in(step: &Step, whole: Option<u64>) -> Result<Option<u64>, RuleViolation> {
    match (step.output.token_budget, whole) {
        (Some(asked), Some(whole)) if asked > whole => {
            let problem = format!("fallback step {:?} asks for {asked} tokens, and its step has {whole}", step.id);
            let remedy = "lower its tokenBudget to that of the step it stands in for";
            Err(RuleViolation::new("BR-PROCESS-006", problem, remedy))
        }
        (asked, whole) => Ok(asked.or(whole)),
    }
}
