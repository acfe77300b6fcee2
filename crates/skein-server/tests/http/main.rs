//! The HTTP door from outside: what each path answers, and what is refused without anything being written.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod attack;
mod browser;
mod document;
mod doors;
mod estate;
mod hostile;
mod issuer;
mod items;
mod log_lines;
mod metrics;
mod openapi;
mod refused;
mod serving;
mod smuggling;
mod socket;
mod strictness;
mod tokens;
mod world;
