//! Measures tools: calls, failures and latencies.

pub(crate) mod tool_metrics;
