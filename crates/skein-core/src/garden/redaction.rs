//! Destroying a payload on demand while its item stays and says so.

use serde_json::{Map, Value, json};

use crate::garden::item::{Item, ItemDraft, ItemType};
use crate::id::ItemId;
use crate::rule::RuleViolation;

/// Longest reason kept with a redaction, in characters.
pub const REASON_CHARS_MAX: usize = 1_000;

/// What Skein writes down and people may want destroyed: with an attachment go the name and the bytes of the blob.
const CONTENT: [ItemType; 13] = [
    ItemType::EPISODE,
    ItemType::BLOB_ATTACHED,
    ItemType::TOOL_CALL,
    ItemType::TOOL_RESULT,
    ItemType::TOOL_OUTPUT,
    ItemType::NODE_CONTENT,
    ItemType::RAW_RESPONSE,
    ItemType::TREE_SUMMARY,
    ItemType::FOLD_SUMMARY,
    ItemType::EXECUTION_BEGUN,
    ItemType::EXECUTION_ENDED,
    ItemType::REVIEW_ASKED,
    ItemType::REVIEW_DECIDED,
];

/// Whether items of this type may have lost their payload.
pub fn is_redactable(item_type: &ItemType) -> bool {
    !item_type.is_system() || CONTENT.contains(item_type)
}

/// Decides whether the payload of `item` may be destroyed, and with what fact that is recorded.
pub fn redact(item: &Item, reason: &str) -> Result<ItemDraft, RuleViolation> {
    let refuse = |problem: &str, remedy| Err(RuleViolation::new("MG-SOIL-010", problem, remedy));
    let item_type = &item.header.item_type;
    if !is_redactable(item_type) {
        return refuse("this item carries the structure of others", "redact the item it speaks about");
    }
    if item.payload.is_none() {
        return refuse("the payload was destroyed before", "there is nothing left to do");
    }
    if reason.trim().is_empty() || reason.chars().count() > REASON_CHARS_MAX {
        return refuse("a redaction needs a reason of at most 1000 characters", "say why the payload must go");
    }
    let mut data = Map::new();
    data.insert("itemId".into(), json!(item.header.id.to_string()));
    data.insert("payloadHash".into(), json!(item.payload_hash.to_string()));
    data.insert("reason".into(), json!(reason));
    Ok(ItemDraft::recorded(ItemType::REDACTION, &data))
}

/// Which item a redaction's document names; `None` when it is not one.
pub fn redacted_item(document: &Map<String, Value>) -> Option<ItemId> {
    document.get("itemId")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use crate::time::Millis;

    fn item(item_type: ItemType) -> Item {
        let draft = ItemDraft::recorded(item_type, &Map::new());
        draft.realize(ItemId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Millis(3))
    }

    #[test]
    fn mg_soil_010_redaction_with_a_reason_holds() {
        assert!(redact(&item(ItemType::NOTE), "asked for by the person").is_ok());
        for content in CONTENT {
            assert!(redact(&item(content), "asked for by the person").is_ok());
        }
    }

    #[test]
    fn mg_soil_010_redaction_of_structure_or_without_reason_or_twice_refuses() {
        let gone = Item { payload: None, ..item(ItemType::NOTE) };
        assert!(redact(&item(ItemType::SEAL), "why").is_err());
        assert!(redact(&item(ItemType::NOTE), "  ").is_err());
        assert!(redact(&gone, "why").is_err());
    }
}
