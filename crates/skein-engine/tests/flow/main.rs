//! Runs of processes as the doors start them, on both databases.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod answers;
mod authorship;
mod branching;
mod costs;
mod expiry;
mod faults;
mod fusing;
mod injection;
mod kept_words;
mod lock_order;
mod log;
mod makings;
mod memory;
mod model_filled;
mod nested;
mod nested_rules;
mod pausing;
mod redaction;
mod refusals;
mod repeats;
mod rollback;
mod runs;
mod telemetry;
mod tool_metrics;
mod tool_runs;
mod trace;
mod versions;
mod world;
