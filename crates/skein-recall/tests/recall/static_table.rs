//! The built-in table against the vectors that `scripts/static_table.py` computed another way.

use serde_json::Value;
use skein_recall::{Embedder, StaticTable, embed_checked};

#[test]
fn vectors_equal_those_computed_with_the_models_own_tokenizer() {
    let golden: Value = serde_json::from_str(include_str!("../golden/static-table.json")).unwrap();
    for case in golden.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let found = StaticTable.vector(text).unwrap();
        let wanted = case["vector"].as_array().unwrap();
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((f64::from(*found) - wanted.as_f64().unwrap()).abs() < 2e-5, "{text}");
        }
    }
}

#[test]
fn related_texts_are_nearer_than_others() {
    let vector = |text: &str| StaticTable.vector(text).unwrap();
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let (dog, puppy, tax) = (vector("a big dog"), vector("my little puppy"), vector("income tax law"));
    assert!(cosine(&dog, &puppy) > cosine(&dog, &tax) + 0.1);
}

#[test]
fn a_text_without_a_known_piece_has_no_vector_and_spoils_no_other() {
    assert_eq!(StaticTable.vector("\u{0}\u{7}"), None);
    let vectors = embed_checked(&StaticTable, &["dog", ""]).unwrap();
    assert!(vectors[0].is_ok() && vectors[1].is_err());
    assert_eq!(StaticTable.dimensions(), 256);
}
