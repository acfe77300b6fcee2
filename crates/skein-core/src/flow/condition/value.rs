//! Values while an expression is evaluated, and how JavaScript turns one kind into another.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::number;

/// A value as JavaScript knows it. Texts are UTF-16, for their lengths and order are.
#[derive(Debug, Clone)]
pub(super) enum Js<'a> {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    Text(Arc<[u16]>),
    /// An array or an object of a variable.
    Given(&'a Value),
    /// A list of the expression itself.
    List(Rc<[Js<'a>]>),
}

/// What JavaScript would throw, or what this evaluator does not do, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Thrown {
    #[error("{0} of {1} is asked for")]
    NoMembers(String, &'static str),
    #[error("{0} has no method {1}")]
    NoMethod(&'static str, &'static str),
    #[error("{0:?} is built in and cannot be reached")]
    BuiltIn(String),
    #[error("`in` asks about {0}")]
    NotAnObject(&'static str),
    #[error("an object with a member toString has no text")]
    NoText,
    #[error("it takes too much work")]
    TooMuchWork,
}

/// Most work of one evaluation: parts evaluated, and sixteenths of the characters looked at.
const WORK_MAX: usize = 1 << 20;
/// Longest text that is put together, in UTF-16 units.
const TEXT_UNITS_MAX: usize = 1 << 20;
/// Deepest nesting of lists that are written as a text.
const JOIN_DEPTH_MAX: usize = 128;

/// What is left of the work.
#[derive(Debug)]
pub(super) struct Effort {
    left: usize,
}

impl Effort {
    pub(super) fn new() -> Self {
        Self { left: WORK_MAX }
    }

    pub(super) fn spend(&mut self, units: usize) -> Result<(), Thrown> {
        self.left = self.left.checked_sub(units + 1).ok_or(Thrown::TooMuchWork)?;
        Ok(())
    }

    /// For looking at this many characters.
    pub(super) fn spend_on_text(&mut self, units: usize) -> Result<(), Thrown> {
        self.spend(units / 16)
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Arc<[u16]>, Thrown> {
        self.spend_on_text(text.len())?;
        Ok(text.encode_utf16().collect())
    }

    pub(super) fn concat(&mut self, parts: &[Arc<[u16]>]) -> Result<Arc<[u16]>, Thrown> {
        let units = parts.iter().map(|part| part.len()).sum::<usize>();
        self.spend_on_text(units)?;
        if units > TEXT_UNITS_MAX {
            return Err(Thrown::TooMuchWork);
        }
        Ok(parts.concat().into())
    }
}

impl<'a> Js<'a> {
    pub(super) fn of(value: Option<&'a Value>, effort: &mut Effort) -> Result<Self, Thrown> {
        Ok(match value {
            None => Self::Undefined,
            Some(Value::Null) => Self::Null,
            Some(Value::Bool(value)) => Self::Boolean(*value),
            Some(Value::Number(number)) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Some(Value::String(text)) => Self::Text(effort.text(text)?),
            Some(given @ (Value::Array(_) | Value::Object(_))) => Self::Given(given),
        })
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Given(Value::Array(_)) | Self::List(_) => "an array",
            Self::Given(_) => "an object",
        }
    }

    pub(super) fn type_of(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null | Self::Given(_) | Self::List(_) => "object",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
        }
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Given(_) | Self::List(_))
    }

    pub(super) fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Boolean(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Given(_) | Self::List(_) => true,
        }
    }

    /// Arrays and objects as texts, anything else as it is.
    pub(super) fn to_primitive(&self, effort: &mut Effort) -> Result<Self, Thrown> {
        if self.is_object() { self.to_text(effort).map(Self::Text) } else { Ok(self.clone()) }
    }

    pub(super) fn to_text(&self, effort: &mut Effort) -> Result<Arc<[u16]>, Thrown> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Given(given) => {
                let mut joined = String::new();
                join(given, &mut joined, 0, effort)?;
                effort.text(&joined)
            }
            Self::List(values) => {
                let mut parts: Vec<Arc<[u16]>> = Vec::new();
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        parts.push(Arc::new([u16::from(b',')]));
                    }
                    if !value.is_nullish() {
                        parts.push(value.to_text(effort)?);
                    }
                }
                effort.concat(&parts)
            }
            Self::Undefined => effort.text("undefined"),
            Self::Null => effort.text("null"),
            Self::Boolean(value) => effort.text(if *value { "true" } else { "false" }),
            Self::Number(value) => effort.text(&number::to_text(*value)),
        }
    }

    pub(super) fn to_number(&self, effort: &mut Effort) -> Result<f64, Thrown> {
        Ok(match self {
            Self::Undefined => f64::NAN,
            Self::Null => 0.0,
            Self::Boolean(value) => f64::from(*value),
            Self::Number(number) => *number,
            Self::Text(text) => {
                effort.spend_on_text(text.len())?;
                String::from_utf16(text).map_or(f64::NAN, |text| number::from_text(&text))
            }
            Self::Given(_) | Self::List(_) => return Self::Text(self.to_text(effort)?).to_number(effort),
        })
    }

    /// `===`.
    pub(super) fn is_same(&self, other: &Self, effort: &mut Effort) -> Result<bool, Thrown> {
        Ok(match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Boolean(one), Self::Boolean(two)) => one == two,
            #[expect(clippy::float_cmp, reason = "numbers are equal as JavaScript compares them: exactly")]
            (Self::Number(one), Self::Number(two)) => one == two,
            (Self::Text(one), Self::Text(two)) => {
                effort.spend_on_text(one.len().min(two.len()))?;
                one == two
            }
            (Self::Given(one), Self::Given(two)) => std::ptr::eq(*one, *two),
            (Self::List(one), Self::List(two)) => Rc::ptr_eq(one, two),
            _ => false,
        })
    }

    /// `==`.
    pub(super) fn is_equal(&self, other: &Self, effort: &mut Effort) -> Result<bool, Thrown> {
        if self.is_nullish() || other.is_nullish() {
            return Ok(self.is_nullish() && other.is_nullish());
        }
        if self.type_of() == other.type_of() {
            return self.is_same(other, effort);
        }
        match (self, other) {
            (Self::Boolean(value), _) => Self::Number(f64::from(*value)).is_equal(other, effort),
            (_, Self::Boolean(value)) => self.is_equal(&Self::Number(f64::from(*value)), effort),
            (one, two) if one.is_object() => one.to_primitive(effort)?.is_equal(two, effort),
            (one, two) if two.is_object() => one.is_equal(&two.to_primitive(effort)?, effort),
            #[expect(clippy::float_cmp, reason = "numbers are equal as JavaScript compares them: exactly")]
            (one, two) => Ok(one.to_number(effort)? == two.to_number(effort)?),
        }
    }
}

/// An array as its elements between commas, an object as what JavaScript calls all of them.
fn join(value: &Value, into: &mut String, depth: usize, effort: &mut Effort) -> Result<(), Thrown> {
    effort.spend(0)?;
    if into.len() > TEXT_UNITS_MAX || depth > JOIN_DEPTH_MAX {
        return Err(Thrown::TooMuchWork);
    }
    match value {
        Value::Null => {}
        Value::Bool(value) => into.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => into.push_str(&number::to_text(number.as_f64().unwrap_or(f64::NAN))),
        Value::String(text) => {
            effort.spend_on_text(text.len())?;
            into.push_str(text);
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    into.push(',');
                }
                join(value, into, depth + 1, effort)?;
            }
        }
        Value::Object(members) if members.contains_key("toString") => return Err(Thrown::NoText),
        Value::Object(_) => into.push_str("[object Object]"),
    }
    Ok(())
}
