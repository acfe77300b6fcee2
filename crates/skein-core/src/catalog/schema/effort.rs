//! Estimates the work of checking a value against a schema, and refuses values above the limit.
//!
//! Where a schema comes back to itself, each level of a value may be asked about by twice as many schemas as the level
//! above: such work grows exponentially with the depth of a value, although the schema is small. And a large schema asks
//! about each element of a large array anew. So before a value is asked about, the work is counted, each schema at each
//! place once; what would be too much is refused. Where even all of a schema at all of a value is little, nothing is counted.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::catalog::schema::bounds::{IN_PLACE, REFERENCES, subschemas};
use crate::catalog::schema::reference::resolve;

/// Most questions a value may be asked: well below a second.
const QUESTIONS_MAX: u64 = 5_000_000;
/// Most pairs of schema and place that are looked at to count them.
const PAIRS_MAX: usize = 1_000_000;
/// Deepest chain of questions; the validator goes as deep, on a stack that ends.
const DEPTH_MAX: usize = 1_500;

/// Members of a list that are compared in the time of one question.
const COMPARISONS_PER_QUESTION: usize = 16;

/// What a schema asks of values.
#[derive(Debug, Clone)]
pub(super) struct Effort {
    schema: Value,
    /// Its parts, all JSON values in it.
    size: usize,
    /// Whether it contains itself.
    is_recursive: bool,
}

impl Effort {
    pub(super) fn of(schema: &Value) -> Self {
        let mut names = Names::of(schema);
        let is_recursive = references_below(schema).into_iter().any(|name| names.comes_back(name));
        Self { schema: schema.clone(), size: size(schema), is_recursive }
    }

    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether asking this value takes a bounded time.
    pub(super) fn is_bearable(&self, value: &Value) -> bool {
        let at_most = u64::try_from(self.size.saturating_mul(size(value))).unwrap_or(u64::MAX);
        if !self.is_recursive && at_most <= QUESTIONS_MAX {
            return true;
        }
        let root = &self.schema;
        let mut count = Count { names: Names::of(root), known: HashMap::new() };
        count.questions(root, value, 0).is_some_and(|questions| questions <= QUESTIONS_MAX)
    }
}

pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// The questions of a schema itself about a place: long lists of names and values are gone through each time.
pub(super) fn own_questions(schema: &Value) -> u64 {
    let length = |keyword: &str| match schema.get(keyword) {
        Some(Value::Array(values)) => values.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    };
    let listed: usize = ["enum", "properties", "required", "dependentRequired"].into_iter().map(length).sum();
    1 + u64::try_from(listed / COMPARISONS_PER_QUESTION).unwrap_or(u64::MAX)
}

pub(super) struct Names<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// Schemas that lead to no circle. They are told apart by where they are in memory, for the same one can be referred to
    /// in many spellings.
    done: HashSet<*const Value>,
    /// Schemas that are being followed.
    open: HashSet<*const Value>,
}

impl<'a> Names<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut names = Self { root, anchors: HashMap::new(), done: HashSet::new(), open: HashSet::new() };
        names.note_anchors(root);
        names
    }

    fn note_anchors(&mut self, schema: &'a Value) {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        self.anchors.extend(["$anchor", "$dynamicAnchor"].iter().filter_map(|keyword| Some((text(keyword)?, schema))));
        subschemas(schema, |_| true).for_each(|inner| self.note_anchors(inner));
    }

    pub(super) fn target(&self, name: &str) -> Option<&'a Value> {
        resolve(self.root, name).or_else(|| self.anchors.get(name.strip_prefix('#')?).copied())
    }

    /// Whether following a reference leads to itself.
    fn comes_back(&mut self, name: &'a str) -> bool {
        let Some(target) = self.target(name) else { return false };
        let place = std::ptr::from_ref(target);
        if self.done.contains(&place) {
            return false;
        }
        if !self.open.insert(place) {
            return true;
        }
        let is_circle = references_below(target).into_iter().any(|inner| self.comes_back(inner));
        self.open.remove(&place);
        self.done.insert(place);
        is_circle
    }
}

fn references_below(schema: &Value) -> Vec<&str> {
    let mut found: Vec<&str> = references(schema).collect();
    found.extend(subschemas(schema, |_| true).flat_map(references_below));
    found
}

fn references(schema: &Value) -> impl Iterator<Item = &str> {
    REFERENCES.iter().filter_map(|keyword| schema.get(keyword)?.as_str())
}

/// Schemas and places are told apart by where they are in memory; both stay there while they are counted.
pub(super) type Pair = (*const Value, *const Value);

struct Count<'a> {
    names: Names<'a>,
    known: HashMap<Pair, u64>,
}

impl<'a> Count<'a> {
    /// How many questions a schema is about a value, if all of them are asked; nothing when counting them is too much.
    fn questions(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Option<u64> {
        let pair: Pair = (schema, value);
        if let Some(known) = self.known.get(&pair) {
            return Some(*known);
        }
        if depth > DEPTH_MAX || self.known.len() > PAIRS_MAX {
            return None;
        }
        // A circle in one place is asked once: where it comes back to itself there is nothing new to find.
        self.known.insert(pair, 1);
        let mut questions = own_questions(schema);
        let named: Vec<&'a Value> = references(schema).filter_map(|name| self.names.target(name)).collect();
        for inner in named.into_iter().chain(subschemas(schema, |keyword| IN_PLACE.contains(&keyword))) {
            questions = questions.saturating_add(self.questions(inner, value, depth + 1)?);
        }
        for (inner, part) in parts(schema, value) {
            questions = questions.saturating_add(self.questions(inner, part, depth + 1)?);
        }
        self.known.insert(pair, questions);
        Some(questions)
    }
}

/// Which schemas of a schema are asked about which parts of a value, at most.
pub(super) fn parts<'a, 'v>(schema: &'a Value, value: &'v Value) -> Vec<(&'a Value, &'v Value)> {
    let mut asked = Vec::new();
    let one = |keyword: &str| schema.get(keyword).filter(|inner| inner.is_object());
    match value {
        Value::Object(members) => {
            let named = schema.get("properties").and_then(Value::as_object);
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let others: Vec<&Value> =
                ["additionalProperties", "unevaluatedProperties"].into_iter().filter_map(one).collect();
            for (name, member) in members {
                let own = named.and_then(|named| named.get(name));
                asked.extend(own.map(|inner| (inner, member)));
                asked.extend(patterns.into_iter().flat_map(|all| all.values()).map(|inner| (inner, member)));
                if own.is_none() {
                    asked.extend(others.iter().map(|inner| (*inner, member)));
                }
            }
        }
        Value::Array(elements) => {
            let lists = ["prefixItems", "items"].map(|keyword| schema.get(keyword).and_then(Value::as_array));
            for list in lists.into_iter().flatten() {
                asked.extend(list.iter().zip(elements));
            }
            for inner in ["items", "additionalItems", "unevaluatedItems", "contains"].into_iter().filter_map(one) {
                asked.extend(elements.iter().map(|element| (inner, element)));
            }
        }
        _ => {}
    }
    asked
}
