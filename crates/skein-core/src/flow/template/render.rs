//! Filling a template, with a limit on the text and on the work.

use serde_json::Value;

use super::{ElementPosition, Path, Piece};
use crate::catalog::placeholder::plain;
use crate::flow::interpolate::weight;
use crate::flow::scope::VariableScope;

/// Largest text a process answers with, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// Most pieces written, counting each turn of each `#each`.
const PIECES_MAX: usize = 1_000_000;

pub(super) fn render(pieces: &[Piece], scope: &VariableScope) -> Result<String, String> {
    let mut rendering = Rendering { scope, elements: Vec::new(), text: String::new(), work: 0 };
    rendering.pieces(pieces)?;
    Ok(rendering.text)
}

/// The element that a block is at.
struct Element<'a> {
    value: &'a Value,
    key: Option<&'a str>,
    at: usize,
    length: usize,
}

struct Rendering<'s, 'a> {
    scope: &'s VariableScope<'a>,
    /// Of the blocks around, the innermost last.
    elements: Vec<Element<'a>>,
    text: String,
    work: usize,
}

/// A value that stands in the variables, or one made here.
enum TemplateValue<'a> {
    There(&'a Value),
    Made(Value),
}

impl<'a> Rendering<'_, 'a> {
    fn pieces(&mut self, pieces: &[Piece]) -> Result<(), String> {
        pieces.iter().try_for_each(|piece| self.piece(piece))
    }

    fn piece(&mut self, piece: &Piece) -> Result<(), String> {
        self.work()?;
        match piece {
            Piece::Text(text) => self.write(text),
            Piece::Value(path) => match self.find(path) {
                None | Some(TemplateValue::There(Value::Null)) => Ok(()),
                Some(TemplateValue::There(Value::String(text))) => self.write(text),
                Some(TemplateValue::There(value)) => {
                    self.check_room(weight(value))?;
                    self.write(&plain(value))
                }
                Some(TemplateValue::Made(value)) => self.write(&plain(&value)),
            },
            Piece::If { test, then, otherwise } => {
                let holds = match self.find(test) {
                    None => false,
                    Some(TemplateValue::There(value)) => is_truthy(value),
                    Some(TemplateValue::Made(value)) => is_truthy(&value),
                };
                self.pieces(if holds { then } else { otherwise })
            }
            Piece::Each { list, body, otherwise } => match self.find(list) {
                Some(TemplateValue::There(Value::Array(values))) if !values.is_empty() => {
                    let elements = values.iter().map(|value| (None, value));
                    self.each(elements, values.len(), body)
                }
                Some(TemplateValue::There(Value::Object(members))) if !members.is_empty() => {
                    let elements = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                    self.each(elements, members.len(), body)
                }
                _ => self.pieces(otherwise),
            },
        }
    }

    fn each(
        &mut self,
        elements: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
        length: usize,
        body: &[Piece],
    ) -> Result<(), String> {
        for (at, (key, value)) in elements.enumerate() {
            self.work()?;
            self.elements.push(Element { value, key, at, length });
            self.pieces(body)?;
            self.elements.pop();
        }
        Ok(())
    }

    fn find(&self, path: &Path) -> Option<TemplateValue<'a>> {
        let element = |up: usize| self.elements.iter().rev().nth(up);
        match path {
            Path::Variable(variable, members) => follow(self.scope.value(variable)?, members),
            Path::Element(up, members) => follow(element(*up)?.value, members),
            Path::Which(up, which) => {
                let Element { key, at, length, .. } = *element(*up)?;
                Some(TemplateValue::Made(match which {
                    ElementPosition::Index => Value::from(at),
                    ElementPosition::Key => Value::from(key?),
                    ElementPosition::First => Value::from(at == 0),
                    ElementPosition::Last => Value::from(at + 1 == length),
                }))
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.check_room(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn check_room(&self, bytes: usize) -> Result<(), String> {
        if self.text.len().saturating_add(bytes) > OUTPUT_BYTES_MAX {
            return Err(format!("the output of the process has more than {OUTPUT_BYTES_MAX} bytes"));
        }
        Ok(())
    }

    fn work(&mut self) -> Result<(), String> {
        self.work += 1;
        if self.work > PIECES_MAX {
            return Err(format!("the outputTemplate is filled by more than {PIECES_MAX} pieces"));
        }
        Ok(())
    }
}

fn follow<'a>(start: &'a Value, members: &[String]) -> Option<TemplateValue<'a>> {
    let step = |value: &'a Value, word: &String| match value {
        Value::Object(members) => members.get(word),
        Value::Array(values) => values.get(word.parse::<usize>().ok()?),
        _ => None,
    };
    members.iter().try_fold(start, step).map(TemplateValue::There)
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}
