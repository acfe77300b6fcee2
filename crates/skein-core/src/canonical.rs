//! The one canonical JSON writer: sorted keys, no white space, numbers spelled as Python spells them.
//!
//! Everything hashed passes through here and never through a derive (decisions X7, Z25): a renamed Rust
//! field must not break a chain. Two of the founding designs differ in one point only, whether characters
//! beyond ASCII are escaped, hence [`Escape`].

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// Whether characters beyond ASCII are written as they are or as `\uXXXX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Records: everything outside printable ASCII is escaped.
    Ascii,
    /// Items, nodes, tool inputs: only quotes, backslashes and control characters are.
    Unicode,
}

pub fn to_string(value: &Value, escape: Escape) -> String {
    let mut out = String::new();
    write_value(&mut out, value, escape);
    out
}

pub fn object_to_string(object: &Map<String, Value>, escape: Escape) -> String {
    let mut out = String::new();
    write_object(&mut out, object, escape);
    out
}

fn write_value(out: &mut String, value: &Value, escape: Escape) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_text(out, text, escape),
        Value::Array(values) => write_array(out, values, escape),
        Value::Object(object) => write_object(out, object, escape),
    }
}

fn write_array(out: &mut String, values: &[Value], escape: Escape) {
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(out, value, escape);
    }
    out.push(']');
}

fn write_object(out: &mut String, object: &Map<String, Value>, escape: Escape) {
    let mut entries: Vec<(&String, &Value)> = object.iter().collect();
    // UTF-8 bytes sort as code points do, which is the order Python uses.
    entries.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, key, escape);
        out.push(':');
        write_value(out, value, escape);
    }
    out.push('}');
}

fn write_text(out: &mut String, text: &str, escape: Escape) {
    // Only ASCII, or the first byte of a character, is ever not plain.
    let is_plain = |byte: u8| match byte {
        b'"' | b'\\' | ..b' ' => false,
        b' '..=b'~' => true,
        _ => escape == Escape::Unicode,
    };
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
        out.push_str(&rest[..at]);
        let mut characters = rest[at..].chars();
        match characters.next().expect("there is a character") {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            character => write_escaped(out, character),
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escaped(out: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
    }
}

fn write_number(out: &mut String, number: &Number) {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) => write!(out, "{integer}"),
        (None, Some(integer), _) => write!(out, "{integer}"),
        (None, None, float) => {
            write_float(out, float.expect("a JSON number is an integer or a float"));
            Ok(())
        }
    }
    .expect("writing to a String cannot fail");
}

/// Python's `repr`: the shortest digits that read back the same, plain between 1e-4 and 1e16.
fn write_float(out: &mut String, float: f64) {
    let scientific = shortest(float);
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} always writes an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} writes a decimal exponent");
    if float != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{mantissa}e{sign}{:02}", exponent.unsigned_abs()).expect("writing to a String cannot fail");
        return;
    }
    write_plain(out, mantissa, exponent);
}

/// The shortest scientific spelling that reads back the same; of two equally near ones the even one.
pub(crate) fn shortest(float: f64) -> String {
    let shortest = format!("{float:e}");
    let decimals = shortest.split(['.', 'e']).nth(1).filter(|_| shortest.contains('.')).map_or(0, str::len);
    // The shortest form breaks ties upwards, the form of given length to even, as Python does.
    let even = format!("{float:.decimals$e}");
    if even.parse() == Ok(float) { even } else { shortest }
}

/// Puts the decimal point where the exponent says, and a `.0` where nothing would follow it.
fn write_plain(out: &mut String, mantissa: &str, exponent: i32) {
    let unsigned = mantissa.trim_start_matches('-');
    if unsigned.len() < mantissa.len() {
        out.push('-');
    }
    let digits: String = unsigned.chars().filter(char::is_ascii_digit).collect();
    let Ok(whole) = usize::try_from(exponent + 1) else {
        return write_fraction(out, &digits, exponent);
    };
    match digits.split_at_checked(whole) {
        Some(("", fraction)) => write!(out, "0.{fraction}"),
        Some((whole, "")) => write!(out, "{whole}.0"),
        Some((whole, fraction)) => write!(out, "{whole}.{fraction}"),
        None => write!(out, "{digits:0<whole$}.0"),
    }
    .expect("writing to a String cannot fail");
}

fn write_fraction(out: &mut String, digits: &str, exponent: i32) {
    let zeros = usize::try_from(-exponent - 1).expect("called for negative exponents");
    write!(out, "0.{}{digits}", "0".repeat(zeros)).expect("writing to a String cannot fail");
}
