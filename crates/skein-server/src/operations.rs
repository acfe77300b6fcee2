//! Operations over HTTP: polled, listed, cancelled; and verifying the store, which is one.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::{Digest, Millis, OperationId};
use skein_engine::{Engine, VerificationRequest};
use skein_store::operations::{Operation, OperationState};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Accepted, Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// What a change is on record as, and how far work has come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationView {
    #[schema(value_type = String, example = "op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: OperationId,
    #[schema(example = "item.append")]
    kind: String,
    /// queued, processing, completed, failed or cancelled.
    #[schema(example = "completed")]
    status: &'static str,
    /// Percent done.
    #[schema(example = 100, minimum = 0, maximum = 100)]
    progress: i64,
    /// What came out, once it is completed: references to what was made, or a report.
    result: Option<Value>,
    /// What went wrong, once it has failed.
    error: Option<Value>,
    #[schema(value_type = String)]
    created_at: Millis,
    #[schema(value_type = String)]
    updated_at: Millis,
}

impl From<Operation> for OperationView {
    fn from(operation: Operation) -> Self {
        let Operation { id, owner: _, kind, state, created_at, updated_at } = operation;
        let value = |text: &str| serde_json::from_str(text).ok();
        let (status, progress, result, error) = match &state {
            OperationState::Queued => ("queued", 0, None, None),
            OperationState::Processing { progress } => ("processing", *progress, None, None),
            OperationState::Completed { result } => ("completed", 100, value(result), None),
            OperationState::Failed { error } => ("failed", 0, None, value(error)),
            OperationState::Cancelled => ("cancelled", 0, None, None),
        };
        Self { id, kind, status, progress, result, error, created_at, updated_at }
    }
}

/// Your operations, newest first.
#[utoipa::path(get, path = "/operations", tag = "operations", params(PageParameters),
    responses((status = 200, body = Listing<OperationView>)))]
pub(crate) async fn list_operations(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<OperationView>>, ApiError> {
    let (before, limit) = parameters.read()?;
    let page = engine.operations(&caller, before, limit).await?;
    Ok(Json(Listing::of(page, limit, OperationView::from)))
}

/// How far is it?
#[utoipa::path(get, path = "/operations/{id}", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = OperationView)))]
pub(crate) async fn read_operation(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<OperationId>,
) -> Result<Json<OperationView>, ApiError> {
    Ok(Json(engine.operation(&caller, id).await?.into()))
}

/// Cancel an operation that has not ended.
#[utoipa::path(post, path = "/operations/{id}/cancel", tag = "operations", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<OperationView>)))]
pub(crate) async fn cancel_operation(
    State(engine): State<Engine>,
    PathId(id): PathId<OperationId>,
    mutation: Mutation,
) -> Result<Answer<OperationView>, ApiError> {
    mutation.no_body().await?;
    let cancelled = engine.cancel(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(cancelled.map(OperationView::from)))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "deep": true }))]
pub(crate) struct VerificationBody {
    /// Also compare every table made from items, and every blob.
    #[serde(default)]
    deep: bool,
    /// The head noted earlier; a store that does not have it lost or changed its end.
    #[schema(value_type = Option<String>)]
    expect: Option<Digest>,
}

/// Prove that nothing in the store was altered; the operation's result is the report.
#[utoipa::path(post, path = "/verifications", tag = "operations", request_body = VerificationBody,
    responses((status = 202, body = Accepted)))]
pub(crate) async fn request_verification(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Response, ApiError> {
    let VerificationBody { deep, expect } = mutation.body_if_any().await?;
    let asked = VerificationRequest { deep, expect };
    let queued = engine.request_verification(&mutation.caller, mutation.request, asked).await?;
    Ok(Accepted::answer(&queued, "the verification is queued; poll the operation for its report"))
}
