//! Schemas: every shipped one is read for ever, newer ones are refused by name.

use skein_store::backup::restore;
use skein_store::blobs::Blobs;
use skein_store::store::database_file;
use skein_store::verify::{VerifyOptions, VerifyReport, verify};
use skein_store::{Location, SCHEMA_VERSION, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};

use crate::fixtures::{World, both};

/// Every schema that was shipped, with rows, as statements for SQLite.
const SHIPPED: [&str; 13] = [
    include_str!("../shipped/0001.sql"),
    include_str!("../shipped/0002.sql"),
    include_str!("../shipped/0003.sql"),
    include_str!("../shipped/0004.sql"),
    include_str!("../shipped/0005.sql"),
    include_str!("../shipped/0006.sql"),
    include_str!("../shipped/0007.sql"),
    include_str!("../shipped/0008.sql"),
    include_str!("../shipped/0009.sql"),
    include_str!("../shipped/0010.sql"),
    include_str!("../shipped/0011.sql"),
    include_str!("../shipped/0012.sql"),
    include_str!("../shipped/0013.sql"),
];

fn verified(store: &Store, blobs: &Blobs) -> VerifyReport {
    let report = verify(store, blobs, &VerifyOptions { deep: true, expect: None }, &mut |_| {}).unwrap();
    assert_eq!(report.breaks, []);
    assert!(report.items > 5 && report.sealed > 5 && report.redacted >= 1);
    report
}

#[test]
fn every_shipped_schema_is_migrated_and_verifies_on_both_databases() {
    assert_eq!(i64::try_from(SHIPPED.len()), Ok(SCHEMA_VERSION), "commit a dump of the new schema with rows");
    for dump in SHIPPED {
        let folder = tempfile::tempdir().unwrap();
        rusqlite::Connection::open(database_file(folder.path())).unwrap().execute_batch(dump).unwrap();
        let blobs = Blobs::directory(&folder.path().join("blobs")).unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(folder.path().to_owned()))).unwrap();
        let head = verified(&store, &blobs).head;
        drop(store);
        let database = Database::fresh(Cluster::shared());
        let location = Location::Postgres(database.url().to_owned());
        restore(folder.path(), &location, &blobs, &mut |_| {}).unwrap();
        let store = Store::open(StoreOptions { connections: 2, ..StoreOptions::at(location) }).unwrap();
        assert_eq!(verified(&store, &blobs).head, head);
    }
}

both! {
    fn a_newer_schema_is_refused_by_name(world: &World) {
        world.tamper("UPDATE meta SET value = '99' WHERE name = 'schema'").unwrap();
        for opened in [
            Store::open(StoreOptions { connections: 1, ..StoreOptions::at(world.store.location().clone()) }),
            Store::open_read_only(world.store.location().clone()),
        ] {
            let error = opened.err().expect("a newer schema was opened");
            assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
            assert!(error.to_string().contains("99") && error.to_string().contains("newer skein"));
        }
    }

    fn a_store_opened_for_reading_refuses_to_write(world: &World) {
        let reader = Store::open_read_only(world.store.location().clone()).unwrap();
        let viewer = world.anna.clone();
        let written = reader.write_blocking(move |tx| tx.append_item(&viewer, &crate::fixtures::note("n", None)));
        assert!(matches!(written, Err(StoreError::ReadOnly(_))));
    }

    fn opening_again_changes_nothing(world: &World) {
        world.note("kept");
        let again = Store::open(StoreOptions { connections: 1, ..StoreOptions::at(world.store.location().clone()) }).unwrap();
        drop(again);
        assert_eq!(world.verify(true).breaks, []);
    }
}

#[test]
fn a_database_that_cannot_be_reached_says_so() {
    let nowhere = Location::Postgres("postgres://nobody@127.0.0.1:1/none".to_owned());
    assert!(matches!(Store::open(StoreOptions::at(nowhere)), Err(StoreError::Unavailable(_))));
    let missing = Location::Directory("/nonexistent/skein".into());
    assert!(matches!(Store::open(StoreOptions::at(missing)), Err(StoreError::Unavailable(_))));
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(database_file(folder.path()), b"this is not a database, and long enough to be looked at").unwrap();
    assert!(Store::open(StoreOptions::at(Location::Directory(folder.path().to_owned()))).is_err());
    assert!(std::fs::read(database_file(folder.path())).unwrap().starts_with(b"this is not"));
}

#[test]
fn postgres_gone_and_back_is_used_again_without_restart() {
    let mut cluster = Cluster::builder().durable(true).start();
    let database = Database::fresh(&cluster);
    let options = StoreOptions { connections: 2, ..StoreOptions::at(Location::Postgres(database.url().to_owned())) };
    let store = Store::open(options).unwrap();
    let viewer = skein_core::Viewer::User(skein_core::UserId::from_bytes([7; 16]));
    let append = |text: &str| {
        let (viewer, draft) = (viewer.clone(), crate::fixtures::note(text, None));
        store.write_blocking(move |tx| tx.append_item(&viewer, &draft))
    };
    let before = append("before").unwrap().value;
    cluster.kill_nine();
    assert!(matches!(append("lost"), Err(StoreError::Unavailable(_) | StoreError::OutcomeUnknown)));
    cluster.restart();
    append("after").unwrap();
    let (viewer, id) = (viewer.clone(), before.item.header.id);
    assert_eq!(store.read_blocking(move |tx| tx.item(&viewer, id)).unwrap(), before);
}
