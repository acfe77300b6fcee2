//! Shows what a process would send to its model for an answer, without sending it.
//!
//! Steps before the answer run for real where they only read Skein's own data, so that the preview and the request are made
//! by the same code. Where another step comes first, its output is not known, and there is no request to show.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use skein_connect::llm::{SentRequest, ToolDefinition};
use skein_core::catalog::operation::{McpCall, Operation};
use skein_core::catalog::service::Builtin;
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval_policy::is_reading_ability;
use skein_core::flow::plan::{PlannedStep, VariableScope};
use skein_core::flow::step::StepTarget;
use skein_core::tree::context::Strategy;
use skein_core::{ExecutionId, NodeId, RecordId, UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::answer::actor::{AnsweringActor, gives_answer};
use crate::flow::answer::request::{known_values, sources_of};
use crate::flow::execution::transaction::{ExecutionTransaction, WorkerSlot};
use crate::flow::process::offered_tools::ResolvedOffer;
use crate::flow::process::plan_cache::ReadyProcess;
use crate::tool_call::authorize::{AuthorizedCall, CallPurpose, ready_on};
use crate::tool_call::builtin_tools::{self, AnswerContext};
use crate::tool_call::dependencies::CallDependencies;
use crate::tool_call::execute::{self, Extras};
use crate::tree::{ContextQuery, ShownContext};

/// What would be sent for an answer.
#[derive(Debug, Clone)]
pub struct AnswerPreview {
    /// The context it is made of.
    pub context: ShownContext,
    /// The request, where it is known.
    pub request: Option<SentRequest>,
    /// Why an answer would not be asked for by exactly this request; nothing where it would.
    pub inexact: Option<Inexact>,
}

/// Why a preview is not exact.
#[derive(Debug, Clone, PartialEq)]
pub enum Inexact {
    /// No step asks a model.
    NoModel,
    /// No step makes a context window.
    NoContext,
    /// A step before the answer does more than read Skein's own data, so its output is not known.
    EarlierSteps,
    /// A step's tool cannot be called, its inputs cannot be made, or the answering step is left out by its condition.
    NotReached,
    /// The window was asked for with a budget or a strategy that a run does not have.
    WindowOptions,
    /// The call would end with this error, and nothing is sent.
    Refused(Value),
}

impl Inexact {
    /// A stable name for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoModel => "noModel",
            Self::NoContext => "noContext",
            Self::EarlierSteps => "earlierSteps",
            Self::NotReached => "notReached",
            Self::WindowOptions => "windowOptions",
            Self::Refused(_) => "refused",
        }
    }
}

/// The last context that the steps before an answer made, and their outputs.
type PreviewContext = (ShownContext, BTreeMap<String, Value>);

/// A process up to the step that answers, with the tools of its steps as far as they can be called.
struct ProcessPreview {
    process: Arc<ReadyProcess>,
    values: Map<String, Value>,
    /// The answering step, and the tools of the steps up to it.
    answering: Option<usize>,
    tools: Vec<Option<AuthorizedCall>>,
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
        let has_options = has_options_of_its_own(&query);
        let inexact = match self.read_ahead(caller, &rehearsal, &answer, &query).await? {
            Ok((context, outputs)) => match self.request_of(&rehearsal, &outputs).await {
                Ok(request) => {
                    let inexact = has_options.then_some(Inexact::WindowOptions);
                    return Ok(AnswerPreview { context, request: Some(request), inexact });
                }
                Err(inexact) => return Ok(AnswerPreview { context, request: None, inexact: Some(inexact) }),
            },
            Err(inexact) => inexact,
        };
        let context = self.context_at(caller, node, ContextQuery { actor, accepts_images, ..query }).await?;
        Ok(AnswerPreview { context, request: None, inexact: Some(inexact) })
    }

    /// Runs the steps before the answer, if all of them only read.
    async fn read_ahead(
        &self,
        caller: &Caller,
        rehearsal: &ProcessPreview,
        answer: &AnswerContext,
        query: &ContextQuery,
    ) -> Result<Result<PreviewContext, Inexact>, EngineError> {
        let Some(answering) = rehearsal.answering else { return Ok(Err(Inexact::NoModel)) };
        let (plan, mut outputs, mut context) = (&rehearsal.process.plan, BTreeMap::new(), None);
        for (at, step) in plan.steps()[..answering].iter().enumerate() {
            let call = match rehearsal.tools[at].as_ref() {
                Some(ready) => reading_call(ready),
                None if matches!(step.definition.target, StepTarget::Tool(_)) => return Ok(Err(Inexact::NotReached)),
                None => None,
            };
            let Some((tool, call)) = call else { return Ok(Err(Inexact::EarlierSteps)) };
            let scope = VariableScope { context: &rehearsal.values, outputs: &outputs, error: None };
            let output = match (plan.condition(at, &scope), plan.inputs(at, &scope)) {
                (Ok(false), _) => Value::Null,
                (Ok(true), Ok(inputs)) => {
                    let inputs = tool.with_defaults(inputs);
                    if call.tool == builtin_tools::CONTEXT {
                        let Ok(arguments) = call.render(&inputs) else { return Ok(Err(Inexact::NotReached)) };
                        let shown = builtin_tools::context_by(self, caller, &arguments, answer, query.clone()).await?;
                        context.insert(shown).to_output()
                    } else {
                        match builtin_tools::dispatch(self, caller.user, call, &inputs, answer).await {
                            Ok(output) => output,
                            Err(_) => return Ok(Err(Inexact::NotReached)),
                        }
                    }
                }
                _ => return Ok(Err(Inexact::NotReached)),
            };
            outputs.insert(step.definition.output.variable.clone(), output);
        }
        Ok(context.map(|context| (context, outputs)).ok_or(Inexact::NoContext))
    }

    /// The request of the answering step, by the function that makes the one that is sent.
    async fn request_of(
        &self,
        rehearsal: &ProcessPreview,
        outputs: &BTreeMap<String, Value>,
    ) -> Result<SentRequest, Inexact> {
        let answering = rehearsal.answering.ok_or(Inexact::NoModel)?;
        let ready = rehearsal.tools.get(answering).and_then(Option::as_ref).ok_or(Inexact::NotReached)?;
        let (plan, scope) =
            (&rehearsal.process.plan, VariableScope { context: &rehearsal.values, outputs, error: None });
        let is_asked = plan.condition(answering, &scope).unwrap_or(false);
        let inputs = plan.inputs(answering, &scope).ok().filter(|_| is_asked).ok_or(Inexact::NotReached)?;
        let inputs = ready.tool.entry.with_defaults(inputs);
        let Operation::LlmCall(call) = &ready.tool.entry.operation else { return Err(Inexact::NoModel) };
        let images = Arc::new(self.images_of_call(ready, &inputs).await);
        let budget = plan.steps()[answering].token_budget;
        let extras = Extras {
            images,
            offers: rehearsal.offers.clone(),
            max_tokens: budget.and_then(|tokens| u32::try_from(tokens).ok()),
            actor: rehearsal.actor.clone(),
            ..Extras::default()
        };
        let (tool, service) = (&ready.tool.entry, &ready.service.entry);
        let is_streamed = plan.streamed_step() == Some(answering);
        execute::sent_request(tool, service, call, &inputs, &extras, is_streamed).map_err(Inexact::Refused)
    }
}

/// Whether a window is asked for that a run would not make: runs take the conversation's budget and leave out the middle.
fn has_options_of_its_own(query: &ContextQuery) -> bool {
    query.budget.is_some() || query.strategy.is_some_and(|strategy| strategy != Strategy::TruncateMiddle)
}

fn rehearse(
    engine: &Engine,
    tx: &mut Tx<'_>,
    user: UserId,
    process: RecordId,
    node: NodeId,
) -> Result<ProcessPreview, StoreError> {
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
        let offered = ExecutionTransaction::new(engine, tx, &WorkerSlot::default()).offered(user, offered)?;
        offers.extend(offered.iter().map(ResolvedOffer::definition));
        if let Some(ready) = tools.last().and_then(Option::as_ref).filter(|_| gives_answer(&process.plan, at)) {
            actor = AnsweringActor::of_call(tx, &viewer, ready)?;
        }
    }
    Ok(ProcessPreview { process, values, answering, tools, offers, accepts_images, actor })
}

/// The tool of a step, if it can be called.
fn tool_of(
    engine: &Engine,
    tx: &mut Tx<'_>,
    user: UserId,
    step: &PlannedStep,
) -> Result<Option<AuthorizedCall>, StoreError> {
    let StepTarget::Tool(tool) = &step.definition.target else { return Ok(None) };
    let base = CallDependencies::read(tx, &engine.parts().entries, user, step.definition.naming(*tool));
    match base.and_then(|base| base.map(|base| ready_on(base, user, tx.now(), CallPurpose::Trial)).transpose()) {
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
) -> Result<Option<(usize, CallDependencies)>, StoreError> {
    let steps = process.plan.steps();
    let main = steps.iter().take_while(|step| step.stands_in_for.is_none()).count();
    for at in process.plan.streamed_step().into_iter().chain((0..main).rev()) {
        let step = &steps[at].definition;
        let StepTarget::Tool(tool) = &step.target else { continue };
        let base = match CallDependencies::read(tx, &engine.parts().entries, user, step.naming(*tool)) {
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

fn accepts_images(base: &CallDependencies) -> bool {
    base.service.as_ref().is_some_and(|service| execute::accepts_images(&base.tool.entry, &service.entry))
}

/// The tool of a step that only reads Skein's own data, and its call.
fn reading_call(ready: &AuthorizedCall) -> Option<(&Tool, &McpCall)> {
    let is_own = ready.service.entry.builtin == Some(Builtin::Abilities);
    match &ready.tool.entry.operation {
        Operation::McpTool(call) if is_own && is_reading_ability(&call.tool) => Some((&ready.tool.entry, call)),
        _ => None,
    }
}

impl ExecutionTransaction<'_, '_> {
    /// The answer a run works on: what feeds it, and whether its model accepts images.
    pub(crate) fn answer_context(&mut self, run: ExecutionId) -> Result<AnswerContext, StoreError> {
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
