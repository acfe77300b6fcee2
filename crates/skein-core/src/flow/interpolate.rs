//! Values with places to fill in: `{x}`, `{context.x}`, `{step.x}`, `{step.x.rows[0].title}`.
//!
//! A text that is one place and nothing else becomes the value itself, whatever its type; anywhere else a value is
//! written into the text, texts as they are and anything else as JSON. `{{` and `}}` stand for braces that are meant,
//! and so does a brace that opens nothing that looks like a place: `{"a": 1}` and `{ x }` stay as they are. Texts at
//! any depth of an input are filled; the names of members are not. A place that leads nowhere is null, in a text nothing;
//! an input that is such a place and nothing else is not given at all.

use serde_json::{Map, Value};

use crate::catalog::json_template::RENDERED_BYTES_MAX;
use crate::catalog::placeholder::{is_variable_name, plain};
use crate::flow::scope::{Names, Spelling, Variable, VariableScope};
use crate::rule::RuleViolation;

/// Most places in the inputs of one step.
pub const PLACES_MAX: usize = 1_000;
/// Longest text with places, in bytes.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// Longest place, in bytes.
const PLACE_BYTES_MAX: usize = 400;
/// Deepest path of a place.
const PLACE_DEPTH_MAX: usize = 32;

/// A value in which every place was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InterpolatedValue {
    /// Nothing to fill in.
    Fixed(Value),
    /// One place: the value keeps its type.
    Place(VariablePath),
    Text(Vec<Part>),
    Array(Vec<InterpolatedValue>),
    Object(Vec<(String, InterpolatedValue)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Literal(String),
    Place(VariablePath),
}

impl Part {
    fn variable(&self) -> Option<&Variable> {
        match self {
            Self::Place(place) => Some(&place.variable),
            Self::Literal(_) => None,
        }
    }
}

/// A variable and the way into it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VariablePath {
    variable: Variable,
    path: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Member(String),
    Element(usize),
}

impl InterpolatedValue {
    /// Finds the places of a value; each must name a variable that is known here (BR-STEP-002).
    pub(crate) fn parse(value: &Value, names: &Names, places: &mut usize) -> Result<Self, RuleViolation> {
        let parsed = match value {
            Value::String(text) => return Self::parse_text(text, names, places),
            Value::Array(values) => {
                let parts = values.iter().map(|value| Self::parse(value, names, places));
                Self::Array(parts.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let part = |(name, value): (&String, &Value)| Ok((name.clone(), Self::parse(value, names, places)?));
                Self::Object(members.iter().map(part).collect::<Result<_, RuleViolation>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Fixed(value.clone()),
        };
        Ok(parsed.fixed_if_all_is())
    }

    /// Moves the parts instead of copying them, which would copy what is nested once for each level.
    fn fixed_if_all_is(self) -> Self {
        let moved = |part: Self| match part {
            Self::Fixed(value) => value,
            _ => unreachable!("all parts are fixed"),
        };
        match self {
            Self::Array(parts) if parts.iter().all(|part| part.known().is_some()) => {
                Self::Fixed(parts.into_iter().map(moved).collect())
            }
            Self::Object(parts) if parts.iter().all(|(_, part)| part.known().is_some()) => {
                let members = parts.into_iter().map(|(name, part)| (name, moved(part)));
                Self::Fixed(Value::Object(members.collect()))
            }
            other => other,
        }
    }

    pub(crate) fn parse_text(text: &str, names: &Names, places: &mut usize) -> Result<Self, RuleViolation> {
        let mut parts = parse_parts(text, names)?;
        *places += parts.iter().filter(|part| matches!(part, Part::Place(_))).count();
        if *places > PLACES_MAX {
            let problem = format!("the inputs of a step have more than {PLACES_MAX} places to fill in");
            return Err(RuleViolation::new("BR-STEP-002", problem, "move some of the work to another step"));
        }
        Ok(match parts.as_mut_slice() {
            [] => Self::Fixed(Value::String(String::new())),
            [Part::Literal(text)] => Self::Fixed(Value::String(std::mem::take(text))),
            [Part::Place(place)] => Self::Place(place.clone()),
            _ => Self::Text(parts),
        })
    }

    /// The value with every place filled.
    pub(crate) fn fill(&self, scope: &VariableScope, room: &mut usize) -> Result<Value, RuleViolation> {
        match self {
            Self::Fixed(value) => spend(room, weight(value)).map(|()| value.clone()),
            Self::Place(place) => {
                let value = place.value(scope);
                spend(room, weight(value))?;
                Ok(value.clone())
            }
            Self::Text(parts) => fill_text(parts, scope, room).map(Value::String),
            Self::Array(parts) => parts.iter().map(|part| part.fill(scope, room)).collect::<Result<_, _>>(),
            Self::Object(parts) => {
                let member = |(name, part): &(String, Self)| Ok((name.clone(), part.fill(scope, room)?));
                parts.iter().map(member).collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }

    /// The same as a text.
    pub(crate) fn fill_as_text(&self, scope: &VariableScope, room: &mut usize) -> Result<String, RuleViolation> {
        Ok(match self.fill(scope, room)? {
            Value::Null => String::new(),
            value => plain(&value),
        })
    }

    /// Whether it is one place, and nothing is there.
    pub(crate) fn is_absent(&self, scope: &VariableScope) -> bool {
        matches!(self, Self::Place(place) if place.find(scope).is_none())
    }

    /// The variables it names.
    pub(crate) fn variables(&self) -> Vec<&Variable> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Place(place) => vec![&place.variable],
            Self::Text(parts) => parts.iter().filter_map(Part::variable).collect(),
            Self::Array(parts) => parts.iter().flat_map(Self::variables).collect(),
            Self::Object(parts) => parts.iter().flat_map(|(_, part)| part.variables()).collect(),
        }
    }

    /// The value, if it is known before anything runs.
    pub(crate) fn known(&self) -> Option<&Value> {
        match self {
            Self::Fixed(value) => Some(value),
            _ => None,
        }
    }
}

/// How much a run may put into the inputs of one step, in bytes.
pub(crate) const ROOM_BYTES: usize = RENDERED_BYTES_MAX;

fn fill_text(parts: &[Part], scope: &VariableScope, room: &mut usize) -> Result<String, RuleViolation> {
    let mut text = String::new();
    for part in parts {
        let before = text.len();
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Place(place) => match place.value(scope) {
                Value::Null => {}
                value => {
                    spend(&mut room.clone(), weight(value))?;
                    text.push_str(&plain(value));
                }
            },
        }
        spend(room, text.len() - before)?;
    }
    Ok(text)
}

fn spend(room: &mut usize, bytes: usize) -> Result<(), RuleViolation> {
    *room = room.checked_sub(bytes).ok_or_else(|| {
        let problem = format!("the inputs of the step have more than {ROOM_BYTES} bytes");
        RuleViolation::new("BR-STEP-002", problem, "pass on less of what the steps before it found")
    })?;
    Ok(())
}

/// About how many bytes a value has as JSON.
pub(crate) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| weight(value) + 1).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value) + 4).sum::<usize>() + 2,
    }
}

impl VariablePath {
    /// What is there; null if nothing is.
    fn value<'a>(&self, scope: &VariableScope<'a>) -> &'a Value {
        self.find(scope).unwrap_or(&Value::Null)
    }

    fn find<'a>(&self, scope: &VariableScope<'a>) -> Option<&'a Value> {
        let step = |value: &'a Value, segment: &Segment| match segment {
            Segment::Member(name) => value.get(name),
            Segment::Element(at) => value.get(at),
        };
        self.path.iter().try_fold(scope.value(&self.variable)?, step)
    }

    /// The variable, if the place is all of it.
    pub(crate) fn whole(&self) -> Option<&Variable> {
        self.path.is_empty().then_some(&self.variable)
    }
}

fn parse_parts(text: &str, names: &Names) -> Result<Vec<Part>, RuleViolation> {
    if text.len() > TEXT_BYTES_MAX {
        let problem = format!("a text of the inputs has more than {TEXT_BYTES_MAX} bytes");
        return Err(RuleViolation::new("BR-STEP-002", problem, "shorten it"));
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push_str(&rest[..1]);
            rest = &rest[2..];
        } else if let Some(source) = place_at(rest) {
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Place(parse_place(source, names)?));
            rest = &rest[source.len() + 2..];
        } else {
            literal.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// The text between braces, if it looks like a place.
fn place_at(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?;
    // Looks no further than a place could reach, so that many braces that open none cost no more than their bytes.
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.[]-".contains(byte);
    let end = inside.bytes().take(PLACE_BYTES_MAX + 1).take_while(is_part).count();
    let source = &inside[..end];
    let begins = source.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && end <= PLACE_BYTES_MAX && inside[end..].starts_with('}')).then_some(source)
}

fn parse_place(source: &str, names: &Names) -> Result<VariablePath, RuleViolation> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-STEP-002", problem, remedy));
    let Some(mut path) = parse_path(source) else {
        let remedy = "write {step.x}, {step.x.member} or {step.x.list[0]}; double braces that are meant";
        return refuse(format!("{{{source}}} is not a place"), remedy);
    };
    let Segment::Member(first) = path.remove(0) else { unreachable!("a path begins with a name") };
    let qualified = match path.first() {
        Some(Segment::Member(second)) => Spelling::qualified(&first, second),
        _ => None,
    };
    let variable = names.find(qualified.unwrap_or(Spelling::Bare(&first)));
    let Some(variable) = variable else {
        let problem = format!("{{{source}}} names no variable that is known there; {}", names.describe());
        let remedy =
            "name a variable of the initialContext or of a step in the dependsOn chain; double braces that are meant";
        return refuse(problem, remedy);
    };
    if qualified.is_some() {
        path.remove(0);
    }
    Ok(VariablePath { variable, path })
}

/// `a.b[0].c` in its parts.
fn parse_path(source: &str) -> Option<Vec<Segment>> {
    let mut path = Vec::new();
    for (at, word) in source.split('.').enumerate() {
        let (name, mut indexes) = word.split_at(word.find('[').unwrap_or(word.len()));
        let is_member = |name: &str| !name.is_empty() && !name.contains(']');
        if !(if at == 0 { is_variable_name(name) } else { is_member(name) }) {
            return None;
        }
        path.push(Segment::Member(name.to_owned()));
        while let Some(inside) = indexes.strip_prefix('[') {
            let (index, after) = inside.split_once(']')?;
            path.push(Segment::Element(index.parse().ok()?));
            indexes = after;
        }
        if !indexes.is_empty() {
            return None;
        }
    }
    (path.len() <= PLACE_DEPTH_MAX).then_some(path)
}
