//! The way in: HTTP, as a thin translation of one engine call per request.
//!
//! A handler extracts, parses, calls [`skein_engine::Engine`] once and writes the answer; rules and rights are the
//! engine's. Errors meet people in `error`, limits stand in `limits`, what is offered is on one screen in
//! `router`. Start there.

#![expect(unused_qualifications, reason = "the macros that describe routes qualify what they name")]

mod account;
mod blobs;
mod body;
mod context;
mod correlation;
mod docs;
mod error;
mod events;
mod grants;
mod health;
mod host_guard;
mod items;
mod json_parts;
mod keys;
mod landing;
pub mod limits;
mod listen;
mod mutation;
pub mod openapi;
mod operations;
mod pagination;
mod path_id;
mod query;
mod records;
mod relations;
mod router;
mod settings;
mod sign_in;
mod signed_in;
mod users;

pub use context::Context;
pub use host_guard::AllowedHosts;
pub use listen::serve;
pub use router::router;
