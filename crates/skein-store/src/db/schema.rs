//! The schema: numbered steps, one text for both databases, never edited once shipped.
//!
//! Rules that the databases spell differently (keeping items unaltered) are the last part of each step.

use crate::error::{SqlError, StoreError};

/// One step from a schema to the next.
struct Migration {
    name: &'static str,
    shared: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: [Migration; 13] = [
    Migration {
        name: "fabric",
        shared: include_str!("../../migrations/0001_fabric.sql"),
        sqlite: include_str!("../../migrations/0001_fabric.sqlite.sql"),
        postgres: include_str!("../../migrations/0001_fabric.postgres.sql"),
    },
    Migration { name: "doors", shared: include_str!("../../migrations/0002_doors.sql"), sqlite: "", postgres: "" },
    Migration {
        name: "catalogue",
        shared: include_str!("../../migrations/0003_catalogue.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        name: "requests",
        shared: "",
        sqlite: include_str!("../../migrations/0004_requests.sqlite.sql"),
        postgres: include_str!("../../migrations/0004_requests.postgres.sql"),
    },
    Migration {
        name: "conversations",
        shared: include_str!("../../migrations/0005_conversations.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        name: "queue",
        shared: include_str!("../../migrations/0006_queue.sql"),
        sqlite: "",
        postgres: include_str!("../../migrations/0006_queue.postgres.sql"),
    },
    Migration { name: "flow", shared: include_str!("../../migrations/0007_flow.sql"), sqlite: "", postgres: "" },
    Migration {
        name: "memory",
        shared: include_str!("../../migrations/0008_memory.sql"),
        sqlite: include_str!("../../migrations/0008_memory.sqlite.sql"),
        postgres: include_str!("../../migrations/0008_memory.postgres.sql"),
    },
    Migration {
        name: "embeddings",
        shared: include_str!("../../migrations/0009_embeddings.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration { name: "unbound", shared: include_str!("../../migrations/0010_unbound.sql"), sqlite: "", postgres: "" },
    Migration {
        name: "measured",
        shared: include_str!("../../migrations/0011_measured.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration { name: "people", shared: include_str!("../../migrations/0012_people.sql"), sqlite: "", postgres: "" },
    Migration { name: "visits", shared: include_str!("../../migrations/0013_visits.sql"), sqlite: "", postgres: "" },
];

/// The newest schema this program knows.
pub const SCHEMA_VERSION: i64 = 13;
const _: () = assert!(MIGRATIONS.len() == 13, "the version counts the migrations");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// What migrating needs of a database; implemented by both.
pub(crate) trait Migrate {
    const DIALECT: Dialect;

    /// Runs statements as they are.
    fn run(&mut self, sql: &str) -> Result<(), SqlError>;

    /// The version recorded in `meta`, or 0 where there is no such table.
    fn version(&mut self) -> Result<i64, SqlError>;
}

/// Brings a database to [`SCHEMA_VERSION`]; the caller holds a transaction and commits it.
pub(crate) fn migrate<M: Migrate>(database: &mut M) -> Result<(), StoreError> {
    migrate_to(database, SCHEMA_VERSION)
}

pub(crate) fn migrate_to<M: Migrate>(database: &mut M, target: i64) -> Result<(), StoreError> {
    let found = database.version()?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION });
    }
    for (number, migration) in (1..=target).zip(&MIGRATIONS) {
        if number > found {
            database.run(&text(migration, M::DIALECT))?;
            database.run(&format!(
                "INSERT INTO meta (name, value) VALUES ('schema', '{number}')
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            ))?;
            tracing::debug!(number, name = migration.name, "migrated a schema");
        }
    }
    Ok(())
}

/// Refuses a schema that is not [`SCHEMA_VERSION`], without changing it.
pub(crate) fn check<M: Migrate>(database: &mut M) -> Result<(), StoreError> {
    let (found, known) = (database.version()?, SCHEMA_VERSION);
    match found.cmp(&known) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::NewerSchema { found, known }),
        std::cmp::Ordering::Less => {
            Err(StoreError::Unavailable(format!("it has schema {found}; run skein init to bring it to {known}")))
        }
    }
}

fn text(migration: &Migration, dialect: Dialect) -> String {
    let (serial_key, bytes, real, bytewise, own) = match dialect {
        Dialect::Sqlite => ("INTEGER PRIMARY KEY", "BLOB", "REAL", "BINARY", migration.sqlite),
        Dialect::Postgres => {
            let serial_key = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY";
            (serial_key, "BYTEA", "DOUBLE PRECISION", "\"C\"", migration.postgres)
        }
    };
    let shared = migration
        .shared
        .replace("SERIAL_KEY", serial_key)
        .replace("BYTES", bytes)
        .replace("BYTEWISE", bytewise)
        .replace(" REAL", &format!(" {real}"));
    // STRICT makes SQLite refuse what PostgreSQL would refuse; it has no BIGINT, so that is spelled INTEGER.
    let shared = match dialect {
        Dialect::Sqlite => shared.replace("BIGINT", "INTEGER").replace("\n);", "\n) STRICT;"),
        Dialect::Postgres => shared,
    };
    format!("{shared}\n{own}")
}
