//! Rebuilds every projected table from the items in a scratch database and compares it row by row with the live one.

use std::cmp::Ordering;

use rusqlite::Connection;
use skein_core::garden::audit::IntegrityBreak;

use crate::db::sql::{OwnedRow, OwnedValue, Row};
use crate::db::sqlite;
use crate::db::sqlite::SqliteTransaction;
use crate::db::tables::{Class, Table, tables_of};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{ITEM_COLUMNS, StoredItem, read_item};
use crate::tx::Tx;
use crate::verify::{Findings, ROWS_PER_PROGRESS, shown};

impl Tx<'_> {
    pub(crate) fn verify_projections(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let rebuilt = sqlite::open_scratch()?;
        rebuilt.execute_batch("BEGIN").map_err(|error| sqlite::sql_error(&error))?;
        self.rebuild_into(&rebuilt, findings)?;
        for (number, table) in (1..).zip(tables_of(Class::Projected)) {
            self.compare(table, &rebuilt, findings)?;
            findings.progress("tables", number, tables_of(Class::Projected).count() as u64)?;
        }
        Ok(())
    }

    /// Projects every item of this store into another, empty database. Rows that are no items were named before.
    fn rebuild_into(&mut self, rebuilt: &Connection, findings: &mut Findings) -> Result<(), StoreError> {
        let mut done = 0;
        let items = "items i LEFT JOIN item_marks m ON m.item = i.id";
        let sql = format!("SELECT {ITEM_COLUMNS} FROM {items} ORDER BY i.tx, i.position");
        self.sql.query(&sql, &[], &mut |row| {
            if let Ok(stored) = read_item(row) {
                findings.add(project_aside(rebuilt, &stored));
            }
            done += 1;
            if done % ROWS_PER_PROGRESS == 0 {
                findings.progress("rebuilding", done, done)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn compare(&mut self, table: &Table, rebuilt: &Connection, findings: &mut Findings) -> Result<(), StoreError> {
        let select = table.select();
        let mut statement = rebuilt.prepare(&select).map_err(|error| sqlite::sql_error(&error))?;
        let rows = statement.query([]).map_err(|error| sqlite::sql_error(&error))?;
        let mut expected = ExpectedRows { rows, width: table.columns.len(), next: None };
        expected.advance()?;
        self.sql.query(&select, &[], &mut |live| {
            while let Some(row) = &expected.next {
                match compare_keys(table, row, live)? {
                    Ordering::Less => findings.add([missing(table, row)]),
                    Ordering::Equal => {
                        findings.add(differing(table, row, live)?);
                        return expected.advance();
                    }
                    Ordering::Greater => break,
                }
                expected.advance()?;
            }
            findings.add([broken(table, live, "no item is the cause of this row")]);
            Ok(())
        })?;
        while let Some(row) = &expected.next {
            findings.add([missing(table, row)]);
            expected.advance()?;
        }
        Ok(())
    }
}

/// The rows a table should have, one ahead.
struct ExpectedRows<'a> {
    rows: rusqlite::Rows<'a>,
    width: usize,
    next: Option<OwnedRow>,
}

impl ExpectedRows<'_> {
    fn advance(&mut self) -> Result<(), SqlError> {
        let Some(row) = self.rows.next().map_err(|error| sqlite::sql_error(&error))? else {
            self.next = None;
            return Ok(());
        };
        let values: Result<Vec<OwnedValue>, SqlError> =
            (0..self.width).map(|column| Row::value(row, column).map(OwnedValue::of)).collect();
        self.next = Some(OwnedRow(values?));
        Ok(())
    }
}

fn project_aside(rebuilt: &Connection, stored: &StoredItem) -> Option<IntegrityBreak> {
    let mut sql = SqliteTransaction::on(rebuilt);
    let mut tx = Tx::new(&mut sql, stored.item.header.realized_at, stored.cursor.tx, [0; 16]);
    let error = tx.project(&stored.item, stored.cursor).err()?;
    Some(IntegrityBreak::at(
        "items",
        stored.item.header.id.to_string(),
        format!("nothing can be rebuilt from it: {error}"),
    ))
}

fn compare_keys(table: &Table, expected: &dyn Row, live: &dyn Row) -> Result<Ordering, SqlError> {
    for column in 0..table.key {
        let order = expected.value(column)?.partial_cmp(&live.value(column)?);
        match order.ok_or_else(|| SqlError::Other(format!("a key of {} is of another kind", table.name)))? {
            Ordering::Equal => {}
            order => return Ok(order),
        }
    }
    Ok(Ordering::Equal)
}

fn differing(table: &Table, expected: &dyn Row, live: &dyn Row) -> Result<Option<IntegrityBreak>, SqlError> {
    for (column, name) in table.columns.iter().enumerate() {
        let (should, is) = (expected.value(column)?, live.value(column)?);
        if should != is {
            return Ok(Some(IntegrityBreak {
                expected: Some(shown(should)),
                found: Some(shown(is)),
                ..broken(table, live, &format!("its column {name} is not what the items say"))
            }));
        }
    }
    Ok(None)
}

fn missing(table: &Table, row: &dyn Row) -> IntegrityBreak {
    broken(table, row, "the row is missing; the items say it should be there")
}

fn broken(table: &Table, row: &dyn Row, problem: &str) -> IntegrityBreak {
    let key = (0..table.key).map(|column| {
        let value = row.value(column).map_or_else(|error| error.to_string(), shown);
        format!("{} {value}", table.columns[column])
    });
    IntegrityBreak::at(table.name, key.collect::<Vec<_>>().join(", "), problem)
}
