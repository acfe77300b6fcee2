//! JavaScript expressions over the variables of a process: whether a step runs, and whether a failure ends it all.
//!
//! An expression is parsed by a JavaScript parser when the process is defined, and what it is made of is checked
//! against a short list ([`syntax`]): literals, declared variables and their members, comparisons, logic, arithmetic,
//! lists, template literals, and a few methods that change nothing. What passes is evaluated here ([`evaluate`]), with
//! the meaning JavaScript gives it ([`value`], [`number`]) and with a limit on the work. The tests compare all of it
//! with a real engine.
//!
//! Where JavaScript would throw, or hand out a function, evaluation is refused: nothing built in can be reached.

mod evaluate;
mod number;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use crate::flow::scope::{Names, VariableScope};
use crate::rule::RuleViolation;

pub use syntax::{CONDITION_BYTES_MAX, CONDITION_DEPTH_MAX, CONDITION_NODES_MAX};

/// An expression that was understood and may be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    expression: syntax::Expr,
}

impl Condition {
    /// Understands an expression; each variable must be known (BR-STEP-003).
    pub(crate) fn parse(source: &str, names: &Names) -> Result<Self, RuleViolation> {
        syntax::parse(source, names).map(|expression| Self { expression }).map_err(|(problem, remedy)| {
            let shown: String = source.chars().take(100).collect();
            RuleViolation::new("BR-STEP-003", format!("the condition {shown:?} cannot be used: {problem}"), remedy)
        })
    }

    /// Whether it holds, as `if` would see it.
    pub(crate) fn holds(&self, scope: &VariableScope) -> Result<bool, RuleViolation> {
        let value = evaluate::evaluate(&self.expression, scope).map_err(|thrown| {
            let remedy = "let the condition test for what may be missing: x?.y, x != null";
            RuleViolation::new("BR-STEP-003", format!("the condition fails: {thrown}"), remedy)
        })?;
        Ok(value.is_truthy())
    }
}
