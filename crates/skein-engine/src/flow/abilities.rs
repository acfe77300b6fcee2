//! What Skein itself can do for a process: the tools of its own service, carried out here under the caller's identity.

use serde_json::{Map, Value, json};
use skein_core::catalog::operation::McpCall;
use skein_core::{NodeId, RecordId, UserId};

use crate::account::Caller;
use crate::catalog::seed_id;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::ContextQuery;

/// The ability to run another process; it is never called, a run is started in its place.
pub(super) const RUN_PROCESS: &str = "run_process";

/// Whether a service is Skein's own.
pub(super) fn is_own(service: RecordId) -> bool {
    service == seed_id("service", "skein")
}

/// Whether an ability changes nothing.
pub(super) fn only_reads(name: &str) -> bool {
    matches!(name, "echo" | "conversation_context")
}

/// Carries an ability out; the error is what whoever asked is told.
pub(super) async fn dispatch(
    engine: &Engine,
    user: UserId,
    call: &McpCall,
    inputs: &Map<String, Value>,
) -> Result<Value, Value> {
    let told = |code: &str, message: String| json!({ "code": code, "message": message, "retryable": false });
    let arguments = call.render(inputs).map_err(|violation| told("rule_violation", violation.to_string()))?;
    let caller = Caller::acting_as(user);
    let given = match call.tool.as_str() {
        "echo" => Ok(Value::Object(arguments)),
        "conversation_context" => context(engine, &caller, &arguments).await,
        other => return Err(told("not_supported", format!("Skein has no ability called {other}"))),
    };
    given.map_err(|error| told("ability_failed", error.to_string()))
}

/// What a model is to be shown at a node.
async fn context(engine: &Engine, caller: &Caller, arguments: &Map<String, Value>) -> Result<Value, EngineError> {
    let node = node_named(arguments)?;
    let budget = arguments.get("budget").and_then(Value::as_u64).and_then(|budget| usize::try_from(budget).ok());
    let query = ContextQuery { budget, ..ContextQuery::default() };
    let shown = engine.context_at(caller, node, query).await?;
    Ok(shown.to_output())
}

fn node_named(arguments: &Map<String, Value>) -> Result<NodeId, EngineError> {
    let named = arguments.get("nodeId").and_then(Value::as_str).and_then(|id| id.parse().ok());
    named.ok_or_else(|| skein_store::StoreError::NotFound("nodeId".to_owned()).into())
}
