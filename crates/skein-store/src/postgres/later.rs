//! Statements that wait for others: what a transaction writes at its end goes to PostgreSQL as one statement, with one way
//! there and back.
//!
//! The parts of a data-modifying `WITH` are all carried out, on one snapshot and in no particular order. So two that may
//! be about the same rows are never put together, and whatever reads or writes a table that something waits for comes
//! after it.

use std::fmt::Write as _;

use crate::error::SqlError;
use crate::items::INSERT_COLUMNS;
use crate::postgres::{INSERT_BYTES_MAX, INSERT_ROWS_MAX, PostgresSql, insert_many};
use crate::sql::{Kept, Later, Value};

/// Most statements put together: every combination is prepared once for each connection.
const TOGETHER_MAX: usize = 16;
const ITEMS: &str = "items";

/// What waits to be carried out.
#[derive(Default)]
pub(crate) struct Waiting {
    statements: Vec<Statement>,
    /// Rows of items, in their order: they take their positions in it.
    items: Vec<Kept>,
    item_bytes: usize,
    /// The position of the last item that was inserted so.
    last_position: Option<i64>,
}

struct Statement {
    table: &'static str,
    sql: String,
    params: Vec<Kept>,
    only_adds: bool,
    unless_one: Option<SqlError>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.items.is_empty()
    }

    /// Whether a statement is about something that waits; every table is named in the text of whatever is about it.
    fn concerns(&self, sql: &str) -> bool {
        let of_items = !self.items.is_empty() && sql.contains(ITEMS);
        of_items || self.statements.iter().any(|statement| sql.contains(statement.table))
    }
}

impl PostgresSql<'_> {
    /// To be asked before any other statement.
    pub(super) fn before(&mut self, sql: &str) -> Result<(), SqlError> {
        if self.waiting.concerns(sql) { self.carry_out() } else { Ok(()) }
    }

    pub(super) fn put_off(&mut self, later: Later<'_>) -> Result<(), SqlError> {
        let is_crowded = self.waiting.statements.len() >= TOGETHER_MAX;
        let mut of_table = self.waiting.statements.iter().filter(|waiting| waiting.table == later.table);
        let meets = of_table.any(|waiting| !(waiting.only_adds && later.only_adds));
        if is_crowded || meets {
            self.carry_out()?;
        }
        self.waiting.statements.push(Statement {
            table: later.table,
            sql: later.sql.to_owned(),
            params: later.params.iter().copied().map(Kept::of).collect(),
            only_adds: later.only_adds,
            unless_one: later.unless_one,
        });
        Ok(())
    }

    pub(super) fn put_items_off(&mut self, rows: &[[Value<'_>; INSERT_COLUMNS]]) -> Result<(), SqlError> {
        for row in rows {
            let bytes: usize = row.iter().map(Value::weight).sum();
            let is_full = self.waiting.items.len() >= INSERT_ROWS_MAX * INSERT_COLUMNS
                || self.waiting.item_bytes + bytes > INSERT_BYTES_MAX;
            if is_full {
                self.carry_out()?;
            }
            self.waiting.item_bytes += bytes;
            self.waiting.items.extend(row.iter().copied().map(Kept::of));
        }
        Ok(())
    }

    /// Carries out what waits; where the last item of it stands, if there was one in this transaction.
    pub(super) fn carry_all_out(&mut self) -> Result<Option<i64>, SqlError> {
        self.carry_out()?;
        Ok(self.waiting.last_position)
    }

    fn carry_out(&mut self) -> Result<(), SqlError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let items = std::mem::take(&mut self.waiting.items);
        let statements = std::mem::take(&mut self.waiting.statements);
        self.waiting.item_bytes = 0;
        let sql = together(items.len() / INSERT_COLUMNS, &statements);
        let params: Vec<Value<'_>> =
            items.iter().chain(statements.iter().flat_map(|statement| &statement.params)).map(Kept::value).collect();
        // Whatever is unique and waits so is drawn, or somebody else came first.
        let answer = self.carried_out(&sql, &params).map_err(|error| match error {
            SqlError::Unique(detail) => SqlError::Collision(detail),
            error => error,
        })?;
        let mut counts = answer.into_iter();
        if !items.is_empty() {
            self.waiting.last_position = counts.next();
        }
        for statement in statements {
            let Some(missed) = statement.unless_one else { continue };
            if counts.next() != Some(1) {
                self.prepared.failed = true;
                return Err(missed);
            }
        }
        Ok(())
    }

    /// The one row that tells what came of it.
    fn carried_out(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<i64>, SqlError> {
        let rows = self.rows(sql, params)?;
        let row = rows.first().ok_or_else(|| SqlError::Other("no count came back".to_owned()))?;
        Ok((0..row.len()).map(|column| row.get::<_, i64>(column)).collect())
    }
}

/// One statement for so many items and for all of these, which answers with the last position and with how many rows
/// those changed that have to change one.
fn together(items: usize, statements: &[Statement]) -> String {
    let mut parts = Vec::new();
    let mut told = Vec::new();
    if items > 0 {
        parts.push(format!("i AS ({})", insert_many(items)));
        told.push("(SELECT max(position) FROM i)".to_owned());
    }
    let mut bound = items * INSERT_COLUMNS;
    for (number, statement) in statements.iter().enumerate() {
        parts.push(format!("w{number} AS ({} RETURNING 1)", shifted(&statement.sql, bound)));
        bound += statement.params.len();
        if statement.unless_one.is_some() {
            told.push(format!("(SELECT count(*) FROM w{number})"));
        }
    }
    if told.is_empty() {
        told.push("0::bigint".to_owned());
    }
    format!("WITH {} SELECT {}", parts.join(", "), told.join(", "))
}

/// A statement whose parameters follow so many others.
fn shifted(sql: &str, by: usize) -> String {
    let mut parts = sql.split('?');
    let mut shifted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let number: usize = part[..digits].parse().expect("parameters are numbered");
        write!(shifted, "?{}{}", number + by, &part[digits..]).expect("writing to a String cannot fail");
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_follow_those_before_them() {
        assert_eq!(
            shifted("UPDATE jobs SET a = ?2, b = ?10 WHERE id = ?1", 7),
            "UPDATE jobs SET a = ?9, b = ?17 WHERE id = ?8"
        );
        assert_eq!(shifted("DELETE FROM jobs", 7), "DELETE FROM jobs");
    }

    #[test]
    fn statements_are_put_together_with_what_they_have_to_tell() {
        let statement = |sql: &str, unless_one| Statement {
            table: "jobs",
            sql: sql.to_owned(),
            params: vec![Kept::Int(1)],
            only_adds: false,
            unless_one,
        };
        let missed = Some(SqlError::Collision(String::new()));
        let sql = together(
            0,
            &[statement("DELETE FROM jobs WHERE id = ?1", None), statement("DELETE FROM x WHERE y = ?1", missed)],
        );
        assert_eq!(
            sql,
            "WITH w0 AS (DELETE FROM jobs WHERE id = ?1 RETURNING 1), w1 AS (DELETE FROM x WHERE y = ?2 RETURNING 1) SELECT (SELECT count(*) FROM w1)"
        );
        assert!(together(2, &[]).ends_with("RETURNING position) SELECT (SELECT max(position) FROM i)"));
    }
}
