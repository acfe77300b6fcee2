//! One suite for both databases: whatever the store promises, it promises on SQLite and on PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod accounts;
mod acts;
mod alike;
mod backup;
mod blobs;
mod bundle;
mod bundle_refusals;
mod bundle_rules;
mod catalogue;
mod catalogue_races;
mod damage;
mod footholds;
mod items;
mod jobs;
mod main_paths;
mod memory;
mod object_service;
mod queue;
mod queue_oracle;
mod records;
mod references;
mod relations;
mod repeats;
mod schema;
mod timeline;
mod together;
mod transport;
mod tree;
mod tree_keeping;
mod tree_life;
mod tree_locks;
mod tree_long;
mod tree_oracle;
mod tree_proof;
mod tree_races;
mod tree_refusals;
mod tree_rules;
mod tree_shapes;
mod tree_visits;
mod vault;
mod vectors;
mod verify;
mod workers;
mod world;
