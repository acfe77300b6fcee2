//! Work being done: how it is sequenced, how one run of it goes on, and what a call of a tool leaves behind.
//!
//! Start at [`process`] for what a person defines, at [`plan`] for what it means, and at [`execution`] for the machine that
//! carries it out. [`tool_call`] is the permanent record of one call, and [`footing`] says whether a call may be made at
//! all, with whose secret, and at whose expense.

pub mod execution;
pub mod footing;
pub mod tool_call;
