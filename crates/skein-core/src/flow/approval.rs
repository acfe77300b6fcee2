//! A standing approval: calls of one tool that a person need not be asked about any more (decision Z14).
//!
//! It is given with a decision, counts in every execution of the person who gave it, and ends when it is revoked. What was approved is the
//! tool as it was then: once its definition changes, people are asked again.

use serde::{Deserialize, Serialize};

use crate::catalog::entry::Entry;
use crate::catalog::tool::Tool;
use crate::id::{RecordId, ReviewId};

/// One tool, as it was when somebody approved of it for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    /// What it is found by: the tool, so that there is one for each.
    pub name: String,
    pub tool_id: RecordId,
    /// What the tool did then.
    pub definition_version: u32,
    /// The question it was given with.
    pub review_id: ReviewId,
}

impl Entry for StandingApproval {
    const RECORD_TYPE: &'static str = "StandingApproval";
}

impl StandingApproval {
    pub fn give(tool_id: RecordId, tool: &Tool, review_id: ReviewId) -> Self {
        Self { name: Self::name_of(tool_id), tool_id, definition_version: tool.definition_version, review_id }
    }

    pub fn name_of(tool: RecordId) -> String {
        tool.to_string()
    }

    /// Whether a tool may be called because of it, without asking.
    pub fn covers(&self, id: RecordId, tool: &Tool) -> bool {
        self.tool_id == id && self.definition_version == tool.definition_version
    }
}
