//! The caller's own account over HTTP: who am I, sign-in links, signing out.

pub(crate) mod grants;
pub(crate) mod keys;
pub(crate) mod sessions;
pub(crate) mod sign_in;
pub(crate) mod users;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use skein_core::account::Scope;
use skein_core::garden::cursor::Cursor;
use skein_core::{ItemId, KeyId, Millis};
use skein_engine::account::{Credential, SignInLink};
use skein_engine::{Engine, WholeOutcome};
use utoipa::ToSchema;

use crate::account::sign_in::{ENDED_COOKIE, link_url};
use crate::account::users::UserView;
use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};

/// Who asks, and by what they were let in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountView {
    user: UserView,
    /// What this credential may be used for: read, write or admin.
    #[schema(value_type = String, example = "admin")]
    scope: Scope,
    /// key, start, session or token.
    #[schema(example = "key")]
    credential: &'static str,
    /// The key, where one was shown.
    #[schema(value_type = Option<String>)]
    key_id: Option<KeyId>,
    /// The grant that was named in `Skein-Grant`.
    #[schema(value_type = Option<String>)]
    grant_id: Option<ItemId>,
    /// Where the timeline stands: what is read afterwards is no older. Whoever watches events from here misses nothing.
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
}

/// Who am I?
#[utoipa::path(get, path = "/account", tag = "account", responses((status = 200, body = AccountView)))]
pub(crate) async fn read_account(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<AccountView>, ApiError> {
    let cursor = engine.standing().await?;
    let user = engine.user(&caller, caller.user).await?;
    let (credential, key_id) = match caller.credential {
        Credential::Key { id, .. } => ("key", Some(id)),
        Credential::Start => ("start", None),
        Credential::Session(_) => ("session", None),
        Credential::Token { .. } => ("token", None),
    };
    let grant_id = caller.grant.as_ref().map(|grant| grant.item);
    Ok(Json(AccountView { user: UserView::new(user, None), scope: caller.scope, credential, key_id, grant_id, cursor }))
}

/// A link that signs a browser in, once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInLinkView {
    /// Told once: a replay leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "http://127.0.0.1:7420/sign-in/sl_…")]
    url: Option<String>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    expires_at: Millis,
}

impl SignInLinkView {
    pub(crate) fn new(link: &SignInLink, public_url: &str) -> Self {
        let url = link.text.as_ref().map(|text| link_url(public_url, text));
        Self { url, expires_at: link.expires_at }
    }
}

/// Make a one-time link that signs you in at a browser within ten minutes.
#[utoipa::path(post, path = "/account/sign-in-links", tag = "account",
    responses((status = 201, body = Mutated<SignInLinkView>)))]
pub(crate) async fn create_sign_in_link(
    State(context): State<Context>,
    mutation: Mutation,
) -> Result<Answer<SignInLinkView>, ApiError> {
    mutation.no_body().await?;
    let made = context.engine.create_link(&mutation.caller, mutation.request).await?;
    Ok(Answer::made(made.map(|link| SignInLinkView::new(&link, &context.public_url)), "/api/v1/account".to_owned()))
}

/// That a session has ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct EndedView {
    ended: bool,
}

impl From<WholeOutcome<bool>> for EndedView {
    fn from(WholeOutcome(ended): WholeOutcome<bool>) -> Self {
        Self { ended }
    }
}

/// Sign this browser out.
#[utoipa::path(delete, path = "/account/session", tag = "account",
    responses((status = 200, body = Mutated<EndedView>)))]
pub(crate) async fn end_session(State(engine): State<Engine>, mutation: Mutation) -> Result<Response, ApiError> {
    mutation.no_body().await?;
    let ended = engine.sign_out(&mutation.caller, mutation.request).await?;
    let mut response = Answer::done(ended.map(EndedView::from)).into_response();
    response.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_static(ENDED_COOKIE));
    Ok(response)
}
