//! Models in directories: their vectors against an independent computation (`scripts/tiny_transformers.py`), and what is
//! said of directories that hold none.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use serde::Deserialize;
use skein_recall::{Embedder as _, Transformer, TransformerError, embed_checked};
use tempfile::TempDir;

const TOLERANCE: f32 = 2e-6;

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    mean: Vec<Vec<f32>>,
    first: Vec<Vec<f32>>,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/transformers").join(name)
}

fn golden() -> Golden {
    serde_json::from_slice(&std::fs::read(folder("vectors.json")).unwrap()).unwrap()
}

fn assert_near(found: &[Vec<f32>], wanted: &[Vec<f32>]) {
    assert_eq!(found.len(), wanted.len());
    for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert_eq!(found.len(), wanted.len());
        let apart = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < TOLERANCE, "text {place} is {apart} off: {found:?} instead of {wanted:?}");
    }
}

/// A copy of a model to be spoilt.
fn copied(name: &str) -> TempDir {
    let copy = TempDir::new().unwrap();
    std::fs::create_dir(copy.path().join("1_Pooling")).unwrap();
    for part in ["", "1_Pooling"] {
        for entry in std::fs::read_dir(folder(name).join(part)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), copy.path().join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    copy
}

/// The same model with one text replaced in one file.
fn changed(name: &str, file: &str, from: &str, to: &str) -> TempDir {
    let copy = copied(name);
    let path = copy.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    copy
}

#[test]
fn vectors_are_those_of_an_independent_computation() {
    let golden = golden();
    let texts: Vec<&str> = golden.texts.iter().map(String::as_str).collect();
    for (name, wanted) in [("mean", &golden.mean), ("first", &golden.first)] {
        let model = Transformer::open(&folder(name)).unwrap();
        assert_eq!(model.dimensions(), 16);
        assert_near(&model.embed(&texts).unwrap(), wanted);
    }
}

#[test]
fn a_vector_does_not_depend_on_what_is_asked_beside_it() {
    let golden = golden();
    let model = Transformer::open(&folder("mean")).unwrap();
    let many: Vec<&str> = golden.texts.iter().map(String::as_str).cycle().take(60).collect();
    let together = model.embed(&many).unwrap();
    for (text, vector) in many.iter().zip(&together).take(golden.texts.len()) {
        assert_near(&model.embed(&[text]).unwrap(), std::slice::from_ref(vector));
    }
    assert_near(&together[56..], &together[..4]);
    assert!(model.embed(&[]).unwrap().is_empty());
}

#[test]
fn hostile_texts_are_texts() {
    let model = Transformer::open(&folder("mean")).unwrap();
    let long = "the launch ".repeat(100_000);
    let texts = ["", "\u{0}\u{200b}", "[CLS] [SEP] [PAD] [MASK]", "\u{1F600}\u{FFFD}", &long, &"é".repeat(1 << 20)];
    for (text, vector) in texts.iter().zip(embed_checked(&model, &texts).unwrap()) {
        assert_eq!(vector.unwrap().len(), 16, "{}", text.chars().take(20).collect::<String>());
    }
}

#[test]
fn a_fingerprint_names_all_that_makes_vectors() {
    let plain = Transformer::open(&folder("mean")).unwrap().fingerprint();
    let of = |copy: TempDir| Transformer::open(copy.path()).unwrap().fingerprint();
    assert_eq!(of(copied("mean")), plain);
    let weights = copied("mean");
    let mut bytes = std::fs::read(weights.path().join("model.safetensors")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(weights.path().join("model.safetensors"), bytes).unwrap();
    let others = [
        of(weights),
        of(changed("mean", "config.json", "\"gelu\"", "\"relu\"")),
        of(changed("mean", "tokenizer.json", "\"lowercase\": true", "\"lowercase\": false")),
        of(changed("mean", "sentence_bert_config.json", "24", "16")),
        Transformer::open(&folder("first")).unwrap().fingerprint(),
    ];
    assert!(others.iter().all(|other| *other != plain));
}

#[test]
fn what_is_missing_is_named() {
    let nowhere = TempDir::new().unwrap();
    let file = nowhere.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [nowhere.path().join("nothing"), nowhere.path().to_owned(), file] {
        let error = Transformer::open(&path).unwrap_err();
        assert!(matches!(&error, TransformerError::Missing { missing, .. } if missing == "modules.json"), "{error}");
    }
    for (name, missing) in [
        ("mean", "config.json"),
        ("mean", "1_Pooling/config.json"),
        ("mean", "model.safetensors"),
        ("first", "vocab.txt"),
    ] {
        let copy = copied(name);
        std::fs::remove_file(copy.path().join(missing)).unwrap();
        let error = Transformer::open(copy.path()).unwrap_err();
        assert!(matches!(&error, TransformerError::Missing { missing: found, .. } if found == missing), "{error}");
    }
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let cases = [
        ("config.json", "\"bert\"", "\"t5\"", "\"t5\""),
        ("config.json", "\"gelu\"", "\"silu\"", "silu"),
        ("config.json", "\"absolute\"", "\"relative_key\"", "relative_key"),
        ("modules.json", "models.Normalize", "models.Dense", "Dense"),
        (
            "1_Pooling/config.json",
            "\"pooling_mode_max_tokens\": false",
            "\"pooling_mode_max_tokens\": true",
            "max_tokens",
        ),
    ];
    for (file, from, to, named) in cases {
        let error = Transformer::open(changed("mean", file, from, to).path()).unwrap_err();
        assert!(matches!(error, TransformerError::Unknown { .. }) && error.to_string().contains(named), "{error}");
    }
}

#[test]
fn what_is_broken_is_refused_and_never_computed_with() {
    let cases = [
        ("config.json", "\"hidden_size\": 16", "\"hidden_size\": 18"),
        ("config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 0"),
        ("config.json", "\"vocab_size\"", "\"vocabulary\""),
        ("config.json", "\"max_position_embeddings\": 32", "\"max_position_embeddings\": 0"),
        ("modules.json", "\"path\": \"1_Pooling\"", "\"path\": \"../1_Pooling\""),
        ("modules.json", "[", "{"),
        ("tokenizer.json", "\"model\": {", "\"model\": 7, \"other\": {"),
        ("tokenizer.json", "\"the\": 5", "\"the\": 5000"),
        ("sentence_bert_config.json", "24", "2"),
    ];
    for (file, from, to) in cases {
        let opened = Transformer::open(changed("mean", file, from, to).path());
        assert!(matches!(opened, Err(TransformerError::Malformed { .. })), "{file}, {to}: {opened:?}");
    }
    for (from, to) in
        [("\"vocab_size\": 38", "\"vocab_size\": 40"), ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3")]
    {
        let error = Transformer::open(changed("mean", "config.json", from, to).path()).unwrap_err();
        assert!(matches!(error, TransformerError::Weights { .. }), "{to}: {error}");
    }
    for bytes in [&b""[..], b"no tensors", &[0xff; 64]] {
        let copy = copied("mean");
        std::fs::write(copy.path().join("model.safetensors"), bytes).unwrap();
        assert!(matches!(Transformer::open(copy.path()), Err(TransformerError::Weights { .. })));
    }
}
