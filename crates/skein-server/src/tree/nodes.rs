//! One node over HTTP: found again, marked, remarked about, and what stands around it.

use std::collections::BTreeSet;
use std::str::FromStr;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::tree::actor::ActorId;
use skein_core::tree::compare::{Precision, RunKind};
use skein_core::tree::node::{EdgeType, SourceRole};
use skein_core::tree::short_text::{BadText, BookmarkLabel, Tag};
use skein_core::{ConversationId, EdgeId, NodeId};
use skein_engine::tree::{Edit, Marking, NodeQuery, TaggedNode, TextDiff};
use skein_engine::{Caller, Engine};
use skein_store::tree::adjacent_nodes::{AdjacentKind, EdgeRow};
use utoipa::{IntoParams, ToSchema};

use crate::catalog::flag;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::{PathId, PathIds};
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, PageParameters, read_page};
use crate::tree::{ConversationView, GrownView, NodeView, must_be_said};

/// Turns below a node that are shown where it is not said.
const SUBTREE_DEPTH_USUAL: i64 = 5;
const SUBTREE_DEPTH_MAX: i64 = 10_000;

/// A node with its tags.
#[derive(Serialize, ToSchema)]
pub(crate) struct TaggedNodeView {
    #[serde(flatten)]
    node: NodeView,
    tags: Vec<String>,
}

impl From<TaggedNode> for TaggedNodeView {
    fn from(TaggedNode { node, tags }: TaggedNode) -> Self {
        Self { node: node.into(), tags }
    }
}

/// A node of a history of edits, and what changed in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditView {
    #[serde(flatten)]
    node: NodeView,
    /// Null for the first, and where what was said before was destroyed.
    diff: Option<DiffView>,
}

/// Where two texts differ. Equal and removed runs make up the old one, equal and added the new.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffView {
    runs: Vec<RunView>,
    /// words, lines or whole: how finely they were compared.
    #[schema(value_type = String, example = "words")]
    precision: Precision,
}

/// A stretch of text that both have, or one of them.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunView {
    /// equal, added or removed.
    #[schema(value_type = String, example = "added")]
    kind: RunKind,
    text: String,
}

impl From<(RunKind, String)> for RunView {
    fn from((kind, text): (RunKind, String)) -> Self {
        Self { kind, text }
    }
}

impl From<TextDiff> for DiffView {
    fn from(TextDiff { runs, precision }: TextDiff) -> Self {
        Self { runs: runs.into_iter().map(RunView::from).collect(), precision }
    }
}

impl From<Edit> for EditView {
    fn from(Edit { node, diff }: Edit) -> Self {
        Self { node: node.into(), diff: diff.map(DiffView::from) }
    }
}

/// What leads into a node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EdgeView {
    #[schema(value_type = String, example = "edge_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: EdgeId,
    /// continuation or annotation.
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "continuation")]
    edge_type: EdgeType,
    /// The node it leads into.
    #[schema(value_type = String)]
    target_id: NodeId,
    sources: Vec<SourceView>,
}

/// What an edge leads from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SourceView {
    #[schema(value_type = String)]
    node_id: NodeId,
    /// primary, context or instruction.
    #[schema(value_type = String, example = "primary")]
    role: SourceRole,
    /// Whether it came later, as a version of a source that was there.
    is_version: bool,
}

impl From<EdgeRow> for EdgeView {
    fn from(edge: EdgeRow) -> Self {
        let EdgeRow { id, edge_type, target, sources } = edge;
        let sources = sources.into_iter();
        let sources =
            sources.map(|source| SourceView { node_id: source.node, role: source.role, is_version: source.is_version });
        Self { id, edge_type, target_id: target, sources: sources.collect() }
    }
}

/// A tag, and how many nodes have it.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagView {
    #[schema(example = "heron")]
    tag: String,
    #[schema(example = 3)]
    nodes: i64,
}

/// Where a page of tags ended.
struct TagPlace(Tag);

impl FromStr for TagPlace {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        Tag::try_from(text.to_owned()).map(Self)
    }
}

/// What to note beside a node; what is absent stays.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schema(example = json!({ "bookmarked": true, "label": "the count", "tag": ["heron"] }))]
pub(crate) struct MarksBody {
    bookmarked: Option<bool>,
    /// What the bookmark is called; goes with it.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    label: Option<BookmarkLabel>,
    /// Whether it is cut off, with all that follows it.
    pruned: Option<bool>,
    /// Whether models are not shown it.
    excluded: Option<bool>,
    /// Tags to give it. What has the tag `pinned` stays in what models are shown while there is room for anything.
    #[schema(value_type = Vec<String>)]
    tag: BTreeSet<Tag>,
    /// Tags to take off.
    #[schema(value_type = Vec<String>)]
    untag: BTreeSet<Tag>,
}

/// A remark about a node.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "Counted twice." }))]
pub(crate) struct AnnotationBody {
    content: Option<Map<String, Value>>,
    /// Short for content of type text.
    text: Option<String>,
}

/// Which nodes: one of author, bookmarked and tag, or none for what you said yourself.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NodeParameters {
    /// What this user or actor said: `user_…` or `entity_…`.
    author: Option<String>,
    /// What is bookmarked (true).
    #[param(value_type = Option<bool>)]
    bookmarked: Option<String>,
    /// What has this tag.
    tag: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

impl NodeParameters {
    fn query(&self) -> Result<NodeQuery, ApiError> {
        let invalid = |message: &str| ApiError::bad_request("invalid_query", message);
        match (&self.author, flag("bookmarked", self.bookmarked.as_deref())?, &self.tag) {
            (Some(author), None, None) => {
                let author = ActorId::parse(author).ok_or_else(|| invalid("author: send a user's id or an actor's"))?;
                Ok(NodeQuery::Author(author))
            }
            (None, None, None) => Ok(NodeQuery::Own),
            (None, Some(true), None) => Ok(NodeQuery::Bookmarked),
            (None, None, Some(tag)) => {
                let tag = Tag::try_from(tag.clone()).map_err(|bad| invalid(&format!("tag: {bad}")))?;
                Ok(NodeQuery::Tagged(tag.to_string()))
            }
            _ => Err(invalid("send one of author, bookmarked=true and tag, or none for what you said")),
        }
    }
}

/// The nodes of all your conversations by who said them, or that are bookmarked, or that have a tag; newest first.
#[utoipa::path(get, path = "/nodes", tag = "conversations", params(NodeParameters),
    responses((status = 200, body = Listing<TaggedNodeView>)))]
pub(crate) async fn list_nodes(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<NodeParameters>,
) -> Result<Json<Listing<TaggedNodeView>>, ApiError> {
    let (before, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page = engine.nodes(&caller, parameters.query()?, before, limit).await?;
    Ok(Json(Listing::of(page, limit, TaggedNodeView::from)))
}

/// One node.
#[utoipa::path(get, path = "/nodes/{id}", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = TaggedNodeView)))]
pub(crate) async fn read_node(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<TaggedNodeView>, ApiError> {
    Ok(Json(engine.tagged_node(&caller, id).await?.into()))
}

/// A node by the short name it has in its conversation, in capitals or not.
#[utoipa::path(get, path = "/conversations/{id}/nodes/{localId}", tag = "conversations",
    params(("id" = String, Path), ("localId" = String, Path)), responses((status = 200, body = TaggedNodeView)))]
pub(crate) async fn read_node_by_local_id(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathIds((id, local_id)): PathIds<(ConversationId, String)>,
) -> Result<Json<TaggedNodeView>, ApiError> {
    Ok(Json(engine.node_by_local_id(&caller, id, &local_id).await?.into()))
}

async fn around(
    engine: &Engine,
    caller: &Caller,
    id: NodeId,
    around: AdjacentKind,
    parameters: &PageParameters,
) -> Result<Json<Listing<NodeView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.nodes_around(caller, id, around, after, limit).await?;
    Ok(Json(Listing::of(page, limit, NodeView::from)))
}

/// What follows a node, oldest first.
#[utoipa::path(get, path = "/nodes/{id}/children", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<NodeView>)))]
pub(crate) async fn list_children(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<NodeView>>, ApiError> {
    around(&engine, &caller, id, AdjacentKind::Children, &parameters).await
}

/// How much of what follows a node.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SubtreeParameters {
    /// How many turns below the node, 0 to 10000; 5 unless it is said.
    #[param(value_type = Option<u32>, minimum = 0, maximum = 10_000, example = 5)]
    depth: Option<String>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// A node and what follows it on every branch, some turns deep, oldest first: so what is answered comes before its answers.
#[utoipa::path(get, path = "/nodes/{id}/subtree", tag = "conversations", params(("id" = String, Path), SubtreeParameters),
    responses((status = 200, body = Listing<NodeView>)))]
pub(crate) async fn list_subtree(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<SubtreeParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<NodeView>>, ApiError> {
    let SubtreeParameters { depth, cursor, limit } = parameters;
    let (after, limit) = read_page(cursor.as_deref(), limit.as_deref())?;
    let depth = depth.map_or(Ok(SUBTREE_DEPTH_USUAL), |depth| depth.parse());
    let depth = depth.ok().filter(|depth| (0..=SUBTREE_DEPTH_MAX).contains(depth));
    let depth = depth.ok_or_else(|| ApiError::bad_request("invalid_query", "depth is a number from 0 to 10000"))?;
    let page = engine.subtree(&caller, id, depth, after, limit).await?;
    Ok(Json(Listing::of(page, limit, NodeView::from)))
}

/// What else follows the same node: one entry for each line of edits that are versions of each other.
#[utoipa::path(get, path = "/nodes/{id}/siblings", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<NodeView>)))]
pub(crate) async fn list_siblings(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<NodeView>>, ApiError> {
    around(&engine, &caller, id, AdjacentKind::Siblings, &parameters).await
}

/// Remarks about a node, oldest first.
#[utoipa::path(get, path = "/nodes/{id}/annotations", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<NodeView>)))]
pub(crate) async fn list_annotations(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<NodeView>>, ApiError> {
    around(&engine, &caller, id, AdjacentKind::Annotations, &parameters).await
}

/// Remark on a node, beside the conversation's course.
#[utoipa::path(post, path = "/nodes/{id}/annotations", tag = "conversations", params(("id" = String, Path)),
    request_body = AnnotationBody, responses((status = 201, body = Mutated<GrownView>)))]
pub(crate) async fn annotate_node(
    State(engine): State<Engine>,
    PathId(id): PathId<NodeId>,
    mutation: Mutation,
) -> Result<Answer<GrownView>, ApiError> {
    let AnnotationBody { content, text } = mutation.body().await?;
    let content = must_be_said(content, text)?;
    let made = engine.annotate(&mutation.caller, mutation.request, id, content).await?;
    let location = format!("/api/v1/nodes/{}", made.value.node.seen.row.id);
    Ok(Answer::made(made.map(GrownView::from), location))
}

/// Every edit that led to a node or away from it, oldest first, each with the words that changed.
#[utoipa::path(get, path = "/nodes/{id}/edits", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<EditView>)))]
pub(crate) async fn list_edits(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<EditView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.edits(&caller, id, after, limit).await?;
    Ok(Json(Listing::of(page, limit, EditView::from)))
}

/// The edge into a node and those out of it, by the ids of what they lead into.
#[utoipa::path(get, path = "/nodes/{id}/edges", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<EdgeView>)))]
pub(crate) async fn list_edges(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<EdgeView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.edges(&caller, id, after, limit).await?;
    Ok(Json(Listing::of(page, limit, EdgeView::from)))
}

/// The conversations that grew from a node, in the order they were made.
#[utoipa::path(get, path = "/nodes/{id}/forks", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<ConversationView>)))]
pub(crate) async fn list_forks_at_node(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<Listing<ConversationView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.forks_at(&caller, id, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ConversationView::from)))
}

/// Bookmark, tag, prune or leave out a node, or take any of it back; what it says and its hash stay as they are.
#[utoipa::path(put, path = "/nodes/{id}/marks", tag = "conversations", params(("id" = String, Path)),
    request_body = MarksBody, responses((status = 200, body = Mutated<TaggedNodeView>)))]
pub(crate) async fn mark_node(
    State(engine): State<Engine>,
    PathId(id): PathId<NodeId>,
    mutation: Mutation,
) -> Result<Answer<TaggedNodeView>, ApiError> {
    let MarksBody { bookmarked, label, pruned, excluded, tag, untag } = mutation.body().await?;
    let marking = Marking { bookmarked, label, pruned, excluded, tag, untag };
    if marking == Marking::default() {
        return Err(ApiError::bad_request("invalid_body", "say what to mark"));
    }
    let marked = engine.mark_node(&mutation.caller, mutation.request, id, marking).await?;
    Ok(Answer::done(marked.map(TaggedNodeView::from)))
}

/// Your tags, with how many nodes have each.
#[utoipa::path(get, path = "/tags", tag = "conversations", params(PageParameters),
    responses((status = 200, body = Listing<TagView>)))]
pub(crate) async fn list_tags(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<TagView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.tags(&caller, after.map(|TagPlace(tag)| tag.to_string()), limit).await?;
    Ok(Json(Listing::of(page, limit, |(tag, nodes)| TagView { tag, nodes })))
}
