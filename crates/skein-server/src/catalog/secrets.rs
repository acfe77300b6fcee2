//! Secrets over HTTP: named, replaced and deleted; never told.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::RecordId;
use skein_core::catalog::secret::{Secret, SecretChange, SecretDraft};
use skein_engine::Engine;
use skein_engine::catalog::{EntryQuery, SecretValue, StoredEntry};
use skein_store::catalog::entries::OwnershipFilter;
use utoipa::ToSchema;
use zeroize::Zeroize as _;

use crate::catalog::{EntryHead, ShareBody};
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// A credential by name; its value is in the vault and comes out only to be used.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = SecretFields)]
    secret: Secret,
    /// Its owner once more: a secret belongs to one user.
    #[schema(value_type = String)]
    user_id: skein_core::UserId,
}

impl From<StoredEntry<Secret>> for SecretView {
    fn from(shown: StoredEntry<Secret>) -> Self {
        Self { head: EntryHead::of(&shown), user_id: shown.owner, secret: shown.entry }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::catalog::secret::Secret")]
pub(crate) struct SecretFields {
    #[schema(example = "Weather key")]
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    /// `api_key`, `oauth_token`, password or certificate.
    #[schema(example = "api_key")]
    r#type: String,
    /// Which value the vault holds: 1 at first, one more with each rotation.
    #[schema(example = 1)]
    value_version: u32,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Weather key", "type": "api_key", "value": "k-7f9c24e53b1a" }))]
#[expect(dead_code, reason = "describes SecretDraft and the value beside it")]
pub(crate) struct SecretBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
    /// `api_key`, `oauth_token`, password or certificate.
    r#type: String,
    /// Without effect: a secret is its owner's alone.
    shared: Option<bool>,
    /// Text for an API key; {username, password}; {accessToken, refreshToken, tokenUrl, clientId, clientSecret, scope};
    /// {certificate, privateKey, ca} in PEM.
    value: Value,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "value": "k-0d6f0a1b2c3d" }))]
#[expect(dead_code, reason = "describes SecretChange and the value beside it")]
pub(crate) struct SecretChangeBody {
    /// The hash of the state you looked at; without one the change is made whatever it is now.
    based_on_hash: Option<String>,
    name: Option<String>,
    description: Option<String>,
    /// Takes the place of the value before, which is destroyed.
    value: Option<Value>,
}

/// Your secrets.
#[utoipa::path(get, path = "/secrets", tag = "catalogue", params(PageParameters),
    responses((status = 200, body = Listing<SecretView>)))]
pub(crate) async fn list_secrets(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<SecretView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let own = EntryQuery { whose: OwnershipFilter::Own, ..EntryQuery::default() };
    let page = engine.entries::<Secret>(&caller, own, after, limit).await?;
    Ok(Json(Listing::of(page, limit, SecretView::from)))
}

/// Put a credential into the vault.
#[utoipa::path(post, path = "/secrets", tag = "catalogue", request_body = SecretBody,
    responses((status = 201, body = Mutated<SecretView>)))]
pub(crate) async fn create_secret(
    State(engine): State<Engine>,
    mut mutation: Mutation,
) -> Result<Answer<SecretView>, ApiError> {
    let mut document = taken_document(&mut mutation).await?;
    let value = taken_value(&mut document)?.ok_or_else(|| missing("value"))?;
    let draft: SecretDraft = Mutation::read(document)?;
    let made = engine.create_secret(&mutation.caller, mutation.request, draft, value).await?;
    let location = format!("/api/v1/secrets/{}", made.value.id);
    Ok(Answer::made(made.map(SecretView::from), location))
}

/// One secret, without its value.
#[utoipa::path(get, path = "/secrets/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = SecretView)))]
pub(crate) async fn read_secret(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<SecretView>, ApiError> {
    Ok(Json(engine.entry::<Secret>(&caller, id).await?.into()))
}

/// Replace the value, or change the name or description.
#[utoipa::path(put, path = "/secrets/{id}", tag = "catalogue", params(("id" = String, Path)),
    request_body = SecretChangeBody, responses((status = 200, body = Mutated<SecretView>)))]
pub(crate) async fn change_secret(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mut mutation: Mutation,
) -> Result<Answer<SecretView>, ApiError> {
    let mut document = taken_document(&mut mutation).await?;
    let value = taken_value(&mut document)?;
    let based_on = mutation.taken_based_on(&mut document)?;
    let change: SecretChange = Mutation::read(document)?;
    let changed = engine.change_secret(&mutation.caller, mutation.request, id, (change, value), based_on).await?;
    Ok(Answer::done(changed.map(SecretView::from)))
}

/// Delete a secret that no tool uses; its value is destroyed.
#[utoipa::path(delete, path = "/secrets/{id}", tag = "catalogue", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<SecretView>)))]
pub(crate) async fn delete_secret(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<SecretView>, ApiError> {
    mutation.no_body().await?;
    let deleted = engine.delete_secret(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(deleted.map(SecretView::from)))
}

/// Set the flag; it has no effect, a secret is its owner's alone.
#[utoipa::path(put, path = "/secrets/{id}/share", tag = "catalogue", params(("id" = String, Path)),
    request_body = ShareBody, responses((status = 200, body = Mutated<SecretView>)))]
pub(crate) async fn share_secret(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<SecretView>, ApiError> {
    let ShareBody { shared } = mutation.body().await?;
    let changed = engine.share_secret(&mutation.caller, mutation.request, id, shared).await?;
    Ok(Answer::done(changed.map(|reshared| reshared.shown.into())))
}

/// The body as an object; its bytes are overwritten, unless the connection they came by still holds them.
async fn taken_document(mutation: &mut Mutation) -> Result<Map<String, Value>, ApiError> {
    let document = mutation.document().await;
    if let Ok(mut bytes) = std::mem::take(&mut mutation.text.text).try_into_mut() {
        bytes.as_mut().zeroize();
    }
    document
}

/// The value goes its own way, straight to the vault.
fn taken_value(document: &mut Map<String, Value>) -> Result<Option<SecretValue>, ApiError> {
    match document.remove("value") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(SecretValue::text(text))),
        Some(Value::Object(parts)) => Ok(Some(SecretValue::parts(parts))),
        Some(_) => {
            let message = "value: send text, or an object with the parts of the credential";
            Err(ApiError::bad_request("invalid_body", message).with_detail("field", "value"))
        }
    }
}

fn missing(field: &str) -> ApiError {
    ApiError::bad_request("invalid_body", format!("missing field `{field}`")).with_detail("field", field)
}
