//! Limits the size and nesting of a schema, so that compiling and checking it stay fast.
//!
//! Size, depth and the number of patterns bound the first. For the second, schemas that apply to the same place are
//! counted along their references: a few definitions that each name the next one twice would otherwise be asked a
//! million times. A schema refers into itself only, by `#`; what one that contains itself costs depends on the value, and
//! is counted for each (see [`super::effort`]).

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::catalog::schema::BadSchema;
use crate::catalog::schema::reference::resolve;

/// Largest schema accepted, in bytes of its text.
pub const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Deepest nesting of a schema.
pub const SCHEMA_DEPTH_MAX: usize = 48;
/// Most patterns in one schema; each takes memory of its own.
pub const PATTERNS_MAX: usize = 64;
/// Most schemas that may apply to one place of a value.
const APPLIED_MAX: usize = 10_000;
/// Longest chain of references that apply to one place.
const CHAIN_MAX: usize = 200;

/// Keywords that hold schemas by name, in a list, or alone.
pub(crate) const SCHEMA_MAPS: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
pub(crate) const SCHEMA_LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
pub(crate) const SINGLE_SCHEMAS: [&str; 12] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Those of them whose schemas apply to the same place as the schema they stand in.
pub(super) const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

pub(super) fn check(schema: &Value) -> Result<(), BadSchema> {
    if depth(schema) > SCHEMA_DEPTH_MAX {
        return Err(BadSchema::TooDeep);
    }
    let found = schema.to_string().len();
    if found > SCHEMA_BYTES_MAX {
        return Err(BadSchema::TooLarge { found });
    }
    let mut survey =
        SchemaSurvey { root: schema, outermost: vec![schema], anchors: HashMap::new(), applied: HashMap::new() };
    survey.collect(schema, true)?;
    survey.check_patterns()?;
    survey.check_applied()
}

/// How many patterns a schema has, in all that stands in it.
pub(crate) fn pattern_count(schema: &Value) -> usize {
    let keys = schema.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
    let own = usize::from(schema.get("pattern").is_some()) + keys;
    own + subschemas(schema, |_| true).map(pattern_count).sum::<usize>()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

struct SchemaSurvey<'a> {
    root: &'a Value,
    /// Those that stand in no other at the same place: others apply no more than what they stand in.
    outermost: Vec<&'a Value>,
    anchors: HashMap<&'a str, &'a Value>,
    /// How many schemas each schema that is referred to applies. They are told apart by where they are in memory, for the
    /// same one can be referred to in many spellings.
    applied: HashMap<*const Value, usize>,
}

impl<'a> SchemaSurvey<'a> {
    fn collect(&mut self, schema: &'a Value, is_root: bool) -> Result<(), BadSchema> {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let outside = REFERENCES.iter().filter_map(|keyword| text(keyword)).find(|name| !name.starts_with('#'));
        let inner_id = text("$id").filter(|_| !is_root);
        if let Some(name) = outside.or(inner_id) {
            return Err(BadSchema::Elsewhere(name.chars().take(100).collect()));
        }
        self.anchors.extend(["$anchor", "$dynamicAnchor"].iter().filter_map(|keyword| Some((text(keyword)?, schema))));
        self.outermost.extend(subschemas(schema, |keyword| !IN_PLACE.contains(&keyword)));
        subschemas(schema, |_| true).try_for_each(|inner| self.collect(inner, false))
    }

    fn check_patterns(&self) -> Result<(), BadSchema> {
        let found = pattern_count(self.root);
        if found > PATTERNS_MAX { Err(BadSchema::TooManyPatterns { found }) } else { Ok(()) }
    }

    fn check_applied(&mut self) -> Result<(), BadSchema> {
        for schema in std::mem::take(&mut self.outermost) {
            if self.applied_by(schema, 0) > APPLIED_MAX {
                return Err(BadSchema::TooMuchWork);
            }
        }
        Ok(())
    }

    /// How many schemas are asked about a place when this one is.
    fn applied_by(&mut self, schema: &'a Value, chain: usize) -> usize {
        let mut applied = 1_usize;
        for inner in subschemas(schema, |keyword| IN_PLACE.contains(&keyword)) {
            applied = applied.saturating_add(self.applied_by(inner, chain));
        }
        for name in REFERENCES.iter().filter_map(|keyword| schema.get(keyword)?.as_str()) {
            applied = applied.saturating_add(self.applied_through(name, chain + 1));
        }
        applied
    }

    fn applied_through(&mut self, name: &'a str, chain: usize) -> usize {
        if chain > CHAIN_MAX {
            return usize::MAX;
        }
        let target = resolve(self.root, name).or_else(|| self.anchors.get(name.strip_prefix('#')?).copied());
        let Some(target) = target else { return 1 };
        if let Some(known) = self.applied.get(&std::ptr::from_ref(target)) {
            return *known;
        }
        // A circle is asked once: where it comes back to itself there is nothing new to find.
        self.applied.insert(target, 1);
        let applied = self.applied_by(target, chain);
        self.applied.insert(target, applied);
        applied
    }
}

/// The schemas that stand directly in a schema, under the keywords asked for.
pub(super) fn subschemas<'a>(schema: &'a Value, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &'a Value> {
    let members = schema.as_object().into_iter().flatten().filter(move |(keyword, _)| wanted(keyword));
    members.flat_map(|(keyword, value)| -> Vec<&'a Value> {
        let keyword = keyword.as_str();
        match value {
            Value::Object(schemas) if SCHEMA_MAPS.contains(&keyword) => schemas.values().collect(),
            Value::Array(schemas) if SCHEMA_LISTS.contains(&keyword) => schemas.iter().collect(),
            Value::Object(_) if SINGLE_SCHEMAS.contains(&keyword) => vec![value],
            _ => Vec::new(),
        }
    })
}
