//! Memory: episodes, made along the timeline, and what a path may see of them.

mod episodes;
mod follow;
mod import_episode;
mod ingest;
mod unindexable;
mod vectors;
mod visible_branches;

pub use episodes::{Bound, EpisodeState};
pub use follow::{Followed, FollowedEpisode};
pub use ingest::{INGESTED_ITEMS_MAX, Ingested};
pub use unindexable::UnboundEpisode;
pub use vectors::{DROPPED_VECTORS_MAX, MadeVector};
pub use visible_branches::{BranchOf, VisibleBranch};
