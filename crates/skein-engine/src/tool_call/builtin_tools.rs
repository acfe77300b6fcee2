//! Executes the built-in tools of Skein under the caller's identity.

use serde_json::{Map, Value, json};
use skein_core::catalog::operation::McpCall;
use skein_core::memory::recalled_text::RecalledText;
use skein_core::tree::node::Source;
use skein_core::{NodeId, RecordId, UserId};

use crate::account::Caller;
use crate::catalog::seed_id;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::RecallQuery;
use crate::tree::{ContextQuery, ShownContext};

/// The ability to run another process; it is never called, a run is started in its place.
pub(crate) const RUN_PROCESS: &str = "run_process";

/// The ability that makes the messages a model is sent.
pub(crate) const CONTEXT: &str = "conversation_context";

/// How many nodes a search tells where it is not said.
const FOUND_USUAL: usize = 5;
const FOUND_MAX: usize = 100;

/// Whether a service is Skein's own.
pub(crate) fn is_own(service: RecordId) -> bool {
    service == seed_id("service", "skein")
}

/// The answer a run works on, as far as its context is concerned.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerContext {
    /// The node that is answered.
    pub(crate) answered: Option<NodeId>,
    /// What feeds the answer beside that node.
    pub(crate) sources: Vec<Source>,
    /// Whether the model that answers accepts images.
    pub(crate) accepts_images: bool,
    /// The actor that answers: its system prompt is part of the context.
    pub(crate) actor: Option<RecordId>,
}

/// Carries an ability out; the error is what whoever asked is told.
pub(crate) async fn dispatch(
    engine: &Engine,
    user: UserId,
    call: &McpCall,
    inputs: &Map<String, Value>,
    answer: &AnswerContext,
) -> Result<Value, Value> {
    let told = |code: &str, message: String| json!({ "code": code, "message": message, "retryable": false });
    let arguments = call.render(inputs).map_err(|violation| told("rule_violation", violation.to_string()))?;
    let caller = Caller::acting_as(user);
    let given = match call.tool.as_str() {
        "echo" => Ok(Value::Object(arguments)),
        CONTEXT => context(engine, &caller, &arguments, answer).await.map(|shown| shown.to_output()),
        "search" => search(engine, &caller, &arguments).await,
        RUN_PROCESS => {
            let message = "the tool stands in front of a process: it is tried by running that process";
            return Err(told("not_supported", message.to_owned()));
        }
        other => return Err(told("not_supported", format!("Skein has no ability called {other}"))),
    };
    given.map_err(|error| told("ability_failed", error.to_string()))
}

/// What a model is to be shown at a node, as an answer's context.
async fn context(
    engine: &Engine,
    caller: &Caller,
    arguments: &Map<String, Value>,
    answer: &AnswerContext,
) -> Result<ShownContext, EngineError> {
    context_by(engine, caller, arguments, answer, ContextQuery::default()).await
}

/// The same, where somebody asks for another budget or strategy. Sources of the answer count at the node it answers.
pub(crate) async fn context_by(
    engine: &Engine,
    caller: &Caller,
    arguments: &Map<String, Value>,
    answer: &AnswerContext,
    asked: ContextQuery,
) -> Result<ShownContext, EngineError> {
    let node = node_named(arguments)?;
    let budget = arguments.get("budget").and_then(Value::as_u64).and_then(|budget| usize::try_from(budget).ok());
    let sources = if answer.answered == Some(node) { answer.sources.clone() } else { Vec::new() };
    let (budget, actor) = (asked.budget.or(budget), answer.actor.or(asked.actor));
    let query = ContextQuery { budget, sources, actor, accepts_images: answer.accepts_images, ..asked };
    engine.context_with(caller, node, query, remembered(arguments.get("memory"))).await
}

/// What was found elsewhere, as a model is shown it: fenced, so that it is told apart from what it is asked, and with
/// where it stands.
fn remembered(found: Option<&Value>) -> Vec<String> {
    let part = |found: &Value| {
        let text = found["text"].as_str()?;
        let source = ["conversationId", "nodeId", "episodeId", "speaker", "createdAt"];
        let source = source.into_iter().filter_map(|name| Some((name.to_owned(), found[name].as_str()?.to_owned())));
        Some(RecalledText { source: source.collect(), text: text.to_owned() }.shown())
    };
    found.and_then(Value::as_array).into_iter().flatten().filter_map(part).collect()
}

/// Searches what was said and is visible from a node.
async fn search(engine: &Engine, caller: &Caller, arguments: &Map<String, Value>) -> Result<Value, EngineError> {
    let number =
        |name: &str| arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let query = RecallQuery {
        text: arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        node: arguments.get("nodeId").filter(|node| !node.is_null()).map(|_| node_named(arguments)).transpose()?,
        elsewhere: arguments.get("elsewhere").and_then(Value::as_bool).unwrap_or(false),
        limit: number("limit").unwrap_or(FOUND_USUAL).clamp(1, FOUND_MAX),
        ..RecallQuery::default()
    };
    let recalled = engine.recall_now(caller, query).await?;
    let found = recalled.page.rows.into_iter().map(|found| {
        let place = found.episode.place;
        json!({ "episodeId": found.episode.id, "nodeId": place.map(|place| place.node),
            "conversationId": place.map(|place| place.conversation), "speaker": found.speaker,
            "createdAt": found.episode.valid_at, "text": found.snippet.text, "words": found.words })
    });
    Ok(json!({ "found": found.collect::<Vec<_>>() }))
}

fn node_named(arguments: &Map<String, Value>) -> Result<NodeId, EngineError> {
    let named = arguments.get("nodeId").and_then(Value::as_str).and_then(|id| id.parse().ok());
    named.ok_or_else(|| skein_store::StoreError::NotFound("nodeId".to_owned()).into())
}
