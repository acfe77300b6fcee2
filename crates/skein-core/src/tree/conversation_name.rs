//! Names a conversation: by its title, by what it grew from, by its first words, or by its number (rule AG-TREE-002).
//!
//! A name is computed when it is shown and stored nowhere: a redaction of the words changes every name made of them
//! (rule MG-SOIL-010).

use crate::id::RecordId;
use crate::tree::content::{BRIEF_CHARS_MAX, first_words};
use crate::tree::conversation::{Conversation, ConversationKind};
use crate::tree::short_text::TITLE_CHARS_MAX;

/// What a conversation is called by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnName {
    /// Its title, or the first words of its root.
    Words(String),
    /// The conversation it grew from, as in "Fork of Herons".
    After(&'static str, RecordId),
    /// Its number among its owner's conversations.
    Number,
}

impl Conversation {
    /// What it is called by; `root_text` is what its root says, if it says anything.
    pub fn own_name(&self, root_text: Option<&str>) -> OwnName {
        if let Some(title) = &self.title {
            return OwnName::Words(title.to_string());
        }
        if let Some(folded) = self.continues {
            return OwnName::After("Continues", folded);
        }
        match &self.forked_from {
            Some(origin) if self.kind == ConversationKind::ToolRun => {
                OwnName::After("Tool run in", origin.conversation_id)
            }
            Some(origin) => OwnName::After("Fork of", origin.conversation_id),
            None => {
                root_text.and_then(|text| first_words(text, BRIEF_CHARS_MAX)).map_or(OwnName::Number, OwnName::Words)
            }
        }
    }
}

/// The name of a conversation that grew from others, nearest first, the last of which is called by words.
pub fn name_after(grown: &[&'static str], words: &str) -> String {
    let whole = [grown, &[words]].concat().join(" ");
    first_words(&whole, TITLE_CHARS_MAX - 1).unwrap_or_default()
}

/// Whether a name is as long as names are, whatever comes after it.
pub fn is_full(grown: &[&'static str]) -> bool {
    grown.iter().map(|prefix| prefix.chars().count() + 1).sum::<usize>() >= TITLE_CHARS_MAX
}

/// The name of a conversation that says nothing.
pub fn numbered(number: usize) -> String {
    format!("Loom Tree {number}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalog::entry::Entry as _;
    use crate::id::{ItemId, TurnId};
    use crate::tree::conversation::ForkOrigin;

    const PARENT: RecordId = RecordId::from_bytes([3; 16]);
    const ORIGIN: ForkOrigin = ForkOrigin {
        conversation_id: PARENT,
        turn_id: TurnId::from_bytes([4; 16]),
        node_id: ItemId::from_bytes([5; 16]),
    };

    fn made(draft: Value) -> Conversation {
        Conversation::create(serde_json::from_value(draft).unwrap(), None)
    }

    fn words(text: &str) -> OwnName {
        OwnName::Words(text.to_owned())
    }

    #[test]
    fn ag_tree_002_titles_come_from_the_root_or_a_number_holds() {
        let plain = made(json!({}));
        assert_eq!(plain.own_name(None), OwnName::Number);
        for silent in ["", " \n "] {
            assert_eq!(plain.own_name(Some(silent)), OwnName::Number);
        }
        assert_eq!(plain.own_name(Some("How do\nlooms work?")), words("How do looms work?"));
        assert_eq!(made(json!({ "title": "Looms" })).own_name(Some("Hello")), words("Looms"));
        assert_eq!((numbered(3), plain.description), ("Loom Tree 3".to_owned(), None));
    }

    #[test]
    fn mg_soil_010_no_name_made_of_words_is_stored_holds() {
        let parent = made(json!({ "title": "Secret plans" }));
        let fork = parent.fork(ORIGIN, None);
        assert_eq!(fork.own_name(Some("Own words")), OwnName::After("Fork of", PARENT));
        assert_eq!(parent.tool_run(ORIGIN).own_name(None), OwnName::After("Tool run in", PARENT));
        let reopened = Conversation { continues: Some(PARENT), ..fork.clone() };
        assert_eq!(reopened.own_name(None), OwnName::After("Continues", PARENT));
        for grown in [fork, parent.tool_run(ORIGIN), reopened] {
            assert!(!Value::Object(grown.to_data()).to_string().contains("Secret"));
        }
    }

    #[test]
    fn names_are_as_short_as_titles() {
        assert_eq!(name_after(&["Fork of", "Continues"], "Plans"), "Fork of Continues Plans");
        let many = ["Fork of"; 30];
        assert!(!is_full(&many[..20]) && is_full(&many[..25]));
        let long = name_after(&many[..25], "Plans");
        assert!(long.chars().count() <= TITLE_CHARS_MAX && long.ends_with('…'));
    }
}
