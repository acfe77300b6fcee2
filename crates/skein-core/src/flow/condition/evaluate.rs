//! Evaluates an expression part by part, in the order of JavaScript.

use std::sync::Arc;

use serde_json::Value;

use super::number;
use super::syntax::{Binary, Expr, Logical, Method, Unary};
use super::value::{Effort, Js, Thrown};
use crate::flow::scope::VariableScope;

/// Members that every object, array, string, number or boolean has without anybody giving them.
const BUILT_IN: [&str; 12] = [
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
];

/// Members that arrays have, or texts, or numbers.
const BUILT_IN_ELSEWHERE: &str = "\
    at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes \
    indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toReversed \
    toSorted toSpliced unshift values with anchor big blink bold charAt charCodeAt codePointAt endsWith fixed fontcolor \
    fontsize isWellFormed italics link localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll \
    search small split startsWith strike sub substr substring sup toLocaleLowerCase toLocaleUpperCase toLowerCase \
    toUpperCase toWellFormed trim trimEnd trimLeft trimRight trimStart toExponential toFixed toPrecision";

/// The value of an expression.
pub(super) fn evaluate<'a>(expression: &Expr, scope: &VariableScope<'a>) -> Result<Js<'a>, Thrown> {
    Evaluation { scope, effort: Effort::new() }.value(expression)
}

/// Why a part has no value: something is wrong, or a `?.` before it found nothing.
enum Stop {
    Thrown(Thrown),
    Short,
}

impl From<Thrown> for Stop {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

struct Evaluation<'s, 'a> {
    scope: &'s VariableScope<'a>,
    effort: Effort,
}

impl<'a> Evaluation<'_, 'a> {
    /// The value of a part that is no link of a chain.
    fn value(&mut self, expression: &Expr) -> Result<Js<'a>, Thrown> {
        match self.link(expression) {
            Ok(value) => Ok(value),
            Err(Stop::Thrown(thrown)) => Err(thrown),
            Err(Stop::Short) => Ok(Js::Undefined),
        }
    }

    fn link(&mut self, expression: &Expr) -> Result<Js<'a>, Stop> {
        self.effort.spend(0)?;
        Ok(match expression {
            Expr::Undefined => Js::Undefined,
            Expr::Null => Js::Null,
            Expr::Boolean(value) => Js::Boolean(*value),
            Expr::Number(number) => Js::Number(*number),
            Expr::Text(text) => Js::Text(text.clone()),
            Expr::Variable(variable) => Js::of(self.scope.value(variable), &mut self.effort)?,
            Expr::Chain(inner) => self.value(inner)?,
            Expr::Member { object, key, optional } => {
                let object = self.object(object, *optional)?;
                let key = self.value(key)?;
                self.member(&object, &key)?
            }
            Expr::Call { object, method, arguments, optional } => {
                let object = self.object(object, *optional)?;
                self.call(&object, *method, arguments)?
            }
            Expr::Unary(operator, argument) => self.unary(*operator, argument)?,
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.binary(*operator, &left, &right)?
            }
            Expr::Logical(operator, left, right) => self.logical(*operator, left, right)?,
            Expr::Choice(test, one, other) => {
                let chosen = if self.value(test)?.is_truthy() { one } else { other };
                self.value(chosen)?
            }
            Expr::List(values) => {
                let values = values.iter().map(|value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
                Js::List(values.into())
            }
            Expr::Template(literals, values) => self.template(literals, values)?,
        })
    }

    /// What stands before a `.` or `?.`.
    fn object(&mut self, object: &Expr, optional: bool) -> Result<Js<'a>, Stop> {
        let object = self.link(object)?;
        if optional && object.is_nullish() { Err(Stop::Short) } else { Ok(object) }
    }

    fn member(&mut self, object: &Js<'a>, key: &Js<'a>) -> Result<Js<'a>, Thrown> {
        if object.is_nullish() {
            let key = String::from_utf16_lossy(&key.to_text(&mut self.effort)?);
            return Err(Thrown::NoMembers(key, object.kind()));
        }
        let key = key.to_text(&mut self.effort)?;
        let name = String::from_utf16_lossy(&key);
        if let Js::Given(Value::Object(members)) = object {
            return match members.get(&name) {
                None if BUILT_IN.contains(&name.as_str()) => Err(Thrown::BuiltIn(name)),
                found => Js::of(found, &mut self.effort),
            };
        }
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        let length = |length: usize| Ok(Js::Number(length as f64));
        match (object, name.as_str(), index(&name)) {
            (Js::Text(text), "length", _) => length(text.len()),
            (Js::Given(Value::Array(values)), "length", _) => length(values.len()),
            (Js::List(values), "length", _) => length(values.len()),
            (Js::Text(text), _, Some(at)) => Ok(text.get(at).map_or(Js::Undefined, |unit| Js::Text(Arc::new([*unit])))),
            (Js::Given(Value::Array(values)), _, Some(at)) => Js::of(values.get(at), &mut self.effort),
            (Js::List(values), _, Some(at)) => Ok(values.get(at).cloned().unwrap_or(Js::Undefined)),
            (_, name, _) if is_built_in(name) => Err(Thrown::BuiltIn(name.to_owned())),
            _ => Ok(Js::Undefined),
        }
    }

    fn call(&mut self, object: &Js<'a>, method: Method, arguments: &[Expr]) -> Result<Js<'a>, Thrown> {
        if object.is_nullish() {
            return Err(Thrown::NoMembers(method.as_str().to_owned(), object.kind()));
        }
        let given = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
        let argument = |at: usize| given.get(at).cloned().unwrap_or(Js::Undefined);
        match (object, method) {
            (Js::Text(text), _) => self.text_method(text, method, &argument(0), &argument(1)),
            (Js::Given(Value::Array(_)) | Js::List(_), Method::Includes) => {
                self.list_includes(object, &argument(0), &argument(1)).map(Js::Boolean)
            }
            _ => Err(Thrown::NoMethod(object.kind(), method.as_str())),
        }
    }

    fn text_method(
        &mut self,
        text: &Arc<[u16]>,
        method: Method,
        first: &Js<'a>,
        second: &Js<'a>,
    ) -> Result<Js<'a>, Thrown> {
        self.effort.spend_on_text(text.len())?;
        let sought = match method {
            Method::Includes | Method::StartsWith | Method::EndsWith => first.to_text(&mut self.effort)?,
            Method::Trim => return Ok(Js::Text(trim(text))),
            Method::ToLowerCase => return Ok(Js::Text(change_case(text, str::to_lowercase))),
            Method::ToUpperCase => return Ok(Js::Text(change_case(text, str::to_uppercase))),
        };
        let place = |number: f64| clamp(number::to_integer(number), text.len());
        let from = match (method, second) {
            (Method::EndsWith, Js::Undefined) => text.len(),
            _ => place(second.to_number(&mut self.effort)?),
        };
        let holds = match method {
            Method::StartsWith => text[from..].starts_with(&sought),
            Method::EndsWith => text[..from].ends_with(&sought),
            _ => {
                // Texts that repeat themselves make every place worth a long look.
                self.effort.spend(text.len() / 16 * (sought.len() / 64))?;
                sought.is_empty() || text[from..].windows(sought.len()).any(|window| *window == *sought)
            }
        };
        Ok(Js::Boolean(holds))
    }

    /// By identity of objects, and with NaN equal to itself.
    fn list_includes(&mut self, list: &Js<'a>, sought: &Js<'a>, from: &Js<'a>) -> Result<bool, Thrown> {
        let length = match list {
            Js::Given(Value::Array(values)) => values.len(),
            Js::List(values) => values.len(),
            _ => 0,
        };
        if length == 0 {
            return Ok(false);
        }
        let from = number::to_integer(from.to_number(&mut self.effort)?);
        #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
        let from = clamp(if from < 0.0 { from + length as f64 } else { from }, length);
        for at in from..length {
            self.effort.spend(0)?;
            let value = match list {
                Js::Given(Value::Array(values)) => Js::of(values.get(at), &mut self.effort)?,
                Js::List(values) => values[at].clone(),
                _ => Js::Undefined,
            };
            let are_nan =
                matches!((&value, sought), (Js::Number(one), Js::Number(two)) if one.is_nan() && two.is_nan());
            if are_nan || value.is_same(sought, &mut self.effort)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn unary(&mut self, operator: Unary, argument: &Expr) -> Result<Js<'a>, Thrown> {
        let value = self.value(argument)?;
        Ok(match operator {
            Unary::Not => Js::Boolean(!value.is_truthy()),
            Unary::Minus => Js::Number(-value.to_number(&mut self.effort)?),
            Unary::Plus => Js::Number(value.to_number(&mut self.effort)?),
            Unary::Typeof => Js::Text(self.effort.text(value.type_of())?),
        })
    }

    fn logical(&mut self, operator: Logical, left: &Expr, right: &Expr) -> Result<Js<'a>, Thrown> {
        let left = self.value(left)?;
        let is_decided = match operator {
            Logical::And => !left.is_truthy(),
            Logical::Or => left.is_truthy(),
            Logical::Coalesce => !left.is_nullish(),
        };
        if is_decided { Ok(left) } else { self.value(right) }
    }

    fn binary(&mut self, operator: Binary, left: &Js<'a>, right: &Js<'a>) -> Result<Js<'a>, Thrown> {
        let effort = &mut self.effort;
        let holds = match operator {
            Binary::Equal => left.is_equal(right, effort)?,
            Binary::NotEqual => !left.is_equal(right, effort)?,
            Binary::Same => left.is_same(right, effort)?,
            Binary::NotSame => !left.is_same(right, effort)?,
            Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
                compare(operator, left, right, effort)?
            }
            Binary::In => return self.contains(left, right).map(Js::Boolean),
            Binary::Add => return add(left, right, effort),
            _ => return arithmetic(operator, left, right, effort).map(Js::Number),
        };
        Ok(Js::Boolean(holds))
    }

    /// `name in object`.
    fn contains(&mut self, name: &Js<'a>, object: &Js<'a>) -> Result<bool, Thrown> {
        if !object.is_object() {
            return Err(Thrown::NotAnObject(object.kind()));
        }
        let name = String::from_utf16_lossy(&name.to_text(&mut self.effort)?);
        let length = match object {
            Js::Given(Value::Object(members)) => {
                return match members.contains_key(&name) {
                    false if BUILT_IN.contains(&name.as_str()) => Err(Thrown::BuiltIn(name)),
                    found => Ok(found),
                };
            }
            Js::Given(Value::Array(values)) => values.len(),
            Js::List(values) => values.len(),
            _ => 0,
        };
        if is_built_in(&name) {
            return Err(Thrown::BuiltIn(name));
        }
        Ok(name == "length" || index(&name).is_some_and(|at| at < length))
    }

    fn template(&mut self, literals: &[Arc<[u16]>], values: &[Expr]) -> Result<Js<'a>, Thrown> {
        let mut parts = Vec::with_capacity(literals.len() + values.len());
        for (at, literal) in literals.iter().enumerate() {
            parts.push(literal.clone());
            if let Some(value) = values.get(at) {
                let value = self.value(value)?;
                parts.push(value.to_text(&mut self.effort)?);
            }
        }
        self.effort.concat(&parts).map(Js::Text)
    }
}

fn add<'a>(left: &Js<'a>, right: &Js<'a>, effort: &mut Effort) -> Result<Js<'a>, Thrown> {
    let (left, right) = (left.to_primitive(effort)?, right.to_primitive(effort)?);
    if matches!(left, Js::Text(_)) || matches!(right, Js::Text(_)) {
        let parts = [left.to_text(effort)?, right.to_text(effort)?];
        return effort.concat(&parts).map(Js::Text);
    }
    Ok(Js::Number(left.to_number(effort)? + right.to_number(effort)?))
}

fn arithmetic(operator: Binary, left: &Js, right: &Js, effort: &mut Effort) -> Result<f64, Thrown> {
    let (left, right) = (left.to_number(effort)?, right.to_number(effort)?);
    Ok(match operator {
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        Binary::Remainder => left % right,
        Binary::Power => number::power(left, right),
        other => unreachable!("{other:?} is no arithmetic on numbers alone"),
    })
}

fn compare(operator: Binary, left: &Js, right: &Js, effort: &mut Effort) -> Result<bool, Thrown> {
    let (left, right) = (left.to_primitive(effort)?, right.to_primitive(effort)?);
    let order = if let (Js::Text(left), Js::Text(right)) = (&left, &right) {
        effort.spend_on_text(left.len().min(right.len()))?;
        Some(left.cmp(right))
    } else {
        left.to_number(effort)?.partial_cmp(&right.to_number(effort)?)
    };
    Ok(match operator {
        Binary::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Binary::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Binary::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    })
}

fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name) || BUILT_IN_ELSEWHERE.split(' ').any(|built_in| built_in == name)
}

/// The place an index names, if it is written as JavaScript writes it.
fn index(name: &str) -> Option<usize> {
    let is_plain = name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
    if is_plain { name.parse().ok() } else { None }
}

/// A whole number as a place in something of that length.
fn clamp(number: f64, length: usize) -> usize {
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
    let place = number.clamp(0.0, length as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the length")]
    let place = place as usize;
    place
}

fn trim(text: &[u16]) -> Arc<[u16]> {
    let is_space = |unit: &u16| char::from_u32(u32::from(*unit)).is_some_and(number::is_space);
    let Some(start) = text.iter().position(|unit| !is_space(unit)) else { return Arc::new([]) };
    let end = text.iter().rposition(|unit| !is_space(unit)).map_or(start, |last| last + 1);
    text[start..end].into()
}

/// Changes whole characters; half ones stay.
fn change_case(text: &[u16], change: impl Fn(&str) -> String) -> Arc<[u16]> {
    let mut changed = Vec::with_capacity(text.len());
    let mut whole = String::new();
    for decoded in char::decode_utf16(text.iter().copied()) {
        match decoded {
            Ok(character) => whole.push(character),
            Err(half) => {
                changed.extend(change(&whole).encode_utf16());
                whole.clear();
                changed.push(half.unpaired_surrogate());
            }
        }
    }
    changed.extend(change(&whole).encode_utf16());
    changed.into()
}
