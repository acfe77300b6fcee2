//! Templates of services and tools over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::RecordId;
use skein_core::catalog::template::{
    ServiceTemplate, ServiceTemplateDraft, TemplateChange, ToolTemplate, ToolTemplateDraft,
};
use skein_engine::Engine;
use skein_engine::catalog::{EntryQuery, StoredEntry, Template};
use skein_store::catalog::entries::OwnershipFilter;
use utoipa::{IntoParams, ToSchema};

use crate::catalog::{EntryHead, flag};
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, read_page};

/// A blueprint of services.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServiceTemplateView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ServiceTemplateFields)]
    template: ServiceTemplate,
}

impl From<StoredEntry<ServiceTemplate>> for ServiceTemplateView {
    fn from(shown: StoredEntry<ServiceTemplate>) -> Self {
        Self { head: EntryHead::of(&shown), template: shown.entry }
    }
}

/// A blueprint of tools.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolTemplateView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ToolTemplateFields)]
    template: ToolTemplate,
}

impl From<StoredEntry<ToolTemplate>> for ToolTemplateView {
    fn from(shown: StoredEntry<ToolTemplate>) -> Self {
        Self { head: EntryHead::of(&shown), template: shown.entry }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::template::ServiceTemplate")]
pub(crate) struct ServiceTemplateFields {
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    r#type: String,
    protocol: String,
    connection_schema: Map<String, Value>,
    requires_secret: bool,
    /// Whether nothing new is made from it.
    archived: bool,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::template::ToolTemplate")]
pub(crate) struct ToolTemplateFields {
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    operation: Map<String, Value>,
    input_schema: Value,
    output_schema: Value,
    /// Whether nothing new is made from it.
    archived: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Weather service", "type": "rest_api", "protocol": "https",
    "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } } }))]
#[expect(dead_code, reason = "describes ServiceTemplateDraft")]
pub(crate) struct ServiceTemplateBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    r#type: String,
    protocol: String,
    connection_schema: Map<String, Value>,
    requires_secret: Option<bool>,
    shared: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Weather in a city",
    "operation": { "type": "rest_call", "method": "GET", "path": "/now/{{city}}" },
    "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } } }, "outputSchema": {} }))]
#[expect(dead_code, reason = "describes ToolTemplateDraft")]
pub(crate) struct ToolTemplateBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    operation: Map<String, Value>,
    input_schema: Value,
    output_schema: Value,
    shared: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "shared": true }))]
#[expect(dead_code, reason = "describes TemplateChange")]
pub(crate) struct TemplateChangeBody {
    /// The hash of the state you looked at; without one the change is made whatever it is now.
    based_on_hash: Option<String>,
    shared: Option<bool>,
    archived: Option<bool>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct TemplateParameters {
    /// Also those from which nothing new is made.
    #[param(value_type = Option<bool>)]
    include_archived: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct InstanceParameters {
    /// Also what others made and share; true unless said otherwise.
    #[param(value_type = Option<bool>)]
    include_shared: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// Something that was made from a template.
#[derive(Serialize, ToSchema)]
pub(crate) struct InstanceView {
    #[serde(flatten)]
    head: EntryHead,
    #[schema(example = "Weather")]
    name: String,
}

async fn list<T: Template, V: From<StoredEntry<T>>>(
    engine: &Engine,
    SignedIn(caller): SignedIn,
    parameters: &TemplateParameters,
) -> Result<Json<Listing<V>>, ApiError> {
    let include_archived = flag("includeArchived", parameters.include_archived.as_deref())?.unwrap_or(false);
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page =
        engine.entries::<T>(&caller, EntryQuery { include_archived, ..EntryQuery::default() }, after, limit).await?;
    Ok(Json(Listing::of(page, limit, V::from)))
}

async fn change<T: Template, V: From<StoredEntry<T>>>(
    engine: &Engine,
    id: RecordId,
    mutation: Mutation,
) -> Result<Answer<V>, ApiError> {
    let mut document = mutation.document().await?;
    let based_on = mutation.taken_based_on(&mut document)?;
    let change: TemplateChange = Mutation::read(document)?;
    let changed = engine.change_template::<T>(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(changed.map(V::from)))
}

async fn archive<T: Template, V: From<StoredEntry<T>>>(
    engine: &Engine,
    id: RecordId,
    mutation: Mutation,
) -> Result<Answer<V>, ApiError> {
    mutation.no_body().await?;
    let change = TemplateChange { archived: Some(true), ..TemplateChange::default() };
    let changed = engine.change_template::<T>(&mutation.caller, mutation.request, id, change, None).await?;
    Ok(Answer::done(changed.map(V::from)))
}

async fn instances<T: Template>(
    engine: &Engine,
    SignedIn(caller): SignedIn,
    id: RecordId,
    parameters: &InstanceParameters,
) -> Result<Json<Listing<InstanceView>>, ApiError> {
    let include_shared = flag("includeShared", parameters.include_shared.as_deref())?.unwrap_or(true);
    let whose = if include_shared { OwnershipFilter::Both } else { OwnershipFilter::Own };
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page = engine.instances::<T>(&caller, id, whose, after, limit).await?;
    let view = |shown: StoredEntry<T::Instance>| InstanceView {
        head: EntryHead::of(&shown),
        name: T::name_of(&shown.entry).to_owned(),
    };
    Ok(Json(Listing::of(page, limit, view)))
}

/// Your templates of services and those that others share.
#[utoipa::path(get, path = "/service-templates", tag = "catalogue", params(TemplateParameters),
    responses((status = 200, body = Listing<ServiceTemplateView>)))]
pub(crate) async fn list_service_templates(
    State(engine): State<Engine>,
    caller: SignedIn,
    Parameters(parameters): Parameters<TemplateParameters>,
) -> Result<Json<Listing<ServiceTemplateView>>, ApiError> {
    list::<ServiceTemplate, _>(&engine, caller, &parameters).await
}

/// Make a template of services; it cannot be altered afterwards.
#[utoipa::path(post, path = "/service-templates", tag = "catalogue", request_body = ServiceTemplateBody,
    responses((status = 201, body = Mutated<ServiceTemplateView>)))]
pub(crate) async fn create_service_template(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ServiceTemplateView>, ApiError> {
    let draft: ServiceTemplateDraft = mutation.body().await?;
    let made = engine.create_service_template(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/service-templates/{}", made.value.id);
    Ok(Answer::made(made.map(ServiceTemplateView::from), location))
}

/// One template of services, archived or not.
#[utoipa::path(get, path = "/service-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = ServiceTemplateView)))]
pub(crate) async fn read_service_template(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ServiceTemplateView>, ApiError> {
    Ok(Json(engine.entry::<ServiceTemplate>(&caller, id).await?.into()))
}

/// Share, archive or restore a template of services.
#[utoipa::path(put, path = "/service-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    request_body = TemplateChangeBody, responses((status = 200, body = Mutated<ServiceTemplateView>)))]
pub(crate) async fn change_service_template(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ServiceTemplateView>, ApiError> {
    change::<ServiceTemplate, _>(&engine, id, mutation).await
}

/// Archive a template of services; what was made from it stays as it is.
#[utoipa::path(delete, path = "/service-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ServiceTemplateView>)))]
pub(crate) async fn archive_service_template(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ServiceTemplateView>, ApiError> {
    archive::<ServiceTemplate, _>(&engine, id, mutation).await
}

/// The services made from a template, your own and shared ones.
#[utoipa::path(get, path = "/service-templates/{id}/instances", tag = "catalogue",
    params(("id" = String, Path), InstanceParameters), responses((status = 200, body = Listing<InstanceView>)))]
pub(crate) async fn list_template_services(
    State(engine): State<Engine>,
    caller: SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<InstanceParameters>,
) -> Result<Json<Listing<InstanceView>>, ApiError> {
    instances::<ServiceTemplate>(&engine, caller, id, &parameters).await
}

/// Your templates of tools and those that others share.
#[utoipa::path(get, path = "/tool-templates", tag = "catalogue", params(TemplateParameters),
    responses((status = 200, body = Listing<ToolTemplateView>)))]
pub(crate) async fn list_tool_templates(
    State(engine): State<Engine>,
    caller: SignedIn,
    Parameters(parameters): Parameters<TemplateParameters>,
) -> Result<Json<Listing<ToolTemplateView>>, ApiError> {
    list::<ToolTemplate, _>(&engine, caller, &parameters).await
}

/// Make a template of tools; it cannot be altered afterwards.
#[utoipa::path(post, path = "/tool-templates", tag = "catalogue", request_body = ToolTemplateBody,
    responses((status = 201, body = Mutated<ToolTemplateView>)))]
pub(crate) async fn create_tool_template(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ToolTemplateView>, ApiError> {
    let draft: ToolTemplateDraft = mutation.body().await?;
    let made = engine.create_tool_template(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/tool-templates/{}", made.value.id);
    Ok(Answer::made(made.map(ToolTemplateView::from), location))
}

/// One template of tools, archived or not.
#[utoipa::path(get, path = "/tool-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = ToolTemplateView)))]
pub(crate) async fn read_tool_template(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ToolTemplateView>, ApiError> {
    Ok(Json(engine.entry::<ToolTemplate>(&caller, id).await?.into()))
}

/// Share, archive or restore a template of tools.
#[utoipa::path(put, path = "/tool-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    request_body = TemplateChangeBody, responses((status = 200, body = Mutated<ToolTemplateView>)))]
pub(crate) async fn change_tool_template(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ToolTemplateView>, ApiError> {
    change::<ToolTemplate, _>(&engine, id, mutation).await
}

/// Archive a template of tools; what was made from it stays as it is.
#[utoipa::path(delete, path = "/tool-templates/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ToolTemplateView>)))]
pub(crate) async fn archive_tool_template(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ToolTemplateView>, ApiError> {
    archive::<ToolTemplate, _>(&engine, id, mutation).await
}

/// The tools made from a template, your own and shared ones.
#[utoipa::path(get, path = "/tool-templates/{id}/instances", tag = "catalogue",
    params(("id" = String, Path), InstanceParameters), responses((status = 200, body = Listing<InstanceView>)))]
pub(crate) async fn list_template_tools(
    State(engine): State<Engine>,
    caller: SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<InstanceParameters>,
) -> Result<Json<Listing<InstanceView>>, ApiError> {
    instances::<ToolTemplate>(&engine, caller, id, &parameters).await
}
