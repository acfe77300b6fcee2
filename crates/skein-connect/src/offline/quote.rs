//! Puts chosen passages into words: each with its source, neighbours together, whole enough to be understood alone.

use std::fmt::Write as _;

use super::passage::{Author, GivenMaterial, Source};

/// Items that are quoted with the sentence that announces them.
const ANNOUNCED_MAX: usize = 8;

/// What is quoted, and whence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) text: String,
    pub(super) source: Source,
    pub(super) heading: Option<String>,
}

/// Quotes of these passages, in the order given, those that touch put together.
pub(super) fn quotes(given: &GivenMaterial, passages: &[usize]) -> Vec<Quote> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in passages {
        let (first, last) = widened(given, number);
        let touching = ranges.iter_mut().find(|(start, end)| {
            given.passages[*start].source == given.passages[first].source && first <= *end + 1 && *start <= last + 1
        });
        match touching {
            Some(range) => *range = (range.0.min(first), range.1.max(last)),
            None => ranges.push((first, last)),
        }
    }
    ranges.into_iter().map(|(first, last)| quote(given, first, last)).collect()
}

/// One quote for each passage, as it stands.
pub(super) fn single_quotes(given: &GivenMaterial, passages: &[usize]) -> Vec<Quote> {
    passages.iter().map(|number| quote(given, *number, *number)).collect()
}

/// The passage with what it points at or announces.
fn widened(given: &GivenMaterial, number: usize) -> (usize, usize) {
    let passage = &given.passages[number];
    let same_source = |other: usize| given.passages.get(other).is_some_and(|other| other.source == passage.source);
    let first = given.pointed_at(number).unwrap_or(number);
    let mut last = number;
    if passage.text.ends_with(':') {
        let announced = |at: &usize| same_source(*at) && (given.passages[*at].is_line || *at == number + 1);
        last = (number + 1..=number + ANNOUNCED_MAX).take_while(announced).last().unwrap_or(number);
    }
    (first, last)
}

fn quote(given: &GivenMaterial, first: usize, last: usize) -> Quote {
    let mut text = String::new();
    for passage in &given.passages[first..=last] {
        if !text.is_empty() {
            text.push(if passage.is_line { '\n' } else { ' ' });
        }
        let is_item = passage.is_line && last > first && !passage.text.contains('\n');
        text.push_str(if is_item { "- " } else { "" });
        text.push_str(&passage.text);
    }
    let passage = &given.passages[first];
    Quote { text, source: given.source_of(passage).clone(), heading: passage.heading.clone() }
}

/// The quotes as Markdown.
pub(super) fn written(quotes: &[Quote]) -> String {
    let mut text = String::new();
    for quote in quotes {
        let separator = if text.is_empty() { "" } else { "\n\n" };
        let _ = write!(text, "{separator}> {}\n>\n> — {}", quote.text.replace('\n', "\n> "), origin(quote));
    }
    text
}

/// The quotes as a list, with each source named once.
pub(super) fn listed(quotes: &[Quote]) -> String {
    let mut text = String::new();
    let mut last: Option<&Source> = None;
    for quote in quotes {
        if last.is_some_and(|last| *last != quote.source) {
            let _ = write!(text, "\n— {}\n\n", linked(last.expect("seen just above")));
        }
        let heading = quote.heading.as_deref().map_or(String::new(), |heading| format!("**{}**: ", plain(heading)));
        let _ = writeln!(text, "- {heading}{}", quote.text.replace('\n', "\n  "));
        last = Some(&quote.source);
    }
    last.map_or(text.clone(), |last| format!("{text}\n— {}", linked(last)))
}

/// How to introduce these quotes.
pub(super) fn introduction(quotes: &[Quote]) -> String {
    let all_of = |author: Author| quotes.iter().all(|quote| quote.source.author == author);
    match quotes {
        _ if all_of(Author::Person) => "You told me:".to_owned(),
        [first, rest @ ..] if all_of(Author::Attached) && rest.iter().all(|quote| quote.source == first.source) => {
            format!("**{}** says:", plain(&first.source.label))
        }
        _ => "From what I was given:".to_owned(),
    }
}

fn origin(quote: &Quote) -> String {
    match &quote.heading {
        Some(heading) => format!("{}, under “{}”", linked(&quote.source), plain(heading)),
        None => linked(&quote.source),
    }
}

pub(super) fn linked(source: &Source) -> String {
    let label = plain(&source.label);
    match &source.link {
        Some(link) => format!("[{label}]({})", link.replace(' ', "%20").replace('(', "%28").replace(')', "%29")),
        None => label,
    }
}

/// A title without what Markdown would make of it.
fn plain(text: &str) -> String {
    text.replace(['[', ']', '\n', '\r', '*', '`'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}
