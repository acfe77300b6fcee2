//! A database whose pages cannot be read is told apart from an entry that was altered, and both are remembered.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use skein_core::Viewer;
use skein_core::account::Role;
use skein_store::timeline::items::ItemQuery;
use skein_store::{Location, Store, StoreError, StoreOptions};

/// Fills the page at which a table begins.
fn overwrite_root_of(file: &Path, table: &str) {
    let database = rusqlite::Connection::open(file).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let root = number(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"));
    let size = number("PRAGMA page_size");
    drop(database);
    let mut file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(u64::try_from((root - 1) * size).unwrap())).unwrap();
    file.write_all(&vec![0xff; usize::try_from(size).unwrap()]).unwrap();
}

#[test]
fn a_corrupt_database_is_told_apart_from_an_altered_entry() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Directory(folder.path().to_owned());
    let store = Store::open(StoreOptions::at(location.clone())).unwrap();
    let create = |tx: &mut skein_store::Tx<'_>| tx.create_user(&Viewer::System("test"), "anna", Role::Admin);
    let anna = Viewer::User(store.write_blocking(create).unwrap().value);
    assert_eq!(store.storage_status().damage, None);
    drop(store);
    overwrite_root_of(&folder.path().join("skein.db"), "items");
    let store = Store::open_read_only(location).unwrap();
    let failed = store.read_blocking(move |tx| tx.items(&anna, &ItemQuery::default())).unwrap_err();
    assert!(matches!(failed, StoreError::Corrupt(_)), "{failed}");
    let damage = store.storage_status().damage.unwrap();
    assert_eq!((damage.places, damage.is_database_corrupt), (1, true));
}

#[test]
fn an_altered_entry_is_counted_once_and_leaves_the_database_sound() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreOptions::at(Location::Directory(folder.path().to_owned()))).unwrap();
    for place in ["one", "one", "two"] {
        store.report(&StoreError::Damaged(place.to_owned()));
    }
    let damage = store.storage_status().damage.unwrap();
    assert_eq!((damage.places, damage.is_database_corrupt), (2, false));
}
