//! The same episodes in SQLite's own full-text index, FTS5: words with Porter's stems, and nothing of what they mean.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use rusqlite::Connection;

use crate::appends::rate;
use crate::recall_texts::EpisodeText;

/// As many as Skein indexes in one step.
const ROWS_PER_TRANSACTION: usize = 2_048;

pub(crate) struct FullText(Connection);

impl FullText {
    pub(crate) fn create(file: &Path) -> Result<Self> {
        let database = Connection::open(file)?;
        database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE VIRTUAL TABLE episodes USING fts5(text, content = '', tokenize = 'porter')",
        )?;
        Ok(Self(database))
    }

    /// Adds these episodes; how many per second.
    pub(crate) fn add(&mut self, numbers: Range<usize>) -> Result<f64> {
        let (mut spent, count) = (0.0, numbers.len());
        for first in numbers.clone().step_by(ROWS_PER_TRANSACTION) {
            let some = first..numbers.end.min(first + ROWS_PER_TRANSACTION);
            let texts: Vec<EpisodeText> = some.clone().map(EpisodeText::of).collect();
            let started = Instant::now();
            let transaction = self.0.transaction()?;
            for (number, said) in some.zip(texts) {
                let row = (i64::try_from(number)?, format!("{} {}", said.speaker, said.text));
                transaction.prepare_cached("INSERT INTO episodes (rowid, text) VALUES (?1, ?2)")?.execute(row)?;
            }
            transaction.commit()?;
            spent += started.elapsed().as_secs_f64();
        }
        Ok(rate(count, spent))
    }

    /// Milliseconds until the best of what has any word of a question are known.
    pub(crate) fn ask(&self, question: &str, limit: usize) -> Result<f64> {
        let words: Vec<String> = question.split(' ').map(|word| format!("\"{word}\"")).collect();
        let started = Instant::now();
        let sql = "SELECT rowid FROM episodes WHERE episodes MATCH ?1 ORDER BY rank LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = statement.query_map((words.join(" OR "), i64::try_from(limit)?), |row| row.get::<_, i64>(0))?;
        let found = found.collect::<rusqlite::Result<Vec<i64>>>()?;
        let took = started.elapsed().as_secs_f64() * 1_000.0;
        ensure!(!found.is_empty(), "FTS5 finds nothing for {question:?}");
        Ok(took)
    }
}
