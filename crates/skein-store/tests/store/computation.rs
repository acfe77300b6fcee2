//! Functions that need a computation: they hold nobody up, run again after it, and leave nothing of the attempts before.

use std::sync::{Arc, Mutex, Weak};

use futures::poll;
use skein_core::garden::item::ItemType;
use skein_core::{ItemId, Viewer};
use skein_store::timeline::items::ItemQuery;
use skein_store::{Computation, Computed, StoreError, Tx};
use tokio::sync::watch;

use crate::fixtures::{World, both, note};

/// Appends a note once a computation has a result, which it has when the sender is gone; the result itself is held by nobody here.
fn noting(
    viewer: &Viewer,
    end: &watch::Sender<()>,
) -> impl FnMut(&mut Tx<'_>) -> Result<(), StoreError> + Send + use<> {
    let (viewer, ended) = (viewer.clone(), end.subscribe());
    let result: Arc<Mutex<Weak<()>>> = Arc::default();
    move |tx| {
        tx.append_item(&viewer, &note("judged", None))?;
        if result.lock().unwrap().upgrade().is_some() {
            return Ok(());
        }
        let (result, mut ended) = (Arc::clone(&result), ended.clone());
        Err(StoreError::NeedsComputation(Computation::new(async move {
            while ended.changed().await.is_ok() {}
            let computed = Arc::new(());
            *result.lock().unwrap() = Arc::downgrade(&computed);
            Ok(computed as Computed)
        })))
    }
}

async fn notes(world: &World, viewer: &Viewer) -> usize {
    let (viewer, query) =
        (viewer.clone(), ItemQuery { limit: 10, item_type: Some(ItemType::NOTE), ..ItemQuery::default() });
    world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap().rows.len()
}

both! {
    fn others_write_while_a_function_waits_for_its_computation(world: &World) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (end, _) = watch::channel(());
            let mut waiting = Box::pin(world.store.write(noting(&world.anna, &end)));
            let (bert, draft) = (world.bert.clone(), note("meanwhile", None));
            let other = world.store.write(move |tx| tx.append_item(&bert, &draft));
            tokio::select! {
                biased;
                _ = waiting.as_mut() => panic!("nothing was computed yet"),
                written = other => drop(written.unwrap()),
            }
            assert_eq!((notes(world, &world.anna).await, notes(world, &world.bert).await), (0, 1));
            assert!(poll!(waiting.as_mut()).is_pending());
            drop(end);
            waiting.await.unwrap();
            assert_eq!(notes(world, &world.anna).await, 1, "the attempts before left nothing");
        });
    }

    fn a_function_that_goes_on_asking_is_refused(world: &World) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asking = |_: &mut Tx<'_>| -> Result<(), StoreError> {
            Err(StoreError::NeedsComputation(Computation::new(async { Ok(Arc::new(()) as Computed) })))
        };
        let written = runtime.block_on(world.store.write(asking));
        assert!(matches!(written, Err(StoreError::NeedsComputation(_))), "{written:?}");
        let read = runtime.block_on(world.store.read_computing(asking));
        assert!(matches!(read, Err(StoreError::NeedsComputation(_))), "{read:?}");
    }

    fn each_attempt_draws_the_ids_of_the_first(world: &World) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (viewer, clock) = (world.anna.clone(), world.clock.clone());
        let drawn: Arc<Mutex<Vec<ItemId>>> = Arc::default();
        let seen = Arc::clone(&drawn);
        let drawing = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            let item = tx.append_item(&viewer, &note("judged", None))?;
            seen.lock().unwrap().push(item.item.header.id);
            if seen.lock().unwrap().len() == 3 {
                return Ok(());
            }
            clock.advance(1_000);
            Err(StoreError::NeedsComputation(Computation::new(async { Ok(Arc::new(()) as Computed) })))
        };
        runtime.block_on(world.store.write(drawing)).unwrap();
        let drawn = drawn.lock().unwrap();
        assert_eq!(drawn[..], [drawn[0]; 3]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_computation_that_fails_ends_the_function(world: &World) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let failing = |_: &mut Tx<'_>| -> Result<(), StoreError> {
            Err(StoreError::NeedsComputation(Computation::new(async { Err(StoreError::Busy) })))
        };
        assert!(matches!(runtime.block_on(world.store.write(failing)), Err(StoreError::Busy)));
    }
}
