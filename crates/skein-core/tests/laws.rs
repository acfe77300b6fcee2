//! Tests properties of the core for every value, not only for examples.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use skein_core::canonical::{self, Escape};
use skein_core::document;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Item, ItemDraft, ItemType, Payload, PayloadForm};
use skein_core::garden::patch::Patch;
use skein_core::garden::proof::Proof;
use skein_core::garden::seal::{Leaf, Seal, audit_path, root, root_from_path};
use skein_core::{Digest, ItemId, Millis, RecordId, UserId};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinities", |float| float.is_finite()).prop_map(Value::from),
        "[^\\x00]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[^\\x00]{0,6}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-e]", json_value(), 0..5).prop_map(|map| map.into_iter().collect())
}

fn item(data: &Map<String, Value>, id: [u8; 16], at: i64) -> Item {
    let draft = ItemDraft::recorded(ItemType::NOTE, data);
    draft.realize(ItemId::from_bytes(id), UserId::from_bytes([7; 16]), Millis(at))
}

fn leaves(hashes: &[[u8; 32]]) -> Vec<Leaf> {
    let leaf = |(index, hash): (usize, &[u8; 32])| {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&index.to_be_bytes());
        Leaf { id: ItemId::from_bytes(id), hash: Digest(*hash) }
    };
    hashes.iter().enumerate().map(leaf).collect()
}

proptest! {
    #[test]
    fn canonical_json_reads_back_as_the_same_value_in_both_modes(value in json_value()) {
        for escape in [Escape::Ascii, Escape::Unicode] {
            let text = canonical::to_string(&value, escape);
            let read = document::parse(text.as_bytes()).expect("the writer writes what the reader reads");
            prop_assert_eq!(canonical::to_string(&read, escape), text);
        }
        let ascii = canonical::to_string(&value, Escape::Ascii);
        prop_assert!(ascii.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }

    #[test]
    fn the_door_never_panics_and_never_lets_in_what_it_cannot_write_back(text in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = document::parse(&text) {
            let canonical = canonical::to_string(&value, Escape::Unicode);
            prop_assert_eq!(document::parse(canonical.as_bytes()), Ok(value));
        }
    }

    #[test]
    fn a_patch_leads_from_one_document_to_the_other(old in object(), new in object()) {
        let patch = Patch::between(&old, &new);
        let text = |document: &Map<String, Value>| canonical::object_to_string(document, Escape::Unicode);
        let made = patch.apply(&old).expect("a patch fits the document it was made for");
        prop_assert_eq!(text(&made), text(&new));
        let read = Patch::from_value(&patch.to_value()).expect("a patch reads back");
        prop_assert_eq!(text(&read.apply(&old).expect("it still fits")), text(&new));
    }

    #[test]
    fn any_flipped_bit_of_an_item_is_noticed(data in object(), id: [u8; 16], at in 0_i64..1 << 47, bit in 0_usize..8, pick: prop::sample::Index) {
        let whole = item(&data, id, at);
        prop_assert_eq!(whole.check(), Ok(()));
        let mut altered = whole.clone();
        match pick.index(6) {
            0 => altered.hash.0[pick.index(32)] ^= 1 << bit,
            1 => altered.payload_hash.0[pick.index(32)] ^= 1 << bit,
            2 => altered.header.realized_at.0 ^= 1 << bit,
            3 => altered.header.canonical_at.0 ^= 1 << bit,
            4 => {
                let mut id = *altered.header.id.as_bytes();
                id[pick.index(16)] ^= 1 << bit;
                altered.header.id = ItemId::from_bytes(id);
            }
            _ => {
                let mut bytes = whole.payload.as_ref().expect("not redacted").bytes().to_vec();
                let at = pick.index(bytes.len());
                bytes[at] ^= 1 << bit;
                altered.payload = Some(Payload::stored(bytes, PayloadForm::Document));
            }
        }
        prop_assert!(altered.check().is_err());
    }

    #[test]
    fn a_merkle_path_leads_to_the_root_and_only_from_its_own_leaf(hashes in prop::collection::vec(any::<[u8; 32]>(), 1..70), pick: prop::sample::Index) {
        let leaves = leaves(&hashes);
        let index = pick.index(leaves.len());
        let path = audit_path(&leaves, index);
        let whole = root(&leaves);
        prop_assert_eq!(root_from_path(leaves[index].digest(), index, leaves.len(), &path), whole);
        let other = Leaf { hash: Digest::of(b"another"), ..leaves[index] };
        prop_assert_ne!(root_from_path(other.digest(), index, leaves.len(), &path), whole);
        if leaves.len() > 1 {
            let elsewhere = (index + 1) % leaves.len();
            prop_assert_ne!(root_from_path(leaves[index].digest(), elsewhere, leaves.len(), &path), whole);
        }
        prop_assert_eq!(root_from_path(leaves[index].digest(), index, leaves.len(), &[&path[..], &[other.hash]].concat()), None);
    }

    #[test]
    fn every_sealed_item_can_be_proved_and_no_forged_one(count in 1_u8..40, pick: prop::sample::Index) {
        let items: Vec<Item> = (0..count).map(|number| item(&Map::from_iter([("n".into(), json!(number))]), [number; 16], 5)).collect();
        let entry = |(position, item): (i64, &Item)| (Cursor { tx: 0, position }, Leaf { id: item.header.id, hash: item.hash });
        let entries: Vec<_> = (1_i64..).zip(&items).map(entry).collect();
        let seal = Seal::over(UserId::from_bytes([7; 16]), &entries, None).expect("there are items");
        let chosen = &items[pick.index(items.len())];
        let proof = Proof::new(chosen, &seal, Vec::new()).expect("it was sealed");
        prop_assert_eq!(proof.verify().map(|proven| proven.item_hash), Ok(chosen.hash));
        let forged = item(&Map::from_iter([("n".into(), json!("forged"))]), *chosen.header.id.as_bytes(), 5);
        prop_assert!(Proof::new(&forged, &seal, Vec::new()).is_none());
    }

    #[test]
    fn ids_read_back_in_every_spelling(bits: [u8; 16]) {
        let id = RecordId::from_bytes(bits);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(id.to_string().to_lowercase().parse(), Ok(id));
        let hex = skein_core::digest::to_hex(&bits);
        let uuid = format!("entity_{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        prop_assert_eq!(uuid.parse(), Ok(id));
    }

    #[test]
    fn times_read_back(milliseconds in Millis::MIN.0..=Millis::MAX.0) {
        let moment = Millis(milliseconds);
        prop_assert_eq!(moment.to_string().parse(), Ok(moment));
    }
}
