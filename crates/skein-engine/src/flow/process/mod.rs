//! Processes: definitions, the tools and processes they name, health reports and defaults.

pub(crate) mod default_process;
pub(crate) mod default_processes;
pub(crate) mod definitions;
pub(crate) mod health_report;
pub(crate) mod offered_tools;
pub(crate) mod plan_cache;
pub(crate) mod targets;
