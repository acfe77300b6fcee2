//! Runs statements and transactions on SQLite or PostgreSQL behind one interface, `sql::Sql`.
//!
//! Holds the schema, the connections, the writers and the caches in front of them. It refuses to know items, records and
//! domain tables, apart from their names and keys (`tables`).

pub(crate) mod disk_usage;
pub(crate) mod pool;
pub(crate) mod postgres;
pub(crate) mod query_cache;
pub(crate) mod queued_write;
pub(crate) mod revisions;
pub(crate) mod schema;
pub(crate) mod sql;
pub(crate) mod sqlite;
pub(crate) mod storage_status;
pub(crate) mod tables;
pub(crate) mod wake;
