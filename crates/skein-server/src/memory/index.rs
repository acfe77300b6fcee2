//! How the index of this server stands, over HTTP.

use axum::extract::State;
use serde::Serialize;
use skein_core::NodeId;
use skein_core::garden::cursor::Cursor;
use skein_engine::Engine;
use skein_engine::memory::{EmbeddingFailure, Switching};
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
    /// What made the vectors.
    embedder: Option<String>,
    /// What is to make them, by the configuration.
    configured_embedder: Option<String>,
    /// Why no vectors are made for now; words find what has none.
    embedder_failure: Option<EmbedderFailureView>,
    /// How far the vectors of the configured embedder are made; until all are, those there were serve.
    switching: Option<SwitchingView>,
    bytes: u64,
    /// Nodes that were completed and have no episode yet, the oldest first, at most a hundred.
    #[schema(value_type = Vec<String>)]
    unbound: Vec<NodeId>,
}

/// Why no vectors are made for now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmbedderFailureView {
    #[schema(example = "the provider limits how often it is asked")]
    message: String,
    /// How often in a row.
    failures: u32,
    /// When it is tried again, in milliseconds from now.
    retry_in_ms: u64,
}

impl From<EmbeddingFailure> for EmbedderFailureView {
    fn from(failure: EmbeddingFailure) -> Self {
        let retry_in_ms = u64::try_from(failure.retry_in.as_millis()).unwrap_or(u64::MAX);
        Self { message: failure.said, failures: failure.failures, retry_in_ms }
    }
}

/// How far the vectors of another embedder are made.
#[derive(Serialize, ToSchema)]
pub(crate) struct SwitchingView {
    /// Whose they are.
    to: String,
    /// How far along the timeline.
    #[schema(value_type = String, example = "12.345")]
    cursor: Cursor,
    episodes: u64,
}

impl From<Switching> for SwitchingView {
    fn from(Switching { to, cursor, episodes }: Switching) -> Self {
        Self { to, cursor, episodes }
    }
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
        configured_embedder: state.as_ref().map(|state| state.configured.clone()),
        embedder_failure: state.as_ref().and_then(|state| state.failure.clone()).map(Into::into),
        switching: state.as_ref().and_then(|state| state.switching.clone()).map(Into::into),
        embedder: state.map(|state| state.embedder),
        unbound,
    }))
}
