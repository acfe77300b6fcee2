//! An item as clients see it.

use serde::Serialize;
use serde_json::{Map, Value};
use skein_core::garden::cursor::Cursor;
use skein_core::{Digest, ItemId, Millis, UserId};
use skein_store::items::StoredItem;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ItemView {
    id: ItemId,
    #[serde(rename = "_type")]
    item_type: String,
    owner: UserId,
    realized_at: Millis,
    canonical_at: Millis,
    hash: Digest,
    payload_hash: Digest,
    data: Option<Map<String, Value>>,
    cursor: Cursor,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    redacted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<ItemId>,
}

/// What a batch became, in its order.
#[derive(Serialize)]
pub(crate) struct BatchView {
    pub(crate) data: Vec<ItemView>,
}

impl From<StoredItem> for ItemView {
    fn from(stored: StoredItem) -> Self {
        let StoredItem { item, cursor, canonical_at, tombstone } = stored;
        Self {
            data: item.document(),
            redacted: item.payload.is_none(),
            id: item.header.id,
            item_type: item.header.item_type.as_str().to_owned(),
            owner: item.header.owner,
            realized_at: item.header.realized_at,
            canonical_at,
            hash: item.hash,
            payload_hash: item.payload_hash,
            cursor,
            superseded_by: tombstone,
        }
    }
}
