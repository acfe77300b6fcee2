//! Runs of processes: begun, looked at, paused, cancelled, begun again, and heard while they speak.

use std::convert::Infallible;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures::{Stream, StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::input::Fault;
use skein_core::flow::execution::item_payload::Failure;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::{ConversationId, ExecutionId, ItemId, Millis, NodeId, RecordId, ReviewId};
use skein_engine::Engine;
use skein_engine::flow::{
    Branching, ExecutionRequest, ShownExecution, ShownStep, StreamEvent, StreamListener, TotalCost, TracedCall,
};
use skein_store::flow::{ExecutionFilter, ExecutionRow};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::listen::Peer;
use crate::http::mutation::{Answer, Mutated, Mutation, StartedExecution};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, read_page};

const LAST_EVENT_ID: &str = "last-event-id";

/// What a run is given.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schema(example = json!({ "initialContext": { "question": "How many herons?" } }))]
pub(crate) struct ExecuteBody {
    /// Values for what the process asks for.
    initial_context: Map<String, Value>,
    /// Among your own runs, higher comes first.
    priority: i64,
}

/// Whether a run is to be paused, or to go on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "paused": true }))]
pub(crate) struct PausedBody {
    paused: bool,
}

/// Where to begin again, and what to change before.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schema(example = json!({ "stepId": "answer", "outputs": { "found": ["grey heron"] } }))]
pub(crate) struct BranchBody {
    /// The step to begin at; the one that did not come out, unless it is named.
    step_id: Option<String>,
    /// In place of what earlier steps gave, by variable.
    outputs: Map<String, Value>,
    /// In place of what the run was given.
    initial_context: Option<Map<String, Value>>,
}

/// Which runs to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ExecutionParameters {
    /// running, completed, failed or cancelled.
    #[param(value_type = Option<String>)]
    status: Option<ExecutionStatus>,
    #[param(value_type = Option<String>)]
    process_id: Option<RecordId>,
    #[param(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// A run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionView {
    #[schema(value_type = String, example = "run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: ExecutionId,
    #[schema(value_type = String)]
    process_id: RecordId,
    /// The version of the process that is carried out, to the end.
    process_version: i64,
    process_name: String,
    /// running, completed, failed or cancelled.
    #[schema(value_type = String, example = "completed")]
    status: ExecutionStatus,
    initial_context: Map<String, Value>,
    /// Once it is completed.
    output: Option<Value>,
    /// Once it has failed: which step, what, and what to do.
    #[schema(value_type = Option<Object>)]
    error: Option<Failure>,
    /// The run whose step started this one.
    #[schema(value_type = Option<String>)]
    parent_id: Option<ExecutionId>,
    /// The number of that step, from 1.
    parent_step: Option<usize>,
    /// The run whose earlier outputs it took over.
    #[schema(value_type = Option<String>)]
    branched_from: Option<ExecutionId>,
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// The node it fills.
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
    /// The processes from the outermost run to this one.
    call_stack: Vec<String>,
    /// Tokens used, once it has ended.
    tokens: i64,
    #[schema(value_type = String)]
    started_at: Millis,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Millis>,
    /// Since when nothing of it is begun, while it is paused.
    #[schema(value_type = Option<String>)]
    paused_at: Option<Millis>,
}

impl From<ExecutionRow> for ExecutionView {
    fn from(row: ExecutionRow) -> Self {
        Self {
            id: row.id,
            process_id: row.process,
            process_version: row.process_version,
            process_name: row.process_name,
            status: row.status,
            initial_context: row.context,
            output: row.output,
            error: row.failure,
            parent_id: row.parent.map(|(run, _)| run),
            parent_step: row.parent.map(|(_, place)| place.step + 1),
            branched_from: row.branched_from,
            conversation_id: row.target.map(|target| target.conversation_id),
            node_id: row.target.map(|target| target.node_id),
            call_stack: row.stack,
            tokens: row.tokens,
            started_at: row.created_at,
            ended_at: row.ended_at,
            paused_at: row.paused_at,
        }
    }
}

/// A step of a run.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepView {
    id: String,
    /// waiting, calling, asking, running, conversing, replaced, unknown, done, skipped, failed or cancelled.
    #[schema(example = "done")]
    phase: &'static str,
    /// How many calls were asked for.
    attempts: u32,
    inputs: Map<String, Value>,
    output: Value,
    #[schema(value_type = Option<Object>)]
    error: Option<Fault>,
    tokens: u64,
    /// What its calls and the runs it started cost; nothing where no cost is known.
    cost: Option<SpendingView>,
    /// The last call made for it: an item of type `ToolCall`.
    #[schema(value_type = Option<String>)]
    call_id: Option<ItemId>,
    /// What a model answered, as it was received.
    #[schema(value_type = Option<String>)]
    raw_response_id: Option<ItemId>,
    #[schema(value_type = Option<String>)]
    started_at: Option<Millis>,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Millis>,
}

impl StepView {
    fn of(shown: ShownStep, cost: Option<TotalCost>) -> Self {
        let state = shown.row.state;
        Self {
            id: shown.id,
            phase: state.phase.as_str(),
            attempts: state.attempt,
            inputs: state.inputs,
            output: state.output,
            error: state.fault,
            tokens: state.tokens,
            cost: cost.map(SpendingView::from),
            call_id: shown.row.call,
            raw_response_id: shown.row.raw,
            started_at: state.began_at,
            ended_at: state.ended_at,
        }
    }
}

/// What is known of the cost of something.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpendingView {
    /// For each payer and currency together.
    #[schema(value_type = Vec<CostView>)]
    owed: CostTotals,
    /// Whether every call that somebody's secret was used for has a known cost.
    is_complete: bool,
}

/// What somebody owes: whoever's secret was used, else whoever ran it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::flow::cost::Cost")]
pub(crate) struct CostView {
    payer_id: String,
    #[schema(example = "USD")]
    currency: String,
    /// A decimal number.
    #[schema(example = "0.00125")]
    amount: String,
}

impl From<TotalCost> for SpendingView {
    fn from(TotalCost { owed, is_complete }: TotalCost) -> Self {
        Self { owed, is_complete }
    }
}

/// A call a run made: what it says of itself, what led to it, and what came of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallView {
    /// An item of type `ToolCall`.
    #[schema(value_type = String)]
    id: ItemId,
    /// The step it was made for.
    step_id: Option<String>,
    #[schema(value_type = String)]
    requested_at: Millis,
    /// What led to it: a node, or another call.
    #[schema(value_type = Option<String>)]
    caused_by: Option<ItemId>,
    /// The other calls it builds upon.
    #[schema(value_type = Vec<String>)]
    derived_from: Vec<ItemId>,
    /// Tool, inputs, who asked, why, in which order, for whom, and who pays; empty once it was destroyed.
    call: Map<String, Value>,
    /// Nothing while it is under way.
    result: Option<ResultView>,
}

/// What came of a call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultView {
    /// An item of type `ToolResult`.
    #[schema(value_type = String)]
    id: ItemId,
    #[schema(value_type = String)]
    returned_at: Millis,
    /// Status, output or error, how long it took, and what it used; empty once it was destroyed.
    result: Map<String, Value>,
}

impl CallView {
    fn of(traced: TracedCall, steps: &[ShownStep]) -> Self {
        let result = traced.result.map(|came| ResultView { id: came.id, returned_at: came.at, result: came.said });
        Self {
            id: traced.id,
            step_id: steps.get(traced.step).map(|step| step.id.clone()),
            requested_at: traced.at,
            caused_by: traced.caused_by,
            derived_from: traced.derived_from,
            call: traced.said,
            result,
        }
    }
}

/// Something that happened in a run or in one it started.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MomentView {
    #[schema(value_type = String)]
    at: Millis,
    /// began, called, returned, asked, decided or ended.
    #[schema(example = "called")]
    what: &'static str,
    #[schema(value_type = String)]
    execution_id: ExecutionId,
    step_id: Option<String>,
    /// The call, its result, or the question.
    thing_id: Option<String>,
    /// How a call, a question or the run came out.
    status: Option<String>,
}

/// Everything that happened, in the order it did.
fn timeline(shown: &ShownExecution) -> Vec<MomentView> {
    let mut moments = Vec::new();
    note(shown, &mut moments);
    moments.sort_by_key(|moment| moment.at);
    moments
}

fn note(shown: &ShownExecution, moments: &mut Vec<MomentView>) {
    let row = &shown.row;
    let moment = |at, what| MomentView { at, what, execution_id: row.id, step_id: None, thing_id: None, status: None };
    let step_id = |step: usize| shown.steps.get(step).map(|step| step.id.clone());
    moments.push(moment(row.created_at, "began"));
    for call in &shown.calls {
        let called = moment(call.at, "called");
        moments.push(MomentView { step_id: step_id(call.step), thing_id: Some(call.id.to_string()), ..called });
        if let Some(came) = &call.result {
            let status = came.said.get("status").and_then(Value::as_str).map(str::to_owned);
            let (thing_id, step_id) = (Some(came.id.to_string()), step_id(call.step));
            moments.push(MomentView { step_id, thing_id, status, ..moment(came.at, "returned") });
        }
    }
    for review in &shown.reviews {
        let (thing_id, step_id) = (Some(review.id.to_string()), step_id(review.place.step));
        let asked = moment(review.created_at, "asked");
        moments.push(MomentView { step_id: step_id.clone(), thing_id: thing_id.clone(), ..asked });
        if let Some(at) = review.ended_at {
            let status = Some(review.status.as_str().to_owned());
            moments.push(MomentView { step_id, thing_id, status, ..moment(at, "decided") });
        }
    }
    shown.children.iter().for_each(|child| note(child, moments));
    if let Some(at) = row.ended_at {
        moments.push(MomentView { status: Some(row.status.as_str().to_owned()), ..moment(at, "ended") });
    }
}

/// A run with its steps, its calls, its questions, and the runs it started.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WholeExecutionView {
    #[serde(flatten)]
    execution: ExecutionView,
    /// What its calls and those of the runs it started cost; nothing where no cost is known.
    cost: Option<SpendingView>,
    steps: Vec<StepView>,
    #[schema(value_type = Vec<String>)]
    review_ids: Vec<ReviewId>,
    /// Every call of its own, in the order they were made.
    calls: Vec<CallView>,
    /// Of the outermost run: all that happened in it and in those it started, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    timeline: Vec<MomentView>,
    #[schema(no_recursion)]
    children: Vec<WholeExecutionView>,
}

impl From<ShownExecution> for WholeExecutionView {
    fn from(shown: ShownExecution) -> Self {
        let timeline = timeline(&shown);
        Self { timeline, ..Self::part(shown) }
    }
}

impl WholeExecutionView {
    fn part(shown: ShownExecution) -> Self {
        let cost = shown.spending().map(SpendingView::from);
        let costs: Vec<Option<TotalCost>> = shown.steps.iter().map(|step| shown.spending_of(step.row.step)).collect();
        let calls = shown.calls.into_iter().map(|call| CallView::of(call, &shown.steps)).collect();
        let steps = shown.steps.into_iter().zip(costs).map(|(step, cost)| StepView::of(step, cost)).collect();
        Self {
            cost,
            calls,
            timeline: Vec::new(),
            execution: shown.row.into(),
            steps,
            review_ids: shown.reviews.iter().map(|review| review.id).collect(),
            children: shown.children.into_iter().map(Self::part).collect(),
        }
    }
}

/// Run a process; poll the operation, or listen to the run's stream.
#[utoipa::path(post, path = "/processes/{id}/execute", tag = "processes", params(("id" = String, Path)),
    request_body = ExecuteBody, responses((status = 202, body = StartedExecution)))]
pub(crate) async fn execute_process(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<StartedExecution, ApiError> {
    let ExecuteBody { initial_context, priority } = mutation.body_if_any().await?;
    let new = ExecutionRequest { context: initial_context, priority };
    let begun = engine.execute(&mutation.caller, mutation.request, id, new).await?;
    Ok(StartedExecution::of(&begun))
}

/// Your runs, newest first.
#[utoipa::path(get, path = "/executions", tag = "processes", params(ExecutionParameters),
    responses((status = 200, body = Listing<ExecutionView>)))]
pub(crate) async fn list_executions(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ExecutionParameters>,
) -> Result<Json<Listing<ExecutionView>>, ApiError> {
    let (before, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let ExecutionParameters { status, process_id: process, conversation_id: conversation, .. } = parameters;
    let page = engine.runs(&caller, ExecutionFilter { status, process, conversation }, before, limit).await?;
    Ok(Json(Listing::of(page, limit, ExecutionView::from)))
}

/// A run with everything that belongs to it.
#[utoipa::path(get, path = "/executions/{id}", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = WholeExecutionView)))]
pub(crate) async fn read_execution(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ExecutionId>,
) -> Result<Json<WholeExecutionView>, ApiError> {
    Ok(Json(engine.run(&caller, id).await?.into()))
}

/// Cancel a run: nothing more is begun, and what is under way is broken off.
#[utoipa::path(post, path = "/executions/{id}/cancel", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<WholeExecutionView>)))]
pub(crate) async fn cancel_execution(
    State(engine): State<Engine>,
    PathId(id): PathId<ExecutionId>,
    mutation: Mutation,
) -> Result<Answer<WholeExecutionView>, ApiError> {
    mutation.no_body().await?;
    let cancelled = engine.cancel_run(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(cancelled.map(WholeExecutionView::from)))
}

/// Pause a run with all that it started, or let it go on. While it is paused nothing more is called; what is under way ends, and
/// people can still decide.
#[utoipa::path(put, path = "/executions/{id}/paused", tag = "processes", params(("id" = String, Path)),
    request_body = PausedBody, responses((status = 200, body = Mutated<WholeExecutionView>)))]
pub(crate) async fn pause_execution(
    State(engine): State<Engine>,
    PathId(id): PathId<ExecutionId>,
    mutation: Mutation,
) -> Result<Answer<WholeExecutionView>, ApiError> {
    let PausedBody { paused } = mutation.body().await?;
    let changed = engine.pause_run(&mutation.caller, mutation.request, id, paused).await?;
    Ok(Answer::done(changed.map(WholeExecutionView::from)))
}

/// Begin again where a run failed or was cancelled; what its earlier steps gave is kept.
#[utoipa::path(post, path = "/executions/{id}/resume", tag = "processes", params(("id" = String, Path)),
    responses((status = 202, body = StartedExecution)))]
pub(crate) async fn resume_execution(
    State(engine): State<Engine>,
    PathId(id): PathId<ExecutionId>,
    mutation: Mutation,
) -> Result<StartedExecution, ApiError> {
    mutation.no_body().await?;
    let begun = engine.branch_run(&mutation.caller, mutation.request, id, Branching::default()).await?;
    Ok(StartedExecution::of(&begun))
}

/// Begin again at any step of a run, with other values where you give them.
#[utoipa::path(post, path = "/executions/{id}/branch", tag = "processes", params(("id" = String, Path)),
    request_body = BranchBody, responses((status = 202, body = StartedExecution)))]
pub(crate) async fn branch_execution(
    State(engine): State<Engine>,
    PathId(id): PathId<ExecutionId>,
    mutation: Mutation,
) -> Result<StartedExecution, ApiError> {
    let BranchBody { step_id, outputs, initial_context } = mutation.body_if_any().await?;
    let branching = Branching { step: step_id, outputs, context: initial_context };
    let begun = engine.branch_run(&mutation.caller, mutation.request, id, branching).await?;
    Ok(StartedExecution::of(&begun))
}

/// Where to go on listening.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamParameters {
    /// The last piece heard, for clients that cannot send `Last-Event-ID`. Default 0: all pieces.
    #[param(value_type = Option<u32>, minimum = 0)]
    after: Option<String>,
}

/// What a model says for a run, as it says it: `text`, `reset` when it begins anew, and `end`.
#[utoipa::path(get, path = "/executions/{id}/stream", tag = "processes",
    params(("id" = String, Path), StreamParameters,
        ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last piece heard")),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream_execution(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<StreamParameters>,
    PathId(id): PathId<ExecutionId>,
    visitor: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>, ApiError> {
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let after = last.or(parameters.after).map_or(Some(0), |text| text.parse().ok().filter(|after| *after >= 0));
    let after = after.ok_or_else(|| {
        let message = "after: send the number of the last piece you heard, from 1, or 0 for all of them";
        ApiError::bad_request("invalid_query", message).with_detail("field", "after")
    })?;
    let listening = engine.listen(&caller, id, after).await?;
    let pieces = stream::unfold(Some(listening), hear).map(Ok);
    // A stream must not keep a server that stops.
    let pieces = pieces.take_until(async move {
        match visitor.and_then(|Extension(visitor)| visitor.stopping()) {
            Some(mut stopping) => stopping.begun().await,
            None => std::future::pending().await,
        }
    });
    Ok(Sse::new(pieces).keep_alive(KeepAlive::default()))
}

/// The next event, and who goes on listening: nobody after the end.
async fn hear(listening: Option<StreamListener>) -> Option<(SseEvent, Option<StreamListener>)> {
    let mut listening = listening?;
    let (event, data, goes_on) = match listening.next().await.ok()? {
        StreamEvent::Piece(piece) => {
            let name = if piece.is_reset { "reset" } else { "text" };
            (SseEvent::default().id(piece.number.to_string()).event(name), json!({ "text": piece.text }), true)
        }
        StreamEvent::End(status) => (SseEvent::default().event("end"), json!({ "status": status }), false),
    };
    let event = event.json_data(data).expect("pieces are plain JSON");
    Some((event, Some(listening).filter(|_| goes_on)))
}
