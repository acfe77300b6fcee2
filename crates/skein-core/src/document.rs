//! Parses JSON from outside under limits on size and depth, and refuses duplicate keys and inexact numbers.
//!
//! What passes here can be stored on either database, hashed canonically and read back the same: integers
//! fit i64, no U+0000 (PostgreSQL cannot store it), no doubled keys, depth and size limited.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Largest document accepted, in bytes of its text.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of arrays and objects accepted.
pub const DOCUMENT_DEPTH_MAX: usize = 64;

/// Why a text is not a document Skein keeps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDocument {
    #[error("the document has {found} bytes; the limit is {DOCUMENT_BYTES_MAX}")]
    TooLarge { found: usize },
    #[error("the document is nested deeper than {DOCUMENT_DEPTH_MAX} levels")]
    TooDeep,
    #[error("the number {0} does not fit 64 bits; send it as a string")]
    IntegerOutOfRange(String),
    #[error("text contains the character U+0000, which cannot be stored; remove it")]
    NulCharacter,
    #[error("{what} has at most {limit} bytes")]
    TextTooLong { what: &'static str, limit: usize },
    #[error("the key {0:?} appears twice in one object")]
    RepeatedKey(String),
    #[error("not valid JSON: {0}")]
    NotJson(String),
    #[error("expected a JSON object")]
    NotAnObject,
}

/// Reads a document from its text.
pub fn parse(text: &[u8]) -> Result<Value, BadDocument> {
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(BadDocument::TooLarge { found: text.len() });
    }
    let text = &*with_plain_zeros(text, &scan(text)?);
    let mut repeated = None;
    let strict = Strict { repeated: &mut repeated };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde::de::DeserializeSeed::deserialize(strict, &mut reader).and_then(|value| {
        reader.end()?;
        Ok(value)
    });
    match (value, repeated) {
        (_, Some(key)) => Err(BadDocument::RepeatedKey(key)),
        (Ok(value), None) => check(&value).map(|()| value),
        (Err(error), None) => Err(BadDocument::NotJson(error.to_string())),
    }
}

/// Reads a document that must be an object.
pub fn parse_object(text: &[u8]) -> Result<Map<String, Value>, BadDocument> {
    match parse(text)? {
        Value::Object(object) => Ok(object),
        _ => Err(BadDocument::NotAnObject),
    }
}

/// Applies the same limits to a value that was built rather than read.
pub fn check(value: &Value) -> Result<(), BadDocument> {
    check_at(value, 0)
}

fn check_at(value: &Value, depth: usize) -> Result<(), BadDocument> {
    match value {
        Value::Array(_) | Value::Object(_) if depth == DOCUMENT_DEPTH_MAX => Err(BadDocument::TooDeep),
        Value::Array(values) => values.iter().try_for_each(|value| check_at(value, depth + 1)),
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            refuse_nul(key)?;
            check_at(value, depth + 1)
        }),
        Value::String(text) => refuse_nul(text),
        Value::Number(number) if number.is_u64() && !number.is_i64() => {
            Err(BadDocument::IntegerOutOfRange(number.to_string()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// A text beside documents: bounded, and storable on both databases.
pub fn check_text(what: &'static str, text: &str, limit: usize) -> Result<(), BadDocument> {
    if text.len() > limit {
        return Err(BadDocument::TextTooLong { what, limit });
    }
    refuse_nul(text)
}

fn refuse_nul(text: &str) -> Result<(), BadDocument> {
    if text.contains('\0') { Err(BadDocument::NulCharacter) } else { Ok(()) }
}

/// Finds, before anything recurses or rounds, what a JSON reader would let through: depth and wide integers.
/// Returns where the integer `-0` stands, which a JSON reader would turn into a float.
fn scan(text: &[u8]) -> Result<Vec<usize>, BadDocument> {
    let mut negative_zeros = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_text(text, at),
            b'[' | b'{' if depth == DOCUMENT_DEPTH_MAX => return Err(BadDocument::TooDeep),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(text, at)?;
                if &text[at..=end] == b"-0" {
                    negative_zeros.push(at);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(negative_zeros)
}

fn with_plain_zeros<'a>(text: &'a [u8], negative_zeros: &[usize]) -> Cow<'a, [u8]> {
    let mut text = Cow::Borrowed(text);
    for &at in negative_zeros {
        text.to_mut()[at] = b' ';
    }
    text
}

/// Index of the closing quote, or of the last byte when there is none.
fn end_of_text(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Index of the last byte of the number that begins at `start`.
fn end_of_number(text: &[u8], start: usize) -> Result<usize, BadDocument> {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let length = text[start..].iter().take_while(|byte| is_part(byte)).count();
    let number = String::from_utf8_lossy(&text[start..start + length]);
    let is_integer = !number.contains(['.', 'e', 'E']);
    if is_integer && number.parse::<i64>().is_err() && number.trim_start_matches('-').len() > 18 {
        return Err(BadDocument::IntegerOutOfRange(number.chars().take(64).collect()));
    }
    Ok(start + length - 1)
}

/// Builds a [`Value`] and notes the first key that an object holds twice.
struct Strict<'a> {
    repeated: &'a mut Option<String>,
}

impl<'de> serde::de::DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> serde::de::Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(Strict { repeated: self.repeated })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Strict { repeated: self.repeated })?;
            if object.contains_key(&key) {
                self.repeated.get_or_insert_with(|| key.clone());
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Vec<u8> {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes()
    }

    #[test]
    fn ordinary_documents_pass() {
        let text = br#"{"a":[1,-2,3.5,1e3,null,true,"\u00e9 \"[{"],"b":9223372036854775807}"#;
        assert_eq!(parse(text).unwrap()["b"], i64::MAX);
        assert!(parse(&nested(DOCUMENT_DEPTH_MAX)).is_ok());
    }

    #[test]
    fn what_cannot_be_kept_is_refused_by_name() {
        let check = |text: &[u8], expected: &str| {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not say {expected:?}");
        };
        check(&nested(DOCUMENT_DEPTH_MAX + 1), "nested deeper");
        check(&nested(500_000), "nested deeper");
        check(&vec![b' '; DOCUMENT_BYTES_MAX + 1], "limit");
        check(b"[9223372036854775808]", "64 bits");
        check(b"[-123456789012345678901234567890]", "64 bits");
        check(br#"{"a":"x\u0000y"}"#, "U+0000");
        check(br#"{"\u0000":1}"#, "U+0000");
        check(br#"{"a":1,"a":2}"#, "twice");
        check(br#"{"a":1}x"#, "not valid JSON");
        check(br#""\ud800""#, "not valid JSON");
        check(b"[1e999]", "not valid JSON");
        check(b"{\"a\":\"\xff\"}", "not valid JSON");
        check(b"", "not valid JSON");
    }
}
