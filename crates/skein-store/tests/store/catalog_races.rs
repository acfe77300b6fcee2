//! Tests concurrent changes of the catalog: no live record refers to a deleted one.

use std::sync::{Arc, Barrier};

use skein_core::garden::record::Record;
use skein_core::{RecordId, Viewer};
use skein_store::catalog::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::catalog::{delete, found, make, service, shared, tool};
use crate::fixtures::{World, both};

/// Deletes a service that nothing speaks of, as a careful caller does: asked and done in one transaction.
fn delete_unused(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    service: RecordId,
    between: &dyn Fn(),
) -> Result<Option<Record>, StoreError> {
    let used = tx.referrers(service, ReferenceKind::Service, viewer.owner())?.total > 0;
    between();
    if used { Ok(None) } else { tx.delete_record(viewer, service, None, None).map(Some) }
}

/// A service is deleted and a tool made on it at the same time; `meet` is called once by each when both have looked.
fn race(world: &World, meet: &Arc<dyn Fn() + Send + Sync>) {
    let target = make(world, &world.anna, shared(service("weather"))).id;
    let (deleted, made) = std::thread::scope(|scope| {
        let deleting = scope.spawn(|| {
            let (viewer, meet, mut has_looked) = (world.anna.clone(), meet.clone(), false);
            world.try_write(move |tx| {
                let is_first = !std::mem::replace(&mut has_looked, true);
                delete_unused(tx, &viewer, target, &|| {
                    if is_first {
                        meet();
                    }
                })
            })
        });
        let making = scope.spawn(|| {
            let (viewer, meet, mut has_looked) = (world.bert.clone(), meet.clone(), false);
            world.try_write(move |tx| {
                tx.record(&viewer, target)?;
                if !std::mem::replace(&mut has_looked, true) {
                    meet();
                }
                tx.create_entry(&viewer, tool("rain", target), None)
            })
        });
        (deleting.join().unwrap().unwrap(), making.join().unwrap())
    });
    assert_ne!(deleted.is_some(), made.is_ok(), "both or neither took place");
    let owner = world.anna.owner();
    let left = world.read(move |tx| tx.referrers(target, ReferenceKind::Service, owner)).total;
    match deleted {
        Some(_) => {
            assert!(matches!(made, Err(StoreError::NotFound(_))), "{made:?}");
            assert!(found(world, &world.anna, target).is_err() && left == 0);
        }
        None => assert!(found(world, &world.anna, target).is_ok() && left == 1),
    }
}

both! {
    fn no_live_tool_is_left_on_a_deleted_service(world: &World) {
        let meet: Arc<dyn Fn() + Send + Sync> = Arc::new(|| {});
        for _ in 0..20 {
            race(world, &meet);
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_tool_is_bound_once_however_many_try(world: &World) {
        let target = make(world, &world.anna, service("weather")).id;
        let user = make(world, &world.anna, tool("rain", target)).id;
        let key = make(world, &world.anna, crate::fixtures::content("Secret", serde_json::json!({ "name": "k" }))).id;
        let outcomes: Vec<bool> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4).map(|_| scope.spawn(move || {
                let viewer = world.anna.clone();
                let data = serde_json::json!({ "toolId": user.to_string(), "secretId": key.to_string() });
                let binding = crate::fixtures::content("SecretBinding", data);
                world.try_write(move |tx| tx.create_entry(&viewer, binding.clone(), None)).is_ok()
            })).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|bound| **bound).count(), 1);
    }

    fn of_two_deletions_one_takes_place(world: &World) {
        let target = make(world, &world.anna, service("weather")).id;
        let outcomes: Vec<bool> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4).map(|_| scope.spawn(move || delete(world, &world.anna, target).is_ok())).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|deleted| **deleted).count(), 1);
    }
}

/// Both have looked before either has written: only the database can tell that they collide.
#[test]
fn transactions_that_looked_at_the_same_time_are_told_apart_on_postgres() {
    let world = World::postgres();
    for _ in 0..5 {
        let both_looked = Arc::new(Barrier::new(2));
        let meet: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            both_looked.wait();
        });
        race(&world, &meet);
    }
    assert_eq!(world.verify(true).breaks, []);
}
