//! Stores catalog entries and everything about them: list index, references, health, and sealed secret values.

pub mod entries;
pub mod health;
pub(crate) mod list_index;
pub mod references;
pub mod vault;
