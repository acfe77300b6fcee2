//! Development only: what tests need from the world, started and cleaned up for them.
//!
//! A test of the storage layer wants a real PostgreSQL, a test of the binary wants a real process to
//! kill, tests of blobs and of language models want services that others wrote. Each is a guard here: made by
//! one call, gone when it is dropped, and gone as well when the test process is killed. What is missing
//! on the machine is a panic that says how to get it, never a skipped test. Linux only.
//!
//! Start at [`postgres::Cluster`], [`process::Program`], [`moto::Moto`] or [`hostile_server::HostileServer`].

pub mod collector;
pub mod hostile_server;
pub mod http;
pub mod httpbin;
pub mod litellm;
pub mod moto;
pub mod postgres;
pub mod process;
pub mod python;
mod scratch;
pub mod tls;
pub mod wait;

/// The value of an environment variable, with an empty one taken as absent.
#[expect(clippy::disallowed_methods, reason = "how a test run is told of its servers and cache")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
