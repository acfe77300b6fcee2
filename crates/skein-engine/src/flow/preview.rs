//! Shows what a process would send to its model for an answer, without sending it.
//!
//! Steps before the answer run for real where they only read Skein's own data, so that the preview and the request are made
//! by the same code. Where another step comes first, its output is not known, and there is no request to show.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use skein_connect::llm::{ChatRequest, ToolDefinition};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::service::Builtin;
use skein_core::flow::approval_policy::is_reading_ability;
use skein_core::flow::plan::{PlannedStep, Scope};
use skein_core::flow::step::Target;
use skein_core::{NodeId, RecordId, RunId, UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::calling::{Purpose, Ready, ready_on};
use crate::catalog::calls::{self, Extras};
use crate::catalog::footing::Base;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::abilities::{self, AnswerContext};
use crate::flow::answering_actor::{AnsweringActor, gives_answer};
use crate::flow::answers::{known_values, sources_of};
use crate::flow::mover::{Hand, Mover};
use crate::flow::offers::Offered;
use crate::flow::plans::ReadyProcess;
use crate::tree::{ContextQuery, ShownContext};

/// What would be sent for an answer.
#[derive(Debug, Clone)]
pub struct AnswerPreview {
    /// The context it is made of.
    pub context: ShownContext,
    /// The request; nothing where other steps have to run first, or no model answers.
    pub request: Option<ChatRequest>,
}

/// A process up to the step that answers, with the tools of its steps as far as they can be called.
struct Rehearsal {
    process: Arc<ReadyProcess>,
    values: Map<String, Value>,
    /// The answering step, and the tools of the steps up to it.
    answering: Option<usize>,
    tools: Vec<Option<Ready>>,
    offers: Vec<ToolDefinition>,
    accepts_images: bool,
    /// The actor that answers.
    actor: Option<AnsweringActor>,
}

impl Engine {
    /// What a process would send to its model for an answer to a node.
    pub async fn preview_answer(
        &self,
        caller: &Caller,
        node: NodeId,
        process: RecordId,
        query: ContextQuery,
    ) -> Result<AnswerPreview, EngineError> {
        let (engine, user) = (self.clone(), caller.user);
        let look = move |tx: &mut Tx<'_>| rehearse(&engine, tx, user, process, node);
        let rehearsal = self.parts().store.read(look).await?;
        let (sources, accepts_images) = (query.sources.clone(), rehearsal.accepts_images);
        let actor = rehearsal.actor.as_ref().map(|actor| actor.id);
        let answer = AnswerContext { answered: Some(node), sources, accepts_images, actor };
        if let Some((context, outputs)) = self.read_ahead(caller, &rehearsal, &answer, &query).await?
            && let Some(request) = self.request_of(&rehearsal, &outputs).await
        {
            return Ok(AnswerPreview { context, request: Some(request) });
        }
        let context = self.context_at(caller, node, ContextQuery { actor, accepts_images, ..query }).await?;
        Ok(AnswerPreview { context, request: None })
    }

    /// Runs the steps before the answer, if all of them only read; the last context they made, and their outputs.
    async fn read_ahead(
        &self,
        caller: &Caller,
        rehearsal: &Rehearsal,
        answer: &AnswerContext,
        query: &ContextQuery,
    ) -> Result<Option<(ShownContext, BTreeMap<String, Value>)>, EngineError> {
        let Some(answering) = rehearsal.answering else { return Ok(None) };
        let (plan, mut outputs, mut context) = (&rehearsal.process.plan, BTreeMap::new(), None);
        for (at, step) in plan.steps()[..answering].iter().enumerate() {
            let Some(ready) = rehearsal.tools[at].as_ref().filter(|ready| only_reads(ready)) else { return Ok(None) };
            let scope = Scope { context: &rehearsal.values, outputs: &outputs, error: None };
            let output = match (plan.condition(at, &scope), plan.inputs(at, &scope)) {
                (Ok(false), _) => Value::Null,
                (Ok(true), Ok(inputs)) => {
                    let inputs = ready.tool.entry.with_defaults(inputs);
                    let Operation::McpTool(call) = &ready.tool.entry.operation else { return Ok(None) };
                    if call.tool == abilities::CONTEXT {
                        let Ok(arguments) = call.render(&inputs) else { return Ok(None) };
                        let shown = abilities::context_by(self, caller, &arguments, answer, query.clone()).await?;
                        context.insert(shown).to_output()
                    } else {
                        match abilities::dispatch(self, caller.user, call, &inputs, answer).await {
                            Ok(output) => output,
                            Err(_) => return Ok(None),
                        }
                    }
                }
                _ => return Ok(None),
            };
            outputs.insert(step.definition.output.variable.clone(), output);
        }
        Ok(context.map(|context| (context, outputs)))
    }

    /// The request of the answering step.
    async fn request_of(&self, rehearsal: &Rehearsal, outputs: &BTreeMap<String, Value>) -> Option<ChatRequest> {
        let answering = rehearsal.answering?;
        let ready = rehearsal.tools.get(answering)?.as_ref()?;
        let scope = Scope { context: &rehearsal.values, outputs, error: None };
        let inputs = rehearsal.process.plan.inputs(answering, &scope).ok()?;
        let inputs = ready.tool.entry.with_defaults(inputs);
        let Operation::LlmCall(call) = &ready.tool.entry.operation else { return None };
        let images = Arc::new(self.images_of_call(ready, &inputs).await);
        let budget = rehearsal.process.plan.steps()[answering].token_budget;
        let extras = Extras {
            images,
            offers: rehearsal.offers.clone(),
            max_tokens: budget.and_then(|tokens| u32::try_from(tokens).ok()),
            actor: rehearsal.actor.clone(),
            ..Extras::default()
        };
        calls::chat_request(&ready.tool.entry, call, &inputs, &extras).ok()
    }
}

fn rehearse(
    engine: &Engine,
    tx: &mut Tx<'_>,
    user: UserId,
    process: RecordId,
    node: NodeId,
) -> Result<Rehearsal, StoreError> {
    let viewer = Viewer::User(user);
    let process = engine.parts().plans.own(tx, &viewer, process)?;
    let conversation = tx.node(&viewer, node)?.conversation;
    let values = known_values(tx, &viewer, &process.process, conversation, Some(node))?;
    let answering = answering_step(engine, tx, user, &process)?;
    let accepts_images = answering.as_ref().is_some_and(|(_, base)| accepts_images(base));
    let answering = answering.map(|(at, _)| at);
    let (mut tools, mut offers, mut actor) = (Vec::new(), Vec::new(), None);
    if let Some(at) = answering {
        for step in &process.plan.steps()[..=at] {
            tools.push(tool_of(engine, tx, user, step)?);
        }
        let offered = &process.plan.steps()[at].definition.offers;
        let offered = Mover::new(engine, tx, &Hand::default()).offered(user, offered)?;
        offers.extend(offered.iter().map(Offered::definition));
        if let Some(ready) = tools.last().and_then(Option::as_ref).filter(|_| gives_answer(&process.plan, at)) {
            actor = AnsweringActor::of_call(tx, &viewer, ready)?;
        }
    }
    Ok(Rehearsal { process, values, answering, tools, offers, accepts_images, actor })
}

/// The tool of a step, if it can be called.
fn tool_of(engine: &Engine, tx: &mut Tx<'_>, user: UserId, step: &PlannedStep) -> Result<Option<Ready>, StoreError> {
    let Target::Tool(tool) = &step.definition.target else { return Ok(None) };
    let base = Base::read(tx, &engine.parts().entries, user, step.definition.naming(*tool));
    match base.and_then(|base| base.map(|base| ready_on(base, user, tx.now(), Purpose::Trial)).transpose()) {
        Ok(ready) => Ok(ready),
        Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The step whose model answers: the one that is passed on as it comes, else the last that asks a model.
fn answering_step(
    engine: &Engine,
    tx: &mut Tx<'_>,
    user: UserId,
    process: &ReadyProcess,
) -> Result<Option<(usize, Base)>, StoreError> {
    let steps = process.plan.steps();
    let main = steps.iter().take_while(|step| step.stands_in_for.is_none()).count();
    for at in process.plan.streamed_step().into_iter().chain((0..main).rev()) {
        let step = &steps[at].definition;
        let Target::Tool(tool) = &step.target else { continue };
        let base = match Base::read(tx, &engine.parts().entries, user, step.naming(*tool)) {
            Ok(base) => base,
            Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => None,
            Err(error) => return Err(error),
        };
        if let Some(base) = base.filter(|base| matches!(base.tool.entry.operation, Operation::LlmCall(_))) {
            return Ok(Some((at, base)));
        }
    }
    Ok(None)
}

fn accepts_images(base: &Base) -> bool {
    base.service.as_ref().is_some_and(|service| calls::accepts_images(&base.tool.entry, &service.entry))
}

fn only_reads(ready: &Ready) -> bool {
    let is_own = ready.service.entry.builtin == Some(Builtin::Abilities);
    is_own && matches!(&ready.tool.entry.operation, Operation::McpTool(call) if is_reading_ability(&call.tool))
}

impl Mover<'_, '_> {
    /// The answer a run works on: what feeds it, and whether its model accepts images.
    pub(super) fn answer_context(&mut self, run: RunId) -> Result<AnswerContext, StoreError> {
        let (target, _) = self.target_of(run)?;
        let loaded = self.load(run)?;
        let (owner, process, is_outermost) = (loaded.row.owner, Arc::clone(&loaded.ready), loaded.row.target.is_some());
        let answering = answering_step(self.engine, self.tx, owner, &process)?;
        let answers = |at: usize| is_outermost && gives_answer(&process.plan, at);
        let actor = match answering.as_ref().filter(|(at, _)| answers(*at)) {
            Some((at, _)) => {
                let ready = tool_of(self.engine, self.tx, owner, &process.plan.steps()[*at])?;
                ready.map(|ready| AnsweringActor::of_call(self.tx, &Viewer::User(owner), &ready)).transpose()?.flatten()
            }
            None => None,
        };
        let sources = match target {
            Some(target) => sources_of(self.tx, &Viewer::User(owner), target.node_id)?,
            None => Vec::new(),
        };
        Ok(AnswerContext {
            answered: target.and_then(|target| target.parent_id),
            sources,
            accepts_images: answering.is_some_and(|(_, base)| accepts_images(&base)),
            actor: actor.map(|actor| actor.id),
        })
    }
}
