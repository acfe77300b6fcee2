//! JSON with places to fill in: every text in it may hold placeholders.
//!
//! Values are put together as values, never as text, so no input can break out of where it stands. A text that is one
//! placeholder and nothing else takes the input's own type; if the input is absent, so is the member or element.
//! Names of members are literal.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::placeholder::{BadPlaceholder, Inputs, PlaceholderText};
use crate::rule::RuleViolation;

/// Most bytes a filled-in outline or text may have; one input can be named many times.
pub const RENDERED_BYTES_MAX: usize = 4 << 20;

/// A JSON value whose texts are parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum JsonTemplate {
    /// `null`, a boolean or a number.
    Scalar(Value),
    Text(PlaceholderText),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl JsonTemplate {
    pub fn parse(value: Value) -> Result<Self, BadPlaceholder> {
        Ok(match value {
            Value::String(text) => Self::Text(PlaceholderText::parse(&text)?),
            Value::Array(values) => Self::List(values.into_iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(members) => {
                let parse = |(name, value)| Ok((name, Self::parse(value)?));
                Self::Object(members.into_iter().map(parse).collect::<Result<_, _>>()?)
            }
            scalar => Self::Scalar(scalar),
        })
    }

    /// Adds the names of the inputs it mentions.
    pub fn variables(&self, into: &mut BTreeSet<String>) {
        match self {
            Self::Scalar(_) => {}
            Self::Text(text) => text.variables(into),
            Self::List(values) => values.iter().for_each(|value| value.variables(into)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.variables(into)),
        }
    }

    /// The value with every place filled; nothing, if it is one place whose input is absent.
    pub fn render(&self, inputs: &Inputs) -> Result<Option<Value>, RuleViolation> {
        self.fill(inputs, &mut Budget(RENDERED_BYTES_MAX))
    }

    fn fill(&self, inputs: &Inputs, budget: &mut Budget) -> Result<Option<Value>, RuleViolation> {
        let filled = match self {
            Self::Scalar(value) => value.clone(),
            Self::Text(text) => return fill_text(text, inputs, budget),
            Self::List(values) => {
                let filled = values.iter().filter_map(|value| value.fill(inputs, budget).transpose());
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            Self::Object(members) => {
                let mut filled = Map::new();
                for (name, value) in members {
                    if let Some(value) = value.fill(inputs, budget)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Value::Object(filled)
            }
        };
        Ok(Some(filled))
    }
}

impl TryFrom<Value> for JsonTemplate {
    type Error = BadPlaceholder;

    fn try_from(value: Value) -> Result<Self, BadPlaceholder> {
        Self::parse(value)
    }
}

/// The source of an outline: parsing it gives the same outline again.
impl From<JsonTemplate> for Value {
    fn from(outline: JsonTemplate) -> Self {
        match outline {
            JsonTemplate::Scalar(value) => value,
            JsonTemplate::Text(text) => Self::String(text.into()),
            JsonTemplate::List(values) => Self::Array(values.into_iter().map(Self::from).collect()),
            JsonTemplate::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

fn fill_text(text: &PlaceholderText, inputs: &Inputs, budget: &mut Budget) -> Result<Option<Value>, RuleViolation> {
    let filled = match text.sole_place() {
        Some(path) => path.find(inputs).cloned(),
        None => Some(Value::String(text.render_plain(inputs)?)),
    };
    budget.spend(filled.as_ref().map_or(0, size))?;
    Ok(filled)
}

/// How many bytes may still be made.
struct Budget(usize);

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), RuleViolation> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }
}

/// What is refused when the inputs would fill an operation beyond [`RENDERED_BYTES_MAX`].
pub(crate) fn too_large() -> RuleViolation {
    RuleViolation::new("BR-TOOL-002", "the filled-in operation is larger than 4 MiB", "give shorter inputs")
}

/// Roughly how many bytes a value takes.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(values) => 2 + values.iter().map(size).sum::<usize>(),
        Value::Object(members) => 2 + members.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>(),
    }
}
