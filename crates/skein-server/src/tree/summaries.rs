//! Summaries of nodes and conversations over HTTP.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use skein_core::{ConversationId, ItemId, NodeId};
use skein_engine::Engine;
use skein_engine::tree::{ShownSummary, Subject};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};

/// What a node says in a sentence, or a conversation in two.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryView {
    /// The node or the conversation.
    #[schema(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    subject_id: String,
    /// Null where there is nothing to say, or what was said was destroyed.
    text: Option<String>,
    /// What made it.
    #[schema(example = "skein-offline-1")]
    model: Option<String>,
    /// How many nodes the conversation had then.
    nodes: Option<i64>,
    /// The item that keeps it, where it was just made.
    #[schema(value_type = Option<String>)]
    item_id: Option<ItemId>,
}

impl From<ShownSummary> for SummaryView {
    fn from(shown: ShownSummary) -> Self {
        let subject_id = match shown.subject {
            Subject::Node(node) => node.to_string(),
            Subject::Tree(conversation) => conversation.to_string(),
        };
        let (text, model, nodes) = match shown.summary {
            Some(summary) => (Some(summary.text), Some(summary.model), Some(summary.nodes)),
            None => (None, None, None),
        };
        Self { subject_id, text, model, nodes, item_id: shown.item }
    }
}

/// What a node says, in one sentence; made now if it was not yet.
#[utoipa::path(get, path = "/nodes/{id}/summary", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = SummaryView)))]
pub(crate) async fn read_node_summary(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<NodeId>,
) -> Result<Json<SummaryView>, ApiError> {
    Ok(Json(engine.summary(&caller, Subject::Node(id)).await?.into()))
}

/// Make the summary of a node anew.
#[utoipa::path(post, path = "/nodes/{id}/summary", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<SummaryView>)))]
pub(crate) async fn renew_node_summary(
    State(engine): State<Engine>,
    PathId(id): PathId<NodeId>,
    mutation: Mutation,
) -> Result<Answer<SummaryView>, ApiError> {
    mutation.no_body().await?;
    let made = engine.renew_summary(&mutation.caller, mutation.request, Subject::Node(id)).await?;
    Ok(Answer::done(made.map(SummaryView::from)))
}

/// What a conversation is about, in two sentences; made now if it was not yet.
#[utoipa::path(get, path = "/conversations/{id}/summary", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = SummaryView)))]
pub(crate) async fn read_conversation_summary(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ConversationId>,
) -> Result<Json<SummaryView>, ApiError> {
    Ok(Json(engine.summary(&caller, Subject::Tree(id)).await?.into()))
}

/// Make the summary of a conversation anew.
#[utoipa::path(post, path = "/conversations/{id}/summary", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<SummaryView>)))]
pub(crate) async fn renew_conversation_summary(
    State(engine): State<Engine>,
    PathId(id): PathId<ConversationId>,
    mutation: Mutation,
) -> Result<Answer<SummaryView>, ApiError> {
    mutation.no_body().await?;
    let made = engine.renew_summary(&mutation.caller, mutation.request, Subject::Tree(id)).await?;
    Ok(Answer::done(made.map(SummaryView::from)))
}
