//! The way out: everything Skein asks of the world beyond its own store.
//!
//! Language models are in [`llm`]; the one that is built in and needs nobody is in [`offline`].

pub mod llm;
pub mod offline;
