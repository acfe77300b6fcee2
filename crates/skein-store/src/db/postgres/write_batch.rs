//! Collects statements whose results are unused and sends them to PostgreSQL as one statement before commit, with one way
//! there and back, and what several functions write alike is one part of it however many rows it is about.
//!
//! The parts of a data-modifying `WITH` are all carried out, on one snapshot and in no particular order. So two that are
//! about the same row are never put together, and whatever reads or writes a table that something waits for comes after
//! it.

use std::fmt::Write as _;

use postgres::types::{ToSql, Type};

use crate::db::postgres::{INSERT_BYTES_MAX, INSERT_ROWS_MAX, PostgresTransaction};
use crate::db::sql::{DeferredStatement, OwnedValue, Value};
use crate::error::SqlError;
use crate::timeline::items::{INSERT_COLUMNS, INSERT_ITEM};

/// Most statements put together: every combination is prepared once for each connection.
const TOGETHER_MAX: usize = 16;
const ITEMS: &str = "items";

/// What waits to be carried out.
#[derive(Default)]
pub(crate) struct WriteBatch {
    statements: Vec<Statement>,
    /// Rows of items, in their order: they take their positions in it.
    items: Vec<OwnedValue>,
    item_bytes: usize,
    /// The position of the last item that was inserted so.
    last_position: Option<i64>,
}

/// One statement, to be carried out for each of its rows of parameters.
struct Statement {
    table: &'static str,
    sql: String,
    width: usize,
    key: usize,
    params: Vec<OwnedValue>,
    /// Whether it changes nothing, and only locks what is relied on: it comes last, whatever is asked before.
    only_locks: bool,
    unless_one: Option<SqlError>,
}

impl Statement {
    fn new(later: DeferredStatement<'_>) -> Self {
        let DeferredStatement { table, sql, params, key, unless_one, only_locks, replaces: _ } = later;
        let params: Vec<OwnedValue> = params.iter().copied().map(OwnedValue::of).collect();
        Self { table, sql: sql.to_owned(), width: params.len(), key, params, only_locks, unless_one }
    }

    /// Everybody locks rows in the same order.
    fn sort(&mut self) {
        let mut params = std::mem::take(&mut self.params).into_iter();
        let mut rows: Vec<Vec<OwnedValue>> = Vec::new();
        while params.len() > 0 {
            rows.push(params.by_ref().take(self.width).collect());
        }
        rows.sort_by_cached_key(|row| match row.first() {
            Some(OwnedValue::Bytes(id)) => id.clone(),
            _ => Vec::new(),
        });
        self.params = rows.into_iter().flatten().collect();
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, OwnedValue> {
        self.params.chunks_exact(self.width)
    }

    /// Whether some row of it is the one that is named so.
    fn is_about(&self, key: &[Value<'_>]) -> bool {
        let is_it = |row: &[OwnedValue]| row.iter().zip(key).all(|(kept, value)| kept.value() == *value);
        self.rows().any(|row| is_it(&row[..self.key.min(key.len())]))
    }

    /// Writes another row instead of the one with the same key, if there is one.
    fn replace(&mut self, later: &DeferredStatement<'_>) -> bool {
        let is_it =
            |row: &[OwnedValue]| row.iter().zip(&later.params[..later.key]).all(|(kept, value)| kept.value() == *value);
        let Some(at) = self.rows().position(is_it) else { return false };
        let row = later.params.iter().copied().map(OwnedValue::of);
        self.params.splice(at * self.width..(at + 1) * self.width, row);
        true
    }

    fn is_same(&self, later: &DeferredStatement<'_>) -> bool {
        self.table == later.table && self.width == later.params.len() && self.sql == later.sql
    }
}

impl WriteBatch {
    /// Whether a statement is about something that waits; every table is named in the text of whatever is about it.
    fn concerns(&self, sql: &str) -> bool {
        let of_items = !self.items.is_empty() && sql.contains(ITEMS);
        let mut changing = self.statements.iter().filter(|statement| !statement.only_locks);
        of_items || changing.any(|statement| sql.contains(statement.table))
    }

    fn is_about(&self, table: &str, key: &[Value<'_>]) -> bool {
        self.statements.iter().any(|statement| statement.table == table && statement.is_about(key))
    }

    /// Whether a row that waits was replaced, and is written as it is to be at the end.
    fn replace(&mut self, later: &DeferredStatement<'_>) -> bool {
        let mut alike = self.statements.iter_mut().filter(|statement| statement.is_same(later));
        later.replaces && alike.any(|statement| statement.replace(later))
    }

    /// Whether the same was put off before, and once is enough.
    fn has_already(&self, later: &DeferredStatement<'_>) -> bool {
        let mut alike = self.statements.iter().filter(|statement| statement.is_same(later));
        later.only_locks && alike.any(|statement| statement.is_about(later.params))
    }
}

impl PostgresTransaction<'_> {
    /// To be asked before any other statement.
    pub(super) fn before(&mut self, sql: &str) -> Result<(), SqlError> {
        if self.waiting.concerns(sql) { self.carry_out() } else { Ok(()) }
    }

    /// To be asked before a question about one row.
    pub(super) fn before_looking_at(&mut self, table: &'static str, key: &[u8]) -> Result<(), SqlError> {
        if self.waiting.is_about(table, &[Value::Bytes(key)]) { self.carry_out() } else { Ok(()) }
    }

    pub(super) fn defer(&mut self, later: DeferredStatement<'_>) -> Result<(), SqlError> {
        self.refuse_unless_reading(later.sql)?;
        if self.waiting.has_already(&later) || self.waiting.replace(&later) {
            return Ok(());
        }
        if self.waiting.is_about(later.table, &later.params[..later.key]) {
            self.carry_out()?;
        }
        if let Some(same) = self.waiting.statements.iter_mut().find(|statement| statement.is_same(&later)) {
            same.params.extend(later.params.iter().copied().map(OwnedValue::of));
            return Ok(());
        }
        if self.waiting.statements.len() >= TOGETHER_MAX {
            self.carry_out()?;
        }
        self.waiting.statements.push(Statement::new(later));
        Ok(())
    }

    pub(super) fn defer_items(&mut self, rows: &[[Value<'_>; INSERT_COLUMNS]]) -> Result<(), SqlError> {
        self.refuse_unless_reading(INSERT_ITEM)?;
        for row in rows {
            let bytes: usize = row.iter().map(Value::weight).sum();
            let is_full = self.waiting.items.len() >= INSERT_ROWS_MAX * INSERT_COLUMNS
                || self.waiting.item_bytes + bytes > INSERT_BYTES_MAX;
            if is_full {
                self.carry_out()?;
            }
            self.waiting.item_bytes += bytes;
            self.waiting.items.extend(row.iter().copied().map(OwnedValue::of));
        }
        Ok(())
    }

    /// Carries out what waits; where the last item of it stands, if there was one in this transaction.
    pub(super) fn flush_all(&mut self) -> Result<Option<i64>, SqlError> {
        self.carry_out_of(true)?;
        Ok(self.waiting.last_position)
    }

    /// Carries out what waits and changes something; what only locks waits on.
    fn carry_out(&mut self) -> Result<(), SqlError> {
        // It may have to wait for somebody: what was answered before may no longer be so.
        if let Some(answers) = &mut self.answers {
            answers.forget();
        }
        self.carry_out_of(false)
    }

    fn carry_out_of(&mut self, is_last: bool) -> Result<(), SqlError> {
        let (later, mut statements): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting.statements)
            .into_iter()
            .partition(|statement| statement.only_locks && !is_last);
        self.waiting.statements = later;
        let items = std::mem::take(&mut self.waiting.items);
        if items.is_empty() && statements.is_empty() {
            return Ok(());
        }
        // Equal statements are the same text, in any order.
        statements.sort_unstable_by(|one, other| one.sql.cmp(&other.sql));
        statements.iter_mut().for_each(Statement::sort);
        self.waiting.item_bytes = 0;
        let has_items = !items.is_empty();
        let mut together = CombinedStatement::default();
        if has_items {
            let rows = self.rows_of(INSERT_ITEM, &items, INSERT_COLUMNS)?;
            together.add(rows, Some(("position", "max(position)")));
        }
        for statement in &statements {
            let rows = self.rows_of(&statement.sql, &statement.params, statement.width)?;
            together.add(rows, statement.unless_one.is_some().then_some(("1", "count(*)")));
        }
        // Whatever is unique and waits so is drawn, or somebody else came first.
        let answer = self.carried_out(&together).map_err(|error| match error {
            SqlError::Unique(detail) => SqlError::Collision(detail),
            error => error,
        })?;
        drop(together);
        let mut counts = answer.into_iter();
        if has_items {
            self.waiting.last_position = counts.next();
        }
        for statement in statements {
            let rows = i64::try_from(statement.rows().len()).unwrap_or(i64::MAX);
            let Some(missed) = statement.unless_one else { continue };
            if counts.next() != Some(rows) {
                self.prepared.failed = true;
                return Err(missed);
            }
        }
        Ok(())
    }

    /// A statement with its rows: one as it is written, several column by column. Where functions share a transaction one
    /// comes so, too: there would be twice as many statements to prepare.
    fn rows_of<'k>(
        &mut self,
        sql: &str,
        rows: &'k [OwnedValue],
        width: usize,
    ) -> Result<SpelledStatement<'k>, SqlError> {
        if rows.len() == width && self.answers.is_none() {
            return Ok(SpelledStatement {
                sql: sql.to_owned(),
                params: rows.iter().map(|one| boxed(one.value())).collect(),
            });
        }
        let types = self.prepared(sql)?.params().to_vec();
        let column = |at: usize| rows.iter().skip(at).step_by(width).map(OwnedValue::value).collect::<Vec<_>>();
        Ok(SpelledStatement {
            sql: for_each_row(sql, &types),
            params: (0..width).map(|at| boxed(column(at))).collect(),
        })
    }

    /// The one row that tells what came of it.
    fn carried_out(&mut self, together: &CombinedStatement<'_>) -> Result<Vec<i64>, SqlError> {
        let statement = self.statement(&together.sql())?;
        let params: Vec<&(dyn ToSql + Sync)> = together.params.iter().map(AsRef::as_ref).collect();
        let row = self.client.query_one(&statement, &params).map_err(|error| self.failed(&error))?;
        Ok((0..row.len()).map(|column| row.get::<_, i64>(column)).collect())
    }
}

type Param<'k> = Box<dyn ToSql + Sync + 'k>;

fn boxed<'k>(value: impl ToSql + Sync + 'k) -> Param<'k> {
    Box::new(value)
}

/// A statement as it is sent, by itself.
struct SpelledStatement<'k> {
    sql: String,
    params: Vec<Param<'k>>,
}

/// Several statements as one, which answers with what each of them has to tell.
#[derive(Default)]
struct CombinedStatement<'k> {
    parts: Vec<String>,
    told: Vec<String>,
    params: Vec<Param<'k>>,
}

impl<'k> CombinedStatement<'k> {
    /// Adds a statement; `told` is what it returns of each row, and what is told of all.
    fn add(&mut self, spelled: SpelledStatement<'k>, told: Option<(&str, &str)>) {
        let number = self.parts.len();
        let (returned, told) = told.map_or(("1", None), |(returned, told)| (returned, Some(told)));
        self.parts.push(format!("w{number} AS ({} RETURNING {returned})", shifted(&spelled.sql, self.params.len())));
        self.told.extend(told.map(|told| format!("(SELECT {told} FROM w{number})")));
        self.params.extend(spelled.params);
    }

    fn sql(&self) -> String {
        let told = if self.told.is_empty() { "0::bigint".to_owned() } else { self.told.join(", ") };
        format!("WITH {} SELECT {told}", self.parts.join(", "))
    }
}

/// The same statement for every row of `v`, whose columns are its parameters.
fn for_each_row(sql: &str, types: &[Type]) -> String {
    let arrays: Vec<String> =
        types.iter().enumerate().map(|(index, of)| format!("?{}::{}[]", index + 1, of.name())).collect();
    let columns: Vec<String> = (1..=types.len()).map(|number| format!("p{number}")).collect();
    let rows = format!("unnest({}) AS v({})", arrays.join(", "), columns.join(", "));
    let of_row = |text: &str| text.replace('?', "v.p");
    if let Some((head, tail)) = sql.split_once("VALUES (") {
        let (values, rest) = tail.split_once(')').expect("what is added is in brackets");
        return format!("{head}SELECT {} FROM {rows}{rest}", of_row(values));
    }
    let (head, tail) = sql.split_once("WHERE").expect("what is changed is named");
    let beside = if sql.starts_with("DELETE") { "USING" } else { "FROM" };
    format!("{}{beside} {rows} WHERE{}", of_row(head), of_row(tail))
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
        let deleting = |sql: &str| SpelledStatement { sql: sql.to_owned(), params: vec![boxed(1_i64)] };
        let mut together = CombinedStatement::default();
        together.add(deleting("DELETE FROM jobs WHERE id = ?1"), None);
        together.add(deleting("DELETE FROM x WHERE y = ?1"), Some(("1", "count(*)")));
        assert_eq!(
            together.sql(),
            "WITH w0 AS (DELETE FROM jobs WHERE id = ?1 RETURNING 1), w1 AS (DELETE FROM x WHERE y = ?2 RETURNING 1) SELECT (SELECT count(*) FROM w1)"
        );
    }

    #[test]
    fn a_statement_for_many_rows_names_their_columns() {
        let types = [Type::BYTEA, Type::INT8];
        assert_eq!(
            for_each_row("INSERT INTO t (a, b, c)\n VALUES (?1, 'x', ?2) ON CONFLICT DO NOTHING", &types),
            "INSERT INTO t (a, b, c)\n SELECT v.p1, 'x', v.p2 FROM unnest(?1::bytea[], ?2::int8[]) AS v(p1, p2) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            for_each_row("UPDATE t SET b = ?2 WHERE a = ?1", &types),
            "UPDATE t SET b = v.p2 FROM unnest(?1::bytea[], ?2::int8[]) AS v(p1, p2) WHERE a = v.p1"
        );
        assert_eq!(
            for_each_row("DELETE FROM t WHERE a = ?1 AND b = ?2", &types),
            "DELETE FROM t USING unnest(?1::bytea[], ?2::int8[]) AS v(p1, p2) WHERE a = v.p1 AND b = v.p2"
        );
    }
}
