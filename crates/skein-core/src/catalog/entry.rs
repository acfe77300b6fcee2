//! Defines the common part of catalog entries: the record, the owner and the name.
//!
//! An entry's fields *are* its record's data, written in camelCase; whether it is shared stands beside them in
//! [`RecordContent::shared`].

use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::garden::record::{Record, RecordContent, RecordType};
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

/// Longest name of an entry, in characters.
pub const NAME_CHARS_MAX: usize = 100;
/// Longest description of an entry, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 4_000;

/// A thing of the catalog that is kept as the data of a record.
pub trait Entry: Serialize + DeserializeOwned {
    /// The type of the records that hold it.
    const RECORD_TYPE: &'static str;

    fn record_type() -> RecordType {
        RecordType::parse(Self::RECORD_TYPE).expect("record types of the catalogue are CamelCase")
    }

    /// Its fields as a record holds them.
    fn to_data(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            other => unreachable!("an entry is an object: {other:?}"),
        }
    }

    /// Reads what [`Self::to_data`] wrote. Data of another shape is no entry.
    fn from_data(data: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(data.clone())).ok()
    }

    /// What it says when its owner takes an earlier state up again; what counts upwards does so on the way back, too.
    #[must_use]
    fn restored(&self, past: Self) -> Self {
        past
    }

    /// A new record's content.
    fn to_content(&self, shared: bool) -> RecordContent {
        RecordContent { shared, ..RecordContent::new(Self::record_type(), self.to_data()) }
    }
}

/// An entry as it is kept: which one, whose, and whether others see it.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedEntry<T> {
    pub id: RecordId,
    pub owner: UserId,
    pub shared: bool,
    pub entry: T,
}

impl<T: Entry> OwnedEntry<T> {
    /// The entry a record holds, if it holds one of this kind.
    pub fn from_record(record: &Record) -> Option<Self> {
        let content = &record.content;
        if content.record_type.as_str() != T::RECORD_TYPE {
            return None;
        }
        let entry = T::from_data(&content.data)?;
        Some(Self { id: record.id, owner: record.owner, shared: content.shared, entry })
    }
}

/// A field that was settled when the entry was made. A change that names it, with whatever value, is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedField {
    named: bool,
}

impl<'de> Deserialize<'de> for FixedField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self { named: true })
    }
}

/// Refuses a change that names fixed fields, listing all of them.
pub(crate) fn refuse_fixed(
    rule: &'static str,
    fields: &[(&str, FixedField)],
    remedy: &'static str,
) -> Result<(), RuleViolation> {
    let named: Vec<&str> = fields.iter().filter(|(_, field)| field.named).map(|(name, _)| *name).collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(RuleViolation::new(rule, format!("{} cannot be changed", named.join(", ")), remedy))
}

/// Tells `"description": null` (take it away) from no description at all (leave it).
pub fn named<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// An object and nothing else: a list would do for `serde`, which takes its parts in order.
pub fn object<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let object = Map::deserialize(deserializer)?;
    T::deserialize(Value::Object(object)).map_err(serde::de::Error::custom)
}

/// [`object`] where there may be none.
pub fn object_if_any<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Some(object) = Option::<Map<String, Value>>::deserialize(deserializer)? else { return Ok(None) };
    T::deserialize(Value::Object(object)).map(Some).map_err(serde::de::Error::custom)
}

/// A list of which each is an [`object`].
pub fn objects<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let list = Vec::<Map<String, Value>>::deserialize(deserializer)?;
    let read = |object| T::deserialize(Value::Object(object)).map_err(serde::de::Error::custom);
    list.into_iter().map(read).collect()
}

/// A name people find an entry by: one line of 1 to 100 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name nearest to a text that may be too long, empty or of several lines.
    pub(crate) fn shorten(text: &str) -> Self {
        let line: String = text.trim().chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
        Self(if line.trim().is_empty() { "unnamed".to_owned() } else { line })
    }

    /// This name with a number behind it.
    pub(crate) fn numbered(&self, number: usize) -> Self {
        let number = format!(" ({number})");
        let stem: String = self.0.chars().take(NAME_CHARS_MAX - number.len()).collect();
        Self(stem + &number)
    }
}

impl TryFrom<String> for Name {
    type Error = BadEntryText;

    fn try_from(text: String) -> Result<Self, BadEntryText> {
        let is_line = !text.trim().is_empty() && !text.chars().any(char::is_control);
        if is_line && text.chars().count() <= NAME_CHARS_MAX { Ok(Self(text)) } else { Err(BadEntryText::Name) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an entry is for, in up to 4000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Description(String);

impl Description {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As much of a text as a description holds.
    pub(crate) fn shorten(text: &str) -> Self {
        Self(text.chars().filter(|c| *c != '\0').take(DESCRIPTION_CHARS_MAX).collect())
    }
}

impl TryFrom<String> for Description {
    type Error = BadEntryText;

    fn try_from(text: String) -> Result<Self, BadEntryText> {
        let fits = text.chars().count() <= DESCRIPTION_CHARS_MAX && !text.contains('\0');
        if fits { Ok(Self(text)) } else { Err(BadEntryText::Description) }
    }
}

/// Why a text is neither a name nor a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadEntryText {
    #[error("a name is one line of 1 to {NAME_CHARS_MAX} characters")]
    Name,
    #[error("a description has at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
}

pub(crate) fn is_enabled_by_default() -> bool {
    true
}
