//! Conversations over HTTP: what is said in them, turned about in, marked and found again.
//!
//! Bodies are strict and answers are the views below; a node is shown alike wherever it is listed. Start at
//! [`conversations`] for a conversation as a whole, at [`turns`] for what is said in it, at [`nodes`] for one node.

pub(crate) mod actors;
pub(crate) mod compare;
pub(crate) mod context;
pub(crate) mod conversations;
pub(crate) mod export;
pub(crate) mod nodes;
pub(crate) mod projects;
pub(crate) mod proof;
mod skeleton;
pub(crate) mod summaries;
pub(crate) mod turns;

use serde::Serialize;
use serde_json::{Map, Value};
use skein_core::catalog::entry::Description;
use skein_core::memory::episode::episode_of;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::conversation::{
    ContextBudget, Conversation, ConversationKind, ConversationStatus, FoldSummary, Mode,
};
use skein_core::tree::node::ExecutedBy;
use skein_core::tree::node_status::{CacheStatus, GenerationStatus};
use skein_core::tree::short_text::Instructions;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, Digest, EpisodeId, ItemId, Millis, NodeId, RecordId, TurnId, UserId};
use skein_engine::tree::{AffectedTurn, AppendResult, ShownConversation, ShownNode, ShownStanding, ShownTurn};
use utoipa::ToSchema;

use crate::catalog::EntryHead;
use crate::http::error::ApiError;

/// What was said at a turn, or a remark beside it, as its owner's path sees it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
pub(crate) struct NodeView {
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    pub(crate) id: NodeId,
    /// Its short name inside its conversation.
    #[schema(example = "01K9ZQ")]
    local_id: String,
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    /// Null for a remark, which stands beside the turns.
    #[schema(value_type = Option<String>)]
    turn_id: Option<TurnId>,
    /// message, `tool_result` or summary.
    #[schema(value_type = Option<String>)]
    turn_type: Option<TurnType>,
    /// user, agent or system.
    #[schema(value_type = Option<String>)]
    speaker: Option<Speaker>,
    /// The node it answers; null at the root.
    #[schema(value_type = Option<String>)]
    parent_alternative_id: Option<NodeId>,
    /// How many turns lead here, this one included; the root has 1.
    depth: Option<i64>,
    /// The how many-th alternative of its turn it is.
    ordinal: Option<i64>,
    /// What it says; null while it is generated, when that failed, and once it was destroyed.
    #[schema(value_type = Option<Map<String, Value>>)]
    content: Option<Value>,
    author_id: String,
    /// human, model, system or imported.
    #[schema(value_type = String, example = "human")]
    author_type: AuthorType,
    /// pending, complete or failed.
    #[schema(value_type = String, example = "complete")]
    status: GenerationStatus,
    /// valid, stale or generating: whether it answers what is selected above it.
    #[schema(value_type = String, example = "valid")]
    cache_status: CacheStatus,
    /// Whether it is what its turn shows.
    is_active: bool,
    /// Whether it and everything it descends from is what its turn shows.
    on_path: bool,
    has_children: bool,
    /// Whether what it said was destroyed.
    is_redacted: bool,
    #[schema(value_type = Option<String>)]
    content_hash: Option<Digest>,
    /// The node it was edited from.
    #[schema(value_type = Option<String>)]
    edited_from: Option<NodeId>,
    /// What generated it; null for what people say.
    executed_by: Option<ExecutedByView>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    bookmarked: bool,
    /// The label of the bookmark.
    label: Option<String>,
    /// Whether it was cut off, with all that follows it.
    pruned: bool,
    /// Whether models are not shown it.
    excluded: bool,
    /// The episode that remembers it; null until it is made, and in answers to changes, which do not wait for it.
    #[schema(value_type = Option<String>, example = "episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    episode_id: Option<EpisodeId>,
}

/// The process that made a node, as it was then.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutedByView {
    #[schema(value_type = String)]
    process_id: RecordId,
    version: i64,
}

impl From<ExecutedBy> for ExecutedByView {
    fn from(ExecutedBy { process_id, version }: ExecutedBy) -> Self {
        Self { process_id, version }
    }
}

impl From<ShownNode> for NodeView {
    fn from(shown: ShownNode) -> Self {
        let ShownNode { seen, cache, on_path, is_remembered } = shown;
        let (row, spoken) = (seen.row, seen.spoken);
        Self {
            id: row.id,
            conversation_id: row.conversation,
            turn_id: row.place.map(|place| place.turn),
            turn_type: spoken.map(|(_, turn_type)| turn_type),
            speaker: spoken.map(|(speaker, _)| speaker),
            parent_alternative_id: row.parent,
            depth: row.place.map(|place| place.label.depth),
            ordinal: row.place.map(|place| place.ordinal),
            content: seen.content,
            author_id: row.author.shown(row.author_type),
            author_type: row.author_type,
            status: row.status,
            cache_status: cache,
            is_active: seen.is_selected,
            on_path,
            has_children: seen.has_children,
            is_redacted: seen.is_redacted,
            content_hash: row.content_hash,
            edited_from: row.edited_from,
            executed_by: row.executed_by.map(ExecutedByView::from),
            created_at: row.created_at,
            bookmarked: row.bookmarked,
            label: row.label,
            pruned: row.pruned,
            excluded: row.excluded,
            episode_id: is_remembered.then(|| episode_of(row.id)),
            local_id: row.local_id,
        }
    }
}

/// A position in a conversation with everything said there: what it shows first, then the newest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnView {
    #[schema(value_type = String, example = "turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    pub(crate) id: TurnId,
    #[schema(value_type = String)]
    conversation_id: ConversationId,
    /// The turn it follows; null at the root.
    #[schema(value_type = Option<String>)]
    parent_turn_id: Option<TurnId>,
    #[schema(value_type = String, example = "user")]
    speaker: Speaker,
    #[schema(value_type = String, example = "message")]
    turn_type: TurnType,
    /// Its depth: the root has 1.
    #[schema(example = 1)]
    sequence: i64,
    /// How many alternatives there are in all.
    #[schema(example = 2)]
    alternatives_count: i64,
    /// The newest of them, and before them the one it shows.
    alternatives: Vec<NodeView>,
    /// Where the earlier ones begin, as `cursor` of this turn's address; null when there are none.
    #[schema(value_type = Option<String>)]
    next: Option<String>,
}

impl From<ShownTurn> for TurnView {
    fn from(shown: ShownTurn) -> Self {
        let ShownTurn { turn, alternatives, count } = shown;
        Self {
            id: turn.id,
            conversation_id: turn.conversation,
            parent_turn_id: turn.parent,
            speaker: turn.speaker,
            turn_type: turn.turn_type,
            sequence: turn.depth,
            alternatives_count: count,
            alternatives: alternatives.rows.into_iter().map(NodeView::from).collect(),
            next: alternatives.next.map(|number| number.to_string()),
        }
    }
}

/// A turn that shows another alternative now, or follows one that does.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AffectedTurnView {
    #[schema(value_type = String)]
    turn_id: TurnId,
    updated_alternatives: Vec<StandingView>,
}

/// How an alternative stands now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandingView {
    #[schema(value_type = String)]
    id: NodeId,
    is_active: bool,
    #[schema(value_type = String, example = "valid")]
    cache_status: CacheStatus,
    on_path: bool,
}

impl From<AffectedTurn> for AffectedTurnView {
    fn from(affected: AffectedTurn) -> Self {
        let view = |standing: ShownStanding| {
            let ShownStanding { id, is_selected, cache, on_path } = standing;
            StandingView { id, is_active: is_selected, cache_status: cache, on_path }
        };
        Self { turn_id: affected.turn, updated_alternatives: affected.alternatives.into_iter().map(view).collect() }
    }
}

/// What was said, where, and which turns show something else for it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GrownView {
    /// Null for a remark.
    turn: Option<TurnView>,
    node: NodeView,
    affected_turns: Vec<AffectedTurnView>,
}

impl From<AppendResult> for GrownView {
    fn from(grown: AppendResult) -> Self {
        Self {
            turn: grown.turn.map(TurnView::from),
            node: grown.node.into(),
            affected_turns: grown.affected.into_iter().map(AffectedTurnView::from).collect(),
        }
    }
}

/// A conversation: what people set of it, and what its tree says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationView {
    #[serde(flatten)]
    head: EntryHead,
    /// How it is called: by its title, else after the conversation it grew from, else by the first words said in it, else by its
    /// number.
    #[schema(example = "Herons of the lake")]
    title: String,
    #[schema(value_type = Option<String>)]
    description: Option<Description>,
    /// dialogue or buffer.
    #[schema(value_type = String, example = "dialogue")]
    mode: Mode,
    /// main, fork or `tool_run`.
    #[schema(value_type = String, example = "main")]
    kind: ConversationKind,
    /// active or archived.
    #[schema(value_type = String, example = "active")]
    status: ConversationStatus,
    /// What every model is told first.
    #[schema(value_type = Option<String>)]
    system_context: Option<Instructions>,
    /// Of a buffer: whether `systemContext` and other instructions are sent. Null means true.
    buffer_mode_system_context: Option<bool>,
    /// How many tokens a model is shown at most.
    context_budget: Option<usize>,
    /// The process chosen last.
    #[schema(value_type = Option<String>)]
    process_id: Option<RecordId>,
    /// The project it is grouped with by its newest `groups_with` relation to one of yours; null without such a relation.
    #[schema(value_type = Option<String>)]
    project_id: Option<RecordId>,
    #[schema(value_type = Option<String>)]
    parent_conversation_id: Option<RecordId>,
    #[schema(value_type = Option<String>)]
    fork_origin_turn_id: Option<TurnId>,
    #[schema(value_type = Option<String>)]
    fork_origin_alternative_id: Option<ItemId>,
    /// The folded conversation that this one goes on with.
    #[schema(value_type = Option<String>)]
    continues: Option<RecordId>,
    /// Whether it was folded and takes nothing more.
    folded: bool,
    /// What came of it, once it is folded.
    summary: Option<FoldView>,
    tags: Vec<String>,
    /// Whose it is, as in `ownerId`.
    #[schema(value_type = String)]
    user_id: UserId,
    #[schema(value_type = Option<String>)]
    root_turn_id: Option<TurnId>,
    #[schema(value_type = Option<String>)]
    root_node_id: Option<NodeId>,
    /// How many nodes it has.
    #[schema(example = 12)]
    nodes: i64,
    /// When something was last said in it.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    active_at: Millis,
    /// Where its owner stands.
    #[schema(value_type = Option<String>)]
    cursor_node_id: Option<NodeId>,
}

/// What a conversation was folded into.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoldView {
    #[schema(value_type = String)]
    at: Millis,
    author_id: String,
    /// Empty after a redaction.
    text: String,
    /// The item that holds the text; redact it to destroy the text. Null for summaries of tool runs, and for those of earlier
    /// versions.
    #[schema(value_type = Option<String>)]
    text_item_id: Option<ItemId>,
    /// True when the text was destroyed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_redacted: bool,
    /// The nodes it came from. Older ones may name a fragment, as `item_…#3`.
    cites: Vec<String>,
}

impl From<FoldSummary> for FoldView {
    fn from(summary: FoldSummary) -> Self {
        let FoldSummary { at, author_id, author_type, text, text_item: text_item_id, cites, end: _ } = summary;
        let cites = cites.iter().map(ToString::to_string).collect();
        let is_redacted = text_item_id.is_some() && text.is_empty();
        Self { at, author_id: author_id.shown(author_type), text, text_item_id, is_redacted, cites }
    }
}

impl From<ShownConversation> for ConversationView {
    fn from(conversation: ShownConversation) -> Self {
        let ShownConversation { shown, row, title, cursor } = conversation;
        let head = EntryHead::of(&shown);
        let Conversation { description, mode, kind, status, system_context, buffer_mode_system_context, .. } =
            shown.entry;
        let Conversation { context_budget, process_id, forked_from, continues, summary, tags, .. } = shown.entry;
        Self {
            head,
            title,
            description,
            mode,
            kind,
            status,
            system_context,
            buffer_mode_system_context,
            context_budget: context_budget.map(ContextBudget::tokens),
            process_id,
            project_id: row.project,
            parent_conversation_id: forked_from.map(|origin| origin.conversation_id),
            fork_origin_turn_id: forked_from.map(|origin| origin.turn_id),
            fork_origin_alternative_id: forked_from.map(|origin| origin.node_id),
            continues,
            folded: row.folded,
            summary: summary.map(FoldView::from),
            tags: tags.iter().map(ToString::to_string).collect(),
            user_id: row.owner,
            root_turn_id: row.root_turn,
            root_node_id: row.root_node,
            nodes: row.nodes,
            active_at: row.active_at,
            cursor_node_id: cursor,
        }
    }
}

/// What is said: `content` in full, or `text` for short; never both.
fn said(content: Option<Map<String, Value>>, text: Option<String>) -> Result<Option<Value>, ApiError> {
    match (content, text) {
        (Some(_), Some(_)) => Err(ApiError::bad_request("invalid_body", "send content or text, not both")),
        (Some(content), None) => Ok(Some(content.into())),
        (None, Some(text)) => Ok(Some(serde_json::json!({ "type": "text", "text": text }))),
        (None, None) => Ok(None),
    }
}

/// [`said`] where something must be.
fn must_be_said(content: Option<Map<String, Value>>, text: Option<String>) -> Result<Value, ApiError> {
    said(content, text)?.ok_or_else(|| ApiError::bad_request("invalid_body", "send what is said, as content or text"))
}
