//! Limits how much is done at once and how often one address may ask.

pub(crate) mod admission;
pub(crate) mod concurrency;
pub(crate) mod rate_limit;
