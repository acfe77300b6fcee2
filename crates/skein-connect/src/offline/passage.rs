//! Cuts what the model was given into passages that can be quoted: sentences, items of lists, rows, pieces of code.
//!
//! Every passage keeps whence it came, so that nothing is ever quoted without its source.

use unicode_segmentation::UnicodeSegmentation as _;

use super::words::{plain_words, stems};

/// Longer passages are cut for display, in characters.
const QUOTED_CHARACTERS_MAX: usize = 600;
/// What is beyond is not looked at.
const PASSAGES_MAX: usize = 20_000;
/// A shorter line that is followed by a capital is a line of its own, not the start of wrapped prose.
const WRAPPED_LINE_MIN: usize = 60;

const ABBREVIATIONS: [&str; 24] = [
    "mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "vs.", "etc.", "e.g.", "i.e.", "no.", "nr.", "fig.", "inc.", "ltd.",
    "jr.", "sr.", "approx.", "z.b.", "bzw.", "ca.", "jan.", "feb.", "dept.",
];

/// Words that point at the sentence before.
const POINTING: [&str; 14] =
    ["it", "he", "she", "they", "this", "that", "these", "those", "but", "however", "so", "therefore", "then", "there"];

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    Person,
    Model,
    Attached,
    Tool,
    Instructions,
}

/// Where a passage came from, as the reader is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) author: Author,
    pub(super) label: String,
    pub(super) link: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Passage {
    /// The number of its source.
    pub(super) source: usize,
    pub(super) text: String,
    pub(super) heading: Option<String>,
    pub(super) stems: Vec<String>,
    /// Whether it opens its paragraph.
    pub(super) is_opening: bool,
    /// Whether it is a line of its own: an item of a list, a row, a piece of code.
    pub(super) is_line: bool,
    pub(super) is_question: bool,
}

/// Everything that can be quoted, in the order it was given.
#[derive(Debug, Default)]
pub(super) struct GivenMaterial {
    pub(super) sources: Vec<Source>,
    pub(super) passages: Vec<Passage>,
}

impl GivenMaterial {
    /// Adds a text; its passages are numbered on from those before.
    pub(super) fn add(&mut self, source: Source, text: &str) {
        let number = self.sources.len();
        self.sources.push(source);
        let room = PASSAGES_MAX.saturating_sub(self.passages.len());
        let passages = cut(text).into_iter().take(room);
        self.passages.extend(passages.map(|passage| Passage { source: number, ..passage }));
    }

    /// The passage before, when this one points at it and means little without.
    pub(super) fn pointed_at(&self, number: usize) -> Option<usize> {
        let passage = &self.passages[number];
        let before = number.checked_sub(1).filter(|before| self.passages[*before].source == passage.source)?;
        let first_word = plain_words(&passage.text).into_iter().next()?;
        let points = POINTING.contains(&first_word.as_str()) && !passage.is_opening && !passage.is_line;
        points.then_some(before)
    }

    pub(super) fn source_of(&self, passage: &Passage) -> &Source {
        &self.sources[passage.source]
    }
}

/// The passages of one text.
pub(super) fn cut(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    for line in text.lines() {
        cutter.take_line(line);
    }
    cutter.end_code();
    cutter.end_paragraph();
    cutter.passages
}

#[derive(Default)]
struct Cutter {
    passages: Vec<Passage>,
    heading: Option<String>,
    paragraph: String,
    code: Option<String>,
}

impl Cutter {
    fn take_line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            self.end_paragraph();
            if self.code.is_some() { self.end_code() } else { self.code = Some(String::new()) }
        } else if let Some(code) = &mut self.code {
            code.push_str(line);
            code.push('\n');
        } else if trimmed.is_empty() || is_rule(trimmed) {
            self.end_paragraph();
        } else if let Some(heading) = heading(trimmed) {
            self.end_paragraph();
            self.heading = Some(heading.to_owned());
        } else if is_item(trimmed) || trimmed.starts_with('|') {
            self.end_paragraph();
            self.paragraph.push_str(trimmed);
            self.end_item();
        } else {
            self.take_prose(trimmed);
        }
    }

    fn take_prose(&mut self, line: &str) {
        let stands_alone = self.paragraph.lines().last().is_some_and(|last| {
            let next = line.chars().next();
            last.chars().count() < WRAPPED_LINE_MIN && next.is_some_and(|next| next.is_uppercase() || next.is_numeric())
        });
        if stands_alone {
            self.end_paragraph();
        }
        if !self.paragraph.is_empty() {
            self.paragraph.push('\n');
        }
        self.paragraph.push_str(line);
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph).replace('\n', " ");
        for (number, sentence) in sentences(&paragraph).iter().enumerate() {
            self.push(sentence, number == 0, false);
        }
    }

    fn end_item(&mut self) {
        let item = std::mem::take(&mut self.paragraph);
        self.push(without_mark(&item), false, true);
    }

    fn end_code(&mut self) {
        if let Some(code) = self.code.take().filter(|code| !code.trim().is_empty()) {
            self.push(code.trim_end(), false, true);
        }
    }

    fn push(&mut self, text: &str, is_opening: bool, is_line: bool) {
        let stems = stems(text);
        // A quote of a quote belongs to its author.
        let text = text.trim_start_matches('>').trim();
        if text.chars().any(char::is_alphanumeric) {
            let (text, heading) = (shortened(text), self.heading.clone());
            let is_question = is_question(&text);
            self.passages.push(Passage { source: 0, text, heading, stems, is_opening, is_line, is_question });
        }
    }
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|each| matches!(each, '-' | '=' | '*' | '_' | '|' | ':' | ' '))
}

fn heading(line: &str) -> Option<&str> {
    let marked = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
    let bold = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")).filter(|rest| !rest.contains("**"));
    marked.or(bold).filter(|heading| !heading.is_empty())
}

fn is_item(line: &str) -> bool {
    without_mark(line).len() < line.len()
}

/// An item of a list without the mark in front of it.
pub(super) fn without_mark(line: &str) -> &str {
    let number = line.trim_start_matches(|each: char| each.is_ascii_digit());
    let after_number = number.strip_prefix(". ").or_else(|| number.strip_prefix(") "));
    let counted = after_number.filter(|_| number.len() < line.len() && line.len() - number.len() <= 3);
    let bullet = ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "– "].iter().find_map(|mark| line.strip_prefix(mark));
    bullet.or(counted).unwrap_or(line)
}

/// The sentences of a paragraph. Unicode's rule ends one at an abbreviation; those are joined again.
pub(super) fn sentences(paragraph: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for piece in paragraph.split_sentence_bounds() {
        match sentences.last_mut() {
            Some(last) if ends_in_abbreviation(last) => last.push_str(piece),
            _ => sentences.push(piece.to_owned()),
        }
    }
    sentences.iter().map(|sentence| sentence.trim().to_owned()).filter(|sentence| !sentence.is_empty()).collect()
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let last =
        sentence.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches(['(', '"', '“']);
    let is_initial =
        last.chars().count() == 2 && last.starts_with(char::is_uppercase) && last.ends_with('.') && last != "I.";
    is_initial || ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

fn is_question(text: &str) -> bool {
    let end = text.trim_end_matches(['"', '”', '»', ')', '*', '_', ' ']);
    end.ends_with(['?', '？', '؟']) || end.ends_with("ですか。") || end.ends_with("ますか。") || end.ends_with("吗。")
}

fn shortened(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(QUOTED_CHARACTERS_MAX) else { return text.to_owned() };
    let cut = text[..cut].rfind(char::is_whitespace).unwrap_or(cut);
    format!("{} …", text[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::cut;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(cut(text).iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn prose_is_cut_into_sentences() {
        check(
            "Dr. Ana Bo met J. Smith at 3.30 p.m. on Monday. It rained!",
            &["Dr. Ana Bo met J. Smith at 3.30 p.m. on Monday.", "It rained!"],
        );
        check("今日は雨です。明日は晴れです。", &["今日は雨です。", "明日は晴れです。"]);
    }

    #[test]
    fn wrapped_lines_are_joined_and_short_ones_are_not() {
        let wrapped =
            "The lighthouse was built in the year eighteen hundred and forty\nby a man nobody remembers. It stands.";
        check(
            wrapped,
            &[
                "The lighthouse was built in the year eighteen hundred and forty by a man nobody remembers.",
                "It stands.",
            ],
        );
        check("Buy milk\nCall Bo", &["Buy milk", "Call Bo"]);
    }

    #[test]
    fn lists_rows_headings_and_code_are_told_apart() {
        let text = "# Plan\n\n1. Paint\n- [ ] Sand\n\n| who | when |\n|---|---|\n| Bo | May |\n\n```rust\nlet x = 1;\nlet y;\n```\nEnd.";
        check(text, &["Paint", "Sand", "| who | when |", "| Bo | May |", "let x = 1;\nlet y;", "End."]);
        assert!(cut(text).iter().all(|passage| passage.heading.as_deref() == Some("Plan")));
    }

    #[test]
    fn questions_are_known_and_long_passages_shortened() {
        let found = cut("Is it? It is. 本当ですか。");
        assert_eq!(found.iter().map(|passage| passage.is_question).collect::<Vec<_>>(), [true, false, true]);
        assert!(cut(&"word ".repeat(500))[0].text.ends_with(" …"));
    }
}
