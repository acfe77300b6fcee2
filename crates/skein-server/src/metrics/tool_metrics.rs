//! Metrics of tools over HTTP.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::{ExecutionId, Millis, RecordId};
use skein_engine::Engine;
use skein_engine::flow::{LastFailure, TOOL_METRICS_MAX, ToolMetrics};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::Parameters;
use crate::http::respond::json::Json;

/// Which tools are meant.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ToolMetricParameters {
    /// Up to 100 tools, with commas between them.
    #[param(example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    tool_ids: String,
}

/// How the tools that were asked about did.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolMetricsListing {
    /// In the order they were asked for; tools that you cannot see are left out.
    data: Vec<ToolMetricsView>,
}

/// How one tool did in your own runs: in the last 500 of your calls of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolMetricsView {
    #[schema(value_type = String)]
    tool_id: RecordId,
    #[schema(example = 40)]
    calls: usize,
    /// Those that did not succeed.
    #[schema(example = 1)]
    failures: usize,
    /// Of 100 calls, how many succeeded; null where there was none.
    #[schema(example = 97.5)]
    success_percent: Option<f64>,
    /// Half of the calls took no longer.
    #[schema(example = 120.0)]
    p50_ms: Option<f64>,
    /// Nineteen of twenty took no longer.
    #[schema(example = 480.0)]
    p95_ms: Option<f64>,
    /// When the earliest of them ended.
    #[schema(value_type = Option<String>)]
    since: Option<Millis>,
    #[schema(value_type = Option<String>)]
    last_call_at: Option<Millis>,
    /// The last one that did not succeed.
    last_failure: Option<LastFailureView>,
}

/// A call that did not succeed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LastFailureView {
    #[schema(value_type = String)]
    at: Millis,
    #[schema(value_type = Option<String>, example = "run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    execution_id: Option<ExecutionId>,
    /// What went wrong; null once that was destroyed.
    message: Option<String>,
}

impl From<ToolMetrics> for ToolMetricsView {
    fn from(metrics: ToolMetrics) -> Self {
        let ToolMetrics { tool, calls, failures, latency, since, last_call_at, last_failure } = metrics;
        Self {
            tool_id: tool,
            calls,
            failures,
            success_percent: percent(calls.saturating_sub(failures), calls),
            p50_ms: latency.map(|latency| latency.p50_ms),
            p95_ms: latency.map(|latency| latency.p95_ms),
            since,
            last_call_at,
            last_failure: last_failure.map(LastFailureView::from),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred calls are far below 2^52")]
fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| (1000.0 * part as f64 / whole as f64).round() / 10.0)
}

impl From<LastFailure> for LastFailureView {
    fn from(failure: LastFailure) -> Self {
        Self { at: failure.at, execution_id: failure.run, message: failure.message }
    }
}

/// How tools did in your own runs lately: calls, success, how long they took, and what went wrong last.
#[utoipa::path(get, path = "/tools/metrics", tag = "catalogue", params(ToolMetricParameters),
    responses((status = 200, body = ToolMetricsListing)))]
pub(crate) async fn list_tool_metrics(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(ToolMetricParameters { tool_ids }): Parameters<ToolMetricParameters>,
) -> Result<Json<ToolMetricsListing>, ApiError> {
    let tools = tool_ids.split(',').map(str::parse::<RecordId>).collect::<Result<Vec<_>, _>>();
    let tools = tools.map_err(|error| ApiError::bad_request("invalid_query", format!("toolIds: {error}")))?;
    if tools.len() > TOOL_METRICS_MAX {
        let problem = format!("toolIds names {} tools; ask about {TOOL_METRICS_MAX} at most", tools.len());
        return Err(ApiError::bad_request("invalid_query", problem));
    }
    let metrics = engine.tool_metrics(&caller, tools).await?;
    Ok(Json(ToolMetricsListing { data: metrics.into_iter().map(ToolMetricsView::from).collect() }))
}
