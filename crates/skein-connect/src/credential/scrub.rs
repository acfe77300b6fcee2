//! Takes a secret out of what came back, however it is written: a service may echo what it was sent.
//!
//! A secret is found in any mixture of these spellings: its bytes, in upper or lower case, also over several lines; JSON, CSS
//! and source-code escapes; HTML entities; percent encoding, also with `+` for a space; and two layers of these. Its base64 is
//! found in both alphabets at each of the three alignments inside a longer text, also with spaces and line ends in it; its
//! hexadecimal form in either case, also with separators. Forms that cannot be found are listed in
//! `docs/decisions/0034-untrusted-text.md`.
//!
//! Every reading of the text is followed at once, in time that is linear in its length, whatever the secret and the text. A
//! stream is scrubbed across the borders of its pieces, and only bytes that may begin a secret wait for the next piece.
//! Start at [`Scrubber::bytes`] or [`Scrubber::stream`].

mod escape;
mod path;
mod pattern;
mod stream;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use escape::begins_escape;
use pattern::Pattern;
pub use stream::ScrubStream;

/// What stands where a secret stood.
pub const MARK: &str = "[secret withheld]";

/// Shorter texts are in everything, so a secret has at least this many bytes.
pub(super) const SECRET_BYTES_MIN: usize = 4;
/// How much of a long text is read at once: what was read before it is let go.
const PIECE_BYTES: usize = 64 << 10;

/// Knows the spellings of one or more secrets.
#[derive(Clone, Default)]
pub struct Scrubber(Option<Arc<Patterns>>);

struct Patterns {
    all: Vec<Pattern>,
    /// By byte: whether a pattern may begin with it.
    begins: [bool; 256],
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
            begins_escape(byte) || all.iter().any(|pattern| pattern.begins_with(byte))
        });
        Self(Some(Arc::new(Patterns { all, begins })))
    }

    /// The bytes without the secrets; borrowed when there were none in them.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.0.is_none() {
            return Cow::Borrowed(bytes);
        }
        let mut stream = self.stream();
        let mut scrubbed = Vec::with_capacity(bytes.len());
        for piece in bytes.chunks(PIECE_BYTES) {
            scrubbed.extend(stream.push(piece));
        }
        scrubbed.extend(stream.finish());
        if stream.has_found() { Cow::Owned(scrubbed) } else { Cow::Borrowed(bytes) }
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
        ScrubStream::new(self.0.clone())
    }
}

#[cfg(test)]
mod tests;
