//! Memory: episodes, made along the timeline, and what a path may see of them.

mod episodes;
mod follow;
mod import_episode;
mod ingest;
mod unindexable;
mod vectors;
mod visible_branches;

pub use episodes::{EpisodeStage, EpisodeState};
pub use follow::{IndexChange, IndexedEpisode};
pub use ingest::{INGESTED_ITEMS_MAX, IngestResult};
pub use unindexable::UnindexableEpisode;
pub use vectors::{DROPPED_VECTORS_MAX, StoredVector};
pub use visible_branches::{BranchOrigin, VisibleBranch};
