//! Services over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::catalog::discovery::SkippedOperation;
use skein_core::catalog::service::{Service, ServiceChange, ServiceDraft};
use skein_core::catalog::sharing::ImpactWarning;
use skein_core::{Millis, RecordId};
use skein_engine::account::Caller;
use skein_engine::catalog::{CheckResult, Discovery, HealthStatus, Source, StoredEntry};
use skein_engine::{CommittedChange, Engine};

use utoipa::ToSchema;

use crate::catalog::tools::ToolView;
use crate::catalog::{CatalogueParameters, EntryHead, ShareBody, VitalView, WarningView};
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::Listing;

/// What an endpoint is, and what a tool has to say to reach it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServiceView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ServiceFields)]
    service: Service,
    #[serde(flatten)]
    vital: VitalView,
}

impl ServiceView {
    fn new((shown, vital): (StoredEntry<Service>, HealthStatus)) -> Self {
        Self { head: EntryHead::of(&shown), service: shown.entry, vital: vital.into() }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::service::Service")]
pub(crate) struct ServiceFields {
    #[schema(example = "Weather")]
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    /// `neo4j_graph`, `rest_api`, `llm_provider` or `mcp_server`.
    #[schema(example = "rest_api")]
    r#type: String,
    /// bolt or bolt+s, http or https, stdio or sse, by type.
    #[schema(example = "https")]
    protocol: String,
    /// A JSON Schema, draft-07 to 2020-12, of what a tool's connectionParams hold.
    connection_schema: Map<String, Value>,
    requires_secret: bool,
    enabled: bool,
    /// Grows with each change of connectionSchema.
    schema_version: u32,
    /// Which template it was made from.
    #[schema(nullable = false)]
    service_template_id: Option<String>,
    /// What Skein brings along itself: `offline_model`.
    #[schema(nullable = false)]
    builtin: Option<String>,
}

/// In full, or by a template: then type, protocol, connectionSchema and requiresSecret are left out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Weather", "type": "rest_api", "protocol": "https",
    "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } },
    "requiresSecret": true }))]
#[expect(dead_code, reason = "describes ServiceDraft")]
pub(crate) struct ServiceBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    /// `neo4j_graph`, `rest_api`, `llm_provider` or `mcp_server`.
    r#type: Option<String>,
    protocol: Option<String>,
    connection_schema: Option<Map<String, Value>>,
    requires_secret: Option<bool>,
    enabled: Option<bool>,
    shared: Option<bool>,
    service_template_id: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "enabled": false,
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ServiceChange")]
pub(crate) struct ServiceChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    name: Option<String>,
    description: Option<String>,
    connection_schema: Option<Map<String, Value>>,
    enabled: Option<bool>,
}

/// A service after it was shared or taken back.
#[derive(Serialize, ToSchema)]
pub(crate) struct SharedServiceView {
    #[serde(flatten)]
    service: ServiceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warning: Option<WarningView>,
}

/// What came of asking a service whether it is there.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckView {
    /// healthy, degraded or down.
    #[schema(example = "healthy")]
    status: &'static str,
    #[schema(value_type = String)]
    checked_at: Millis,
    #[schema(example = 12)]
    latency_ms: i64,
    error_message: Option<String>,
}

impl From<CheckResult> for CheckView {
    fn from(checked: CheckResult) -> Self {
        let CheckResult { status, checked_at, latency_ms, error } = checked;
        Self { status: status.as_str(), checked_at, latency_ms, error_message: error }
    }
}

/// An OpenAPI document, or where it is, and what all tools made from it connect with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "document": { "openapi": "3.1.0", "info": { "title": "Weather", "version": "1" }, "paths": {
    "/now": { "get": { "operationId": "now", "responses": { "200": { "description": "The weather" } } } } } },
    "connectionParams": { "endpoint": "https://weather.example" } }))]
pub(crate) struct DiscoverBody {
    /// The document itself, OpenAPI 3.
    #[schema(value_type = Option<Object>)]
    document: Option<Value>,
    /// Where it is served, as JSON or YAML.
    url: Option<String>,
    #[serde(default)]
    #[schema(value_type = Object)]
    connection_params: Map<String, Value>,
    #[schema(value_type = Option<String>)]
    secret_id: Option<RecordId>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DiscoveredView {
    data: Vec<ToolView>,
    /// Operations that cannot be tools.
    skipped: Vec<SkippedView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SkippedView {
    #[schema(example = "POST /uploads")]
    operation: String,
    reason: String,
}

impl From<SkippedOperation> for SkippedView {
    fn from(skipped: SkippedOperation) -> Self {
        let SkippedOperation { operation, reason } = skipped;
        Self { operation, reason }
    }
}

/// Your services and those that others share.
#[utoipa::path(get, path = "/services", tag = "catalogue", params(CatalogueParameters),
    responses((status = 200, body = Listing<ServiceView>)))]
pub(crate) async fn list_services(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<CatalogueParameters>,
) -> Result<Json<Listing<ServiceView>>, ApiError> {
    let (after, limit) = parameters.page()?;
    let page = engine.services(&caller, parameters.query()?, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ServiceView::new)))
}

/// Describe an endpoint, in full or by a template.
#[utoipa::path(post, path = "/services", tag = "catalogue", request_body = ServiceBody,
    responses((status = 201, body = Mutated<ServiceView>)))]
pub(crate) async fn create_service(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ServiceView>, ApiError> {
    let draft: ServiceDraft = mutation.body().await?;
    let made = engine.create_service(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/services/{}", made.value.id);
    let seen = seen(&engine, &mutation.caller, made, |made| (made, None)).await?;
    Ok(Answer::made(seen.map(|seen| seen.service), location))
}

/// One service.
#[utoipa::path(get, path = "/services/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = ServiceView)))]
pub(crate) async fn read_service(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ServiceView>, ApiError> {
    Ok(Json(ServiceView::new(engine.service(&caller, id).await?)))
}

/// Change name, description, connectionSchema or enabled.
#[utoipa::path(put, path = "/services/{id}", tag = "catalogue", params(("id" = String, Path)),
    request_body = ServiceChangeBody, responses((status = 200, body = Mutated<ServiceView>)))]
pub(crate) async fn change_service(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ServiceView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ServiceChange>().await?;
    let changed = engine.change_service(&mutation.caller, mutation.request, id, change, based_on).await?;
    let seen = seen(&engine, &mutation.caller, changed, |changed| (changed, None)).await?;
    Ok(Answer::done(seen.map(|seen| seen.service)))
}

/// Delete a service that no tool stands on.
#[utoipa::path(delete, path = "/services/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ServiceView>)))]
pub(crate) async fn delete_service(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ServiceView>, ApiError> {
    mutation.no_body().await?;
    let deleted = engine.delete_service(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(deleted.map(|shown| ServiceView::new((shown, HealthStatus::gone())))))
}

/// Share a service or take it back; taking back is never refused, and says who loses by it.
#[utoipa::path(put, path = "/services/{id}/share", tag = "catalogue", params(("id" = String, Path)),
    request_body = ShareBody, responses((status = 200, body = Mutated<SharedServiceView>)))]
pub(crate) async fn share_service(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<SharedServiceView>, ApiError> {
    let ShareBody { shared } = mutation.body().await?;
    let changed = engine.share_service(&mutation.caller, mutation.request, id, shared).await?;
    Ok(Answer::done(seen(&engine, &mutation.caller, changed, |changed| (changed.shown, changed.warning)).await?))
}

/// Ask a service whether it is there, now.
#[utoipa::path(post, path = "/services/{id}/health", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = CheckView)))]
pub(crate) async fn check_service(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<CheckView>, ApiError> {
    Ok(Json(engine.check_service(&caller, id).await?.into()))
}

/// Make a tool for each operation of an OpenAPI document.
#[utoipa::path(post, path = "/services/{id}/discover", tag = "catalogue", params(("id" = String, Path)),
    request_body = DiscoverBody, responses((status = 201, body = Mutated<DiscoveredView>)))]
pub(crate) async fn discover_tools(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<DiscoveredView>, ApiError> {
    let DiscoverBody { document, url, connection_params, secret_id } = mutation.body().await?;
    let source = match (document, url) {
        (Some(document), None) => Source::Document(document),
        (None, Some(url)) => Source::Address(url),
        _ => return Err(ApiError::bad_request("invalid_body", "send either a document or a url")),
    };
    let discovery = Discovery { service: id, source, connection_params, secret: secret_id };
    let made = engine.discover_tools(&mutation.caller, mutation.request, discovery).await?;
    let data = ToolView::seen(&engine, &mutation.caller, made.value.tools.clone()).await?;
    let view =
        made.map(|found| DiscoveredView { data, skipped: found.skipped.into_iter().map(SkippedView::from).collect() });
    Ok(Answer::made(view, format!("/api/v1/services/{id}")))
}

/// A service that was just made or changed, with how it is.
async fn seen<T>(
    engine: &Engine,
    caller: &Caller,
    changed: CommittedChange<T>,
    service: impl FnOnce(T) -> (StoredEntry<Service>, Option<ImpactWarning>),
) -> Result<CommittedChange<SharedServiceView>, ApiError> {
    let CommittedChange { value, operation, cursor, is_replay } = changed;
    let (shown, warning) = service(value);
    let service = ServiceView::new(engine.services_seen(caller, vec![shown]).await?.remove(0));
    let value = SharedServiceView { service, warning: warning.map(WarningView::from) };
    Ok(CommittedChange { value, operation, cursor, is_replay })
}
