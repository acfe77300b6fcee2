//! Compares two texts, and two paths.
//!
//! Texts are compared word by word. The work is bounded by their size alone, so that no pair of texts takes long: where
//! too many words differ, whole lines are compared, and where even those are too many, the differing middle is one
//! piece. A coarse answer is still a right one, and says that it is coarse.

use std::ops::Range;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tree::spelled_enum::words;

/// Most words, of both texts together, that are compared with each other at once. The work grows with the square.
const WORDS_MAX: usize = 8_000;
/// Most words compared in all, where lines were compared first.
const REFINED_WORDS_MAX: usize = 32_000;
/// Most lines, of both texts together.
const LINES_MAX: usize = 8_000;

words! {
    RunKind {
        Equal = "equal",
        Added = "added",
        Removed = "removed",
    }
}

words! {
    /// The smallest pieces that were compared everywhere.
    Precision {
        Words = "words",
        Lines = "lines",
        /// Beginning and end only; everything between counts as replaced.
        Whole = "whole",
    }
}

/// A stretch of text that both have, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TextSpan<'a> {
    pub kind: RunKind,
    pub text: &'a str,
}

/// What one text has that another has not. Equal and removed runs make up the old text, equal and added the new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextComparison<'a> {
    pub runs: Vec<TextSpan<'a>>,
    pub precision: Precision,
}

/// Compares two texts, white space included.
pub fn compare_texts<'a>(old: &'a str, new: &'a str) -> TextComparison<'a> {
    let (old_words, new_words): (Vec<&str>, Vec<&str>) =
        (old.split_word_bounds().collect(), new.split_word_bounds().collect());
    let (begin, end) = common_ends(&old_words, &new_words);
    let begin_bytes = bytes(&old_words[..begin]);
    let (old_words, new_words) = (&old_words[begin..old_words.len() - end], &new_words[begin..new_words.len() - end]);
    let (old_bytes, new_bytes) = (bytes(old_words), bytes(new_words));
    let mut runs = Runs::new(old, new);
    runs.equal(begin_bytes);
    let precision = if old_words.len() + new_words.len() <= WORDS_MAX {
        runs.compare(old_words, new_words, Runs::replace);
        Precision::Words
    } else {
        compare_lines(&mut runs, &old[begin_bytes..begin_bytes + old_bytes], &new[begin_bytes..begin_bytes + new_bytes])
    };
    runs.equal(old.len() - begin_bytes - old_bytes);
    TextComparison { runs: runs.finish(), precision }
}

/// Two paths: what they have in common from the root on, and what each has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PathComparison<'a, T> {
    pub common: &'a [T],
    pub left: &'a [T],
    pub right: &'a [T],
}

/// Compares two paths by what identifies their nodes.
pub fn compare_paths<'a, T, K: PartialEq>(
    left: &'a [T],
    right: &'a [T],
    key: impl Fn(&T) -> K,
) -> PathComparison<'a, T> {
    let shared = left.iter().zip(right).take_while(|(left, right)| key(left) == key(right)).count();
    PathComparison { common: &left[..shared], left: &left[shared..], right: &right[shared..] }
}

/// Compares lines first, and words where lines were replaced, as far as that goes.
fn compare_lines<'a>(runs: &mut Runs<'a>, old: &'a str, new: &'a str) -> Precision {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    if old_lines.len() + new_lines.len() > LINES_MAX {
        runs.replace(&old_lines, &new_lines);
        return Precision::Whole;
    }
    let mut precision = if old_lines.len() + new_lines.len() > 2 { Precision::Words } else { Precision::Whole };
    let mut words_left = REFINED_WORDS_MAX;
    runs.compare(&old_lines, &new_lines, |runs, old, new| {
        let split =
            |lines: &[&'a str]| lines.iter().flat_map(|line| line.split_word_bounds()).collect::<Vec<&'a str>>();
        let (old_words, new_words) = (split(old), split(new));
        let count = old_words.len() + new_words.len();
        if count <= WORDS_MAX.min(words_left) {
            words_left -= count;
            runs.compare(&old_words, &new_words, Runs::replace);
        } else {
            precision = precision.max(Precision::Lines);
            runs.replace(old, new);
        }
    });
    precision
}

/// How many pieces both begin and end with, without counting any twice.
fn common_ends(old: &[&str], new: &[&str]) -> (usize, usize) {
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(|(old, new)| old == new).count();
    (begin, end)
}

fn bytes(pieces: &[&str]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// Runs as they come off two texts, read from their beginnings to their ends.
struct Runs<'a> {
    old: &'a str,
    new: &'a str,
    done: Vec<TextSpan<'a>>,
    /// What was read and is in no run yet: removed here, added there, or equal in both.
    removed: Range<usize>,
    added: Range<usize>,
    equal: Range<usize>,
}

impl<'a> Runs<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        Self { old, new, done: Vec::new(), removed: 0..0, added: 0..0, equal: 0..0 }
    }

    fn equal(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.flush_changes();
        self.equal.end += bytes;
        self.removed = self.removed.end + bytes..self.removed.end + bytes;
        self.added = self.equal.end..self.equal.end;
    }

    fn replace(&mut self, old: &[&str], new: &[&str]) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        self.push(RunKind::Equal, &self.new[self.equal.clone()]);
        self.removed.end += bytes(old);
        self.added.end += bytes(new);
        self.equal = self.added.end..self.added.end;
    }

    /// Compares pieces, leaving to `replaced` what stands in the place of something else.
    fn compare(
        &mut self,
        old: &[&'a str],
        new: &[&'a str],
        mut replaced: impl FnMut(&mut Self, &[&'a str], &[&'a str]),
    ) {
        for op in capture_diff_slices(Algorithm::Myers, old, new) {
            let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
            match op {
                DiffOp::Equal { .. } => self.equal(bytes(new)),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } => self.replace(old, new),
                DiffOp::Replace { .. } => replaced(self, old, new),
            }
        }
    }

    fn flush_changes(&mut self) {
        self.push(RunKind::Removed, &self.old[self.removed.clone()]);
        self.push(RunKind::Added, &self.new[self.added.clone()]);
    }

    fn push(&mut self, kind: RunKind, text: &'a str) {
        if !text.is_empty() {
            self.done.push(TextSpan { kind, text });
        }
    }

    fn finish(mut self) -> Vec<TextSpan<'a>> {
        self.flush_changes();
        self.push(RunKind::Equal, &self.new[self.equal.clone()]);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let mark = |run: &TextSpan<'_>| match run.kind {
            RunKind::Equal => run.text.to_owned(),
            RunKind::Added => format!("{{+{}+}}", run.text),
            RunKind::Removed => format!("[-{}-]", run.text),
        };
        compare_texts(old, new).runs.iter().map(mark).collect()
    }

    fn sides(comparison: &TextComparison<'_>) -> (String, String) {
        let join = |kind| {
            let runs = comparison.runs.iter().filter(|run| [RunKind::Equal, kind].contains(&run.kind));
            runs.map(|run| run.text).collect::<String>()
        };
        (join(RunKind::Removed), join(RunKind::Added))
    }

    fn check(old: &str, new: &str, precision: Precision) {
        let comparison = compare_texts(old, new);
        assert_eq!(comparison.precision, precision);
        assert!(sides(&comparison) == (old.to_owned(), new.to_owned()), "the runs are not the texts");
    }

    #[test]
    fn words_are_compared_and_white_space_is_kept() {
        assert_eq!(shown("The quick fox", "The slow fox"), "The [-quick-]{+slow+} fox");
        assert_eq!(shown("can't  stop", "can't stop"), "can't[-  -]{+ +}stop");
        assert_eq!(shown("Grüße, 日本", "Grüße, 日本!"), "Grüße, 日本{+!+}");
        assert_eq!(shown("a b c", "a b c"), "a b c");
        assert_eq!((shown("", ""), shown("x", ""), shown("", "x")), (String::new(), "[-x-]".into(), "{+x+}".into()));
        assert_eq!(shown("one two", "two one two"), "{+two +}one two");
    }

    #[test]
    fn large_texts_with_a_small_change_are_compared_by_words() {
        let old = "all the same words again and again\n".repeat(20_000);
        let new = old.replacen("words", "things", 1).replacen("again\n", "over\n", 3);
        check(&old, &new, Precision::Words);
    }

    #[test]
    fn texts_that_differ_everywhere_are_compared_coarsely() {
        let numbered =
            |word, modulus| (0..60_000).map(|n| format!("{word}{} ", n % modulus)).collect::<Vec<_>>().concat();
        let (old, new) = (numbered("old", 977), numbered("new", 991));
        check(&old, &new, Precision::Whole);
        check(&old.replace("old976 ", "\n"), &new.replace("new990 ", "\n"), Precision::Lines);
        check(&old.replace(' ', "\n"), &new.replace(' ', "\n"), Precision::Whole);
    }

    #[test]
    fn the_dearest_pair_of_texts_is_cheap_enough() {
        let mut state = 1_u64;
        let mut draw = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if state >> 63 == 0 { "a " } else { "b " }
        };
        let (old, new): (String, String) =
            ((0..WORDS_MAX / 4).map(&mut draw).collect(), (0..WORDS_MAX / 4).map(&mut draw).collect());
        check(&old, &new, Precision::Words);
    }

    #[test]
    fn paths_share_a_beginning() {
        let compared = compare_paths(&[1, 2, 3], &[1, 2, 4, 3], |node| *node);
        assert_eq!((compared.common, compared.left, compared.right), (&[1, 2][..], &[3][..], &[4, 3][..]));
        assert_eq!(compare_paths(&[1], &[1], |node| *node).left, &[] as &[i32]);
    }

    proptest! {
        #[test]
        fn the_runs_make_up_both_texts(old in "[ab é\n]{0,60}", new in "[ab é\n]{0,60}") {
            let comparison = compare_texts(&old, &new);
            prop_assert_eq!(sides(&comparison), (old.clone(), new.clone()));
            prop_assert!(comparison.runs.windows(2).all(|pair| pair[0].kind != pair[1].kind));
        }
    }
}
