//! Work being done: what a call of a tool leaves behind, and in whose name it runs.
//!
//! Start at [`tool_call`] for the permanent record of one call, and at [`footing`] for whether a call may be made at
//! all, with whose secret, and at whose expense.

pub mod footing;
pub mod tool_call;
