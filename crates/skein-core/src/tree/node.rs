//! Defines the payloads of a tree's items: one type for each kind of item.
//!
//! A node is two items. [`Node`] tells its place in the tree and its hash; what was said stands in an item of its own, so
//! that it can be destroyed on demand while the tree, its hashes and its selections can still be rebuilt from what is left.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::digest::Digest;
use crate::garden::item::{BadItem, Item, ItemDraft, ItemType};
use crate::id::{ConversationId, EdgeId, ItemId, NodeId, PathId, RecordId, TurnId};
use crate::tree::actor::{ActorId, AuthorType};
use crate::tree::turn::{Speaker, TurnType};

/// Where a node stands and who made it: everything but what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSlot {
    pub conversation_id: ConversationId,
    /// The position it is an alternative of; an annotation has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnSlot>,
    pub author_id: ActorId,
    pub author_type: AuthorType,
    pub local_id: String,
    pub edge: Edge,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_from: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed_by: Option<ExecutedBy>,
    /// The path that was led to it when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_id: Option<PathId>,
}

/// The turn a node belongs to, as its first alternative made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSlot {
    pub id: TurnId,
    pub speaker: Speaker,
    #[serde(rename = "type")]
    pub turn_type: TurnType,
}

/// What leads into a node. Its sources are fixed; versions made later are sources too, and are never hashed (decision G3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub id: EdgeId,
    #[serde(rename = "type")]
    pub edge_type: EdgeType,
    pub sources: Vec<Source>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeType {
    Continuation,
    Annotation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    pub node_id: NodeId,
    pub role: SourceRole,
}

/// What a source is to the node that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceRole {
    Primary,
    Context,
    Instruction,
}

/// Which process made a node, at which version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedBy {
    pub process_id: RecordId,
    pub version: i64,
}

impl Edge {
    /// What the node answers: the first of its primary sources.
    pub fn parent(&self) -> Option<NodeId> {
        if self.edge_type == EdgeType::Annotation {
            return None;
        }
        self.sources.iter().find(|source| source.role == SourceRole::Primary).map(|source| source.node_id)
    }
}

/// A node that is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    #[serde(flatten)]
    pub slot: NodeSlot,
    /// The item that holds what was said.
    pub content_id: ItemId,
    pub content_hash: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_response: Option<RawResponse>,
}

/// What a model answered, as it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawResponse {
    pub item_id: ItemId,
    pub hash: Digest,
}

/// A place that is kept for what is being generated (decision Z5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeReserved {
    pub node_id: NodeId,
    #[serde(flatten)]
    pub slot: NodeSlot,
}

/// Nothing came of what was to be generated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFailed {
    pub node_id: NodeId,
    pub reason: String,
}

/// An actor turned to a node, and with it to everything it descends from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathMoved {
    pub path_id: PathId,
    pub conversation_id: ConversationId,
    pub actor_id: ActorId,
    pub node_id: NodeId,
    /// Nodes that their turns show again first, whatever they descend from: a failed answer gives them back (rule
    /// BR-EXEC-001).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<NodeId>,
}

/// What was noted beside a node; what is not named stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeMarked {
    pub node_id: NodeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bookmarked: Option<bool>,
    /// The label of the bookmark; taking the bookmark off takes it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tagged: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untagged: Vec<String>,
}

/// Corrects the account of a node's hash: it covers the raw response although the node's author is no model. Skein hashed
/// answers of output templates so before decision Z30. The node itself stays as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeCorrected {
    pub node_id: NodeId,
    /// The raw response that the hash covers.
    pub raw_response: RawResponse,
}

impl NodeCorrected {
    /// The id of the correction follows from the node's, so that verification finds it without a table of its own.
    pub fn id_of(node: NodeId) -> ItemId {
        let mut bytes = *node.as_bytes();
        let digest = Digest::of(&[b"NodeCorrected", node.as_bytes().as_slice()].concat());
        // The first six bytes of an id are its time.
        bytes[6..].copy_from_slice(&digest.0[..10]);
        ItemId::from_bytes(bytes)
    }
}

/// A participant of a project turned to another conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameMoved {
    pub project_id: RecordId,
    pub actor_id: ActorId,
    pub conversation_id: ConversationId,
}

/// What a node or a whole tree is about, in a sentence or two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSummary {
    pub conversation_id: ConversationId,
    /// `None` for the tree as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    pub text: String,
    /// What made it.
    pub model: String,
    /// How many nodes the tree had then.
    pub nodes: i64,
}

/// The text of a summary that a person folded a conversation into. The record of the conversation names the item, so that the
/// text can be destroyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldText {
    pub conversation_id: ConversationId,
    pub text: String,
}

/// A fact of the tree: written into an item of its type and read back from it.
pub trait TreePayload: Serialize + for<'de> Deserialize<'de> {
    const TYPE: ItemType;

    fn to_draft(&self) -> ItemDraft {
        ItemDraft::recorded(Self::TYPE, &document_of(self))
    }

    /// `None` when the document is something else.
    fn from_document(document: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(document.clone())).ok()
    }
}

macro_rules! facts {
    ($($type:ident = $item:ident),* $(,)?) => {$(
        impl TreePayload for $type {
            const TYPE: ItemType = ItemType::$item;
        }
    )*};
}

facts! {
    Node = NODE,
    NodeReserved = NODE_RESERVED,
    NodeFailed = NODE_FAILED,
    PathMoved = PATH_MOVED,
    NodeMarked = NODE_MARKED,
    NodeCorrected = NODE_CORRECTED,
    FrameMoved = FRAME_MOVED,
    TreeSummary = TREE_SUMMARY,
    FoldText = FOLD_SUMMARY,
}

fn document_of(fact: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(fact) {
        Ok(Value::Object(document)) => document,
        other => unreachable!("facts are objects: {other:?}"),
    }
}

/// The item that holds what a node says.
pub fn content_draft(node: NodeId, content: &Value) -> Result<ItemDraft, BadItem> {
    let Value::Object(document) = json!({ "nodeId": node, "content": content }) else {
        unreachable!("json!({{}}) is an object")
    };
    ItemDraft::recorded_within_limits(ItemType::NODE_CONTENT, &document)
}

/// What a node says, unless it was destroyed.
pub fn content_of(item: &Item) -> Option<Value> {
    item.document()?.remove("content")
}
