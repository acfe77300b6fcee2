//! Approvals that stand, over HTTP: listed and revoked. They are given with a decision, by its scope.

use axum::extract::State;
use serde::Serialize;
use skein_core::flow::approval::StandingApproval;
use skein_core::{Millis, RecordId, ReviewId};
use skein_engine::Engine;
use skein_engine::catalog::StoredEntry;
use skein_engine::flow::ShownApproval;
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, PageParameters};

/// Calls of a tool that you are not asked about.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalView {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: RecordId,
    #[schema(value_type = String)]
    tool_id: RecordId,
    /// The version of what the tool does that was approved; once that changes, you are asked again.
    definition_version: u32,
    /// The question it was given with.
    #[schema(value_type = String)]
    review_id: ReviewId,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    given_at: Millis,
}

impl From<StoredEntry<StandingApproval>> for ApprovalView {
    fn from(shown: StoredEntry<StandingApproval>) -> Self {
        let StandingApproval { tool_id, definition_version, review_id, .. } = shown.entry;
        Self { id: shown.id, tool_id, definition_version, review_id, given_at: shown.updated_at }
    }
}

/// One of a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedApprovalView {
    #[serde(flatten)]
    approval: ApprovalView,
    /// How the tool is called now; null once it is gone.
    #[schema(example = "Water level")]
    tool_name: Option<String>,
    /// Whether the tool is still what was approved.
    counts: bool,
}

impl From<ShownApproval> for ListedApprovalView {
    fn from(ShownApproval { approval, tool_name, counts }: ShownApproval) -> Self {
        Self { approval: approval.into(), tool_name, counts }
    }
}

/// What you are not asked about.
#[utoipa::path(get, path = "/approvals", tag = "processes", params(PageParameters),
    responses((status = 200, body = Listing<ListedApprovalView>)))]
pub(crate) async fn list_approvals(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<ListedApprovalView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.approvals(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ListedApprovalView::from)))
}

/// Revoke an approval: from the next call on, you are asked again.
#[utoipa::path(delete, path = "/approvals/{id}", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<ApprovalView>)))]
pub(crate) async fn revoke_approval(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ApprovalView>, ApiError> {
    mutation.no_body().await?;
    let revoked = engine.revoke_approval(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(revoked.map(ApprovalView::from)))
}
