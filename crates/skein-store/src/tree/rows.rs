//! The rows of the tree as they are read.

use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::{ExecutedBy, RawResponse};
use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, Digest, EdgeId, ItemId, Millis, NodeId, RecordId, TurnId, UserId};

use crate::db::sql::Row;
use crate::error::SqlError;

/// What [`read_node`] expects, of `nodes n`.
pub(crate) const NODE_COLUMNS: &str = "n.id, n.conversation, n.owner, n.turn, n.ordinal, n.parent, n.branch, n.depth, n.late,
    n.edge, n.local_id, n.author, n.author_type, n.status, n.content, n.content_hash, n.raw_response, n.raw_hash, n.edited_from,
    n.is_version, n.process, n.process_version, n.created_at, n.bookmarked, n.label, n.pruned, n.excluded, n.reserved_by";
pub(crate) const NODE_WIDTH: usize = 28;

/// What [`read_turn`] expects, of `turns t`.
pub(crate) const TURN_COLUMNS: &str = "t.id, t.conversation, t.parent, t.speaker, t.type, t.depth, t.first_node";

/// What [`read_conversation`] expects, of `conversations c`.
pub(crate) const CONVERSATION_COLUMNS: &str =
    "c.id, c.owner, c.project, c.kind, c.mode, c.archived, c.folded, c.parent, c.origin,
    c.root_turn, c.root_node, c.nodes, c.created_at, c.active_at";

/// A node without what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub struct NodeRow {
    pub id: NodeId,
    pub conversation: ConversationId,
    pub owner: UserId,
    /// Its turn, its number in it from 1, and its label; an annotation has none of them.
    pub place: Option<NodePlace>,
    pub parent: Option<NodeId>,
    pub edge: EdgeId,
    pub local_id: String,
    pub author: ActorId,
    pub author_type: AuthorType,
    pub status: GenerationStatus,
    /// The item that holds what it says, once it is complete.
    pub content: Option<ItemId>,
    pub content_hash: Option<Digest>,
    pub raw_response: Option<RawResponse>,
    pub edited_from: Option<NodeId>,
    /// Whether it shares its label with what it was edited from.
    pub is_version: bool,
    pub executed_by: Option<ExecutedBy>,
    pub created_at: Millis,
    pub bookmarked: bool,
    pub label: Option<String>,
    pub pruned: bool,
    pub excluded: bool,
    /// The item that kept its place while it was generated.
    pub reserved_by: Option<ItemId>,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePlace {
    pub turn: TurnId,
    pub ordinal: i64,
    pub label: NodeLabel,
    /// Whether its turn began with another lineage.
    pub is_late: bool,
}

impl NodeRow {
    /// The label, of what is not an annotation.
    pub fn label(&self) -> Option<NodeLabel> {
        self.place.map(|place| place.label)
    }

    pub fn turn(&self) -> Option<TurnId> {
        self.place.map(|place| place.turn)
    }
}

/// A position in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRow {
    pub id: TurnId,
    pub conversation: ConversationId,
    pub parent: Option<TurnId>,
    pub speaker: Speaker,
    pub turn_type: TurnType,
    pub depth: i64,
    pub first_node: NodeId,
}

/// What is listed of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    pub id: ConversationId,
    pub owner: UserId,
    pub project: Option<RecordId>,
    pub kind: String,
    pub mode: String,
    pub archived: bool,
    pub folded: bool,
    pub parent: Option<ConversationId>,
    /// The node it was forked at.
    pub origin: Option<NodeId>,
    pub root_turn: Option<TurnId>,
    pub root_node: Option<NodeId>,
    pub nodes: i64,
    pub created_at: Millis,
    /// When something was last said in it.
    pub active_at: Millis,
}

impl ConversationRow {
    /// Whether edits keep what follows (decision X6).
    pub fn is_buffer(&self) -> bool {
        self.mode == "buffer"
    }
}

pub(crate) fn read_node(row: &dyn Row) -> Result<NodeRow, SqlError> {
    Ok(NodeRow {
        id: NodeId::from_bytes(row.array(0)?),
        conversation: ConversationId::from_bytes(row.array(1)?),
        owner: UserId::from_bytes(row.array(2)?),
        place: read_place(row)?,
        parent: row.optional_array(5)?.map(NodeId::from_bytes),
        edge: EdgeId::from_bytes(row.array(9)?),
        local_id: row.text(10)?.to_owned(),
        author: ActorId::from_bytes(row.array(11)?),
        author_type: spelled(row, 12)?,
        status: spelled(row, 13)?,
        content: row.optional_array(14)?.map(ItemId::from_bytes),
        content_hash: row.optional_array(15)?.map(Digest),
        raw_response: match (row.optional_array(16)?, row.optional_array(17)?) {
            (Some(item), Some(hash)) => Some(RawResponse { item_id: ItemId::from_bytes(item), hash: Digest(hash) }),
            _ => None,
        },
        edited_from: row.optional_array(18)?.map(NodeId::from_bytes),
        is_version: row.int(19)? == 1,
        executed_by: match (row.optional_array(20)?, row.optional_int(21)?) {
            (Some(process), Some(version)) => Some(ExecutedBy { process_id: RecordId::from_bytes(process), version }),
            _ => None,
        },
        created_at: Millis(row.int(22)?),
        bookmarked: row.int(23)? == 1,
        label: row.optional_text(24)?.map(str::to_owned),
        pruned: row.int(25)? == 1,
        excluded: row.int(26)? == 1,
        reserved_by: row.optional_array(27)?.map(ItemId::from_bytes),
    })
}

fn read_place(row: &dyn Row) -> Result<Option<NodePlace>, SqlError> {
    let Some(turn) = row.optional_array(3)? else { return Ok(None) };
    let label = NodeLabel { branch: NodeId::from_bytes(row.array(6)?), depth: row.int(7)? };
    let place = NodePlace { turn: TurnId::from_bytes(turn), ordinal: row.int(4)?, label, is_late: row.int(8)? == 1 };
    Ok(Some(place))
}

pub(crate) fn read_turn(row: &dyn Row) -> Result<TurnRow, SqlError> {
    Ok(TurnRow {
        id: TurnId::from_bytes(row.array(0)?),
        conversation: ConversationId::from_bytes(row.array(1)?),
        parent: row.optional_array(2)?.map(TurnId::from_bytes),
        speaker: spelled(row, 3)?,
        turn_type: spelled(row, 4)?,
        depth: row.int(5)?,
        first_node: NodeId::from_bytes(row.array(6)?),
    })
}

pub(crate) fn read_conversation(row: &dyn Row) -> Result<ConversationRow, SqlError> {
    Ok(ConversationRow {
        id: ConversationId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        project: row.optional_array(2)?.map(RecordId::from_bytes),
        kind: row.text(3)?.to_owned(),
        mode: row.text(4)?.to_owned(),
        archived: row.int(5)? == 1,
        folded: row.int(6)? == 1,
        parent: row.optional_array(7)?.map(ConversationId::from_bytes),
        origin: row.optional_array(8)?.map(NodeId::from_bytes),
        root_turn: row.optional_array(9)?.map(TurnId::from_bytes),
        root_node: row.optional_array(10)?.map(NodeId::from_bytes),
        nodes: row.int(11)?,
        created_at: Millis(row.int(12)?),
        active_at: Millis(row.int(13)?),
    })
}

/// Reads what `serde` spells as one word.
pub(crate) fn spelled<T: serde::de::DeserializeOwned>(row: &dyn Row, column: usize) -> Result<T, SqlError> {
    let text = row.text(column)?;
    let word = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(text);
    T::deserialize(word).map_err(|_| SqlError::Other(format!("{text:?} is not a word of column {column}")))
}

/// How `serde` spells something that is one word.
pub(crate) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("not one word: {other:?}"),
    }
}
