//! Items, records and relations as lines of JSON, each in exactly one spelling.
//!
//! A line that is read is spelled again and compared, so nothing that no hash covers can hide in one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use skein_core::canonical::{self, Escape};
use skein_core::document::{self, BadDocument, DOCUMENT_BYTES_MAX};
use skein_core::garden::item::{Item, ItemHeader, ItemType, Payload, PayloadForm, RAW_PAYLOAD_BYTES_MAX};
use skein_core::garden::record::Record;
use skein_core::garden::relation::{Endpoint, Relation};
use skein_core::{Digest, ItemId, Millis, UserId};

/// A fact with its header, hashes and payload: a document as it is, raw bytes in base64, nothing when it was destroyed.
pub(crate) fn item_line(item: &Item) -> String {
    let header = &item.header;
    let payload = match &item.payload {
        None => r#""payload":null"#.to_owned(),
        Some(payload) => match payload.form() {
            PayloadForm::Document => format!(r#""payload":{}"#, String::from_utf8_lossy(payload.bytes())),
            PayloadForm::Raw => format!(r#""raw":"{}""#, STANDARD.encode(payload.bytes())),
        },
    };
    format!(
        r#"{{"id":"{}","type":"{}","owner":"{}","realizedAt":"{}","canonicalAt":"{}","hash":"{}","payloadHash":"{}",{payload}}}"#,
        header.id,
        header.item_type,
        header.owner,
        header.realized_at,
        header.canonical_at,
        item.hash,
        item.payload_hash
    )
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemLine {
    id: ItemId,
    #[serde(rename = "type")]
    item_type: String,
    owner: UserId,
    realized_at: Millis,
    canonical_at: Millis,
    hash: Digest,
    payload_hash: Digest,
    payload: Option<Map<String, Value>>,
    raw: Option<String>,
}

/// Reads what [`item_line`] wrote; says what is wrong with anything else.
pub(crate) fn parse_item(line: &str) -> Result<Item, String> {
    let read: ItemLine = serde_json::from_str(line).map_err(|error| format!("it is not an item: {error}"))?;
    let item_type = ItemType::parse(&read.item_type).map_err(|error| error.to_string())?;
    let payload = match (read.payload, read.raw) {
        (None, None) => None,
        (Some(data), None) => Some(document_payload(&item_type, data)?),
        (None, Some(raw)) => Some(raw_payload(&raw)?),
        (Some(_), Some(_)) => return Err("it has two payloads".to_owned()),
    };
    let header = ItemHeader {
        item_type,
        id: read.id,
        owner: read.owner,
        realized_at: read.realized_at,
        canonical_at: read.canonical_at,
    };
    let item = Item { header, payload, payload_hash: read.payload_hash, hash: read.hash };
    if let Err(mismatch) = item.check() {
        return Err(format!("the {} of {} was altered", mismatch.part, item.header.id));
    }
    if item_line(&item) == line { Ok(item) } else { Err(format!("{} is spelled in another way", item.header.id)) }
}

fn document_payload(item_type: &ItemType, data: Map<String, Value>) -> Result<Payload, String> {
    let value = Value::Object(data);
    match document::check(&value) {
        // What Skein records of its own doing wraps documents that have their depth already.
        Err(BadDocument::TooDeep) if item_type.is_system() => {}
        checked => checked.map_err(|error| error.to_string())?,
    }
    let text = canonical::to_string(&value, Escape::Unicode);
    if text.len() > DOCUMENT_BYTES_MAX && !item_type.is_system() {
        return Err(BadDocument::TooLarge { found: text.len() }.to_string());
    }
    Ok(Payload::stored(text.into_bytes(), PayloadForm::Document))
}

fn raw_payload(text: &str) -> Result<Payload, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("its raw payload is not base64: {error}"))?;
    if bytes.len() > RAW_PAYLOAD_BYTES_MAX {
        return Err(format!("its raw payload has {} bytes; the limit is {RAW_PAYLOAD_BYTES_MAX}", bytes.len()));
    }
    Ok(Payload::stored(bytes, PayloadForm::Raw))
}

pub(crate) fn record_line(record: &Record) -> String {
    let line = json!({
        "id": record.id.to_string(),
        "owner": record.owner.to_string(),
        "version": record.version,
        "hash": record.hash.to_string(),
        "previousHash": record.previous_hash.map(|hash| hash.to_string()),
        "createdAt": record.created_at.to_string(),
        "updatedAt": record.updated_at.to_string(),
        "body": record.content.to_document(),
    });
    canonical::to_string(&line, Escape::Unicode)
}

pub(crate) fn relation_line(relation: &Relation, owner: UserId) -> String {
    let end = |end: Endpoint| json!({ "type": end.kind().as_str(), "id": end.id_text() });
    let line = json!({
        "id": relation.id.to_string(),
        "owner": owner.to_string(),
        "kind": relation.kind.as_str(),
        "source": end(relation.source),
        "target": end(relation.target),
        "confidence": relation.qualities.confidence,
        "metadata": relation.qualities.metadata,
        "realizedAt": relation.realized_at.to_string(),
    });
    canonical::to_string(&line, Escape::Unicode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skein_core::garden::item::ItemDraft;

    fn realized(draft: ItemDraft) -> Item {
        draft.realize(ItemId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Millis(3))
    }

    fn note(data: Value) -> Item {
        let Value::Object(data) = data else { unreachable!("tests pass objects") };
        realized(ItemDraft::stated(ItemType::parse("Thing").unwrap(), data, Some(Millis(-5))).unwrap())
    }

    #[test]
    fn every_form_of_payload_reads_back_the_same() {
        let raw = ItemDraft::received(ItemType::parse("ModelResponse").unwrap(), vec![0, 255, b'\n', 7]).unwrap();
        let redacted = Item { payload: None, ..note(json!({})) };
        let numbers =
            json!({ "a": 1e300, "b": -0.0, "c": i64::MIN, "d": "\u{2028}\n\"é😀", "raw": "x", "payload": null });
        for item in [note(numbers), note(json!({ "raw": "AAAA" })), realized(raw), redacted] {
            assert_eq!(parse_item(&item_line(&item)), Ok(item));
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_stated_or_received_reads_back_the_same(
            text in "[^\\x00]*", key in "[a-z\u{e9}\u{1f980}]{1,9}", float: f64, integer: i64, bytes: Vec<u8>,
        ) {
            let float = if float.is_finite() { float } else { 0.5 };
            let stated = note(json!({ key: [json!(text), json!(float), json!(integer)] }));
            let received = ItemDraft::received(ItemType::parse("ModelResponse").unwrap(), bytes).unwrap();
            for item in [stated, realized(received)] {
                proptest::prop_assert_eq!(parse_item(&item_line(&item)), Ok(item));
            }
        }
    }

    #[test]
    fn other_spellings_and_more_fields_are_refused() {
        let line = item_line(&note(json!({ "a": 1 })));
        for other in [
            line.replacen('{', "{ ", 1),
            line.replacen('{', r#"{"extra":1,"#, 1),
            line.replace(r#""a":1"#, r#""a":1,"a":1"#),
            line.replace(r#""a":1"#, r#""a":2"#),
            line.replace("Thing", "Other"),
            line.replace(r#""payload":{"a":1}"#, r#""payload":{"a":1},"raw":"AAAA""#),
            String::new(),
        ] {
            assert!(parse_item(&other).is_err(), "{other} was read");
        }
    }
}
