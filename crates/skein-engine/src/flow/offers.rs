//! The tools a step offers to a model: under which names, and whether a person has to approve.

use serde_json::Value;
use skein_core::catalog::operation::Operation;
use skein_core::catalog::tool::Tool;
use skein_core::flow::step::{Approval, Offer};
use skein_core::{RecordId, UserId, Viewer};
use skein_store::StoreError;

use crate::flow::abilities;
use crate::flow::mover::Mover;

const OFFER_NAME_BYTES_MAX: usize = 64;

/// A tool as a model hears of it.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    pub(super) name: String,
    pub(super) tool: RecordId,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) needs_approval: bool,
}

impl Mover<'_, '_> {
    /// The tools a step offers, under names that providers take.
    pub(super) fn offered(&mut self, owner: UserId, offers: &[Offer]) -> Result<Vec<Offered>, StoreError> {
        let mut offered: Vec<Offered> = Vec::new();
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
            let needs_approval = match offer.approval {
                Some(Approval::Never) => false,
                Some(Approval::Always | Approval::Once) => true,
                None => !is_harmless(&tool.entry),
            };
            offered.push(Offered {
                name,
                tool: tool.id,
                description: tool.entry.description.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
                parameters: tool.entry.input_schema.clone(),
                needs_approval,
            });
        }
        Ok(offered)
    }
}

/// What only reads may be called without asking a person.
fn is_harmless(tool: &Tool) -> bool {
    match &tool.operation {
        Operation::RestCall(call) => call.method.is_safe(),
        Operation::McpTool(call) => abilities::is_own(tool.service_id) && abilities::only_reads(&call.tool),
        Operation::LlmCall(_) => true,
        Operation::GraphQuery(_) => false,
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
