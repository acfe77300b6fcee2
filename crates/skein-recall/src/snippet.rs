//! The part of a text that answers, with the words that matched marked.

use std::collections::HashSet;
use std::ops::Range;

use crate::analysis::terms;
use crate::language::Language;

/// Longest snippet in bytes.
const SNIPPET_BYTES_MAX: usize = 240;
/// Only so much of a long text is looked at.
const LOOKED_AT_BYTES_MAX: usize = 64 << 10;
const BEFORE_BYTES: usize = 60;

/// A piece of an episode's text, as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    /// Bytes of `text` that matched, in order, not touching each other.
    pub highlights: Vec<Range<usize>>,
    /// Whether something was left out before or after.
    pub cut_before: bool,
    pub cut_after: bool,
}

/// What a question is looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms(pub(crate) HashSet<String>);

/// The window of `text` that holds most of the wanted terms.
pub fn snippet(text: &str, wanted: &Terms) -> Snippet {
    let looked_at = &text[..floor(text, LOOKED_AT_BYTES_MAX)];
    let language = Language::of(looked_at);
    let matches: Vec<(Range<usize>, String)> = terms(looked_at)
        .into_iter()
        .filter(|term| {
            let stem = || language.and_then(|language| language.stem(&looked_at[term.at.clone()]));
            wanted.0.contains(term.text.as_str()) || stem().is_some_and(|stem| wanted.0.contains(&stem))
        })
        .map(|term| (term.at, term.text))
        .collect();
    let start = best_start(&matches).saturating_sub(BEFORE_BYTES);
    let start = if text.len() <= SNIPPET_BYTES_MAX { 0 } else { word_start(text, start) };
    let end = word_end(text, start);
    let inside = matches.into_iter().map(|(at, _)| at).filter(|at| at.start >= start && at.end <= end);
    let mut highlights: Vec<Range<usize>> = Vec::new();
    for at in inside.map(|at| at.start - start..at.end - start) {
        match highlights.last_mut() {
            Some(last) if at.start <= last.end => last.end = last.end.max(at.end),
            _ => highlights.push(at),
        }
    }
    Snippet { text: text[start..end].to_owned(), highlights, cut_before: start > 0, cut_after: end < text.len() }
}

/// Where the window with the most different terms begins.
fn best_start(matches: &[(Range<usize>, String)]) -> usize {
    let different = |from: usize| {
        let limit = matches[from].0.start + SNIPPET_BYTES_MAX - BEFORE_BYTES;
        let inside = matches[from..].iter().take_while(|(at, _)| at.end <= limit);
        inside.map(|(_, term)| term.as_str()).collect::<HashSet<_>>().len()
    };
    let best = (0..matches.len()).rev().max_by_key(|from| different(*from));
    best.map_or(0, |from| matches[from].0.start)
}

/// The start of the word at or after `at`, or `at` itself in a text without spaces.
fn word_start(text: &str, at: usize) -> usize {
    let at = floor(text, at);
    if at == 0 {
        return 0;
    }
    let window = &text[at..floor(text, at + BEFORE_BYTES)];
    window.find(char::is_whitespace).map_or(at, |space| {
        let rest = &text[at + space..];
        at + space + rest.len() - rest.trim_start().len()
    })
}

fn word_end(text: &str, start: usize) -> usize {
    if text.len() - start <= SNIPPET_BYTES_MAX {
        return text.len();
    }
    let end = floor(text, start + SNIPPET_BYTES_MAX);
    let window = &text[start..end];
    window.rfind(char::is_whitespace).filter(|space| *space > SNIPPET_BYTES_MAX / 2).map_or(end, |space| start + space)
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(terms: &[&str]) -> Terms {
        Terms(terms.iter().map(|term| (*term).to_owned()).collect())
    }

    fn shown(snippet: &Snippet) -> Vec<&str> {
        snippet.highlights.iter().map(|at| &snippet.text[at.clone()]).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole_with_its_matches() {
        let found = snippet("The dogs met a Dog.", &terms_of(&["dog"]));
        assert_eq!(shown(&found), ["dogs", "Dog"]);
        assert!(!found.cut_before && !found.cut_after);
    }

    #[test]
    fn a_long_text_is_cut_around_its_matches() {
        let text = format!("{}the dog met the cat {}", "foo bar ".repeat(100), "baz ".repeat(100));
        let found = snippet(&text, &terms_of(&["dog", "cat"]));
        assert_eq!(shown(&found), ["dog", "cat"]);
        assert!(found.cut_before && found.cut_after && found.text.len() <= SNIPPET_BYTES_MAX);
    }

    #[test]
    fn any_text_gives_a_snippet_of_whole_characters() {
        for text in ["", "\u{0}\u{1F600}", &"漢".repeat(5_000), &"\u{1F600}".repeat(5_000), &"e\u{301}".repeat(5_000)]
        {
            let found = snippet(text, &terms_of(&["漢字", "漢"]));
            assert!(found.text.len() <= SNIPPET_BYTES_MAX, "{}", found.text.len());
        }
    }
}
