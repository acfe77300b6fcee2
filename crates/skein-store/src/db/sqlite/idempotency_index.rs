//! Indexes idempotency keys of committed requests: the operation that answers each key.
//!
//! Names are random, so an index over them changes a page for every request. As one thread is all that writes, it keeps
//! the names of the last some thousand operations in memory instead; their rows have them on disk, and a start reads
//! those rows again. When there are too many, they are filed into a table in the order of their names, a few with each
//! commit, so that neighbours share a page. What is filed is in parts, one for each day, and a name counts for a day: two
//! parts are looked into, and older ones are taken away whole.

use std::collections::HashMap;

use rusqlite::Connection;
use skein_core::account::idempotency::KEY_KEPT_MS;
use skein_core::id::Entropy;
use skein_core::{Digest, Millis, OperationId};

use crate::db::sql::{Sql as _, params};
use crate::db::sqlite::SqliteTransaction;
use crate::error::SqlError;

/// Operations after which the names in memory begin to be filed; a start reads at most about twice as many rows. Tests see
/// many rounds of fewer.
const RECENT_OPERATIONS_MAX: usize = if cfg!(test) { 1 << 10 } else { 16 << 10 };
/// Names that are filed at once by a process that found more than it should have had to read.
const CAUGHT_UP_PER_COMMIT: usize = RECENT_OPERATIONS_MAX / 8;
/// Names that are filed with a commit, besides two for each operation in it.
const FILED_PER_COMMIT: usize = 16;
/// Filed names that one sweep takes away; they lie side by side.
const SWEPT_MAX: i64 = 10_000;

const FILED_UNTIL: &str = "requests_filed";

pub(crate) struct IdempotencyIndex {
    /// Of operations that are not filed, or not all of whose round are.
    recent: HashMap<Digest, OperationId>,
    /// One entry for each operation of the open transaction, with its name.
    noted: Vec<Option<Digest>>,
    /// Operations committed since the last round began.
    unfiled: usize,
    round: Option<FilingRound>,
    /// Whether the process before this one did not get to the end of its round.
    is_behind: bool,
    /// Whether there is anything to look for in the table.
    has_filed: bool,
    /// Counts what other connections committed to the file.
    data_version: i64,
}

/// What a look at the file showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshResult {
    AsBefore,
    /// Another connection wrote to it.
    OthersWrote,
}

/// Names that are being filed, in the order of the table.
struct FilingRound {
    entries: Vec<IndexedRequest>,
    /// How many are on disk, and how many will be with the open transaction.
    filed: usize,
    filing: usize,
    /// Whether all of it goes into one transaction.
    at_once: bool,
    /// Whether the open transaction is the last one it needs.
    is_over: bool,
    /// When it is over, operations before this moment are filed.
    began_at: Millis,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct IndexedRequest {
    day: i64,
    short: i64,
    name: Digest,
    operation: OperationId,
}

impl IndexedRequest {
    fn new(name: Digest, operation: OperationId) -> Self {
        Self { day: day(operation.made_at()), short: short(&name), name, operation }
    }
}

fn day(at: Millis) -> i64 {
    at.0.div_euclid(KEY_KEPT_MS)
}

/// As much of a name as the table holds; the operation has all of it.
fn short(name: &Digest) -> i64 {
    let (first, _) = name.0.split_first_chunk().expect("a digest has more than eight bytes");
    i64::from_be_bytes(*first)
}

/// The moment of the newest operation.
pub(crate) fn newest_operation(connection: &Connection) -> Result<Millis, SqlError> {
    let mut newest = Millis(0);
    SqliteTransaction::on(connection).query("SELECT max(id) FROM operations", &[], &mut |row| {
        newest = row.optional_array(0)?.map_or(newest, |id| OperationId::from_bytes(id).made_at());
        Ok(())
    })?;
    Ok(newest)
}

impl IdempotencyIndex {
    /// Reads what is not filed. No later operation is made before `now`.
    pub(crate) fn load(connection: &Connection, now: Millis) -> Result<Self, SqlError> {
        let mut names = Self {
            recent: HashMap::new(),
            noted: Vec::new(),
            unfiled: 0,
            round: None,
            is_behind: false,
            has_filed: false,
            data_version: data_version(connection)?,
        };
        let mut sql = SqliteTransaction::on(connection);
        let mut filed_until = Millis(0);
        sql.query("SELECT value FROM meta WHERE name = ?1", params![FILED_UNTIL], &mut |row| {
            filed_until = Millis(row.text(0)?.parse().map_err(|_| SqlError::Other("not a moment".to_owned()))?);
            Ok(())
        })?;
        let since = OperationId::new(filed_until.max(now.plus(-KEY_KEPT_MS)), Entropy([0; 10]));
        let unfiled = "SELECT id, CASE WHEN indexed = 0 THEN request END FROM operations WHERE id >= ?1 ORDER BY id";
        sql.query(unfiled, params![&since], &mut |row| {
            names.unfiled += 1;
            if let Some(name) = row.optional_array(1)? {
                names.recent.insert(Digest(name), OperationId::from_bytes(row.array(0)?));
            }
            Ok(())
        })?;
        sql.query("SELECT 1 FROM request_names LIMIT 1", &[], &mut |_| {
            names.has_filed = true;
            Ok(())
        })?;
        names.is_behind = names.unfiled >= RECENT_OPERATIONS_MAX;
        names.begin_round_if_due(now);
        Ok(names)
    }

    /// Reads everything again if another connection wrote to the file. To be asked at the start of a transaction.
    pub(crate) fn refresh(&mut self, connection: &Connection, now: Millis) -> Result<RefreshResult, SqlError> {
        if data_version(connection)? == self.data_version {
            return Ok(RefreshResult::AsBefore);
        }
        *self = Self::load(connection, now)?;
        Ok(RefreshResult::OthersWrote)
    }

    /// Operations that may have been asked for under a name; the caller compares all of it.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        name: &Digest,
        now: Millis,
    ) -> Result<Vec<OperationId>, SqlError> {
        let mut found: Vec<OperationId> = self.recent.get(name).copied().into_iter().collect();
        if found.is_empty() && self.has_filed {
            let filed = "SELECT operation FROM request_names WHERE day = ?1 AND name = ?3
                         UNION ALL SELECT operation FROM request_names WHERE day = ?2 AND name = ?3";
            let (today, short) = (day(now), short(name));
            SqliteTransaction::on(connection).query(filed, params![today, today - 1, short], &mut |row| {
                found.push(OperationId::from_bytes(row.array(0)?));
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Notes an operation of the open transaction, with the name it is to be found by.
    pub(crate) fn note(&mut self, id: OperationId, name: Option<Digest>) {
        if let Some(name) = name {
            self.recent.insert(name, id);
        }
        self.noted.push(name);
    }

    /// How much the open transaction noted.
    pub(crate) fn noted(&self) -> usize {
        self.noted.len()
    }

    /// Takes back what was noted after that much.
    pub(crate) fn take_back(&mut self, noted: usize) {
        for name in self.noted.drain(noted..).flatten() {
            self.recent.remove(&name);
        }
    }

    /// Files some names in the open transaction, right before it is committed.
    pub(crate) fn file(&mut self, connection: &Connection) -> Result<(), SqlError> {
        let Some(round) = &mut self.round else { return Ok(()) };
        let mut sql = SqliteTransaction::on(connection);
        let some = if round.at_once { round.entries.len() } else { FILED_PER_COMMIT + 2 * self.noted.len() };
        round.filing = round.entries.len().min(round.filed + some);
        for entry in &round.entries[round.filed..round.filing] {
            let insert = "INSERT OR IGNORE INTO request_names (day, name, operation) VALUES (?1, ?2, ?3)";
            sql.execute(insert, params![entry.day, entry.short, &entry.operation])?;
        }
        if round.filing == round.entries.len() {
            let mark = "INSERT INTO meta (name, value) VALUES (?1, ?2)
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            sql.execute(mark, params![FILED_UNTIL, &round.began_at.0.to_string()])?;
            round.is_over = true;
        }
        Ok(())
    }

    /// The open transaction is on disk.
    pub(crate) fn committed(&mut self, now: Millis) {
        self.unfiled += self.noted.len();
        self.noted.clear();
        if let Some(round) = &mut self.round {
            round.filed = round.filing;
        }
        if let Some(round) = self.round.take_if(|round| round.is_over) {
            self.end(round);
        }
        self.begin_round_if_due(now);
    }

    fn begin_round_if_due(&mut self, now: Millis) {
        if self.round.is_some() || !(self.is_behind || self.unfiled >= RECENT_OPERATIONS_MAX) {
            return;
        }
        let oldest = now.plus(-KEY_KEPT_MS);
        self.recent.retain(|_, operation| operation.made_at() > oldest);
        let mut entries: Vec<IndexedRequest> =
            self.recent.iter().map(|(name, id)| IndexedRequest::new(*name, *id)).collect();
        let (mut began_at, at_once) = (now, self.is_behind);
        if at_once && entries.len() > CAUGHT_UP_PER_COMMIT {
            // The oldest first, so that the next start reads less, even after a short life of this process.
            entries.sort_unstable_by_key(|entry| entry.operation);
            entries.truncate(CAUGHT_UP_PER_COMMIT);
            began_at = entries.last().map_or(now, |entry| entry.operation.made_at());
        } else {
            (self.is_behind, self.unfiled) = (false, 0);
        }
        entries.sort_unstable();
        self.round = Some(FilingRound { entries, filed: 0, filing: 0, at_once, is_over: false, began_at });
    }

    fn end(&mut self, round: FilingRound) {
        self.has_filed |= !round.entries.is_empty();
        for entry in round.entries {
            // Unless the name was used again meanwhile.
            if self.recent.get(&entry.name) == Some(&entry.operation) {
                self.recent.remove(&entry.name);
            }
        }
    }

    /// The open transaction came to nothing.
    pub(crate) fn rolled_back(&mut self) {
        self.take_back(0);
        if let Some(round) = &mut self.round {
            (round.filing, round.is_over) = (round.filed, false);
        }
    }
}

/// Takes away some of what was filed so long ago that it no longer counts.
pub(crate) fn sweep(sql: &mut SqliteTransaction<'_>, now: Millis) -> Result<(), SqlError> {
    let old = "DELETE FROM request_names WHERE (day, name, operation) IN
               (SELECT day, name, operation FROM request_names WHERE day < ?1 LIMIT ?2)";
    sql.execute(old, params![day(now) - 1, SWEPT_MAX]).map(drop)
}

/// Says that every request there is can be found by index, as is so in a copy of a store.
pub(crate) fn all_are_indexed(sql: &mut SqliteTransaction<'_>) -> Result<(), SqlError> {
    let mark = "INSERT INTO meta (name, value)
                SELECT ?1, CAST(coalesce(max(created_at), 0) AS TEXT) FROM operations WHERE true
                ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    sql.execute(mark, params![FILED_UNTIL]).map(drop)
}

fn data_version(connection: &Connection) -> Result<i64, SqlError> {
    let mut version = 0;
    SqliteTransaction::on(connection).query("PRAGMA data_version", &[], &mut |row| {
        version = row.int(0)?;
        Ok(())
    })?;
    Ok(version)
}

#[cfg(test)]
mod tests;
