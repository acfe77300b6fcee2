//! What the index promises to whoever follows a timeline with it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod build;
mod damage;
mod fill;
mod kill;
mod laws;
mod many;
mod retell;
mod table;
