//! Calls that really leave this crate, to peers on loopback: polite ones by others, and one that is not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod certificate;
mod credential;
mod embeddings;
mod fixtures;
mod guard;
mod http;
mod llm;
mod rest;
