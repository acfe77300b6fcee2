//! The tools a step offers to a model: under which names, and whether a person has to approve.

use serde_json::Value;
use skein_connect::llm::ToolDefinition;
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval_policy::{CallOrigin, needs_approval};
use skein_core::flow::step::{Approval, OfferedTool};
use skein_core::{RecordId, UserId, Viewer};
use skein_store::StoreError;

use crate::flow::execution::transaction::ExecutionTransaction;
use crate::tool_call::builtin_tools;

const OFFER_NAME_BYTES_MAX: usize = 64;

/// A tool as a model hears of it.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedOffer {
    pub(crate) name: String,
    pub(crate) tool: RecordId,
    pub(crate) entry: Tool,
    pub(crate) approval: Option<Approval>,
}

impl ResolvedOffer {
    pub(crate) fn definition(&self) -> ToolDefinition {
        let description = self.entry.description.as_ref().map(|text| text.as_str().to_owned());
        ToolDefinition {
            name: self.name.clone(),
            description: description.unwrap_or_default(),
            parameters: self.entry.input_schema.clone(),
        }
    }

    /// Whether a person approves a call with these arguments.
    pub(crate) fn needs_approval(&self, arguments: &Value) -> bool {
        needs_approval(
            CallOrigin::Model(self.approval),
            &self.entry,
            builtin_tools::is_own(self.entry.service_id),
            arguments,
        )
    }
}

impl ExecutionTransaction<'_, '_> {
    /// The tools a step offers, under names that providers take.
    pub(crate) fn offered(&mut self, owner: UserId, offers: &[OfferedTool]) -> Result<Vec<ResolvedOffer>, StoreError> {
        let mut offered: Vec<ResolvedOffer> = Vec::new();
        for offer in offers {
            let past = &self.engine.parts().entries.past;
            let tool = match past.load(self.tx, &Viewer::User(owner), owner, offer.reference()) {
                Ok(tool) => tool,
                // What cannot be called is not offered.
                Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => continue,
                Err(error) => return Err(error),
            };
            let mut name = offer_name(tool.entry.name.as_str());
            if offered.iter().any(|known| known.name == name) {
                name = format!("{}_{}", &name[..name.len().min(60)], offered.len());
            }
            let entry = tool.entry;
            offered.push(ResolvedOffer { name, tool: tool.id, entry, approval: offer.approval });
        }
        Ok(offered)
    }
}

fn offer_name(name: &str) -> String {
    let spelled: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c.to_ascii_lowercase() } else { '_' })
        .take(OFFER_NAME_BYTES_MAX)
        .collect();
    if spelled.is_empty() { "tool".to_owned() } else { spelled }
}
