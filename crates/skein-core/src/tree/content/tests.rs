//! Content read, refused, written back and shortened.

use super::*;

const BLOB: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn image() -> Value {
    json!({ "type": "image", "ref": BLOB, "mimeType": "image/png", "width": 640, "height": 480 })
}

fn audio() -> Value {
    json!({ "type": "audio", "ref": BLOB, "mimeType": "audio/wav", "durationMs": 1_500 })
}

fn with(mut document: Value, name: &str, value: Value) -> Value {
    document[name] = value;
    document
}

fn check_refused(document: &Value, rule: &str) {
    let refused = Content::parse(document).unwrap_err();
    assert_eq!(refused.rule(), rule, "{document} was refused by {refused}");
}

#[test]
fn ag_content_001_four_types_are_written_back_as_they_came_holds() {
    let text = json!({ "type": "text", "text": "Hello" });
    let mixed = json!({ "type": "mixed", "blocks": [text, image(), audio()] });
    for document in [text, image(), audio(), mixed] {
        assert_eq!(Content::parse(&document).unwrap().to_document(), document);
    }
}

#[test]
fn ag_content_001_other_types_and_unknown_fields_refuses() {
    for document in [
        json!("Hello"),
        json!({ "text": "Hello" }),
        json!({ "type": "video", "ref": BLOB }),
        json!({ "type": "text" }),
        json!({ "type": "text", "text": 1 }),
        json!({ "type": "text", "text": "Hello", "colour": "red" }),
        json!({ "type": "text", "text": "a\u{0}b" }),
    ] {
        check_refused(&document, "AG-CONTENT-001");
    }
}

#[test]
fn ag_content_001_what_does_not_fit_a_document_refuses() {
    let long = "é".repeat(CONTENT_BYTES_MAX / 2);
    check_refused(&json!({ "type": "text", "text": long }), "AG-CONTENT-001");
    let fits = "é".repeat(CONTENT_BYTES_MAX / 2 - 20);
    assert!(Content::parse(&json!({ "type": "text", "text": fits })).is_ok());
}

#[test]
fn ag_content_002_optional_fields_are_kept_and_left_out_holds() {
    let full = with(with(image(), "thumbnailRef", json!(BLOB)), "altText", json!("a cat"));
    let content = Content::parse(&full).unwrap();
    assert_eq!(content.to_document(), full);
    assert_eq!(content.blobs().count(), 2);
    let spoken = Content::parse(&with(audio(), "transcriptRef", json!(BLOB))).unwrap();
    assert_eq!((spoken.blobs().count(), spoken.transcripts().count()), (1, 1));
}

#[test]
fn ag_content_002_missing_or_impossible_fields_refuses() {
    for (document, name, value) in [
        (image(), "ref", json!("https://example.org/cat.png")),
        (image(), "ref", json!("entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A")),
        (image(), "mimeType", json!("image/svg+xml")),
        (image(), "width", json!(0)),
        (image(), "width", json!(640.0)),
        (image(), "height", json!(8_193)),
        (image(), "altText", Value::Null),
        (image(), "durationMs", json!(5)),
        (audio(), "mimeType", json!("image/png")),
        (audio(), "durationMs", json!(30 * 60 * 1_000 + 1)),
        (audio(), "durationMs", json!(-1)),
    ] {
        check_refused(&with(document, name, value), "AG-CONTENT-002");
    }
}

#[test]
fn ag_content_003_blocks_keep_their_order_holds() {
    let document = json!({ "type": "mixed", "blocks": [
        { "type": "text", "text": "See" }, with(image(), "altText", json!("a cat")), { "type": "text", "text": "there." },
    ] });
    assert_eq!(Content::parse(&document).unwrap().plain_text(), "See\n\na cat\n\nthere.");
}

#[test]
fn ag_content_003_mixed_inside_mixed_and_no_blocks_refuses() {
    let inner = json!({ "type": "mixed", "blocks": [{ "type": "text", "text": "x" }] });
    check_refused(&json!({ "type": "mixed", "blocks": [inner] }), "AG-CONTENT-003");
    check_refused(&json!({ "type": "mixed", "blocks": [] }), "AG-CONTENT-003");
    check_refused(&json!({ "type": "mixed", "blocks": vec![image(); BLOCKS_MAX + 1] }), "AG-CONTENT-003");
    check_refused(&json!({ "type": "mixed", "blocks": [image()], "text": "x" }), "AG-CONTENT-003");
}

#[test]
fn ag_content_004_an_attachment_is_referred_to_holds() {
    let content = Content::parse(&json!({ "type": "mixed", "blocks": [image(), audio()] })).unwrap();
    assert_eq!(content.blobs().collect::<Vec<ItemId>>(), [BLOB.parse().unwrap(); 2]);
}

#[test]
fn ag_content_004_bytes_inside_the_content_refuses() {
    let inline = "data:image/png;base64,iVBORw0KGgo=";
    for document in [image(), audio()] {
        check_refused(&with(document.clone(), "ref", json!(inline)), "AG-CONTENT-002");
        check_refused(&with(document.clone(), "data", json!("iVBORw0KGgo=")), "AG-CONTENT-002");
        check_refused(&with(document, "bytes", json!([137, 80, 78, 71])), "AG-CONTENT-002");
    }
    check_refused(&with(image(), "thumbnailRef", json!(inline)), "AG-CONTENT-002");
}

#[test]
fn ag_edit_004_content_that_says_something_holds() {
    assert!(Content::text(" x ").refuse_empty().is_ok());
    assert!(Content::parse(&image()).unwrap().refuse_empty().is_ok());
}

#[test]
fn ag_edit_004_white_space_alone_refuses() {
    for text in ["", " \n\t\u{a0}\u{3000}", "\u{200b}", "\u{2060}", "\u{feff} \u{ad}"] {
        assert_eq!(Content::text(text).brief(), None);
        assert_eq!(Content::text(text).refuse_empty().unwrap_err().rule(), "AG-EDIT-004");
    }
    assert!(Content::Mixed(vec![Block::Text(" ".to_owned())]).refuse_empty().is_err());
}

#[test]
fn a_brief_is_one_line_of_whole_words() {
    assert_eq!(Content::text("  What if\nwe\tbranch? ").brief().as_deref(), Some("What if we branch?"));
    assert_eq!(Content::text(" \n").brief(), None);
    assert_eq!(first_words("one two three", 9).as_deref(), Some("one two…"));
    assert_eq!(first_words("Donaudampfschifffahrt", 6).as_deref(), Some("Donau…"));
    let brief = Content::text("wörter ".repeat(100)).brief().unwrap();
    assert!(brief.ends_with("wörter…") && brief.chars().count() <= BRIEF_CHARS_MAX + 1);
}
