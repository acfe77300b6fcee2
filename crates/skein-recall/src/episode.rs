//! Defines the changes of an index: episodes that appear, change or disappear.

use skein_core::tree::actor::ActorId;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, EpisodeId, Millis, UserId};

/// Longest text in bytes that is kept; the caller cuts longer ones into several episodes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Longest name of a kind, in bytes.
pub const KIND_BYTES_MAX: usize = 16;
/// Longest name of a speaker, in bytes.
pub const SPEAKER_BYTES_MAX: usize = 256;

/// One thing that was said or brought, as the index keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    pub id: EpisodeId,
    pub owner: UserId,
    /// Where it stands in a conversation; without a place it is visible from every path.
    pub place: Option<EpisodePlace>,
    /// The episode it follows in the same conversation, if any: its neighbour.
    pub previous: Option<EpisodeId>,
    /// Who said it.
    pub actor: Option<ActorId>,
    /// The name of who said it, as people know it; found like any word of the text. May be empty.
    pub speaker: String,
    /// A short name such as `message`, `text`, `json`, `summary`; filters compare it.
    pub kind: String,
    /// When it was said.
    pub valid_at: Millis,
    /// When it became known here.
    pub created_at: Millis,
    pub text: String,
    /// Made by the embedder the index was opened for; without one only words find the episode.
    pub vector: Option<Vec<f32>>,
}

/// A place in a tree, fixed when the node was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodePlace {
    pub conversation: ConversationId,
    pub label: NodeLabel,
}

/// One change of the index. Applying the same one again changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The episode is so from now on, whether it was known or not.
    Upsert(Box<Episode>),
    /// The episode is gone; it need not have been known.
    Delete { owner: UserId, id: EpisodeId },
}

impl Change {
    pub fn owner(&self) -> UserId {
        match self {
            Self::Upsert(episode) => episode.owner,
            Self::Delete { owner, .. } => *owner,
        }
    }
}
