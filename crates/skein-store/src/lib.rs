//! Facts, beliefs, edges and queued work, kept on SQLite or PostgreSQL; nothing above knows which.
//!
//! Everything is read and written through [`Store`] by functions over [`Tx`]. The crate refuses to know HTTP,
//! users' rights beyond whose things are whose, and what any record means. Start at [`store`].

pub mod accounts;
pub mod acts;
mod answers;
pub mod backup;
pub mod blobs;
pub mod bundle;
pub mod catalogue;
pub mod clock;
mod computation;
mod error;
pub mod flow;
pub mod footholds;
pub mod grants;
mod headings;
pub mod health;
pub mod items;
pub mod jobs;
pub mod leases;
mod marks;
pub mod memory;
pub mod operations;
mod pool;
mod postgres;
mod project;
mod proofs;
pub mod records;
pub mod references;
pub mod relations;
mod revisions;
mod room;
mod schema;
pub mod sealer;
pub mod sessions;
pub mod settings;
mod sql;
mod sqlite;
mod storage_status;
pub mod store;
mod tables;
pub mod timeline;
pub mod tree;
mod tx;
pub mod vault;
pub mod verify;
mod wake;
mod work;
pub mod workers;

pub use computation::{Computation, Computed};
pub use error::{SqlError, StoreError};
pub use schema::SCHEMA_VERSION;
pub use storage_status::{DamageStatus, StorageStatus};
pub use store::{Location, Store, StoreOptions, Urgency};
pub use tx::Tx;
pub use wake::Wake;
pub use work::{About, Committed};

/// Longest a read may take, in seconds.
pub const READ_SECONDS_MAX: u64 = 5;
