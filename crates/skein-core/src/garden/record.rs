//! Defines the mutable record: content, version, and a hash chain over its history (decision M7).
//!
//! [`create`] and [`update`] are the only ways to a new version; both return the delta that must be recorded
//! with it, so a change without its fact cannot be expressed.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::canonical::{self, Escape};
use crate::digest::Digest;
use crate::document::{self, BadDocument, DOCUMENT_BYTES_MAX};
use crate::garden::delta::Delta;
use crate::garden::item::is_camel_case;
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;
use crate::time::Millis;

/// Longest name of a record, in bytes; names are looked up, and indexes hold only so much.
pub const NAME_BYTES_MAX: usize = 1_000;
/// Longest reason of a change, in bytes.
pub const REASON_BYTES_MAX: usize = 4_000;

/// What a belief is about, in CamelCase: `Service`, `Conversation`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(String);

impl RecordType {
    pub fn parse(text: &str) -> Result<Self, RuleViolation> {
        if is_camel_case(text) {
            return Ok(Self(text.to_owned()));
        }
        let shown: String = text.chars().take(64).collect();
        Err(RuleViolation::new(
            "MG-CORE-006",
            format!("{shown:?} is not a record type"),
            "use CamelCase such as Service",
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether records of this type describe what can be called: the catalog's own acts change them.
    pub fn is_catalog_entry(&self) -> bool {
        CATALOG_TYPES.contains(&self.as_str())
    }

    /// Whether records of this type are what conversations are made of: they change by the acts of the tree alone.
    pub fn is_of_tree(&self) -> bool {
        TREE_TYPES.contains(&self.as_str())
    }

    /// Whether nobody but the owner sees records of this type, whatever they say about sharing (rule BR-SECRET-002A).
    pub fn is_private(&self) -> bool {
        PRIVATE_TYPES.contains(&self.as_str())
    }

    /// Refuses types whose records mean something to Skein itself and change only by the acts made for them.
    pub fn refuse_system(&self) -> Result<(), RuleViolation> {
        if !SYSTEM_TYPES.contains(&self.as_str()) && !self.is_catalog_entry() && !self.is_of_tree() {
            return Ok(());
        }
        let problem = format!("records of type {self} are changed by Skein alone");
        Err(RuleViolation::new("MG-CORE-007", problem, "use the act made for it, such as revoking a key"))
    }
}

/// A person, a key, a setting of the installation, a corrected time.
const SYSTEM_TYPES: [&str; 4] = ["User", "ApiKey", "Setting", "TimeOverride"];
/// Where something can be called, with what, how, and what may be reached.
const CATALOG_TYPES: [&str; 10] = [
    "Service",
    "Secret",
    "Tool",
    "Process",
    "ServiceTemplate",
    "ToolTemplate",
    "SecretBinding",
    "AllowedEndpoint",
    "StandingApproval",
    "DefaultProcess",
];
/// What is talked in, who writes there, and what gathers it.
const TREE_TYPES: [&str; 3] = ["Conversation", "Actor", "Project"];
const PRIVATE_TYPES: [&str; 5] = ["Secret", "SecretBinding", "AllowedEndpoint", "StandingApproval", "DefaultProcess"];
/// The field that says when a record was deleted.
pub const DELETED_AT: &str = "deletedAt";

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything about a record that its hash covers.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordContent {
    pub record_type: RecordType,
    pub data: Map<String, Value>,
    pub shared: bool,
    pub group: Option<RecordId>,
    pub derived_from: Option<RecordId>,
    pub superseded_by: Option<RecordId>,
}

impl RecordContent {
    pub fn new(record_type: RecordType, data: Map<String, Value>) -> Self {
        Self { record_type, data, shared: false, group: None, derived_from: None, superseded_by: None }
    }

    /// The document that is hashed and kept. Timestamps are not part of it, so a replay verifies.
    pub fn to_document(&self) -> Map<String, Value> {
        let bare = |id: &Option<RecordId>| id.map_or(Value::Null, |id| json!(id.bare()));
        let fields = [
            ("data", Value::Object(self.data.clone())),
            ("derivedFrom", bare(&self.derived_from)),
            ("groupId", bare(&self.group)),
            ("shared", json!(self.shared)),
            ("supersededBy", bare(&self.superseded_by)),
            ("type", json!(self.record_type.as_str())),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Reads what [`Self::to_document`] wrote; `None` for anything else.
    pub fn from_document(mut document: Map<String, Value>) -> Option<Self> {
        let mut id = |name: &str| match document.remove(name)? {
            Value::Null => Some(None),
            Value::String(text) => RecordId::from_bare(&text).ok().map(Some),
            _ => None,
        };
        let (derived_from, group, superseded_by) = (id("derivedFrom")?, id("groupId")?, id("supersededBy")?);
        let shared = document.remove("shared")?.as_bool()?;
        let record_type = RecordType::parse(document.remove("type")?.as_str()?).ok()?;
        let Value::Object(data) = document.remove("data")? else { return None };
        Some(Self { record_type, data, shared, group, derived_from, superseded_by })
    }

    /// The canonical text of [`Self::to_document`], as it is hashed.
    pub fn canonical(&self) -> String {
        canonical::object_to_string(&self.to_document(), Escape::Ascii)
    }

    /// What records of one type are looked up by.
    pub fn name(&self) -> Option<&str> {
        self.data.get("name").and_then(Value::as_str)
    }

    /// Whether this is the last state of a record that was deleted: its history stays, nothing finds it any more.
    pub fn is_deleted(&self) -> bool {
        self.data.get(DELETED_AT).is_some_and(Value::is_string)
    }

    /// Whether others than the owner may see it.
    pub fn is_open(&self) -> bool {
        self.shared && !self.record_type.is_private()
    }

    /// The last state of a record that is deleted at a moment: it says when, and nobody else sees it any more.
    #[must_use]
    pub fn deleted(mut self, at: Millis) -> Self {
        self.data.insert(DELETED_AT.to_owned(), json!(at.to_string()));
        Self { shared: false, ..self }
    }

    /// Refuses to delete by writing a field: deleting has an act of its own.
    pub fn refuse_deletion(&self) -> Result<(), RuleViolation> {
        if !self.data.contains_key(DELETED_AT) {
            return Ok(());
        }
        let problem = format!("{DELETED_AT} is written by deleting a record");
        Err(RuleViolation::new("MG-CORE-007", problem, "leave the field out, or delete the record"))
    }

    /// Whether it is within the limits of what is kept.
    pub fn check(&self) -> Result<(), BadDocument> {
        if self.name().is_some_and(|name| name.len() > NAME_BYTES_MAX) {
            return Err(BadDocument::TextTooLong { what: "a name", limit: NAME_BYTES_MAX });
        }
        self.data.iter().try_for_each(|(key, value)| {
            document::check(&json!(key))?;
            document::check(value)
        })?;
        let found = self.canonical().len();
        if found > DOCUMENT_BYTES_MAX { Err(BadDocument::TooLarge { found }) } else { Ok(()) }
    }
}

/// SHA-256 of the canonical document, a bar, and the previous hash in hexadecimal (rule MG-HASH-001).
pub fn record_hash(canonical: &str, previous: Option<&Digest>) -> Digest {
    let previous = previous.map(Digest::to_string).unwrap_or_default();
    Digest::of(format!("{canonical}|{previous}").as_bytes())
}

/// A belief in its current state.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub id: RecordId,
    pub owner: UserId,
    pub version: i64,
    pub hash: Digest,
    pub previous_hash: Option<Digest>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub content: RecordContent,
}

/// What a change was, where the states before and after it do not tell by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Act {
    /// Made or changed, as the version tells.
    #[default]
    Plain,
    /// The value of a secret was replaced.
    Rotated,
    /// Nothing new is to be made from it.
    Archived,
    Deleted,
    /// An earlier state was taken up again.
    Restored,
}

impl Act {
    /// How a delta names it; a plain change has no name.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Rotated => Some("rotated"),
            Self::Archived => Some("archived"),
            Self::Deleted => Some("deleted"),
            Self::Restored => Some("restored"),
        }
    }

    /// Reads what [`Self::as_str`] wrote; what a newer program named is a plain change to this one.
    pub fn parse(text: Option<&str>) -> Self {
        let named = [Self::Rotated, Self::Archived, Self::Deleted, Self::Restored];
        named.into_iter().find(|act| act.as_str() == text).unwrap_or_default()
    }
}

/// Who changed a record, how and why.
#[derive(Debug, Clone)]
pub struct ChangeNote {
    pub author: UserId,
    pub reason: Option<String>,
    pub act: Act,
}

impl ChangeNote {
    fn check(&self) -> Result<(), BadDocument> {
        let Some(reason) = &self.reason else { return Ok(()) };
        document::check_text("a reason", reason, REASON_BYTES_MAX)
    }
}

/// Why a record was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordRefused {
    #[error(
        "MG-CORE-002: the record was changed by someone else (it is at {current}, you started from {based_on}); read it again and reapply your change"
    )]
    Conflict { current: Digest, current_version: i64, based_on: Digest },
    #[error(transparent)]
    Rule(#[from] RuleViolation),
    #[error(transparent)]
    Document(#[from] BadDocument),
}

/// The first version of a record and its delta.
pub fn create(
    id: RecordId,
    owner: UserId,
    content: RecordContent,
    note: ChangeNote,
    now: Millis,
) -> Result<(Record, Delta), RecordRefused> {
    content.check()?;
    note.check()?;
    let hash = record_hash(&content.canonical(), None);
    let record = Record { id, owner, version: 1, hash, previous_hash: None, created_at: now, updated_at: now, content };
    let delta = Delta::between(None, &record, note);
    Ok((record, delta))
}

/// The next version of `current`, or `None` when nothing would change.
pub fn update(
    current: &Record,
    based_on: Digest,
    content: RecordContent,
    note: ChangeNote,
    now: Millis,
) -> Result<Option<(Record, Delta)>, RecordRefused> {
    if current.hash != based_on {
        return Err(RecordRefused::Conflict { current: current.hash, current_version: current.version, based_on });
    }
    if content.record_type != current.content.record_type {
        let problem = format!("a {} cannot become a {}", current.content.record_type, content.record_type);
        return Err(RuleViolation::new("MG-CORE-006", problem, "create a new record and supersede this one").into());
    }
    content.check()?;
    note.check()?;
    let canonical = content.canonical();
    if canonical == current.content.canonical() {
        return Ok(None);
    }
    let record = Record {
        version: current.version + 1,
        hash: record_hash(&canonical, Some(&current.hash)),
        previous_hash: Some(current.hash),
        updated_at: now,
        content,
        ..*current
    };
    let delta = Delta::between(Some(current), &record, note);
    Ok(Some((record, delta)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(amount: f64) -> RecordContent {
        let data = json!({ "amount": amount, "description": "Café" });
        let Value::Object(data) = data else { unreachable!() };
        RecordContent::new(RecordType::parse("Transaction").unwrap(), data)
    }

    fn note() -> ChangeNote {
        ChangeNote { author: UserId::from_bytes([2; 16]), reason: None, act: Act::Plain }
    }

    fn first() -> Record {
        create(RecordId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), content(10.0), note(), Millis(5)).unwrap().0
    }

    fn next(current: &Record, amount: f64) -> Record {
        update(current, current.hash, content(amount), note(), Millis(6)).unwrap().unwrap().0
    }

    #[test]
    fn mg_core_001_versions_grow_by_one_along_the_hash_chain_holds() {
        let second = next(&first(), 15.0);
        assert_eq!((second.version, second.previous_hash), (2, Some(first().hash)));
        assert_eq!((second.created_at, second.updated_at), (Millis(5), Millis(6)));
    }

    #[test]
    fn mg_core_001_an_update_that_changes_nothing_makes_no_version_refuses() {
        let record = first();
        assert_eq!(update(&record, record.hash, content(10.0), note(), Millis(6)).unwrap(), None);
    }

    #[test]
    fn mg_core_002_a_change_of_the_current_state_holds() {
        assert!(update(&first(), first().hash, content(1.0), note(), Millis(6)).is_ok());
    }

    #[test]
    fn mg_core_002_a_change_of_an_older_state_refuses_with_both_hashes() {
        let (old, current) = (first(), next(&first(), 15.0));
        let refused = update(&current, old.hash, content(1.0), note(), Millis(7)).unwrap_err();
        let expected = RecordRefused::Conflict { current: current.hash, current_version: 2, based_on: old.hash };
        assert_eq!(refused, expected);
    }

    #[test]
    fn mg_core_006_camel_case_types_holds() {
        assert_eq!(RecordType::parse("TimeOverride").unwrap().as_str(), "TimeOverride");
    }

    #[test]
    fn mg_core_006_a_change_of_type_refuses() {
        let other = RecordContent::new(RecordType::parse("Budget").unwrap(), Map::new());
        assert!(matches!(update(&first(), first().hash, other, note(), Millis(6)), Err(RecordRefused::Rule(_))));
        assert!(RecordType::parse("time_override").is_err());
    }

    #[test]
    fn mg_core_007_types_of_one_s_own_holds() {
        assert!(RecordType::parse("Budget").unwrap().refuse_system().is_ok());
    }

    #[test]
    fn mg_core_007_conversations_actors_and_projects_refuses() {
        for name in TREE_TYPES {
            assert_eq!(RecordType::parse(name).unwrap().refuse_system().unwrap_err().rule(), "MG-CORE-007");
        }
    }

    #[test]
    fn mg_hash_003_a_revert_makes_a_new_hash_holds() {
        let reverted = next(&next(&first(), 15.0), 10.0);
        assert_eq!(reverted.content, first().content);
        assert_ne!(reverted.hash, first().hash);
    }

    #[test]
    fn mg_hash_003_reusing_the_hash_of_the_reverted_state_refuses() {
        let reverted = next(&next(&first(), 15.0), 10.0);
        assert!(update(&reverted, first().hash, content(1.0), note(), Millis(9)).is_err());
    }

    #[test]
    fn mg_hash_002_an_untouched_chain_verifies_holds() {
        let second = next(&first(), 15.0);
        assert_eq!(record_hash(&second.content.canonical(), second.previous_hash.as_ref()), second.hash);
    }

    #[test]
    fn mg_hash_002_an_altered_field_or_parent_breaks_the_chain_refuses() {
        let second = next(&first(), 15.0);
        assert_ne!(record_hash(&content(15.5).canonical(), second.previous_hash.as_ref()), second.hash);
        assert_ne!(record_hash(&second.content.canonical(), None), second.hash);
    }

    #[test]
    fn documents_round_trip() {
        let mut content = content(1.0);
        content.group = Some(RecordId::from_bytes([3; 16]));
        content.shared = true;
        assert_eq!(RecordContent::from_document(content.to_document()), Some(content));
    }
}
