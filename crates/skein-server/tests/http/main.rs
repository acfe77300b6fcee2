//! The HTTP door from outside: what each path answers, and what is refused without anything being written.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod accounts;
mod attack;
mod blobs;
mod browser;
mod bundles;
mod catalogue;
mod conversations;
mod document;
mod doors;
mod estate;
mod events;
mod feed;
mod garden;
mod grove;
mod health;
mod hostile;
mod idempotency;
mod issuer;
mod items;
mod known_answers;
mod log_lines;
mod memory;
mod metrics;
mod nodes;
mod openapi;
mod operations;
mod processes;
mod projects;
mod proof;
mod recipes;
mod refused;
mod search;
mod serving;
mod sessions;
mod settings;
mod smuggling;
mod socket;
mod strictness;
mod summaries;
mod talk;
mod tokens;
mod world;
mod z22;
