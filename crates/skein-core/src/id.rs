//! Identifiers: one ULID each, a Rust type per kind of thing, a prefix only at the door (decision X1).
//!
//! Inside, an id is 16 bytes; outside it is `item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A`. Parsing also accepts the UUID
//! spelling of the same 128 bits, because two of the founding designs use it.

use std::fmt;
use std::str::FromStr;

use ulid::{ULID_LEN, Ulid};

use crate::digest::Digest;
use crate::time::Millis;

/// The random 80 bits of an id, drawn before a transaction so that a re-run makes the same choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entropy(pub [u8; 10]);

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {expected} followed by a ULID or UUID")]
pub struct BadId {
    expected: &'static str,
    found: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub fn new(at: Millis, entropy: Entropy) -> Self {
                Self(ulid_bytes(at, entropy))
            }

            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }

            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// The moment its first bits say; ids that were not made here may say anything.
            pub fn made_at(&self) -> Millis {
                let mut milliseconds = [0; 8];
                milliseconds[2..].copy_from_slice(&self.0[..6]);
                Millis(i64::from_be_bytes(milliseconds))
            }

            /// The ULID without its prefix, as it appears inside hashes (decision Z6).
            pub fn bare(&self) -> String {
                Ulid::from_bytes(self.0).to_string()
            }

            fn spelled<'a>(&self, text: &'a mut [u8; $prefix.len() + ULID_LEN]) -> &'a str {
                let (prefix, ulid) = text.split_at_mut($prefix.len());
                prefix.copy_from_slice($prefix.as_bytes());
                Ulid::from_bytes(self.0).array_to_str(ulid.try_into().expect("what is left is for the ULID"));
                str::from_utf8(text).expect("prefixes and ULIDs are ASCII")
            }

            /// Reads the form that [`Self::bare`] writes.
            pub fn from_bare(text: &str) -> Result<Self, BadId> {
                parse_bits(text).map(Self).ok_or_else(|| BadId { expected: "a bare id,", found: shorten(text) })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.spelled(&mut [0; $prefix.len() + ULID_LEN]))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let bits = text.strip_prefix($prefix).and_then(parse_bits);
                bits.map(Self).ok_or_else(|| BadId { expected: $prefix, found: shorten(text) })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.spelled(&mut [0; $prefix.len() + ULID_LEN]))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A conversation, by its record.
    ConversationId = "entity_";
    /// What leads into a node.
    EdgeId = "edge_";
    /// What was said or brought, as it is remembered; computed from the item with the same bits.
    EpisodeId = "episode_";
    /// An immutable fact on the timeline.
    ItemId = "item_";
    /// An API key.
    KeyId = "key_";
    /// One queued piece of work.
    JobId = "job_";
    /// The content at a turn, by the item that tells its place.
    NodeId = "item_";
    /// What a client polls while work goes on.
    OperationId = "op_";
    /// One actor's way through a conversation.
    PathId = "path_";
    /// A mutable belief with its history.
    RecordId = "entity_";
    /// A typed edge.
    RelationId = "rel_";
    /// What a person is asked while a run waits, by the item that tells it.
    ReviewId = "review_";
    /// One run of a process, by the item that tells its beginning.
    ExecutionId = "run_";
    /// A signed-in browser, by a part of the hash of its token.
    SessionId = "session_";
    /// A position in a conversation.
    TurnId = "turn_";
    /// Who owns things.
    UserId = "user_";
    /// One start of a process that takes up jobs.
    WorkerId = "worker_";
}

/// A node is told by an item with the same bits.
impl From<NodeId> for ItemId {
    fn from(node: NodeId) -> Self {
        Self(node.0)
    }
}

impl From<ConversationId> for RecordId {
    fn from(conversation: ConversationId) -> Self {
        Self(conversation.0)
    }
}

impl PathId {
    /// The owner's own path, which every conversation has.
    pub const fn main_of(conversation: ConversationId) -> Self {
        Self(conversation.0)
    }

    /// The path of another participant. It follows from whose it is, so that no fact can move a path it does not own.
    pub fn of(conversation: ConversationId, participant: &[u8; 16]) -> Self {
        let digest = Digest::of(&[conversation.as_bytes().as_slice(), participant].concat());
        Self(digest.0[..16].try_into().expect("a digest has more than 16 bytes"))
    }
}

/// The user's own record has the same bits as the user: a person is a belief like any other.
impl From<UserId> for RecordId {
    fn from(user: UserId) -> Self {
        Self(user.0)
    }
}

impl UserId {
    /// Owner of what belongs to the installation itself: settings, system events.
    pub const SYSTEM: Self = Self([0; 16]);
}

fn ulid_bytes(at: Millis, entropy: Entropy) -> [u8; 16] {
    let mut bits = [0; 16];
    let milliseconds = u64::try_from(at.0).unwrap_or(0).to_be_bytes();
    bits[..6].copy_from_slice(&milliseconds[2..]);
    bits[6..].copy_from_slice(&entropy.0);
    bits
}

pub(crate) fn parse_bits(text: &str) -> Option<[u8; 16]> {
    if text.len() == 36 { parse_uuid(text) } else { parse_ulid(text) }
}

fn parse_ulid(text: &str) -> Option<[u8; 16]> {
    let ulid = Ulid::from_string(text).ok()?;
    // A first character above 7 would overflow 128 bits silently; only the exact spelling is an id.
    ulid.to_string().eq_ignore_ascii_case(text).then(|| ulid.to_bytes())
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<&str> = text.split('-').collect();
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return None;
    }
    crate::digest::from_hex::<16>(&groups.concat())
}

fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ULID: &str = "01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

    #[test]
    fn mg_soil_007_prefixed_ids_round_trip_holds() {
        let id: ItemId = format!("item_{ULID}").parse().unwrap();
        assert_eq!(id.to_string(), format!("item_{ULID}"));
        assert_eq!(id.bare(), ULID);
        assert_eq!(ItemId::from_bare(ULID).unwrap(), id);
    }

    #[test]
    fn uuid_spelling_names_the_same_bits() {
        let id: RecordId = "entity_a1b2c3d4-e5f6-7890-abcd-ef1234567890".parse().unwrap();
        assert_eq!(id.as_bytes()[..4], [0xa1, 0xb2, 0xc3, 0xd4]);
        assert_eq!(id.to_string().parse::<RecordId>().unwrap(), id);
    }

    #[test]
    fn mg_soil_007_foreign_or_malformed_ids_refuses() {
        let overflowing = "item_8ZZZZZZZZZZZZZZZZZZZZZZZZZ".to_owned();
        for text in [format!("entity_{ULID}"), ULID.to_owned(), "item_".to_owned(), overflowing, "item_é".into()] {
            assert!(text.parse::<ItemId>().is_err(), "{text} was taken for an item id");
        }
    }

    #[test]
    fn ids_order_by_time() {
        let early = ItemId::new(Millis(1), Entropy([255; 10]));
        let late = ItemId::new(Millis(2), Entropy([0; 10]));
        assert!(early < late && early.bare() < late.bare());
    }
}
