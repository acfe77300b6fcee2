//! The stream finds what a search finds that tries every reading from every place.

use std::collections::BTreeSet;

use proptest::prelude::{any, prop, prop_assert, prop_assume, proptest};

use super::super::Scrubber;
use super::*;

/// Pieces of text that can be read in many ways, and of which secrets are made too.
const PIECES: [&str; 19] = [
    "a", "b", "1", "A", "%", "25", "61", "%25", "%61", "%2561", "\\", "\\\\", "\\x61", "\\61 ", "&#97;", "&amp",
    "&amp;#97", "+", " ",
];

fn joined(numbers: &[usize]) -> String {
    numbers.iter().map(|number| PIECES[number % PIECES.len()]).collect()
}

fn folded(byte: u8) -> u8 {
    if byte == b'+' { b' ' } else { byte.to_ascii_lowercase() }
}

/// Where the secret ends when it is read from a place in any way.
fn ends(secret: &[u8], text: &Text<'_>, start: usize) -> BTreeSet<usize> {
    let (mut ends, mut open) = (BTreeSet::new(), BTreeSet::from([(start, 0)]));
    while let Some((at, done)) = open.pop_first() {
        if done == secret.len() {
            ends.insert(at);
        } else if at < text.bytes.len() {
            let units = text.units(at).expect("the text is whole");
            let fits = |unit: &&Unit| {
                let rest = secret[done..].iter().take(unit.bytes().len());
                rest.map(|byte| folded(*byte)).eq(unit.bytes().iter().map(|byte| folded(*byte)))
            };
            open.extend(units.iter().flatten().filter(fits).map(|unit| (at + unit.len, done + unit.bytes().len())));
        }
    }
    ends
}

proptest! {
    #[test]
    fn every_reading_of_a_secret_is_found(
        secret in prop::collection::vec(any::<usize>(), 2..8),
        text in prop::collection::vec(any::<usize>(), 0..40),
        repeats in 1..4_usize,
    ) {
        let secret = joined(&secret).repeat(repeats);
        prop_assume!(secret.len() >= 4);
        let text = joined(&text) + &secret + &joined(&text);
        let mut stream = Scrubber::new([secret.as_bytes()]).stream();
        let patterns = stream.patterns.clone().expect("there is a secret");
        stream.text.extend_from_slice(text.as_bytes());
        stream.read(&patterns, true);
        let spans = merged(stream.spans);
        let text = Text { bytes: text.as_bytes(), is_end: true };
        for start in 0..text.bytes.len() {
            for end in ends(secret.as_bytes(), &text, start) {
                let is_found = spans.iter().any(|span| span.0 < end && end <= span.1);
                prop_assert!(is_found, "{secret:?} at {start}..{end}: {spans:?}");
            }
        }
    }
}
