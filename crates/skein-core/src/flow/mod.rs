//! Work being done: what a process is, how one run of it goes on, what a call of a tool leaves behind, and in whose name.
//!
//! A [`process::Process`] is data: [`step::Step`]s, an output template, budgets. [`plan::Plan`] makes one ready: it
//! holds every rule that needs nothing but the definition, parses every expression once, and is all that is asked at
//! run time. Values are carried between steps by [`interpolate`], decided upon by [`condition`], put together by
//! [`template`] and paid for by [`budget`]; [`validation`] names all that is wrong with a definition
//! that [`draft_size`] finds small enough to be looked at, [`health_report`] what a
//! process would meet if it were run now, [`process_permissions`] who may alter it. [`approval_policy`] decides which calls
//! with arguments of a model a person approves, and [`provenance`] which inputs of a step a model filled in.
//! [`default_process`] decides which process answers where none is named.
//! [`execution`] is the machine that carries a plan out, and
//! [`delegation`] says who else may decide what it asks. [`tool_call`] is the permanent record of one call, [`authorization`] says whether a call may be made at all, with whose secret, and at whose
//! expense, and [`cost`] what is owed for it. [`telemetry`] describes an execution to a trace collector.

pub(crate) mod address;
pub mod approval;
pub mod approval_policy;
pub(crate) mod argument_schema;
pub mod authorization;
pub mod budget;
pub mod condition;
pub mod cost;
pub mod default_process;
pub mod delegation;
pub mod draft_size;
pub mod execution;
pub mod health_report;
pub mod interpolate;
pub mod latency;
pub mod plan;
pub mod process;
pub mod process_permissions;
pub mod provenance;
pub mod scope;
pub mod step;
pub(crate) mod step_set;
pub mod target;
pub mod telemetry;
pub mod template;
pub mod tool_call;
pub mod validation;
