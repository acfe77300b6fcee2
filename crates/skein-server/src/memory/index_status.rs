//! Index status over HTTP.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::Cursor;
use skein_core::{EpisodeId, Millis, UserId};
use skein_engine::Engine;
use skein_engine::memory::{EmbeddingFailure, OwnerState, Rebuild, SwitchProgress, UnindexableEpisode};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, PageParameters};

/// Things without an episode that are told with how the index stands.
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
    /// Where the timeline ends.
    #[schema(value_type = Option<String>, example = "12.345")]
    end: Option<Cursor>,
    /// Items between these, counted up to a hundred thousand.
    behind: Option<usize>,
    /// Whether everything there was when the server began, or when it was to be built again, is in it; until then words are
    /// looked for in the store.
    caught_up: bool,
    /// Why nothing could be indexed when that was last tried; it is tried again.
    failure: Option<String>,
    episodes: u64,
    /// Of these, how many have a vector; the others are found by their words.
    with_vector: u64,
    /// Whether what somebody said is being filed under the name they have now.
    renaming: bool,
    /// What made the vectors.
    embedder: Option<String>,
    /// What is to make them, by the configuration.
    configured_embedder: Option<String>,
    /// Why no vectors are made for now; words find what has none.
    embedder_failure: Option<EmbedderFailureView>,
    /// How far the vectors of the configured embedder are made; until all are, those there were serve.
    switching: Option<SwitchingView>,
    bytes: u64,
    /// What was said or brought and is not remembered: first what nothing can be made of, of which there may be more in
    /// `GET /index/unindexable`, then what was not looked at yet; the oldest first, at most a hundred.
    unbound: Vec<UnboundView>,
    /// How it stands with each owner, those with most to do first, at most a hundred.
    owners: Vec<OwnerIndexView>,
}

/// What the index holds of one owner, and what it does not know yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnerIndexView {
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    episodes: u64,
    with_vector: u64,
    /// Things said or brought that are not in the index yet, among the items that are counted.
    waiting: u64,
}

impl From<OwnerState> for OwnerIndexView {
    fn from(state: OwnerState) -> Self {
        let OwnerState { owner, episodes, with_vector, waiting } = state;
        Self { owner_id: owner, episodes, with_vector, waiting }
    }
}

/// Something that was said or brought and is not remembered. Its words stay its owner's.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnboundView {
    /// The number its episode would have, and that its node or item has.
    #[schema(value_type = String, example = "episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: EpisodeId,
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    #[schema(example = "it names a node that is not there, or that has no place of its own")]
    reason: &'static str,
    /// When that was found, or when it became known here if nobody looked yet.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    since: Millis,
}

impl From<UnindexableEpisode> for UnboundView {
    fn from(unbound: UnindexableEpisode) -> Self {
        let UnindexableEpisode { id, owner, reason, found_at } = unbound;
        Self { id, owner_id: owner, reason, since: found_at }
    }
}

/// What was said or brought and can never be found, with the reason, for administrators; the oldest first.
#[utoipa::path(get, path = "/index/unindexable", tag = "administration", params(PageParameters),
    responses((status = 200, body = Listing<UnboundView>)))]
pub(crate) async fn list_unbound(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<UnboundView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.unbound_episodes(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, UnboundView::from)))
}

/// An index that is being built again.
#[derive(Serialize, ToSchema)]
pub(crate) struct RebuildView {
    /// Where the timeline ended when that was asked for: it is done when `caughtUp` is true.
    #[schema(value_type = String, example = "12.345")]
    end: Cursor,
}

/// How the index is built again.
#[derive(Deserialize, Default, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "anew": false }))]
pub(crate) struct RebuildBody {
    /// Whether the vectors that the configured embedder made are thrown away too, and all are asked for again: for when another
    /// model answers under the same name.
    #[serde(default)]
    anew: bool,
}

/// Build the index of this server again from the timeline; how far that is says `GET /index`.
#[utoipa::path(post, path = "/index/rebuilds", tag = "administration", request_body = RebuildBody,
    responses((status = 202, body = Mutated<RebuildView>)))]
pub(crate) async fn rebuild_index(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<RebuildView>, ApiError> {
    let RebuildBody { anew } = mutation.body_if_any().await?;
    let begun = engine.rebuild_index(&mutation.caller, mutation.request, Rebuild { is_anew: anew }).await?;
    Ok(Answer::begun(begun.map(|rebuilding| RebuildView { end: rebuilding.end })))
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

impl From<SwitchProgress> for SwitchingView {
    fn from(SwitchProgress { to, cursor, episodes }: SwitchProgress) -> Self {
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
    let unbound = engine.without_episode(&caller, UNBOUND_MAX).await?.into_iter().map(UnboundView::from).collect();
    let state = engine.index_state(&caller).await?;
    Ok(Json(IndexView {
        available: state.is_some(),
        cursor: state.as_ref().map(|state| state.cursor),
        end: state.as_ref().map(|state| state.end),
        behind: state.as_ref().map(|state| state.behind),
        caught_up: state.as_ref().is_some_and(|state| state.has_caught_up),
        failure: state.as_ref().and_then(|state| state.stuck.clone()),
        episodes: state.as_ref().map_or(0, |state| state.episodes),
        with_vector: state.as_ref().map_or(0, |state| state.with_vector),
        renaming: state.as_ref().is_some_and(|state| state.is_retelling),
        bytes: state.as_ref().map_or(0, |state| state.bytes),
        configured_embedder: state.as_ref().map(|state| state.configured.clone()),
        embedder_failure: state.as_ref().and_then(|state| state.failure.clone()).map(Into::into),
        switching: state.as_ref().and_then(|state| state.switching.clone()).map(Into::into),
        embedder: state.as_ref().map(|state| state.embedder.clone()),
        owners: state.map(|state| state.owners.into_iter().map(OwnerIndexView::from).collect()).unwrap_or_default(),
        unbound,
    }))
}
