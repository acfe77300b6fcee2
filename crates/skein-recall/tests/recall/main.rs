//! Tests the guarantees of the index to a follower of the timeline.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod builders;
mod damage;
mod kill;
mod laws;
mod many_owners;
mod missing_vectors;
mod reindex;
mod search;
mod static_table;
