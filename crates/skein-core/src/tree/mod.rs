//! Conversations as trees. For now: the content hash that proves who wrote a node, and after what.

pub mod node_hash;
