//! The way in: HTTP, as a thin translation of one engine call per request.
//!
//! A handler extracts, parses, calls [`skein_engine::Engine`] once and writes the answer; rules and rights are the
//! engine's. Errors meet people in `error`, limits stand in `limits`, what is offered is on one screen in
//! `router`. Start there.

mod body;
mod compression;
mod correlation;
mod edge;
mod error;
mod health;
mod host_guard;
mod items;
mod json_parts;
mod landing;
pub mod limits;
mod listen;
mod metrics;
mod pagination;
mod query;
mod rate_limit;
mod request_labels;
mod router;
mod safe_headers;
mod signed_in;
mod tokens;
mod workload;

pub use host_guard::AllowedHosts;
pub use listen::{ServeOptions, Stopping, serve};
pub use router::router;
pub use tokens::{BadToken, BadTokenOptions, Claims, TokenOptions, Tokens};
