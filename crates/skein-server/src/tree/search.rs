//! Words looked for in what was said, over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, NodeId};
use skein_engine::Engine;
use skein_engine::tree::{FoundNode, SearchQuery};
use utoipa::ToSchema;

use crate::body::Question;
use crate::error::ApiError;
use crate::pagination::Listing;
use crate::signed_in::SignedIn;

const RESULTS_DEFAULT: usize = 20;
const RESULTS_MAX: usize = 100;
/// Longer questions are searched for by their first words anyway.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// What to look for, and from where; nothing is changed by it, so it needs no key of its own.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "text": "herons of the lake", "limit": 20 }))]
pub(crate) struct SearchBody {
    /// Words in any case; what has more of them, and rarer ones, comes first. Longer words find those they begin.
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

/// A node that has some of the words.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundView {
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    node_id: NodeId,
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    /// user, agent or system.
    #[schema(value_type = Option<String>)]
    speaker: Option<Speaker>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    /// What it says around the first of the words.
    snippet: String,
    /// Which of the words it has, in lower case.
    words: Vec<String>,
}

impl From<FoundNode> for FoundView {
    fn from(found: FoundNode) -> Self {
        let FoundNode { id, conversation, speaker, created_at, snippet, words } = found;
        Self { node_id: id, conversation_id: conversation, speaker, created_at, snippet, words }
    }
}

impl SearchBody {
    fn read(self) -> Result<SearchQuery, ApiError> {
        let invalid = |message: &str| ApiError::bad_request("invalid_body", message);
        if self.text.trim().is_empty() || self.text.len() > TEXT_BYTES_MAX {
            return Err(invalid("text: send some words, at most 65536 bytes"));
        }
        if !(1..=RESULTS_MAX).contains(&self.limit) {
            return Err(invalid("limit is between 1 and 100"));
        }
        let skip = self.cursor.map_or(Ok(0), |cursor| cursor.parse());
        Ok(SearchQuery {
            text: self.text,
            node: self.node_id,
            conversation: self.conversation_id,
            elsewhere: self.elsewhere,
            skip: skip.map_err(|_| invalid("cursor: send pagination.next of the page before"))?,
            limit: self.limit,
        })
    }
}

/// Search what was said: on the path you stand on, and on the main paths of your other conversations.
///
/// The newest ten thousand nodes are looked at. What was cut off, excluded or destroyed is not found, nor what tools did.
#[utoipa::path(post, path = "/search", tag = "conversations", request_body = SearchBody,
    responses((status = 200, body = Listing<FoundView>)))]
pub(crate) async fn search(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Question(body): Question<SearchBody>,
) -> Result<Json<Listing<FoundView>>, ApiError> {
    let query = body.read()?;
    let limit = query.limit;
    let found = engine.search(&caller, query).await?;
    Ok(Json(Listing::of(found, limit, FoundView::from)))
}
