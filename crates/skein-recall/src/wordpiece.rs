//! Cuts text into the pieces of a `WordPiece` vocabulary, as the model behind the built-in table does.
//!
//! Written here rather than taken from the `tokenizers` crate: greedy longest match over one vocabulary is a page of
//! code, and that crate brings two dozen packages for trainers, regular expressions and formats nobody needs here.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word of more characters is unknown, as in the model.
const WORD_CHARS_MAX: usize = 100;
const CONTINUED: &str = "##";

/// A vocabulary, borrowed from the asset.
pub(crate) struct WordPiece {
    starts: HashMap<&'static str, u32>,
    continuations: HashMap<&'static str, u32>,
}

impl WordPiece {
    /// Ids are the places in the list.
    pub(crate) fn new(vocabulary: impl Iterator<Item = &'static str>) -> Self {
        let (mut starts, mut continuations) = (HashMap::new(), HashMap::new());
        for (id, piece) in (0..).zip(vocabulary) {
            match piece.strip_prefix(CONTINUED) {
                Some(rest) if !rest.is_empty() => continuations.insert(rest, id),
                _ => starts.insert(piece, id),
            };
        }
        Self { starts, continuations }
    }

    /// The pieces of the first `limit` known ones; words that cannot be cut leave nothing.
    pub(crate) fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut pieces = Vec::new();
        let mut word = String::new();
        for character in text.nfd().filter(|character| !is_combining_mark(*character)) {
            if character.is_alphanumeric() && !stands_alone(character) {
                word.extend(character.to_lowercase());
                continue;
            }
            self.cut(&mut word, &mut pieces);
            if pieces.len() >= limit {
                break;
            }
            if !character.is_whitespace() && !character.is_control() {
                word.push(character);
                self.cut(&mut word, &mut pieces);
            }
        }
        self.cut(&mut word, &mut pieces);
        pieces.truncate(limit);
        pieces
    }

    /// Greedy: the longest known beginning, then the longest known continuation. Empties the word.
    fn cut(&self, word: &mut String, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let mut rest = word.as_str();
        if word.chars().count() > WORD_CHARS_MAX {
            rest = "";
        }
        while !rest.is_empty() {
            let known = if rest.len() == word.len() { &self.starts } else { &self.continuations };
            let mut found = rest.char_indices().rev().map(|(at, character)| at + character.len_utf8());
            let found = found.find_map(|end| known.get(&rest[..end]).map(|id| (end, *id)));
            let Some((end, id)) = found else {
                pieces.truncate(before);
                break;
            };
            pieces.push(id);
            rest = &rest[end..];
        }
        word.clear();
    }
}

/// Characters that are words of their own.
fn stands_alone(character: char) -> bool {
    matches!(u32::from(character),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
