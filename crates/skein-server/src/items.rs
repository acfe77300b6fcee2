//! Items over HTTP: stating facts, reading one, listing many.

mod request;
mod view;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use skein_core::ItemId;
use skein_engine::Engine;

use crate::body::JsonText;
use crate::error::ApiError;
use crate::items::request::{AppendRequest, ListParameters};
use crate::items::view::{BatchView, ItemView};
use crate::pagination::{Listing, write_cursor};
use crate::query::{NoParameters, Parameters};
use crate::signed_in::SignedIn;

/// `POST /api/v1/items`: one item, or a batch that is kept whole or not at all.
pub(crate) async fn append_items(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    JsonText(text): JsonText,
) -> Result<Response, ApiError> {
    match AppendRequest::parse(&text)? {
        AppendRequest::One(item) => {
            let stored = engine.append_item(&caller, item).await?;
            let location = [(header::LOCATION, format!("/api/v1/items/{}", stored.item.header.id))];
            Ok((StatusCode::CREATED, location, Json(ItemView::from(stored))).into_response())
        }
        AppendRequest::Batch(items) => {
            let stored = engine.append_items(&caller, items).await?;
            let data = stored.into_iter().map(ItemView::from).collect();
            Ok((StatusCode::CREATED, Json(BatchView { data })).into_response())
        }
    }
}

/// `GET /api/v1/items/{id}`: one item, also when it was undone or redacted.
pub(crate) async fn read_item(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<ItemView>, ApiError> {
    let Path(id) = id.map_err(|rejection| invalid_id(rejection.body_text()))?;
    let id: ItemId = id.parse().map_err(|bad: skein_core::id::BadId| invalid_id(bad.to_string()))?;
    let stored = engine.item(&caller, id).await?;
    Ok(Json(stored.into()))
}

fn invalid_id(message: String) -> ApiError {
    ApiError::bad_request("invalid_id", message)
}

/// `GET /api/v1/items`: the caller's items along either clock, page by page.
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
