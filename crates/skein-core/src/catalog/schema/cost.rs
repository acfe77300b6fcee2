//! Estimates how long a schema takes to compile, and how long it takes to judge a value.
//!
//! Short work is done on the spot. Longer work becomes a computation, outside transactions and off the threads that answer
//! (`docs/decisions/0030-limits-before-work.md`). Nothing is refused here: see [`super::effort`]. Questions are counted as there.
//! Texts count besides: a pattern takes up to one step for each byte and each of its states.

use std::collections::HashMap;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

use crate::catalog::schema::PATTERNS_BYTES_MAX;
use crate::catalog::schema::bounds::{IN_PLACE, REFERENCES, subschemas};
use crate::catalog::schema::effort::{Names, Pair, own_questions, parts, size};

/// Most questions that a value is asked on the spot: a few milliseconds.
const PROMPT_QUESTIONS_MAX: u64 = 50_000;
/// Most questions of connection parameters, which are judged on the spot wherever tools are listed; more are refused.
const PARAMETERS_QUESTIONS_MAX: u64 = 200_000;
/// Most parts of a schema that is compiled on the spot: a few milliseconds.
const PROMPT_PARTS_MAX: usize = 300;
/// Most states of the patterns of such a schema.
const PROMPT_STATES_MAX: u64 = 4_096;
/// Deepest chain of questions that is followed.
const DEPTH_MAX: usize = 200;

/// Steps of a pattern in the time of one question.
const STEPS_PER_QUESTION: u64 = 4;
/// Keywords that go through a text, and how many bytes of it in the time of one question.
const TEXT_KEYWORDS: [(&str, u64); 5] =
    [("minLength", 64), ("maxLength", 64), ("format", 8), ("contentMediaType", 8), ("contentEncoding", 8)];
/// Keywords that go through all of a value.
const COMPARING: [&str; 3] = ["uniqueItems", "const", "enum"];
/// Keywords that find out which parts of a value the schemas beside them judged. These are asked again for it.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// How often the schemas beside such a keyword are asked.
const UNEVALUATED_TIMES: u64 = 3;

/// States of a pattern that is not understood here: as many as fit into the memory it may take.
const STATES_MAX: u64 = PATTERNS_BYTES_MAX as u64 / 32;
/// States of a range of characters that take more than a byte each.
const STATES_PER_RANGE: u64 = 4;
/// Memory of a compiled part of a schema, and of a state of a pattern with what is remembered while it runs, in bytes.
const BYTES_PER_PART: usize = 1_024;
const BYTES_PER_STATE: usize = 64;
/// Memory that a pattern takes while it runs, however small it is.
const BYTES_PER_PATTERN: usize = 32 << 10;

/// What the estimates of a schema rest on.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    /// All JSON values in it.
    parts: usize,
    /// Its patterns, each with its states.
    states: HashMap<String, u64>,
    /// How often a keyword of it goes through a text.
    text_keywords: u64,
    /// Whether a schema in it may be asked about the same place more than once.
    repeats: bool,
}

impl Cost {
    pub(super) fn of(schema: &Value) -> Self {
        let mut cost = Self { parts: size(schema), states: HashMap::new(), text_keywords: 0, repeats: false };
        cost.note(schema);
        cost
    }

    fn note(&mut self, schema: &Value) {
        let keys = schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys());
        let patterns = keys.map(String::as_str).chain(schema.get("pattern").and_then(Value::as_str));
        self.states.extend(patterns.map(|pattern| (pattern.to_owned(), states(pattern))));
        let has = |keyword: &str| schema.get(keyword).is_some();
        let through_texts = TEXT_KEYWORDS.iter().map(|(keyword, _)| keyword).chain(&COMPARING);
        self.text_keywords += through_texts.filter(|keyword| has(keyword)).count() as u64;
        let is_asked_again = |keyword: &&str| has(keyword);
        self.repeats |= REFERENCES.iter().chain(&UNEVALUATED).any(is_asked_again) || has("propertyNames");
        subschemas(schema, |_| true).for_each(|inner| self.note(inner));
    }

    fn all_states(&self) -> u64 {
        self.states.values().fold(0, |sum, states| sum.saturating_add(*states))
    }

    /// The memory that the compiled schema takes, in bytes.
    pub(super) fn compiled_bytes(&self) -> usize {
        let states = usize::try_from(self.all_states()).unwrap_or(usize::MAX);
        let patterns = self.states.len() * BYTES_PER_PATTERN + states.saturating_mul(BYTES_PER_STATE);
        self.parts.saturating_mul(BYTES_PER_PART).saturating_add(patterns)
    }

    /// Whether the schema is compiled in a few milliseconds.
    pub(super) fn is_compiled_promptly(&self) -> bool {
        self.parts <= PROMPT_PARTS_MAX && self.all_states() <= PROMPT_STATES_MAX
    }

    /// The sum of several schemas, each as often as it is used.
    pub(super) fn of_all<'a>(schemas: impl Iterator<Item = &'a Value>) -> Self {
        let mut sum = Self { parts: 0, states: HashMap::new(), text_keywords: 0, repeats: false };
        for (number, schema) in schemas.enumerate() {
            sum.parts = sum.parts.saturating_add(size(schema));
            let mut one = Self { parts: 0, states: HashMap::new(), text_keywords: 0, repeats: false };
            one.note(schema);
            sum.text_keywords += one.text_keywords;
            sum.repeats |= one.repeats;
            sum.states.extend(one.states.into_iter().map(|(pattern, states)| (format!("{number} {pattern}"), states)));
        }
        sum
    }

    /// Whether what these schemas are made of is compiled promptly, and asked about parts of a value.
    pub(super) fn is_asked_promptly(&self, value: impl FnOnce() -> Value) -> bool {
        if self.repeats || self.parts > 4 * PROMPT_PARTS_MAX || self.all_states() > PROMPT_STATES_MAX {
            return false;
        }
        let (mut left, value) = (PROMPT_QUESTIONS_MAX, value());
        let is_small = has_few_places(&value, &mut left);
        let (places, bytes) = (PROMPT_QUESTIONS_MAX - left, text_bytes(&value));
        // Which part of the value is given to which schema is not looked at.
        is_small && self.at_most(places, bytes) <= PROMPT_QUESTIONS_MAX
    }

    fn at_most(&self, places: u64, bytes: u64) -> u64 {
        let of_patterns = bytes.saturating_add(places).saturating_mul(self.all_states()) / STEPS_PER_QUESTION;
        let of_texts = bytes.saturating_mul(self.text_keywords) / 8;
        places.saturating_mul(self.parts as u64).saturating_add(of_texts).saturating_add(of_patterns)
    }

    /// Whether the schema judges a value in a few milliseconds; finding that out takes no longer.
    pub(super) fn is_prompt(&self, schema: &Value, value: &Value) -> bool {
        self.is_within(PROMPT_QUESTIONS_MAX, schema, value)
    }

    /// Whether the schema judges connection parameters soon enough for lists of tools.
    pub(super) fn takes_parameters(&self, schema: &Value, value: &Value) -> bool {
        self.is_within(PARAMETERS_QUESTIONS_MAX, schema, value)
    }

    fn is_within(&self, limit: u64, schema: &Value, value: &Value) -> bool {
        let mut left = limit;
        if !has_few_places(value, &mut left) {
            return false;
        }
        let (places, bytes) = (limit - left, text_bytes(value));
        if !self.repeats && self.at_most(places, bytes) <= limit {
            return true;
        }
        let mut count = Count { names: Names::of(schema), cost: self, known: HashMap::new(), limit, left: limit };
        count.questions(schema, value, 0).is_some()
    }
}

/// Whether a value has no more places than are left, which become fewer.
fn has_few_places(value: &Value, left: &mut u64) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    match value {
        Value::Array(values) => values.iter().all(|value| has_few_places(value, left)),
        Value::Object(members) => members.values().all(|value| has_few_places(value, left)),
        _ => true,
    }
}

/// The bytes of all texts and names in a value.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(values) => values.iter().map(text_bytes).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() as u64 + text_bytes(value)).sum(),
        _ => 0,
    }
}

/// The states of a pattern, rather too many than too few.
fn states(pattern: &str) -> u64 {
    // In JSON Schema `\w` and its like mean ASCII. What needs more, such as `\p{L}`, is read as it stands.
    let ascii = ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).ok();
    let parsed = ascii.or_else(|| regex_syntax::parse(pattern).ok());
    parsed.map_or(STATES_MAX, |parsed| states_of(&parsed).min(STATES_MAX))
}

fn states_of(pattern: &Hir) -> u64 {
    let of_all = |inner: &[Hir]| inner.iter().fold(1, |sum: u64, one| sum.saturating_add(states_of(one)));
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().map(|range| of_range(range.end().is_ascii())).sum()
        }
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().map(|range| of_range(range.end().is_ascii())).sum()
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1));
            states_of(&repetition.sub).saturating_add(1).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => states_of(&capture.sub).saturating_add(2),
        HirKind::Concat(inner) | HirKind::Alternation(inner) => of_all(inner),
    }
}

fn of_range(is_ascii: bool) -> u64 {
    if is_ascii { 1 } else { STATES_PER_RANGE }
}

struct Count<'a> {
    names: Names<'a>,
    cost: &'a Cost,
    known: HashMap<Pair, u64>,
    /// Most questions that are counted.
    limit: u64,
    /// Questions that may be met until the count is over.
    left: u64,
}

impl<'a> Count<'a> {
    /// How many questions a schema is about a value; nothing when they are too many.
    fn questions(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<u64> {
        let pair: Pair = (schema, value);
        if let Some(known) = self.known.get(&pair) {
            return Some(*known);
        }
        if depth > DEPTH_MAX {
            return None;
        }
        // A circle in one place is asked once: where it comes back to itself there is nothing new to find.
        self.known.insert(pair, 1);
        let own = self.own(schema, value);
        self.left = self.left.checked_sub(own)?;
        let mut in_place = 0_u64;
        let named: Vec<&'a Value> =
            REFERENCES.iter().filter_map(|keyword| self.names.target(schema.get(keyword)?.as_str()?)).collect();
        for inner in named.into_iter().chain(subschemas(schema, |keyword| IN_PLACE.contains(&keyword))) {
            in_place = in_place.saturating_add(self.questions(inner, value, depth + 1)?);
        }
        if UNEVALUATED.iter().any(|keyword| schema.get(keyword).is_some()) {
            in_place = in_place.saturating_mul(UNEVALUATED_TIMES);
        }
        let mut questions = own.saturating_add(in_place);
        let below = parts(schema, value);
        self.left = self.left.checked_sub(below.len() as u64)?;
        for (inner, part) in below {
            questions = questions.saturating_add(self.questions(inner, part, depth + 1)?);
        }
        self.known.insert(pair, questions);
        (questions <= self.limit).then_some(questions)
    }

    /// The questions of a schema itself, with the time it takes to go through a text.
    fn own(&self, schema: &'a Value, value: &Value) -> u64 {
        let has = |keyword: &str| schema.get(keyword).is_some();
        let steps = |states: u64, bytes: usize| states.saturating_mul(bytes as u64 + 1) / STEPS_PER_QUESTION;
        let states = |pattern: &str| self.cost.states.get(pattern).copied().unwrap_or(STATES_MAX);
        let of_value = match value {
            Value::String(text) => {
                let through = TEXT_KEYWORDS.iter().filter(|(keyword, _)| has(keyword));
                let through: u64 = through.map(|(_, bytes)| text.len() as u64 / bytes).sum();
                let pattern = schema.get("pattern").and_then(Value::as_str);
                through.saturating_add(pattern.map_or(0, |pattern| steps(states(pattern), text.len())))
            }
            Value::Object(members) => {
                let names: usize = members.keys().map(|name| name.len() + 1).sum();
                let patterns = schema.get("patternProperties").and_then(Value::as_object);
                let of_patterns = patterns.into_iter().flat_map(|all| all.keys());
                let of_patterns = of_patterns.fold(0, |sum: u64, one| sum.saturating_add(steps(states(one), names)));
                // Every schema below may be asked about every name, and through references more than once.
                let of_names = schema.get("propertyNames").map_or(0, |inner| {
                    let times = if references_any(inner) { PROMPT_QUESTIONS_MAX } else { size(inner) as u64 };
                    (members.len() as u64).saturating_mul(times).saturating_add(steps(self.cost.all_states(), names))
                });
                of_patterns.saturating_add(of_names)
            }
            _ => 0,
        };
        let is_compared = matches!(value, Value::Object(_) | Value::Array(_)) && COMPARING.into_iter().any(has);
        let compared = if is_compared { size(value) as u64 + text_bytes(value) / 16 } else { 0 };
        own_questions(schema).saturating_add(of_value).saturating_add(compared)
    }
}

fn references_any(schema: &Value) -> bool {
    REFERENCES.iter().any(|keyword| schema.get(keyword).is_some()) || subschemas(schema, |_| true).any(references_any)
}
