//! Administrative acts beside others of their kind, and beside ordinary work.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

use bytes::Bytes;
use serde_json::json;
use skein_core::account::idempotency::SILENT_MS_MAX;
use skein_core::{Digest, ItemId, OperationId, UserId, Viewer};
use skein_store::backup::{backup, restore};
use skein_store::blobs::Blobs;
use skein_store::bundle::{Authority, BadBundle, import};
use skein_store::jobs::exclusive_act::{ExclusiveAct, LastExclusiveAct};
use skein_store::operations::OperationState;
use skein_store::verify::{Progress, VerifyOptions, VerifyReport, verify};
use skein_store::{Location, Store, StoreError, StoreOptions, Tx};
use skein_testkit::postgres::{Cluster, Database};

use crate::bundle::{export_all, file_of, try_import};
use crate::fixtures::{World, both, content, note, user, wait_until};
use crate::object_service::ObjectService;

const SYSTEM: Viewer = Viewer::System("test");
/// The number of the lock that migrations and restores take on PostgreSQL.
const MIGRATION_LOCK: i64 = 0x73_6b_65_69_6e;

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn verify_deep(store: &Store, blobs: &Blobs) -> VerifyReport {
    verify(store, blobs, &VerifyOptions { deep: true, expect: None }, &mut |_| {}).unwrap()
}

/// Keeps some bytes and names them, as an upload does.
fn upload(store: &Store, blobs: &Blobs, viewer: &Viewer) -> Result<(ItemId, Digest), StoreError> {
    let bytes = Bytes::from_static(b"the same bytes");
    let (hash, viewer) = (Digest::of(&bytes), viewer.clone());
    let before = store.read_blocking(move |tx| tx.blob_removals(hash))?;
    let blob = run(blobs.put(bytes, "text/plain"))?;
    let name = move |tx: &mut Tx<'_>| {
        tx.refuse_removed(hash, before)?;
        Ok((tx.attach_blob(&viewer, &blob)?, hash))
    };
    Ok(store.write_blocking(name)?.value)
}

/// Begins an import of an owner as a request does.
fn begin_import(store: &Store, viewer: &Viewer, request: &[u8]) -> Result<OperationId, StoreError> {
    let (viewer, name) = (viewer.clone(), Digest::of(request));
    let begin = move |tx: &mut Tx<'_>| {
        let operation = tx.reserve_operation(&viewer, "import", name)?;
        tx.begin_exclusive_act(&SYSTEM, ExclusiveAct::Import(viewer.owner()), operation)?;
        Ok(operation)
    };
    Ok(store.write_blocking(begin)?.value)
}

/// Begins a rotation whose key was made after `last` was read.
fn begin_rotation(world: &World, request: &[u8], last: LastExclusiveAct) -> Result<OperationId, StoreError> {
    let name = Digest::of(request);
    world.try_write(move |tx| {
        let operation = tx.reserve_operation(&SYSTEM, "rotation", name)?;
        tx.begin_exclusive_act_after(&SYSTEM, ExclusiveAct::VaultRotation, operation, last)?;
        Ok(operation)
    })
}

both! {
    fn a_rotation_prepared_before_another_ran_is_refused(world: &World) {
        let last = world.read(|tx| tx.last_exclusive_act(&SYSTEM, ExclusiveAct::VaultRotation));
        assert!(last.has_ended());
        let first = begin_rotation(world, b"first", last).unwrap();
        let running = world.read(|tx| tx.last_exclusive_act(&SYSTEM, ExclusiveAct::VaultRotation));
        assert!(!running.has_ended());
        for prepared in [last, running] {
            let refused = begin_rotation(world, b"second", prepared);
            assert!(matches!(refused, Err(StoreError::ActRunning { operation, .. }) if operation == first), "{refused:?}");
        }
        let completed = OperationState::Completed { result: "{}".to_owned() };
        world.write(move |tx| tx.end_operation(&SYSTEM, first, &completed));
        for prepared in [last, running] {
            let refused = begin_rotation(world, b"second", prepared);
            assert!(matches!(refused, Err(StoreError::ActRunning { operation, .. }) if operation == first), "{refused:?}");
        }
        let ended = world.read(|tx| tx.last_exclusive_act(&SYSTEM, ExclusiveAct::VaultRotation));
        begin_rotation(world, b"second", ended).unwrap();
    }

    fn an_upload_beside_the_removal_of_the_same_bytes_loses_nothing(world: &World) {
        let service = ObjectService::default();
        let (_hostile, blobs) = service.serve();
        let hash = run(blobs.put(Bytes::from_static(b"the same bytes"), "text/plain")).unwrap().hash();
        let (uploaded, met) = channel();
        let (store, beside, anna) = (world.store.clone(), blobs.clone(), world.anna.clone());
        service.before("POST", move || uploaded.send(upload(&store, &beside, &anna)).unwrap());
        assert!(run(blobs.remove_unnamed(&world.store, hash)).unwrap());
        let refused = met.recv().unwrap();
        assert!(matches!(refused, Err(StoreError::BlobRemoved(found)) if found == hash), "{refused:?}");
        upload(&world.store, &blobs, &world.anna).unwrap();
        assert!(!run(blobs.remove_unnamed(&world.store, hash)).unwrap());
        assert_eq!(run(blobs.get(hash)).unwrap(), b"the same bytes"[..]);
    }

    fn bytes_that_were_removed_before_they_were_named_are_not_named(world: &World) {
        let bytes = Bytes::from_static(b"the same bytes");
        let hash = Digest::of(&bytes);
        let before = world.read(move |tx| tx.blob_removals(hash));
        run(world.blobs.put(bytes, "text/plain")).unwrap();
        assert!(run(world.blobs.remove_unnamed(&world.store, hash)).unwrap());
        let refused = world.try_write(move |tx| tx.refuse_removed(hash, before));
        assert!(matches!(refused, Err(StoreError::BlobRemoved(_))), "{refused:?}");
        upload(&world.store, &world.blobs, &world.anna).unwrap();
        assert_eq!(run(world.blobs.measure(hash)).unwrap(), 14);
    }

    fn bytes_that_came_in_the_middle_of_a_removal_are_not_named(world: &World) {
        let service = ObjectService::default();
        let (_hostile, blobs) = service.serve();
        let bytes = Bytes::from_static(b"the same bytes");
        let hash = run(blobs.put(bytes.clone(), "text/plain")).unwrap().hash();
        let (told, met) = channel();
        let (store, beside) = (world.store.clone(), blobs.clone());
        service.before("POST", move || {
            told.send(store.read_blocking(move |tx| tx.blob_removals(hash)).unwrap()).unwrap();
            run(beside.put(bytes, "text/plain")).unwrap();
        });
        assert!(run(blobs.remove_unnamed(&world.store, hash)).unwrap());
        let before = met.recv().unwrap();
        let refused = world.try_write(move |tx| tx.refuse_removed(hash, before));
        assert!(matches!(refused, Err(StoreError::BlobRemoved(_))), "{refused:?}");
    }

    fn an_attachment_redacted_while_the_store_is_verified_is_no_break(world: &World) {
        let service = ObjectService::default();
        let (_hostile, blobs) = service.serve();
        let (item, _) = upload(&world.store, &blobs, &world.anna).unwrap();
        redact_before_read(world, &service, item);
        assert_eq!(verify_deep(&world.store, &blobs).breaks, []);
    }

    fn an_attachment_redacted_while_it_is_copied_is_not_lost_to_the_backup(world: &World) {
        let service = ObjectService::default();
        let (_hostile, blobs) = service.serve();
        let (item, _) = upload(&world.store, &blobs, &world.anna).unwrap();
        redact_before_read(world, &service, item);
        let target = tempfile::tempdir().unwrap();
        let copied = backup(&world.store, &blobs, target.path(), &mut |_| {}).unwrap();
        assert_eq!((copied.lost_blobs, copied.blobs), (vec![], 0));
        let copy = Store::open_read_only(Location::Directory(target.path().to_owned())).unwrap();
        assert_eq!(verify_deep(&copy, &Blobs::directory(&target.path().join("blobs")).unwrap()).breaks, []);
    }

    fn one_import_of_an_owner_runs_at_a_time(world: &World) {
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let begin = |number: u8| begin_import(&world.store, &world.anna, &[number]);
            let beginning: Vec<_> = (0..4).map(|number| scope.spawn(move || begin(number))).collect();
            beginning.into_iter().map(|beginning| beginning.join().unwrap()).collect()
        });
        let first = *outcomes.iter().find_map(|outcome| outcome.as_ref().ok()).unwrap();
        let refused = |outcome: &&Result<_, _>| {
            matches!(outcome, Err(StoreError::ActRunning { act: ExclusiveAct::Import(_), operation }) if *operation == first)
        };
        assert_eq!(outcomes.iter().filter(refused).count(), 3, "{outcomes:?}");
        begin_import(&world.store, &world.bert, b"of another").unwrap();
        let anna = world.anna.clone();
        world.write(move |tx| tx.release_reserved(&anna, first, "{}"));
        begin_import(&world.store, &world.anna, b"later").unwrap();
    }

    fn an_import_that_fell_silent_gives_way_and_cannot_go_on(world: &World) {
        let silent = begin_import(&world.store, &world.anna, b"silent").unwrap();
        world.clock.advance(SILENT_MS_MAX - 1);
        assert!(matches!(begin_import(&world.store, &world.anna, b"early"), Err(StoreError::ActRunning { .. })));
        world.clock.advance(1);
        begin_import(&world.store, &world.anna, b"next").unwrap();
        let (anna, state) = (world.anna.clone(), OperationState::Processing { progress: 50 });
        let goes_on = world.try_write(move |tx| tx.advance_operation(&anna, silent, &state));
        assert!(matches!(goes_on, Err(StoreError::Ended(_))), "{goes_on:?}");
    }

    fn a_record_that_is_changed_here_while_it_is_imported_ends_the_import(world: &World) {
        let (source, all) = (World::sqlite(), Authority::Installation);
        let (owner, anna) = (user(&source.anna), source.anna.clone());
        let made = source.write(move |tx| tx.create_record(&anna, content("Budget", json!({ "name": "n" })), None));
        try_import(world, &export_all(&source, owner), &all).unwrap();
        let anna = source.anna.clone();
        source.write(move |tx| {
            // More than one batch of an import.
            (0..250).try_for_each(|_| tx.append_item(&anna, &note("between", None)).map(drop))?;
            tx.update_record(&anna, made.id, made.hash, content("Budget", json!({ "name": "there" })), None)
        });
        let bundle = export_all(&source, owner);
        let mut change_once = |progress: Progress| {
            let viewer = Viewer::User(owner);
            if progress.stage == "importing" && progress.done < 250 {
                let here = content("Budget", json!({ "name": "here" }));
                world.write(move |tx| tx.update_record(&viewer, made.id, made.hash, here.clone(), None));
            }
            ControlFlow::Continue(())
        };
        let ended = import(&world.store, &world.blobs, file_of(&bundle), &all, &mut change_once);
        let is_told = matches!(&ended, Err(StoreError::Bundle(BadBundle::ChangedMeanwhile { record, .. })) if *record == made.id);
        assert!(is_told, "{ended:?}");
        let again = try_import(world, &bundle, &all);
        assert!(matches!(again, Err(StoreError::Bundle(BadBundle::Diverged { .. }))), "{again:?}");
        assert_eq!(world.verify(true).breaks, []);
    }
}

/// Destroys an attachment when its object is asked for.
fn redact_before_read(world: &World, service: &ObjectService, item: ItemId) {
    let (store, anna, objects) = (world.store.clone(), world.anna.clone(), service.clone());
    service.before("GET", move || {
        store.write_blocking(move |tx| tx.redact_item(&anna, item, "asked for")).unwrap();
        objects.lose_everything();
    });
}

/// Work that a killed process had reserved does not keep a new one waiting, where nobody else can be at work.
#[test]
fn abandoned_work_on_sqlite_ends_with_the_next_start() {
    let world = World::sqlite();
    begin_import(&world.store, &world.anna, b"killed").unwrap();
    run(world.store.end_abandoned_work()).unwrap();
    begin_import(&world.store, &world.anna, b"next").unwrap();
}

/// An empty database with its schema, and somebody who can look into it.
fn empty_database() -> (Database, Location, postgres::Client) {
    let database = Database::fresh(Cluster::shared());
    let location = Location::Postgres(database.url().to_owned());
    drop(opened(&location));
    let client = postgres::Client::connect(database.url(), postgres::NoTls).unwrap();
    (database, location, client)
}

fn opened(location: &Location) -> Store {
    Store::open(StoreOptions { connections: 2, ..StoreOptions::at(location.clone()) }).unwrap()
}

/// Waits until so many others wait for a lock of a kind.
fn wait_for_waiting(client: &mut postgres::Client, kind: &str, count: i64) {
    let waiting = "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE NOT l.granted AND l.locktype = $1 AND a.datname = current_database()";
    wait_until("others wait", || {
        // Inside a transaction, what was read of other sessions is read once.
        client.batch_execute("SELECT pg_stat_clear_snapshot()").unwrap();
        client.query_one(waiting, &[&kind]).unwrap().get::<_, i64>(0) == count
    });
}

/// A backup of two people and a note.
fn backup_of(world: &World, target: &Path) {
    world.note("kept");
    backup(&world.store, &world.blobs, target, &mut |_| {}).unwrap();
}

fn restored(source: &Path, location: &Location) -> Result<u64, StoreError> {
    restore(source, location, &Blobs::directory(&source.join("blobs")).unwrap(), &mut |_| {}).map(|copied| copied.items)
}

#[test]
fn restores_to_one_postgres_run_one_after_the_other_and_a_start_waits_for_them() {
    let (source, world) = (tempfile::tempdir().unwrap(), World::sqlite());
    backup_of(&world, source.path());
    let (_database, location, mut client) = empty_database();
    client.batch_execute("BEGIN; LOCK TABLE records IN ACCESS EXCLUSIVE MODE").unwrap();
    let restoring = || {
        let (source, location) = (source.path().to_owned(), location.clone());
        spawn(move || restored(&source, &location))
    };
    let first = restoring();
    wait_for_waiting(&mut client, "relation", 1);
    let (second, place) = (restoring(), location.clone());
    let starting = spawn(move || {
        let store = opened(&place);
        store.read_blocking(|tx| tx.users(&SYSTEM, None, 10)).unwrap().rows.len()
    });
    wait_for_waiting(&mut client, "advisory", 2);
    client.batch_execute("COMMIT").unwrap();
    assert!(first.join().unwrap().unwrap() > 0);
    assert!(matches!(second.join().unwrap(), Err(StoreError::Exists(_))));
    assert_eq!(starting.join().unwrap(), 2, "the start found what was restored");
}

/// A server that was open before the restore began writes the first item of the empty database.
#[test]
fn a_restore_that_meets_a_write_refuses_and_says_that_the_place_is_not_empty() {
    let (source, world) = (tempfile::tempdir().unwrap(), World::sqlite());
    backup_of(&world, source.path());
    let (_database, location, mut client) = empty_database();
    let store = opened(&location);
    let (go_on, held): (_, Receiver<()>) = channel();
    let held = Arc::new(Mutex::new(held));
    let writing = spawn(move || {
        let viewer = Viewer::User(UserId::from_bytes([7; 16]));
        store.write_blocking(move |tx| {
            let item = tx.append_item(&viewer, &note("first", None))?;
            // What is only written is sent at the end, unless it is asked for.
            tx.item(&viewer, item.item.header.id)?;
            let _ = held.lock().unwrap().recv();
            Ok(item)
        })
    });
    let (from, place) = (source.path().to_owned(), location.clone());
    let restoring = spawn(move || restored(&from, &place));
    wait_for_waiting(&mut client, "transactionid", 1);
    drop(go_on);
    writing.join().unwrap().unwrap();
    let refused = restoring.join().unwrap();
    assert!(matches!(refused, Err(StoreError::Exists(_))), "{refused:?}");
}

/// The schema before the last one.
fn make_older(client: &mut postgres::Client) {
    client.batch_execute("DROP TABLE path_visits; UPDATE meta SET value = '12' WHERE name = 'schema'").unwrap();
}

fn schema_of(client: &mut postgres::Client) -> String {
    client.query_one("SELECT value FROM meta WHERE name = 'schema'", &[]).unwrap().get(0)
}

#[test]
fn two_starts_on_an_older_postgres_migrate_it_once() {
    let (_database, location, mut client) = empty_database();
    make_older(&mut client);
    client.execute("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).unwrap();
    let starting = [location.clone(), location].map(|place| spawn(move || drop(opened(&place))));
    wait_for_waiting(&mut client, "advisory", 2);
    client.execute("SELECT pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).unwrap();
    for starting in starting {
        starting.join().unwrap();
    }
    assert_eq!(schema_of(&mut client), skein_store::SCHEMA_VERSION.to_string());
}

#[test]
fn a_migration_that_is_cut_off_leaves_the_older_schema_and_is_done_by_the_next_start() {
    let (database, location, mut client) = empty_database();
    make_older(&mut client);
    let mut holding = postgres::Client::connect(database.url(), postgres::NoTls).unwrap();
    holding.batch_execute("BEGIN; LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE").unwrap();
    let place = location.clone();
    let starting = spawn(move || Store::open(StoreOptions::at(place)).map(drop));
    wait_for_waiting(&mut client, "relation", 1);
    let cut = "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE NOT l.granted AND a.datname = current_database()";
    client.query(cut, &[]).unwrap();
    assert!(starting.join().unwrap().is_err());
    holding.batch_execute("COMMIT").unwrap();
    assert_eq!(schema_of(&mut client), "12");
    drop(opened(&location));
    assert_eq!(schema_of(&mut client), skein_store::SCHEMA_VERSION.to_string());
}
