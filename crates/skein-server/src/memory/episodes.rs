//! Episodes over HTTP: what is remembered, and what agents bring.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
use skein_core::tree::actor::ActorId;
use skein_core::{ConversationId, EpisodeId, ItemId, Millis, NodeId, TurnId, UserId};
use skein_engine::Engine;
use skein_engine::memory::{EpisodeImport, EpisodeImportResult, ShownEpisode};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, read_page};

/// Content an agent brings.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "source": "message", "content": "Herons nest in May.", "speaker": "Ada" }))]
pub(crate) struct BringBody {
    /// text, message or json.
    #[schema(value_type = String, example = "message")]
    source: EpisodeSource,
    /// A string, or for json an object or a list.
    content: Value,
    /// Who said it.
    #[serde(default)]
    speaker: Option<String>,
    /// When it was said, if not now.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2026-05-01T09:30:00.000Z")]
    valid_at: Option<Millis>,
    /// From the paths of which node it is visible; without it from every path.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
}

/// What was brought: kept, and remembered a moment later.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BroughtView {
    #[schema(value_type = String, example = "episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: EpisodeId,
    /// The item it is computed from.
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    item_id: ItemId,
    #[schema(value_type = String, example = "2026-05-01T09:30:00.000Z")]
    valid_at: Millis,
    /// Whether the same was brought before, and this is that one: nothing was added.
    known: bool,
}

impl From<EpisodeImportResult> for BroughtView {
    fn from(kept: EpisodeImportResult) -> Self {
        let EpisodeImportResult { stored, was_known } = kept;
        let item_id = stored.item.header.id;
        let id = EpisodeId::from_bytes(*item_id.as_bytes());
        Self { id, item_id, valid_at: stored.canonical_at, known: was_known }
    }
}

/// Something that is remembered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EpisodeView {
    #[schema(value_type = String, example = "episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: EpisodeId,
    name: String,
    /// message, text, json, summary or introspection.
    #[schema(value_type = String, example = "message")]
    source: EpisodeSource,
    /// Whose memory it belongs to.
    #[schema(value_type = String)]
    group_id: UserId,
    #[schema(value_type = String)]
    item_id: ItemId,
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    #[schema(value_type = Option<String>)]
    turn_id: Option<TurnId>,
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
    #[schema(value_type = Option<String>)]
    branch_id: Option<NodeId>,
    depth: Option<i64>,
    #[schema(value_type = Option<String>)]
    actor_id: Option<ActorId>,
    speaker: Option<String>,
    /// What it says; null when that was destroyed.
    content: Option<String>,
    /// When it was said.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    valid_at: Millis,
    /// When it became known here.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// `waiting` to be indexed, `indexed`, `kept` and never found, `destroyed`, `unbound` when nothing can be made of it, or
    /// `unindexed` where the server keeps no index.
    #[schema(example = "indexed")]
    status: &'static str,
    /// Why it is not found, or not by everything; null when there is nothing to say.
    status_reason: Option<&'static str>,
}

impl From<ShownEpisode> for EpisodeView {
    fn from(shown: ShownEpisode) -> Self {
        let ShownEpisode { episode, name, text, speaker, status, reason } = shown;
        let place = episode.place;
        Self {
            id: episode.id,
            name,
            source: episode.source,
            group_id: episode.owner,
            item_id: episode.item,
            conversation_id: place.map(|place| place.conversation),
            turn_id: place.and_then(|place| place.turn),
            node_id: place.map(|place| place.node),
            branch_id: place.map(|place| place.label.branch),
            depth: place.map(|place| place.label.depth),
            actor_id: episode.actor,
            speaker,
            content: text,
            valid_at: episode.valid_at,
            created_at: episode.created_at,
            status: status.as_str(),
            status_reason: reason,
        }
    }
}

/// Which episodes.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EpisodeParameters {
    /// Only those of one conversation.
    #[param(value_type = Option<String>)]
    conversation: Option<ConversationId>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// What is remembered of you, the newest first.
#[utoipa::path(get, path = "/episodes", tag = "memory", params(EpisodeParameters),
    responses((status = 200, body = Listing<EpisodeView>)))]
pub(crate) async fn list_episodes(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<EpisodeParameters>,
) -> Result<Json<Listing<EpisodeView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page = engine.episodes(&caller, parameters.conversation, after, limit).await?;
    Ok(Json(Listing::of(page, limit, EpisodeView::from)))
}

/// Bring content from elsewhere: an item is made of it, and a moment later an episode of the same number.
///
/// The same content of the same speaker and node, said at the same time, is there once: bringing it again answers 200 with what
/// is there. Content without a time is said now; within a day it is the same, later it was said again.
#[utoipa::path(post, path = "/episodes", tag = "memory", request_body = BringBody,
    responses((status = 201, body = Mutated<BroughtView>), (status = 200, body = Mutated<BroughtView>)))]
pub(crate) async fn import_episode(State(engine): State<Engine>, mutation: Mutation) -> Result<Response, ApiError> {
    let body: BringBody = mutation.body().await?;
    let BringBody { source, content, speaker, valid_at, node_id } = body;
    let brought = EpisodeImport { brought: ImportedEpisode { source, content, speaker, node_id }, said_at: valid_at };
    let made = engine.import_episode(&mutation.caller, mutation.request, brought).await?.map(BroughtView::from);
    if made.value.known {
        return Ok(Answer::done(made).into_response());
    }
    let location = format!("/api/v1/episodes/{}", made.value.id);
    Ok(Answer::made(made, location).into_response())
}

/// One thing that is remembered.
#[utoipa::path(get, path = "/episodes/{id}", tag = "memory", params(("id" = String, Path)),
    responses((status = 200, body = EpisodeView)))]
pub(crate) async fn read_episode(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<EpisodeId>,
) -> Result<Json<EpisodeView>, ApiError> {
    Ok(Json(engine.episode(&caller, id).await?.into()))
}
