//! The HTTP server: translates each request into one call of the engine.
//!
//! A handler extracts, parses, calls [`skein_engine::Engine`] once and writes the answer; rules and rights are the
//! engine's. Errors meet people in `error`, limits stand in `limits`, what is offered is on one screen in
//! `router`. Start there.

#![expect(unused_qualifications, reason = "the macros that describe routes qualify what they name")]

mod account;
mod catalog;
mod flow;
mod garden;
mod health;
pub mod http;
mod memory;
mod metrics;
mod operations;
mod router;
mod settings;
mod tree;

pub use http::auth::host_guard::AllowedHosts;
pub use http::auth::tokens::{BadToken, BadTokenOptions, Claims, TokenOptions, Tokens};
pub use http::context::Context;
pub use http::listen::{Peer, ServeOptions, Stopping, serve};
pub use router::router;
