//! An episode: what was said at a node, or brought from elsewhere, as memory keeps it.
//!
//! An episode has no words of its own. What it says stands in an item, which can be destroyed on demand; the episode, its
//! name and its place in every index are computed from there, and gone with it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::account::idempotency::RequestMark;
use crate::digest::{Digest, FieldHasher};
use crate::garden::item::{BadItem, ItemDraft, ItemType};
use crate::id::{ConversationId, EpisodeId, ItemId, NodeId, TurnId, UserId};
use crate::rule::RuleViolation;
use crate::time::Millis;
use crate::tree::actor::ActorId;
use crate::tree::content::first_words;
use crate::tree::node_place::NodeLabel;

/// Longest name of an episode, in characters (rule BR-EPISODE-004).
pub const NAME_CHARS_MAX: usize = 100;
/// Longest name of who said something that was brought, in characters.
pub const SPEAKER_CHARS_MAX: usize = 100;
/// Longest content that is brought, in bytes; longer ones are brought in pieces.
pub const BROUGHT_BYTES_MAX: usize = 1 << 20;

/// What kind of thing an episode remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EpisodeSource {
    /// Something somebody said.
    Message,
    /// A plain text.
    Text,
    /// A document.
    Json,
    /// What several episodes were about.
    Summary,
    /// What was noticed over many of them.
    Introspection,
}

impl EpisodeSource {
    pub const ALL: [Self; 5] = [Self::Message, Self::Text, Self::Json, Self::Summary, Self::Introspection];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Text => "text",
            Self::Json => "json",
            Self::Summary => "summary",
            Self::Introspection => "introspection",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// Something remembered, without its words. Never changed and never deleted (rule BR-EPISODE-001).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    pub id: EpisodeId,
    /// Its group: whose memory it belongs to (rule BR-EPISODE-002).
    pub owner: UserId,
    /// The item that holds what it says.
    pub item: ItemId,
    /// Where it was said; what has no place is visible from every path.
    pub place: Option<EpisodePlace>,
    /// Who said it, where that is an actor.
    pub actor: Option<ActorId>,
    pub source: EpisodeSource,
    /// When it was said (decision Z9).
    pub valid_at: Millis,
    /// When it became known here.
    pub created_at: Millis,
}

/// Where an episode stands in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodePlace {
    pub conversation: ConversationId,
    pub node: NodeId,
    /// An annotation has neither turn nor label of its own.
    pub turn: Option<TurnId>,
    pub label: NodeLabel,
    /// What it answers.
    pub previous: Option<EpisodeId>,
}

impl Episode {
    /// The line it is shown by (rules BR-TURN-EPISODE-002 and BR-EPISODE-004): its turn and node, and what fits of its
    /// first words.
    pub fn name(&self, text: &str) -> String {
        let head = match self.place {
            Some(EpisodePlace { turn: Some(turn), node, .. }) => format!("Turn:{}:{}", turn.bare(), node.bare()),
            Some(EpisodePlace { turn: None, node, .. }) => format!("Node:{}", node.bare()),
            None => format!("Episode:{}", self.id.bare()),
        };
        // One for the space, one for the sign that something was cut.
        let room = NAME_CHARS_MAX - head.chars().count() - 2;
        match first_words(text, room) {
            Some(brief) => format!("{head} {brief}"),
            None => head,
        }
    }
}

/// The episode that remembers a node has the node's own bits, so that each finds the other.
pub fn episode_of(node: NodeId) -> EpisodeId {
    EpisodeId::from_bytes(*node.as_bytes())
}

/// Content that somebody brings from elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportedEpisode {
    pub source: EpisodeSource,
    /// A string, or for `json` any document.
    pub content: Value,
    /// Who said it, for a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// From whose paths it is visible; without it from every one of its owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
}

impl ImportedEpisode {
    /// The item it is kept in.
    pub fn to_draft(&self, said_at: Option<Millis>) -> Result<ItemDraft, BadItem> {
        self.check()?;
        let Value::Object(document) = json!(self) else { unreachable!("a struct is an object") };
        let draft = ItemDraft::recorded_within_limits(ItemType::EPISODE, &document)?;
        Ok(said_at.map_or(draft.clone(), |at| draft.happened_at(at)))
    }

    /// `None` when the document is something else.
    pub fn from_document(document: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(document.clone())).ok()
    }

    fn check(&self) -> Result<(), RuleViolation> {
        let refuse = |problem: &str, remedy| Err(RuleViolation::new("BR-EPISODE-001", problem, remedy));
        match (self.source, &self.content) {
            (EpisodeSource::Summary | EpisodeSource::Introspection, _) => {
                return refuse("summaries and introspections are made here", "bring it as text, message or json");
            }
            (EpisodeSource::Text | EpisodeSource::Message, Value::String(text)) if !text.trim().is_empty() => {}
            (EpisodeSource::Text | EpisodeSource::Message, _) => {
                return refuse("a text or message is a string that says something", "send some words, or source json");
            }
            (EpisodeSource::Json, Value::Object(_) | Value::Array(_)) => {}
            (EpisodeSource::Json, _) => return refuse("a document is an object or a list", "send text as source text"),
        }
        if self.text().len() > BROUGHT_BYTES_MAX {
            return refuse("this is longer than one episode may be", "bring it in pieces of at most 1 MiB");
        }
        let is_line = |name: &String| !name.trim().is_empty() && !name.chars().any(char::is_control);
        match &self.speaker {
            Some(name) if !is_line(name) || name.chars().count() > SPEAKER_CHARS_MAX => {
                refuse("a speaker is one line of 1 to 100 characters", "shorten the name")
            }
            _ => Ok(()),
        }
    }

    /// What it says in words.
    pub fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            document => words_of(document),
        }
    }
}

/// The name that content without a time answers to while it is said now, by the hash of the payload it is kept in.
pub fn said_now(owner: UserId, payload: Digest) -> RequestMark {
    let name = FieldHasher::new().field(b"brought").field(owner.as_bytes()).field(payload.as_bytes()).finish();
    RequestMark { name, fingerprint: payload }
}

/// A document as words: the names and values in it, in their order, without its marks. It ends where it is longer than an
/// episode may be: names are repeated for every value of a list, so that a small document can make a very long text.
fn words_of(document: &Value) -> String {
    fn gather(value: &Value, name: &str, text: &mut String) {
        if text.len() > BROUGHT_BYTES_MAX {
            return;
        }
        match value {
            Value::Null => {}
            Value::Object(fields) => fields.iter().for_each(|(name, value)| gather(value, name, text)),
            Value::Array(values) => values.iter().for_each(|value| gather(value, name, text)),
            plain => {
                let said = plain.as_str().map_or_else(|| plain.to_string(), str::to_owned);
                if !text.is_empty() {
                    text.push('\n');
                }
                if !name.is_empty() {
                    text.push_str(name);
                    text.push_str(": ");
                }
                text.push_str(&said);
            }
        }
    }
    let mut text = String::new();
    gather(document, "", &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(place: bool) -> Episode {
        let node = NodeId::from_bytes([7; 16]);
        let label = NodeLabel { branch: node, depth: 1 };
        let (conversation, turn) = (ConversationId::from_bytes([2; 16]), Some(TurnId::from_bytes([3; 16])));
        Episode {
            id: episode_of(node),
            owner: UserId::from_bytes([1; 16]),
            item: ItemId::from_bytes([4; 16]),
            place: place.then_some(EpisodePlace { conversation, node, turn, label, previous: None }),
            actor: None,
            source: EpisodeSource::Message,
            valid_at: Millis(1),
            created_at: Millis(2),
        }
    }

    fn brought(source: EpisodeSource, content: Value) -> ImportedEpisode {
        ImportedEpisode { source, content, speaker: None, node_id: None }
    }

    #[test]
    fn br_turn_episode_002_a_name_finds_its_turn_and_node_holds() {
        let name = episode(true).name("Herons nest in May, and leave in August when the reeds are cut.");
        let (turn, node) = (TurnId::from_bytes([3; 16]).bare(), NodeId::from_bytes([7; 16]).bare());
        assert!(name.starts_with(&format!("Turn:{turn}:{node} Herons nest in May")), "{name}");
        assert_ne!(episode(true).name(""), episode(false).name(""), "what has no turn is named by itself");
    }

    #[test]
    fn br_episode_004_a_name_is_a_line_of_a_hundred_characters_holds() {
        for text in ["ä".repeat(10_000), "many words ".repeat(99), "a\nb\u{7}".to_owned(), String::new()] {
            for place in [true, false] {
                let name = episode(place).name(&text);
                assert!(name.chars().count() <= NAME_CHARS_MAX && !name.chars().any(char::is_control), "{name}");
            }
        }
    }

    #[test]
    fn br_turn_episode_002_one_name_for_two_nodes_refuses() {
        let place = episode(true).place.unwrap();
        let other = EpisodePlace { node: NodeId::from_bytes([8; 16]), ..place };
        let other = Episode { id: episode_of(other.node), place: Some(other), ..episode(true) };
        assert_ne!(other.name("The same words."), episode(true).name("The same words."));
    }

    #[test]
    fn br_episode_004_content_in_place_of_a_name_refuses() {
        let text = format!("Herons nest in May.\n\n{}", "And leave in August. ".repeat(50));
        let name = episode(true).name(&text);
        assert!(!name.contains("leave in August. And leave") && name.ends_with('…'), "{name}");
    }

    #[test]
    fn what_is_brought_is_kept_and_read_back() {
        let said =
            ImportedEpisode { speaker: Some("Ada".to_owned()), ..brought(EpisodeSource::Message, json!("Eleven.")) };
        let draft = said.to_draft(Some(Millis(5))).unwrap();
        let item = draft.realize(ItemId::from_bytes([9; 16]), UserId::from_bytes([1; 16]), Millis(8));
        assert_eq!(ImportedEpisode::from_document(&item.document().unwrap()), Some(said));
        assert_eq!((item.header.canonical_at, item.header.realized_at), (Millis(5), Millis(8)));
        let document = brought(EpisodeSource::Json, json!({ "bird": "heron", "nests": [11, null], "seen": true }));
        assert_eq!(document.text(), "bird: heron\nnests: 11\nseen: true");
    }

    #[test]
    fn br_episode_001_what_cannot_be_an_episode_refuses() {
        let long = json!("x".repeat(BROUGHT_BYTES_MAX + 1));
        // Written out whole this would be a terabyte.
        let bomb = json!({ "k".repeat(1 << 20): vec![1; 1 << 20] });
        let bad = [
            brought(EpisodeSource::Json, bomb),
            brought(EpisodeSource::Text, json!(" ")),
            brought(EpisodeSource::Text, json!({})),
            brought(EpisodeSource::Json, json!("words")),
            brought(EpisodeSource::Summary, json!("words")),
            brought(EpisodeSource::Text, long),
            ImportedEpisode { speaker: Some("a\nb".to_owned()), ..brought(EpisodeSource::Message, json!("words")) },
        ];
        for brought in bad {
            assert!(matches!(brought.to_draft(None), Err(BadItem::Rule(_))), "{:?} was taken", brought.source);
        }
    }
}
