//! A question to the index, and its answer.

use std::collections::HashSet;

use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_core::{ConversationId, EpisodeId, Millis, UserId};

use crate::episode::EpisodePlace;
use crate::fusion::Weights;
use crate::snippet::Terms;
use crate::visibility::Visibility;

/// Most hits of one answer.
pub const HITS_MAX: usize = 1_000;

/// What is asked, by whom, from where and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub owner: UserId,
    /// Plain text; nothing in it is syntax.
    pub text: String,
    /// The text's vector by the embedder of the index; without it words answer alone.
    pub vector: Option<Vec<f32>>,
    pub visibility: Visibility,
    /// Only what was said by then.
    pub as_of: Option<Millis>,
    /// Only what was known here by then.
    pub known_at: Option<Millis>,
    pub filter: Filter,
    pub recency: Option<Recency>,
    pub weights: Weights,
    /// Cut to [`HITS_MAX`].
    pub limit: usize,
}

impl Query {
    /// Asks everything of one owner; the fields say what to narrow.
    pub fn new(owner: UserId, text: impl Into<String>) -> Self {
        Self {
            owner,
            text: text.into(),
            vector: None,
            visibility: Visibility::default(),
            as_of: None,
            known_at: None,
            filter: Filter::default(),
            recency: None,
            weights: Weights::default(),
            limit: 10,
        }
    }
}

/// Which of the visible episodes may be hits; the others still count as neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub conversations: Option<HashSet<ConversationId>>,
    pub actors: Option<HashSet<ActorId>>,
    pub kinds: Option<Vec<String>>,
    /// Said at or after.
    pub valid_from: Option<Millis>,
    /// Said at or before.
    pub valid_until: Option<Millis>,
    /// None of these, for example because they were told already.
    pub besides: HashSet<EpisodeId>,
}

/// Prefers what was said lately.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recency {
    pub now: Millis,
    /// After so many milliseconds the preference is half.
    pub half_life: i64,
    /// The preference for something said just now, in standard deviations like the other parts.
    pub weight: f32,
}

/// The best episodes, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// What the question was looked up by, to show where a hit [matches](crate::snippet).
    pub terms: Terms,
    /// How far the index had followed the timeline.
    pub cursor: Cursor,
    /// Episodes that could be seen at all.
    pub visible: u32,
}

/// One episode that was found, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub id: EpisodeId,
    /// The sum of its parts.
    pub score: f32,
    pub parts: Parts,
    /// Whether it has any word of the question.
    pub has_words: bool,
    pub place: Option<EpisodePlace>,
    pub actor: Option<ActorId>,
    pub kind: String,
    pub valid_at: Millis,
    pub created_at: Millis,
}

/// What each way of finding gave, in weighted standard deviations above the mean of what could be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    pub words: f32,
    /// Words like those asked for.
    pub likeness: f32,
    pub meaning: f32,
    /// It was said by somebody the question names.
    pub speaker: f32,
    /// What the turns beside it gave.
    pub neighbours: f32,
    pub recency: f32,
    /// The cosine with the question itself, where there are vectors.
    pub similarity: Option<f32>,
}

impl Parts {
    pub fn sum(&self) -> f32 {
        self.words + self.likeness + self.meaning + self.speaker + self.neighbours + self.recency
    }
}
