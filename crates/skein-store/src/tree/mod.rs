//! Conversations: turns, nodes, paths and what is asked of them.
//!
//! Every row here is projected from items (`project.rs`, `select.rs`); reads are one statement each (`read.rs`,
//! `conversations.rs`) or a few however much there is (`skeleton.rs`). A node's place is its label, a branch and a depth fixed when it was made, so that finding what a
//! switch has to change reads only what changes (`select.rs`).

pub mod append;
pub mod conversations;
pub mod correct;
pub mod gather;
pub mod lists;
mod many;
mod marks;
mod node_rows;
mod prefetch;
mod project;
pub mod proof;
pub mod quotes;
pub mod read;
mod row_cache;
mod rows;
mod select;
pub mod skeleton;
pub mod standing;
pub mod summaries;
pub(crate) mod visits;

pub(crate) use prefetch::TurnAhead;
pub(crate) use project::only_adds;
pub(crate) use row_cache::RowCache;
pub use rows::{ConversationRow, NodeRow, TurnRow};
pub use select::Moved;
