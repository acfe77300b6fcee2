//! Calls a tool: authorizes the call, records it, sends it through the gateway, and records its result.
//!
//! Executions and tests of tools take the same way. Start at [`authorize`] for who may call, at [`execute`] for the request.

pub(crate) mod authorize;
pub(crate) mod builtin_tools;
pub(crate) mod claim;
pub(crate) mod dependencies;
pub(crate) mod execute;
pub(crate) mod gateway;
pub(crate) mod model_prompt;
pub(crate) mod record;
pub(crate) mod refusals;
pub(crate) mod test;
