//! A key as its holder has it: `sk_` and 43 characters that say 32 random bytes.
//!
//! The text is shown where it is asked for by name and nowhere else: not in logs, not in debug output.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use skein_core::Digest;

const PREFIX: &str = "sk_";
const RANDOM_BYTES: usize = 32;

/// The secret itself; only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    /// A new key.
    pub fn draw() -> Self {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The text to show to its holder.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn hash(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}…")
    }
}

/// A text that cannot be a key. It is not repeated: it may be one with a typing error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is {PREFIX} followed by 43 characters")]
pub struct BadKeyText;

impl FromStr for KeyText {
    type Err = BadKeyText;

    fn from_str(text: &str) -> Result<Self, BadKeyText> {
        let random = text.strip_prefix(PREFIX).ok_or(BadKeyText)?;
        let bytes = URL_SAFE_NO_PAD.decode(random).map_err(|_| BadKeyText)?;
        if bytes.len() == RANDOM_BYTES { Ok(Self(text.to_owned())) } else { Err(BadKeyText) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_key_reads_back_and_differs_from_the_next() {
        let key = KeyText::draw();
        assert_eq!(key.reveal().len(), 46);
        assert_eq!(key.reveal().parse(), Ok(key.clone()));
        assert_ne!(key, KeyText::draw());
        assert_eq!(format!("{key:?}"), "sk_…");
    }

    #[test]
    fn other_texts_are_not_keys() {
        let drawn = KeyText::draw();
        let long = format!("{}A", drawn.reveal());
        for text in ["", "sk_", "sk_short", &drawn.reveal()[3..], &long, &"sk_é".repeat(15)] {
            assert_eq!(text.parse::<KeyText>(), Err(BadKeyText), "{text:?}");
        }
    }
}
