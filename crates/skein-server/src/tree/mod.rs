//! Conversations over HTTP: what is said in them, turned about in, marked and found again.

pub(crate) mod actors;
pub(crate) mod projects;
