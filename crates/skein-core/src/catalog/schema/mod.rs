//! JSON Schema, draft-07 to 2020-12: compiled once, then asked as often as needed.
//!
//! A schema comes from a user, so it is bounded, its patterns run in linear time, and it refers to nothing outside
//! itself. Start at [`Schema::compile`]. Where a user's schema must not hold up others, a [`SchemaJudge`] judges in its place.

pub mod bounds;
mod cost;
mod effort;
mod judge;
pub(crate) mod reference;

use std::fmt;

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::catalog::schema::bounds::{PATTERNS_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use crate::catalog::schema::cost::Cost;
use crate::catalog::schema::effort::Effort;
pub use crate::catalog::schema::judge::{AtOnce, SchemaJudge, Unfit, Verdict};

/// Most breaches reported for one value; the rest would say nothing new.
pub const BREACHES_MAX: usize = 16;
/// Most memory the compiled patterns of a schema may take together, in bytes; compiling them takes time in proportion.
const PATTERNS_BYTES_MAX: usize = 2 << 20;
/// Memory that each pattern may take however many there are, in bytes.
const PATTERN_BYTES_MIN: usize = 128 << 10;
/// Longest text of one problem, in characters; values are quoted in it.
const PROBLEM_CHARS_MAX: usize = 300;

/// A schema that was understood and can be asked.
#[derive(Debug, Clone)]
pub struct Schema {
    validator: Validator,
    effort: Effort,
    cost: Cost,
}

/// Why a value is not a schema that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    #[error("it has {found} bytes; the limit is {SCHEMA_BYTES_MAX}")]
    TooLarge { found: usize },
    #[error("it is nested deeper than {SCHEMA_DEPTH_MAX} levels")]
    TooDeep,
    #[error("it has {found} patterns; the limit is {PATTERNS_MAX}")]
    TooManyPatterns { found: usize },
    #[error("it applies too many schemas to one place; name definitions less often")]
    TooMuchWork,
    #[error("it refers to {0:?}; put what it needs under $defs and refer to it by #/$defs/…")]
    Elsewhere(String),
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
        bounds::check(schema)?;
        let draft = draft_of(schema)?;
        let bytes_max = (PATTERNS_BYTES_MAX / bounds::pattern_count(schema).max(1)).max(PATTERN_BYTES_MIN);
        let patterns = PatternOptions::regex().size_limit(bytes_max).dfa_size_limit(PATTERNS_BYTES_MAX);
        let options = jsonschema::options().with_draft(draft).offline().with_pattern_options(patterns);
        let compiled = options.should_validate_formats(true).build(schema);
        let validator = compiled.map_err(|error| BadSchema::Invalid(SchemaBreach::from(&error)))?;
        Ok(Self { validator, effort: Effort::of(schema), cost: Cost::of(schema) })
    }

    /// Whether a schema is compiled in a few milliseconds, as nearly all are.
    pub fn is_compiled_promptly(schema: &Value) -> bool {
        Cost::of(schema).is_compiled_promptly()
    }

    /// Whether all of these schemas are compiled, and asked about parts of one value, in a few milliseconds.
    pub fn are_asked_promptly<'a>(schemas: impl Iterator<Item = &'a Value>, value: impl FnOnce() -> Value) -> bool {
        Cost::of_all(schemas).is_asked_promptly(value)
    }

    /// Whether a value is judged in a few milliseconds; finding that out takes no longer.
    pub fn is_prompt(&self, value: &Value) -> bool {
        self.cost.is_prompt(self.effort.schema(), value)
    }

    /// Whether it was compiled from this.
    pub fn is_of(&self, schema: &Value) -> bool {
        self.effort.schema() == schema
    }

    /// The memory it takes, in bytes, roughly.
    pub fn bytes(&self) -> usize {
        self.cost.compiled_bytes()
    }

    /// [`Self::check`] where nothing may take long: values that would are refused.
    pub fn check_promptly(&self, value: &Value) -> Result<(), Vec<SchemaBreach>> {
        if self.cost.takes_parameters(self.effort.schema(), value) {
            self.check(value)
        } else {
            Err(vec![SchemaBreach::too_large()])
        }
    }

    /// Whether a value satisfies the schema; if not, where and why.
    pub fn check(&self, value: &Value) -> Result<(), Vec<SchemaBreach>> {
        if !self.effort.is_bearable(value) {
            return Err(vec![SchemaBreach::too_large()]);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(self.validator.iter_errors(value).take(BREACHES_MAX).map(|error| SchemaBreach::from(&error)).collect())
    }
}

impl SchemaBreach {
    fn too_large() -> Self {
        let problem = "it is too large, or too deeply nested, for a schema that asks this much of it".to_owned();
        Self { path: String::new(), problem }
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
