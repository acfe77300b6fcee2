//! Metrics of tools over HTTP.

pub(crate) mod tool_metrics;
