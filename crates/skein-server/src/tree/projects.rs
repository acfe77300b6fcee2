//! Projects over HTTP: what they gather, and where in them each participant is.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::garden::project::{Project, ProjectChange, ProjectDraft};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::conversation::ConversationKind;
use skein_core::{ConversationId, Millis, NodeId, RecordId};
use skein_engine::Engine;
use skein_engine::catalog::StoredEntry;
use skein_engine::tree::{FrameMove, ShownConversation, ShownFrame};
use utoipa::ToSchema;

use crate::catalog::EntryHead;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::{PathId, PathIds};
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// What a person works in.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProjectView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ProjectFields)]
    project: Project,
}

impl From<StoredEntry<Project>> for ProjectView {
    fn from(shown: StoredEntry<Project>) -> Self {
        Self { head: EntryHead::of(&shown), project: shown.entry }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::garden::project::Project")]
pub(crate) struct ProjectFields {
    #[schema(example = "My project")]
    name: String,
    #[schema(nullable = false)]
    description: Option<String>,
    /// Whether new conversations go here when nothing else is said.
    is_default: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Herons of the lake", "description": "What we know about them." }))]
#[expect(dead_code, reason = "describes ProjectDraft")]
pub(crate) struct ProjectBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(max_length = 4000)]
    description: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Herons", "description": null,
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ProjectChange")]
pub(crate) struct ProjectChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
    /// Null takes it away.
    #[schema(max_length = 4000)]
    description: Option<String>,
}

/// A branch of a project, as its stack lists it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchView {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    conversation_id: ConversationId,
    #[schema(example = "Herons of the lake")]
    title: String,
    /// main, fork or `tool_run`.
    #[schema(value_type = String, example = "main")]
    kind: ConversationKind,
    archived: bool,
    /// Whether it was folded and takes nothing more.
    folded: bool,
    /// The branch it grew from; the tree of branches follows from this, not from the order of the stack.
    #[schema(value_type = Option<String>)]
    parent_conversation_id: Option<ConversationId>,
    /// The node it grew from.
    #[schema(value_type = Option<String>)]
    fork_origin_alternative_id: Option<NodeId>,
    /// The folded branch that it goes on with.
    #[schema(value_type = Option<String>)]
    continues: Option<RecordId>,
    /// How many nodes it has.
    nodes: i64,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// When something was last said in it.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    active_at: Millis,
}

impl From<ShownConversation> for BranchView {
    fn from(shown: ShownConversation) -> Self {
        let ShownConversation { shown, row, title, .. } = shown;
        Self {
            conversation_id: row.id,
            title,
            kind: shown.entry.kind,
            archived: row.archived,
            folded: row.folded,
            parent_conversation_id: row.parent,
            fork_origin_alternative_id: row.origin,
            continues: shown.entry.continues,
            nodes: row.nodes,
            created_at: row.created_at,
            active_at: row.active_at,
        }
    }
}

/// Where a participant of a project is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "clients know each of them as an id")]
pub(crate) struct FrameView {
    /// `user_…` for the owner, `entity_…` for an actor.
    #[schema(example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    actor_id: String,
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    conversation_id: ConversationId,
    /// Where they stand in it: what they wrote or turned to last; null when that is nothing yet.
    #[schema(value_type = Option<String>)]
    head_node_id: Option<NodeId>,
}

impl From<ShownFrame> for FrameView {
    fn from(frame: ShownFrame) -> Self {
        let ShownFrame { participant, owner, conversation, head } = frame;
        let kind = if participant == ActorId::from(owner) { AuthorType::Human } else { AuthorType::Model };
        Self { actor_id: participant.shown(kind), conversation_id: conversation, head_node_id: head }
    }
}

/// Everybody's place in a project.
#[derive(Serialize, ToSchema)]
pub(crate) struct FramesView {
    data: Vec<FrameView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "conversationId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z" }))]
pub(crate) struct FrameBody {
    /// A conversation of the project.
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    /// A node of it; without one they stand where they stood in it.
    #[schema(value_type = Option<String>)]
    node_id: Option<NodeId>,
}

/// Which project a conversation is to be of.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "projectId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z" }))]
pub(crate) struct MembershipBody {
    #[schema(value_type = String)]
    project_id: RecordId,
}

/// A participant as a path names them: a user, or an actor.
pub(crate) struct Participant(ActorId);

impl FromStr for Participant {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ActorId::parse(text).map(Self).ok_or("a participant is the id of a user, user_…, or of an actor, entity_…")
    }
}

/// Your projects, oldest first; everybody starts with one, the default.
#[utoipa::path(get, path = "/projects", tag = "projects", params(PageParameters),
    responses((status = 200, body = Listing<ProjectView>)))]
pub(crate) async fn list_projects(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<ProjectView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.projects(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ProjectView::from)))
}

/// Begin a project.
#[utoipa::path(post, path = "/projects", tag = "projects", request_body = ProjectBody,
    responses((status = 201, body = Mutated<ProjectView>)))]
pub(crate) async fn create_project(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ProjectView>, ApiError> {
    let draft: ProjectDraft = mutation.body().await?;
    let made = engine.create_project(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/projects/{}", made.value.id);
    Ok(Answer::made(made.map(ProjectView::from), location))
}

/// One project.
#[utoipa::path(get, path = "/projects/{id}", tag = "projects", params(("id" = String, Path)),
    responses((status = 200, body = ProjectView)))]
pub(crate) async fn read_project(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ProjectView>, ApiError> {
    Ok(Json(engine.project(&caller, id).await?.into()))
}

/// Change what a project is called and said to be.
#[utoipa::path(put, path = "/projects/{id}", tag = "projects", params(("id" = String, Path)),
    request_body = ProjectChangeBody, responses((status = 200, body = Mutated<ProjectView>)))]
pub(crate) async fn change_project(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ProjectView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ProjectChange>().await?;
    let changed = engine.change_project(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(changed.map(ProjectView::from)))
}

/// Every branch of a project in the order they were made: main ones, forks, tool runs, folded ones.
#[utoipa::path(get, path = "/projects/{id}/stack", tag = "projects", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<BranchView>)))]
pub(crate) async fn list_stack(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<BranchView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.stack(&caller, id, after, limit).await?;
    Ok(Json(Listing::of(page, limit, BranchView::from)))
}

/// Where everybody who takes part in a project is.
#[utoipa::path(get, path = "/projects/{id}/frames", tag = "projects", params(("id" = String, Path)),
    responses((status = 200, body = FramesView)))]
pub(crate) async fn list_frames(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<FramesView>, ApiError> {
    let frames = engine.frames(&caller, id).await?;
    Ok(Json(FramesView { data: frames.into_iter().map(FrameView::from).collect() }))
}

/// Turn yourself, or an actor of yours, to a conversation of a project.
#[utoipa::path(put, path = "/projects/{id}/frames/{actorId}", tag = "projects",
    params(("id" = String, Path), ("actorId" = String, Path)), request_body = FrameBody,
    responses((status = 200, body = Mutated<FrameView>)))]
pub(crate) async fn turn_frame(
    State(engine): State<Engine>,
    PathIds(ids): PathIds<(RecordId, Participant)>,
    mutation: Mutation,
) -> Result<Answer<FrameView>, ApiError> {
    let (id, Participant(participant)) = ids;
    let FrameBody { conversation_id: conversation, node_id: node } = mutation.body().await?;
    let turning = FrameMove { participant, conversation, node };
    let turned = engine.turn_frame(&mutation.caller, mutation.request, id, turning).await?;
    Ok(Answer::done(turned.map(|kept| kept.0.into())))
}

/// Put a conversation into another project of yours.
#[utoipa::path(put, path = "/conversations/{id}/project", tag = "projects", params(("id" = String, Path)),
    request_body = MembershipBody, responses((status = 200, body = Mutated<BranchView>)))]
pub(crate) async fn move_conversation(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<BranchView>, ApiError> {
    let MembershipBody { project_id } = mutation.body().await?;
    let moved = engine.move_conversation(&mutation.caller, mutation.request, id, project_id).await?;
    Ok(Answer::done(moved.map(BranchView::from)))
}
