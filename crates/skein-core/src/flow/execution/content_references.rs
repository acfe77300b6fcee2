//! Decides whether an item of an execution contains the content of a node: as input, as output or in between.

use serde_json::{Map, Value};

use crate::id::NodeId;
use crate::tree::content::{BRIEF_CHARS_MAX, first_words};
use crate::tree::visible_text::is_blank;

/// So long a text, in bytes, is nobody else's by chance.
const TELLING_BYTES: usize = 16;

/// What a node says, as it is looked for elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeQuotation {
    node: String,
    texts: Vec<String>,
    /// The first words of these, as titles quote them. Another text may begin the same.
    briefs: Vec<String>,
}

impl NodeQuotation {
    /// Every text in a node's content.
    pub fn of(node: NodeId, content: &Map<String, Value>) -> Self {
        let mut texts = Vec::new();
        for (name, value) in content {
            gather(name, value, &mut texts);
        }
        texts.retain(|text| !is_blank(text));
        // White space around it is nobody's.
        for text in &mut texts {
            *text = text.trim().to_owned();
        }
        // A text inside of a text, as the arguments of a call are.
        let written: Vec<String> = texts.iter().filter_map(|text| written_in_json(text)).collect();
        texts.extend(written);
        let briefs = texts.iter().filter_map(|text| brief(text)).collect();
        Self { node: node.to_string(), texts, briefs }
    }

    /// Whether a fact holds a text that is this node's without doubt.
    pub fn is_in(&self, fact: &Map<String, Value>) -> bool {
        let is_telling = |text: &str| text.len() >= TELLING_BYTES;
        let in_text = |within: &str| self.texts.iter().any(|text| is_telling(text) && within.contains(text.trim()));
        any_text(fact, &in_text) || any_object(fact, &|object| self.is_excerpt(object))
    }

    /// Whether bytes that came over the wire hold a text that is this node's without doubt.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        let within = String::from_utf8_lossy(bytes);
        self.texts.iter().any(|text| text.len() >= TELLING_BYTES && within.contains(text.as_str()))
    }

    /// Whether a fact of a run that was told of this node's conversation holds one of its texts, however short, or how one begins.
    pub fn may_be_in(&self, fact: &Map<String, Value>) -> bool {
        let all = self.texts.iter().chain(&self.briefs).map(|text| text.trim());
        let in_text = |within: &str| all.clone().any(|text| within.contains(text));
        any_text(fact, &in_text) || any_object(fact, &|object| self.is_excerpt(object))
    }

    /// Whether nothing is said that could stand elsewhere.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether what somebody else says holds a text that is this node's without doubt.
    pub fn is_said_in(&self, content: &Map<String, Value>) -> bool {
        let told = texts_of(content);
        self.texts
            .iter()
            .filter(|text| text.len() >= TELLING_BYTES)
            .any(|text| told.iter().any(|told| holds(told, text)))
    }

    /// Whether what is said in the same conversation holds one of its texts, however short, as words of their own.
    pub fn may_be_said_in(&self, content: &Map<String, Value>) -> bool {
        let told = texts_of(content);
        self.texts.iter().any(|text| told.iter().any(|told| holds_as_words(told, text.trim())))
    }

    /// An item that contains a part of a node's content names the node.
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

/// Every text in a content, or in a field of that name.
fn texts_of(content: &Map<String, Value>) -> Vec<String> {
    let mut texts = Vec::new();
    for (name, value) in content {
        gather(name, value, &mut texts);
    }
    texts
}

fn holds(within: &str, text: &str) -> bool {
    within.contains(text.trim())
}

/// Whether words stand in a text with no letter or digit right before or after them.
fn holds_as_words(within: &str, words: &str) -> bool {
    let is_apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    within.match_indices(words).any(|(at, _)| {
        is_apart(within[..at].chars().next_back()) && is_apart(within[at + words.len()..].chars().next())
    })
}

/// A text as it is written inside of a JSON text, if that differs.
fn written_in_json(text: &str) -> Option<String> {
    let written = Value::from(text.trim()).to_string();
    let within = &written[1..written.len() - 1];
    (within != text.trim()).then(|| within.to_owned())
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

    fn quoted(text: &str) -> NodeQuotation {
        NodeQuotation::of(NODE, &object(json!({ "nodeId": NODE, "content": { "type": "text", "text": text } })))
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
    fn words_are_found_inside_of_a_text_in_json() {
        let inputs = object(
            json!({ "inputs": { "body": json!({ "q": "Is it \"here\"?\nOr there, by the lake?" }).to_string() } }),
        );
        assert!(quoted("Is it \"here\"?\nOr there, by the lake?").is_in(&inputs));
        assert!(!quoted("Is it \"there\"?\nOr there, by the lake?").is_in(&inputs));
    }

    #[test]
    fn what_others_say_quotes_long_words_anywhere_and_short_ones_as_words() {
        let said = |text: &str| object(json!({ "type": "text", "text": text }));
        let long = quoted("My PIN is not 1234.");
        assert!(long.is_said_in(&said("You said: My PIN is not 1234. Is that so?")));
        assert!(!long.is_said_in(&said("You said something of a PIN.")));
        let short = quoted("1234");
        assert!(!short.is_said_in(&said("It is 1234.")) && short.may_be_said_in(&said("It is 1234.")));
        assert!(!short.may_be_said_in(&said("It is 12345.")) && !short.may_be_said_in(&said("é1234")));
        assert!(!quoted("text").may_be_said_in(&said("nothing")), "the kind of a content is no words");
        for padding in
            ["                ", "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "\u{3000}\u{3000}\u{3000}\u{3000}\u{3000}\u{3000}"]
        {
            let padded = quoted(&format!("e{padding}"));
            assert!(!padded.is_in(&said("everything")) && !padded.is_said_in(&said("everything")));
        }
    }

    #[test]
    fn an_excerpt_says_whose_it_is() {
        let long = quoted("a text of which a search tells a part, with where it stands");
        assert!(long.is_in(&object(json!({ "output": [{ "nodeId": NODE, "text": "a search tells a part" }] }))));
        assert!(long.is_in(&object(json!({ "inputs": { "memory": format!("Source: nodeId={NODE}\n…") } }))));
        assert!(!long.is_in(&object(json!({ "inputs": { "nodeId": NODE } }))), "its name is no words");
    }
}
