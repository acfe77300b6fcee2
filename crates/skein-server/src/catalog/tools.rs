//! Tools over HTTP, and trying them out.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::RecordId;
use skein_core::catalog::secret::SecretBinding;
use skein_core::catalog::sharing::ImpactWarning;
use skein_core::catalog::tool::{Tool, ToolChange, ToolDraft};
use skein_engine::account::Caller;
use skein_engine::catalog::{EntryQuery, HealthStatus, StoredEntry};
use skein_engine::{CommittedChange, Engine};

use utoipa::{IntoParams, ToSchema};

use crate::catalog::{CatalogueParameters, EntryHead, ShareBody, VitalView, WarningView};
use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Accepted, Answer, Mutated, Mutation};
use crate::http::respond::json::JsonBytes;
use crate::http::respond::pagination::Listing;
use crate::http::respond::response_cache::CachedResource;

/// One operation on one service.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ToolFields)]
    tool: Tool,
    #[serde(flatten)]
    vital: VitalView,
    /// Whether the model it asks is sent images: `acceptsImages` of its operation, else true for known families of models.
    /// Other models are sent the alternative text.
    #[serde(rename = "acceptsImages")]
    accepts_images: bool,
}

impl ToolView {
    fn new((shown, vital): (StoredEntry<Tool>, HealthStatus)) -> Self {
        let accepts_images = shown.entry.accepts_images();
        Self { head: EntryHead::of(&shown), tool: shown.entry, vital: vital.into(), accepts_images }
    }

    /// Tools that were just made, with how they are.
    pub(super) async fn seen(
        engine: &Engine,
        caller: &Caller,
        tools: Vec<StoredEntry<Tool>>,
    ) -> Result<Vec<Self>, ApiError> {
        Ok(engine.tools_seen(caller, tools).await?.into_iter().map(Self::new).collect())
    }
}

/// A tool that was just changed, with how it is.
async fn seen<T>(
    engine: &Engine,
    caller: &Caller,
    changed: CommittedChange<T>,
    tool: impl FnOnce(T) -> (StoredEntry<Tool>, Option<ImpactWarning>),
) -> Result<CommittedChange<SharedToolView>, ApiError> {
    let CommittedChange { value, operation, cursor, is_replay } = changed;
    let (shown, warning) = tool(value);
    let tool = ToolView::seen(engine, caller, vec![shown]).await?.remove(0);
    let value = SharedToolView { tool, warning: warning.map(WarningView::from) };
    Ok(CommittedChange { value, operation, cursor, is_replay })
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::tool::Tool")]
pub(crate) struct ToolFields {
    #[schema(example = "Weather now")]
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    service_id: String,
    /// What the service's connectionSchema asks for. Of an `llm_call`, `model`, `temperature`, `maxTokens`, `top_p` and `seed`
    /// reach the model.
    connection_params: Map<String, Value>,
    /// Whose value is used when the tool is called; told to the owner alone.
    #[schema(nullable = false)]
    secret_id: Option<String>,
    /// Where an API key goes: {"in": "header", "name": "X-Api-Key", "prefix": ""}.
    #[schema(nullable = false)]
    secret_use: Option<Value>,
    /// A `graph_query`, `rest_call`, `llm_call` or `mcp_tool`, by the service's type. `acceptsImages` of an `llm_call` says
    /// whether its model is sent images; left out, the name of the model decides.
    operation: Map<String, Value>,
    /// A JSON Schema of what a caller gives.
    input_schema: Value,
    /// A JSON Schema of what comes back.
    output_schema: Value,
    enabled: bool,
    /// Grows with each change of what the tool does.
    definition_version: u32,
    /// Which template it was made from.
    #[schema(nullable = false)]
    tool_template_id: Option<String>,
    #[schema(nullable = false)]
    pricing: Option<PricingFields>,
}

/// What calls of a tool cost, in units of the currency; what is not given is not known.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::pricing::Pricing")]
pub(crate) struct PricingFields {
    #[schema(min_length = 3, max_length = 3, pattern = "^[A-Z]{3}$", example = "USD")]
    currency: String,
    /// For a million tokens that the provider reads.
    #[schema(minimum = 0, maximum = 1_000_000, example = 2.5)]
    input_per_million: Option<f64>,
    /// For a million of those that the provider had kept from earlier.
    #[schema(minimum = 0, maximum = 1_000_000, example = 0.25)]
    cached_input_per_million: Option<f64>,
    /// For a million tokens that the model writes.
    #[schema(minimum = 0, maximum = 1_000_000, example = 10)]
    output_per_million: Option<f64>,
    /// For each call that is answered, besides its tokens.
    #[schema(minimum = 0, maximum = 1_000_000, example = 0)]
    per_call: Option<f64>,
}

/// In full, or by a template: then operation, inputSchema and outputSchema are left out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Weather now",
    "serviceId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z", "connectionParams": { "endpoint": "https://weather.example" },
    "operation": { "type": "rest_call", "method": "GET", "path": "/now/{{city}}" },
    "inputSchema": { "type": "object", "required": ["city"], "properties": { "city": { "type": "string" } } },
    "outputSchema": {} }))]
#[expect(dead_code, reason = "describes ToolDraft")]
pub(crate) struct ToolBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    service_id: String,
    connection_params: Option<Map<String, Value>>,
    secret_id: Option<String>,
    secret_use: Option<Value>,
    operation: Option<Map<String, Value>>,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    enabled: Option<bool>,
    shared: Option<bool>,
    tool_template_id: Option<String>,
    pricing: Option<PricingFields>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "enabled": false,
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ToolChange")]
pub(crate) struct ToolChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    name: Option<String>,
    description: Option<String>,
    connection_params: Option<Map<String, Value>>,
    secret_id: Option<String>,
    secret_use: Option<Value>,
    operation: Option<Map<String, Value>>,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
    enabled: Option<bool>,
    pricing: Option<PricingFields>,
}

/// A tool after it was changed, shared or taken back; the warning says who loses by it.
#[derive(Serialize, ToSchema)]
pub(crate) struct SharedToolView {
    #[serde(flatten)]
    tool: ToolView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warning: Option<WarningView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "inputs": { "city": "Bern" } }))]
pub(crate) struct TestBody {
    /// What the tool's inputSchema asks for.
    #[serde(default)]
    #[schema(value_type = Object)]
    inputs: Map<String, Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "secretId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z" }))]
pub(crate) struct BindBody {
    /// A secret of yours.
    #[schema(value_type = String)]
    secret_id: RecordId,
}

/// One's own secret for somebody else's tool.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BindingView {
    #[serde(flatten)]
    head: EntryHead,
    #[schema(value_type = String)]
    tool_id: RecordId,
    #[schema(value_type = String)]
    secret_id: RecordId,
    /// What the tool did when the secret was bound; once its owner changes that, bind again.
    #[schema(example = 1)]
    definition_version: u32,
}

impl From<StoredEntry<SecretBinding>> for BindingView {
    fn from(shown: StoredEntry<SecretBinding>) -> Self {
        let head = EntryHead::of(&shown);
        let SecretBinding { tool_id, secret_id, definition_version } = shown.entry;
        Self { head, tool_id, secret_id, definition_version }
    }
}

/// Which tools.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ToolParameters {
    /// Only on this service; a page may then be short and still go on.
    #[param(value_type = Option<String>)]
    service_id: Option<RecordId>,
    /// Only of this type of operation: `rest_call`, `llm_call`, `graph_query` or `mcp_tool`.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// Only enabled ones (true), or only disabled ones (false).
    #[param(value_type = Option<bool>)]
    enabled: Option<String>,
    /// Only those that are healthy, degraded or down; a page may then be short and still go on.
    status: Option<String>,
    /// Only your own (true).
    #[param(value_type = Option<bool>)]
    owned: Option<String>,
    /// Only what others share (true).
    #[param(value_type = Option<bool>)]
    shared: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// Your tools and those that others share.
#[utoipa::path(get, path = "/tools", tag = "catalogue", params(ToolParameters),
    responses((status = 200, body = Listing<ToolView>)))]
pub(crate) async fn list_tools(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ToolParameters>,
) -> Result<Json<Listing<ToolView>>, ApiError> {
    let ToolParameters { service_id, kind, enabled, status, owned, shared, cursor, limit } = parameters;
    let parameters = CatalogueParameters { kind, enabled, status, owned, shared, cursor, limit };
    let (after, limit) = parameters.page()?;
    let query = EntryQuery { service: service_id, ..parameters.query()? };
    let page = engine.tools(&caller, query, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ToolView::new)))
}

/// Define an operation on a service, in full or by a template.
#[utoipa::path(post, path = "/tools", tag = "catalogue", request_body = ToolBody,
    responses((status = 201, body = Mutated<ToolView>)))]
pub(crate) async fn create_tool(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ToolView>, ApiError> {
    let draft: ToolDraft = mutation.body().await?;
    let made = engine.create_tool(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/tools/{}", made.value.id);
    let seen = seen(&engine, &mutation.caller, made, |made| (made, None)).await?;
    Ok(Answer::made(seen.map(|seen| seen.tool), location))
}

/// One tool.
#[utoipa::path(get, path = "/tools/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = ToolView)))]
pub(crate) async fn read_tool(
    State(context): State<Context>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<JsonBytes, ApiError> {
    let read = async { Ok(ToolView::new(context.engine.tool(&caller, id).await?)) };
    context.answer(&caller, CachedResource::Tool(id), read).await
}

/// Change anything but the service.
#[utoipa::path(put, path = "/tools/{id}", tag = "catalogue", params(("id" = String, Path)),
    request_body = ToolChangeBody, responses((status = 200, body = Mutated<SharedToolView>)))]
pub(crate) async fn change_tool(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<SharedToolView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ToolChange>().await?;
    let changed = engine.change_tool(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(seen(&engine, &mutation.caller, changed, |changed| (changed.shown, changed.warning)).await?))
}

/// Delete a tool that no process uses.
#[utoipa::path(delete, path = "/tools/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ToolView>)))]
pub(crate) async fn delete_tool(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ToolView>, ApiError> {
    mutation.no_body().await?;
    let deleted = engine.delete_tool(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(deleted.map(|shown| ToolView::new((shown, HealthStatus::gone())))))
}

/// Share a tool or take it back. Others call a shared tool with your secret, at your expense. They see its whole output: share tools
/// whose `result` names the part to give. Without one, the output of a REST tool is the response body, in which known forms of the
/// secret are replaced.
#[utoipa::path(put, path = "/tools/{id}/share", tag = "catalogue", params(("id" = String, Path)),
    request_body = ShareBody, responses((status = 200, body = Mutated<SharedToolView>)))]
pub(crate) async fn share_tool(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<SharedToolView>, ApiError> {
    let ShareBody { shared } = mutation.body().await?;
    let changed = engine.share_tool(&mutation.caller, mutation.request, id, shared).await?;
    Ok(Answer::done(seen(&engine, &mutation.caller, changed, |changed| (changed.shown, changed.warning)).await?))
}

/// Call a tool for real; the operation tells what went out, what came back and how long it took.
#[utoipa::path(post, path = "/tools/{id}/test", tag = "catalogue", params(("id" = String, Path)),
    request_body = TestBody, responses((status = 202, body = Accepted)))]
pub(crate) async fn test_tool(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Response, ApiError> {
    let TestBody { inputs } = mutation.body().await?;
    let queued = engine.test_tool(&mutation.caller, mutation.request, id, inputs).await?;
    Ok(Accepted::answer(&queued, "the tool will be called"))
}

/// Use a secret of your own with a tool that somebody else shares.
#[utoipa::path(put, path = "/tools/{id}/secret", tag = "catalogue", params(("id" = String, Path)),
    request_body = BindBody, responses((status = 200, body = Mutated<BindingView>)))]
pub(crate) async fn bind_secret(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<BindingView>, ApiError> {
    let BindBody { secret_id } = mutation.body().await?;
    let bound = engine.bind_secret(&mutation.caller, mutation.request, id, secret_id).await?;
    Ok(Answer::done(bound.map(BindingView::from)))
}

/// Go back to the owner's secret.
#[utoipa::path(delete, path = "/tools/{id}/secret", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<BindingView>)))]
pub(crate) async fn unbind_secret(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<BindingView>, ApiError> {
    mutation.no_body().await?;
    let unbound = engine.unbind_secret(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(unbound.map(BindingView::from)))
}
