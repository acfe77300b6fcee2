//! The fact of a change: which record, from which hash to which, and enough to rebuild either state.
//!
//! Small documents are kept whole. Large ones are kept as a patch, with a whole copy every sixteen versions so
//! that rebuilding any state reads at most sixteen deltas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::digest::Digest;
use crate::garden::item::{ItemDraft, ItemType};
use crate::garden::patch::{Patch, same};
use crate::garden::record::{Act, ChangeNote, Record, RecordContent, RecordType, record_hash};
use crate::id::{RecordId, UserId};

/// Documents below this many bytes are always kept whole.
pub const WHOLE_BELOW_BYTES: usize = 8 << 10;
/// Large documents are kept whole once in this many versions.
pub const WHOLE_EVERY_VERSIONS: i64 = 16;

/// One recorded change of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    pub record: RecordId,
    pub record_type: RecordType,
    pub commit: Digest,
    pub parent: Option<Digest>,
    pub version: i64,
    pub author: UserId,
    pub reason: Option<String>,
    pub act: Act,
    pub body: DeltaBody,
}

/// How a delta says what the new state is.
#[derive(Debug, Clone, PartialEq)]
pub enum DeltaBody {
    Whole(Map<String, Value>),
    Patch(Patch),
}

/// Why a chain of deltas does not lead to a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokenHistory {
    #[error("version {version} of {record} is a patch without the state it patches")]
    MissingBase { record: RecordId, version: i64 },
    #[error("version {version} of {record} has hash {found} but was recorded as {expected}")]
    WrongHash { record: RecordId, version: i64, expected: Digest, found: Digest },
    #[error("version {version} of {record} is not a record's content")]
    NotARecord { record: RecordId, version: i64 },
}

impl Delta {
    pub(crate) fn between(old: Option<&Record>, new: &Record, note: ChangeNote) -> Self {
        Self {
            record: new.id,
            record_type: new.content.record_type.clone(),
            commit: new.hash,
            parent: new.previous_hash,
            version: new.version,
            author: note.author,
            reason: note.reason,
            act: note.act,
            body: body(old, new),
        }
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.body, DeltaBody::Whole(_))
    }

    /// The content after this change, given the content before it (not needed by a whole copy).
    pub fn content_after(&self, before: Option<&RecordContent>) -> Result<RecordContent, BrokenHistory> {
        let (record, version) = (self.record, self.version);
        let document = match (&self.body, before) {
            (DeltaBody::Whole(document), _) => Some(document.clone()),
            (DeltaBody::Patch(patch), Some(before)) => patch.apply(&before.to_document()),
            (DeltaBody::Patch(_), None) => {
                return Err(BrokenHistory::MissingBase { record, version });
            }
        };
        let content = document.and_then(RecordContent::from_document);
        let content = content.ok_or(BrokenHistory::NotARecord { record, version })?;
        let found = record_hash(&content.canonical(), self.parent.as_ref());
        if found == self.commit {
            return Ok(content);
        }
        Err(BrokenHistory::WrongHash { record, version, expected: self.commit, found })
    }

    pub fn to_draft(&self) -> ItemDraft {
        let mut data = Map::new();
        let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
        put("author", json!(self.author.to_string()));
        put("commit", json!(self.commit.to_string()));
        put("entityId", json!(self.record.to_string()));
        put("entityType", json!(self.record_type.as_str()));
        put("parent", json!(self.parent.map(|parent| parent.to_string())));
        put("reason", json!(self.reason));
        put("version", json!(self.version));
        if let Some(act) = self.act.as_str() {
            put("act", json!(act));
        }
        match &self.body {
            DeltaBody::Whole(document) => put("document", Value::Object(document.clone())),
            DeltaBody::Patch(patch) => put("patch", patch.to_value()),
        };
        ItemDraft::recorded(ItemType::ENTITY_DELTA, &data)
    }

    /// Reads the payload that [`Self::to_draft`] wrote; `None` for anything else.
    pub fn from_document(data: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        let body = match (data.get("document"), data.get("patch")) {
            (Some(Value::Object(document)), None) => DeltaBody::Whole(document.clone()),
            (None, Some(patch)) => DeltaBody::Patch(Patch::from_value(patch)?),
            _ => return None,
        };
        Some(Self {
            record: text("entityId")?.parse().ok()?,
            record_type: RecordType::parse(text("entityType")?).ok()?,
            commit: text("commit")?.parse().ok()?,
            parent: text("parent").map(str::parse).transpose().ok()?,
            version: data.get("version")?.as_i64()?,
            author: text("author")?.parse().ok()?,
            reason: text("reason").map(str::to_owned),
            act: Act::parse(text("act")),
            body,
        })
    }
}

fn body(old: Option<&Record>, new: &Record) -> DeltaBody {
    let document = new.content.to_document();
    let whole_is_due = (new.version - 1) % WHOLE_EVERY_VERSIONS == 0;
    let is_small = new.content.canonical().len() < WHOLE_BELOW_BYTES;
    match old {
        Some(old) if !whole_is_due && !is_small => {
            DeltaBody::Patch(Patch::between(&old.content.to_document(), &document))
        }
        _ => DeltaBody::Whole(document),
    }
}

/// What changed between two states, field by field: old value, new value; `null` where there was none.
///
/// Fields of `data` go by their own names; what surrounds it (sharing, grouping) by the names on the wire.
pub fn changed_fields(old: Option<&RecordContent>, new: &RecordContent) -> BTreeMap<String, [Value; 2]> {
    let before = old.map(flat_fields).unwrap_or_default();
    let after = flat_fields(new);
    let names = before.keys().chain(after.keys());
    let value = |fields: &Map<String, Value>, name: &String| fields.get(name).cloned().unwrap_or(Value::Null);
    let pairs = names.map(|name| (name.clone(), [value(&before, name), value(&after, name)]));
    pairs.filter(|(_, [old, new])| !same(old, new)).collect()
}

fn flat_fields(content: &RecordContent) -> Map<String, Value> {
    let mut document = content.to_document();
    let data = document.remove("data");
    document.retain(|_, value| !value.is_null());
    if let Some(Value::Object(data)) = data {
        document.extend(data);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::garden::record::{create, update};
    use crate::time::Millis;

    const OWNER: UserId = UserId::from_bytes([2; 16]);

    fn note() -> ChangeNote {
        ChangeNote { author: OWNER, reason: Some("test".into()), act: Act::Plain }
    }

    fn content(filler: usize, amount: i64) -> RecordContent {
        let Value::Object(data) = json!({ "text": "x".repeat(filler), "amount": amount }) else { unreachable!() };
        RecordContent::new(RecordType::parse("Thing").unwrap(), data)
    }

    fn history(filler: usize, versions: i64) -> Vec<Delta> {
        let id = RecordId::from_bytes([1; 16]);
        let (mut record, delta) = create(id, OWNER, content(filler, 1), note(), Millis(0)).unwrap();
        let mut deltas = vec![delta];
        for amount in 2..=versions {
            let hash = record.hash;
            let next = update(&record, hash, content(filler, amount), note(), Millis(amount)).unwrap().unwrap();
            record = next.0;
            deltas.push(next.1);
        }
        deltas
    }

    #[test]
    fn an_act_is_told_and_a_plain_change_spelled_as_ever() {
        let plain = history(10, 1).remove(0);
        for act in [Act::Plain, Act::Rotated, Act::Archived, Act::Deleted, Act::Restored] {
            let told = Delta { act, ..plain.clone() };
            let item = told.to_draft().realize(crate::id::ItemId::from_bytes([3; 16]), OWNER, Millis(0));
            let document = item.document().unwrap();
            assert_eq!(document.get("act").and_then(Value::as_str), act.as_str());
            assert_eq!(Delta::from_document(&document), Some(told));
        }
    }

    #[test]
    fn mg_delta_002_small_documents_are_kept_whole_holds() {
        assert!(history(10, 20).iter().all(Delta::is_whole));
    }

    #[test]
    fn mg_delta_002_large_documents_are_patched_and_whole_every_sixteen_holds() {
        let whole: Vec<i64> =
            history(9_000, 40).iter().filter(|delta| delta.is_whole()).map(|delta| delta.version).collect();
        assert_eq!(whole, [1, 17, 33]);
    }

    #[test]
    fn mg_delta_002_a_patch_without_its_base_refuses() {
        let second = history(9_000, 2).remove(1);
        assert!(matches!(second.content_after(None), Err(BrokenHistory::MissingBase { version: 2, .. })));
        let wrong_base = content(9_000, 7);
        assert!(second.content_after(Some(&RecordContent { shared: true, ..wrong_base })).is_err());
    }

    #[test]
    fn mg_delta_001_the_payload_reads_back_the_same_holds() {
        for delta in history(9_000, 3) {
            let item = delta.to_draft().realize(crate::ItemId::from_bytes([5; 16]), OWNER, Millis(0));
            assert_eq!(Delta::from_document(&item.document().unwrap()), Some(delta));
        }
    }

    #[test]
    fn mg_delta_001_a_payload_with_a_part_missing_refuses() {
        let delta = history(10, 1).remove(0);
        let item = delta.to_draft().realize(crate::ItemId::from_bytes([5; 16]), OWNER, Millis(0));
        for name in ["author", "commit", "entityId", "entityType", "version", "document"] {
            let mut data = item.document().unwrap();
            data.remove(name);
            assert_eq!(Delta::from_document(&data), None, "{name}");
        }
    }

    #[test]
    fn changes_are_listed_by_field() {
        let fields = changed_fields(Some(&content(1, 1)), &RecordContent { shared: true, ..content(1, 2) });
        assert_eq!(serde_json::to_value(fields).unwrap(), json!({ "amount": [1, 2], "shared": [false, true] }));
    }
}
