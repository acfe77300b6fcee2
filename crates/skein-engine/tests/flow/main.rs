//! Runs of processes as the doors start them, on both databases.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod answers;
mod faults;
mod memory;
mod nested;
mod redaction;
mod refusals;
mod runs;
mod tool_runs;
mod trace;
mod world;
