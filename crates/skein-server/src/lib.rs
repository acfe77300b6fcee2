//! The way in: HTTP, as a thin translation of one engine call per request.
//!
//! A handler extracts, parses, calls [`skein_engine::Engine`] once and writes the answer; rules and rights are the
//! engine's. Errors meet people in `error`, limits stand in `limits`, what is offered is on one screen in
//! `router`. Start there.

#![expect(unused_qualifications, reason = "the macros that describe routes qualify what they name")]

mod account;
mod admission;
mod blobs;
mod body;
mod bundles;
mod catalog;
mod compression;
mod context;
mod correlation;
mod docs;
mod edge;
mod error;
mod events;
mod flow;
mod grants;
mod health;
mod host_guard;
mod items;
mod json;
mod json_parts;
mod keys;
mod known_answers;
mod layer;
pub mod limits;
mod listen;
mod memory;
mod metrics;
mod mutation;
pub mod openapi;
mod operations;
mod page;
mod pagination;
mod path_id;
mod query;
mod rate_limit;
mod records;
mod relations;
mod request_labels;
mod router;
mod safe_headers;
mod sessions;
mod settings;
mod sign_in;
mod signed_in;
mod storage;
mod tokens;
mod tree;
mod upload;
mod users;
mod workload;

pub use context::Context;
pub use host_guard::AllowedHosts;
pub use listen::{ServeOptions, Stopping, Visitor, serve};
pub use router::router;
pub use tokens::{BadToken, BadTokenOptions, Claims, TokenOptions, Tokens};
