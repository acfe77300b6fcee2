//! Users over HTTP, for administrators.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::account::Role;
use skein_core::{Digest, Millis, UserId};
use skein_engine::Engine;
use skein_engine::account::{NewUser, User, UserChange};
use utoipa::ToSchema;

use crate::account::SignInLinkView;
use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// A user; what they keep is theirs alone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserView {
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: UserId,
    #[schema(example = "anna")]
    name: String,
    /// user or admin.
    #[schema(value_type = String, example = "user")]
    role: Role,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// To base a change on.
    #[schema(value_type = String)]
    hash: Digest,
    #[schema(example = 1)]
    version: i64,
    /// Signs the new user in, once; told once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sign_in_link: Option<SignInLinkView>,
}

impl UserView {
    /// `public_url` makes links, where there is one to tell.
    pub(crate) fn new(user: User, public_url: Option<&str>) -> Self {
        let User { id, name, role, created_at, hash, version, link } = user;
        let sign_in_link = link.zip(public_url).map(|(link, public_url)| SignInLinkView::new(&link, public_url));
        Self { id, name, role, created_at, hash, version, sign_in_link }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "anna", "role": "user" }))]
pub(crate) struct NewUserBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// user or admin.
    #[schema(value_type = String, pattern = "^(user|admin)$")]
    role: Role,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "role": "admin", "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
pub(crate) struct UserChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    name: Option<String>,
    /// user or admin.
    #[schema(value_type = Option<String>)]
    role: Option<Role>,
}

/// Every user, in the order they were made.
#[utoipa::path(get, path = "/users", tag = "administration", params(PageParameters),
    responses((status = 200, body = Listing<UserView>)))]
pub(crate) async fn list_users(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<UserView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.users(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, |user| UserView::new(user, None))))
}

/// One user; anybody may ask for themselves.
#[utoipa::path(get, path = "/users/{id}", tag = "administration", params(("id" = String, Path)),
    responses((status = 200, body = UserView)))]
pub(crate) async fn read_user(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<UserId>,
) -> Result<Json<UserView>, ApiError> {
    Ok(Json(UserView::new(engine.user(&caller, id).await?, None)))
}

/// Make a user, and a link for them to sign in with.
#[utoipa::path(post, path = "/users", tag = "administration", request_body = NewUserBody,
    responses((status = 201, body = Mutated<UserView>)))]
pub(crate) async fn create_user(
    State(context): State<Context>,
    mutation: Mutation,
) -> Result<Answer<UserView>, ApiError> {
    let NewUserBody { name, role } = mutation.body().await?;
    let made = context.engine.create_user(&mutation.caller, mutation.request, NewUser { name, role }).await?;
    let location = format!("/api/v1/users/{}", made.value.id);
    Ok(Answer::made(made.map(|user| UserView::new(user, Some(&context.public_url))), location))
}

/// Change a user's name or role; the last administrator stays one.
#[utoipa::path(put, path = "/users/{id}", tag = "administration", params(("id" = String, Path)),
    request_body = UserChangeBody, responses((status = 200, body = Mutated<UserView>)))]
pub(crate) async fn change_user(
    State(engine): State<Engine>,
    PathId(id): PathId<UserId>,
    mutation: Mutation,
) -> Result<Answer<UserView>, ApiError> {
    let UserChangeBody { based_on_hash, name, role } = mutation.body().await?;
    let based_on = mutation.must_be_based_on(based_on_hash.as_deref())?;
    let change = UserChange { based_on, name, role };
    let changed = engine.change_user(&mutation.caller, mutation.request, id, change).await?;
    Ok(Answer::done(changed.map(|user| UserView::new(user, None))))
}

/// Make a one-time link for a user who cannot get in; with the key of a start only, so from the server's own machine.
#[utoipa::path(post, path = "/users/{id}/sign-in-links", tag = "administration", params(("id" = String, Path)),
    responses((status = 201, description = "It was made.", body = Mutated<SignInLinkView>)))]
pub(crate) async fn create_link_for_user(
    State(context): State<Context>,
    PathId(id): PathId<UserId>,
    mutation: Mutation,
) -> Result<Answer<SignInLinkView>, ApiError> {
    mutation.no_body().await?;
    let made = context.engine.create_link_for(&mutation.caller, mutation.request, id).await?;
    let view = made.map(|link| SignInLinkView::new(&link, &context.public_url));
    Ok(Answer::made(view, format!("/api/v1/users/{id}")))
}
