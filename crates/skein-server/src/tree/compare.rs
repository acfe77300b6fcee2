//! Two nodes or two paths compared, over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::NodeId;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::compare::Precision;
use skein_core::tree::content::Content;
use skein_engine::Engine;
use skein_engine::tree::{ComparedNodes, ComparedPaths, PathDifference};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::body::QueryBody;
use crate::tree::nodes::RunView;

/// What to compare; nothing is changed by it, so it needs no key of its own.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "left": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z", "right": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z", "as": "nodes" }))]
pub(crate) struct CompareBody {
    /// The old one, or the end of one path.
    #[schema(value_type = String)]
    left: NodeId,
    /// The new one, or the end of the other path.
    #[schema(value_type = String)]
    right: NodeId,
    /// nodes, word by word, or paths, by where they part; nodes unless it is said.
    #[serde(default, rename = "as")]
    kind: ComparedAs,
}

#[derive(Deserialize, Default, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ComparedAs {
    #[default]
    Nodes,
    Paths,
}

/// How they differ.
#[derive(Serialize, ToSchema)]
#[serde(tag = "as", rename_all = "lowercase")]
pub(crate) enum ComparisonView {
    Nodes(NodesView),
    Paths(PathsView),
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NodesView {
    /// Equal and removed runs make up the old text, equal and added the new.
    runs: Vec<RunView>,
    /// words, lines or whole: the smallest pieces that were compared everywhere.
    #[schema(value_type = String, example = "words")]
    precision: Precision,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PathsView {
    /// How many nodes both have, from the root on.
    common_nodes: usize,
    #[schema(value_type = Option<String>)]
    last_common_node_id: Option<NodeId>,
    left: ApartView,
    right: ApartView,
}

/// What only one path has.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApartView {
    /// How many nodes that are.
    count: usize,
    /// The first of them, at most 1000.
    nodes: Vec<BriefView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BriefView {
    #[schema(value_type = String)]
    node_id: NodeId,
    #[schema(example = "01K9ZQ")]
    local_id: String,
    #[schema(value_type = String, example = "human")]
    author_type: AuthorType,
    /// The first words of what it says.
    brief: Option<String>,
}

impl From<ComparedNodes> for ComparisonView {
    fn from(compared: ComparedNodes) -> Self {
        let runs = compared.runs.into_iter().map(RunView::from).collect();
        Self::Nodes(NodesView { runs, precision: compared.precision })
    }
}

impl From<ComparedPaths> for ComparisonView {
    fn from(compared: ComparedPaths) -> Self {
        Self::Paths(PathsView {
            common_nodes: compared.common,
            last_common_node_id: compared.last_common,
            left: compared.left.into(),
            right: compared.right.into(),
        })
    }
}

impl From<PathDifference> for ApartView {
    fn from(apart: PathDifference) -> Self {
        let brief = |seen: skein_store::tree::read::SeenNode| BriefView {
            node_id: seen.row.id,
            author_type: seen.row.author_type,
            brief: seen.content.and_then(|content| Content::parse(&content).ok()?.brief()),
            local_id: seen.row.local_id,
        };
        Self { count: apart.count, nodes: apart.nodes.into_iter().map(brief).collect() }
    }
}

/// Compare two nodes word by word, or two paths by where they part.
#[utoipa::path(post, path = "/compare", tag = "conversations", request_body = CompareBody,
    responses((status = 200, body = ComparisonView)))]
pub(crate) async fn compare(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    QueryBody(CompareBody { left, right, kind }): QueryBody<CompareBody>,
) -> Result<Json<ComparisonView>, ApiError> {
    Ok(Json(match kind {
        ComparedAs::Nodes => engine.compare_nodes(&caller, left, right).await?.into(),
        ComparedAs::Paths => engine.compare_paths(&caller, left, right).await?.into(),
    }))
}
