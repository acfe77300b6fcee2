//! Text with places to fill in: `Hello {{user.name}}`.
//!
//! A place names an input, or a part of one by a dotted path. `\{{` stands for two braces that are meant. What a
//! text needs is known by parsing it ([`PlaceholderText::variables`]); what it becomes depends on where it goes, so the caller of
//! [`PlaceholderText::render`] says how a value is written there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::json_template::{RENDERED_BYTES_MAX, too_large};
use crate::rule::RuleViolation;

/// Longest text with placeholders, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 10;
/// Longest path in a placeholder, in bytes.
const PATH_BYTES_MAX: usize = 200;

const OPENING: &str = "{{";
const CLOSING: &str = "}}";
const ESCAPED: &str = "\\{{";

/// What an operation is given: the value of each input by its name.
pub type Inputs = Map<String, Value>;

/// A parsed text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlaceholderText {
    parts: Vec<TextPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextPart {
    Literal(String),
    Place(PlaceholderPath),
}

/// An input, or a part of one: `user.emails.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderPath(String);

/// Why a text with placeholders is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPlaceholder {
    #[error("{{{{{0}}}}} names no input; write a name such as {{{{user.name}}}}, or \\{{{{ for braces that are meant")]
    Name(String),
    #[error("a {{{{ is never closed; close it with }}}}, or write \\{{{{ for braces that are meant")]
    Unclosed,
    #[error("a text with placeholders has at most {TEXT_BYTES_MAX} bytes")]
    TooLong,
    #[error("a text with placeholders cannot hold the character U+0000")]
    Nul,
}

impl PlaceholderText {
    pub fn parse(text: &str) -> Result<Self, BadPlaceholder> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(BadPlaceholder::TooLong);
        }
        if text.contains('\0') {
            return Err(BadPlaceholder::Nul);
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(OPENING) {
            if rest[..at].ends_with('\\') {
                literal.push_str(&rest[..at - 1]);
                literal.push_str(OPENING);
                rest = &rest[at + OPENING.len()..];
                continue;
            }
            literal.push_str(&rest[..at]);
            let (path, after) = rest[at + OPENING.len()..].split_once(CLOSING).ok_or(BadPlaceholder::Unclosed)?;
            if !literal.is_empty() {
                parts.push(TextPart::Literal(std::mem::take(&mut literal)));
            }
            parts.push(TextPart::Place(PlaceholderPath::parse(path)?));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(TextPart::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// Adds the names of the inputs it mentions.
    pub fn variables(&self, into: &mut BTreeSet<String>) {
        into.extend(self.places().map(|path| path.root().to_owned()));
    }

    fn places(&self) -> impl Iterator<Item = &PlaceholderPath> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Place(path) => Some(path),
            TextPart::Literal(_) => None,
        })
    }

    /// The text without any place, if it has none.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Literal(text) => Some(text.as_str()),
            TextPart::Place(_) => None,
        })
    }

    /// The path, if the text is one place and nothing else: then a value keeps its type.
    pub fn sole_place(&self) -> Option<&PlaceholderPath> {
        match self.parts.as_slice() {
            [TextPart::Place(path)] => Some(path),
            _ => None,
        }
    }

    /// The text with every place filled: literals go through unchanged, values as `write` writes them.
    pub fn render(
        &self,
        inputs: &Inputs,
        write: impl Fn(&Value, &mut String) -> Result<(), RuleViolation>,
    ) -> Result<String, RuleViolation> {
        let mut rendered = String::new();
        for part in &self.parts {
            match part {
                TextPart::Literal(text) => rendered.push_str(text),
                TextPart::Place(path) => write(path.require(inputs)?, &mut rendered)?,
            }
            if rendered.len() > RENDERED_BYTES_MAX {
                return Err(too_large());
            }
        }
        Ok(rendered)
    }

    /// The text with every place filled in plain words: texts as they are, anything else as JSON.
    pub fn render_plain(&self, inputs: &Inputs) -> Result<String, RuleViolation> {
        self.render(inputs, |value, into| {
            into.push_str(&plain(value));
            Ok(())
        })
    }
}

impl TryFrom<String> for PlaceholderText {
    type Error = BadPlaceholder;

    fn try_from(text: String) -> Result<Self, BadPlaceholder> {
        Self::parse(&text)
    }
}

/// The source of a text: parsing it gives the same text again.
impl From<PlaceholderText> for String {
    fn from(text: PlaceholderText) -> Self {
        let source = text.parts.iter().map(|part| match part {
            TextPart::Literal(literal) => literal.replace(OPENING, ESCAPED),
            TextPart::Place(PlaceholderPath(path)) => format!("{OPENING}{path}{CLOSING}"),
        });
        source.collect()
    }
}

impl PlaceholderPath {
    fn parse(text: &str) -> Result<Self, BadPlaceholder> {
        let path = text.trim();
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let mut words = path.split('.');
        let is_path = words.next().is_some_and(is_variable_name) && words.all(is_word);
        if is_path && path.len() <= PATH_BYTES_MAX {
            return Ok(Self(path.to_owned()));
        }
        Err(BadPlaceholder::Name(text.chars().take(64).collect()))
    }

    /// The input it begins with.
    pub fn root(&self) -> &str {
        self.0.split('.').next().unwrap_or(&self.0)
    }

    /// The value it leads to, if the inputs have one there.
    pub fn find<'a>(&self, inputs: &'a Inputs) -> Option<&'a Value> {
        let mut words = self.0.split('.');
        let first = inputs.get(words.next()?)?;
        words.try_fold(first, |value, word| match value {
            Value::Object(members) => members.get(word),
            Value::Array(values) => values.get(word.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The value it leads to; nothing and `null` cannot be written into a text.
    fn require<'a>(&self, inputs: &'a Inputs) -> Result<&'a Value, RuleViolation> {
        self.find(inputs).filter(|value| !value.is_null()).ok_or_else(|| {
            let problem = format!("the operation needs {{{{{}}}}}, which the inputs do not give", self.0);
            RuleViolation::new("BR-TOOL-002", problem, "give it a value")
        })
    }
}

/// Whether a word can name an input in a placeholder or a query.
pub fn is_variable_name(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A value in plain words.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
