//! Memory over HTTP.

pub(crate) mod episodes;
pub(crate) mod index_status;
pub(crate) mod search;
