//! Processes over HTTP: kept, judged before they are kept, and looked at before they are run.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::flow::health_report::HealthLevel;
use skein_core::flow::process::{Process, ProcessChange, ProcessDraft};
use skein_core::flow::validation::Violation;
use skein_core::{Digest, Millis, RecordId, UserId};
use skein_engine::Engine;
use skein_engine::catalog::{EntryQuery, StoredEntry};
use skein_engine::flow::{Dependency, ProcessHealth};
use utoipa::{IntoParams, ToSchema};

use crate::catalog::flag;
use crate::flow::step_fields::StepFields;
use crate::garden::records::version;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::body::QueryBody;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, read_page};

/// How work is done, as data; its owner's alone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessView {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: RecordId,
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    /// Grows with each change; runs and answers say which one they followed.
    #[schema(example = 1)]
    version: i64,
    /// To base a change on.
    #[schema(value_type = String)]
    hash: Digest,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    updated_at: Millis,
    #[serde(flatten)]
    #[schema(value_type = ProcessFields)]
    process: Process,
}

impl From<StoredEntry<Process>> for ProcessView {
    fn from(shown: StoredEntry<Process>) -> Self {
        let StoredEntry { id, owner, version, hash, created_at, updated_at, entry, .. } = shown;
        Self { id, owner_id: owner, version, hash, created_at, updated_at, process: entry }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::flow::process::Process")]
pub(crate) struct ProcessFields {
    #[schema(example = "Count the herons")]
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    /// The variables it is started with: a list of names, or a JSON Schema of an object.
    initial_context: Value,
    steps: Vec<StepFields>,
    /// What it answers, in Handlebars: `{{x}}` is the variable of a step or of the initialContext.
    output_template: String,
    #[schema(nullable = false)]
    token_budget: Option<u64>,
    /// How deep processes call processes.
    max_recursion_depth: u8,
    enabled: bool,
    /// Kept for what it has done, not run unless it is restored.
    archived: bool,
    /// Grows with each change of what the process does.
    definition_version: u32,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Count the herons", "initialContext": ["place"],
    "steps": [{ "id": "ask", "ask": { "prompt": "How many herons are at {place}?", "schema": { "type": "integer" } },
        "output": { "variable": "count" } }],
    "outputTemplate": "{{count}}" }))]
#[expect(dead_code, reason = "describes ProcessDraft")]
pub(crate) struct ProcessBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    /// A list of names, or a JSON Schema of an object; none unless it is said.
    initial_context: Option<Value>,
    #[schema(min_items = 1, max_items = 100)]
    steps: Vec<StepFields>,
    output_template: String,
    #[schema(minimum = 1)]
    token_budget: Option<u64>,
    /// 3 unless it is said.
    #[schema(minimum = 1, maximum = 10)]
    max_recursion_depth: Option<u8>,
    enabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "enabled": false,
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ProcessChange")]
pub(crate) struct ProcessChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    name: Option<String>,
    description: Option<String>,
    initial_context: Option<Value>,
    steps: Option<Vec<StepFields>>,
    output_template: Option<String>,
    token_budget: Option<u64>,
    max_recursion_depth: Option<u8>,
    enabled: Option<bool>,
}

/// What keeps a draft from being a process.
#[derive(Serialize, ToSchema)]
pub(crate) struct ValidationView {
    /// Whether it could be made as it is.
    valid: bool,
    /// At most 100. A definition that is too large has one: what is too large about it.
    breaches: Vec<BreachView>,
    /// Whether there are more breaches than are listed.
    truncated: bool,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct BreachView {
    #[schema(example = "BR-STEP-002")]
    rule: &'static str,
    /// What is wrong.
    problem: String,
    /// What to do about it.
    remedy: &'static str,
    /// Which step breaks it, from 1; none where that is the whole process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1)]
    step: Option<usize>,
    /// Which member of the step, else of the process, breaks it, as far as that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "execution.timeout")]
    field: Option<&'static str>,
}

impl From<Violation> for BreachView {
    fn from(Violation { violation, step, field }: Violation) -> Self {
        let problem = violation.problem().to_owned();
        Self { rule: violation.rule(), problem, remedy: violation.remedy(), step, field }
    }
}

/// How a process would fare if it were run now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessHealthView {
    /// healthy, warning or error: as the worst of what it depends on.
    #[schema(value_type = String, example = "warning")]
    status: HealthLevel,
    /// What is wrong with the process itself.
    reasons: Vec<String>,
    /// In the order of the steps.
    dependencies: Vec<DependencyView>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    checked_at: Millis,
}

/// Something that steps depend on.
#[derive(Serialize, ToSchema)]
pub(crate) struct DependencyView {
    /// tool, service, secret or process.
    #[schema(example = "tool")]
    kind: &'static str,
    /// Null if it is not yours to see.
    #[schema(value_type = Option<String>)]
    id: Option<RecordId>,
    name: Option<String>,
    /// The ids of the steps that depend on it.
    steps: Vec<String>,
    /// healthy; warning: it may be tried; error: a run would fail there.
    #[schema(value_type = String, example = "warning")]
    status: HealthLevel,
    #[schema(example = json!(["it was never checked"]))]
    reasons: Vec<String>,
}

impl From<ProcessHealth> for ProcessHealthView {
    fn from(found: ProcessHealth) -> Self {
        let ProcessHealth { fitness, reasons, dependencies, checked_at } = found;
        let dependencies = dependencies.into_iter().map(DependencyView::from).collect();
        Self { status: fitness, reasons, dependencies, checked_at }
    }
}

impl From<Dependency> for DependencyView {
    fn from(dependency: Dependency) -> Self {
        let Dependency { kind, id, name, steps, finding } = dependency;
        Self { kind: kind.as_str(), id, name, steps, status: finding.fitness, reasons: finding.reasons }
    }
}

/// Which processes.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ProcessParameters {
    /// Only enabled ones (true), or only disabled ones (false).
    #[param(value_type = Option<bool>)]
    enabled: Option<String>,
    /// Also those that were deleted.
    #[param(value_type = Option<bool>)]
    include_archived: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionParameters {
    /// A version, from 1; without it, the current one.
    #[param(value_type = Option<i64>, minimum = 1)]
    version: Option<String>,
}

/// Your processes.
#[utoipa::path(get, path = "/processes", tag = "processes", params(ProcessParameters),
    responses((status = 200, body = Listing<ProcessView>)))]
pub(crate) async fn list_processes(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ProcessParameters>,
) -> Result<Json<Listing<ProcessView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let query = EntryQuery {
        enabled: flag("enabled", parameters.enabled.as_deref())?,
        include_archived: flag("includeArchived", parameters.include_archived.as_deref())?.unwrap_or_default(),
        ..EntryQuery::default()
    };
    let page = engine.entries::<Process>(&caller, query, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ProcessView::from)))
}

/// Define how work is done.
#[utoipa::path(post, path = "/processes", tag = "processes", request_body = ProcessBody,
    responses((status = 201, body = Mutated<ProcessView>)))]
pub(crate) async fn create_process(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ProcessView>, ApiError> {
    let draft: ProcessDraft = mutation.body().await?;
    let made = engine.create_process(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/processes/{}", made.value.id);
    Ok(Answer::made(made.map(ProcessView::from), location))
}

/// Ask what keeps a definition from being kept; nothing is kept. Every rule it breaks is named.
#[utoipa::path(post, path = "/processes/validate", tag = "processes", request_body = ProcessBody,
    responses((status = 200, body = ValidationView)))]
pub(crate) async fn validate_process(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    QueryBody(draft): QueryBody<ProcessDraft>,
) -> Result<Json<ValidationView>, ApiError> {
    let found = engine.validate_process(&caller, draft).await?;
    let (valid, truncated) = (found.is_empty(), found.is_truncated());
    let breaches = found.into_list().into_iter().map(BreachView::from).collect();
    Ok(Json(ValidationView { valid, breaches, truncated }))
}

/// One process, as it is or as it was in a version.
#[utoipa::path(get, path = "/processes/{id}", tag = "processes", params(("id" = String, Path), VersionParameters),
    responses((status = 200, body = ProcessView)))]
pub(crate) async fn read_process(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<VersionParameters>,
) -> Result<Json<ProcessView>, ApiError> {
    let version = parameters.version.as_deref().map(|text| version("version", text)).transpose()?;
    Ok(Json(engine.process(&caller, id, version).await?.into()))
}

/// Change what is named; what runs goes on as it was when it began.
#[utoipa::path(put, path = "/processes/{id}", tag = "processes", params(("id" = String, Path)),
    request_body = ProcessChangeBody, responses((status = 200, body = Mutated<ProcessView>)))]
pub(crate) async fn change_process(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ProcessView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ProcessChange>().await?;
    let changed = engine.change_process(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(changed.map(ProcessView::from)))
}

/// Put a process away that no conversation offers, no process calls and no run is of. It can still be read.
#[utoipa::path(delete, path = "/processes/{id}", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ProcessView>)))]
pub(crate) async fn delete_process(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ProcessView>, ApiError> {
    mutation.no_body().await?;
    let archived = engine.delete_process(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(archived.map(ProcessView::from)))
}

/// How a process would fare now: every tool, service, secret and process it depends on. Nothing is called.
#[utoipa::path(get, path = "/processes/{id}/health", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = ProcessHealthView)))]
pub(crate) async fn check_process(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ProcessHealthView>, ApiError> {
    Ok(Json(engine.process_health(&caller, id).await?.into()))
}
