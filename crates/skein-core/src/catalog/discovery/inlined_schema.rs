//! Schemas of OpenAPI as JSON Schemas that stand alone.
//!
//! References into the document are replaced by what they name. A schema that contains itself is cut where it begins
//! again: there anything is allowed. So is what would grow beyond bounds. The words of OpenAPI 3.0 that JSON Schema does
//! not know are translated.

use serde_json::{Map, Value, json};

use crate::catalog::schema::Schema;
use crate::catalog::schema::bounds::{SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS};
use crate::catalog::schema::reference::resolve;

/// Most schemas put in for one operation.
const SCHEMAS_MAX: usize = 5_000;
/// Deepest a schema is followed; each level is at most two of JSON.
const LEVELS_MAX: usize = 16;
/// Longest chain of references that only name other references.
const HOPS_MAX: usize = 16;

/// What describes without deciding, or belongs to OpenAPI alone.
const DROPPED: [&str; 9] =
    ["$ref", "nullable", "discriminator", "xml", "externalDocs", "example", "$schema", "$id", "$anchor"];

/// What a value is, or what it refers to within the document.
pub(super) fn target<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let mut found = value;
    for _ in 0..HOPS_MAX {
        match reference(found).and_then(|reference| resolve(document, reference)) {
            Some(next) => found = next,
            None => break,
        }
    }
    found
}

fn reference(value: &Value) -> Option<&str> {
    value.get("$ref").and_then(Value::as_str)
}

/// Puts schemas in place of their references, for one operation.
pub(super) struct Inliner<'a> {
    document: &'a Value,
    left: usize,
}

impl<'a> Inliner<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self { document, left: SCHEMAS_MAX }
    }

    /// The schema without any reference; one that no validator understands allows anything.
    pub(super) fn inline(&mut self, schema: &Value) -> Value {
        let inlined = self.schema(schema, &mut Vec::new(), 0);
        if Schema::compile(&inlined).is_ok() { inlined } else { json!({}) }
    }

    /// `open` lists the references that are being put in, so that none is put into itself.
    fn schema(&mut self, schema: &Value, open: &mut Vec<String>, level: usize) -> Value {
        let Value::Object(members) = schema else { return Value::Bool(schema != &Value::Bool(false)) };
        if self.left == 0 || level == LEVELS_MAX {
            return json!({});
        }
        self.left -= 1;
        let Some(reference) = reference(schema) else { return Value::Object(self.members(members, open, level)) };
        let named = resolve(self.document, reference).filter(|_| !open.iter().any(|opened| opened == reference));
        let Some(named) = named else { return json!({}) };
        open.push(reference.to_owned());
        let mut inlined = self.schema(named, open, level + 1);
        open.pop();
        if let Value::Object(inlined) = &mut inlined {
            inlined.extend(self.members(members, open, level));
        }
        inlined
    }

    fn members(&mut self, members: &Map<String, Value>, open: &mut Vec<String>, level: usize) -> Map<String, Value> {
        let mut inlined = Map::new();
        for (keyword, value) in members {
            if let Some(value) = self.member(keyword, value, open, level) {
                inlined.insert(keyword.clone(), value);
            }
        }
        translate(members, &mut inlined);
        inlined
    }

    fn member(&mut self, keyword: &str, value: &Value, open: &mut Vec<String>, level: usize) -> Option<Value> {
        let level = level + 1;
        match value {
            _ if DROPPED.contains(&keyword) => None,
            Value::Object(schemas) if SCHEMA_MAPS.contains(&keyword) => {
                let inlined = schemas.iter().map(|(name, schema)| (name.clone(), self.schema(schema, open, level)));
                Some(Value::Object(inlined.collect()))
            }
            Value::Array(schemas) if SCHEMA_LISTS.contains(&keyword) => {
                Some(schemas.iter().map(|schema| self.schema(schema, open, level)).collect())
            }
            Value::Object(_) | Value::Bool(_) if SINGLE_SCHEMAS.contains(&keyword) => {
                Some(self.schema(value, open, level))
            }
            _ => Some(value.clone()),
        }
    }
}

/// `nullable`, exclusive limits that are flags, and patterns of other languages: how OpenAPI 3.0 differs.
fn translate(original: &Map<String, Value>, schema: &mut Map<String, Value>) {
    if original.get("nullable") == Some(&Value::Bool(true)) {
        allow_null(schema);
    }
    for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match original.get(flag) {
            Some(Value::Bool(true)) => {
                let moved = schema.remove(limit);
                schema.remove(flag);
                schema.extend(moved.map(|moved| (flag.to_owned(), moved)));
            }
            Some(Value::Bool(false)) => _ = schema.remove(flag),
            _ => {}
        }
    }
    let is_understood = |pattern: &Value| Schema::compile(&json!({ "pattern": pattern })).is_ok();
    if schema.get("pattern").is_some_and(|pattern| !is_understood(pattern)) {
        schema.remove("pattern");
    }
}

fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(Value::String(name)) = schema.get("type") {
        let types = json!([name, "null"]);
        schema.insert("type".to_owned(), types);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
