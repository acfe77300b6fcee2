//! One run of a process, as a state machine that decides everything and does nothing.
//!
//! [`step`](machine::step) takes where a run stands and what happened, and gives where it stands then and what is to be
//! done: calls to queue, people to ask, other runs to start, an end to write down. It is total: what no longer fits, such
//! as a result that is delivered twice, changes nothing. The caller commits the new state and the effects together.
//!
//! Start at [`machine`]; [`state`] says what is kept of a run, [`input`] what can happen to one and what it asks for.

pub mod content_references;
pub mod input;
pub mod item_payload;
pub mod machine;
pub mod review;
pub mod state;
pub mod tool_loop;
mod tool_rounds;

#[cfg(test)]
mod tests;
