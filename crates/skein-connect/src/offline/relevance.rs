//! Ranks passages by how much of a question they speak of.
//!
//! The measure is BM25 over passages: rare words weigh more, repetition counts less and less, long passages are
//! held back. Three things are added because passages are short: the heading above and the sentence before lend their
//! words at a discount, words nobody used are looked for under near spellings and kindred words, and a passage with
//! the kind of thing a question asks for (a time, a number, a name) goes first. Start at [`Ranking::of`].

use std::collections::{BTreeMap, BTreeSet};

use super::passage::{Author, GivenMaterial, Passage};
use super::words::{is_asking_word, stemmed, words};

const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.5;
const HEADING_SHARE: f64 = 0.7;
const BEFORE_SHARE: f64 = 0.35;
const ASKING_WEIGHT: f64 = 0.2;
const KINDRED_WEIGHT: f64 = 0.8;
const NEAR_WEIGHT: f64 = 0.7;
const CARRIED_WEIGHT: f64 = 0.5;
const FITTING_BONUS: f64 = 1.3;
/// Added to the count of passages, so that a word found once among three still counts as rare.
const PASSAGES_IMAGINED: usize = 20;
/// How much later statements are preferred over the first: what people say last is more often what holds.
const LATER_BONUS: f64 = 0.3;

/// Words that ask for one another.
const KINDRED: [&str; 16] = [
    "name called call",
    "buy bought purchase paid pay price",
    "drink drinks tea coffee",
    "decide decision decided agreed agree chose chosen settled conclusion",
    "deadline due",
    "price cost costs budget expensive",
    "start begin began begins starts launch",
    "end finish finished ends",
    "task todo action tasks actions",
    "live lives home based",
    "job work works profession",
    "birthday born",
    "problem issue bug trouble",
    "meet meeting appointment",
    "like love prefer favourite favorite",
    "allergic allergy allergies",
];

/// What kind of thing a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WantedAnswer {
    Time,
    Place,
    Person,
    Number,
    Reason,
    Anything,
}

/// A question made ready for ranking.
#[derive(Debug, Clone)]
pub(super) struct Question {
    terms: Vec<Term>,
    /// Words carried over from the question before, which help to rank and are not required.
    carried: Vec<String>,
    wanted: WantedAnswer,
}

#[derive(Debug, Clone)]
struct Term {
    stem: String,
    /// As it was written.
    word: String,
    weight: f64,
}

impl Question {
    pub(super) fn new(text: &str) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        for word in words(text) {
            if terms.iter().all(|term| term.stem != word.stem) {
                let weight = if is_asking_word(&word.stem) { ASKING_WEIGHT } else { 1.0 };
                terms.push(Term { word: text[word.start..word.end].to_owned(), stem: word.stem, weight });
            }
        }
        Self { terms, carried: Vec::new(), wanted: wanted(text) }
    }

    /// The question with the matter of the one before, for those that only point back.
    pub(super) fn after(mut self, before: &Self) -> Self {
        self.carried = before.terms.iter().filter(|term| term.weight >= 1.0).map(|term| term.stem.clone()).collect();
        self
    }

    /// How many words it has that say what it is about.
    pub(super) fn matter(&self) -> usize {
        self.terms.iter().filter(|term| term.weight >= 1.0).count()
    }

    /// Whether a title holds one of its words.
    pub(super) fn names(&self, title: &str) -> bool {
        let title = super::words::stems(title);
        self.terms.iter().any(|term| term.weight >= 1.0 && title.contains(&term.stem))
    }

    /// The question without these words.
    pub(super) fn without(mut self, stems: &[&str]) -> Self {
        self.terms.retain(|term| !stems.iter().any(|stem| stemmed(stem) == term.stem));
        self
    }
}

/// One passage and how well it fits.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    pub(super) passage: usize,
    pub(super) score: f64,
    /// Whether it holds the kind of thing the question asks for.
    pub(super) is_fitting: bool,
    /// Which terms of the question it speaks of.
    terms: BTreeSet<usize>,
}

/// The passages that speak of a question, best first.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) ranked: Vec<Ranked>,
    /// The weight of each term: how rare it is.
    weights: Vec<f64>,
    /// Words of the question that nothing given holds.
    pub(super) missing: Vec<String>,
}

impl Ranking {
    pub(super) fn of(question: &Question, given: &GivenMaterial, may_quote: impl Fn(&Passage) -> bool) -> Self {
        let index = Index::of(given);
        let alternatives: Vec<Vec<(String, f64)>> =
            question.terms.iter().map(|term| index.alternatives(&term.stem)).collect();
        let terms = question.terms.iter().zip(&alternatives);
        let weights: Vec<f64> = terms.map(|(term, forms)| term.weight * index.rarity(forms)).collect();
        let missing = question.terms.iter().zip(&alternatives);
        let missing = missing.filter(|(term, forms)| forms.is_empty() && term.weight >= 1.0);
        let missing = missing.map(|(term, _)| term.word.clone()).collect();
        let quotable = given.passages.iter().enumerate().filter(|(_, passage)| may_quote(passage));
        let mut ranked: Vec<Ranked> = quotable
            .filter_map(|(number, passage)| {
                let mut ranked = index.rank(number, question, &alternatives, &weights)?;
                ranked.is_fitting = fits(question.wanted, &passage.text);
                ranked.score *= bonus(ranked.is_fitting, passage, given);
                Some(ranked)
            })
            .collect();
        ranked.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.passage.cmp(&other.passage)));
        Self { ranked, weights, missing }
    }

    /// The section whose heading says what the question is about.
    pub(super) fn section(&self, question: &Question, given: &GivenMaterial) -> Vec<usize> {
        let stems: Vec<&String> =
            question.terms.iter().filter(|term| term.weight >= 1.0).map(|term| &term.stem).collect();
        let is_named = |passage: &Passage| {
            let heading = passage.heading.as_deref().map(super::words::stems).unwrap_or_default();
            !stems.is_empty() && stems.iter().all(|stem| heading.contains(stem))
        };
        let mut section: Vec<usize> = self.ranked.iter().map(|ranked| ranked.passage).collect();
        section.retain(|number| is_named(&given.passages[*number]));
        section.sort_unstable();
        section
    }

    /// What share of the question these passages speak of together.
    pub(super) fn coverage(&self, passages: &[&Ranked]) -> f64 {
        let told: BTreeSet<usize> = passages.iter().flat_map(|ranked| ranked.terms.iter().copied()).collect();
        let all: f64 = self.weights.iter().sum();
        if all == 0.0 { 0.0 } else { told.iter().map(|term| self.weights[*term]).sum::<f64>() / all }
    }
}

/// Counts over all passages.
struct Index {
    /// For every passage its words and how much each counts there.
    passages: Vec<BTreeMap<String, f64>>,
    lengths: Vec<f64>,
    mean_length: f64,
    /// In how many passages a word stands.
    spread: BTreeMap<String, usize>,
}

impl Index {
    fn of(given: &GivenMaterial) -> Self {
        let mut passages: Vec<BTreeMap<String, f64>> = Vec::with_capacity(given.passages.len());
        for (number, passage) in given.passages.iter().enumerate() {
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            for stem in &passage.stems {
                *counts.entry(stem.clone()).or_default() += 1.0;
            }
            for (stems, share) in lenders(given, number) {
                for stem in stems {
                    counts.entry(stem).or_insert(share);
                }
            }
            passages.push(counts);
        }
        let lengths: Vec<f64> = given.passages.iter().map(|passage| as_float(passage.stems.len())).collect();
        let mean_length = (lengths.iter().sum::<f64>() / as_float(lengths.len().max(1))).max(1.0);
        let mut spread: BTreeMap<String, usize> = BTreeMap::new();
        for stem in passages.iter().flat_map(BTreeMap::keys) {
            *spread.entry(stem.clone()).or_default() += 1;
        }
        Self { passages, lengths, mean_length, spread }
    }

    /// The forms under which a word is found, each with what it is worth.
    fn alternatives(&self, stem: &str) -> Vec<(String, f64)> {
        let mut forms: Vec<(String, f64)> = Vec::new();
        if self.spread.contains_key(stem) {
            forms.push((stem.to_owned(), 1.0));
        }
        for group in KINDRED {
            let kin: Vec<String> = group.split_whitespace().map(stemmed).collect();
            if kin.iter().any(|each| each == stem) {
                let others = kin.into_iter().filter(|each| each != stem && self.spread.contains_key(each));
                forms.extend(others.map(|each| (each, KINDRED_WEIGHT)));
            }
        }
        if forms.is_empty() {
            let near = self.spread.keys().filter(|known| is_near(stem, known));
            forms.extend(near.map(|known| (known.clone(), NEAR_WEIGHT)));
        }
        forms
    }

    /// Inverse document frequency; a word nobody used is as rare as can be.
    fn rarity(&self, forms: &[(String, f64)]) -> f64 {
        let spread = forms.iter().map(|(form, _)| self.spread[form]).max().unwrap_or(0);
        let (all, spread) = (as_float(self.passages.len() + PASSAGES_IMAGINED), as_float(spread));
        (1.0 + (all - spread + 0.5) / (spread + 0.5)).ln()
    }

    fn rank(
        &self,
        number: usize,
        question: &Question,
        forms: &[Vec<(String, f64)>],
        weights: &[f64],
    ) -> Option<Ranked> {
        let (mut score, mut terms) = (0.0, BTreeSet::new());
        for (term, (forms, weight)) in forms.iter().zip(weights).enumerate() {
            let best = forms.iter().map(|(form, worth)| worth * self.saturated(number, form)).fold(0.0, f64::max);
            if best > 0.0 {
                score += weight * best;
                terms.insert(term);
            }
        }
        if terms.is_empty() {
            return None;
        }
        for stem in &question.carried {
            score += CARRIED_WEIGHT * self.saturated(number, stem);
        }
        Some(Ranked { passage: number, score, is_fitting: false, terms })
    }

    fn saturated(&self, number: usize, stem: &str) -> f64 {
        let count = self.passages[number].get(stem).copied().unwrap_or(0.0);
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * self.lengths[number] / self.mean_length;
        count * (SATURATION + 1.0) / (count + SATURATION * length)
    }
}

/// What stands around a passage and tells what it is about.
fn lenders(given: &GivenMaterial, number: usize) -> Vec<(Vec<String>, f64)> {
    let passage = &given.passages[number];
    let mut lenders = Vec::new();
    if let Some(heading) = &passage.heading {
        lenders.push((super::words::stems(heading), HEADING_SHARE));
    }
    let source = given.source_of(passage);
    if source.author == Author::Attached {
        lenders.push((super::words::stems(&source.label), BEFORE_SHARE));
    }
    if let Some(before) = given.pointed_at(number) {
        lenders.push((given.passages[before].stems.clone(), BEFORE_SHARE));
    }
    lenders
}

/// A spelling one slip away, or another form of the same word.
fn is_near(word: &str, known: &str) -> bool {
    let (length, other) = (word.chars().count(), known.chars().count());
    if length < 4 || other < 4 {
        return false;
    }
    let shared = word.chars().zip(known.chars()).take_while(|(one, two)| one == two).count();
    let is_other_form = shared >= 5 && shared + 3 >= length.max(other);
    is_other_form || is_compound(word, known) || strsim::osa_distance(word, known) <= 1
}

/// Languages that write compounds in one word hide the word that is looked for in a longer one.
fn is_compound(word: &str, known: &str) -> bool {
    word.chars().count() >= 6 && (known.starts_with(word) || known.ends_with(word))
}

fn wanted(text: &str) -> WantedAnswer {
    let words = super::words::plain_words(text);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let opens = |first: &str, second: &[&str]| {
        words.windows(2).any(|pair| pair[0] == first && second.contains(&pair[1].as_str()))
    };
    if has(&["when", "wann", "quand", "cuando"]) || opens("what", &["time", "day", "date", "year"]) {
        WantedAnswer::Time
    } else if opens("how", &["many", "much", "long", "old", "far", "often", "big"]) {
        WantedAnswer::Number
    } else if has(&["where", "wo", "donde"]) {
        WantedAnswer::Place
    } else if has(&["who", "whom", "whose", "wer", "qui", "quien"]) {
        WantedAnswer::Person
    } else if has(&["why", "warum", "pourquoi"]) {
        WantedAnswer::Reason
    } else {
        WantedAnswer::Anything
    }
}

fn bonus(is_fitting: bool, passage: &Passage, given: &GivenMaterial) -> f64 {
    let fitting = if is_fitting { FITTING_BONUS } else { 1.0 };
    let share = as_float(passage.source) / as_float(given.sources.len().max(1));
    fitting * (1.0 + LATER_BONUS * share)
}

/// Whether a passage holds the kind of thing that is wanted.
fn fits(wanted: WantedAnswer, text: &str) -> bool {
    let words = super::words::plain_words(text);
    let has = |list: &str| words.iter().any(|word| list.split(' ').any(|each| each == word));
    match wanted {
        WantedAnswer::Time => {
            text.chars().any(|each| each.is_ascii_digit())
                || has(
                    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
                        september october november december today tomorrow yesterday tonight morning afternoon evening noon week \
                        month year montag dienstag mittwoch donnerstag freitag samstag sonntag morgen heute",
                )
        }
        WantedAnswer::Number => {
            text.chars().any(char::is_numeric)
                || has(
                    "one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million half",
                )
        }
        WantedAnswer::Place => has("in at near on to from street road city town room office in an nach"),
        WantedAnswer::Person => has_name(text) || has("i we he she my name"),
        WantedAnswer::Reason => has("because since reason due therefore so that cause caused weil denn"),
        WantedAnswer::Anything => false,
    }
}

/// A capital that does not open the sentence.
fn has_name(text: &str) -> bool {
    text.split_whitespace()
        .skip(1)
        .any(|word| word.starts_with(char::is_uppercase) && word != "I" && !word.starts_with("I'"))
}

#[expect(clippy::cast_precision_loss, reason = "counts of passages and words are far below 2^52")]
fn as_float(count: usize) -> f64 {
    count as f64
}
