//! In debug builds the plan of every statement is looked at once: one that picks rows by reading a whole table costs more
//! the more there is, and is a fault. So whatever a test asks for is also asked whether its cost grows with the store.
//!
//! SQLite has no statistics here, and so it plans alike for an empty store and for a large one.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

/// Statements that are there to read everything, or all of something that stays small.
const READS_ALL: [&str; 6] = [
    // Once for each user, when they come.
    "SELECT version FROM records WHERE owner = ?1 AND type = ?2 LIMIT 1",
    // What is exported, verified or brought in is read whole.
    "FROM records WHERE type = ?1 ORDER BY id",
    "WHERE i.payload IS NULL AND m.redaction IS NULL ORDER BY i.position LIMIT 1",
    "CASE WHEN indexed = 0 AND created_at <=",
    // Browsers that are signed in are few and swept.
    "DELETE FROM sessions WHERE kind = 'link'",
    // The number of an unnamed conversation is its place among all.
    "OVER (ORDER BY c.id)",
];
/// Indexes that hold only what is under way or rare.
const SHORT_INDEXES: [&str; 4] = ["records_users", "executions_process", "jobs_due", "jobs_leased"];

/// Panics where a statement reads a whole table to pick some of its rows.
pub(super) fn check(connection: &Connection, sql: &str) {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !sql.contains("WHERE") || READS_ALL.iter().any(|all| sql.contains(all)) {
        return;
    }
    if !SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned()) {
        return;
    }
    // A statement that cannot be explained cannot be prepared either, and says so there.
    let (Ok(plan), Ok(tables)) = (plan(connection, sql), tables(connection, sql)) else { return };
    let scanned = plan.iter().find(|line| is_scan(line, &tables));
    assert!(scanned.is_none(), "reads a whole table: {scanned:?}\n{sql}\n{plan:#?}");
}

fn plan(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let mut rows = explained.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(row.get(3)?);
    }
    Ok(lines)
}

/// Whether a line of a plan says that one of these is read from end to end, and not by way of what is always short.
fn is_scan(line: &str, tables: &BTreeSet<&str>) -> bool {
    let scanned = line.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next());
    let is_short = SHORT_INDEXES.iter().any(|index| line.ends_with(index));
    scanned.is_some_and(|name| tables.contains(name)) && !is_short
}

/// The tables a statement is about, as it calls them; what its `WITH` makes is none.
fn tables<'s>(connection: &Connection, sql: &'s str) -> rusqlite::Result<BTreeSet<&'s str>> {
    let mut is_table = connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    let words: Vec<&str> = sql.split(|letter: char| letter.is_whitespace() || "(),".contains(letter)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut called = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        if !["FROM", "JOIN", "UPDATE", "INTO"].contains(word) {
            continue;
        }
        let Some(table) = words.get(at + 1).filter(|table| is_table.exists([table]).unwrap_or(false)) else { continue };
        let alias = words[at + 2..].iter().find(|word| **word != "AS");
        called.insert(*alias.filter(|alias| alias.chars().all(char::is_lowercase)).unwrap_or(table));
    }
    Ok(called)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn connection() -> rusqlite::Connection {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE things (id INTEGER PRIMARY KEY, of INTEGER, name TEXT); CREATE INDEX things_of ON things (of)").unwrap();
        connection
    }

    #[test]
    fn what_is_picked_by_an_index_or_read_whole_holds() {
        let connection = connection();
        check(&connection, "SELECT name FROM things t WHERE t.of = ?1");
        check(&connection, "SELECT name FROM things ORDER BY id");
        let walk =
            "WITH RECURSIVE walk(id) AS (SELECT ?1 UNION ALL SELECT t.of FROM walk w LEFT JOIN things t ON t.id = w.id
             WHERE w.id < 9) SELECT w.id FROM walk w LEFT JOIN things n ON n.id = w.id WHERE w.id > 1";
        check(&connection, walk);
    }

    #[test]
    #[should_panic(expected = "reads a whole table")]
    fn what_looks_through_a_whole_table_refuses() {
        check(&connection(), "SELECT id FROM things t WHERE t.name = ?1");
    }
}
