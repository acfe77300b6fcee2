//! Addresses on this machine that an administrator allows services to call (decision Z24), over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::RecordId;
use skein_core::catalog::endpoint::AllowedEndpoint;
use skein_engine::Engine;
use skein_engine::catalog::StoredEntry;
use utoipa::ToSchema;

use crate::catalog::EntryHead;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// A host and port on this machine that services may call.
#[derive(Serialize, ToSchema)]
pub(crate) struct EndpointView {
    #[serde(flatten)]
    head: EntryHead,
    #[schema(example = "127.0.0.1")]
    host: String,
    #[schema(example = 11434)]
    port: u16,
}

impl From<StoredEntry<AllowedEndpoint>> for EndpointView {
    fn from(shown: StoredEntry<AllowedEndpoint>) -> Self {
        let head = EntryHead::of(&shown);
        let AllowedEndpoint { host, port, .. } = shown.entry;
        Self { head, host, port }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "host": "127.0.0.1", "port": 11434 }))]
pub(crate) struct EndpointBody {
    /// As it stands in the address: localhost and 127.0.0.1 are two decisions.
    #[schema(min_length = 1, max_length = 253)]
    host: String,
    #[schema(minimum = 1, maximum = 65535)]
    port: u16,
}

/// What is allowed.
#[utoipa::path(get, path = "/allowed-endpoints", tag = "administration", params(PageParameters),
    responses((status = 200, body = Listing<EndpointView>)))]
pub(crate) async fn list_endpoints(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<EndpointView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.allowed_endpoints(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, EndpointView::from)))
}

/// Allow services to call an address on this machine.
#[utoipa::path(post, path = "/allowed-endpoints", tag = "administration", request_body = EndpointBody,
    responses((status = 201, body = Mutated<EndpointView>)))]
pub(crate) async fn allow_endpoint(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<EndpointView>, ApiError> {
    let EndpointBody { host, port } = mutation.body().await?;
    let made = engine.allow_endpoint(&mutation.caller, mutation.request, &host, port).await?;
    Ok(Answer::made(made.map(EndpointView::from), "/api/v1/allowed-endpoints".to_owned()))
}

/// Refuse an address again.
#[utoipa::path(delete, path = "/allowed-endpoints/{id}", tag = "administration", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<EndpointView>)))]
pub(crate) async fn refuse_endpoint(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<EndpointView>, ApiError> {
    mutation.no_body().await?;
    let refused = engine.refuse_endpoint(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(refused.map(EndpointView::from)))
}
