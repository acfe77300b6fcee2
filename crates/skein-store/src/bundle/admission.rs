//! Admits a bundle: its histories are consistent, and it gives its bearer no further rights.
//!
//! A bundle is judged by itself first, beside the store: everything it speaks of is in it and its own. So whatever is
//! new about a thing can only continue what is the same on both sides.

use skein_core::garden::delta::Delta;
use skein_core::garden::item::{Item, ItemType, Payload, PayloadForm};
use skein_core::garden::redaction::{redact, redacted_item};
use skein_core::{ItemId, RelationId, RuleViolation};

use super::scratch_database::ScratchDatabase;
use super::{Authority, BadBundle, about};
use crate::blobs::refuse_other_media_types;
use crate::error::{SqlError, StoreError};
use crate::timeline::projection::TIME_OVERRIDE;

/// What the events are about that Skein alone can testify to.
const TESTIMONY: [&str; 4] = ["grant", "key", "setting", "user"];

/// What Skein writes for a person who asks for it. Who said what, which model answered, and what was called it testifies to by
/// itself: importing that would allow false statements in another's name.
const ASKED_FOR: [ItemType; 7] = [
    ItemType::ENTITY_DELTA,
    ItemType::RELATION_CREATED,
    ItemType::RELATION_EDITED,
    ItemType::RELATION_REMOVED,
    ItemType::BLOB_ATTACHED,
    ItemType::TOMBSTONE,
    ItemType::REDACTION,
];

/// Takes the next item aside when it continues what came before it in the bundle.
pub(crate) fn take(aside: &mut ScratchDatabase, item: &Item) -> Result<(), StoreError> {
    let id = item.header.id;
    let item_type = &item.header.item_type;
    let judged = match item_type {
        t if *t == ItemType::SEAL => Err(refused(item, "a seal belongs to the store it was made in")),
        t if *t == ItemType::ENTITY_DELTA => take_delta(aside, item),
        t if *t == ItemType::REDACTION => check_redaction(aside, item).and_then(|()| aside.take(item)),
        t if *t == ItemType::RELATION_EDITED || *t == ItemType::RELATION_REMOVED => {
            check_relation(aside, item).and_then(|()| aside.take(item))
        }
        t if *t == ItemType::BLOB_ATTACHED => check_attachment(item).and_then(|()| aside.take(item)),
        _ => aside.take(item),
    };
    judged.map_err(|error| match error {
        StoreError::Sql(SqlError::Constraint(_)) => refused(item, "what it speaks of is not in the bundle"),
        error => about(id, error),
    })
}

fn refused(item: &Item, problem: &str) -> StoreError {
    BadBundle::Item { item: item.header.id, problem: problem.to_owned() }.into()
}

fn take_delta(aside: &mut ScratchDatabase, item: &Item) -> Result<(), StoreError> {
    let delta = delta_of(item).ok_or_else(|| refused(item, "it is not a readable change"))?;
    let before = aside.record(delta.record)?;
    let is_next = match &before {
        None => delta.version == 1 && delta.parent.is_none(),
        Some(before) => {
            delta.version == before.version + 1
                && delta.parent == Some(before.hash)
                && delta.record_type == before.content.record_type
        }
    };
    if !is_next {
        return Err(refused(item, "it does not continue the record it changes"));
    }
    aside.take(item)?;
    let after = aside.record(delta.record)?.ok_or_else(|| refused(item, "it leads to no record"))?;
    if after.content.record_type != delta.record_type {
        return Err(refused(item, "it is not about the type of record it names"));
    }
    Ok(after.content.check()?)
}

pub(crate) fn delta_of(item: &Item) -> Option<Delta> {
    let is_delta = item.header.item_type == ItemType::ENTITY_DELTA;
    item.document().filter(|_| is_delta).as_ref().and_then(Delta::from_document)
}

/// The item whose time a change corrects.
pub(crate) fn corrected_item(delta: &Delta) -> Option<ItemId> {
    let content = Some(delta).filter(|delta| delta.record_type.as_str() == TIME_OVERRIDE)?.content_after(None).ok()?;
    content.data.get("itemId")?.as_str()?.parse().ok()
}

/// The relation that the fact of its change is about.
pub(crate) fn relation_of(item: &Item) -> Option<RelationId> {
    item.document()?.get("relationId")?.as_str()?.parse().ok()
}

/// The payload it speaks of must be gone, and must have been one that may go.
fn check_redaction(aside: &mut ScratchDatabase, item: &Item) -> Result<(), StoreError> {
    let document = item.document().unwrap_or_default();
    let target = redacted_item(&document).ok_or_else(|| refused(item, "it is not a readable redaction"))?;
    let target = aside.item(target)?.ok_or_else(|| refused(item, "the item it redacts is not in the bundle"))?.item;
    let text = |name: &str| document.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    if target.payload.is_some() || text("payloadHash") != target.payload_hash.to_string() {
        return Err(refused(item, "the payload it redacts is still there, or was another"));
    }
    let as_it_was = Item { payload: Some(Payload::stored(Vec::new(), PayloadForm::Document)), ..target };
    Ok(redact(&as_it_was, text("reason")).map(drop)?)
}

fn check_attachment(item: &Item) -> Result<(), StoreError> {
    let document = item.document().unwrap_or_default();
    let media_type = document.get("mediaType").and_then(serde_json::Value::as_str).unwrap_or_default();
    Ok(refuse_other_media_types(media_type)?)
}

fn check_relation(aside: &mut ScratchDatabase, item: &Item) -> Result<(), StoreError> {
    match relation_of(item) {
        Some(id) if aside.relation(id)?.is_some() => Ok(()),
        _ => Err(refused(item, "the relation it speaks of is not there by then")),
    }
}

/// Refuses what an authority may not bring in. Called for items that are new here; a seal of this installation covers some.
pub(crate) fn authorise(authority: &Authority, item: &Item, is_sealed_here: bool) -> Result<(), StoreError> {
    match authority {
        Authority::Installation => Ok(()),
        Authority::Owner(viewer) if viewer.owner() != item.header.owner => Err(StoreError::Forbidden),
        Authority::Owner(_) => Ok(refuse_powers(item, is_sealed_here)?),
    }
}

fn refuse_powers(item: &Item, is_sealed_here: bool) -> Result<(), RuleViolation> {
    let (id, item_type) = (item.header.id, &item.header.item_type);
    let refuse = |rule, problem: &str| {
        let problem = format!("{id} is new here, and {problem}");
        Err(RuleViolation::new(rule, problem, "leave it out, or ask who runs this installation to import the bundle"))
    };
    if *item_type == ItemType::SYSTEM_EVENT {
        let document = item.document().unwrap_or_default();
        let event = document.get("event").and_then(serde_json::Value::as_str).unwrap_or_default();
        let subject = event.split('.').next().unwrap_or_default();
        if subject.is_empty() || TESTIMONY.contains(&subject) {
            return refuse("MG-SOIL-003", &format!("what it says ({event:?}) is for Skein alone to say"));
        }
        // It is testimony of an installation: a user brings back only what a seal of this one covers.
        return if is_sealed_here { Ok(()) } else { refuse("MG-SOIL-003", "no seal of this installation covers it") };
    }
    if item_type.is_system() && !ASKED_FOR.contains(item_type) {
        return refuse("MG-SOIL-003", &format!("a {item_type} is for Skein alone to write"));
    }
    match delta_of(item).filter(|delta| delta.record_type.as_str() != TIME_OVERRIDE) {
        Some(delta) => delta.record_type.refuse_system().or_else(|own| refuse(own.rule(), own.problem())),
        None => Ok(()),
    }
}
