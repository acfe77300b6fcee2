//! Processes through their public face: every rule of a definition holding and refusing, and what plans make of values.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_pass_by_value, reason = "samples are handed over as `json!` makes them")]

mod approval_policy;
mod bombs;
mod definition;
mod interpolation;
mod laws;
mod order;
mod samples;
mod size;
mod step;
mod target;
