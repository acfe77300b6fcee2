//! Processes over HTTP: their definitions, runs of them, what people are asked, who is at work.

pub(crate) mod approvals;
pub(crate) mod default_process;
pub(crate) mod executions;
pub(crate) mod generations;
pub(crate) mod processes;
pub(crate) mod reviews;
pub(crate) mod step_fields;
pub(crate) mod workers;
