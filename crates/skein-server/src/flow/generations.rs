//! Generations over HTTP.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::flow::tool_call::{CallRequester, CallStatus};
use skein_core::{ExecutionId, ItemId, NodeId, RecordId};
use skein_engine::Engine;
use skein_engine::flow::{CallSummary, GENERATIONS_MAX, Generation};
use utoipa::{IntoParams, ToSchema};

use crate::flow::executions::SpendingView;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::Parameters;
use crate::http::respond::json::Json;

/// Which nodes are meant.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct GenerationParameters {
    /// Up to 100 nodes, with commas between them.
    #[param(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    node_ids: String,
}

/// How the nodes that were asked about were made.
#[derive(Serialize, ToSchema)]
pub(crate) struct GenerationsView {
    /// In the order they were asked for; nodes that no run made are left out.
    data: Vec<GenerationView>,
}

/// How a node was made, or is being made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerationView {
    #[schema(value_type = String)]
    node_id: NodeId,
    #[schema(value_type = String, example = "run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    execution_id: ExecutionId,
    /// What models read for it; null where that is not known.
    input_tokens: Option<u64>,
    /// What models wrote for it.
    output_tokens: Option<u64>,
    /// What its calls and those of the runs it started cost; null where no cost is known.
    cost: Option<SpendingView>,
    /// In the order they were made.
    calls: Vec<MadeCallView>,
}

/// One call, in a line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeCallView {
    /// An item of type `ToolCall`.
    #[schema(value_type = String)]
    id: ItemId,
    #[schema(value_type = String)]
    execution_id: ExecutionId,
    /// Null once the call was destroyed.
    #[schema(value_type = Option<String>)]
    tool_id: Option<RecordId>,
    /// How the tool is called now.
    tool_name: Option<String>,
    /// `rest_call`, `llm_call`, `mcp_tool` or `graph_query`.
    #[schema(example = "rest_call")]
    operation: Option<String>,
    /// person, model, process or external.
    #[schema(value_type = Option<String>, example = "model")]
    caller: Option<CallRequester>,
    /// Whether it is an ability of Skein itself.
    is_own: bool,
    /// success, error, cancelled or unknown; null while it is under way.
    #[schema(value_type = Option<String>, example = "success")]
    status: Option<CallStatus>,
    latency_ms: Option<i64>,
    /// What went wrong.
    error: Option<String>,
    /// The model that answered, as its provider names it; null for other calls.
    #[schema(example = "claude-sonnet-4-5")]
    model: Option<String>,
    /// How many tokens a model thought aloud before it answered; null where it did not.
    reasoning_tokens: Option<u64>,
    /// Whether these were reckoned from the length of what it thought, as its provider did not count them.
    reasoning_is_estimate: bool,
    /// The item that holds what a model answered, as it was received.
    #[schema(value_type = Option<String>)]
    raw_response_id: Option<ItemId>,
}

impl From<Generation> for GenerationView {
    fn from(made: Generation) -> Self {
        Self {
            node_id: made.node,
            execution_id: made.run,
            input_tokens: made.input_tokens,
            output_tokens: made.output_tokens,
            cost: made.spending.map(SpendingView::from),
            calls: made.calls.into_iter().map(MadeCallView::from).collect(),
        }
    }
}

impl From<CallSummary> for MadeCallView {
    fn from(call: CallSummary) -> Self {
        Self {
            id: call.id,
            execution_id: call.run,
            tool_id: call.tool,
            tool_name: call.name,
            operation: call.operation,
            caller: call.asker,
            is_own: call.is_own,
            status: call.status,
            latency_ms: call.latency_ms,
            error: call.error,
            model: call.model,
            reasoning_tokens: call.reasoning.map(|reasoning| reasoning.tokens),
            reasoning_is_estimate: call.reasoning.is_some_and(|reasoning| reasoning.is_estimate),
            raw_response_id: call.raw_response,
        }
    }
}

/// How nodes were made: by which run, with how many tokens, at what cost, by which calls.
#[utoipa::path(get, path = "/generations", tag = "processes", params(GenerationParameters),
    responses((status = 200, body = GenerationsView)))]
pub(crate) async fn list_generations(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(GenerationParameters { node_ids }): Parameters<GenerationParameters>,
) -> Result<Json<GenerationsView>, ApiError> {
    let nodes = node_ids.split(',').map(str::parse::<NodeId>).collect::<Result<Vec<_>, _>>();
    let nodes = nodes.map_err(|error| ApiError::bad_request("invalid_query", format!("nodeIds: {error}")))?;
    if nodes.len() > GENERATIONS_MAX {
        let problem = format!("nodeIds names {} nodes; ask about {GENERATIONS_MAX} at most", nodes.len());
        return Err(ApiError::bad_request("invalid_query", problem));
    }
    let generations = engine.generations(&caller, nodes).await?;
    Ok(Json(GenerationsView { data: generations.into_iter().map(GenerationView::from).collect() }))
}
