//! Processes over HTTP.

pub(crate) mod processes;
pub(crate) mod step_fields;
