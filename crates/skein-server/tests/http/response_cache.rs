//! Cached responses: repeated reads come from memory, and each change is seen by the next read.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::{RecordId, Viewer};
use skein_store::{Store, StoreOptions};

use crate::recipes::{now, weather};
use crate::server_fixture::{ServerFixture, both};

const SYSTEM: Viewer = Viewer::System("test");

/// A tool of the administrator's that is shared, as its owner sees it, and its path.
async fn shared_tool(world: &ServerFixture) -> (Value, String) {
    let service = world.made("/api/v1/services", &weather()).await;
    let tool = world.made("/api/v1/tools", &now(&service)).await;
    let path = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
    world.changed("PUT", &format!("{path}/share"), &json!({ "shared": true })).await;
    (world.get(&path).await.json(), path)
}

fn record(id: &Value) -> RecordId {
    id.as_str().unwrap().parse().unwrap()
}

/// Notes how something answered, as a check or a call does.
async fn found(store: &Store, id: RecordId, status: &'static str) {
    let note = move |tx: &mut skein_store::Tx<'_>| tx.set_health(&SYSTEM, id, status, Some("as found"), None);
    store.write(note).await.unwrap();
}

async fn answered(world: &ServerFixture, path: &str) -> u16 {
    world.get(path).await.status.as_u16()
}

async fn status(world: &ServerFixture, path: &str) -> Value {
    assert_eq!(world.get(path).await.text, world.get(path).await.text);
    world.get(path).await.json()["status"].take()
}

both! {
    async fn what_became_of_an_item_is_said_at_once(world: &ServerFixture) {
        let note = world.note("first").await;
        let path = format!("/api/v1/items/{}", note["id"].as_str().unwrap());
        let before = world.get(&path).await;
        assert_eq!(world.get(&path).await.text, before.text);
        world.note("another fact changes nothing about it").await;
        assert_eq!(world.get(&path).await.text, before.text);
        let at = "2020-01-02T03:04:05.000Z";
        world.changed("PUT", &format!("{path}/canonical-time"), &json!({ "canonicalAt": at })).await;
        assert_eq!(world.get(&path).await.json()["canonicalAt"], at);
        world.made(&format!("{path}/undo"), &json!({})).await;
        assert!(world.get(&path).await.json()["supersededBy"].is_string());
        world.changed("POST", &format!("{path}/redact"), &json!({ "reason": "asked for" })).await;
        assert_eq!(world.get(&path).await.json()["redacted"], true);
    }

    async fn who_may_see_a_tool_is_judged_at_once(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let (_, path) = shared_tool(world).await;
        for shared in [true, false, true] {
            world.changed("PUT", &format!("{path}/share"), &json!({ "shared": shared })).await;
            let expected = if shared { 200 } else { 404 };
            assert_eq!((answered(&bert, &path).await, answered(world, &path).await), (expected, 200));
        }
        assert_eq!(world.change("DELETE", &path, "{}").await.status, 200);
        assert_eq!((answered(&bert, &path).await, answered(world, &path).await), (404, 404));
    }

    async fn how_a_tool_is_follows_its_switch_its_health_and_its_service(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let (tool, path) = shared_tool(world).await;
        assert_eq!(status(world, &path).await, "degraded");
        found(&world.store, record(&tool["id"]), "healthy").await;
        found(&world.store, record(&tool["serviceId"]), "healthy").await;
        assert_eq!((status(world, &path).await, status(&bert, &path).await), (json!("healthy"), json!("healthy")));
        // What its calls met is for its owner alone, whoever asked first.
        assert_eq!(world.get(&path).await.json()["errorMessage"], "as found");
        assert_eq!(bert.get(&path).await.json()["errorMessage"], Value::Null);
        found(&world.store, record(&tool["serviceId"]), "down").await;
        assert_eq!((status(world, &path).await, status(&bert, &path).await), (json!("down"), json!("down")));
        found(&world.store, record(&tool["serviceId"]), "healthy").await;
        assert_eq!(status(&bert, &path).await, "healthy");
        world.changed("PUT", &path, &json!({ "enabled": false, "basedOnHash": tool["hash"] })).await;
        assert_eq!((status(world, &path).await, status(&bert, &path).await), (json!("down"), json!("down")));
    }

    async fn a_key_that_was_revoked_opens_nothing_that_it_opened_before(world: &ServerFixture) {
        let (_, path) = shared_tool(world).await;
        let key = world.made("/api/v1/keys", &json!({ "name": "short-lived", "scope": "read" })).await;
        let program = world.with_key(key["key"].as_str().unwrap().parse().unwrap());
        assert_eq!(program.get(&path).await.status, 200);
        assert_eq!(world.change("DELETE", &format!("/api/v1/keys/{}", key["id"].as_str().unwrap()), "{}").await.status, 200);
        assert_eq!(program.get(&path).await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_server_changed_is_seen_on_postgres() {
    let world = ServerFixture::postgres().await;
    let bert = world.joined_by("bert", Role::User, Scope::Write).await;
    let (tool, path) = shared_tool(&world).await;
    assert_eq!(status(&bert, &path).await, "degraded");
    let elsewhere = Store::open(StoreOptions::at(world.store.location().clone())).unwrap();
    found(&elsewhere, record(&tool["id"]), "down").await;
    assert_eq!(status(&bert, &path).await, "down");
    let (owner, id) = (world.admin.clone(), record(&tool["id"]));
    elsewhere.write(move |tx| tx.delete_record(&owner, id, None, None)).await.unwrap();
    assert_eq!(bert.get(&path).await.refused(), (404, "not_found".to_owned()));
}
