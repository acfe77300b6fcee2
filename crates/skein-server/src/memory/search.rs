//! Recall over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::Cursor;
use skein_core::memory::episode::EpisodeSource;
use skein_core::tree::actor::ActorId;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, RecordId, TurnId};
use skein_engine::Engine;
use skein_engine::memory::{
    FoundEpisode, HitLocation, Parts, RecallQuery, Recalled, SearchExtent, SearchedBy, SemanticSearch,
};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::body::QueryBody;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::respond::pagination::{Listing, entry_limit};

const RESULTS_DEFAULT: usize = 20;
const SIMILAR_DEFAULT: usize = 10;
const RESULTS_MAX: usize = 100;
/// Longer questions are cut by the embedder anyway.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Conversations, people or kinds a question is narrowed to.
const NAMED_MAX: usize = 1_000;
/// In place of a cursor: everything that was said so far.
const LATEST: &str = "latest";

/// What to look for, and from where; nothing is changed by it, so it needs no key of its own.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "text": "herons of the lake", "limit": 20 }))]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct SearchBody {
    /// Plain words, in any case and any language: what means the same is found too. Nothing in them is syntax.
    #[schema(example = "herons of the lake")]
    text: String,
    /// The node you stand at: the path that leads to it is searched, and the main paths of other conversations.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
    /// The conversation you stand in, where its owner stands, unless a node is named.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// Whether the path you stand on is left out.
    #[serde(default)]
    elsewhere: bool,
    /// Whether branches that no path shows are searched too; `searched.allBranches` says if they were.
    #[serde(default)]
    all_branches: bool,
    /// Only what was said in one of these conversations.
    #[serde(default)]
    #[schema(value_type = Vec<String>, max_items = 1000)]
    within: Vec<ConversationId>,
    /// Only what was said in a conversation of this project.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    project_id: Option<RecordId>,
    /// Only what one of these said.
    #[serde(default)]
    #[schema(value_type = Vec<String>, max_items = 1000)]
    actor_ids: Vec<ActorId>,
    /// Only what is of one of these kinds: message, text, json, summary, introspection.
    #[serde(default)]
    #[schema(value_type = Vec<String>, max_items = 5)]
    sources: Vec<EpisodeSource>,
    /// Only what was said then or later.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2026-01-01T00:00:00.000Z")]
    from: Option<Millis>,
    /// Only what was said then or earlier.
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2027-01-01T00:00:00.000Z")]
    until: Option<Millis>,
    /// What the answer would have been then: only what had been said by that moment.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    as_of: Option<Millis>,
    /// Only what had become known here by that moment, whenever it was said.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    known_at: Option<Millis>,
    /// Whether what was said lately is preferred.
    #[serde(default)]
    recent: bool,
    /// Whether what merely stands beside something that was found is left out.
    #[serde(default)]
    strict: bool,
    /// The answer is to know everything up to this cursor (`Skein-Cursor` of a change), or with `latest` all that was said so
    /// far; it is waited for up to two seconds, and `searched.indexBehind` says if that was not enough.
    #[serde(default)]
    #[schema(example = "latest")]
    at_least: Option<String>,
    /// Where the last page ended: its `pagination.next`.
    #[serde(default)]
    cursor: Option<String>,
    /// Results per page, 1 to 100.
    #[serde(default = "results_default")]
    #[schema(minimum = 1, maximum = 100, example = 20)]
    limit: usize,
}

fn results_default() -> usize {
    RESULTS_DEFAULT
}

/// What was found, and what was searched for it.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundListing {
    #[serde(flatten)]
    listing: Listing<FoundView>,
    searched: SearchedView,
}

/// What an answer covers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SearchedView {
    /// `index`, or `words` where there is no index or it is being built again.
    #[schema(example = "index")]
    by: &'static str,
    /// Whether it was also looked for by meaning.
    by_meaning: bool,
    /// Why it was not: `no_index`, `nothing_to_embed`, `embedder_failed` or `embedder_gone`, whose vectors the index still has.
    without_meaning: Option<&'static str>,
    /// Where the question was asked; null searches all main paths.
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// The end of the path it was asked on.
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
    /// Whether branches that no path shows were searched too; without an index they are not.
    all_branches: bool,
    #[schema(value_type = Option<String>)]
    as_of: Option<Millis>,
    #[schema(value_type = Option<String>)]
    known_at: Option<Millis>,
    /// The answer knows everything up to here.
    #[schema(value_type = String, example = "12.345")]
    index_cursor: Cursor,
    /// Whether there is more than that already.
    index_behind: bool,
    /// How many episodes could be seen at all.
    visible: Option<u32>,
}

impl From<SearchExtent> for SearchedView {
    fn from(searched: SearchExtent) -> Self {
        let by = match searched.by {
            SearchedBy::Index => "index",
            SearchedBy::Words => "words",
        };
        let without_meaning = match searched.meaning {
            SemanticSearch::Searched => None,
            SemanticSearch::NoIndex => Some("no_index"),
            SemanticSearch::Nothing => Some("nothing_to_embed"),
            SemanticSearch::EmbedderFailed => Some("embedder_failed"),
            SemanticSearch::EmbedderGone => Some("embedder_gone"),
        };
        Self {
            by,
            by_meaning: without_meaning.is_none(),
            without_meaning,
            conversation_id: searched.conversation,
            node_id: searched.node,
            all_branches: searched.all_branches,
            as_of: searched.as_of,
            known_at: searched.known_at,
            index_cursor: searched.cursor,
            index_behind: searched.is_behind,
            visible: searched.visible,
        }
    }
}

/// Something that was found, and why.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundView {
    #[schema(value_type = String, example = "episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    episode_id: EpisodeId,
    name: String,
    /// message, text, json, summary or introspection.
    #[schema(value_type = String, example = "message")]
    source: EpisodeSource,
    /// Where it was said; null for what was brought and names no node.
    #[schema(value_type = Option<String>, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    node_id: Option<NodeId>,
    #[schema(value_type = Option<String>)]
    turn_id: Option<TurnId>,
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// The branch it stands on, and how deep.
    #[schema(value_type = Option<String>)]
    branch_id: Option<NodeId>,
    depth: Option<i64>,
    /// `path` you stand on, `elsewhere` on the main path of another conversation, `aside` on a branch that no path shows, or
    /// `anywhere`.
    #[schema(example = "elsewhere")]
    found: &'static str,
    /// Who said it.
    #[schema(value_type = Option<String>)]
    actor_id: Option<ActorId>,
    /// user, agent or system.
    #[schema(value_type = Option<String>)]
    speaker: Option<Speaker>,
    /// Who said what was brought.
    said_by: Option<String>,
    /// When it was said.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// When it became known here.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    known_at: Millis,
    /// What it says around what matched.
    snippet: String,
    /// Where in the snippet something matched, each from one character to another, counted in UTF-16 units.
    #[schema(value_type = Vec<Vec<u32>>)]
    highlights: Vec<[usize; 2]>,
    /// The words that matched, in lower case.
    words: Vec<String>,
    /// The sum of the parts.
    score: f32,
    parts: PartsView,
}

/// What each way of finding gave, in standard deviations above what could be seen, weighted.
#[derive(Serialize, ToSchema)]
struct PartsView {
    words: f32,
    /// Words like those asked for.
    likeness: f32,
    meaning: f32,
    /// It was said by somebody the question names.
    speaker: f32,
    /// What was said beside it.
    neighbours: f32,
    recency: f32,
    /// The cosine with the question itself.
    similarity: Option<f32>,
}

impl From<Parts> for PartsView {
    fn from(parts: Parts) -> Self {
        let Parts { words, likeness, meaning, speaker, neighbours, recency, similarity } = parts;
        Self { words, likeness, meaning, speaker, neighbours, recency, similarity }
    }
}

impl From<FoundEpisode> for FoundView {
    fn from(found: FoundEpisode) -> Self {
        let place = found.episode.place;
        let highlights = found.snippet.highlights.iter();
        let units = |at: usize| found.snippet.text[..at].encode_utf16().count();
        Self {
            episode_id: found.episode.id,
            name: found.name,
            source: found.episode.source,
            node_id: place.map(|place| place.node),
            turn_id: place.and_then(|place| place.turn),
            conversation_id: place.map(|place| place.conversation),
            branch_id: place.map(|place| place.label.branch),
            depth: place.map(|place| place.label.depth),
            found: match found.found {
                HitLocation::Path => "path",
                HitLocation::Elsewhere => "elsewhere",
                HitLocation::Aside => "aside",
                HitLocation::Anywhere => "anywhere",
            },
            actor_id: found.episode.actor,
            speaker: found.speaker,
            said_by: found.said_by,
            created_at: found.episode.valid_at,
            known_at: found.episode.created_at,
            highlights: highlights.map(|at| [units(at.start), units(at.end)]).collect(),
            snippet: found.snippet.text,
            words: found.words,
            score: found.score,
            parts: found.parts.into(),
        }
    }
}

impl SearchBody {
    fn read(self) -> Result<RecallQuery, ApiError> {
        let invalid = |message: &str| ApiError::bad_request("invalid_body", message);
        if self.text.trim().is_empty() || self.text.len() > TEXT_BYTES_MAX {
            return Err(invalid("text: send some words, at most 65536 bytes"));
        }
        if !(1..=RESULTS_MAX).contains(&self.limit) {
            return Err(invalid("limit is between 1 and 100"));
        }
        if self.within.len().max(self.actor_ids.len()).max(self.sources.len()) > NAMED_MAX {
            return Err(invalid("within, actorIds, sources: name at most 1000"));
        }
        let skip = self.cursor.map_or(Ok(0), |cursor| cursor.parse());
        let at_least = self.at_least.filter(|cursor| cursor != LATEST).map(|cursor| cursor.parse()).transpose();
        let at_least = at_least.map_err(|_| invalid("atLeast: send the Skein-Cursor of a change, or latest"))?;
        Ok(RecallQuery {
            text: self.text,
            node: self.node_id,
            conversation: self.conversation_id,
            elsewhere: self.elsewhere,
            all_branches: self.all_branches,
            within: self.within,
            project: self.project_id,
            actors: self.actor_ids,
            sources: self.sources,
            from: self.from,
            until: self.until,
            as_of: self.as_of,
            known_at: self.known_at,
            recent: self.recent,
            strict: self.strict,
            at_least,
            skip: skip.map_err(|_| invalid("cursor: send pagination.next of the page before"))?,
            limit: self.limit,
            ..RecallQuery::default()
        })
    }
}

fn answer(recalled: Recalled, limit: usize) -> Json<FoundListing> {
    let listing = Listing::of(recalled.page, limit, FoundView::from);
    Json(FoundListing { listing, searched: recalled.searched.into() })
}

/// Search what was said: on the path you stand on, and on the main paths of your other conversations; on all branches where
/// that is asked for.
///
/// By words, by meaning, by what was said beside it, and by who said it. What was cut off, excluded or destroyed is not
/// found, nor what was said while tools worked. Every result says why it was found, and the answer what it covers.
#[utoipa::path(post, path = "/search", tag = "memory", request_body = SearchBody,
    responses((status = 200, body = FoundListing)))]
pub(crate) async fn search(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    QueryBody(body): QueryBody<SearchBody>,
) -> Result<Json<FoundListing>, ApiError> {
    let is_latest = body.at_least.as_deref() == Some(LATEST);
    let query = body.read()?;
    let limit = query.limit;
    let recalled =
        if is_latest { engine.recall_now(&caller, query).await? } else { engine.recall(&caller, query).await? };
    Ok(answer(recalled, limit))
}

/// How many to tell.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SimilarParameters {
    /// Results, 1 to 100. Default 10.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, example = 10)]
    limit: Option<String>,
}

/// What resembles a node, as seen from there.
#[utoipa::path(get, path = "/nodes/{id}/similar", tag = "memory", params(("id" = String, Path), SimilarParameters),
    responses((status = 200, body = FoundListing)))]
pub(crate) async fn similar_nodes(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<SimilarParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<FoundListing>, ApiError> {
    let limit = entry_limit(parameters.limit.as_deref(), SIMILAR_DEFAULT, RESULTS_MAX)?;
    Ok(answer(engine.similar(&caller, id, limit).await?, limit))
}
