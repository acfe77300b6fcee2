//! The garden's use cases: facts, beliefs, edges and attachments, stated and read back.
//!
//! What they may be is decided in `skein_core::garden`; where they are kept, in `skein-store`.

mod blobs;
pub(crate) mod bundles;
pub(crate) mod disk_usage;
pub mod events;
mod items;
mod records;
mod relations;

pub use blobs::Attachment;
pub use items::{ITEMS_PER_BATCH_MAX, NewItem, Redacted};
pub use records::{FieldChange, HistoryEntry, PastState};
pub use relations::RelationQuery;
