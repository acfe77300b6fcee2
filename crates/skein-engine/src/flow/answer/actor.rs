//! Finds the actor that an answer is by before its model is asked, so that the actor's configuration takes effect.
//!
//! It is the actor that will be the author if the answer is the model's own text ([`crate::flow::answer::authorship`]). The request and
//! its preview both take it from here, so they cannot differ. Which setting wins is settled in
//! `docs/decisions/0039-configuration-of-actors.md`.

use std::sync::Arc;

use serde_json::{Map, Value};
use skein_core::catalog::operation::Operation;
use skein_core::flow::plan::Plan;
use skein_core::tree::configuration::Configuration;
use skein_core::{ExecutionId, RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::flow::answer::authorship::actor_of_model;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::tool_call::authorize::AuthorizedCall;

/// An actor, and how its model is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnsweringActor {
    pub(crate) id: RecordId,
    pub(crate) configuration: Arc<Configuration>,
}

impl AnsweringActor {
    /// The actor of the model that a call asks; nothing where that model never answered and nobody described it.
    pub(crate) fn of_call(
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        ready: &AuthorizedCall,
    ) -> Result<Option<Self>, StoreError> {
        let (tool, service) = (&ready.tool.entry, &ready.service.entry);
        if !matches!(tool.operation, Operation::LlmCall(_)) {
            return Ok(None);
        }
        let Some(actor) = actor_of_model(tx, viewer, tool, service)? else { return Ok(None) };
        let mut configuration = actor.entry.configuration;
        // They can raise the price of a call, which is for its payer to decide.
        if ready.authorization.payer != ready.authorization.executor {
            configuration.custom_parameters = Map::new();
        }
        Ok(Some(Self { id: actor.id, configuration: Arc::new(configuration) }))
    }

    /// What stands at the head of a request whose messages were not made for an actor.
    pub(crate) fn prompt_beside(&self, messages: &[Value]) -> Option<String> {
        let is_made_for_actor = messages.iter().any(|message| message["actorId"].is_string());
        let prompt = self.configuration.system_prompt.as_ref().filter(|_| !is_made_for_actor);
        prompt.map(|prompt| prompt.as_str().to_owned())
    }
}

/// Whether the text of a step can be the answer: it fills the output template alone, or stands in for the step that does.
pub(crate) fn gives_answer(plan: &Plan, step: usize) -> bool {
    let answering = plan.streamed_step();
    answering.is_some() && (answering == Some(step) || plan.steps()[step].stands_in_for == answering)
}

impl ExecutionTransaction<'_, '_> {
    /// The actor a call answers as, where it is the one whose text a conversation waits for.
    pub(crate) fn answering_actor(
        &mut self,
        run: ExecutionId,
        step: usize,
        ready: &AuthorizedCall,
    ) -> Result<Option<AnsweringActor>, StoreError> {
        let loaded = self.load(run)?;
        if loaded.row.target.is_none() || !gives_answer(&loaded.ready.plan, step) {
            return Ok(None);
        }
        let viewer = Viewer::User(loaded.row.owner);
        AnsweringActor::of_call(self.tx, &viewer, ready)
    }
}
