//! Executions: begins, advances, pauses, branches and completes them, each move in one transaction.

pub(crate) mod begin;
pub(crate) mod branching;
pub(crate) mod children;
pub(crate) mod completion;
pub(crate) mod lookup;
pub(crate) mod pausing;
pub(crate) mod streams;
pub(crate) mod timers;
pub(crate) mod tool_run;
pub(crate) mod transaction;
