//! Reads what an endpoint answers: vectors in any order, as lists of numbers or as bytes in base64.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

/// Vectors in the order of their texts, as they came.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VectorResponse {
    pub(super) vectors: Vec<Vec<f32>>,
    pub(super) tokens: Option<u64>,
}

/// Why an answer with a status of success gives no vectors.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ResponseError {
    Count {
        wanted: usize,
        found: usize,
    },
    Garbled(String),
    /// It holds an error in place of vectors.
    Reported,
}

impl VectorResponse {
    pub(super) fn read(body: &[u8], wanted: usize) -> Result<Self, ResponseError> {
        let document: ResponseDocument = serde_json::from_slice(body).map_err(|error| {
            let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
            let problem = if start == Some(&b'<') { "a web page came instead".to_owned() } else { error.to_string() };
            ResponseError::Garbled(format!("it is not the JSON of vectors ({problem})"))
        })?;
        let Some(found) = document.data else {
            let is_error = document.error.is_some();
            return Err(if is_error {
                ResponseError::Reported
            } else {
                ResponseError::Garbled("it holds no vectors".to_owned())
            });
        };
        if found.len() != wanted {
            return Err(ResponseError::Count { wanted, found: found.len() });
        }
        let tokens = document.usage.and_then(|usage| usage.prompt_tokens.or(usage.total_tokens));
        Ok(Self { vectors: in_order(found)?, tokens })
    }
}

/// Each vector at the place it names; those that name none stay where they are.
fn in_order(found: Vec<ResponseVector>) -> Result<Vec<Vec<f32>>, ResponseError> {
    let mut places: Vec<Option<Vec<f32>>> = vec![None; found.len()];
    for (position, found) in found.into_iter().enumerate() {
        let index = found.index.unwrap_or(position);
        match places.get_mut(index) {
            Some(place @ None) => *place = Some(found.embedding.0),
            _ => return Err(ResponseError::Garbled(format!("two vectors, or none, are for text {index}"))),
        }
    }
    Ok(places.into_iter().flatten().collect())
}

#[derive(Deserialize)]
struct ResponseDocument {
    data: Option<Vec<ResponseVector>>,
    usage: Option<Usage>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct ResponseVector {
    index: Option<usize>,
    #[serde(default)]
    embedding: Numbers,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// A vector however it is written; empty when it is none.
#[derive(Default)]
struct Numbers(Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, or their bytes in base64")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Numbers, A::Error> {
        let mut vector = Vec::with_capacity(numbers.size_hint().unwrap_or(0));
        while let Some(Number(number)) = numbers.next_element()? {
            vector.push(number);
        }
        Ok(Numbers(vector))
    }

    fn visit_str<E>(self, text: &str) -> Result<Numbers, E> {
        let bytes = STANDARD.decode(text).unwrap_or_default();
        let whole = bytes.chunks_exact(4);
        let is_cut = !whole.remainder().is_empty();
        let numbers = whole.map(|bytes| f32::from_le_bytes(bytes.try_into().expect("chunks have four bytes")));
        Ok(Numbers(if is_cut { Vec::new() } else { numbers.collect() }))
    }

    fn visit_unit<E>(self) -> Result<Numbers, E> {
        Ok(Numbers::default())
    }
}

/// What is no number becomes one that is none.
struct Number(f32);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    #[expect(clippy::cast_possible_truncation, reason = "vectors are of singles; what is too large becomes infinite")]
    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        Ok(Number(number as f32))
    }

    #[expect(clippy::cast_precision_loss, reason = "vectors are of singles")]
    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number as f32))
    }

    #[expect(clippy::cast_precision_loss, reason = "vectors are of singles")]
    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(Number(number as f32))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number(f32::NAN))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number(f32::NAN))
    }

    fn visit_str<E>(self, _: &str) -> Result<Number, E> {
        Ok(Number(f32::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(body: &str, wanted: usize) -> Result<Vec<Vec<f32>>, ResponseError> {
        VectorResponse::read(body.as_bytes(), wanted).map(|answer| answer.vectors)
    }

    #[test]
    fn vectors_come_back_in_the_order_of_their_texts() {
        let mixed = r#"{"data": [{"index": 2, "embedding": [3]}, {"index": 0, "embedding": [1.5]},
            {"index": 1, "embedding": [-2e0]}], "usage": {"prompt_tokens": 7, "total_tokens": 9}}"#;
        let answer = VectorResponse::read(mixed.as_bytes(), 3).unwrap();
        assert_eq!((answer.vectors, answer.tokens), (vec![vec![1.5], vec![-2.0], vec![3.0]], Some(7)));
        let unnumbered = r#"{"data": [{"embedding": [1]}, {"embedding": [2]}]}"#;
        assert_eq!(vectors(unnumbered, 2).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn bytes_in_base64_are_the_same_numbers() {
        let bytes = STANDARD.encode([0.5_f32, -0.25, f32::NAN].map(f32::to_le_bytes).concat());
        let read = vectors(&format!(r#"{{"data": [{{"index": 0, "embedding": "{bytes}"}}]}}"#), 1).unwrap();
        assert!(read[0][..2] == [0.5, -0.25] && read[0][2].is_nan());
    }

    #[test]
    fn what_is_no_number_or_no_vector_spoils_only_its_own_vector() {
        let body = r#"{"data": [{"index": 0, "embedding": [1, null, "NaN", true, 1e300]}, {"index": 1, "embedding": [1, 2]},
            {"index": 2, "embedding": null}, {"index": 3, "embedding": "not base64!"}, {"index": 4},
            {"index": 5, "embedding": "AAAAAAA="}]}"#;
        let read = vectors(body, 6).unwrap();
        assert!(read[0][1..4].iter().all(|number| number.is_nan()) && read[0][4].is_infinite());
        assert_eq!(read[1..].iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 0, 0, 0]);
    }

    #[test]
    fn what_cannot_be_given_to_its_text_is_refused() {
        let twice = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}"#;
        let beyond = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [2]}]}"#;
        for body in [twice, beyond, "{}", r#"{"data": null}"#, "[]", "<html>", "", r#"{"data": [{"embedding": {}}]}"#] {
            assert!(matches!(vectors(body, 2), Err(ResponseError::Garbled(_))), "{body}");
        }
        assert_eq!(vectors(r#"{"data": []}"#, 2), Err(ResponseError::Count { wanted: 2, found: 0 }));
        assert_eq!(vectors(r#"{"error": {"message": "no"}}"#, 2), Err(ResponseError::Reported));
    }
}
