//! Conversations as trees: what may be said where, by whom, and how it is proved, shown and handed to a model.
//!
//! A [`conversation`] is a record; what is said in it is [`content`] on nodes, which are facts. Each kind of thing is made
//! from a draft and altered by a change, as everywhere; what follows from the tree (which answer is stale, what a model is
//! shown, how two paths differ) is computed from values and never stored.

pub mod actor;
pub mod compare;
pub mod configuration;
pub mod content;
pub mod context;
pub mod conversation;
pub mod conversation_name;
pub mod fusion;
pub mod local_id;
pub mod media;
pub mod node;
pub mod node_hash;
pub mod node_place;
pub mod node_status;
pub mod render;
pub mod rollback;
pub mod short_text;
mod spelled_enum;
pub mod summary;
pub mod turn;
pub mod verify;
pub mod visible_text;
