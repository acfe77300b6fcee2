//! API keys over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::account::Scope;
use skein_core::{KeyId, Millis};
use skein_engine::Engine;
use skein_engine::account::{KeyView as EngineKey, NewKey};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// An API key; the key itself is told once, when it is made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyView {
    #[schema(value_type = String, example = "key_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: KeyId,
    #[schema(example = "laptop")]
    name: String,
    /// read, write or admin; each includes the ones before it.
    #[schema(value_type = String, example = "write")]
    scope: Scope,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// To the minute.
    #[schema(value_type = Option<String>)]
    last_used_at: Option<Millis>,
    /// When the key stops working; null for a key that works until it is revoked.
    #[schema(value_type = Option<String>, format = DateTime, example = "2027-02-15T09:30:00.000Z")]
    expires_at: Option<Millis>,
    /// Whether `expiresAt` has passed.
    is_expired: bool,
    #[schema(value_type = Option<String>)]
    revoked_at: Option<Millis>,
    /// The key itself; a replay leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "sk_…")]
    key: Option<String>,
}

impl From<EngineKey> for KeyView {
    fn from(key: EngineKey) -> Self {
        let EngineKey { id, name, scope, created_at, last_used_at, expires_at, is_expired, revoked_at, text } = key;
        let key = text.map(|text| text.reveal().to_owned());
        Self { id, name, scope, created_at, last_used_at, expires_at, is_expired, revoked_at, key }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "laptop", "scope": "write" }))]
pub(crate) struct NewKeyBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// read, write or admin.
    #[schema(value_type = String, pattern = "^(read|write|admin)$")]
    scope: Scope,
    /// When the key stops working: a time in the future, for example `2027-02-15T09:30:00.000Z`. Default: never. A key made
    /// with a key that expires has to expire by then.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Millis>,
}

/// Your keys.
#[utoipa::path(get, path = "/keys", tag = "account", params(PageParameters),
    responses((status = 200, body = Listing<KeyView>)))]
pub(crate) async fn list_keys(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<KeyView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.keys(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, KeyView::from)))
}

/// Make a key, which may do no more than the credential that asks for it, and not outlive it.
#[utoipa::path(post, path = "/keys", tag = "account", request_body = NewKeyBody,
    responses((status = 201, body = Mutated<KeyView>)))]
pub(crate) async fn create_key(State(engine): State<Engine>, mutation: Mutation) -> Result<Answer<KeyView>, ApiError> {
    let NewKeyBody { name, scope, expires_at } = mutation.body().await?;
    let made = engine.create_key(&mutation.caller, mutation.request, NewKey { name, scope, expires_at }).await?;
    let location = format!("/api/v1/keys/{}", made.value.id);
    Ok(Answer::made(made.map(KeyView::from), location))
}

/// End a key for good.
#[utoipa::path(delete, path = "/keys/{id}", tag = "account", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<KeyView>)))]
pub(crate) async fn revoke_key(
    State(engine): State<Engine>,
    PathId(id): PathId<KeyId>,
    mutation: Mutation,
) -> Result<Answer<KeyView>, ApiError> {
    mutation.no_body().await?;
    let revoked = engine.revoke_key(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(revoked.map(KeyView::from)))
}
