//! The one shape of a refusal: which rule, what was wrong, what to do.
//!
//! Rule ids are those of `docs/rules.md`. Doors translate a violation to their own status; nobody else
//! interprets it.

use std::fmt;

/// A business rule that the request would have broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleViolation {
    rule: &'static str,
    problem: String,
    remedy: &'static str,
}

impl RuleViolation {
    pub fn new(rule: &'static str, problem: impl Into<String>, remedy: &'static str) -> Self {
        Self { rule, problem: problem.into(), remedy }
    }

    /// The id as in `docs/rules.md`, for example `MG-SOIL-005`.
    pub fn rule(&self) -> &'static str {
        self.rule
    }

    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// What the caller can do about it.
    pub fn remedy(&self) -> &'static str {
        self.remedy
    }
}

impl fmt::Display for RuleViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.rule, self.problem, self.remedy)
    }
}

impl std::error::Error for RuleViolation {}
