//! Lists the tables with their class, columns and keys, for copies and comparisons.

/// Where the rows of a table come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Facts; nothing else can be rebuilt without them.
    Source,
    /// Rebuilt from items by projection: current records and relations, decided and computed tables.
    Projected,
    /// Sealed values of secrets: in no fact, so they cannot be rebuilt; copied as they are, never hashed.
    Kept,
    /// Prunable rows about running things, and what a follower of the timeline makes again; never hashed.
    Operational,
    /// Stands in for an index where SQLite is the database; never copied.
    Index,
}

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    /// Every column; the first `key` ones identify a row.
    pub(crate) columns: &'static [&'static str],
    pub(crate) key: usize,
}

use Class::{Index, Kept, Operational, Projected, Source};

/// Every table, facts first because the others speak about them.
pub(crate) const TABLES: [Table; 42] = [
    Table {
        name: "items",
        class: Source,
        columns: &[
            "tx",
            "position",
            "id",
            "owner",
            "type",
            "realized_at",
            "canonical_at",
            "hash",
            "payload_hash",
            "encoding",
            "payload",
        ],
        key: 2,
    },
    Table {
        name: "item_marks",
        class: Projected,
        columns: &["item", "owner", "tombstone", "redaction", "canonical_at", "override_record"],
        key: 1,
    },
    Table {
        name: "records",
        class: Projected,
        columns: &[
            "id",
            "type",
            "owner",
            "shared",
            "name",
            "version",
            "hash",
            "previous_hash",
            "created_at",
            "updated_at",
            "body",
            "deleted",
        ],
        key: 1,
    },
    Table {
        name: "record_versions",
        class: Projected,
        columns: &[
            "record",
            "version",
            "owner",
            "type",
            "hash",
            "previous_hash",
            "item",
            "tx",
            "position",
            "realized_at",
            "whole",
        ],
        key: 2,
    },
    Table {
        name: "relations",
        class: Projected,
        columns: &[
            "id",
            "owner",
            "kind",
            "source_type",
            "source",
            "target_type",
            "target",
            "target_position",
            "confidence",
            "metadata",
            "realized_at",
            "item",
        ],
        key: 1,
    },
    Table {
        name: "seals",
        class: Projected,
        columns: &[
            "owner",
            "last_tx",
            "last_position",
            "first_tx",
            "first_position",
            "leaves",
            "root",
            "previous",
            "hash",
            "item",
        ],
        key: 3,
    },
    Table {
        name: "blobs",
        class: Projected,
        columns: &["item", "hash", "owner", "size", "media_type", "attached_at"],
        key: 1,
    },
    Table { name: "api_keys", class: Projected, columns: &["id", "key_hash", "owner", "scope", "revoked"], key: 1 },
    Table {
        name: "grants",
        class: Projected,
        columns: &["item", "owner", "admin", "name", "reason", "until", "given_at", "ended_at"],
        key: 1,
    },
    Table { name: "record_headings", class: Projected, columns: &["record", "heading", "owner", "shared"], key: 2 },
    Table {
        name: "record_references",
        class: Projected,
        columns: &["record", "kind", "target", "owner", "type", "shared"],
        key: 3,
    },
    Table {
        name: "conversations",
        class: Projected,
        columns: &[
            "id",
            "owner",
            "project",
            "kind",
            "mode",
            "archived",
            "folded",
            "parent",
            "origin",
            "root_turn",
            "root_node",
            "nodes",
            "created_at",
            "active_at",
            "process",
        ],
        key: 1,
    },
    Table {
        name: "turns",
        class: Projected,
        columns: &["id", "conversation", "parent", "speaker", "type", "depth", "first_node"],
        key: 1,
    },
    Table {
        name: "nodes",
        class: Projected,
        columns: &[
            "id",
            "conversation",
            "owner",
            "turn",
            "ordinal",
            "parent",
            "branch",
            "depth",
            "late",
            "edge",
            "local_id",
            "author",
            "author_type",
            "status",
            "reserved_by",
            "content",
            "content_hash",
            "raw_response",
            "raw_hash",
            "edited_from",
            "is_version",
            "process",
            "process_version",
            "created_at",
            "bookmarked",
            "label",
            "pruned",
            "excluded",
        ],
        key: 1,
    },
    Table { name: "node_sources", class: Projected, columns: &["target", "source", "role", "kind"], key: 2 },
    Table { name: "paths", class: Projected, columns: &["id", "conversation", "actor", "cursor_node"], key: 1 },
    Table {
        name: "selections",
        class: Projected,
        columns: &["path", "branch", "depth", "turn", "node", "selected"],
        key: 3,
    },
    Table { name: "path_reach", class: Projected, columns: &["path", "branch", "depth"], key: 2 },
    Table { name: "node_tags", class: Projected, columns: &["node", "tag", "owner"], key: 2 },
    Table { name: "frames", class: Projected, columns: &["project", "actor", "conversation"], key: 2 },
    Table { name: "tree_summaries", class: Projected, columns: &["item", "subject", "nodes"], key: 1 },
    Table {
        name: "vault",
        class: Kept,
        columns: &["secret", "owner", "value_version", "key_id", "wrapped_key", "ciphertext"],
        key: 1,
    },
    Table {
        name: "health",
        class: Operational,
        columns: &["record", "owner", "status", "checked_at", "error", "latency_ms"],
        key: 1,
    },
    Table {
        name: "sessions",
        class: Operational,
        columns: &["token_hash", "kind", "owner", "created_at", "expires_at"],
        key: 1,
    },
    Table { name: "key_usage", class: Operational, columns: &["id", "last_used_at"], key: 1 },
    Table {
        name: "jobs",
        class: Operational,
        columns: &[
            "id",
            "owner",
            "queue",
            "priority",
            "state",
            "run_at",
            "attempts",
            "lost",
            "fence",
            "epoch",
            "lease_until",
            "worker",
            "run",
            "step",
            "error",
            "payload",
            "created_at",
        ],
        key: 1,
    },
    Table {
        name: "workers",
        class: Operational,
        columns: &["id", "queues", "places", "host", "pid", "started_at", "beat_at", "ended_at", "processed", "errors"],
        key: 1,
    },
    Table {
        name: "operations",
        class: Operational,
        columns: &[
            "id",
            "owner",
            "kind",
            "status",
            "progress",
            "result",
            "error",
            "created_at",
            "updated_at",
            "request",
            "fingerprint",
            "indexed",
        ],
        key: 1,
    },
    Table {
        name: "tool_calls",
        class: Projected,
        columns: &["id", "owner", "session", "sequence", "run", "step"],
        key: 1,
    },
    Table {
        name: "executions",
        class: Operational,
        columns: &[
            "id",
            "owner",
            "process",
            "process_version",
            "process_name",
            "status",
            "context",
            "levels_left",
            "stack",
            "parent",
            "parent_step",
            "parent_call",
            "conversation",
            "node",
            "answers",
            "session",
            "cause",
            "operation",
            "branched_from",
            "priority",
            "tokens",
            "output",
            "failure",
            "created_at",
            "ended_at",
            "paused_at",
        ],
        key: 1,
    },
    Table {
        name: "execution_steps",
        class: Operational,
        columns: &[
            "run", "step", "phase", "attempt", "inputs", "output", "fault", "dialogue", "tokens", "call", "is_open",
            "raw", "began_at", "ended_at",
        ],
        key: 2,
    },
    Table {
        name: "reviews",
        class: Operational,
        columns: &[
            "id",
            "owner",
            "run",
            "step",
            "call",
            "status",
            "asked",
            "decision",
            "created_at",
            "expires_at",
            "ended_at",
            "delegate",
            "decided_by",
        ],
        key: 1,
    },
    Table {
        name: "stream_chunks",
        class: Operational,
        columns: &["run", "number", "is_reset", "text", "created_at"],
        key: 2,
    },
    Table {
        name: "metric_values",
        class: Operational,
        columns: &["id", "owner", "name", "scope", "entity", "run", "value", "at"],
        key: 1,
    },
    Table {
        name: "episodes",
        class: Operational,
        columns: &[
            "id",
            "owner",
            "item",
            "conversation",
            "node",
            "turn",
            "branch",
            "depth",
            "previous",
            "actor",
            "source",
            "valid_at",
            "created_at",
        ],
        key: 1,
    },
    Table { name: "unbound_episodes", class: Operational, columns: &["id", "owner", "found_at"], key: 1 },
    Table {
        name: "embeddings",
        class: Operational,
        columns: &["embedder", "content", "item", "vector", "made_at"],
        key: 2,
    },
    Table { name: "request_names", class: Index, columns: &["day", "name", "operation"], key: 3 },
    Table { name: "path_visits", class: Operational, columns: &["path", "branch", "depth", "node"], key: 3 },
    Table { name: "cursors", class: Operational, columns: &["owner", "name", "tx", "position"], key: 2 },
    Table { name: "leases", class: Operational, columns: &["name", "holder", "fence", "lease_until"], key: 1 },
    Table { name: "meta", class: Operational, columns: &["name", "value"], key: 1 },
];

pub(crate) fn tables_of(class: Class) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| table.class == class)
}

impl Table {
    /// Every row, in the order of its key.
    pub(crate) fn select(&self) -> String {
        let (columns, key) = (self.columns.join(", "), self.columns[..self.key].join(", "));
        format!("SELECT {columns} FROM {} ORDER BY {key}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_table_and_column_of_the_schema() {
        let database = crate::db::sqlite::open_scratch().unwrap();
        let columns = "SELECT m.name, p.name FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table'";
        let mut statement = database.prepare(columns).unwrap();
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let found: std::collections::BTreeSet<(String, String)> = found.map(Result::unwrap).collect();
        let listed = TABLES
            .iter()
            .flat_map(|table| table.columns.iter().map(|column| (table.name.to_owned(), (*column).to_owned())));
        assert_eq!(listed.collect::<std::collections::BTreeSet<_>>(), found);
    }
}
