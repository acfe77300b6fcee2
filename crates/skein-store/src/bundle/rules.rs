//! Judges the new items of an owner's bundle by the rules of the acts that write such items.
//!
//! What no seal of this installation covers is the claim of the importer. It is taken in if its act could have written
//! it: the act's own function is asked, and what it would have recorded is compared hash by hash. What an item names is
//! looked up in the bundle as it was before that item, and in the store (`docs/decisions/0007-bundles.md`).

use serde_json::{Map, Value};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::delta::Delta;
use skein_core::garden::item::{BadItem, Item, ItemDraft, ItemType, Payload, PayloadForm};
use skein_core::garden::record::{self, Act, ChangeNote, Record, RecordContent, RecordRefused};
use skein_core::garden::redaction::{redact, redacted_item};
use skein_core::garden::relation::{Endpoint, RelationDraft, qualities_from_document};
use skein_core::garden::undo::{undo, undone_before};
use skein_core::{Digest, ItemId, Millis, RuleViolation};

use super::admission::{corrected_item, delta_of, relation_of};
use super::check::CLOCK_SKEW_MS;
use super::lookup::Lookup;
use super::scratch_database::ScratchDatabase;
use super::{Authority, BadBundle, about};
use crate::blobs::attachment;
use crate::error::StoreError;
use crate::timeline::marks::time_override;
use crate::timeline::projection::TIME_OVERRIDE;
use crate::timeline::relations::{RelatedThing, check_ends};

const REMEDY: &str = "leave it out, or ask who runs this installation to import the bundle";

/// Refuses a new item that no act of its owner's could have written. `latest` is the newest time before it in the bundle.
/// What cannot be read, or speaks of what is not in the bundle, is left to [`super::admission::take`].
pub(crate) fn check(
    authority: &Authority,
    item: &Item,
    aside: &mut ScratchDatabase,
    lookup: &Lookup,
    latest: Millis,
) -> Result<(), StoreError> {
    let is_judged = matches!(authority, Authority::Owner(_)) && !lookup.sealed.contains(&item.header.id);
    if !is_judged {
        return Ok(());
    }
    let judged = refuse_backdated(item, lookup, latest).and_then(|()| NewItem { item, aside, lookup }.check());
    judged.map_err(|error| named(item.header.id, error))
}

/// Says which item breaks the rule; what no rule names makes the bundle a bad one.
fn named(id: ItemId, error: StoreError) -> StoreError {
    match error {
        StoreError::Rule(violation)
        | StoreError::Item(BadItem::Rule(violation))
        | StoreError::Record(RecordRefused::Rule(violation)) => {
            let problem = format!("{id} is new here: {}", violation.problem());
            RuleViolation::new(violation.rule(), problem, violation.remedy()).into()
        }
        error => about(id, error),
    }
}

/// A clock does not run backwards, and nothing is an owner's before there is one.
fn refuse_backdated(item: &Item, lookup: &Lookup, latest: Millis) -> Result<(), StoreError> {
    let at = item.header.realized_at;
    let earliest = lookup.owner_since.unwrap_or(Millis::MIN).max(latest);
    if at.plus(CLOCK_SKEW_MS) >= earliest {
        return Ok(());
    }
    let problem = format!("it says that it was recorded at {at}, and what came before it at {earliest}");
    Err(RuleViolation::new("MG-SOIL-002", problem, REMEDY).into())
}

/// Where an item is: what is here already came before all that is brought.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum EndpointPlace {
    Here(Cursor),
    Brought(Cursor),
}

/// One new item, with what was brought before it and what is here.
struct NewItem<'a> {
    item: &'a Item,
    aside: &'a mut ScratchDatabase,
    lookup: &'a Lookup,
}

impl NewItem<'_> {
    fn check(mut self) -> Result<(), StoreError> {
        let item_type = &self.item.header.item_type;
        if !item_type.is_system() {
            return self.check_stated();
        }
        let Some(document) = self.item.document() else { return Ok(()) };
        match item_type {
            t if *t == ItemType::ENTITY_DELTA => self.check_delta(),
            t if *t == ItemType::RELATION_CREATED => self.check_relation(&document),
            t if *t == ItemType::RELATION_EDITED => self.check_edit(&document),
            t if *t == ItemType::RELATION_REMOVED => self.check_removal(&document),
            t if *t == ItemType::TOMBSTONE => self.check_undo(&document),
            t if *t == ItemType::REDACTION => self.check_redaction(&document),
            t if *t == ItemType::BLOB_ATTACHED => self.check_attachment(&document),
            // Whether those may come at all is not a matter of what they say.
            _ => Ok(()),
        }
    }

    /// The item is what its act would have recorded then, and nothing besides.
    fn refuse_unlike(&self, draft: ItemDraft) -> Result<(), StoreError> {
        let header = &self.item.header;
        if draft.realize(header.id, header.owner, header.realized_at).hash == self.item.hash {
            return Ok(());
        }
        let problem = format!("it is not a {} as Skein records it", header.item_type);
        Err(RuleViolation::new("MG-SOIL-003", problem, REMEDY).into())
    }

    /// What a destroyed payload said needs no judging.
    fn check_stated(&self) -> Result<(), StoreError> {
        let Some(payload) = &self.item.payload else { return Ok(()) };
        let header = &self.item.header;
        let draft = match (payload.form(), payload.document()) {
            (PayloadForm::Document, Some(data)) => ItemDraft::stated(header.item_type.clone(), data, None)?,
            _ => ItemDraft::received(header.item_type.clone(), payload.bytes().to_vec())?,
        };
        self.refuse_unlike(draft.happened_at(header.canonical_at))
    }

    fn check_undo(&mut self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let Some(target) = redacted_item(document) else { return Ok(()) };
        let Some(brought) = self.aside.item(target)? else { return Ok(()) };
        let here = self.lookup.item(target);
        if brought.is_undone || here.is_some_and(|here| here.is_undone) {
            return Err(undone_before().into());
        }
        // What is here was here: only its own clock tells how long ago.
        let said = self.item.header.realized_at;
        let at = if here.is_some() { said.max(self.lookup.now) } else { said };
        self.refuse_unlike(undo(&brought.item.header, self.item.header.owner, at)?)
    }

    fn check_redaction(&mut self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let Some(target) = redacted_item(document) else { return Ok(()) };
        let Some(brought) = self.aside.item(target)? else { return Ok(()) };
        let is_gone = brought.is_redacted || self.lookup.item(target).is_some_and(|here| here.is_redacted);
        let payload = (!is_gone).then(|| Payload::stored(Vec::new(), PayloadForm::Document));
        let reason = document.get("reason").and_then(Value::as_str).unwrap_or_default();
        self.refuse_unlike(redact(&Item { payload, ..brought.item }, reason)?)
    }

    fn check_attachment(&self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let hash = text("hash").and_then(|hash| hash.parse::<Digest>().ok());
        let size = document.get("size").and_then(Value::as_i64);
        let (Some(hash), Some(size), Some(media_type)) = (hash, size, text("mediaType")) else { return Ok(()) };
        self.refuse_unlike(attachment(hash, size, media_type)?)
    }

    fn check_relation(&mut self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let Some((id, draft)) = RelationDraft::from_document(document) else { return Ok(()) };
        let draft = draft.checked()?;
        self.refuse_unlike(draft.to_item(id))?;
        if self.lookup.has_relation(id) {
            return Err(BadBundle::Unusable { item: self.item.header.id }.into());
        }
        let (aside, lookup) = (&mut *self.aside, self.lookup);
        check_ends(&draft, &mut |end| related_thing(aside, lookup, end))?;
        self.lookup.refuse_second(self.item.header.id)?;
        self.aside.refuse_second(self.item.header.owner, &draft)
    }

    fn check_edit(&mut self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let Some((id, qualities)) = qualities_from_document(document) else { return Ok(()) };
        let Some(relation) = self.aside.relation(id)? else { return Ok(()) };
        self.refuse_unlike(relation.edit(&qualities)?)
    }

    fn check_removal(&mut self, document: &Map<String, Value>) -> Result<(), StoreError> {
        let Some(id) = relation_of(self.item) else { return Ok(()) };
        let Some(relation) = self.aside.relation(id)? else { return Ok(()) };
        let reason = document.get("reason").and_then(Value::as_str).unwrap_or_default();
        self.refuse_unlike(relation.remove(reason)?)
    }

    /// What belongs to acts of Skein's own is refused as such afterwards.
    fn check_delta(&mut self) -> Result<(), StoreError> {
        let Some(delta) = delta_of(self.item) else { return Ok(()) };
        let before = self.aside.record(delta.record)?;
        let content = delta.content_after(before.as_ref().map(|before| &before.content));
        let continues = before.as_ref().map(|before| before.hash) == delta.parent;
        let Some(content) = content.ok().filter(|_| continues) else { return Ok(()) };
        if delta.record_type.as_str() == TIME_OVERRIDE {
            self.check_corrected_time(&delta, before.as_ref(), &content)?;
        } else if delta.record_type.refuse_system().is_err() {
            return Ok(());
        } else {
            self.check_state(&delta, before.as_ref(), &content)?;
        }
        let header = &self.item.header;
        let note = ChangeNote { author: header.owner, reason: delta.reason.clone(), act: delta.act };
        let made = match before {
            None => record::create(delta.record, header.owner, content, note, header.realized_at).map(Some)?,
            Some(before) => record::update(&before, before.hash, content, note, header.realized_at)?,
        };
        let Some((_, made)) = made else { return Err(unlike_any_change().into()) };
        // Which states are kept whole may change from version to version.
        self.refuse_unlike(Delta { body: delta.body, ..made }.to_draft())
    }

    /// A record is changed while it is there, and deleted by the act for it.
    fn check_state(
        &self,
        delta: &Delta,
        before: Option<&Record>,
        content: &RecordContent,
    ) -> Result<(), RuleViolation> {
        let state = before.map(|before| &before.content);
        if state.is_some_and(RecordContent::is_deleted) {
            return Err(unlike_any_change());
        }
        match delta.act {
            Act::Plain => content.refuse_deletion(),
            Act::Deleted
                if state.map(|state| state.clone().deleted(self.item.header.realized_at)).as_ref() == Some(content) =>
            {
                Ok(())
            }
            Act::Deleted | Act::Rotated | Act::Archived | Act::Restored => Err(unlike_any_change()),
        }
    }

    /// An item has one record of its corrected time, which says that and nothing else.
    fn check_corrected_time(
        &mut self,
        delta: &Delta,
        before: Option<&Record>,
        content: &RecordContent,
    ) -> Result<(), StoreError> {
        let at = content.data.get("canonicalAt").and_then(Value::as_str).map(str::parse::<Millis>).transpose();
        let (Some(target), Ok(at)) = (corrected_item(delta), at) else { return Ok(()) };
        let Some(brought) = self.aside.item(target)? else { return Ok(()) };
        let is_same = brought.time_override == before.map(|before| before.id);
        if !is_same || delta.act != Act::Plain || time_override(target, at)? != *content {
            let problem = "it is not the record of a corrected time that this item has";
            return Err(RuleViolation::new("MG-SOIL-006", problem, REMEDY).into());
        }
        match self.lookup.item(target).and_then(|here| here.time_override) {
            Some(record) if record != delta.record => {
                Err(BadBundle::Diverged { item: self.item.header.id, record }.into())
            }
            _ => Ok(()),
        }
    }
}

fn unlike_any_change() -> RuleViolation {
    RuleViolation::new("MG-CORE-007", "no change of a record by its owner says this", REMEDY)
}

/// What an end is: brought before the edge, or here for the owner to name. What is neither is not there.
fn related_thing(
    aside: &mut ScratchDatabase,
    lookup: &Lookup,
    end: Endpoint,
) -> Result<RelatedThing<EndpointPlace>, StoreError> {
    let missing = || StoreError::NotFound(end.id_text());
    match end {
        Endpoint::Item(id) | Endpoint::Fragment { item: id, .. } => {
            let place = match lookup.item(id) {
                Some(here) => EndpointPlace::Here(here.cursor),
                None => EndpointPlace::Brought(aside.item(id)?.ok_or_else(missing)?.cursor),
            };
            Ok(RelatedThing::Item(place))
        }
        Endpoint::Entity(id) | Endpoint::Artifact(id) | Endpoint::Log(id) => {
            let brought = aside.record(id)?.map(|record| record.content);
            let is_deleted = brought.as_ref().is_some_and(RecordContent::is_deleted);
            let (record_type, place) = if lookup.has_record(id) {
                let here = lookup.record(id).cloned().ok_or_else(missing)?;
                (here.record_type, here.made_at.map(EndpointPlace::Here))
            } else {
                let brought = brought.ok_or_else(missing)?;
                (brought.record_type, aside.made_at(id)?.map(EndpointPlace::Brought))
            };
            if is_deleted { Err(missing()) } else { Ok(RelatedThing::Record(record_type, place)) }
        }
    }
}
