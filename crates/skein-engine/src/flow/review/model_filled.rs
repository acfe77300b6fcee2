//! Holds a step's call back until a person approves it, where a model filled in an address.
//!
//! `skein_core::flow::approval_policy` decides; here the steps and runs that the inputs derive from are looked up. Most calls name
//! no address, so nothing is looked up for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use skein_core::catalog::operation::Operation;
use skein_core::flow::approval_policy::{CallOrigin, needs_approval};
use skein_core::flow::execution::input::CallSite;
use skein_core::flow::step::{Reference, StepTarget};
use skein_core::{ExecutionId, UserId, Viewer};
use skein_store::StoreError;

use crate::flow::SYSTEM;
use crate::flow::execution::children::is_process_in_disguise;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::flow::process::plan_cache::ReadyProcess;
use crate::tool_call::builtin_tools;
use crate::tool_call::dependencies::CallDependencies;

/// The run that started another, and where.
type ParentExecution = Option<(ExecutionId, CallSite)>;

impl ExecutionTransaction<'_, '_> {
    /// Whether a person approves the call of a step before it is made. A call that a model asks for was judged with the offer.
    pub(crate) fn is_held(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        base: &CallDependencies,
        inputs: &Map<String, Value>,
    ) -> Result<bool, StoreError> {
        let is_own = builtin_tools::is_own(base.tool.entry.service_id);
        let asks = |arguments| needs_approval(CallOrigin::Step, &base.tool.entry, is_own, &Value::Object(arguments));
        if place.call.is_some() || !asks(inputs.clone()) {
            return Ok(false);
        }
        let loaded = self.load(run)?;
        if loaded.state.is_call_approved(place.step, base.tool.id) {
            return Ok(false);
        }
        let (owner, ready, above) = (loaded.row.owner, Arc::clone(&loaded.ready), loaded.row.parent);
        let filled = self.model_filled(owner, &ready, above, place.step)?;
        Ok(asks(
            inputs.iter().filter(|(name, _)| filled.contains(*name)).map(|(n, v)| (n.clone(), v.clone())).collect(),
        ))
    }

    /// The inputs of a step that derive from a model's output in its run or in those above.
    fn model_filled(
        &mut self,
        owner: UserId,
        ready: &ReadyProcess,
        above: ParentExecution,
        step: usize,
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut models = BTreeSet::new();
        for source in ready.plan.sources(step) {
            let definition = &ready.plan.steps()[source].definition;
            let speaks = match definition.target {
                // A model may speak in it.
                StepTarget::Process(_) => true,
                StepTarget::Tool(tool) => self.speaks(owner, definition.naming(tool))?,
                StepTarget::Ask(_) => false,
            };
            models.extend(speaks.then_some(source));
        }
        let context = self.model_filled_context(owner, ready, above)?;
        Ok(ready.plan.model_filled(step, &models, &context))
    }

    /// The variables of a run's context that a model filled in.
    fn model_filled_context(
        &mut self,
        owner: UserId,
        ready: &ReadyProcess,
        above: ParentExecution,
    ) -> Result<BTreeSet<String>, StoreError> {
        let Some((run, place)) = above else { return Ok(BTreeSet::new()) };
        let all = || ready.process.initial_context.names().into_iter().map(str::to_owned).collect();
        if place.call.is_some() {
            return Ok(all());
        }
        // Only looked at: nobody above is moved by a call.
        let row = self.tx.execution(&SYSTEM, run)?;
        let above = self.engine.parts().plans.of(self.tx, row.process, row.process_version)?;
        let filled = self.model_filled(owner, &above, row.parent, place.step)?;
        Ok(match above.plan.steps()[place.step].definition.target {
            // A tool in front of a process puts its inputs together as it likes.
            StepTarget::Tool(_) if !filled.is_empty() => all(),
            _ => filled,
        })
    }

    /// Whether the output of a tool is a model's. Of a tool that is out of reach, nobody knows.
    fn speaks(&mut self, owner: UserId, named: Reference) -> Result<bool, StoreError> {
        let past = &self.engine.parts().entries.past;
        match past.load(self.tx, &Viewer::User(owner), owner, named) {
            Ok(tool) => Ok(matches!(tool.entry.operation, Operation::LlmCall(_)) || is_process_in_disguise(&tool)),
            Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
