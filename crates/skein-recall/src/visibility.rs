//! Which episodes a question may see, decided by labels alone.
//!
//! A branch is a chain, so a path is a few branches, each up to some depth. A conversation with a single branch needs no
//! mention; whoever asks lists those that have more. What has no place is visible from everywhere.

use std::collections::{HashMap, HashSet};

use skein_core::{ConversationId, EpisodeId, NodeId};

/// The rule of one question. Nothing outside of it is a hit, a neighbour or counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Of the conversations listed here only these branches are seen, each down to a depth.
    pub listed: HashMap<ConversationId, Vec<BranchRange>>,
    /// What holds for conversations that are not listed.
    pub unlisted: Unlisted,
    /// Seen whatever the branches say, for example what is pinned.
    pub pinned: HashSet<EpisodeId>,
    /// Never seen, for example versions that are not selected. Stronger than everything else.
    pub hidden: HashSet<EpisodeId>,
}

/// One branch down to a depth, both as in a node's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchRange {
    pub branch: NodeId,
    pub down_to: i64,
}

/// What holds for conversations nobody listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// Seen whole: right where every conversation with several branches is listed.
    #[default]
    Seen,
    Hidden,
}

impl Visibility {
    /// How deep a branch is seen; `None` when it is not.
    pub(crate) fn depth_of(&self, conversation: ConversationId, branch: NodeId) -> Option<i64> {
        match self.listed.get(&conversation) {
            Some(ranges) => ranges.iter().filter(|range| range.branch == branch).map(|range| range.down_to).max(),
            None => (self.unlisted == Unlisted::Seen).then_some(i64::MAX),
        }
    }
}
