//! Takes a secret out of what came back, however it is written: a service may echo what it was sent.
//!
//! A secret is found in any mixture of these spellings: its bytes, in upper or lower case; JSON and source-code escapes; HTML
//! entities; percent encoding, also with `+` for a space; and two layers of these. Its base64 is found in both alphabets at
//! each of the three alignments inside a longer text, also over several lines; its hexadecimal form in either case, also with
//! separators. Forms that cannot be found are listed in `docs/decisions/0034-untrusted-text.md`.
//!
//! Every reading of the text is followed at once, so the time is linear in its length. A stream is scrubbed across the
//! borders of its pieces, and only bytes that may begin a secret wait for the next piece.
//! Start at [`Scrubber::bytes`] or [`Scrubber::stream`].

mod escape;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use zeroize::Zeroizing;

use escape::{Text, Unit, begins_escape};

/// What stands where a secret stood.
pub const MARK: &str = "[secret withheld]";

/// Shorter texts are in everything, so a secret has at least this many bytes.
pub(super) const SECRET_BYTES_MIN: usize = 4;
/// Most separators between two characters of an encoded secret.
const SEPARATORS_MAX: usize = 2;

/// Knows the spellings of one or more secrets.
#[derive(Clone, Default)]
pub struct Scrubber(Option<Arc<Patterns>>);

struct Patterns {
    all: Vec<Pattern>,
    /// By byte: whether a pattern may begin with it.
    begins: [bool; 256],
}

/// One form of a secret.
struct Pattern {
    bytes: Zeroizing<Vec<u8>>,
    encoding: Encoding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    Base64,
    Hex,
}

impl Pattern {
    fn new(bytes: Vec<u8>, encoding: Encoding) -> Self {
        Self { bytes: Zeroizing::new(bytes), encoding }
    }

    /// Every form of a secret that is looked for.
    fn of(secret: &[u8]) -> Vec<Self> {
        let mut all = vec![Self::new(secret.to_vec(), Encoding::Text)];
        // Digits that were read as a number are written as the reader understood them.
        let number = std::str::from_utf8(secret).ok().and_then(|text| text.parse::<serde_json::Number>().ok());
        let number = number.map(|number| number.to_string().into_bytes()).filter(|number| number != secret);
        all.extend(number.map(|number| Self::new(number, Encoding::Text)));
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            all.extend((0..3).map(|before| Self::new(base64_inside(&engine, secret, before), Encoding::Base64)));
        }
        let hex = secret.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
        all.push(Self::new(hex, Encoding::Hex));
        all.retain(|pattern| pattern.bytes.len() >= SECRET_BYTES_MIN);
        all
    }

    fn accepts(&self, at: usize, byte: u8) -> bool {
        let expected = self.bytes[at];
        expected == byte || (self.encoding != Encoding::Base64 && expected.eq_ignore_ascii_case(&byte))
    }

    fn separates(&self, byte: u8) -> bool {
        match self.encoding {
            Encoding::Text => false,
            Encoding::Base64 => matches!(byte, b'\r' | b'\n'),
            Encoding::Hex => matches!(byte, b'\r' | b'\n' | b' ' | b':' | b'-'),
        }
    }
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber(…)")
    }
}

impl Scrubber {
    /// For secrets of at least four bytes; shorter ones are passed over.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN);
        let all: Vec<Pattern> = secrets.flat_map(Pattern::of).collect();
        if all.is_empty() {
            return Self::default();
        }
        let begins = std::array::from_fn(|byte| {
            let byte = u8::try_from(byte).unwrap_or_default();
            let accepted = |byte: u8| all.iter().any(|pattern| pattern.accepts(0, byte));
            begins_escape(byte) || accepted(byte) || (byte == b'+' && accepted(b' '))
        });
        Self(Some(Arc::new(Patterns { all, begins })))
    }

    /// The bytes without the secrets; borrowed when there were none in them.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.0.is_none() {
            return Cow::Borrowed(bytes);
        }
        let mut stream = self.stream();
        let mut scrubbed = stream.push(bytes);
        scrubbed.extend(stream.finish());
        if stream.found { Cow::Owned(scrubbed) } else { Cow::Borrowed(bytes) }
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
        ScrubStream {
            scrubber: self.clone(),
            waiting: Zeroizing::default(),
            at: 0,
            readings: BTreeMap::new(),
            spans: Vec::new(),
            found: false,
        }
    }
}

/// A secret that may be under way: where its next character stands, which pattern it is, how many bytes of that were read,
/// and how many separators since.
type Reading = (usize, usize, usize, usize);

/// Scrubs pieces in order.
#[derive(Debug)]
pub struct ScrubStream {
    scrubber: Scrubber,
    /// Bytes that were not passed on yet; all positions count from their beginning.
    waiting: Zeroizing<Vec<u8>>,
    /// The first byte that was not read.
    at: usize,
    /// Where each began; of two alike, the earlier.
    readings: BTreeMap<Reading, usize>,
    /// Where secrets stand.
    spans: Vec<(usize, usize)>,
    found: bool,
}

impl ScrubStream {
    /// What can be passed on after one more piece.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(patterns) = self.scrubber.0.clone() else { return piece.to_vec() };
        self.waiting.extend_from_slice(piece);
        self.read(&patterns, false);
        let hold = self.readings.values().copied().min().unwrap_or(self.at);
        self.pass_on(hold)
    }

    /// What is left when there are no more pieces.
    pub fn finish(&mut self) -> Vec<u8> {
        let Some(patterns) = self.scrubber.0.clone() else { return Vec::new() };
        self.read(&patterns, true);
        self.readings.clear();
        self.pass_on(self.waiting.len())
    }

    /// Whether anything was taken out so far.
    pub fn has_found(&self) -> bool {
        self.found
    }

    /// Reads on as far as escapes are complete.
    fn read(&mut self, patterns: &Patterns, is_end: bool) {
        let waiting = std::mem::take(&mut self.waiting);
        let text = Text { bytes: &waiting, is_end };
        while self.at < waiting.len() {
            let is_open = self.readings.first_key_value().is_some_and(|(reading, _)| reading.0 == self.at);
            let begins = patterns.begins[usize::from(waiting[self.at])];
            if is_open || begins {
                let Ok(units) = text.units(self.at) else { break };
                self.follow(patterns, &units, begins);
            }
            self.at += 1;
        }
        self.waiting = waiting;
    }

    /// Follows every secret that is under way here, or begins here, by every reading of the character.
    fn follow(&mut self, patterns: &Patterns, units: &[Option<Unit>], begins: bool) {
        let at = self.at;
        let mut open = Vec::new();
        while let Some(reading) = self.readings.first_entry().filter(|reading| reading.key().0 == at) {
            open.push(reading.remove_entry());
        }
        let fresh = (0..patterns.all.len()).filter(|_| begins).map(|number| ((at, number, 0, 0), at));
        open.extend(fresh);
        for ((_, number, done, separators), start) in open {
            let pattern = &patterns.all[number];
            for unit in units.iter().flatten() {
                let end = at + unit.len;
                match advance(pattern, done, separators, unit.bytes()) {
                    Some((done, _)) if done == pattern.bytes.len() => self.spans.push((start, end)),
                    Some((done, separators)) => {
                        let began = self.readings.entry((end, number, done, separators)).or_insert(start);
                        *began = start.min(*began);
                    }
                    None => {}
                }
            }
        }
    }

    /// Passes on what stands before `hold`, with marks for secrets. A secret that is not wholly before it waits with the rest.
    fn pass_on(&mut self, hold: usize) -> Vec<u8> {
        self.found |= !self.spans.is_empty();
        let spans = merged(std::mem::take(&mut self.spans));
        let across = spans.iter().find(|(start, end)| *start < hold && hold < *end);
        let hold = across.map_or(hold, |(start, _)| *start);
        let mut passed = Vec::with_capacity(hold);
        let mut done = 0;
        for (start, end) in spans.iter().filter(|(_, end)| *end <= hold) {
            passed.extend_from_slice(&self.waiting[done..*start]);
            passed.extend_from_slice(MARK.as_bytes());
            done = *end;
        }
        passed.extend_from_slice(&self.waiting[done..hold]);
        if hold > 0 {
            self.waiting = Zeroizing::new(self.waiting[hold..].to_vec());
            self.at -= hold;
            let readings = std::mem::take(&mut self.readings).into_iter();
            self.readings = readings.map(|((at, n, done, s), start)| ((at - hold, n, done, s), start - hold)).collect();
        }
        let rest = spans.into_iter().filter(|(start, _)| *start >= hold);
        self.spans = rest.map(|(start, end)| (start - hold, end - hold)).collect();
        passed
    }
}

/// How much of a pattern is read after these bytes; none when they do not fit.
fn advance(pattern: &Pattern, done: usize, separators: usize, bytes: &[u8]) -> Option<(usize, usize)> {
    let is_separator = done > 0 && separators < SEPARATORS_MAX && bytes.len() == 1 && pattern.separates(bytes[0]);
    let rest = pattern.bytes.len() - done;
    let fits = bytes.len() <= rest && bytes.iter().enumerate().all(|(i, byte)| pattern.accepts(done + i, *byte));
    if fits { Some((done + bytes.len(), 0)) } else { is_separator.then_some((done, separators + 1)) }
}

/// Spans that overlap are one.
fn merged(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The characters that stand for this secret alone when `before` bytes come before it and any after it.
fn base64_inside(engine: &base64::engine::GeneralPurpose, secret: &[u8], before: usize) -> Vec<u8> {
    let padded = [vec![0; before], secret.to_vec()].concat();
    let encoded = engine.encode(&padded);
    let shared_before = [0, 2, 3][before];
    let shared_after = usize::from(padded.len() % 3 != 0);
    encoded.as_bytes()[shared_before..encoded.len() - shared_after].to_vec()
}

#[cfg(test)]
mod tests;
