//! Memory: episodes, made along the timeline, and what a path may see of them.

mod bring;
mod episodes;
mod follow;
mod ingest;
mod unbound;
mod vectors;
mod visible;

pub use episodes::{Bound, EpisodeState};
pub use follow::{Followed, FollowedEpisode};
pub use ingest::{INGESTED_ITEMS_MAX, Ingested};
pub use unbound::UnboundEpisode;
pub use vectors::{DROPPED_VECTORS_MAX, MadeVector};
pub use visible::{BranchOf, VisibleBranch};
