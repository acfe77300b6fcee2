//! Places, conditions and templates as the oracle reads them: as little of each as drawn processes use.

use serde_json::{Map, Value};

/// The variables that can be seen, the initial context among them.
pub(super) struct VisibleVariables<'a>(pub(super) &'a Map<String, Value>);

impl VisibleVariables<'_> {
    /// `x`, `context.x`, `step.x.member`, `x.list[0]`, `x?.member`.
    fn find(&self, path: &str) -> Option<&Value> {
        let plain = path.replace('?', "").replace('[', ".").replace(']', "");
        let bare = plain.strip_prefix("context.").or_else(|| plain.strip_prefix("step.")).unwrap_or(&plain);
        let mut words = bare.split('.');
        let first = self.0.get(words.next()?)?;
        words.try_fold(first, |value, word| match value {
            Value::Array(values) => values.get(word.parse::<usize>().ok()?),
            value => value.get(word),
        })
    }

    /// What a step is given. An input that is a place which leads nowhere is not given at all.
    pub(super) fn filled(&self, inputs: &Value) -> Map<String, Value> {
        let given = inputs.as_object().into_iter().flatten();
        let given = given.filter(|(_, value)| whole(value).is_none_or(|path| self.find(path).is_some()));
        given.map(|(name, value)| (name.clone(), self.fill(value))).collect()
    }

    fn fill(&self, value: &Value) -> Value {
        match (whole(value), value) {
            (Some(path), _) => self.find(path).cloned().unwrap_or_default(),
            (None, Value::String(text)) => Value::String(self.text(text, "{", "}")),
            (None, Value::Array(values)) => values.iter().map(|value| self.fill(value)).collect(),
            (None, Value::Object(members)) => {
                members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect::<Map<_, _>>().into()
            }
            (None, value) => value.clone(),
        }
    }

    /// A text in which every place is filled.
    pub(super) fn text(&self, text: &str, opens: &str, closes: &str) -> String {
        let Some((before, rest)) = text.split_once(opens) else { return text.to_owned() };
        let (path, after) = rest.split_once(closes).expect("a place is closed");
        let value = self.find(path).map(written).unwrap_or_default();
        format!("{before}{value}{}", self.text(after, opens, closes))
    }

    /// An output template: places, and conditions that hold no others.
    pub(super) fn render(&self, template: &str) -> String {
        let Some((before, rest)) = template.split_once("{{#if ") else { return self.text(template, "{{", "}}") };
        let (path, rest) = rest.split_once("}}").expect("a condition is closed");
        let (body, after) = rest.split_once("{{/if}}").expect("a block is closed");
        let (then, otherwise) = body.split_once("{{else}}").expect("a block has two sides");
        let chosen = if self.find(path).is_some_and(says_something) { then } else { otherwise };
        format!("{}{}{}", self.text(before, "{{", "}}"), self.text(chosen, "{{", "}}"), self.render(after))
    }

    /// `path === "text"` and `path == null`, either of them denied, too.
    pub(super) fn holds(&self, condition: &str) -> bool {
        let (path, rest) = condition.split_once(' ').expect("a condition compares");
        let (comparison, literal) = rest.split_once(' ').expect("a condition compares with something");
        let literal: Value = serde_json::from_str(literal).expect("it is compared with a literal");
        let is_equal = self.find(path).unwrap_or(&Value::Null) == &literal;
        is_equal != comparison.starts_with('!')
    }
}

/// The path of a text that is one place and nothing else.
fn whole(value: &Value) -> Option<&str> {
    let path = value.as_str()?.strip_prefix('{')?.strip_suffix('}')?;
    (!path.contains(['{', '}'])).then_some(path)
}

/// A value inside a text.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Neither nothing nor empty; a number is something unless it is zero, where a template asks.
fn says_something(value: &Value) -> bool {
    !is_nothing(value) && *value != Value::Bool(false) && value.as_i64() != Some(0)
}

/// What counts as no output at all.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null()
        || value.as_str().is_some_and(str::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_object().is_some_and(Map::is_empty)
}
