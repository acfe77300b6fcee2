//! Stores conversations: turns, nodes and paths.
//!
//! Every row here is projected from items (`projection.rs`, `path_switch.rs`); reads are one statement each (`read.rs`,
//! `conversations.rs`) or a few however much there is (`skeleton.rs`). A node's place is its label, a branch and a depth fixed when it was made, so that finding what a
//! switch has to change reads only what changes (`path_switch.rs`).

pub mod adjacent_nodes;
pub mod alternative_status;
pub mod append;
pub mod conversations;
pub mod hash_correction;
mod node_batch;
mod node_marks;
mod node_rows;
mod path_switch;
pub(crate) mod path_visits;
mod prefetch;
mod projection;
pub mod proof;
pub mod quotes;
pub mod read;
mod row_cache;
mod rows;
pub mod skeleton;
pub mod summaries;
pub mod tree_read;

pub use path_switch::PathChange;
pub(crate) use prefetch::TurnPrefetch;
pub(crate) use projection::only_adds;
pub(crate) use row_cache::RowCache;
pub use rows::{ConversationRow, NodeRow, TurnRow};
