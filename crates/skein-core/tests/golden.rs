//! Every hash format against vectors computed independently by `scripts/golden_vectors.py`.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skein_core::canonical::{self, Escape};
use skein_core::digest::{Digest, from_hex, to_hex};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::fragment::fragment_id;
use skein_core::garden::item::{ItemHeader, ItemType, Payload, PayloadForm};
use skein_core::garden::record::{RecordContent, RecordType, record_hash};
use skein_core::garden::seal::{Leaf, SealHead, audit_path, head, root, root_from_path};
use skein_core::tree::node_hash::{Authorship, NodeContent, node_hash, raw_response_hash};
use skein_core::{ItemId, Millis, RecordId, UserId, document, ravens};

fn vectors(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

fn cases(vectors: &Value) -> impl Iterator<Item = &Value> {
    vectors.as_array().expect("vectors are a list").iter()
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_else(|| panic!("{name} is missing in {case}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn digest(case: &Value, name: &str) -> Digest {
    text(case, name).parse().unwrap()
}

fn optional_digest(case: &Value, name: &str) -> Option<Digest> {
    case[name].as_str().map(|hex| hex.parse().unwrap())
}

#[test]
fn canonical_json_is_spelled_as_python_spells_it() {
    for case in cases(&vectors("canonical")) {
        let value = match document::parse(text(case, "input").as_bytes()) {
            // The writer can spell what the door does not let in.
            Err(document::BadDocument::NulCharacter | document::BadDocument::RepeatedKey(_)) => {
                serde_json::from_str(text(case, "input")).unwrap()
            }
            parsed => parsed.unwrap_or_else(|error| panic!("{case}: {error}")),
        };
        assert_eq!(canonical::to_string(&value, Escape::Ascii), text(case, "ascii"), "{}", text(case, "name"));
        assert_eq!(canonical::to_string(&value, Escape::Unicode), text(case, "unicode"), "{}", text(case, "name"));
    }
}

#[test]
fn floats_are_spelled_as_python_spells_them() {
    for case in cases(&vectors("floats")) {
        let float = f64::from_be_bytes(from_hex(text(case, "bits")).unwrap());
        assert_eq!(canonical::to_string(&json!(float), Escape::Ascii), text(case, "text"));
    }
}

#[test]
fn item_hashes() {
    for case in cases(&vectors("items")) {
        let Ok(item_type) = ItemType::parse(text(case, "type")) else {
            assert_eq!(text(case, "name"), "non-ASCII type");
            continue;
        };
        let payload = Payload::stored(bytes(text(case, "payloadHex")), PayloadForm::Raw);
        let header = ItemHeader {
            item_type,
            id: ItemId::from_bare(text(case, "id")).unwrap(),
            owner: UserId::from_bare(text(case, "owner")).unwrap(),
            realized_at: Millis(case["realizedAt"].as_i64().unwrap()),
            canonical_at: Millis(case["canonicalAt"].as_i64().unwrap()),
        };
        assert_eq!(payload.hash(), digest(case, "payloadHash"));
        assert_eq!(header.hash(&payload.hash()), digest(case, "hash"), "{}", text(case, "name"));
        if let Some(input) = case["document"].as_str() {
            let value = document::parse(input.as_bytes()).unwrap();
            assert_eq!(canonical::to_string(&value, Escape::Unicode), text(case, "payload"));
        }
    }
}

#[test]
fn mg_hash_001_record_hashes_holds() {
    let vectors = vectors("records");
    for step in cases(&vectors["chains"]).flat_map(|chain| cases(&chain["steps"])) {
        let id = |name: &str| step[name].as_str().map(|bare| RecordId::from_bare(bare).unwrap());
        let content = RecordContent {
            record_type: RecordType::parse(text(step, "type")).unwrap(),
            data: document::parse_object(text(step, "data").as_bytes()).unwrap(),
            shared: step["shared"].as_bool().unwrap(),
            group: id("groupId"),
            derived_from: id("derivedFrom"),
            superseded_by: id("supersededBy"),
        };
        assert_eq!(content.canonical(), text(step, "canonical"));
        let previous = optional_digest(step, "previous");
        assert_eq!(record_hash(&content.canonical(), previous.as_ref()), digest(step, "hash"));
    }
    for step in cases(&vectors["bare"]).flat_map(|chain| cases(&chain["steps"])) {
        let value = document::parse(text(step, "document").as_bytes()).unwrap();
        let canonical = canonical::to_string(&value, Escape::Ascii);
        assert_eq!(record_hash(&canonical, optional_digest(step, "previous").as_ref()), digest(step, "hash"));
    }
}

#[test]
fn mg_hash_001_another_previous_hash_refuses() {
    let first = record_hash("{}", None);
    assert_ne!(record_hash("{}", Some(&first)), first);
}

/// Leaf `i` as the vectors define it.
fn leaf(index: usize) -> Leaf {
    let id = Digest::of(format!("skein leaf id {index}").as_bytes());
    let hash = Digest::of(format!("skein leaf hash {index}").as_bytes());
    Leaf { id: ItemId::from_slice(&id.0[..16]).unwrap(), hash }
}

fn leaves(size: &Value) -> Vec<Leaf> {
    (0..usize::try_from(size.as_u64().unwrap()).unwrap()).map(leaf).collect()
}

#[test]
fn merkle_roots_and_proofs() {
    let vectors = vectors("merkle");
    for (index, case) in cases(&vectors["leaves"]).enumerate() {
        assert_eq!(leaf(index).digest(), digest(case, "leaf"));
    }
    for case in cases(&vectors["roots"]) {
        assert_eq!(root(&leaves(&case["size"])), Some(digest(case, "root")));
    }
    for case in cases(&vectors["proofs"]) {
        let leaves = leaves(&case["size"]);
        let index = usize::try_from(case["index"].as_u64().unwrap()).unwrap();
        let path: Vec<Digest> = cases(&case["path"]).map(|hash| hash.as_str().unwrap().parse().unwrap()).collect();
        assert_eq!(audit_path(&leaves, index), path);
        assert_eq!(root_from_path(leaves[index].digest(), index, leaves.len(), &path), root(&leaves));
        assert_ne!(root_from_path(leaf(999).digest(), index, leaves.len(), &path), root(&leaves));
    }
}

#[test]
fn seal_hashes_and_heads() {
    let vectors = vectors("seals");
    let cursor =
        |case: &Value| Cursor { tx: case["tx"].as_i64().unwrap(), position: case["position"].as_i64().unwrap() };
    for case in cases(&vectors["chains"]).flat_map(cases) {
        let seal = SealHead {
            owner: UserId::from_bare(text(case, "owner")).unwrap(),
            first: cursor(&case["first"]),
            last: cursor(&case["last"]),
            count: case["count"].as_i64().unwrap(),
            root: digest(case, "root"),
            previous: optional_digest(case, "previous"),
        };
        assert_eq!(seal.hash(), digest(case, "hash"));
    }
    for case in cases(&vectors["heads"]) {
        let seals =
            cases(&case["seals"]).map(|seal| (UserId::from_bare(text(seal, "owner")).unwrap(), digest(seal, "hash")));
        assert_eq!(head(&seals.collect::<BTreeMap<_, _>>()), digest(case, "head"));
    }
}

#[test]
fn node_hashes() {
    for case in cases(&vectors("nodes")) {
        let content = document::parse(text(case, "content").as_bytes()).unwrap();
        let parents: Vec<Digest> =
            cases(&case["parents"]).map(|hash| hash.as_str().unwrap().parse().unwrap()).collect();
        let raw_response = case["response"].is_object().then(|| {
            let headers = document::parse(text(&case["response"], "headers").as_bytes()).unwrap();
            raw_response_hash(&headers, &bytes(text(&case["response"], "bodyHex")))
        });
        let authorship =
            raw_response.as_ref().map_or(Authorship::Stated, |raw_response| Authorship::Generated { raw_response });
        let created_at = Millis(case["createdAtMs"].as_i64().unwrap());
        let node =
            NodeContent { content: &content, parents: &parents, created_at, author: text(case, "author"), authorship };
        assert_eq!(node_hash(&node), digest(case, "contentHash"), "{}", text(case, "name"));
    }
}

#[test]
fn mg_hash_004_fragment_ids_holds() {
    for case in cases(&vectors("fragments")) {
        assert_eq!(fragment_id(text(case, "content")), text(case, "id"));
    }
}

#[test]
fn mg_hash_004_different_contents_may_share_an_id_refuses_as_key() {
    let ids: std::collections::BTreeSet<String> = (0..2_000).map(|n| fragment_id(&n.to_string())).collect();
    assert!(ids.len() < 2_000 && ids.iter().all(|id| (4..=5).contains(&id.len())));
}

#[test]
fn tr_005_input_hashes_holds() {
    for case in cases(&vectors("xxh64")["inputs"]) {
        let value = document::parse(text(case, "input").as_bytes()).unwrap();
        assert_eq!(canonical::to_string(&value, Escape::Unicode), text(case, "canonical"));
        assert_eq!(ravens::input_hash(&value), text(case, "hash"));
    }
}

#[test]
fn tr_005_inputs_that_differ_in_a_type_or_a_space_refuses_to_be_equal() {
    let hashes = [json!({ "n": 1 }), json!({ "n": 1.0 }), json!({ "n": "1" }), json!({ "n ": 1 })];
    let hashes: std::collections::BTreeSet<String> = hashes.iter().map(ravens::input_hash).collect();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn times() {
    for case in cases(&vectors("times")) {
        let moment = Millis(case["ms"].as_i64().unwrap());
        assert_eq!(moment.to_string(), text(case, "text"));
        assert_eq!(text(case, "text").parse::<Millis>().unwrap(), moment);
    }
}

#[test]
fn hexadecimal_round_trips() {
    assert_eq!(to_hex(&from_hex::<4>("00ffA5b9").unwrap()), "00ffa5b9");
    assert_eq!(from_hex::<2>("zz00"), None);
}
