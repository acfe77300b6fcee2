//! The catalog through its public face: every rule holding and refusing, and the laws of what is rendered.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_pass_by_value, reason = "samples are handed over as `json!` makes them")]

mod discovery;
mod laws;
mod operation;
mod samples;
mod schema;
mod secret;
mod service;
mod sharing;
mod template;
mod tool;
