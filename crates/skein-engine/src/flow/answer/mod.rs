//! Answers in conversations: requests, authors, previews, fusion, rollback and partial output.

pub(crate) mod actor;
pub(crate) mod authorship;
pub(crate) mod fusion;
pub(crate) mod partial_output;
pub(crate) mod preview;
pub(crate) mod request;
pub(crate) mod rollback;
