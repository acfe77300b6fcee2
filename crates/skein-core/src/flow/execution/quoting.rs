//! Whether a fact of a run holds what a node says: runs are told words, hand them on and give them back.

use serde_json::{Map, Value};

use crate::id::NodeId;
use crate::tree::blank::is_blank;
use crate::tree::content::{BRIEF_CHARS_MAX, first_words};

/// So long a text, in bytes, is nobody else's by chance.
const TELLING_BYTES: usize = 16;

/// What a node says, as it is looked for elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted {
    node: String,
    texts: Vec<String>,
    /// The first words of these, as titles quote them. Another text may begin the same.
    briefs: Vec<String>,
}

impl Quoted {
    /// Every text in a node's content.
    pub fn of(node: NodeId, content: &Map<String, Value>) -> Self {
        let mut texts = Vec::new();
        for (name, value) in content {
            gather(name, value, &mut texts);
        }
        texts.retain(|text| !is_blank(text));
        let briefs = texts.iter().filter_map(|text| brief(text)).collect();
        Self { node: node.to_string(), texts, briefs }
    }

    /// Whether a fact holds a text that is this node's without doubt.
    pub fn is_in(&self, fact: &Map<String, Value>) -> bool {
        let is_telling = |text: &str| text.len() >= TELLING_BYTES;
        let in_text = |within: &str| self.texts.iter().any(|text| is_telling(text) && within.contains(text.trim()));
        any_text(fact, &in_text) || any_object(fact, &|object| self.is_excerpt(object))
    }

    /// Whether a fact of a run that was told of this node's conversation holds one of its texts, however short, or how one begins.
    pub fn may_be_in(&self, fact: &Map<String, Value>) -> bool {
        let all = self.texts.iter().chain(&self.briefs).map(|text| text.trim());
        let in_text = |within: &str| all.clone().any(|text| within.contains(text));
        any_text(fact, &in_text) || any_object(fact, &|object| self.is_excerpt(object))
    }

    /// Whoever tells a part of what a node says, tells which node it is.
    fn is_excerpt(&self, object: &Map<String, Value>) -> bool {
        let names_it = object.values().any(|value| value.as_str() == Some(self.node.as_str()));
        let says_something = ["text", "content", "snippet"].iter().any(|name| object.contains_key(*name));
        let tells_source = object
            .values()
            .filter_map(Value::as_str)
            .any(|text| text.len() > self.node.len() && text.contains(self.node.as_str()));
        (names_it && says_something) || tells_source
    }
}

/// The first words of a text, as the title of its conversation quotes them.
fn brief(text: &str) -> Option<String> {
    let brief = first_words(text, BRIEF_CHARS_MAX)?;
    Some(brief.trim_end_matches('…').to_owned()).filter(|brief| brief != text.trim())
}

fn gather(name: &str, value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if name == "text" || name == "altText" => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| gather(name, value, texts)),
        Value::Object(members) => members.iter().for_each(|(name, value)| gather(name, value, texts)),
        _ => {}
    }
}

fn any_text(fact: &Map<String, Value>, is_meant: &impl Fn(&str) -> bool) -> bool {
    fact.values().any(|value| value_has_text(value, is_meant))
}

fn value_has_text(value: &Value, is_meant: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_meant(text),
        Value::Array(values) => values.iter().any(|value| value_has_text(value, is_meant)),
        Value::Object(members) => members.values().any(|value| value_has_text(value, is_meant)),
        _ => false,
    }
}

fn any_object(fact: &Map<String, Value>, is_meant: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    is_meant(fact) || fact.values().any(|value| value_has_object(value, is_meant))
}

fn value_has_object(value: &Value, is_meant: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| value_has_object(value, is_meant)),
        Value::Object(members) => any_object(members, is_meant),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NODE: NodeId = NodeId::from_bytes([7; 16]);

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    fn quoted(text: &str) -> Quoted {
        Quoted::of(NODE, &object(json!({ "nodeId": NODE, "content": { "type": "text", "text": text } })))
    }

    #[test]
    fn words_are_found_however_deep_they_lie() {
        let fact = object(
            json!({ "inputs": { "messages": [{ "role": "user", "content": "So: My PIN is not 1234. Or is it?" }] } }),
        );
        assert!(quoted("My PIN is not 1234.").is_in(&fact));
        assert!(!quoted("My PIN is not 4321.").is_in(&fact));
    }

    #[test]
    fn short_words_are_found_only_where_they_were_told() {
        let fact = object(json!({ "inputs": { "value": "1234" } }));
        assert!(!quoted("1234").is_in(&fact));
        assert!(quoted("1234").may_be_in(&fact));
        assert!(!quoted(" ").may_be_in(&fact), "who says nothing is quoted nowhere");
    }

    #[test]
    fn the_first_words_are_found_as_a_title_tells_them() {
        let prompt = object(json!({ "inputs": { "prompt": "Tree: Fork of my secret plan is here" } }));
        assert!(quoted("my secret plan\nis here").may_be_in(&prompt));
        let long = format!("my secret plan is {}", "very ".repeat(40));
        let title = format!("Tree: {}", first_words(&long, BRIEF_CHARS_MAX).unwrap());
        let title = object(json!({ "prompt": title }));
        assert!(quoted(&long).may_be_in(&title) && !quoted(&long).is_in(&title), "another text may begin the same");
        assert!(!quoted("another plan\nis here").may_be_in(&prompt));
    }

    #[test]
    fn an_excerpt_says_whose_it_is() {
        let long = quoted("a text of which a search tells a part, with where it stands");
        assert!(long.is_in(&object(json!({ "output": [{ "nodeId": NODE, "text": "a search tells a part" }] }))));
        assert!(long.is_in(&object(json!({ "inputs": { "memory": format!("Source: nodeId={NODE}\n…") } }))));
        assert!(!long.is_in(&object(json!({ "inputs": { "nodeId": NODE } }))), "its name is no words");
    }
}
