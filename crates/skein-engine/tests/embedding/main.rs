//! Vectors from others: an endpoint over real connections, on its good and bad days, and what becomes of memory meanwhile.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod conversations;
mod engine_fixture;
mod faults;
mod laws;
mod local;
mod path;
mod rename;
mod switch;
mod word_search;
