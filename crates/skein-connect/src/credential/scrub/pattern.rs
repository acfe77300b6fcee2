//! Matches one spelling of a secret byte by byte, as an automaton of Knuth, Morris and Pratt.
//!
//! A state is the number of bytes that were read of the pattern. It stands for every shorter beginning of the pattern that
//! ends in the same place, so one state follows all starting points at once, however much the secret repeats itself.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

use super::SECRET_BYTES_MIN;

/// Where no shorter beginning can go on.
const NOWHERE: u32 = u32::MAX;

/// One form of a secret.
pub(super) struct Pattern {
    /// Without separators, and folded.
    bytes: Zeroizing<Vec<u8>>,
    encoding: Encoding,
    /// By state: the longest shorter state that expects another byte.
    fallbacks: Zeroizing<Vec<u32>>,
    /// The longest beginning that is also an end of the whole.
    border: usize,
    /// By place: how many bytes from there on are those of the beginning.
    repeats: Zeroizing<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    Base64,
    Hex,
}

impl Encoding {
    /// Bytes that are not told apart have one form.
    fn fold(self, byte: u8) -> u8 {
        match (self, byte) {
            // A form has `+` for a space.
            (Self::Text, b'+') => b' ',
            (Self::Text | Self::Hex, _) => byte.to_ascii_lowercase(),
            (Self::Base64, b'-') => b'+',
            (Self::Base64, b'_') => b'/',
            (Self::Base64, _) => byte,
        }
    }

    /// Whether a byte may stand anywhere inside the spelling.
    fn separates(self, byte: u8) -> bool {
        match self {
            Self::Text => matches!(byte, b'\r' | b'\n'),
            Self::Base64 => matches!(byte, b'\r' | b'\n' | b'\t' | b' '),
            Self::Hex => matches!(byte, b'\r' | b'\n' | b'\t' | b' ' | b'+' | b':' | b'-' | b','),
        }
    }
}

impl Pattern {
    /// Every form of a secret that is looked for.
    pub(super) fn of(secret: &[u8]) -> Vec<Self> {
        let mut all = vec![Self::new(secret, Encoding::Text)];
        // Digits that were read as a number are written as the reader understood them.
        let number = std::str::from_utf8(secret).ok().and_then(|text| text.parse::<serde_json::Number>().ok());
        let number = number.map(|number| number.to_string().into_bytes()).filter(|number| number != secret);
        all.extend(number.map(|number| Self::new(&number, Encoding::Text)));
        all.extend((0..3).map(|before| Self::new(&base64_inside(secret, before), Encoding::Base64)));
        let hex = secret.iter().flat_map(|byte| format!("{byte:02x}").into_bytes());
        let hex = Zeroizing::new(hex.collect::<Vec<_>>());
        all.push(Self::new(&hex, Encoding::Hex));
        all.retain(|pattern| pattern.len() >= SECRET_BYTES_MIN);
        all
    }

    fn new(spelling: &[u8], encoding: Encoding) -> Self {
        let bytes = spelling.iter().filter(|byte| !encoding.separates(**byte)).map(|byte| encoding.fold(*byte));
        let bytes: Zeroizing<Vec<u8>> = bytes.collect::<Vec<_>>().into();
        let (fallbacks, border) = fallbacks(&bytes);
        let repeats = repeats(&bytes).into();
        Self { bytes, encoding, fallbacks: fallbacks.into(), border, repeats }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn separates(&self, byte: u8) -> bool {
        self.encoding.separates(byte)
    }

    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.bytes[0] == self.encoding.fold(byte)
    }

    /// The state after one more byte, and in how many steps it was found: as many at most as the logarithm of the length.
    pub(super) fn next(&self, state: usize, byte: u8) -> (usize, usize) {
        let byte = self.encoding.fold(byte);
        let (mut state, mut steps) = (state, 1);
        while self.bytes[state] != byte {
            match self.fallbacks[state] {
                NOWHERE => return (0, steps),
                shorter => state = shorter as usize,
            }
            steps += 1;
        }
        (state + 1, steps)
    }

    /// The state in which reading goes on after the whole pattern was read.
    pub(super) fn border(&self) -> usize {
        self.border
    }

    /// Whether a state stands for another: whatever the other can become, it can.
    pub(super) fn includes(&self, state: usize, other: usize) -> bool {
        other == state || (other < state && self.repeats[state - other] as usize >= other)
    }
}

/// Of each state the longest border that expects another byte, and the longest border of the whole.
fn fallbacks(bytes: &[u8]) -> (Vec<u32>, usize) {
    let mut fallbacks = vec![NOWHERE; bytes.len()];
    let mut border = 0;
    for (state, byte) in bytes.iter().enumerate().skip(1) {
        fallbacks[state] = if bytes[border] == *byte { fallbacks[border] } else { count(border) };
        border = loop {
            if bytes[border] == *byte {
                break border + 1;
            }
            match fallbacks[border] {
                NOWHERE => break 0,
                shorter => border = shorter as usize,
            }
        };
    }
    (fallbacks, border)
}

/// The Z-function.
fn repeats(bytes: &[u8]) -> Vec<u32> {
    let mut repeats = vec![0; bytes.len()];
    let (mut start, mut end) = (0, 0);
    for place in 1..bytes.len() {
        let known = if place < end { (repeats[place - start] as usize).min(end - place) } else { 0 };
        let more = bytes[place + known..].iter().zip(&bytes[known..]).take_while(|(one, other)| one == other).count();
        repeats[place] = count(known + more);
        if place + known + more > end {
            (start, end) = (place, place + known + more);
        }
    }
    repeats
}

fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a secret is shorter than 4 GiB")
}

/// The characters that stand for this secret alone when `before` bytes come before it and any after it.
fn base64_inside(secret: &[u8], before: usize) -> Zeroizing<Vec<u8>> {
    let padded = Zeroizing::new([vec![0; before], secret.to_vec()].concat());
    let encoded = Zeroizing::new(STANDARD_NO_PAD.encode(&*padded));
    let shared_before = [0, 2, 3][before];
    let shared_after = usize::from(padded.len() % 3 != 0);
    Zeroizing::new(encoded.as_bytes()[shared_before..encoded.len() - shared_after].to_vec())
}
