//! JSON Schema, draft-07 to 2020-12: compiled once, then asked as often as needed.
//!
//! A schema comes from a user, so it is bounded, its patterns run in linear time, and it refers to nothing outside
//! itself. Start at [`Schema::compile`].

use std::fmt;

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Largest schema accepted, in bytes of its text.
pub const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Deepest nesting of a schema.
pub const SCHEMA_DEPTH_MAX: usize = 48;
/// Most breaches reported for one value; the rest would say nothing new.
pub const BREACHES_MAX: usize = 16;
/// Most memory one compiled pattern may take, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Longest text of one problem, in characters; values are quoted in it.
const PROBLEM_CHARS_MAX: usize = 300;

/// A schema that was understood and can be asked.
#[derive(Debug, Clone)]
pub struct Schema(Validator);

/// Why a value is not a schema that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    #[error("it has {found} bytes; the limit is {SCHEMA_BYTES_MAX}")]
    TooLarge { found: usize },
    #[error("it is nested deeper than {SCHEMA_DEPTH_MAX} levels")]
    TooDeep,
    #[error("{0:?} is not a draft that is understood; use draft-07, 2019-09 or 2020-12")]
    UnknownDraft(String),
    #[error("{0}")]
    Invalid(SchemaBreach),
}

/// One place where a value does not satisfy a schema.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SchemaBreach {
    /// Where in the value, as a JSON pointer; empty for the value itself.
    pub path: String,
    pub problem: String,
}

impl Schema {
    /// Understands a schema. Without `$schema` it is read as draft 2020-12.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        refuse_oversized(schema)?;
        let draft = draft_of(schema)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().with_draft(draft).offline().with_pattern_options(patterns);
        let compiled = options.should_validate_formats(true).build(schema);
        compiled.map(Self).map_err(|error| BadSchema::Invalid(SchemaBreach::from(&error)))
    }

    /// Whether a value satisfies the schema; if not, where and why.
    pub fn check(&self, value: &Value) -> Result<(), Vec<SchemaBreach>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        Err(self.0.iter_errors(value).take(BREACHES_MAX).map(|error| SchemaBreach::from(&error)).collect())
    }
}

impl From<&ValidationError<'_>> for SchemaBreach {
    fn from(error: &ValidationError<'_>) -> Self {
        let problem = error.to_string().chars().take(PROBLEM_CHARS_MAX).collect();
        Self { path: error.instance_path().to_string(), problem }
    }
}

impl fmt::Display for SchemaBreach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.problem) } else { write!(f, "{}: {}", self.path, self.problem) }
    }
}

/// All breaches in one line.
pub fn describe(breaches: &[SchemaBreach]) -> String {
    breaches.iter().map(SchemaBreach::to_string).collect::<Vec<_>>().join("; ")
}

fn refuse_oversized(schema: &Value) -> Result<(), BadSchema> {
    if depth(schema) > SCHEMA_DEPTH_MAX {
        return Err(BadSchema::TooDeep);
    }
    let found = schema.to_string().len();
    if found > SCHEMA_BYTES_MAX { Err(BadSchema::TooLarge { found }) } else { Ok(()) }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn draft_of(schema: &Value) -> Result<Draft, BadSchema> {
    let Some(named) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    let uri = named.as_str().unwrap_or_default();
    match uri.trim_end_matches('#') {
        "http://json-schema.org/draft-07/schema" | "https://json-schema.org/draft-07/schema" => Ok(Draft::Draft7),
        "https://json-schema.org/draft/2019-09/schema" => Ok(Draft::Draft201909),
        "https://json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        _ => Err(BadSchema::UnknownDraft(named.to_string().chars().take(100).collect())),
    }
}
