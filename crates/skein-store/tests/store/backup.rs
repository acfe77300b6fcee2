//! Backups are stores: taken under load, verified in place, restored to either database.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use skein_core::Viewer;
use skein_core::garden::cursor::Cursor;
use skein_store::backup::{backup, restore};
use skein_store::blobs::Blobs;
use skein_store::verify::{VerifyOptions, VerifyReport, verify};
use skein_store::{Location, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};

use crate::fixtures::{World, both, note};

fn verify_at(location: Location, blobs: &Path) -> VerifyReport {
    let store = Store::open_read_only(location).unwrap();
    let options = VerifyOptions { deep: true, expect: None };
    verify(&store, &Blobs::directory(blobs).unwrap(), &options, &mut |_| {}).unwrap()
}

/// Takes a backup while others write, and gives its directory.
fn taken_under_load(world: &World) -> tempfile::TempDir {
    let blob = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let blob = blob.block_on(world.blobs.put(Bytes::from_static(b"attached"), "text/plain")).unwrap();
    let viewer = world.anna.clone();
    world.write(move |tx| tx.attach_blob(&viewer, &blob));
    let undone = world.note("undone").item.header.id;
    let viewer = world.anna.clone();
    world.write(move |tx| tx.undo_item(&viewer, undone));
    world.note("acknowledged before");
    world.seal();
    let target = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                world.note("load");
            }
        });
        let copied = backup(&world.store, &world.blobs, target.path(), &mut |_| {}).unwrap();
        assert!(copied.items >= 5 && copied.blobs == 1);
        stop.store(true, Ordering::Relaxed);
    });
    target
}

fn notes_of(store: &Store, viewer: &Viewer) -> usize {
    let viewer = viewer.clone();
    let query = skein_store::timeline::items::ItemQuery { limit: 1_000, ..Default::default() };
    store.read_blocking(move |tx| tx.items(&viewer, &query)).unwrap().rows.len()
}

/// A restored store goes on where the old one stopped.
fn continues(location: Location, viewer: &Viewer) {
    let store = Store::open(StoreOptions { connections: 2, ..StoreOptions::at(location) }).unwrap();
    let newest = |store: &Store| {
        store
            .read_blocking(|tx| tx.follow(&Viewer::System("test"), Cursor::START, 4_096))
            .unwrap()
            .last()
            .unwrap()
            .cursor
    };
    let (before, count) = (newest(&store), notes_of(&store, viewer));
    let author = viewer.clone();
    let after = store.write_blocking(move |tx| tx.append_item(&author, &note("after", None))).unwrap();
    assert!(after.cursor > before, "{:?} does not follow {before:?}", after.cursor);
    assert_eq!(notes_of(&store, viewer), count + 1);
}

both! {
    fn a_backup_taken_under_load_verifies_and_restores_to_both_databases(world: &World) {
        let taken = taken_under_load(world);
        let report = verify_at(Location::Directory(taken.path().to_owned()), &taken.path().join("blobs"));
        assert_eq!(report.breaks, []);

        let directory = tempfile::tempdir().unwrap();
        let blobs = directory.path().join("blobs");
        let location = Location::Directory(directory.path().to_owned());
        restore(taken.path(), &location, &Blobs::directory(&blobs).unwrap(), &mut |_| {}).unwrap();
        let restored = verify_at(location.clone(), &blobs);
        assert_eq!((restored.breaks, restored.head, restored.items), (vec![], report.head, report.items));
        continues(location, &world.anna);

        let database = Database::fresh(Cluster::shared());
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Postgres(database.url().to_owned());
        restore(taken.path(), &location, &Blobs::directory(folder.path()).unwrap(), &mut |_| {}).unwrap();
        let restored = verify_at(location.clone(), folder.path());
        assert_eq!((restored.breaks, restored.head, restored.items), (vec![], report.head, report.items));
        continues(location, &world.anna);
    }

    fn half_a_backup_is_none_and_can_be_taken_again(world: &World) {
        world.note("mine");
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("copy");
        backup(&world.store, &world.blobs, &target, &mut |_| {}).unwrap();
        std::fs::rename(target.join("skein.db"), target.join("unfinished.db")).unwrap();
        let elsewhere = Location::Directory(folder.path().join("elsewhere"));
        let refused = restore(&target, &elsewhere, &world.blobs, &mut |_| {});
        assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
        backup(&world.store, &world.blobs, &target, &mut |_| {}).unwrap();
        restore(&target, &elsewhere, &world.blobs, &mut |_| {}).unwrap();
        assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o077, 0, "others can look into it");
    }

    fn a_lost_object_is_named_and_costs_nothing_else(world: &World) {
        let blob = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let blob = blob.block_on(world.blobs.put(Bytes::from_static(b"lost"), "text/plain")).unwrap();
        let (viewer, hash, hex) = (world.anna.clone(), blob.hash(), blob.hash().to_string());
        world.write(move |tx| tx.attach_blob(&viewer, &blob));
        std::fs::remove_file(world.folder.path().join("blobs").join(&hex[..2]).join(&hex)).unwrap();
        let target = tempfile::tempdir().unwrap();
        let copied = backup(&world.store, &world.blobs, target.path(), &mut |_| {}).unwrap();
        assert_eq!((copied.lost_blobs, copied.blobs), (vec![hash], 0));
    }

    fn nothing_is_restored_over_something(world: &World) {
        world.note("mine");
        let taken = taken_under_load(world);
        let refused = restore(taken.path(), world.store.location(), &world.blobs, &mut |_| {});
        assert!(matches!(refused, Err(StoreError::Exists(_))), "{refused:?}");
        assert!(matches!(backup(&world.store, &world.blobs, taken.path(), &mut |_| {}), Err(StoreError::Exists(_))));
        let nothing = tempfile::tempdir().unwrap();
        let missing = restore(nothing.path(), world.store.location(), &world.blobs, &mut |_| {});
        assert!(matches!(missing, Err(StoreError::NotFound(_))));
    }
}

#[test]
fn backups_into_one_directory_at_once_leave_one_whole_copy() {
    let world = World::sqlite();
    for _ in 0..50 {
        world.note("kept");
    }
    world.seal();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy");
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let copy = || backup(&world.store, &world.blobs, &target, &mut |_| {});
        let copying: Vec<_> = (0..4).map(|_| scope.spawn(copy)).collect();
        copying.into_iter().map(|copying| copying.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let refused =
        |outcome: &&Result<_, StoreError>| matches!(outcome, Err(StoreError::Locked(_) | StoreError::Exists(_)));
    assert_eq!(outcomes.iter().filter(refused).count(), 3, "{outcomes:?}");
    assert!(verify_at(Location::Directory(target.clone()), &target.join("blobs")).breaks.is_empty());
}
