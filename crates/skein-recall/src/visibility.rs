//! Decides by labels alone which episodes a query may see.
//!
//! A branch is a chain, so a path is a few branches, each up to some depth. A conversation with a single branch needs no
//! mention; the caller lists those that have more. What has no place is visible from everywhere.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use skein_core::{ConversationId, EpisodeId, NodeId};

/// Branches of conversations, each seen down to a depth; of a conversation that is here nothing else is seen.
pub type VisibleBranches = HashMap<ConversationId, Vec<BranchRange>>;

/// The rule of one question. Nothing outside of it is a hit, a neighbour or counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visibility {
    /// What holds for this question.
    pub listed: VisibleBranches,
    /// What holds for conversations that are not listed for it. As long as questions share the same, nobody looks again at
    /// which rows it shows.
    pub shared: Arc<VisibleBranches>,
    /// What holds for conversations that are not listed.
    pub unlisted: UnlistedVisibility,
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
pub enum UnlistedVisibility {
    /// Seen whole: right where every conversation with several branches is listed.
    #[default]
    Seen,
    Hidden,
}

impl Visibility {
    /// How deep a branch is seen where nothing is listed for this question alone; nothing is as deep as [`i64::MIN`].
    pub(crate) fn shared_depth(&self, conversation: ConversationId, branch: NodeId) -> i64 {
        match (self.shared.get(&conversation), self.unlisted) {
            (Some(ranges), _) => depth_in(ranges, branch),
            (None, UnlistedVisibility::Seen) => i64::MAX,
            (None, UnlistedVisibility::Hidden) => i64::MIN,
        }
    }
}

/// How deep a branch is seen by what is listed of its conversation.
pub(crate) fn depth_in(ranges: &[BranchRange], branch: NodeId) -> i64 {
    ranges.iter().filter(|range| range.branch == branch).map(|range| range.down_to).max().unwrap_or(i64::MIN)
}
