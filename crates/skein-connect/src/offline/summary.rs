//! Chooses the sentences that stand for a text: central, early, and not saying the same thing twice.

use std::collections::BTreeMap;

use super::passage::{GivenMaterial, Passage};

const CENTRALITY_SHARE: f64 = 0.6;
const OPENING_SHARE: f64 = 0.15;
const EARLY_SHARE: f64 = 0.25;
/// Two passages more alike than this say the same thing.
const ALIKE: f64 = 0.55;
/// Sentences with fewer words of matter seldom say anything alone, those with more say too much.
const MATTER_WORDS: std::ops::RangeInclusive<usize> = 3..=40;

/// What is left of the score of a passage that does not stand alone.
const UNFIT_SHARE: f64 = 0.4;

/// What another sentence of a section that is already spoken for is worth.
const SAME_SECTION_SHARE: f64 = 0.75;

const SENTENCES_MIN: usize = 3;
const SENTENCES_MAX: usize = 7;

const TIMES: &str = "january february march april may june july august september october november december monday tuesday \
    wednesday thursday friday saturday sunday today tomorrow yesterday week month year update montag dienstag mittwoch \
    donnerstag freitag samstag sonntag uhr lives";

type Vector = BTreeMap<String, f64>;

/// How many sentences stand for this many.
pub(super) fn length_for(passages: usize) -> usize {
    (2 * passages).isqrt().clamp(SENTENCES_MIN, SENTENCES_MAX)
}

/// Those of the candidates that stand for all of them, in their order.
pub(super) fn choose(given: &GivenMaterial, candidates: &[usize], count: usize) -> Vec<usize> {
    let vectors = vectors(given, candidates);
    let middle = sum(&vectors);
    let mut first_of_source: BTreeMap<usize, usize> = BTreeMap::new();
    let mut scored: Vec<(usize, f64)> = Vec::with_capacity(candidates.len());
    for (at, number) in candidates.iter().enumerate() {
        let passage = &given.passages[*number];
        let first = *first_of_source.entry(passage.source).or_insert(at);
        scored.push((at, score(passage, at - first, cosine(&vectors[at], &middle))));
    }
    let mut chosen: Vec<usize> = Vec::new();
    while let Some(next) = best(&scored, |at| {
        let passage = &given.passages[candidates[at]];
        let same_section = chosen.iter().filter(|other| {
            let other = &given.passages[candidates[**other]];
            passage.heading.is_some() && other.source == passage.source && other.heading == passage.heading
        });
        SAME_SECTION_SHARE.powi(i32::try_from(same_section.count()).unwrap_or(i32::MAX))
    }) {
        scored.retain(|(at, _)| *at != next);
        let says_it_again = chosen.iter().any(|other| cosine(&vectors[next], &vectors[*other]) > ALIKE);
        if !says_it_again {
            chosen.push(next);
        }
        if chosen.len() >= count {
            break;
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| candidates[at]).collect()
}

/// The candidate with the highest score after discounts; of equals the earliest.
fn best(scored: &[(usize, f64)], discount: impl Fn(usize) -> f64) -> Option<usize> {
    let discounted = scored.iter().map(|(at, score)| (*at, score * discount(*at)));
    discounted.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0))).map(|(at, _)| at)
}

/// The words of a text that stand out, as they are written, most telling first.
pub(super) fn key_words(given: &GivenMaterial, count: usize, may_use: impl Fn(&Passage) -> bool) -> Vec<String> {
    let mut tally: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for passage in given.passages.iter().filter(|passage| may_use(passage)) {
        for (position, word) in super::words::words(&passage.text).into_iter().enumerate() {
            let written = &passage.text[word.start..word.end];
            let is_name = position > 0 && written.starts_with(char::is_uppercase);
            let length = written.chars().count();
            if length < 3 || !is_telling(&word.stem, written) {
                continue;
            }
            let weight = 1.0 + if is_name { 1.0 } else { 0.0 } + if length > 6 { 0.3 } else { 0.0 };
            let entry = tally.entry(word.stem).or_insert_with(|| (0.0, written.to_owned()));
            entry.0 += weight;
        }
    }
    let mut tallied: Vec<(f64, String)> = tally.into_values().collect();
    tallied.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    tallied.into_iter().take(count).map(|(_, written)| written).collect()
}

/// Whether a word alone tells what a text is about: no times, no numbers, no forms of verbs.
fn is_telling(stem: &str, written: &str) -> bool {
    let lower = written.to_lowercase();
    let is_time = TIMES.split_whitespace().any(|time| time == lower);
    let is_verb_form =
        ["ing", "ed"].iter().any(|ending| lower.ends_with(ending)) && !written.starts_with(char::is_uppercase);
    !is_time && !is_verb_form && !super::words::is_asking_word(stem) && !written.chars().any(char::is_numeric)
}

/// How alike two passages are, from 0 to 1.
pub(super) fn likeness(one: &Passage, other: &Passage) -> f64 {
    cosine(&counted(one), &counted(other))
}

fn counted(passage: &Passage) -> Vector {
    let mut vector = Vector::new();
    for stem in &passage.stems {
        *vector.entry(stem.clone()).or_default() += 1.0;
    }
    vector
}

fn vectors(given: &GivenMaterial, candidates: &[usize]) -> Vec<Vector> {
    let mut vectors: Vec<Vector> = candidates.iter().map(|number| counted(&given.passages[*number])).collect();
    let mut spread: BTreeMap<String, f64> = BTreeMap::new();
    for stem in vectors.iter().flat_map(BTreeMap::keys) {
        *spread.entry(stem.clone()).or_default() += 1.0;
    }
    let all = as_float(vectors.len());
    for vector in &mut vectors {
        for (stem, count) in vector.iter_mut() {
            // A word in one sentence alone binds nothing together; one in every sentence tells nothing.
            *count *= (1.0 + all / spread[stem]).ln();
        }
    }
    vectors
}

fn sum(vectors: &[Vector]) -> Vector {
    let mut middle = Vector::new();
    for (stem, weight) in vectors.iter().flatten() {
        *middle.entry(stem.clone()).or_default() += weight;
    }
    middle
}

fn score(passage: &Passage, after_first: usize, centrality: f64) -> f64 {
    let opening = if passage.is_opening { 1.0 } else { 0.0 };
    let early = 1.0 / (1.0 + as_float(after_first) / 4.0);
    let whole = CENTRALITY_SHARE * centrality + OPENING_SHARE * opening + EARLY_SHARE * early;
    let stands_alone = !passage.is_question && MATTER_WORDS.contains(&passage.stems.len());
    if stands_alone { whole } else { whole * UNFIT_SHARE }
}

fn cosine(one: &Vector, other: &Vector) -> f64 {
    let product: f64 = one.iter().map(|(stem, weight)| weight * other.get(stem).copied().unwrap_or(0.0)).sum();
    let length = |vector: &Vector| vector.values().map(|weight| weight * weight).sum::<f64>().sqrt();
    let lengths = length(one) * length(other);
    if lengths == 0.0 { 0.0 } else { product / lengths }
}

#[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^52")]
fn as_float(count: usize) -> f64 {
    count as f64
}
