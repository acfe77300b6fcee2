//! What is remembered, over HTTP.

pub(crate) mod episodes;
pub(crate) mod index;
pub(crate) mod search;
