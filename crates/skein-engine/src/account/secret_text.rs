//! Secrets as their holders have them: a prefix and 43 characters that say 32 random bytes.
//!
//! The text is shown where it is asked for by name and nowhere else: not in logs, not in debug output. Only its hash
//! is kept.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use skein_core::Digest;

const RANDOM_BYTES: usize = 32;

/// A text that cannot be such a secret. It is not repeated: it may be one with a typing error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret of this kind is {0} followed by 43 characters")]
pub struct BadSecretText(&'static str);

macro_rules! secret_texts {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// A new one.
            pub fn draw() -> Self {
                Self(draw($prefix))
            }

            /// The text to show to its holder.
            pub fn reveal(&self) -> &str {
                &self.0
            }

            pub(crate) fn hash(&self) -> Digest {
                Digest::of(self.0.as_bytes())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "…"))
            }
        }

        impl FromStr for $name {
            type Err = BadSecretText;

            fn from_str(text: &str) -> Result<Self, BadSecretText> {
                if is_secret(text, $prefix) { Ok(Self(text.to_owned())) } else { Err(BadSecretText($prefix)) }
            }
        }
    )*};
}

secret_texts! {
    /// An API key.
    KeyText = "sk_";
    /// What a one-time sign-in link carries.
    LinkText = "sl_";
    /// What the cookie of a signed-in browser carries.
    SessionText = "ss_";
}

fn draw(prefix: &str) -> String {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness");
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

fn is_secret(text: &str, prefix: &str) -> bool {
    let random = text.strip_prefix(prefix).and_then(|random| URL_SAFE_NO_PAD.decode(random).ok());
    random.is_some_and(|bytes| bytes.len() == RANDOM_BYTES)
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
        let link = LinkText::draw();
        for text in ["", "sk_", "sk_short", &drawn.reveal()[3..], &long, link.reveal(), &"sk_é".repeat(15)] {
            assert!(text.parse::<KeyText>().is_err(), "{text:?}");
        }
    }
}
