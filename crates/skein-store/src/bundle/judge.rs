//! What is let in: histories that hold together, and nothing that would give its bearer more than they have.
//!
//! A bundle is judged by itself first, beside the store: everything it speaks of is in it and its own. So whatever is
//! new about a thing can only continue what is the same on both sides.

use skein_core::garden::delta::Delta;
use skein_core::garden::item::{Item, ItemType, Payload, PayloadForm};
use skein_core::garden::record::RecordContent;
use skein_core::garden::redaction::{redact, redacted_item};
use skein_core::garden::relation::qualities_from_document;
use skein_core::tree::succession::check_succession;
use skein_core::{RelationId, RuleViolation};

use super::aside::Aside;
use super::{Authority, BadBundle, about};
use crate::blobs::refuse_other_media_types;
use crate::error::{SqlError, StoreError};
use crate::project::TIME_OVERRIDE;

/// What the events are about that Skein alone can testify to.
const TESTIMONY: [&str; 4] = ["grant", "key", "setting", "user"];

/// What a conversation, a project or an actor was before a change of it, and after.
pub(crate) type Succession = (Option<RecordContent>, RecordContent);

/// Takes the next item aside when it continues what came before it in the bundle; says what it makes of a conversation.
pub(crate) fn take(aside: &mut Aside, item: &Item) -> Result<Option<Succession>, StoreError> {
    let id = item.header.id;
    let item_type = &item.header.item_type;
    let judged = match item_type {
        t if *t == ItemType::SEAL => Err(refused(item, "a seal belongs to the store it was made in")),
        t if *t == ItemType::ENTITY_DELTA => take_delta(aside, item),
        t if *t == ItemType::REDACTION => check_redaction(aside, item).and_then(|()| plainly(aside, item)),
        t if *t == ItemType::RELATION_EDITED || *t == ItemType::RELATION_REMOVED => {
            check_relation(aside, item).and_then(|()| plainly(aside, item))
        }
        t if *t == ItemType::BLOB_ATTACHED => check_attachment(item).and_then(|()| plainly(aside, item)),
        _ => plainly(aside, item),
    };
    judged.map_err(|error| match error {
        StoreError::Sql(SqlError::Constraint(_)) => refused(item, "what it speaks of is not in the bundle"),
        error => about(id, error),
    })
}

fn refused(item: &Item, problem: &str) -> StoreError {
    BadBundle::Item { item: item.header.id, problem: problem.to_owned() }.into()
}

fn plainly(aside: &mut Aside, item: &Item) -> Result<Option<Succession>, StoreError> {
    aside.take(item).map(|()| None)
}

fn take_delta(aside: &mut Aside, item: &Item) -> Result<Option<Succession>, StoreError> {
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
    after.content.check()?;
    let is_of_tree = after.content.record_type.is_of_tree();
    Ok(is_of_tree.then(|| (before.map(|before| before.content), after.content)))
}

pub(crate) fn delta_of(item: &Item) -> Option<Delta> {
    let is_delta = item.header.item_type == ItemType::ENTITY_DELTA;
    item.document().filter(|_| is_delta).as_ref().and_then(Delta::from_document)
}

/// The payload it speaks of must be gone, and must have been one that may go.
fn check_redaction(aside: &mut Aside, item: &Item) -> Result<(), StoreError> {
    let document = item.document().unwrap_or_default();
    let target = redacted_item(&document).ok_or_else(|| refused(item, "it is not a readable redaction"))?;
    let target = aside.item(target)?.ok_or_else(|| refused(item, "the item it redacts is not in the bundle"))?;
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

fn check_relation(aside: &mut Aside, item: &Item) -> Result<(), StoreError> {
    let document = item.document().unwrap_or_default();
    let named = || document.get("relationId")?.as_str()?.parse::<RelationId>().ok();
    let id = qualities_from_document(&document).map(|(id, _)| id).or_else(named);
    match id {
        Some(id) if aside.has_relation(id)? => Ok(()),
        _ => Err(refused(item, "the relation it speaks of is not there by then")),
    }
}

/// Refuses what an authority may not bring in. Called for items that are new here.
///
/// What a person brings of a conversation has to be what acts of Skein could have made; an operator answers for the whole.
pub(crate) fn authorise(authority: &Authority, item: &Item, succession: Option<&Succession>) -> Result<(), StoreError> {
    match authority {
        Authority::Installation => Ok(()),
        Authority::Owner(viewer) if viewer.owner() != item.header.owner => Err(StoreError::Forbidden),
        Authority::Owner(_) => {
            refuse_powers(item)?;
            let Some((before, after)) = succession else { return Ok(()) };
            check_succession(before.as_ref(), after).map_err(|violation| about(item.header.id, violation.into()))
        }
    }
}

fn refuse_powers(item: &Item) -> Result<(), RuleViolation> {
    let id = item.header.id;
    let is_own = |delta: &Delta| delta.record_type.as_str() == TIME_OVERRIDE || delta.record_type.is_of_tree();
    if let Some(delta) = delta_of(item).filter(|delta| !is_own(delta)) {
        return delta.record_type.refuse_system().map_err(|violation| {
            let problem = format!("{id} is new here, and {}", violation.problem());
            RuleViolation::new(violation.rule(), problem, "ask who runs this installation to import the bundle")
        });
    }
    if item.header.item_type != ItemType::SYSTEM_EVENT {
        return Ok(());
    }
    let document = item.document().unwrap_or_default();
    let event = document.get("event").and_then(serde_json::Value::as_str).unwrap_or_default();
    let subject = event.split('.').next().unwrap_or_default();
    if !subject.is_empty() && !TESTIMONY.contains(&subject) {
        return Ok(());
    }
    let problem = format!("{id} is new here, and what it says ({event:?}) is for Skein alone to say");
    Err(RuleViolation::new("MG-SOIL-003", problem, "ask who runs this installation to import the bundle"))
}
