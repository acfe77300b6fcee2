//! An item as clients see it.

use serde::Serialize;
use serde_json::value::RawValue;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Payload, PayloadForm};
use skein_core::{Digest, ItemId, Millis, UserId};
use skein_store::items::StoredItem;
use utoipa::ToSchema;

use crate::mutation::Mutated;

/// A fact: never altered, never deleted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemView {
    #[schema(value_type = String, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: ItemId,
    #[serde(rename = "_type")]
    #[schema(example = "Note")]
    item_type: String,
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    /// When it was recorded.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    realized_at: Millis,
    /// When it happened, corrections applied.
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    canonical_at: Millis,
    #[schema(value_type = String)]
    hash: Digest,
    #[schema(value_type = String)]
    payload_hash: Digest,
    /// What is stated; null when it was destroyed, or is no document.
    #[schema(value_type = Option<Object>)]
    data: Option<Box<RawValue>>,
    /// Its place on the timeline.
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
    /// True when the payload was destroyed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redacted: bool,
    /// The tombstone that hides it from listings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = String)]
    superseded_by: Option<ItemId>,
}

/// What a batch became, in its order.
#[derive(Serialize, ToSchema)]
pub(crate) struct BatchView {
    pub(crate) data: Vec<ItemView>,
}

/// What stating facts is answered with, for readers of the API document.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is answered")]
pub(crate) enum AppendAnswer {
    One(Mutated<ItemView>),
    Batch(Mutated<BatchView>),
}

impl From<StoredItem> for ItemView {
    fn from(stored: StoredItem) -> Self {
        let StoredItem { item, cursor, canonical_at, tombstone } = stored;
        Self {
            redacted: item.payload.is_none(),
            data: item.payload.and_then(written),
            id: item.header.id,
            item_type: item.header.item_type.as_str().to_owned(),
            owner_id: item.header.owner,
            realized_at: item.header.realized_at,
            canonical_at,
            hash: item.hash,
            payload_hash: item.payload_hash,
            cursor,
            superseded_by: tombstone,
        }
    }
}

/// A document as it was hashed: it need not be taken apart to be passed on.
fn written(payload: Payload) -> Option<Box<RawValue>> {
    match payload.form() {
        PayloadForm::Document => {
            String::from_utf8(payload.into_bytes()).ok().and_then(|text| RawValue::from_string(text).ok())
        }
        PayloadForm::Raw => None,
    }
}
