//! Authenticates requests: keys, browser sessions and signed tokens, and the names this server answers to.

pub(crate) mod authentication;
pub(crate) mod host_guard;
pub(crate) mod tokens;
