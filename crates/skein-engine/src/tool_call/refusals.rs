//! Explains why a call was not made: the failure, its cause and a remedy.

use serde_json::json;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::input::Fault;
use skein_core::flow::step::StepTarget;
use skein_core::{ExecutionId, RecordId, UserId, Viewer};
use skein_store::StoreError;

use crate::catalog::{StoredEntry, bindings, last_shared, load, names_service};
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::{ExecutionTransaction, no_such_tool};

impl ExecutionTransaction<'_, '_> {
    /// Why a tool that a step names cannot be had, in the words of rule BR-EXEC-003.
    pub(crate) fn out_of_reach(&mut self, executor: UserId, tool: RecordId) -> Result<Fault, StoreError> {
        let Some(tool) = found(load::<Tool>(self.tx, &SYSTEM, tool))? else { return Ok(no_such_tool(tool)) };
        if tool.owner == executor || tool.shared {
            return self.broken(executor, &tool);
        }
        // What it is called now is its owner's affair.
        let message = match last_shared(self.tx, &tool)? {
            Some(shared) => format!("Tool {} access revoked by owner", shared.entry.name.as_str()),
            None => format!("Tool {} owned by {} is not shared", tool.id, tool.owner),
        };
        Ok(Fault::new("tool_inaccessible", message).by_rule("BR-EXEC-003"))
    }

    /// What is missing below a tool that could be had.
    fn broken(&mut self, executor: UserId, tool: &StoredEntry<Tool>) -> Result<Fault, StoreError> {
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

    /// Which step, which tool, which service, whose: so that nobody has to guess (rules BR-EXEC-006, BR-SHARE-009). What
    /// the fault tells of itself stays.
    pub(crate) fn explained(
        &mut self,
        run: ExecutionId,
        step: usize,
        tool: RecordId,
        fault: Fault,
    ) -> Result<Fault, StoreError> {
        let loaded = self.load(run)?;
        let (owner, id) = (loaded.row.owner, loaded.ready.plan.steps()[step].definition.id.clone());
        let mut told = json!({ "step": step + 1, "stepId": id, "toolId": tool });
        if let Some(tool) = found(load::<Tool>(self.tx, &SYSTEM, tool))? {
            let is_in_reach = tool.owner == owner || tool.shared;
            let known = if is_in_reach { Some(tool.clone()) } else { last_shared(self.tx, &tool)? };
            told["toolName"] = json!(known.map_or_else(|| tool.id.to_string(), |known| known.entry.name.to_string()));
            told["toolOwner"] = json!(tool.owner);
            told["serviceId"] = json!(tool.entry.service_id);
            let service = self.service_of(&tool)?.filter(|service| is_in_reach && names_service(owner, &tool, service));
            if let Some(service) = service {
                told["serviceName"] = json!(service.entry.name.as_str());
            }
        }
        for (name, value) in fault.details.as_object().into_iter().flatten() {
            told[name] = value.clone();
        }
        Ok(Fault { details: told, ..fault })
    }

    fn service_of(&mut self, tool: &StoredEntry<Tool>) -> Result<Option<StoredEntry<Service>>, StoreError> {
        found(load(self.tx, &SYSTEM, tool.entry.service_id))
    }

    /// The failure of a step with all of that, whoever noticed it.
    pub(crate) fn explained_failure(
        &mut self,
        run: ExecutionId,
        step: usize,
        fault: Fault,
    ) -> Result<Fault, StoreError> {
        match self.load(run)?.ready.plan.steps()[step].definition.target {
            StepTarget::Tool(tool) if fault.details.get("serviceId").is_none() => {
                self.explained(run, step, tool, fault)
            }
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
