//! How the index of this server stands, over HTTP.

use axum::extract::State;
use serde::Serialize;
use skein_core::NodeId;
use skein_core::garden::cursor::Cursor;
use skein_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::json::Json;
use crate::query::{NoParameters, Parameters};
use crate::signed_in::SignedIn;

/// Nodes without an episode that are told.
const UNBOUND_MAX: usize = 100;

/// The index, and what is not remembered yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IndexView {
    /// Whether this server keeps an index; without one, words are looked for in the store.
    available: bool,
    /// How far it has come along the timeline.
    #[schema(value_type = Option<String>, example = "12.345")]
    cursor: Option<Cursor>,
    /// Items after that, counted up to a million.
    behind: Option<usize>,
    episodes: u64,
    /// Of these, how many have a vector; the others are found by their words.
    with_vector: u64,
    /// What makes the vectors.
    embedder: Option<String>,
    bytes: u64,
    /// Nodes that were completed and have no episode yet, the oldest first, at most a hundred.
    #[schema(value_type = Vec<String>)]
    unbound: Vec<NodeId>,
}

/// How the index of this server stands, for administrators.
#[utoipa::path(get, path = "/index", tag = "administration", responses((status = 200, body = IndexView)))]
pub(crate) async fn read_index(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<IndexView>, ApiError> {
    let unbound = engine.unbound_nodes(&caller, UNBOUND_MAX).await?;
    let state = engine.index_state(&caller).await?;
    Ok(Json(IndexView {
        available: state.is_some(),
        cursor: state.as_ref().map(|state| state.cursor),
        behind: state.as_ref().map(|state| state.behind),
        episodes: state.as_ref().map_or(0, |state| state.episodes),
        with_vector: state.as_ref().map_or(0, |state| state.with_vector),
        bytes: state.as_ref().map_or(0, |state| state.bytes),
        embedder: state.map(|state| state.embedder),
        unbound,
    }))
}
