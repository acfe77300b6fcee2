//! Defines the immutable item: header, payload, and the hash that binds them (decision Z25).
//!
//! The hash covers the payload only through the payload's own digest, so that a payload can be destroyed on
//! demand while the item, and everything chained to it, still verifies.

use std::fmt;

use serde_json::{Map, Value};

use crate::canonical::{self, Escape};
use crate::digest::{Digest, FieldHasher};
use crate::document::{self, BadDocument, DOCUMENT_BYTES_MAX};
use crate::id::{ItemId, UserId};
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Largest raw payload (a model's response, a tool's output), in bytes.
pub const RAW_PAYLOAD_BYTES_MAX: usize = 16 << 20;
const TYPE_CHARS_MAX: usize = 64;

/// Attribute names kept free for relations that may one day be copied onto the item (rule MG-SOIL-004).
pub const RESERVED_ATTRIBUTES: [&str; 7] =
    ["triggered_by", "superceded_by", "superseded_by", "replies_to", "derived_from", "continues_from", "contained_by"];

/// What a fact is, in CamelCase: `Note`, `EntityDelta`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemType(std::borrow::Cow<'static, str>);

macro_rules! item_types {
    ($($name:ident = $text:literal),* $(,)?) => {
        impl ItemType {
            $(pub const $name: Self = Self(std::borrow::Cow::Borrowed($text));)*
            const KNOWN: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

item_types! {
    NOTE = "Note",
    EPISODE = "Episode",
    NODE = "Node",
    NODE_CONTENT = "NodeContent",
    NODE_RESERVED = "NodeReserved",
    NODE_FAILED = "NodeFailed",
    NODE_MARKED = "NodeMarked",
    NODE_CORRECTED = "NodeCorrected",
    PATH_MOVED = "PathMoved",
    FRAME_MOVED = "FrameMoved",
    TREE_SUMMARY = "TreeSummary",
    FOLD_SUMMARY = "FoldSummary",
    RAW_RESPONSE = "RawResponse",
    ENTITY_DELTA = "EntityDelta",
    RELATION_CREATED = "RelationCreated",
    RELATION_EDITED = "RelationEdited",
    RELATION_REMOVED = "RelationRemoved",
    BLOB_ATTACHED = "BlobAttached",
    TOMBSTONE = "Tombstone",
    REDACTION = "Redaction",
    SEAL = "Seal",
    SYSTEM_EVENT = "SystemEvent",
    TOOL_CALL = "ToolCall",
    TOOL_RESULT = "ToolResult",
    TOOL_OUTPUT = "ToolOutput",
    EXECUTION_BEGUN = "ExecutionBegun",
    EXECUTION_MOVED = "ExecutionMoved",
    EXECUTION_ENDED = "ExecutionEnded",
    REVIEW_ASKED = "ReviewAsked",
    REVIEW_DECIDED = "ReviewDecided",
}

/// Types whose items only Skein writes, each as part of something larger.
const SYSTEM_TYPES: [ItemType; 29] = [
    ItemType::EPISODE,
    ItemType::NODE,
    ItemType::NODE_CONTENT,
    ItemType::NODE_RESERVED,
    ItemType::NODE_FAILED,
    ItemType::NODE_MARKED,
    ItemType::NODE_CORRECTED,
    ItemType::PATH_MOVED,
    ItemType::FRAME_MOVED,
    ItemType::TREE_SUMMARY,
    ItemType::FOLD_SUMMARY,
    ItemType::RAW_RESPONSE,
    ItemType::ENTITY_DELTA,
    ItemType::RELATION_CREATED,
    ItemType::RELATION_EDITED,
    ItemType::RELATION_REMOVED,
    ItemType::BLOB_ATTACHED,
    ItemType::TOMBSTONE,
    ItemType::REDACTION,
    ItemType::SEAL,
    ItemType::SYSTEM_EVENT,
    ItemType::TOOL_CALL,
    ItemType::TOOL_RESULT,
    ItemType::TOOL_OUTPUT,
    ItemType::EXECUTION_BEGUN,
    ItemType::EXECUTION_MOVED,
    ItemType::EXECUTION_ENDED,
    ItemType::REVIEW_ASKED,
    ItemType::REVIEW_DECIDED,
];

/// Types of the founding design that Skein will write itself one day: nobody may take their meaning (rule MG-SOIL-003).
const RESERVED_TYPES: [&str; 3] = ["Message", "ArtifactCreated", "ArtifactDelta"];

/// Those of them that tell when something was said or brought here.
const DATED: [ItemType; 4] = [ItemType::NODE, ItemType::NODE_CONTENT, ItemType::EPISODE, ItemType::BLOB_ATTACHED];

/// Those of them that say nothing of their own to a reader of a timeline.
const BOOKKEEPING: [ItemType; 16] = [
    ItemType::NODE,
    ItemType::NODE_RESERVED,
    ItemType::NODE_FAILED,
    ItemType::NODE_MARKED,
    ItemType::NODE_CORRECTED,
    ItemType::PATH_MOVED,
    ItemType::FRAME_MOVED,
    ItemType::EXECUTION_MOVED,
    ItemType::ENTITY_DELTA,
    ItemType::RELATION_CREATED,
    ItemType::RELATION_EDITED,
    ItemType::RELATION_REMOVED,
    ItemType::TOMBSTONE,
    ItemType::REDACTION,
    ItemType::SEAL,
    ItemType::SYSTEM_EVENT,
];

impl ItemType {
    pub fn parse(text: &str) -> Result<Self, RuleViolation> {
        // Reading a long timeline meets the same few names again and again.
        if let Some(known) = Self::KNOWN.iter().find(|known| known.as_str() == text) {
            return Ok(known.clone());
        }
        if is_camel_case(text) {
            return Ok(Self(text.to_owned().into()));
        }
        let shown: String = text.chars().take(TYPE_CHARS_MAX).collect();
        Err(RuleViolation::new("MG-SOIL-003", format!("{shown:?} is not an item type"), "use CamelCase such as Note"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Types that only keep the books: what they say is found in what it is about.
    pub fn bookkeeping() -> &'static [Self] {
        &BOOKKEEPING
    }

    /// All types whose items only Skein writes.
    pub fn system() -> &'static [Self] {
        &SYSTEM_TYPES
    }

    /// Whether somebody may state when it really happened (rule MG-SOIL-006). What only Skein writes happened when it was written.
    pub fn has_stated_time(&self) -> bool {
        !self.is_system() || DATED.contains(self)
    }

    /// Whether only Skein itself may write items of this type.
    pub fn is_system(&self) -> bool {
        SYSTEM_TYPES.contains(self)
    }
}

impl fmt::Display for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An upper-case letter, then letters and digits.
pub(crate) fn is_camel_case(text: &str) -> bool {
    (1..=TYPE_CHARS_MAX).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|character| character.is_ascii_alphanumeric())
}

/// The bytes of a fact, with their digest computed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    bytes: Vec<u8>,
    form: PayloadForm,
    hash: Digest,
}

/// How payload bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadForm {
    /// Canonical JSON of an object.
    Document,
    /// Bytes as they were received.
    Raw,
}

impl Payload {
    /// Payload bytes as they come back from a store; whether they are the right ones, [`Item::check`] tells.
    pub fn stored(bytes: Vec<u8>, form: PayloadForm) -> Self {
        let hash = Digest::of(&bytes);
        Self { bytes, form, hash }
    }

    fn of_document(data: &Map<String, Value>) -> Self {
        let text = canonical::object_to_string(data, Escape::Unicode);
        Self::stored(text.into_bytes(), PayloadForm::Document)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn form(&self) -> PayloadForm {
        self.form
    }

    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// The document, unless the payload is raw bytes or damaged.
    pub fn document(&self) -> Option<Map<String, Value>> {
        match self.form {
            PayloadForm::Document => serde_json::from_slice(&self.bytes).ok(),
            PayloadForm::Raw => None,
        }
    }
}

/// What the hash of an item covers besides its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemHeader {
    pub item_type: ItemType,
    pub id: ItemId,
    pub owner: UserId,
    /// When the store recorded it.
    pub realized_at: Millis,
    /// When it happened, as far as its author says.
    pub canonical_at: Millis,
}

impl ItemHeader {
    pub fn hash(&self, payload: &Digest) -> Digest {
        FieldHasher::new()
            .field(self.item_type.as_str().as_bytes())
            .field(self.id.as_bytes())
            .field(self.owner.as_bytes())
            .field(&self.realized_at.0.to_be_bytes())
            .field(&self.canonical_at.0.to_be_bytes())
            .finish_with(payload)
    }
}

/// A fact as it is kept. `payload` is `None` once it was redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub header: ItemHeader,
    pub payload: Option<Payload>,
    pub payload_hash: Digest,
    pub hash: Digest,
}

/// How an item differs from what its hash promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub part: &'static str,
    pub expected: Digest,
    pub found: Digest,
}

impl Item {
    /// Recomputes both hashes from what is there.
    pub fn check(&self) -> Result<(), Mismatch> {
        if let Some(payload) = self.payload.as_ref().filter(|payload| payload.hash != self.payload_hash) {
            return Err(Mismatch { part: "payload", expected: self.payload_hash, found: payload.hash });
        }
        let found = self.header.hash(&self.payload_hash);
        if found == self.hash { Ok(()) } else { Err(Mismatch { part: "header", expected: self.hash, found }) }
    }

    pub fn document(&self) -> Option<Map<String, Value>> {
        self.payload.as_ref().and_then(Payload::document)
    }
}

/// Why something cannot become an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadItem {
    #[error(transparent)]
    Rule(#[from] RuleViolation),
    #[error(transparent)]
    Document(#[from] BadDocument),
    #[error("the payload has {found} bytes; the limit is {RAW_PAYLOAD_BYTES_MAX}")]
    RawTooLarge { found: usize },
}

/// A fact about to be recorded: everything but its id, owner and time.
#[derive(Debug, Clone)]
#[must_use]
pub struct ItemDraft {
    item_type: ItemType,
    payload: Payload,
    canonical_at: Option<Millis>,
}

impl ItemDraft {
    /// What a person or an agent states.
    pub fn stated(
        item_type: ItemType,
        data: Map<String, Value>,
        canonical_at: Option<Millis>,
    ) -> Result<Self, BadItem> {
        refuse_system_type(&item_type)?;
        data.keys().try_for_each(|name| refuse_reserved_attribute(name))?;
        if item_type == ItemType::NOTE {
            check_note(&data)?;
        }
        let data = Value::Object(data);
        document::check(&data)?;
        let Value::Object(data) = data else { unreachable!("an object stays an object") };
        let payload = Payload::of_document(&data);
        if payload.bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(BadDocument::TooLarge { found: payload.bytes.len() }.into());
        }
        Ok(Self { item_type, payload, canonical_at })
    }

    /// What Skein records of others' doing: theirs is the size.
    pub fn recorded_within_limits(item_type: ItemType, data: &Map<String, Value>) -> Result<Self, BadItem> {
        let draft = Self::recorded(item_type, data);
        let found = draft.payload.bytes.len();
        if found > DOCUMENT_BYTES_MAX { Err(BadDocument::TooLarge { found }.into()) } else { Ok(draft) }
    }

    /// What Skein records of its own doing; the caller vouches for the document.
    pub fn recorded(item_type: ItemType, data: &Map<String, Value>) -> Self {
        Self { item_type, payload: Payload::of_document(data), canonical_at: None }
    }

    /// Bytes exactly as they came from elsewhere.
    pub fn received(item_type: ItemType, bytes: Vec<u8>) -> Result<Self, BadItem> {
        refuse_system_type(&item_type)?;
        if item_type == ItemType::NOTE {
            // Bytes have no description.
            check_note(&Map::new())?;
        }
        Self::recorded_raw(item_type, bytes)
    }

    /// Bytes that Skein records of others' doing, too many for a document.
    pub fn recorded_raw(item_type: ItemType, bytes: Vec<u8>) -> Result<Self, BadItem> {
        if bytes.len() > RAW_PAYLOAD_BYTES_MAX {
            return Err(BadItem::RawTooLarge { found: bytes.len() });
        }
        Ok(Self { item_type, payload: Payload::stored(bytes, PayloadForm::Raw), canonical_at: None })
    }

    /// Says when it happened, where that is not when it is recorded.
    pub fn happened_at(self, canonical_at: Millis) -> Self {
        Self { canonical_at: Some(canonical_at), ..self }
    }

    /// The digest of what it says.
    pub fn payload_hash(&self) -> Digest {
        self.payload.hash
    }

    /// Bytes this draft will occupy, for the writer's queue limit.
    pub fn weight(&self) -> usize {
        self.payload.bytes.len()
    }

    /// Makes the fact: from here on nothing about it changes.
    pub fn realize(self, id: ItemId, owner: UserId, realized_at: Millis) -> Item {
        let canonical_at = self.canonical_at.unwrap_or(realized_at);
        let header = ItemHeader { item_type: self.item_type, id, owner, realized_at, canonical_at };
        let payload_hash = self.payload.hash;
        let hash = header.hash(&payload_hash);
        Item { header, payload: Some(self.payload), payload_hash, hash }
    }
}

fn refuse_system_type(item_type: &ItemType) -> Result<(), RuleViolation> {
    if RESERVED_TYPES.contains(&item_type.as_str()) {
        let problem = format!("the type {item_type} is reserved and cannot be stated yet");
        return Err(RuleViolation::new("MG-SOIL-003", problem, "choose another type, such as Note"));
    }
    if !item_type.is_system() {
        return Ok(());
    }
    let problem = format!("items of type {item_type} are written by Skein alone");
    Err(RuleViolation::new("MG-SOIL-003", problem, "choose another type, such as Note"))
}

fn refuse_reserved_attribute(name: &str) -> Result<(), RuleViolation> {
    if !name.starts_with('_') && !RESERVED_ATTRIBUTES.contains(&name) {
        return Ok(());
    }
    let shown: String = name.chars().take(64).collect();
    let problem = format!("the attribute name {shown:?} is reserved");
    Err(RuleViolation::new("MG-SOIL-004", problem, "rename it; edges to other things are made as relations"))
}

fn check_note(data: &Map<String, Value>) -> Result<(), RuleViolation> {
    let refuse = |problem: &str| {
        Err(RuleViolation::new(
            "MG-SOIL-009",
            problem,
            "send {\"description\": \"…\"}, optionally with title and summary",
        ))
    };
    if !data.get("description").is_some_and(Value::is_string) {
        return refuse("a Note needs its description as text");
    }
    let optional_text = |name: &str| data.get(name).is_none_or(|value| value.is_string() || value.is_null());
    if optional_text("title") && optional_text("summary") {
        return Ok(());
    }
    refuse("title and summary of a Note are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(extra: &str) -> Result<ItemDraft, BadItem> {
        let data = document::parse_object(format!(r#"{{"description":"d"{extra}}}"#).as_bytes()).unwrap();
        ItemDraft::stated(ItemType::NOTE, data, None)
    }

    fn rule_of(result: Result<ItemDraft, BadItem>) -> &'static str {
        match result {
            Err(BadItem::Rule(violation)) => violation.rule(),
            other => panic!("expected a rule violation, got {other:?}"),
        }
    }

    #[test]
    fn mg_soil_003_camel_case_types_holds() {
        for text in ["Note", "ToolCall", "X", "Email2"] {
            assert_eq!(ItemType::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn mg_soil_003_other_types_and_system_types_refuses() {
        for text in ["", "note", "tool_call", "Tool Call", "Ärger", "_Type"] {
            assert_eq!(ItemType::parse(text).unwrap_err().rule(), "MG-SOIL-003");
        }
        assert_eq!(rule_of(ItemDraft::stated(ItemType::SEAL, Map::new(), None)), "MG-SOIL-003");
        for reserved in RESERVED_TYPES {
            let item_type = ItemType::parse(reserved).unwrap();
            assert_eq!(rule_of(ItemDraft::stated(item_type, Map::new(), None)), "MG-SOIL-003", "{reserved}");
        }
    }

    #[test]
    fn mg_soil_004_free_attribute_names_holds() {
        assert!(note(r#","triggers":1,"mood":"calm""#).is_ok());
    }

    #[test]
    fn mg_soil_004_reserved_attribute_names_refuses() {
        for name in RESERVED_ATTRIBUTES.iter().chain(&["_type", "_x"]) {
            assert_eq!(rule_of(note(&format!(r#","{name}":1"#))), "MG-SOIL-004", "{name}");
        }
    }

    #[test]
    fn mg_soil_009_notes_with_description_holds() {
        assert!(note(r#","title":"t","summary":null"#).is_ok());
    }

    #[test]
    fn mg_soil_009_notes_without_text_refuses() {
        assert_eq!(rule_of(ItemDraft::stated(ItemType::NOTE, Map::new(), None)), "MG-SOIL-009");
        assert_eq!(rule_of(note(r#","title":5"#)), "MG-SOIL-009");
        assert_eq!(rule_of(ItemDraft::received(ItemType::NOTE, vec![0])), "MG-SOIL-009");
    }

    #[test]
    fn any_altered_part_is_noticed() {
        let item = note("").unwrap().realize(ItemId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Millis(3));
        assert_eq!(item.check(), Ok(()));
        let mut moved = item.clone();
        moved.header.canonical_at = Millis(4);
        assert_eq!(moved.check().unwrap_err().part, "header");
        let mut rewritten = item.clone();
        rewritten.payload = Some(Payload::stored(b"{}".to_vec(), PayloadForm::Document));
        assert_eq!(rewritten.check().unwrap_err().part, "payload");
        let redacted = Item { payload: None, ..item };
        assert_eq!(redacted.check(), Ok(()));
    }
}
