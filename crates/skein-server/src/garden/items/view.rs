//! An item as clients see it.

use serde::Serialize;
use serde_json::value::RawValue;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Payload, PayloadForm};
use skein_core::{ConversationId, Digest, ItemId, Millis, UserId};
use skein_engine::garden::Redacted;
use skein_store::timeline::items::StoredItem;
use skein_store::tree::quotes::{Quote, QuoteKind};
use utoipa::ToSchema;

use crate::http::mutation::Mutated;

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

/// A fact whose payload was destroyed, and what else has its words.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RedactedView {
    #[serde(flatten)]
    item: ItemView,
    /// Other things of the owner that have the words, at most 200. Redact them, too, if they are to go. Texts of 16 bytes and more
    /// are looked for everywhere; shorter ones in the conversation and in what was forked from it.
    quoted_in: Vec<QuoteView>,
    /// Whether there are more than are listed. Redact these, then look for the others with a search.
    quoted_in_more: bool,
}

/// Something that has words which were destroyed elsewhere.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteView {
    /// `node` is a message and `foldSummary` the summary of a folded conversation; `item` is a note or what was imported.
    /// `conversation` is a field of a conversation, which can be changed; its history keeps the earlier text.
    #[schema(value_type = String, example = "foldSummary")]
    kind: QuoteKind,
    /// The item to redact; null for a field of a conversation.
    #[schema(value_type = Option<String>, example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    item_id: Option<ItemId>,
    /// The conversation it stands in, if it stands in one.
    #[schema(value_type = Option<String>)]
    conversation_id: Option<ConversationId>,
    /// Which field of the conversation: title, description, systemContext or summary.
    field: Option<String>,
}

impl From<Redacted> for RedactedView {
    fn from(redacted: Redacted) -> Self {
        let Redacted { item, quotes, has_more } = redacted;
        let quote = |Quote { kind, item, conversation, field }| QuoteView {
            kind,
            item_id: item,
            conversation_id: conversation,
            field,
        };
        let quoted_in = quotes.into_iter().map(quote).collect();
        Self { item: item.into(), quoted_in, quoted_in_more: has_more }
    }
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
