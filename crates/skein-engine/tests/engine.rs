//! The engine as its doors use it, over a store in a temporary directory.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use serde_json::json;
use skein_core::account::Scope;
use skein_engine::garden::{ITEMS_PER_BATCH_MAX, NewItem};
use skein_engine::{Caller, Engine, EngineError, KeyText};
use skein_store::items::ItemQuery;
use skein_store::{Location, Store, StoreError, StoreOptions};
use tempfile::TempDir;

struct World {
    engine: Engine,
    _dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        Self { engine: Engine::new(store), _dir: dir }
    }

    async fn admin(&self) -> Caller {
        let key = KeyText::draw();
        self.engine.admit_start_key(&key).await.unwrap();
        self.engine.authenticate(&key).await.unwrap()
    }

    async fn notes(&self, caller: &Caller) -> usize {
        let item_type = Some(skein_core::garden::item::ItemType::NOTE);
        let query = ItemQuery { item_type, limit: 100, ..ItemQuery::default() };
        self.engine.items(caller, query).await.unwrap().rows.len()
    }
}

fn note(description: &str) -> NewItem {
    let serde_json::Value::Object(data) = json!({ "description": description }) else { unreachable!() };
    NewItem { item_type: "Note".to_owned(), data, canonical_at: None }
}

#[tokio::test]
async fn the_first_admin_is_made_once() {
    let world = World::new();
    let first = world.engine.ensure_first_admin().await.unwrap();
    assert_eq!(world.engine.ensure_first_admin().await.unwrap(), first);
    assert_eq!(world.admin().await.viewer.owner(), first);
}

#[tokio::test]
async fn a_start_key_acts_as_the_first_admin_until_it_is_retired() {
    let world = World::new();
    let key = KeyText::draw();
    world.engine.admit_start_key(&key).await.unwrap();
    assert_eq!(world.engine.authenticate(&key).await.unwrap().scope, Scope::Admin);
    world.engine.retire_key(&key).await.unwrap();
    assert!(matches!(world.engine.authenticate(&key).await, Err(EngineError::UnknownKey)));
    world.engine.retire_key(&key).await.unwrap();
}

#[tokio::test]
async fn retiring_start_keys_ends_every_former_start() {
    let world = World::new();
    let keys = [KeyText::draw(), KeyText::draw()];
    for key in &keys {
        world.engine.admit_start_key(key).await.unwrap();
    }
    world.engine.retire_start_keys().await.unwrap();
    for key in &keys {
        assert!(matches!(world.engine.authenticate(key).await, Err(EngineError::UnknownKey)));
    }
}

#[tokio::test]
async fn a_key_nobody_issued_is_unknown() {
    let world = World::new();
    let refused = world.engine.authenticate(&KeyText::draw()).await;
    assert!(matches!(refused, Err(EngineError::UnknownKey)));
}

#[tokio::test]
async fn what_was_stated_is_read_back() {
    let world = World::new();
    let admin = world.admin().await;
    let stated = world.engine.append_item(&admin, note("kept")).await.unwrap();
    let read = world.engine.item(&admin, stated.item.header.id).await.unwrap();
    assert_eq!(read, stated);
}

#[tokio::test]
async fn a_key_for_reading_states_nothing() {
    let world = World::new();
    let admin = world.admin().await;
    let reader = Caller { scope: Scope::Read, ..admin.clone() };
    let one = world.engine.append_item(&reader, note("a")).await.unwrap_err();
    let many = world.engine.append_items(&reader, vec![note("a")]).await.unwrap_err();
    assert!(matches!(one, EngineError::ScopeTooNarrow { .. }) && matches!(many, EngineError::ScopeTooNarrow { .. }));
    assert_eq!(world.notes(&admin).await, 0);
}

#[tokio::test]
async fn a_batch_is_kept_whole_or_not_at_all() {
    let world = World::new();
    let admin = world.admin().await;
    let bad = NewItem { item_type: "Seal".to_owned(), ..note("b") };
    let refused = world.engine.append_items(&admin, vec![note("a"), bad]).await;
    assert!(matches!(refused, Err(EngineError::BatchItem { index: 1, .. })));
    assert_eq!(world.notes(&admin).await, 0);
    world.engine.append_items(&admin, vec![note("a"), note("b")]).await.unwrap();
    assert_eq!(world.notes(&admin).await, 2);
}

#[tokio::test]
async fn a_batch_of_nothing_or_too_much_is_refused() {
    let world = World::new();
    let admin = world.admin().await;
    for count in [0, ITEMS_PER_BATCH_MAX + 1] {
        let refused = world.engine.append_items(&admin, vec![note("x"); count]).await;
        assert!(matches!(refused, Err(EngineError::BatchSize)), "{count}");
    }
}

#[tokio::test]
async fn a_heavy_write_is_kept_like_a_light_one() {
    let world = World::new();
    let admin = world.admin().await;
    let heavy = note(&"x".repeat(512 << 10));
    let stated = world.engine.append_item(&admin, heavy.clone()).await.unwrap();
    assert_eq!(stated.item.document(), Some(heavy.data));
}

#[tokio::test]
async fn a_store_opened_for_reading_refuses_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Directory(dir.path().to_owned());
    drop(Store::open(StoreOptions::at(location.clone())).unwrap());
    let engine = Engine::new(Store::open_read_only(location).unwrap());
    engine.ready().await.unwrap();
    let refused = engine.ensure_first_admin().await;
    assert!(matches!(refused, Err(EngineError::Store(StoreError::ReadOnly(_)))));
}
