//! Executes queued jobs: workers for tool calls, and loops for operations, catalog work, summaries, traces and maintenance.

pub(crate) mod catalog;
pub(crate) mod maintenance;
pub(crate) mod operations;
pub(crate) mod summaries;
pub(crate) mod telemetry;
pub(crate) mod worker_loop;
pub(crate) mod worker_pool;
