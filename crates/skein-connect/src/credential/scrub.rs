//! Takes a secret out of what came back, however it is written: a service may echo what it was sent.
//!
//! Known spellings are the bytes themselves, JSON and percent escapes, and base64 in both alphabets at each of
//! the three alignments (as it stands inside a longer encoded text). A stream is scrubbed across the borders
//! of its pieces, and only bytes that may be the beginning of a secret wait for the next piece.
//! Start at [`Scrubber::bytes`] or [`Scrubber::stream`].

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use zeroize::Zeroizing;

/// What stands where a secret stood.
pub const MARK: &str = "[secret withheld]";

/// Shorter texts are in everything, so a secret has at least this many bytes.
pub(super) const SECRET_BYTES_MIN: usize = 4;

/// Knows the spellings of one or more secrets.
#[derive(Clone, Default)]
pub struct Scrubber(Option<Arc<Spellings>>);

struct Spellings {
    texts: Vec<Zeroizing<Vec<u8>>>,
    search: AhoCorasick,
    longest: usize,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber(…)")
    }
}

impl Scrubber {
    /// For secrets of at least four bytes; shorter ones are passed over.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut texts = BTreeSet::new();
        for secret in secrets.into_iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN) {
            texts.extend(spellings(secret));
        }
        let texts: Vec<Zeroizing<Vec<u8>>> = texts.into_iter().map(Zeroizing::new).collect();
        let Some(longest) = texts.iter().map(|text| text.len()).max() else { return Self::default() };
        let patterns = texts.iter().map(|text| text.as_slice());
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns);
        let search = search.expect("a few kilobytes of patterns fit");
        Self(Some(Arc::new(Spellings { texts, search, longest })))
    }

    /// The bytes without the secrets; borrowed when there were none in them.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.0 {
            Some(spellings) if spellings.search.is_match(bytes) => {
                let mut stream = self.stream();
                let mut scrubbed = stream.push(bytes);
                scrubbed.extend(stream.finish());
                Cow::Owned(scrubbed)
            }
            _ => Cow::Borrowed(bytes),
        }
    }

    /// The text without the secrets; borrowed when there were none in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Takes the secrets out of every text, number and name in a value, and says whether there were any.
    pub fn json(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(scrubbed) => {
                    *text = scrubbed;
                    true
                }
            },
            Value::Array(elements) => elements.iter_mut().map(|element| self.json(element)).max().unwrap_or(false),
            Value::Object(members) => {
                let mut found = false;
                for (name, mut member) in std::mem::take(members) {
                    found |= self.json(&mut member);
                    let scrubbed = self.text(&name).into_owned();
                    found |= scrubbed != name;
                    members.insert(scrubbed, member);
                }
                found
            }
            // A key of digits may come back as a number.
            Value::Number(number) => {
                let found = matches!(self.text(&number.to_string()), Cow::Owned(_));
                if found {
                    *value = Value::from(MARK);
                }
                found
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    pub fn stream(&self) -> ScrubStream {
        ScrubStream { scrubber: self.clone(), waiting: Zeroizing::default(), found: false }
    }
}

/// Scrubs pieces in order.
#[derive(Debug)]
pub struct ScrubStream {
    scrubber: Scrubber,
    waiting: Zeroizing<Vec<u8>>,
    found: bool,
}

impl ScrubStream {
    /// What can be passed on after one more piece.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(spellings) = self.scrubber.0.clone() else { return piece.to_vec() };
        self.waiting.extend_from_slice(piece);
        let mut passed = Vec::with_capacity(self.waiting.len());
        let mut hold = spellings.beginning(&self.waiting, 0);
        let mut done = 0;
        for found in spellings.search.find_iter(self.waiting.as_slice()) {
            // A longer spelling may still come of what began here.
            if found.start() >= hold {
                break;
            }
            passed.extend_from_slice(&self.waiting[done..found.start()]);
            passed.extend_from_slice(MARK.as_bytes());
            (done, self.found) = (found.end(), true);
            hold = spellings.beginning(&self.waiting, done);
        }
        passed.extend_from_slice(&self.waiting[done..hold]);
        self.waiting = Zeroizing::new(self.waiting[hold..].to_vec());
        passed
    }

    /// What is left when there are no more pieces.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.waiting);
        let Some(spellings) = &self.scrubber.0 else { return rest.to_vec() };
        let mut passed = Vec::with_capacity(rest.len());
        let mut done = 0;
        for found in spellings.search.find_iter(rest.as_slice()) {
            passed.extend_from_slice(&rest[done..found.start()]);
            passed.extend_from_slice(MARK.as_bytes());
            (done, self.found) = (found.end(), true);
        }
        passed.extend_from_slice(&rest[done..]);
        passed
    }

    /// Whether anything was taken out so far.
    pub fn has_found(&self) -> bool {
        self.found
    }
}

impl Spellings {
    /// Where, at or after `from`, the end of the bytes may be the beginning of a spelling.
    fn beginning(&self, bytes: &[u8], from: usize) -> usize {
        let first = bytes.len().saturating_sub(self.longest - 1).max(from);
        let may_begin = |at: &usize| {
            let end = &bytes[*at..];
            self.texts.iter().any(|text| text.len() > end.len() && text.starts_with(end))
        };
        (first..bytes.len()).find(may_begin).unwrap_or(bytes.len())
    }
}

fn spellings(secret: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::from([secret.to_vec()]);
    if let Ok(text) = std::str::from_utf8(secret) {
        let json = Value::from(text).to_string();
        let json = &json[1..json.len() - 1];
        all.extend([json.to_owned(), json.replace('/', "\\/"), ascii(json)].map(String::into_bytes));
        // Digits that were read as a number are written as the reader understood them.
        all.extend(text.parse().map(|number: serde_json::Number| number.to_string().into_bytes()));
    }
    let percent = percent_encoded(secret);
    all.extend([percent.to_lowercase_escapes(), percent.with_plus(), percent.0]);
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        all.extend((0..3).map(|before| base64_inside(&engine, secret, before)));
    }
    all.retain(|spelling| spelling.len() >= SECRET_BYTES_MIN);
    all
}

/// JSON as writers put it that escape what is not ASCII.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            escaped.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// The characters that stand for this secret alone when `before` bytes come before it and any after it.
fn base64_inside(engine: &base64::engine::GeneralPurpose, secret: &[u8], before: usize) -> Vec<u8> {
    let padded = [vec![0; before], secret.to_vec()].concat();
    let encoded = engine.encode(&padded);
    let shared_before = [0, 2, 3][before];
    let shared_after = usize::from(padded.len() % 3 != 0);
    encoded.as_bytes()[shared_before..encoded.len() - shared_after].to_vec()
}

struct Percent(Vec<u8>);

fn percent_encoded(secret: &[u8]) -> Percent {
    let mut encoded = Vec::with_capacity(secret.len());
    for byte in secret {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            encoded.push(*byte);
        } else {
            encoded.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    Percent(encoded)
}

impl Percent {
    fn to_lowercase_escapes(&self) -> Vec<u8> {
        let mut lower = self.0.clone();
        for at in 0..lower.len() {
            if lower[at] == b'%' {
                lower[at + 1..at + 3].make_ascii_lowercase();
            }
        }
        lower
    }

    /// As forms write a space.
    fn with_plus(&self) -> Vec<u8> {
        String::from_utf8_lossy(&self.0).replace("%20", "+").into_bytes()
    }
}

#[cfg(test)]
mod tests;
