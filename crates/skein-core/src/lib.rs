//! Decides everything in the domain of Skein, by pure functions over values.
//!
//! Nothing here does I/O, reads a clock or draws randomness: times, ids and loaded state are arguments,
//! decisions and refusals are results. To learn *what* Skein stores, start in [`garden`];
//! to learn *how bytes are hashed*, start in [`canonical`] and [`digest`].

pub mod account;
pub mod canonical;
pub mod catalog;
pub mod digest;
pub mod document;
pub mod fence;
pub mod flow;
pub mod garden;
pub mod id;
pub mod memory;
pub mod ravens;
pub mod reference;
pub mod rule;
pub mod setting;
pub mod time;
pub mod tree;

pub use account::Viewer;
pub use digest::Digest;
pub use id::{
    ConversationId, EdgeId, EpisodeId, ExecutionId, ItemId, JobId, KeyId, NodeId, OperationId, PathId, RecordId,
    RelationId, ReviewId, SessionId, TurnId, UserId, WorkerId,
};
pub use reference::ReferenceField;
pub use rule::RuleViolation;
pub use time::Millis;
