//! A law: whatever is done, in whatever order, both databases answer alike.

use proptest::prelude::*;
use serde_json::json;
use skein_core::garden::record::RecordType;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{ItemId, Millis};
use skein_store::StoreError;
use skein_store::timeline::items::{Direction, ItemClock, ItemQuery};

use crate::fixtures::{World, content, note};

/// Something a person may do; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Deed {
    Note { canonical: i64 },
    Undo(usize),
    Redact(usize),
    Retime(usize, Option<i64>),
    Relate(RelationKind, usize, usize),
    Believe { name: u8, amount: i64 },
    Forget { name: u8 },
    Wait(i64),
    Seal,
}

fn deed() -> impl Strategy<Value = Deed> {
    let kinds = [RelationKind::Triggers, RelationKind::Supercedes, RelationKind::RepliesTo, RelationKind::Mentions];
    let item = 0_usize..6;
    prop_oneof![
        4 => (0_i64..50).prop_map(|canonical| Deed::Note { canonical }),
        1 => item.clone().prop_map(Deed::Undo),
        1 => item.clone().prop_map(Deed::Redact),
        2 => (item.clone(), prop::option::of(0_i64..50)).prop_map(|(item, at)| Deed::Retime(item, at)),
        3 => (prop::sample::select(kinds.to_vec()), item.clone(), item).prop_map(|(kind, a, b)| Deed::Relate(kind, a, b)),
        2 => (0_u8..3, 0_i64..3).prop_map(|(name, amount)| Deed::Believe { name, amount }),
        1 => (0_u8..3).prop_map(|name| Deed::Forget { name }),
        1 => prop::sample::select(vec![1_i64, 299_999, 300_001]).prop_map(Deed::Wait),
        1 => Just(Deed::Seal),
    ]
}

/// Does it and says what came of it, in words that hold no ids.
fn perform(world: &World, notes: &mut Vec<ItemId>, deed: &Deed) -> String {
    let viewer = world.anna.clone();
    let chosen = |index: usize| notes.get(index % notes.len().max(1)).copied().unwrap_or(ItemId::from_bytes([9; 16]));
    match deed.clone() {
        Deed::Note { canonical } => {
            let draft = note(&notes.len().to_string(), Some(Millis(canonical)));
            notes.push(world.write(move |tx| tx.append_item(&viewer, &draft)).item.header.id);
            "noted".to_owned()
        }
        Deed::Undo(item) => {
            let id = chosen(item);
            outcome(world.try_write(move |tx| tx.undo_item(&viewer, id).map(drop)))
        }
        Deed::Redact(item) => {
            let id = chosen(item);
            outcome(world.try_write(move |tx| tx.redact_item(&viewer, id, "why").map(drop)))
        }
        Deed::Retime(item, at) => {
            let (id, at) = (chosen(item), at.map(Millis));
            outcome(world.try_write(move |tx| tx.override_canonical_time(&viewer, id, at)))
        }
        Deed::Relate(kind, source, target) => {
            let ends = (Endpoint::Item(chosen(source)), Endpoint::Item(chosen(target)));
            match RelationDraft::new(kind, ends.0, ends.1, RelationAttributes::default()) {
                Ok(draft) => outcome(world.try_write(move |tx| tx.relate(&viewer, &draft).map(drop))),
                Err(refused) => refused.to_string(),
            }
        }
        Deed::Believe { name, amount } => outcome(world.try_write(move |tx| {
            let content = content("Belief", json!({ "name": name.to_string(), "amount": amount }));
            let record = match tx.record_named(&viewer, &content.record_type, &name.to_string())? {
                Some(current) => tx.update_record(&viewer, current.id, current.hash, content.clone(), None)?,
                None => tx.create_record(&viewer, content.clone(), None)?,
            };
            assert!((1..100).contains(&record.version));
            Ok(())
        })),
        Deed::Forget { name } => outcome(world.try_write(move |tx| {
            let belief = RecordType::parse("Belief")?;
            let current = tx.record_named(&viewer, &belief, &name.to_string())?;
            let current = current.ok_or_else(|| StoreError::NotFound("a belief".to_owned()))?;
            tx.delete_record(&viewer, current.id, Some(current.hash), None).map(drop)
        })),
        Deed::Wait(milliseconds) => {
            world.clock.advance(milliseconds);
            "waited".to_owned()
        }
        Deed::Seal => {
            world.seal();
            "sealed".to_owned()
        }
    }
}

fn outcome(result: Result<(), StoreError>) -> String {
    match result {
        Ok(()) => "done".to_owned(),
        Err(StoreError::NotFound(_)) => "not found".to_owned(),
        Err(other) => other.to_string(),
    }
}

/// What Anna sees afterwards, along both clocks and in both directions.
fn seen(world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for along in [ItemClock::Realized, ItemClock::Canonical] {
        for direction in [Direction::Forward, Direction::Backward] {
            let query = ItemQuery { along, direction, limit: 1_000, ..ItemQuery::default() };
            let viewer = world.anna.clone();
            let page = world.read(move |tx| tx.items(&viewer, &query));
            let line = |stored: &skein_store::timeline::items::StoredItem| {
                let text = stored.item.document().and_then(|data| data.get("description").cloned());
                let canonical = if text.is_some() { stored.canonical_at.0 } else { 0 };
                format!("{along:?} {} {canonical} {text:?}", stored.item.header.item_type)
            };
            lines.extend(page.rows.iter().filter(|stored| !stored.item.header.item_type.is_system()).map(line));
        }
    }
    lines
}

fn live(world: &World, deeds: &[Deed]) -> (Vec<String>, Vec<String>) {
    let mut notes = Vec::new();
    let outcomes = deeds.iter().map(|deed| perform(world, &mut notes, deed)).collect();
    assert_eq!(world.verify(true).breaks, []);
    (outcomes, seen(world))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn both_databases_answer_alike(deeds in prop::collection::vec(deed(), 1..24)) {
        prop_assert_eq!(live(&World::sqlite(), &deeds), live(&World::postgres(), &deeds));
    }
}
