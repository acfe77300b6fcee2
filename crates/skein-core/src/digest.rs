//! SHA-256 digests and the byte layout everything hashed shares: length-prefixed fields.
//!
//! A length prefix in front of every field makes two different field lists never hash alike.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

/// Number of the layouts of items and seals, and their first byte. Records and nodes keep the layouts they came with.
pub const FORMAT: u8 = 1;

/// The 32 bytes of a SHA-256, spelled as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(spell(&self.0, &mut [0; 64]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 hexadecimal digits")]
pub struct BadDigest;

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        from_hex(text).map(Self).ok_or(BadDigest)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(spell(&self.0, &mut [0; 64]))
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Builds the bytes of one hash: [`FORMAT`], then fields in the order they are given.
pub(crate) struct FieldHasher(sha2::Sha256);

impl FieldHasher {
    pub(crate) fn new() -> Self {
        let mut hasher = sha2::Sha256::new();
        hasher.update([FORMAT]);
        Self(hasher)
    }

    /// Four bytes of length, big-endian, then the bytes.
    pub(crate) fn field(mut self, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).expect("hashed fields are bounded far below 4 GiB");
        self.0.update(length.to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// A digest closes a layout and has a fixed size, so it carries no length.
    pub(crate) fn finish_with(mut self, digest: &Digest) -> Digest {
        self.0.update(digest.0);
        self.finish()
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Lower-case hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    spell(bytes, &mut vec![0; bytes.len() * 2]).to_owned()
}

/// Fills `digits`, which has two places for each byte.
fn spell<'a>(bytes: &[u8], digits: &'a mut [u8]) -> &'a str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (byte, pair) in bytes.iter().zip(digits.chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    str::from_utf8(digits).expect("digits are ASCII")
}

/// Exactly `N` bytes from their hexadecimal spelling, in either case.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high << 4 | low).expect("two hexadecimal digits make one byte");
    }
    Some(bytes)
}
