//! Why a call was not made, in words that leave nobody guessing.

use serde_json::json;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::input::Fault;
use skein_core::flow::step::Target;
use skein_core::{RecordId, RunId, UserId, Viewer};
use skein_store::StoreError;

use crate::catalog::{Shown, bindings, load};
use crate::flow::SYSTEM;
use crate::flow::mover::{Mover, no_such_tool};

/// How many versions of a tool are looked at to say why it is out of reach.
const VERSIONS_LOOKED_AT_MAX: usize = 20;

impl Mover<'_, '_> {
    /// Why a tool that a step names cannot be had, in the words of rule BR-EXEC-003.
    pub(super) fn out_of_reach(&mut self, executor: UserId, tool: RecordId) -> Result<Fault, StoreError> {
        let Some(tool) = found(load::<Tool>(self.tx, &SYSTEM, tool))? else { return Ok(no_such_tool(tool)) };
        if tool.owner == executor || tool.shared {
            return self.broken(executor, &tool);
        }
        let name = tool.entry.name.as_str();
        let message = if self.was_shared(&tool)? {
            format!("Tool {name} access revoked by owner")
        } else {
            format!("Tool {name} owned by {} is not shared", tool.owner)
        };
        Ok(Fault::new("tool_inaccessible", message).by_rule("BR-EXEC-003"))
    }

    /// What is missing below a tool that could be had.
    fn broken(&mut self, executor: UserId, tool: &Shown<Tool>) -> Result<Fault, StoreError> {
        let (name, service) = (tool.entry.name.as_str(), tool.entry.service_id);
        let refuse = |code, message: String| Ok(Fault::new(code, message).by_rule("BR-EXEC-003"));
        if self.service_of(tool)?.is_none() {
            return refuse("service_not_found", format!("Tool {name} references non-existent Service {service}"));
        }
        if let Some(secret) = tool.entry.secret_id
            && found(load::<Secret>(self.tx, &SYSTEM, secret))?.is_none()
        {
            return refuse("secret_not_found", format!("Tool {name} references non-existent Secret {secret}"));
        }
        let Some(bound) = bindings::bound(self.tx, &Viewer::User(executor), tool.id)? else {
            return Ok(no_such_tool(tool.id));
        };
        let secret = self.tx.record_version(&SYSTEM, bound.entry.secret_id, 1)?;
        let called = secret.content.name().unwrap_or_default();
        refuse("secret_inaccessible", format!("Secret {called} no longer accessible"))
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

    /// Which step, which tool, which service, whose: so that nobody has to guess (rules BR-EXEC-006, BR-SHARE-009). What
    /// the fault tells of itself stays.
    pub(super) fn explained(
        &mut self,
        run: RunId,
        step: usize,
        tool: RecordId,
        fault: Fault,
    ) -> Result<Fault, StoreError> {
        let loaded = self.load(run)?;
        let (owner, id) = (loaded.row.owner, loaded.ready.plan.steps()[step].definition.id.clone());
        let mut told = json!({ "step": step + 1, "stepId": id, "toolId": tool });
        if let Some(tool) = found(load::<Tool>(self.tx, &SYSTEM, tool))? {
            told["toolName"] = json!(tool.entry.name.as_str());
            told["toolOwner"] = json!(tool.owner);
            told["serviceId"] = json!(tool.entry.service_id);
            let is_in_reach = tool.owner == owner || tool.shared;
            if is_in_reach && let Some(service) = self.service_of(&tool)? {
                told["serviceName"] = json!(service.entry.name.as_str());
            }
        }
        for (name, value) in fault.details.as_object().into_iter().flatten() {
            told[name] = value.clone();
        }
        Ok(Fault { details: told, ..fault })
    }

    fn service_of(&mut self, tool: &Shown<Tool>) -> Result<Option<Shown<Service>>, StoreError> {
        found(load(self.tx, &SYSTEM, tool.entry.service_id))
    }

    /// The failure of a step with all of that, whoever noticed it.
    pub(super) fn explained_failure(&mut self, run: RunId, step: usize, fault: Fault) -> Result<Fault, StoreError> {
        match self.load(run)?.ready.plan.steps()[step].definition.target {
            Target::Tool(tool) if fault.details.get("serviceId").is_none() => self.explained(run, step, tool, fault),
            _ => Ok(fault),
        }
    }
}

/// What is there; nothing where there is none.
fn found<T>(loaded: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match loaded {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound(_) | StoreError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
