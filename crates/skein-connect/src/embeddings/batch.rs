//! Cuts texts to what an endpoint takes at once.

/// Texts of one request.
pub const BATCH_TEXTS_MAX: usize = 128;
/// Texts of one request in bytes; one text alone may have more.
pub const BATCH_BYTES_MAX: usize = 512 << 10;

/// The texts in their order, in groups that are as large as they may be.
pub(super) fn batches<'a, 'b>(texts: &'a [(usize, &'b str)]) -> impl Iterator<Item = &'a [(usize, &'b str)]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fitting = rest.iter().take(BATCH_TEXTS_MAX).take_while(|(_, text)| {
            bytes += text.len();
            bytes <= BATCH_BYTES_MAX
        });
        let count = fitting.count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(count);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

/// At most `bytes_max` bytes of a text, cut at a character.
pub(super) fn beginning(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(lengths: &[usize]) -> Vec<usize> {
        let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let texts: Vec<(usize, &str)> = texts.iter().map(String::as_str).enumerate().collect();
        let all: Vec<_> = batches(&texts).collect();
        assert_eq!(all.concat(), texts);
        all.iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn batches_are_full_and_lose_nothing() {
        assert_eq!(sizes(&[]), Vec::<usize>::new());
        assert_eq!(sizes(&[1; 128]), [128]);
        assert_eq!(sizes(&[1; 300]), [128, 128, 44]);
        assert_eq!(sizes(&[BATCH_BYTES_MAX / 2; 5]), [2, 2, 1]);
        assert_eq!(sizes(&[BATCH_BYTES_MAX + 1, 1, BATCH_BYTES_MAX + 1]), [1, 1, 1]);
    }

    #[test]
    fn a_beginning_ends_at_a_character() {
        assert_eq!(beginning("aéb", 2), "a");
        assert_eq!(beginning("aéb", 3), "aé");
        assert_eq!(beginning("aéb", 9), "aéb");
    }
}
