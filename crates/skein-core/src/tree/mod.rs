//! Conversations as trees: what a turn, a node, an edge and a path are, and what may be done to them.

pub mod actor;
pub mod local_id;
pub mod node;
pub mod node_hash;
pub mod place;
pub mod status;
pub mod turn;
