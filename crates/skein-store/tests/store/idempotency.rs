//! Operations as the memory of requests: repeats, mismatches, what is in flight, and what is forgotten.

use skein_core::account::idempotency::{IdempotencyKey, KEY_KEPT_MS, RequestMark, SILENT_MS_MAX};
use skein_core::{Digest, OperationId, UserId, Viewer};
use skein_store::backup::{backup, restore};
use skein_store::operations::{OperationState, RepeatCheck};
use skein_store::{Location, Store, StoreError, StoreOptions, Tx};

use crate::fixtures::{World, both, note};

fn mark(viewer: &Viewer, path: &str, body: &[u8]) -> RequestMark {
    let key: IdempotencyKey = "a1b2c3d4-e5f6-4890-abcd-ef1234567890".parse().unwrap();
    key.mark(viewer.owner(), "POST", path, body)
}

/// Appends a note once, whoever asks how often.
fn append_once(tx: &mut Tx<'_>, viewer: &Viewer, request: &RequestMark) -> Result<(OperationId, bool), StoreError> {
    if let RepeatCheck::Of(operation) = tx.repeat(viewer, request)? {
        return Ok((operation.id, true));
    }
    tx.append_item(viewer, &note("once", None))?;
    let done = OperationState::Completed { result: "{}".to_owned() };
    Ok((tx.start_operation(viewer, "item.append", &done, Some(request))?, false))
}

fn ask(world: &World, viewer: &Viewer, request: RequestMark) -> Result<(OperationId, bool), StoreError> {
    let viewer = viewer.clone();
    world.try_write(move |tx| append_once(tx, &viewer, &request))
}

fn notes(world: &World, viewer: &Viewer) -> usize {
    let viewer = viewer.clone();
    let query = skein_store::timeline::items::ItemQuery {
        limit: 100,
        item_type: Some(skein_core::garden::item::ItemType::NOTE),
        ..Default::default()
    };
    world.read(move |tx| tx.items(&viewer, &query)).rows.len()
}

both! {
    fn br_idemp_002_two_users_may_draw_the_same_key_holds(world: &World) {
        let (anna, bert) = (world.anna.clone(), world.bert.clone());
        let first = ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        let other = ask(world, &bert, mark(&bert, "/x", b"")).unwrap();
        assert_ne!(first.0, other.0);
        assert_eq!((notes(world, &anna), notes(world, &bert)), (1, 1));
    }

    fn br_idemp_002_a_key_is_not_used_for_something_else_refuses(world: &World) {
        let anna = world.anna.clone();
        ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        let refused = ask(world, &anna, mark(&anna, "/y", b""));
        assert!(matches!(refused, Err(StoreError::RequestMismatch)), "{refused:?}");
        assert_eq!(notes(world, &anna), 1);
    }

    fn br_idemp_003_a_repeat_within_a_day_is_answered_from_the_first_holds(world: &World) {
        let anna = world.anna.clone();
        let first = ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        world.clock.advance(KEY_KEPT_MS - 1);
        assert_eq!(ask(world, &anna, mark(&anna, "/x", b"")).unwrap(), (first.0, true));
        assert_eq!(notes(world, &anna), 1);
    }

    fn br_idemp_003_after_a_day_the_key_is_free_and_the_old_answer_refuses(world: &World) {
        let anna = world.anna.clone();
        let first = ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        world.clock.advance(KEY_KEPT_MS);
        let later = ask(world, &anna, mark(&anna, "/y", b"other")).unwrap();
        assert!(later.0 != first.0 && !later.1);
        assert_eq!(notes(world, &anna), 2);
    }

    fn br_idemp_004_the_same_payload_is_answered_holds(world: &World) {
        let anna = world.anna.clone();
        let first = ask(world, &anna, mark(&anna, "/x", b"body")).unwrap();
        assert_eq!(ask(world, &anna, mark(&anna, "/x", b"body")).unwrap(), (first.0, true));
    }

    fn br_idemp_004_another_payload_refuses(world: &World) {
        let anna = world.anna.clone();
        ask(world, &anna, mark(&anna, "/x", b"body")).unwrap();
        assert!(matches!(ask(world, &anna, mark(&anna, "/x", b"Body")), Err(StoreError::RequestMismatch)));
    }

    fn br_idemp_005_queued_work_is_found_again_holds(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/work", b"");
        let queue = move |tx: &mut Tx<'_>| match tx.repeat(&anna, &request)? {
            RepeatCheck::Of(operation) => Ok((operation.id, true)),
            RepeatCheck::First => Ok((tx.start_operation(&anna, "work", &OperationState::Queued, Some(&request))?, false)),
        };
        let first = world.write(queue.clone());
        world.clock.advance(10 * KEY_KEPT_MS);
        assert_eq!(world.write(queue), (first.0, true));
    }

    fn br_idemp_005_work_before_its_transaction_is_in_flight_and_refuses(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/upload", b"bytes");
        let viewer = anna.clone();
        let place = world.write(move |tx| tx.reserve_operation(&viewer, "blob.attach", request.name));
        assert!(matches!(ask(world, &anna, request), Err(StoreError::RequestInFlight)));
        let viewer = anna.clone();
        world.write(move |tx| tx.finish_reserved(&viewer, place, request.fingerprint, "{}"));
        assert_eq!(ask(world, &anna, request).unwrap(), (place, true));
        let other = RequestMark { fingerprint: mark(&anna, "/upload", b"other").fingerprint, ..request };
        assert!(matches!(ask(world, &anna, other), Err(StoreError::RequestMismatch)));
    }

    fn a_place_is_free_again_when_its_work_failed_or_fell_silent(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/upload", b"bytes");
        for silent in [false, true] {
            let viewer = anna.clone();
            let place = world.write(move |tx| tx.reserve_operation(&viewer, "blob.attach", request.name));
            if silent {
                world.clock.advance(SILENT_MS_MAX);
                assert!(!ask(world, &anna, request).unwrap().1);
            } else {
                let viewer = anna.clone();
                world.write(move |tx| tx.release_reserved(&viewer, place, "{}"));
            }
        }
    }

    fn work_that_was_taken_over_cannot_finish_any_more(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/upload", b"bytes");
        let viewer = anna.clone();
        let place = world.write(move |tx| tx.reserve_operation(&viewer, "import", request.name));
        world.clock.advance(SILENT_MS_MAX);
        assert!(!ask(world, &anna, request).unwrap().1);
        let viewer = anna.clone();
        let late = world.try_write(move |tx| tx.finish_reserved(&viewer, place, request.fingerprint, "{}"));
        assert!(matches!(late, Err(StoreError::Ended(_))), "{late:?}");
    }

    fn work_that_was_cancelled_while_it_arrived_may_be_asked_for_again(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/upload", b"bytes");
        let viewer = anna.clone();
        let place = world.write(move |tx| tx.reserve_operation(&viewer, "import", request.name));
        let viewer = anna.clone();
        world.write(move |tx| tx.advance_operation(&viewer, place, &OperationState::Cancelled));
        assert!(!ask(world, &anna, request).unwrap().1);
    }

    fn work_whose_process_vanished_is_ended_by_the_sweep(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/upload", b"bytes");
        let viewer = anna.clone();
        let place = world.write(move |tx| tx.reserve_operation(&viewer, "import", request.name));
        world.clock.advance(SILENT_MS_MAX);
        world.write(|tx| tx.sweep_operations(&Viewer::System("test"), KEY_KEPT_MS));
        let state = world.read(move |tx| tx.operation(&anna, place)).state;
        assert!(matches!(state, OperationState::Failed { .. }), "{state:?}");
    }

    fn a_name_is_taken_once_even_by_who_does_not_look_first(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/x", b"");
        let viewer = anna.clone();
        let take = move |tx: &mut Tx<'_>| {
            let done = OperationState::Completed { result: "{}".to_owned() };
            tx.start_operation(&viewer, "item.append", &done, Some(&request))
        };
        let first = world.write(take.clone());
        assert!(world.try_write(take).is_err());
        let viewer = anna.clone();
        assert!(world.try_write(move |tx| tx.reserve_operation(&viewer, "import", request.name)).is_err());
        assert_eq!(ask(world, &anna, request).unwrap(), (first, true));
    }

    fn a_change_that_came_to_nothing_leaves_its_name_free(world: &World) {
        let anna = world.anna.clone();
        let request = mark(&anna, "/x", b"");
        let viewer = anna.clone();
        let refused = world.try_write(move |tx| {
            append_once(tx, &viewer, &request)?;
            Err::<(), _>(StoreError::Forbidden)
        });
        assert!(matches!(refused, Err(StoreError::Forbidden)), "{refused:?}");
        assert!(!ask(world, &anna, request).unwrap().1);
        assert_eq!(notes(world, &anna), 1);
    }

    fn another_process_and_the_next_one_know_what_was_asked_for(world: &World) {
        let anna = world.anna.clone();
        let clock: std::sync::Arc<dyn skein_store::clock::Clock> = world.clock.clone();
        let open = || {
            let options = StoreOptions::at(world.store.location().clone());
            Store::open(StoreOptions { clock: Some(clock.clone()), connections: 1, ..options }).unwrap()
        };
        let beside = open();
        let first = ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        for store in [beside, open()] {
            let viewer = anna.clone();
            let again = store.write_blocking(move |tx| append_once(tx, &viewer, &mark(&viewer, "/x", b""))).unwrap();
            assert_eq!(again.value, (first.0, true));
            let viewer = anna.clone();
            let other = store.write_blocking(move |tx| append_once(tx, &viewer, &mark(&viewer, "/y", b"")));
            assert!(matches!(other, Err(StoreError::RequestMismatch)), "{other:?}");
        }
    }

    fn a_copy_knows_what_was_asked_for_and_what_no_longer_counts(world: &World) {
        let anna = world.anna.clone();
        let work = mark(&anna, "/work", b"");
        let (viewer, work) = (anna.clone(), RequestMark { name: Digest::of(b"another key"), ..work });
        let queued = world.write(move |tx| tx.start_operation(&viewer, "work", &OperationState::Queued, Some(&work)));
        ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        world.clock.advance(KEY_KEPT_MS);
        let second = ask(world, &anna, mark(&anna, "/x", b"")).unwrap();
        assert!(!second.1);
        let copy = world.folder.path().join("copy");
        backup(&world.store, &world.blobs, &copy, &mut |_| {}).unwrap();
        let restored = world.folder.path().join("restored");
        restore(&copy, &Location::Directory(restored.clone()), &world.blobs, &mut |_| {}).unwrap();
        for directory in [copy, restored] {
            let options = StoreOptions::at(Location::Directory(directory));
            let store = Store::open(StoreOptions { clock: Some(world.clock.clone()), ..options }).unwrap();
            let viewer = anna.clone();
            let again = store.write_blocking(move |tx| append_once(tx, &viewer, &mark(&viewer, "/x", b""))).unwrap();
            assert_eq!(again.value, (second.0, true));
            let viewer = anna.clone();
            let again = store.write_blocking(move |tx| append_once(tx, &viewer, &work)).unwrap();
            assert_eq!(again.value, (queued, true));
        }
    }

    fn many_repeats_at_once_make_the_change_once(world: &World) {
        let anna = world.anna.clone();
        let outcomes: Vec<(OperationId, bool)> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| ask(world, &anna, mark(&anna, "/x", b"")).unwrap())).collect();
            asking.into_iter().map(|asking| asking.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|(_, repeated)| !repeated).count(), 1);
        assert!(outcomes.iter().all(|(id, _)| *id == outcomes[0].0));
        assert_eq!(notes(world, &anna), 1);
    }

    fn operations_are_listed_newest_first_and_forgotten_when_old(world: &World) {
        let anna = world.anna.clone();
        let mut made = Vec::new();
        for state in [OperationState::Queued, OperationState::Cancelled, OperationState::Completed { result: "{}".into() }] {
            let viewer = anna.clone();
            made.push(world.write(move |tx| tx.start_operation(&viewer, "work", &state, None)));
            world.clock.advance(1_000);
        }
        let list = |before: Option<OperationId>| {
            let viewer = anna.clone();
            world.read(move |tx| tx.operations(&viewer, before, 2))
        };
        let first = list(None);
        assert_eq!(first.rows.iter().map(|operation| operation.id).collect::<Vec<_>>(), [made[2], made[1]]);
        assert_eq!(list(first.next).rows.iter().map(|operation| operation.id).collect::<Vec<_>>(), [made[0]]);
        world.clock.advance(60_000);
        assert_eq!(world.write(|tx| tx.sweep_operations(&Viewer::System("test"), 30_000)), 2);
        assert_eq!(list(None).rows.iter().map(|operation| operation.id).collect::<Vec<_>>(), [made[0]]);
        let bert = world.bert.clone();
        assert!(world.read(move |tx| tx.operations(&bert, None, 10)).rows.is_empty());
        assert!(world.try_write(move |tx| tx.sweep_operations(&Viewer::User(UserId::SYSTEM), 0)).is_err());
    }
}
