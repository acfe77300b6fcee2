//! Conversations as a whole over HTTP: begun, changed, listed, forked, folded, reopened, and seen as a tree.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use skein_core::tree::conversation::{Citation, ConversationChange, ConversationDraft, ConversationStatus};
use skein_core::tree::short_text::Title;
use skein_core::{ConversationId, NodeId, RecordId};
use skein_engine::Engine;
use skein_engine::tree::{Folding, Forking};
use skein_store::tree::conversations::ConversationQuery;
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, PageParameters, read_page};
use crate::tree::ConversationView;
use crate::tree::skeleton::{SkeletonView, write};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "title": "Herons of the lake", "systemContext": "Answer in one sentence." }))]
#[expect(dead_code, reason = "describes ConversationDraft")]
pub(crate) struct ConversationBody {
    #[schema(min_length = 1, max_length = 200)]
    title: Option<String>,
    #[schema(max_length = 4000)]
    description: Option<String>,
    /// dialogue (left out) or buffer; it stays as it is made.
    mode: Option<String>,
    /// What every model is told first.
    #[schema(min_length = 1, max_length = 32000)]
    system_context: Option<String>,
    /// Of a buffer: whether `systemContext` and other instructions are sent. Default true; refused for a dialogue (422).
    buffer_mode_system_context: Option<bool>,
    /// How many tokens a model is shown at most.
    #[schema(minimum = 2048, maximum = 100_000_000)]
    context_budget: Option<u32>,
    /// The process that is offered first. Default: your default process while it can answer; null offers none.
    process_id: Option<String>,
    /// Your first project unless one is named.
    project_id: Option<String>,
}

/// What is absent stays; null takes away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "status": "archived",
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ConversationChange")]
pub(crate) struct ConversationChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    title: Option<String>,
    description: Option<String>,
    system_context: Option<String>,
    /// Of a buffer: whether `systemContext` and other instructions are sent. Refused for a dialogue (422).
    buffer_mode_system_context: Option<bool>,
    context_budget: Option<u32>,
    process_id: Option<String>,
    /// active or archived.
    status: Option<String>,
    tags: Option<Vec<String>>,
}

/// Where to go on from, and how to call it.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schema(example = json!({ "title": "Herons by night" }))]
pub(crate) struct ForkBody {
    /// The node to go on from; where you stand unless it is named.
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
    /// Default: none; it is shown as "Fork of" and the title of this conversation.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    title: Option<Title>,
    /// Must be false or left out: no entities are active yet, so there is nothing to copy (422).
    #[schema(default = false)]
    copy_active_entities: Option<bool>,
}

/// What a conversation is folded into.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "summary": "There are eleven herons." }))]
pub(crate) struct FoldBody {
    /// What came of it, in words.
    #[schema(min_length = 1, max_length = 32000)]
    summary: String,
    /// The nodes of this conversation that say so, at most 1000. Fragments (`item_…#3`) do not exist yet (422).
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    cites: Vec<Citation>,
    /// The last node of the branch: reopening starts there. Default: the end of the continuation you read last.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
}

/// Which conversations.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ConversationParameters {
    /// active (left out) or archived.
    status: Option<String>,
    /// Only of this project.
    #[param(value_type = Option<String>)]
    project_id: Option<RecordId>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

impl ConversationParameters {
    fn is_archived(&self) -> Result<bool, ApiError> {
        let Some(text) = &self.status else { return Ok(false) };
        let status = ConversationStatus::parse(text).ok_or_else(|| {
            ApiError::bad_request("invalid_query", "status: send active or archived").with_detail("field", "status")
        })?;
        Ok(status == ConversationStatus::Archived)
    }
}

/// Your conversations, the one last spoken in first; those where tools worked are not listed.
#[utoipa::path(get, path = "/conversations", tag = "conversations", params(ConversationParameters),
    responses((status = 200, body = Listing<ConversationView>)))]
pub(crate) async fn list_conversations(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ConversationParameters>,
) -> Result<Json<Listing<ConversationView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let archived = parameters.is_archived()?;
    let query = ConversationQuery { archived, project: parameters.project_id, after, limit };
    let page = engine.conversations(&caller, query).await?;
    Ok(Json(Listing::of(page, limit, ConversationView::from)))
}

/// Begin a conversation; nothing is said in it yet.
#[utoipa::path(post, path = "/conversations", tag = "conversations", request_body = ConversationBody,
    responses((status = 201, body = Mutated<ConversationView>)))]
pub(crate) async fn create_conversation(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ConversationView>, ApiError> {
    let draft: ConversationDraft = mutation.body().await?;
    let made = engine.create_conversation(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/conversations/{}", made.value.shown.id);
    Ok(Answer::made(made.map(ConversationView::from), location))
}

/// One conversation.
#[utoipa::path(get, path = "/conversations/{id}", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = ConversationView)))]
pub(crate) async fn read_conversation(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ConversationId>,
) -> Result<Json<ConversationView>, ApiError> {
    Ok(Json(engine.conversation(&caller, id).await?.into()))
}

/// Change what a conversation is called, what models are told in it, its tags, or whether it is archived.
#[utoipa::path(put, path = "/conversations/{id}", tag = "conversations", params(("id" = String, Path)),
    request_body = ConversationChangeBody, responses((status = 200, body = Mutated<ConversationView>)))]
pub(crate) async fn change_conversation(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<ConversationView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ConversationChange>().await?;
    let changed = engine.change_conversation(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(changed.map(ConversationView::from)))
}

/// The whole tree without what it says, in columns: the n-th entry of each is about the n-th node, oldest first.
#[utoipa::path(get, path = "/conversations/{id}/tree", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = SkeletonView)))]
pub(crate) async fn read_tree(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ConversationId>,
) -> Result<Response, ApiError> {
    let (cursor, bones) = engine.skeleton(&caller, id).await?;
    let text = engine.compute().run(caller.user, move || write(id, cursor, &bones)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Grow a new conversation from a node of this one; what was said before it is seen there too.
#[utoipa::path(post, path = "/conversations/{id}/fork", tag = "conversations", params(("id" = String, Path)),
    request_body = ForkBody, responses((status = 201, body = Mutated<ConversationView>)))]
pub(crate) async fn fork_conversation(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<ConversationView>, ApiError> {
    let ForkBody { node_id, title, copy_active_entities } = mutation.body().await?;
    let forking = Forking { turn: None, node: node_id, title, copy_active_entities };
    let made = engine.fork_conversation(&mutation.caller, mutation.request, id, forking).await?;
    let location = format!("/api/v1/conversations/{}", made.value.shown.id);
    Ok(Answer::made(made.map(ConversationView::from), location))
}

/// The conversations that grew from this one, those where tools worked too, in the order they were made.
#[utoipa::path(get, path = "/conversations/{id}/forks", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<ConversationView>)))]
pub(crate) async fn list_forks(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<ConversationId>,
) -> Result<Json<Listing<ConversationView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.forks(&caller, id, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ConversationView::from)))
}

/// Fold a conversation without open forks into a summary; from then on it takes nothing more.
#[utoipa::path(post, path = "/conversations/{id}/fold", tag = "conversations", params(("id" = String, Path)),
    request_body = FoldBody, responses((status = 200, body = Mutated<ConversationView>)))]
pub(crate) async fn fold_conversation(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<ConversationView>, ApiError> {
    let FoldBody { summary, cites, node_id } = mutation.body().await?;
    let folding = Folding { text: summary, cites, end: node_id };
    let folded = engine.fold_conversation(&mutation.caller, mutation.request, id, folding).await?;
    Ok(Answer::done(folded.map(ConversationView::from)))
}

/// Go on with a folded conversation in a new one, which sees all of it.
#[utoipa::path(post, path = "/conversations/{id}/reopen", tag = "conversations", params(("id" = String, Path)),
    responses((status = 201, body = Mutated<ConversationView>)))]
pub(crate) async fn reopen_conversation(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<ConversationView>, ApiError> {
    mutation.no_body().await?;
    let made = engine.reopen_conversation(&mutation.caller, mutation.request, id).await?;
    let location = format!("/api/v1/conversations/{}", made.value.shown.id);
    Ok(Answer::made(made.map(ConversationView::from), location))
}
