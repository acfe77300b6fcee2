//! Stores items, records, relations and jobs on SQLite or PostgreSQL; callers do not know which.
//!
//! Everything is read and written through [`Store`] by functions over [`Tx`]. The crate refuses to know HTTP,
//! users' rights beyond whose things are whose, and what any record means. Start at [`store`].

pub mod account;
pub mod backup;
pub mod blobs;
pub mod bundle;
pub mod catalog;
pub mod clock;
mod computation;
mod db;
mod error;
pub mod flow;
pub mod jobs;
pub mod memory;
pub mod metrics;
pub mod operations;
pub mod settings;
pub mod store;
pub mod timeline;
pub mod tree;
mod tx;
pub mod verify;

pub use computation::{Computation, Computed};
pub use db::queued_write::{Committed, LockTarget};
pub use db::schema::SCHEMA_VERSION;
pub use db::storage_status::{DamageStatus, StorageStatus};
pub use db::wake::Wake;
pub use error::{SqlError, StoreError};
pub use store::{Location, Store, StoreOptions, Urgency};
pub use tx::Tx;

/// Longest a read may take, in seconds.
pub const READ_SECONDS_MAX: u64 = 5;
