//! A small path into JSON: `$.items[*].name`.
//!
//! It begins with `$`, the whole value. `.name` or `['any name']` goes into an object, `[2]` into an array (`[-1]` is
//! the last element), `[*]` into every element. With a `[*]` the answer is an array of all that was found, else the one
//! value, if there is one. Nothing is computed, so selecting always ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest selector, in bytes.
const SELECTOR_BYTES_MAX: usize = 500;

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Selector {
    source: String,
    steps: Vec<SelectorStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SelectorStep {
    Member(String),
    Element(i64),
    Every,
}

/// A text that is not a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a selector; write for example $.items[0].name or $.items[*].id")]
pub struct BadSelector(String);

impl Selector {
    pub fn parse(source: &str) -> Result<Self, BadSelector> {
        let bad = || BadSelector(source.chars().take(64).collect());
        if source.len() > SELECTOR_BYTES_MAX {
            return Err(bad());
        }
        let mut rest = source.strip_prefix('$').ok_or_else(bad)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(bad)?;
            steps.push(step);
            rest = after;
        }
        Ok(Self { source: source.to_owned(), steps })
    }

    /// What the path leads to in a value.
    pub fn select(&self, value: &Value) -> Option<Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.select(value)).collect();
        }
        if self.steps.contains(&SelectorStep::Every) {
            return Some(Value::Array(found.into_iter().cloned().collect()));
        }
        found.first().copied().cloned()
    }
}

impl SelectorStep {
    fn select<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Member(name), Value::Object(members)) => members.get(name).into_iter().collect(),
            (Self::Element(index), Value::Array(values)) => element(values, *index).into_iter().collect(),
            (Self::Every, Value::Array(values)) => values.iter().collect(),
            _ => Vec::new(),
        }
    }
}

fn element(values: &[Value], index: i64) -> Option<&Value> {
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let at = if index < 0 { values.len().checked_sub(distance)? } else { distance };
    values.get(at)
}

/// The first step of a path and what comes after it.
fn step(path: &str) -> Option<(SelectorStep, &str)> {
    if let Some(member) = path.strip_prefix('.') {
        let end = member.find(['.', '[']).unwrap_or(member.len());
        let (name, after) = member.split_at(end);
        return (!name.is_empty() && !name.contains([']', '\'', '"', '*', ' ']))
            .then(|| (SelectorStep::Member(name.to_owned()), after));
    }
    let inner = path.strip_prefix('[')?;
    if let Some(quote) = inner.chars().next().filter(|c| ['\'', '"'].contains(c)) {
        let (name, after) = inner[1..].split_once(quote)?;
        return Some((SelectorStep::Member(name.to_owned()), after.strip_prefix(']')?));
    }
    let (index, after) = inner.split_once(']')?;
    let step = if index == "*" { SelectorStep::Every } else { SelectorStep::Element(index.parse().ok()?) };
    Some((step, after))
}

impl TryFrom<String> for Selector {
    type Error = BadSelector;

    fn try_from(source: String) -> Result<Self, BadSelector> {
        Self::parse(&source)
    }
}

impl From<Selector> for String {
    fn from(selector: Selector) -> Self {
        selector.source
    }
}

/// How an answer becomes a tool's output: one selected value, or an object put together from several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum OutputMapping {
    One(Selector),
    Members(BTreeMap<String, Selector>),
}

impl OutputMapping {
    /// The output; what was not found is `null`, or a member left out.
    pub fn apply(&self, answer: &Value) -> Value {
        match self {
            Self::One(selector) => selector.select(answer).unwrap_or(Value::Null),
            Self::Members(members) => {
                let found =
                    members.iter().filter_map(|(name, selector)| Some((name.clone(), selector.select(answer)?)));
                Value::Object(found.collect())
            }
        }
    }
}

impl TryFrom<Value> for OutputMapping {
    type Error = BadSelector;

    fn try_from(value: Value) -> Result<Self, BadSelector> {
        let selector = |value: &Value| Selector::parse(value.as_str().unwrap_or_default());
        let Value::Object(members) = value else { return selector(&value).map(Self::One) };
        let members = members.iter().map(|(name, value)| Ok((name.clone(), selector(value)?)));
        members.collect::<Result<_, _>>().map(Self::Members)
    }
}
