//! Runs of processes as the doors start them, on both databases.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod answers;
mod authorship;
mod branching;
mod costs;
mod engine_fixture;
mod executions;
mod expiry;
mod faults;
mod fusion;
mod generations;
mod idempotency;
mod injection;
mod lock_order;
mod log;
mod memory;
mod model_filled;
mod nested;
mod nested_rules;
mod partial_output;
mod pausing;
mod redaction;
mod refusals;
mod rollback;
mod telemetry;
mod tool_metrics;
mod tool_runs;
mod trace;
mod versions;
