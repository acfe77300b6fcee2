//! Backups: a directory that is itself a store. It can be opened, verified and restored to either database.
//!
//! Taking one copies every table on one snapshot, beside a server that goes on writing; the database gets its name only
//! when everything is there, so half a backup is none. Restoring copies the facts and the operational rows in one
//! transaction, and makes everything else anew from the facts.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};

use rusqlite::Connection;
use skein_core::account::idempotency::KEY_KEPT_MS;
use skein_core::garden::cursor::Cursor;
use skein_core::{Digest, Millis};

use crate::account::users::FIRST_USER;
use crate::blobs::{Blobs, unnamed_of};
use crate::catalog::vault::VAULT_META;
use crate::db::postgres::hold_database;
use crate::db::sql::{OwnedValue, Sql, Value, params};
use crate::db::sqlite;
use crate::db::sqlite::SqliteTransaction;
use crate::db::tables::{Class, TABLES, Table};
use crate::error::{SqlError, StoreError, is_full};
use crate::store::{Location, Store, StoreOptions, closed, database_file};
use crate::timeline::follow::FOLLOW_ITEMS_MAX;
use crate::tx::Tx;
use crate::verify::Progress;

/// A session of a store is no session of its copy.
const SESSIONS: &str = "sessions";
const OPERATIONS: &str = "operations";
/// The name of a copy until it is whole.
const UNFINISHED: &str = "unfinished.db";
/// The folder of the objects.
const BLOBS: &str = "blobs";
/// How often a copy is made again because an attachment was redacted meanwhile.
const COPIES_MAX: usize = 3;
const ROWS_PER_INSERT: usize = 100;
const BYTES_PER_INSERT: usize = 8 << 20;
const ROWS_PER_PROGRESS: u64 = 10_000;
const SYSTEM: skein_core::Viewer = skein_core::Viewer::System("restoring");

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackupResult {
    pub items: u64,
    pub blobs: u64,
    /// Objects that are named but were missing or damaged, and so are not in the copy.
    pub lost_blobs: Vec<Digest>,
}

/// Copies a store into `target`, a directory that must not exist or be empty.
pub fn backup(
    store: &Store,
    blobs: &Blobs,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupResult, StoreError> {
    // Held until the copy is whole: another backup would take an unfinished one for left behind.
    let _held = make_private_directory(target)?;
    for _ in 1..COPIES_MAX {
        let copied = copy_to(store, blobs, target, progress)?;
        if unnamed_of(store, copied.lost_blobs.clone())?.is_empty() {
            publish(target)?;
            return Ok(copied);
        }
        // An attachment was redacted while it was copied: the copy would name what is nowhere any more.
        remove_unfinished(target)?;
    }
    let copied = copy_to(store, blobs, target, progress)?;
    publish(target)?;
    Ok(copied)
}

/// Copies a store on one snapshot; the database has no name yet.
fn copy_to(
    store: &Store,
    blobs: &Blobs,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupResult, StoreError> {
    let beside = Blobs::directory(&target.join(BLOBS))?;
    let unfinished = target.join(UNFINISHED);
    let (sender, receiver) = channel();
    let blobs = blobs.clone();
    let outcome = store.read_everything(move |tx| {
        let connection = sqlite::open_writer(&unfinished)?;
        let now = tx.now();
        let items = copy_all(tx.sql, &connection, now, &sender)?;
        let copied = BackupResult { items, ..tx.copy_blobs(&blobs, &beside, &sender)? };
        // A single file without a log beside it can also be read from a medium that cannot be written.
        connection.pragma_update(None, "journal_mode", "DELETE").map_err(|error| sqlite::sql_error(&error))?;
        connection.close().map_err(|(_, error)| sqlite::sql_error(&error))?;
        Ok(copied)
    })?;
    receiver.into_iter().for_each(progress);
    outcome.blocking_recv().unwrap_or_else(|_| Err(closed()))
}

/// Gives a finished file its name, durably.
fn publish(target: &Path) -> Result<(), StoreError> {
    let (unfinished, file) = (target.join(UNFINISHED), database_file(target));
    let publish = || {
        File::open(&unfinished)?.sync_all()?;
        std::fs::rename(&unfinished, &file)?;
        File::open(target)?.sync_all()
    };
    publish().map_err(|error| unwritable(&file, &error))
}

/// Puts a backup back into a store without items and makes everything that follows from its facts anew.
pub fn restore(
    source: &Path,
    location: &Location,
    blobs: &Blobs,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupResult, StoreError> {
    let file = database_file(source);
    if !file.is_file() {
        return Err(StoreError::NotFound(format!("a finished backup in {}", source.display())));
    }
    if let Location::Directory(directory) = location {
        std::fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;
    }
    let store = Store::open(StoreOptions { connections: 1, ..StoreOptions::at(location.clone()) })?;
    let originals = if source.join(BLOBS).is_dir() { Blobs::directory(&source.join(BLOBS))? } else { Blobs::nowhere() };
    let (sender, receiver) = channel();
    let (blobs, location) = (blobs.clone(), location.clone());
    let restoring = std::thread::spawn(move || {
        // The owner of a directory of the other kind holds its lock.
        let _held = match &location {
            Location::Postgres(url) => Some(hold_database(url)?),
            Location::Directory(_) => None,
        };
        let put_back = move |tx: &mut Tx<'_>| tx.put_back(&file, &originals, &blobs, &sender);
        store.write_blocking(put_back)
    });
    receiver.into_iter().for_each(progress);
    let outcome = restoring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(outcome?.value)
}

impl Tx<'_> {
    fn put_back(
        &mut self,
        file: &Path,
        originals: &Blobs,
        blobs: &Blobs,
        progress: &Sender<Progress>,
    ) -> Result<BackupResult, StoreError> {
        if self.first("SELECT position FROM items LIMIT 1", &[], |row| row.int(0))?.is_some() {
            return Err(StoreError::Exists("data in the place to restore to".to_owned()));
        }
        let (source, now) = (sqlite::open_reader(file)?, self.now());
        let mut items = 0;
        for table in
            TABLES.iter().filter(|table| table.class != Class::Projected && table.name != "meta" && is_copied(table))
        {
            let copied = copy(table, &mut SqliteTransaction::on(&source), self.sql, now, progress)?;
            items += if table.class == Class::Source { copied } else { 0 };
        }
        self.sql.continue_timeline()?;
        self.copy_meta(&source)?;
        self.project_everything(progress)?;
        Ok(BackupResult { items, ..self.copy_blobs(originals, blobs, progress)? })
    }

    /// Who administers the installation, which key the vault is under, and whether that was being changed.
    fn copy_meta(&mut self, source: &Connection) -> Result<(), StoreError> {
        for name in std::iter::once(FIRST_USER).chain(VAULT_META) {
            let mut value = None;
            SqliteTransaction::on(source).query(
                "SELECT value FROM meta WHERE name = ?1",
                params![name],
                &mut |row| {
                    value = Some(row.text(0)?.to_owned());
                    Ok(())
                },
            )?;
            if let Some(value) = value {
                self.execute("INSERT INTO meta (name, value) VALUES (?1, ?2)", params![name, &value])?;
            }
        }
        Ok(())
    }

    fn project_everything(&mut self, progress: &Sender<Progress>) -> Result<(), StoreError> {
        let mut after = Cursor { tx: i64::MIN, position: i64::MIN };
        let mut done = 0;
        loop {
            let items = self.after(&SYSTEM, after, i64::MAX, FOLLOW_ITEMS_MAX)?;
            let Some(last) = items.last() else { return Ok(()) };
            after = last.cursor;
            for stored in &items {
                self.project(&stored.item, stored.cursor)?;
            }
            done += items.len() as u64;
            let _ = progress.send(Progress { stage: "rebuilding", done, total: done });
        }
    }

    /// Copies every object that is named; what cannot be read is listed, for one lost object must not cost the rest.
    fn copy_blobs(
        &mut self,
        from: &Blobs,
        to: &Blobs,
        progress: &Sender<Progress>,
    ) -> Result<BackupResult, StoreError> {
        let named = self.named_blobs()?;
        let total = named.len() as u64;
        let mut copied = BackupResult::default();
        for (done, (hash, _)) in (1..).zip(named) {
            match from.block_on(async |from| from.spool(hash, to).await) {
                Ok(mut staged) => {
                    to.block_on(async |to| to.keep(&mut staged, "").await)?;
                    copied.blobs += 1;
                }
                Err(StoreError::NotFound(_) | StoreError::Damaged(_)) => copied.lost_blobs.push(hash),
                Err(error) => return Err(error),
            }
            let _ = progress.send(Progress { stage: "blobs", done, total });
        }
        Ok(copied)
    }
}

fn is_copied(table: &Table) -> bool {
    table.class != Class::Index && table.name != SESSIONS
}

fn copy_all(from: &mut dyn Sql, to: &Connection, now: Millis, progress: &Sender<Progress>) -> Result<u64, StoreError> {
    let in_batch = |sql: &str| to.execute_batch(sql).map_err(|error| sqlite::sql_error(&error));
    in_batch("BEGIN; DELETE FROM meta")?;
    let mut items = 0;
    for table in TABLES.iter().filter(|table| is_copied(table)) {
        let copied = copy(table, from, &mut SqliteTransaction::on(to), now, progress)?;
        items += if table.class == Class::Source { copied } else { 0 };
    }
    SqliteTransaction::on(to).continue_timeline()?;
    in_batch("COMMIT")?;
    Ok(items)
}

/// Copies every row of a table; says how many.
fn copy(
    table: &Table,
    from: &mut dyn Sql,
    to: &mut dyn Sql,
    now: Millis,
    progress: &Sender<Progress>,
) -> Result<u64, SqlError> {
    let mut waiting: Vec<OwnedValue> = Vec::new();
    let (mut copied, mut bytes) = (0, 0);
    let full = ROWS_PER_INSERT * table.columns.len();
    let select = if table.name == OPERATIONS { operations_as_copied(table, now) } else { table.select() };
    from.query(&select, &[], &mut |row| {
        for column in 0..table.columns.len() {
            let value = row.value(column)?;
            bytes += value.weight();
            waiting.push(OwnedValue::of(value));
        }
        copied += 1;
        if copied % ROWS_PER_PROGRESS == 0 {
            let _ = progress.send(Progress { stage: table.name, done: copied, total: copied });
        }
        if waiting.len() < full && bytes < BYTES_PER_INSERT {
            return Ok(());
        }
        bytes = 0;
        insert(table, to, &mut waiting)
    })?;
    insert(table, to, &mut waiting)?;
    Ok(copied)
}

/// Every operation, its request's name found by index or, if it no longer counts, by nobody: so it may be there twice.
fn operations_as_copied(table: &Table, now: Millis) -> String {
    let spent = format!("indexed = 0 AND created_at <= {}", now.plus(-KEY_KEPT_MS).0);
    let column = |name: &&str| match *name {
        "request" | "fingerprint" => format!("CASE WHEN {spent} THEN NULL ELSE {name} END"),
        "indexed" => format!("CAST(CASE WHEN request IS NULL OR ({spent}) THEN 0 ELSE 1 END AS BIGINT)"),
        other => other.to_owned(),
    };
    let columns: Vec<String> = table.columns.iter().map(column).collect();
    format!("SELECT {} FROM {} ORDER BY id", columns.join(", "), table.name)
}

fn insert(table: &Table, to: &mut dyn Sql, waiting: &mut Vec<OwnedValue>) -> Result<(), SqlError> {
    if waiting.is_empty() {
        return Ok(());
    }
    let width = table.columns.len();
    let row = |row: usize| {
        let places: Vec<String> = (1..=width).map(|column| format!("?{}", row * width + column)).collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..waiting.len() / width).map(row).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES {}", table.name, table.columns.join(", "), rows.join(", "));
    let values: Vec<Value<'_>> = waiting.iter().map(OwnedValue::value).collect();
    to.execute(&sql, &values)?;
    waiting.clear();
    Ok(())
}

/// A directory only its owner can look into, locked against other backups until the result is dropped. What an earlier
/// attempt left unfinished is taken away.
fn make_private_directory(path: &Path) -> Result<File, StoreError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |error: std::io::Error| unwritable(path, &error);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let held = File::open(path).map_err(failed)?;
    match held.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path.display().to_string())),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(UNFINISHED) {
            std::fs::remove_file(entry.path()).map_err(failed)?;
        } else if name != BLOBS {
            return Err(StoreError::Exists(format!("something in {}", path.display())));
        }
    }
    Ok(held)
}

/// Removes a copy of ours that is not to be published.
fn remove_unfinished(target: &Path) -> Result<(), StoreError> {
    let removed =
        std::fs::remove_file(target.join(UNFINISHED)).and_then(|()| std::fs::remove_dir_all(target.join(BLOBS)));
    removed.map_err(|error| unwritable(target, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    if is_full(error) { StoreError::DiskFull } else { StoreError::ReadOnly(format!("{}: {error}", path.display())) }
}
