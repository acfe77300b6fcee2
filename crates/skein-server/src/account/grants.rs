//! Grants over HTTP: an administrator's recorded look at somebody's things.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::account::GrantDraft;
use skein_core::{ItemId, Millis, UserId};
use skein_engine::Engine;
use skein_store::account::grants::GivenGrant;
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// A grant, as its administrator and the user who is looked at see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GrantView {
    /// To be sent as `Skein-Grant`.
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: ItemId,
    #[schema(value_type = String)]
    admin_id: UserId,
    #[schema(value_type = String)]
    owner_id: UserId,
    #[schema(example = "ticket 42")]
    name: String,
    reason: String,
    #[schema(value_type = String)]
    until: Millis,
    #[schema(value_type = String)]
    created_at: Millis,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Millis>,
}

impl From<GivenGrant> for GrantView {
    fn from(grant: GivenGrant) -> Self {
        let GivenGrant { id, owner, admin, name, reason, until, given_at, ended_at } = grant;
        Self { id, admin_id: admin, owner_id: owner, name, reason, until, created_at: given_at, ended_at }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "ownerId": "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z", "name": "ticket 42",
    "reason": "Anna asked me to look for a lost note", "until": "2026-11-16T09:30:00.000Z" }))]
pub(crate) struct NewGrantBody {
    /// Whose things are to be seen.
    #[schema(value_type = String, pattern = "^user_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
    owner_id: UserId,
    name: String,
    reason: String,
    /// At most thirty days from now.
    #[schema(value_type = String, format = DateTime)]
    until: Millis,
}

/// Grants on your things, and grants you hold; newest first.
#[utoipa::path(get, path = "/grants", tag = "administration", params(PageParameters),
    responses((status = 200, body = Listing<GrantView>)))]
pub(crate) async fn list_grants(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<GrantView>>, ApiError> {
    let (before, limit) = parameters.read()?;
    let page = engine.grants(&caller, before, limit).await?;
    Ok(Json(Listing::of(page, limit, GrantView::from)))
}

/// Let yourself, an administrator, look at another user's things for a while; they see it at once.
#[utoipa::path(post, path = "/grants", tag = "administration", request_body = NewGrantBody,
    responses((status = 201, body = Mutated<GrantView>)))]
pub(crate) async fn give_grant(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<GrantView>, ApiError> {
    let NewGrantBody { owner_id: owner, name, reason, until } = mutation.body().await?;
    let draft = GrantDraft { owner, name, reason, until };
    let given = engine.give_grant(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/grants/{}", given.value.id);
    Ok(Answer::made(given.map(GrantView::from), location))
}

/// End a grant you hold, or one on your things.
#[utoipa::path(delete, path = "/grants/{id}", tag = "administration", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<GrantView>)))]
pub(crate) async fn end_grant(
    State(engine): State<Engine>,
    PathId(id): PathId<ItemId>,
    mutation: Mutation,
) -> Result<Answer<GrantView>, ApiError> {
    mutation.no_body().await?;
    let ended = engine.end_grant(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(ended.map(GrantView::from)))
}
