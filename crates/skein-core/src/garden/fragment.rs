//! Short names for the semantic units of a text.

use crate::digest::Digest;

/// `^` and three or four base-36 digits of the content's hash (rule MG-HASH-004).
///
/// Sixteen bits collide soon: this is a name to show, never a key (decision M8).
pub fn fragment_id(content: &str) -> String {
    let hash = Digest::of(content.as_bytes());
    let mut number = u32::from(u16::from_be_bytes([hash.0[0], hash.0[1]]));
    let mut digits = Vec::new();
    while number > 0 || digits.len() < 3 {
        digits.push(char::from_digit(number % 36, 36).expect("a remainder of 36 is a base-36 digit"));
        number /= 36;
    }
    std::iter::once('^').chain(digits.into_iter().rev()).collect()
}
