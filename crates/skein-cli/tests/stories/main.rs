//! The binary as people and misfortune treat it: real processes, real kills, real full disks.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod bundles;
mod canary;
mod commands;
mod configuration;
mod conversations;
mod default_process;
mod embedders;
mod endpoints;
mod faults;
mod guide;
mod imports;
mod interrupted;
mod items;
mod kill_nine;
mod master_key;
mod memory;
mod privacy;
mod processes;
mod refusals;
mod repeats;
mod runs;
mod schemathesis;
mod scripted;
mod server;
mod telemetry;
mod uploads;
mod vault;
mod whole_story;
