//! The engine as its doors use it, over a store in a temporary directory.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::account::Scope;
use skein_engine::account::{Credential, PresentedCredential};
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::garden::{ITEMS_PER_BATCH_MAX, NewItem};
use skein_engine::{Caller, Engine, EngineError, KeyText, Request};
use skein_store::blobs::Blobs;
use skein_store::timeline::items::ItemQuery;
use skein_store::{Location, Store, StoreError, StoreOptions};
use tempfile::TempDir;

fn gateway() -> Gateway {
    Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default()).unwrap()
}

struct EngineFixture {
    engine: Engine,
    dir: TempDir,
}

impl EngineFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        Self { engine: Engine::new(store, blobs, gateway()), dir }
    }

    /// Another process on the same store, as far as this crate can tell.
    fn reopened(&self) -> Engine {
        let place = self.dir.path();
        let store = Store::open(StoreOptions::at(Location::Directory(place.to_owned()))).unwrap();
        Engine::new(store, Blobs::directory(&place.join("blobs")).unwrap(), gateway())
    }

    async fn admin(&self) -> Caller {
        let key = KeyText::draw();
        self.engine.admit_start_key(&key).await.unwrap();
        self.engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap()
    }

    async fn notes(&self, caller: &Caller) -> usize {
        let item_type = Some(skein_core::garden::item::ItemType::NOTE);
        let query = ItemQuery { item_type, limit: 100, ..ItemQuery::default() };
        self.engine.items(caller, query).await.unwrap().rows.len()
    }
}

/// A request nobody has made.
fn fresh(caller: &Caller) -> Request {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
    Request::new(caller, &key.parse().unwrap(), "POST", "/test", b"")
}

fn note(description: &str) -> NewItem {
    let serde_json::Value::Object(data) = json!({ "description": description }) else { unreachable!() };
    NewItem { item_type: "Note".to_owned(), data, canonical_at: None }
}

#[tokio::test]
async fn the_first_admin_is_made_once() {
    let world = EngineFixture::new();
    let first = world.engine.ensure_first_admin().await.unwrap();
    assert_eq!(world.engine.ensure_first_admin().await.unwrap(), first);
    assert_eq!(world.admin().await.user, first);
}

#[tokio::test]
async fn a_start_key_acts_as_the_first_admin_in_its_own_process_only() {
    let world = EngineFixture::new();
    let key = KeyText::draw();
    world.engine.admit_start_key(&key).await.unwrap();
    let caller = world.engine.authenticate(&PresentedCredential::Key(key.clone()), None).await.unwrap();
    assert_eq!((caller.scope, caller.credential), (Scope::Admin, Credential::Start));
    let another_start = world.reopened();
    let refused = another_start.authenticate(&PresentedCredential::Key(key), None).await;
    assert!(matches!(refused, Err(EngineError::UnknownCredential)));
}

#[tokio::test]
async fn a_key_nobody_issued_is_unknown() {
    let world = EngineFixture::new();
    let refused = world.engine.authenticate(&PresentedCredential::Key(KeyText::draw()), None).await;
    assert!(matches!(refused, Err(EngineError::UnknownCredential)));
}

#[tokio::test]
async fn what_was_stated_is_read_back() {
    let world = EngineFixture::new();
    let admin = world.admin().await;
    let stated = world.engine.append_item(&admin, fresh(&admin), note("kept")).await.unwrap();
    let stated = stated.value;
    let read = world.engine.item(&admin, stated.item.header.id).await.unwrap();
    assert_eq!(read, stated);
}

#[tokio::test]
async fn a_key_for_reading_states_nothing() {
    let world = EngineFixture::new();
    let admin = world.admin().await;
    let reader = Caller { scope: Scope::Read, ..admin.clone() };
    let one = world.engine.append_item(&reader, fresh(&reader), note("a")).await.unwrap_err();
    let many = world.engine.append_items(&reader, fresh(&reader), vec![note("a")]).await.unwrap_err();
    assert!(matches!(one, EngineError::ScopeTooNarrow { .. }) && matches!(many, EngineError::ScopeTooNarrow { .. }));
    assert_eq!(world.notes(&admin).await, 0);
}

#[tokio::test]
async fn a_batch_is_kept_whole_or_not_at_all() {
    let world = EngineFixture::new();
    let admin = world.admin().await;
    let bad = NewItem { item_type: "Seal".to_owned(), ..note("b") };
    let refused = world.engine.append_items(&admin, fresh(&admin), vec![note("a"), bad]).await;
    assert!(matches!(refused, Err(EngineError::BatchItem { index: 1, .. })));
    assert_eq!(world.notes(&admin).await, 0);
    world.engine.append_items(&admin, fresh(&admin), vec![note("a"), note("b")]).await.unwrap();
    assert_eq!(world.notes(&admin).await, 2);
}

#[tokio::test]
async fn a_batch_of_nothing_or_too_much_is_refused() {
    let world = EngineFixture::new();
    let admin = world.admin().await;
    for count in [0, ITEMS_PER_BATCH_MAX + 1] {
        let refused = world.engine.append_items(&admin, fresh(&admin), vec![note("x"); count]).await;
        assert!(matches!(refused, Err(EngineError::BatchSize)), "{count}");
    }
}

#[tokio::test]
async fn a_heavy_write_is_kept_like_a_light_one() {
    let world = EngineFixture::new();
    let admin = world.admin().await;
    let heavy = note(&"x".repeat(512 << 10));
    let stated = world.engine.append_item(&admin, fresh(&admin), heavy.clone()).await.unwrap();
    assert_eq!(stated.value.item.document(), Some(heavy.data));
}

#[tokio::test]
async fn a_store_opened_for_reading_refuses_to_write() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Directory(dir.path().to_owned());
    drop(Store::open(StoreOptions::at(location.clone())).unwrap());
    let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
    let engine = Engine::new(Store::open_read_only(location).unwrap(), blobs, gateway());
    engine.ready().await.unwrap();
    let refused = engine.ensure_first_admin().await;
    assert!(matches!(refused, Err(EngineError::Store(StoreError::ReadOnly(_)))));
}
