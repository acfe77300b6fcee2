//! Why a call was not made, in words that leave nobody guessing.

use serde_json::json;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::input::{Fault, Place};
use skein_core::{RecordId, RunId};
use skein_store::StoreError;

use crate::catalog::{Shown, load};
use crate::flow::SYSTEM;
use crate::flow::mover::{Mover, no_such_tool};

/// How many versions of a tool are looked at to say why it is out of reach.
const VERSIONS_LOOKED_AT_MAX: usize = 20;

impl Mover<'_, '_> {
    /// Why a tool that a step names cannot be had, in the words of rule BR-EXEC-003.
    pub(super) fn out_of_reach(&mut self, tool: RecordId) -> Result<Fault, StoreError> {
        let found = match load::<Tool>(self.tx, &SYSTEM, tool) {
            Ok(found) => found,
            Err(StoreError::NotFound(_) | StoreError::Refused(_)) => return Ok(no_such_tool(tool)),
            Err(error) => return Err(error),
        };
        let name = found.entry.name.as_str();
        let was_shared = self.was_shared(&found)?;
        let message = if was_shared {
            format!("Tool {name} access revoked by owner")
        } else {
            format!("Tool {name} owned by {} is not shared", found.owner)
        };
        Ok(Fault::new("tool_inaccessible", message).by_rule("BR-EXEC-003"))
    }

    /// Whether somebody took a tool back that others could use.
    fn was_shared(&mut self, tool: &Shown<Tool>) -> Result<bool, StoreError> {
        for version in (1..tool.version).rev().take(VERSIONS_LOOKED_AT_MAX) {
            if self.tx.record_version(&SYSTEM, tool.id, version)?.content.shared {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Which step, which tool, which service, whose: so that nobody has to guess (rules BR-EXEC-006, BR-SHARE-009).
    pub(super) fn explained(
        &mut self,
        run: RunId,
        place: Place,
        tool: RecordId,
        fault: Fault,
    ) -> Result<Fault, StoreError> {
        let step = self.load(run)?.ready.plan.steps()[place.step].definition.id.clone();
        let mut details = json!({ "step": place.step + 1, "stepId": step, "toolId": tool });
        if let Ok(found) = load::<Tool>(self.tx, &SYSTEM, tool) {
            details["toolName"] = json!(found.entry.name.as_str());
            details["toolOwner"] = json!(found.owner);
            details["serviceId"] = json!(found.entry.service_id);
        }
        Ok(Fault { details, ..fault })
    }
}
