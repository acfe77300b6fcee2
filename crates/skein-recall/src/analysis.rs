//! Text to terms: what the words index keeps, and what a question asks it for.
//!
//! Any script gets something sensible: words by Unicode segmentation, folded and lightly stemmed; scripts written
//! without spaces as single characters and pairs. A question is cut by the same rules, so its text is data: there is no
//! syntax that could mean anything else.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::stem::{is_stop_word, stem};

/// Longest term in bytes; the rest of a longer word is cut off.
const TERM_BYTES_MAX: usize = 64;
/// Terms of one text that are indexed.
pub(crate) const TERMS_MAX: usize = 20_000;

/// One term and the bytes of the text it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) at: Range<usize>,
    /// So common that it says nothing: kept in the index, ignored in questions and lengths.
    pub(crate) is_stop_word: bool,
}

/// Every term of a text, in order.
pub(crate) fn terms(text: &str) -> Vec<Term> {
    let mut found = Vec::new();
    let mut run: Option<Range<usize>> = None;
    for (start, segment) in text.split_word_bound_indices() {
        let end = start + segment.len();
        if segment.chars().next().is_some_and(is_unspaced) {
            run = Some(run.map_or(start, |run| run.start)..end);
        } else {
            pairs(text, run.take(), &mut found);
            word(segment, start, &mut found);
        }
        if found.len() >= TERMS_MAX {
            break;
        }
    }
    pairs(text, run, &mut found);
    found.truncate(TERMS_MAX);
    found
}

/// A word of a question: what it is looked up by, how often it stands there, and as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) term: String,
    pub(crate) times: u32,
    pub(crate) word: String,
    /// Its stems in other languages than English.
    pub(crate) stems: Vec<String>,
}

/// What a question asks for: its telling terms, each once; all of them when none is telling.
pub(crate) fn question(text: &str) -> Vec<QueryTerm> {
    let mut end = text.len().min(QUESTION_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let all = terms(&text[..end]);
    let telling = |place: &usize| !all[*place].is_stop_word && !is_half_of_pair(&all, *place);
    let mut chosen: Vec<usize> = (0..all.len()).filter(telling).collect();
    if chosen.is_empty() {
        chosen = (0..all.len()).collect();
    }
    let mut asked: Vec<QueryTerm> = Vec::new();
    for term in chosen.into_iter().map(|place| &all[place]) {
        if let Some(known) = asked.iter_mut().find(|known| known.term == term.text) {
            known.times += 1;
        } else if asked.len() < QUESTION_TERMS_MAX {
            let word = &text[term.at.clone()];
            let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word);
            asked.push(QueryTerm { term: term.text.clone(), times: 1, word: word.to_owned(), stems: Vec::new() });
        }
    }
    asked
}

/// Different terms of one question that are looked up.
const QUESTION_TERMS_MAX: usize = 64;
/// What stands further in a question is not looked at.
const QUESTION_BYTES_MAX: usize = 16 << 10;

/// A character of an unspaced script that also stands in a pair: the pair says more.
fn is_half_of_pair(all: &[Term], place: usize) -> bool {
    let term = &all[place];
    let beside = &all[place.saturating_sub(1)..all.len().min(place + 2)];
    term.text.chars().next().is_some_and(is_unspaced)
        && beside.iter().any(|other| {
            other.at.len() > term.at.len() && other.at.start <= term.at.start && term.at.end <= other.at.end
        })
}

/// A word of a spaced script, split where marks join what are different words.
fn word(segment: &str, start: usize, found: &mut Vec<Term>) {
    if !segment.chars().any(char::is_alphanumeric) {
        return;
    }
    let is_number = segment.chars().all(|character| character.is_numeric() || matches!(character, '.' | ',' | '_'));
    let is_joint = |character: char| {
        !character.is_alphanumeric() && !is_apostrophe(character) && !is_mark(character) && !is_number
    };
    let mut at = start;
    for part in segment.split_inclusive(is_joint) {
        let bare = part.trim_end_matches(is_joint);
        if bare.chars().any(char::is_alphanumeric) {
            found.push(term(bare, at));
        }
        at += part.len();
    }
}

fn term(word: &str, start: usize) -> Term {
    let at = start..start + word.len();
    let folded = fold(word);
    let owner = folded.strip_suffix("'s").unwrap_or(&folded);
    let mut text: String =
        owner.chars().filter(|character| character.is_alphanumeric() || is_mark(*character)).collect();
    cut(&mut text);
    let is_stop_word = is_stop_word(&text);
    Term { text: stem(text), at, is_stop_word }
}

/// Single characters and pairs of a run without spaces.
fn pairs(text: &str, run: Option<Range<usize>>, found: &mut Vec<Term>) {
    let Some(run) = run else { return };
    let starts: Vec<usize> = text[run.clone()].char_indices().map(|(at, _)| run.start + at).chain([run.end]).collect();
    for (place, bounds) in starts.windows(2).enumerate() {
        if found.len() >= TERMS_MAX {
            return;
        }
        let ends = [Some(bounds[1]), starts.get(place + 2).copied()];
        for end in ends.into_iter().flatten() {
            let at = bounds[0]..end;
            found.push(Term { text: fold(&text[at.clone()]), at, is_stop_word: false });
        }
    }
}

/// Lower case, compatibility forms unified, accents of the European scripts and vowel points left out.
pub(crate) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let plain = word.nfkd().filter(|character| !is_accent(*character));
    plain
        .flat_map(char::to_lowercase)
        .map(|character| if is_apostrophe(character) { '\'' } else { character })
        .nfc()
        .collect()
}

fn cut(text: &mut String) {
    let mut end = text.len().min(TERM_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

pub(crate) fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}' | '\u{02BC}' | '\u{FF07}')
}

/// Latin, Greek and Cyrillic accents, Hebrew and Arabic points.
fn is_accent(character: char) -> bool {
    matches!(u32::from(character), 0x0300..=0x036F | 0x0591..=0x05BD | 0x05BF..=0x05C7 | 0x064B..=0x0652 | 0x0670)
}

/// A sign that belongs to the letter before it.
fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

/// Scripts written without spaces between words, and Hangul, whose particles stick to words.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3041..=0x30FF
        | 0x3130..=0x318F | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F | 0x20000..=0x2FA1F | 0x30000..=0x3134F)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = terms(text).into_iter().map(|term| term.text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_of_spaced_scripts_are_folded_and_split() {
        check("Caroline's café, 10,000 naïve_words", &["carolin", "caf", "10000", "naiv", "word"]);
        check("don\u{2019}t see example.com", &["dont", "see", "exampl", "com"]);
        check("Привет, мир! ΑΘΗΝΑ", &["привет", "мир", "αθηνα"]);
    }

    #[test]
    fn scripts_without_spaces_give_characters_and_pairs() {
        check("黒猫が", &["黒", "黒猫", "猫", "猫が", "が"]);
        check("ok 漢", &["ok", "漢"]);
        assert_eq!(question("黒猫").iter().map(|asked| asked.term.as_str()).collect::<Vec<_>>(), ["黒猫"]);
        assert_eq!(question("猫")[0].term, "猫");
    }

    #[test]
    fn a_question_keeps_its_telling_words_and_counts_them() {
        let dogs = QueryTerm { term: "dog".to_owned(), times: 2, word: "dogs".to_owned(), stems: Vec::new() };
        assert_eq!(question("What did the dogs do with the dog's?"), [dogs]);
        assert!(!question("to be or not to be").is_empty());
    }

    #[test]
    fn hostile_text_is_only_words() {
        assert_eq!(question("text:\"dog\" AND -cat* [a TO b]").len(), 4);
        check("\u{0}\u{7}\u{202e}", &[]);
        assert!(terms(&"a b ".repeat(TERMS_MAX)).len() <= TERMS_MAX);
        assert!(terms(&"x".repeat(1 << 20))[0].text.len() <= TERM_BYTES_MAX);
    }

    #[test]
    fn a_term_knows_its_bytes() {
        let text = "Ein Mädchen";
        let found = terms(text);
        assert_eq!(&text[found[1].at.clone()], "Mädchen");
    }
}
