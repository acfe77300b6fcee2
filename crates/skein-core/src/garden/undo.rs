//! Taking back a mistake: within five minutes a tombstone supersedes the item (decision M4).
//!
//! Nothing is removed. Default reads hide the item; the tombstone says why.

use serde_json::{Map, json};

use crate::garden::item::{ItemDraft, ItemHeader, ItemType};
use crate::id::UserId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// How long an item can be taken back.
pub const UNDO_WINDOW_MS: i64 = 300_000;
const RULE: &str = "MG-SOIL-005";

/// Decides whether `author` may take `item` back now, and with what tombstone.
pub fn undo(item: &ItemHeader, author: UserId, now: Millis) -> Result<ItemDraft, RuleViolation> {
    let refuse = |problem: &str, remedy| Err(RuleViolation::new(RULE, problem, remedy));
    if item.owner != author {
        return refuse("only its author may undo an item", "ask its author");
    }
    if item.item_type.is_system() {
        return refuse("this item is part of a chain and cannot be undone", "change the thing it belongs to instead");
    }
    if now > item.realized_at.plus(UNDO_WINDOW_MS) {
        return refuse("the five minutes for undoing have passed", "add a new item that supercedes it");
    }
    let mut data = Map::new();
    data.insert("itemId".into(), json!(item.id.to_string()));
    data.insert("reason".into(), json!("undo"));
    Ok(ItemDraft::recorded(ItemType::TOMBSTONE, &data))
}

/// The refusal of what was taken back already.
pub fn undone_before() -> RuleViolation {
    RuleViolation::new(RULE, "the item was undone before", "there is nothing left to do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ItemId;

    const AUTHOR: UserId = UserId::from_bytes([1; 16]);

    fn header(item_type: ItemType) -> ItemHeader {
        let realized_at = Millis(1_000);
        ItemHeader { item_type, id: ItemId::from_bytes([7; 16]), owner: AUTHOR, realized_at, canonical_at: realized_at }
    }

    #[test]
    fn mg_soil_005_undo_until_the_last_millisecond_holds() {
        assert!(undo(&header(ItemType::NOTE), AUTHOR, Millis(1_000 + UNDO_WINDOW_MS)).is_ok());
    }

    #[test]
    fn mg_soil_005_undo_too_late_by_another_or_of_a_chained_item_refuses() {
        let late = Millis(1_001 + UNDO_WINDOW_MS);
        let stranger = UserId::from_bytes([2; 16]);
        assert!(undo(&header(ItemType::NOTE), AUTHOR, late).is_err());
        assert!(undo(&header(ItemType::NOTE), stranger, Millis(1_000)).is_err());
        let chained = [ItemType::NODE, ItemType::NODE_CONTENT, ItemType::RAW_RESPONSE, ItemType::ENTITY_DELTA];
        for item_type in chained {
            assert!(undo(&header(item_type), AUTHOR, Millis(1_000)).is_err());
        }
    }
}
