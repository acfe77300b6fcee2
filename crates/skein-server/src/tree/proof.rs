//! Proof of who wrote what, over HTTP: verification of nodes, paths and trees, and where a node comes from.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::tree::actor::AuthorType;
use skein_core::tree::node::RawResponse;
use skein_core::tree::verify::{Verdict, Verification};
use skein_core::{ConversationId, Digest, ItemId, Millis, NodeId};
use skein_engine::Engine;
use skein_engine::tree::{ProvenanceChain, ProvenanceLink, VerificationScope};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::respond::pagination::{Listing, PageParameters};
use crate::tree::ExecutedByView;

/// What verification found: as good as the worst node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerificationView {
    /// valid, imported, redacted, incomplete or invalid.
    #[schema(value_type = String, example = "valid")]
    verdict: Verdict,
    /// The first node that has this verdict, from the root on; null when all is valid.
    #[schema(value_type = Option<String>)]
    first_node_id: Option<ItemId>,
    /// How many complete nodes were looked at.
    #[schema(example = 12)]
    nodes: u64,
    counts: VerdictCounts,
}

/// How many nodes have each verdict.
#[derive(Serialize, ToSchema)]
struct VerdictCounts {
    /// As they were written.
    #[schema(example = 12)]
    valid: u64,
    /// As they were written, by whom is not proved.
    imported: u64,
    /// What they said, or the raw response, was destroyed on demand.
    redacted: u64,
    /// A parent or a raw response is missing.
    incomplete: u64,
    /// Altered.
    invalid: u64,
}

impl From<Verification> for VerificationView {
    fn from(found: Verification) -> Self {
        let count = |verdict| found.count(verdict);
        Self {
            verdict: found.verdict,
            first_node_id: found.first,
            nodes: found.nodes(),
            counts: VerdictCounts {
                valid: count(Verdict::Valid),
                imported: count(Verdict::Imported),
                redacted: count(Verdict::Redacted),
                incomplete: count(Verdict::Incomplete),
                invalid: count(Verdict::Invalid),
            },
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct VerifyParameters {
    /// Only the path that leads to this node, through the conversations it was forked from.
    #[param(value_type = Option<String>)]
    node_id: Option<NodeId>,
}

/// One link of the chain that leads to a node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChainLinkView {
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    node_id: NodeId,
    #[schema(example = "01K9ZQ")]
    local_id: String,
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    /// valid, imported, redacted, incomplete or invalid; null while it is generated and when that failed.
    #[schema(value_type = Option<String>, example = "valid")]
    verdict: Option<Verdict>,
    /// Covers what it says, the hashes of what it answers, when, by whom and from what raw response.
    #[schema(value_type = Option<String>)]
    content_hash: Option<Digest>,
    /// The hash of the item that tells its place in the tree.
    #[schema(value_type = String)]
    item_hash: Digest,
    author_id: String,
    /// human, model, system or imported.
    #[schema(value_type = String, example = "human")]
    author_type: AuthorType,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// When it was recorded here.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    realized_at: Millis,
    /// The model's answer as it was received.
    raw_response: Option<RawResponseView>,
    /// The process that made it, as it was then.
    executed_by: Option<ExecutedByView>,
    /// The node it was edited from.
    #[schema(value_type = Option<String>)]
    edited_from: Option<NodeId>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RawResponseView {
    #[schema(value_type = String)]
    item_id: ItemId,
    /// SHA-256 of headers, a blank line and the body.
    #[schema(value_type = String)]
    hash: Digest,
}

impl From<ProvenanceLink> for ChainLinkView {
    fn from(link: ProvenanceLink) -> Self {
        let ProvenanceLink { row, verdict, item_hash, realized_at } = link;
        let raw = |raw: RawResponse| RawResponseView { item_id: raw.item_id, hash: raw.hash };
        Self {
            node_id: row.id,
            conversation_id: row.conversation,
            verdict,
            content_hash: row.content_hash,
            item_hash,
            author_id: row.author.shown(row.author_type),
            author_type: row.author_type,
            created_at: row.created_at,
            realized_at,
            raw_response: row.raw_response.map(raw),
            executed_by: row.executed_by.map(ExecutedByView::from),
            edited_from: row.edited_from,
            local_id: row.local_id,
        }
    }
}

/// Where a node comes from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProvenanceView {
    /// Every node made by editing this one, or that it was made from by editing, oldest first.
    #[schema(value_type = Vec<String>)]
    edit_lineage: Vec<NodeId>,
    /// The links, from the node towards the root.
    #[serde(flatten)]
    chain: Listing<ChainLinkView>,
}

/// Whether a node is what it was when it was written.
#[utoipa::path(get, path = "/nodes/{id}/verify", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = VerificationView)))]
pub(crate) async fn verify_node(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<VerificationView>, ApiError> {
    Ok(Json(engine.verify_tree(&caller, VerificationScope::Node(id)).await?.into()))
}

/// Whether a whole tree, or the path to one of its nodes, is what it was when it was written.
#[utoipa::path(get, path = "/conversations/{id}/verify", tag = "conversations",
    params(("id" = String, Path), VerifyParameters), responses((status = 200, body = VerificationView)))]
pub(crate) async fn verify_conversation(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<ConversationId>,
    Parameters(parameters): Parameters<VerifyParameters>,
) -> Result<Json<VerificationView>, ApiError> {
    let scope = parameters.node_id.map_or(VerificationScope::Tree(id), |node| VerificationScope::Path(id, node));
    Ok(Json(engine.verify_tree(&caller, scope).await?.into()))
}

/// Where a node comes from: the chain that leads to it, with hashes, authors, raw responses and processes.
#[utoipa::path(get, path = "/nodes/{id}/provenance", tag = "conversations", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = ProvenanceView)))]
pub(crate) async fn trace_node(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<NodeId>,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<ProvenanceView>, ApiError> {
    let (from, limit) = parameters.read()?;
    let ProvenanceChain { links, lineage } = engine.provenance(&caller, id, from, limit).await?;
    Ok(Json(ProvenanceView { edit_lineage: lineage, chain: Listing::of(links, limit, ChainLinkView::from) }))
}
