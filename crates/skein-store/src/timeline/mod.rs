//! Appends, reads, projects and seals the items of the timeline, and the records and relations made from them.
//!
//! `items`, `records` and `relations` own one kind each; `projection` writes the rows that follow from an item; `follow`
//! reads the timeline in order; `sealer` and `proofs` hash it.

pub mod follow;
pub mod items;
pub(crate) mod marks;
pub(crate) mod projection;
pub(crate) mod proofs;
pub mod records;
pub mod relations;
pub mod sealer;
