//! JavaScript expressions over the variables of a process: whether a step runs, and whether a failure ends it all.

use crate::flow::scope::{Names, Scope};
use crate::rule::RuleViolation;

/// Longest expression, in bytes.
pub const CONDITION_BYTES_MAX: usize = 4_096;

/// An expression that was understood and may be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {}

impl Condition {
    pub(crate) fn parse(source: &str, _names: &Names) -> Result<Self, RuleViolation> {
        Err(RuleViolation::new("BR-STEP-003", format!("{source:?} is not understood"), "leave the condition out"))
    }

    /// Whether it holds.
    pub(crate) fn holds(&self, _scope: &Scope) -> Result<bool, RuleViolation> {
        Ok(true)
    }
}
