//! Items over HTTP: stating facts, reading one, listing many, and what may become of one.

pub(crate) mod payload;
mod request;
mod view;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::Value;
use skein_core::{ItemId, Millis};
use skein_engine::Engine;
use utoipa::ToSchema;

use crate::garden::items::request::{AppendBody, AppendRequest, ListParameters};
use crate::garden::items::view::{AppendAnswer, BatchView, ItemView, RedactedView};
use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::{Json, JsonBytes};
use crate::http::respond::pagination::{Listing, write_cursor};
use crate::http::respond::response_cache::CachedResource;

/// State a fact, or a batch of facts that is kept whole or not at all.
#[utoipa::path(post, path = "/items", tag = "items", request_body = AppendBody,
    responses((status = 201, body = AppendAnswer)))]
pub(crate) async fn append_items(
    State(engine): State<Engine>,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    mutation: Mutation,
) -> Result<Response, ApiError> {
    match mutation.parse(AppendRequest::parse).await?? {
        AppendRequest::One(item) => {
            let stored = engine.append_item(&mutation.caller, mutation.request, item).await?;
            let location = format!("/api/v1/items/{}", stored.value.item.header.id);
            Ok(Answer::made(stored.map(ItemView::from), location).into_response())
        }
        AppendRequest::Batch(items) => {
            let stored = engine.append_items(&mutation.caller, mutation.request, items).await?;
            let view = |items: Vec<_>| BatchView { data: items.into_iter().map(ItemView::from).collect() };
            Ok(Answer::made(stored.map(view), "/api/v1/items".to_owned()).into_response())
        }
    }
}

/// One fact, also when it was undone or redacted.
#[utoipa::path(get, path = "/items/{id}", tag = "items", params(("id" = String, Path)),
    responses((status = 200, body = ItemView)))]
pub(crate) async fn read_item(
    State(context): State<Context>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ItemId>,
) -> Result<JsonBytes, ApiError> {
    let read = async { Ok(ItemView::from(context.engine.item(&caller, id).await?)) };
    context.answer(&caller, CachedResource::Item(id), read).await
}

/// Your facts along either clock.
#[utoipa::path(get, path = "/items", tag = "items", params(ListParameters),
    responses((status = 200, body = Listing<ItemView>)))]
pub(crate) async fn list_items(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Json<Listing<ItemView>>, ApiError> {
    let query = parameters.into_query()?;
    let (along, direction, limit) = (query.along, query.direction, query.limit);
    let page = engine.items(&caller, query).await?;
    let next = page.next.map(|place| write_cursor(along, direction, place));
    let data = page.rows.into_iter().map(ItemView::from).collect();
    Ok(Json(Listing::new(data, next, limit)))
}

/// That an item is part of its owner's sealed history; can be checked without this server.
#[utoipa::path(get, path = "/items/{id}/proof", tag = "items", params(("id" = String, Path)),
    responses((status = 200, body = Object)))]
pub(crate) async fn prove_item(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ItemId>,
) -> Result<Json<Value>, ApiError> {
    let proof = engine.proof(&caller, id).await?;
    let proof = serde_json::to_value(&proof).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Json(proof))
}

/// Take a fact back within five minutes; answers with the tombstone that supersedes it.
#[utoipa::path(post, path = "/items/{id}/undo", tag = "items", params(("id" = String, Path)),
    responses((status = 201, body = Mutated<ItemView>)))]
pub(crate) async fn undo_item(
    State(engine): State<Engine>,
    PathId(id): PathId<ItemId>,
    mutation: Mutation,
) -> Result<Answer<ItemView>, ApiError> {
    mutation.no_body().await?;
    let undone = engine.undo_item(&mutation.caller, mutation.request, id).await?;
    let location = format!("/api/v1/items/{}", undone.value.item.header.id);
    Ok(Answer::made(undone.map(ItemView::from), location))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "canonicalAt": "2026-11-14T18:00:00.000Z" }))]
pub(crate) struct TimeBody {
    /// When it really happened; null withdraws a correction.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(value_type = Option<String>, format = DateTime)]
    canonical_at: Option<Millis>,
}

/// State when a fact really happened.
#[utoipa::path(put, path = "/items/{id}/canonical-time", tag = "items", params(("id" = String, Path)),
    request_body = TimeBody, responses((status = 200, body = Mutated<ItemView>)))]
pub(crate) async fn correct_time(
    State(engine): State<Engine>,
    PathId(id): PathId<ItemId>,
    mutation: Mutation,
) -> Result<Answer<ItemView>, ApiError> {
    let TimeBody { canonical_at } = mutation.body().await?;
    let corrected = engine.correct_time(&mutation.caller, mutation.request, id, canonical_at).await?;
    Ok(Answer::done(corrected.map(ItemView::from)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "reason": "asked for by the person it is about" }))]
pub(crate) struct RedactBody {
    /// Why the payload must go.
    #[schema(max_length = 1000)]
    reason: String,
}

/// Destroy the payload of a fact for good; with an attachment go its bytes. The history still verifies. SQLite's log lets go
/// of it once nobody reads any more, PostgreSQL's pages at the next vacuum; backups and bundles made before keep it.
///
/// With a message go its raw response, summaries made in view of it, messages of tool runs that quote it, and inputs and outputs
/// of executions that have its words. `quotedIn` lists messages, summaries and notes of people and models that have them, too.
#[utoipa::path(post, path = "/items/{id}/redact", tag = "items", params(("id" = String, Path)),
    request_body = RedactBody, responses((status = 200, body = Mutated<RedactedView>)))]
pub(crate) async fn redact_item(
    State(engine): State<Engine>,
    PathId(id): PathId<ItemId>,
    mutation: Mutation,
) -> Result<Answer<RedactedView>, ApiError> {
    let RedactBody { reason } = mutation.body().await?;
    let redacted = engine.redact_item(&mutation.caller, mutation.request, id, reason).await?;
    Ok(Answer::done(redacted.map(RedactedView::from)))
}
