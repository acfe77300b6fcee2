//! Following, sealing and waking up while many write.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::{ItemId, Viewer};
use skein_store::clock::StoppedClock;
use skein_store::timeline::items::StoredItem;
use skein_store::{Location, Store, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};
use std::sync::Arc;

use crate::fixtures::{Place, START, World, both, note, wait_until};

const WRITERS: usize = 32;
const NOTES_EACH: usize = 20;
const SYSTEM: Viewer = Viewer::System("test");

fn follow(store: &Store, after: Cursor) -> Vec<StoredItem> {
    store.read_blocking(move |tx| tx.follow(&SYSTEM, after, 50)).unwrap()
}

/// Follows until `finished` and nothing more comes; every note seen, in order.
fn follow_until(store: &Store, finished: &AtomicBool) -> Vec<ItemId> {
    let (mut seen, mut at) = (Vec::new(), Cursor::START);
    loop {
        let was_finished = finished.load(Ordering::SeqCst);
        let items = follow(store, at);
        if was_finished && items.is_empty() {
            return seen;
        }
        at = items.last().map_or(at, |last| last.cursor);
        let notes = items.iter().filter(|stored| stored.item.header.item_type == ItemType::NOTE);
        seen.extend(notes.map(|stored| stored.item.header.id));
    }
}

fn write_notes(store: &Store, viewer: &Viewer, writer: usize) -> Vec<ItemId> {
    let append = |number: usize| {
        let (viewer, draft) = (viewer.clone(), note(&format!("{writer}.{number}"), None));
        store.write_blocking(move |tx| tx.append_item(&viewer, &draft)).unwrap().value.item.header.id
    };
    (0..NOTES_EACH).map(append).collect()
}

/// Runs many writers and a follower; `hold` may keep one transaction open meanwhile.
fn follow_many_writers(store: &Store, viewer: &Viewer, hold: impl FnOnce(&dyn Fn()) -> Option<ItemId>) {
    let finished = AtomicBool::new(false);
    let (written, seen) = std::thread::scope(|scope| {
        let follower = scope.spawn(|| follow_until(store, &finished));
        let mut written: BTreeSet<ItemId> = BTreeSet::new();
        let others = std::cell::RefCell::new(BTreeSet::new());
        let late = hold(&|| {
            let writers: Vec<_> =
                (0..WRITERS).map(|writer| scope.spawn(move || write_notes(store, viewer, writer))).collect();
            others.borrow_mut().extend(writers.into_iter().flat_map(|writer| writer.join().unwrap()));
        });
        written.extend(others.into_inner());
        written.extend(late);
        finished.store(true, Ordering::SeqCst);
        (written, follower.join().unwrap())
    });
    assert_eq!(seen.len(), written.len(), "an item was seen twice or not at all");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), written);
}

#[test]
fn a_follower_of_32_writers_sees_every_item_once_on_sqlite() {
    let world = World::sqlite();
    follow_many_writers(&world.store, &world.anna, |write_all| {
        write_all();
        None
    });
}

#[test]
fn a_follower_of_32_writers_and_a_held_transaction_sees_every_item_once_on_postgres() {
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let options =
        StoreOptions { connections: WRITERS + 4, ..StoreOptions::at(Location::Postgres(database.url().to_owned())) };
    let store = Store::open(options).unwrap();
    let viewer = Viewer::User(skein_core::UserId::from_bytes([7; 16]));
    follow_many_writers(&store, &viewer, |write_all| {
        let (entered, has_entered) = channel();
        let (release, released) = channel::<()>();
        let held = {
            let (store, viewer) = (store.clone(), viewer.clone());
            std::thread::spawn(move || {
                let committed = store.write_blocking(move |tx| {
                    let stored = tx.append_item(&viewer, &note("held", None))?;
                    entered.send(()).unwrap();
                    // A re-run finds the channel closed and goes straight on.
                    let _ = released.recv();
                    Ok(stored)
                });
                committed.unwrap().value.item.header.id
            })
        };
        has_entered.recv().unwrap();
        write_all();
        let before = follow(&store, Cursor::START).len();
        assert_eq!(before, 0, "items after an open transaction were shown");
        drop(release);
        Some(held.join().unwrap())
    });
}

both! {
    fn two_sealers_make_one_chain(world: &World) {
        std::thread::scope(|scope| {
            for sealer in ["one", "two"] {
                scope.spawn(move || {
                    for _ in 0..10 {
                        skein_store::timeline::sealer::seal_all(&world.store, sealer).unwrap();
                    }
                });
            }
            for _ in 0..30 {
                world.note("n");
                world.note_by(&world.bert, "m");
            }
        });
        world.clock.advance(60_000);
        world.seal();
        let report = world.verify(true);
        assert_eq!((report.breaks, report.unsealed, report.owners), (vec![], 0, 2));
    }

    fn nothing_is_written_when_there_is_nothing_to_seal(world: &World) {
        world.note("n");
        world.seal();
        let newest = |world: &World| world.read(|tx| tx.cursor(&Viewer::System("sealing"), "sealer"));
        // On a shared cluster the seal itself settles a little later, and the sealer then passes it.
        wait_until("the sealer has passed its own seal", || {
            skein_store::timeline::sealer::seal_all(&world.store, "test").unwrap();
            newest(world) == world.read(|tx| tx.end(&SYSTEM))
        });
        let before = newest(world);
        assert_eq!(skein_store::timeline::sealer::seal_all(&world.store, "test").unwrap(), 0);
        assert_eq!(newest(world), before);
    }

    fn a_lease_is_held_by_one_until_it_runs_out(world: &World) {
        let take = |holder: &'static str| world.write(move |tx| tx.take_lease(&SYSTEM, "index", holder, 1_000));
        let first = take("a").unwrap();
        assert_eq!(take("b"), None);
        assert_eq!(take("a"), Some(first));
        world.clock.advance(1_000);
        let second = take("b").unwrap();
        assert!(second.0 > first.0);
        world.write(|tx| tx.release_lease(&SYSTEM, "index", "b"));
        assert!(take("a").is_some());
    }

    fn a_write_wakes_those_who_follow(world: &World) {
        let mut wake = world.store.wake().subscribe();
        wake.borrow_and_update();
        world.note("n");
        wait_until("the follower is woken", || wake.has_changed().unwrap());
    }

    fn every_write_says_where_it_ends(world: &World) {
        let viewer = world.anna.clone();
        let committed = world.store.write_blocking(move |tx| tx.append_items(&viewer, &[note("a", None), note("b", None)])).unwrap();
        assert_eq!(committed.cursor, committed.value[1].cursor);
        let nothing = world.store.write_blocking(|tx| tx.cursor(&SYSTEM, "x")).unwrap();
        assert_eq!(nothing.cursor, Cursor::START);
    }
}

#[test]
fn a_write_through_one_server_wakes_another_on_postgres() {
    let world = World::postgres();
    let other =
        Store::open(StoreOptions { connections: 2, ..StoreOptions::at(world.store.location().clone()) }).unwrap();
    let mut wake = other.wake().subscribe();
    wake.borrow_and_update();
    world.note("n");
    wait_until("the other server is woken", || wake.has_changed().unwrap());
}

#[test]
fn data_from_another_cluster_starts_a_new_epoch_on_postgres() {
    let world = World::postgres();
    world.note("before");
    world.seal();
    world.tamper_unguarded("UPDATE items SET tx = tx + 1000000000").unwrap();
    world.tamper("UPDATE meta SET value = 'another' WHERE name = 'cluster'").unwrap();
    let clock = Arc::new(StoppedClock::at(START));
    let options =
        StoreOptions { clock: Some(clock), connections: 2, ..StoreOptions::at(world.store.location().clone()) };
    let restored = Store::open(options).unwrap();
    let before = follow(&restored, Cursor::START);
    let last = before.last().unwrap().cursor;
    let viewer = world.anna.clone();
    let after = restored.write_blocking(move |tx| tx.append_item(&viewer, &note("after", None))).unwrap();
    assert!(after.cursor > last);
    wait_until("the new item is followed", || follow(&restored, last).iter().any(|item| item.cursor == after.cursor));
    assert!(matches!(world.place, Place::Postgres(_)));
}
