//! The other side: programs with nothing between them and the database that do the same work.
//!
//! They use the store's own tables, made by opening a store and closing it, so that columns, checks and indexes
//! are the same to the letter.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rusqlite::{CachedStatement, Connection, OpenFlags, params};
use skein_core::{Digest, Millis, UserId};
use skein_store::clock::{Clock as _, SystemClock};
use skein_store::store::database_file;
use skein_store::{Location, Store, StoreOptions};

use crate::notes::{OWNER, Random};

/// Page caches as large as those of the store.
const WRITER_CACHE_KIB: i64 = 64 << 10;
const READER_CACHE_KIB: i64 = 16 << 10;
/// What an item's hash covers: type, id, owner, two times, each after its length, and the payload's hash.
pub(crate) const HEADER_BYTES: usize = 1 + 4 * 5 + 4 + 16 + 16 + 8 + 8 + 32;

const INSERT: &str = "INSERT INTO items
    (tx, id, owner, type, realized_at, canonical_at, hash, payload_hash, encoding, payload)
    VALUES (0, ?1, ?2, 'Note', ?3, ?3, ?4, ?5, 0, ?6)";

const CHAIN: &str = "WITH RECURSIVE chain (type, id, position, distance) AS (
        SELECT target_type, target, target_position, 1 FROM relations
        WHERE source = ?1 AND kind = 'triggers' AND owner = ?2
        UNION ALL
        SELECT r.target_type, r.target, r.target_position, chain.distance + 1 FROM chain
        JOIN relations r ON r.source = chain.id AND r.kind = 'triggers' AND r.owner = ?2
    )
    SELECT type, id, position, distance FROM chain";

const TIMELINE: &str = "SELECT tx, position, id, owner, type, realized_at, canonical_at, hash,
        payload_hash, encoding, payload
    FROM items ORDER BY tx, position";

/// Makes the tables in an empty directory.
pub(crate) fn make_tables(directory: &Path) -> Result<()> {
    let location = Location::Directory(directory.to_owned());
    Store::open(StoreOptions::at(location)).map(drop).context("cannot make the tables")
}

/// Appends every payload, so many rows in one transaction; says how long that took.
pub(crate) fn append(directory: &Path, payloads: &[Vec<u8>], rows_per_transaction: usize) -> Result<Duration> {
    let connection = open_for_writing(directory)?;
    let mut random = Random::default();
    let started = Instant::now();
    for chunk in payloads.chunks(rows_per_transaction) {
        let mut insert = connection.prepare_cached(INSERT)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for payload in chunk {
            insert_row(&mut insert, &mut random, payload)?;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(started.elapsed())
}

fn insert_row(insert: &mut CachedStatement<'_>, random: &mut Random, payload: &[u8]) -> rusqlite::Result<usize> {
    let now = SystemClock.now();
    let id = random.item_id(now);
    let payload_hash = Digest::of(payload);
    let hash = Digest::of(&header(id.as_bytes(), &OWNER, now, &payload_hash));
    insert.execute(params![id.as_bytes(), OWNER.as_bytes(), now.0, hash.as_bytes(), payload_hash.as_bytes(), payload])
}

/// As many bytes as an item's header has, with what differs between items in it.
fn header(id: &[u8; 16], owner: &UserId, at: Millis, payload: &Digest) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..16].copy_from_slice(id);
    bytes[16..32].copy_from_slice(owner.as_bytes());
    bytes[32..40].copy_from_slice(&at.0.to_be_bytes());
    bytes[40..72].copy_from_slice(payload.as_bytes());
    bytes
}

/// One thing on a chain, as the database gives it.
pub(crate) struct Step {
    pub(crate) is_item: bool,
    pub(crate) id: [u8; 16],
    pub(crate) position: Option<i64>,
    pub(crate) distance: i64,
}

/// Everything reached from an item along `triggers`.
pub(crate) fn chain(connection: &Connection, from: &[u8; 16]) -> Result<Vec<Step>> {
    let mut statement = connection.prepare_cached(CHAIN)?;
    let rows = statement.query_map(params![from, OWNER.as_bytes()], |row| {
        Ok(Step {
            is_item: row.get_ref(0)?.as_bytes()? == b"item",
            id: row.get(1)?,
            position: row.get(2)?,
            distance: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Reads every item in timeline order and hashes it; says how many there are and how long that took.
pub(crate) fn hash_everything(directory: &Path) -> Result<(u64, Duration)> {
    let connection = open_for_reading(directory)?;
    let started = Instant::now();
    let (mut items, mut altered) = (0, 0_u64);
    let mut statement = connection.prepare(TIMELINE)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, owner) = (row.get::<_, [u8; 16]>(2)?, UserId::from_bytes(row.get(3)?));
        let payload_hash = Digest::of(row.get_ref(10)?.as_blob()?);
        altered += u64::from(payload_hash.as_bytes()[..] != *row.get_ref(8)?.as_blob()?);
        let header = header(&id, &owner, Millis(row.get(5)?), &payload_hash);
        std::hint::black_box(Digest::of(&header));
        items += 1;
    }
    anyhow::ensure!(altered == 0, "{altered} of {items} items were altered");
    Ok((items, started.elapsed()))
}

pub(crate) fn open_for_writing(directory: &Path) -> Result<Connection> {
    let connection = Connection::open(database_file(directory)).context("cannot open")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    Ok(connection)
}

pub(crate) fn open_for_reading(directory: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database_file(directory), flags);
    let connection = connection.context("cannot open for reading")?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    Ok(connection)
}
