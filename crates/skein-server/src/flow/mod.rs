//! Processes over HTTP: runs of them, what people are asked, who is at work.

pub(crate) mod executions;
pub(crate) mod reviews;
pub(crate) mod workers;
