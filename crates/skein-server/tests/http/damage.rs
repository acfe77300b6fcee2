//! Damage met while serving: a clear answer, an event for administrators, a detail of readiness, and nobody's content anywhere.

use axum::body::Body;
use axum::http::Request;
use serde_json::Value;
use skein_core::account::{Role, Scope};
use skein_store::StoreError;

use crate::feed::{Feed, names};
use crate::log_lines::{capture, logged_by_all};
use crate::server_fixture::{Answer, HOST, ServerFixture, both};

const PATH: &str = "/api/v1/blobs";

async fn ready(world: &ServerFixture) -> Answer {
    let request = Request::get("/health/ready").header("host", HOST);
    world.send(request.body(Body::empty()).unwrap()).await
}

/// The path of an attachment of somebody's that was altered where it is kept, and its hash.
async fn altered(world: &ServerFixture, text: &'static str) -> (String, String) {
    let hash = world.upload(PATH, "text/plain", text).await.json()["hash"].as_str().unwrap().to_owned();
    world.alter_blob(&hash);
    (format!("{PATH}/{hash}"), hash)
}

both! {
    async fn damage_is_answered_with_what_to_do_and_logged(world: &ServerFixture) {
        let (path, hash) = altered(world, "herons").await;
        capture();
        let refused = world.get(&path).await;
        assert_eq!(refused.refused(), (500, "storage_damaged".to_owned()));
        assert!(refused.text.contains("skein verify") && !refused.text.contains(&hash), "{}", refused.text);
        let logged = logged_by_all();
        let told = |line: &str| line.contains("damage was found while serving") && line.contains(&hash);
        assert!(logged.lines().any(told), "{logged}");
    }

    async fn damage_leaves_the_server_ready_and_is_counted_once_for_each_place(world: &ServerFixture) {
        assert_eq!((ready(world).await.status.as_u16(), &ready(world).await.json()["damage"]), (200, &Value::Null));
        let (path, hash) = altered(world, "herons").await;
        let (other, _) = altered(world, "cranes").await;
        for path in [&path, &path, &other] {
            assert_eq!(world.get(path).await.status, 500);
        }
        let told = ready(world).await;
        assert_eq!((told.status.as_u16(), &told.json()["damage"]["places"]), (200, &2.into()));
        assert!(told.json()["damage"]["remedy"].as_str().unwrap().contains("skein verify"));
        assert!(!told.text.contains(&hash), "{}", told.text);
    }

    async fn damage_is_an_event_for_administrators_that_names_nobodys_things(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let (path, hash) = altered(&anna, "herons").await;
        assert_eq!(anna.get(&path).await.status, 500);
        let heard = Feed::whole(world).await.until(|heard| heard.name == "damage.found").await;
        let item = heard.last().unwrap().data["itemId"].as_str().unwrap().to_owned();
        let fact = world.get(&format!("/api/v1/items/{item}")).await.text;
        assert!(fact.contains("skein verify") && !fact.contains(&hash), "{fact}");
        // She is told by the answer; the event is for whoever can mend it.
        let mark = anna.note("later").await["id"].clone();
        let hers = Feed::whole(&anna).await.until(|heard| heard.data["subject"] == mark).await;
        assert!(!names(&hers).contains(&"damage.found"), "{hers:?}");
    }

    async fn a_corrupt_database_makes_the_server_not_ready(world: &ServerFixture) {
        world.engine.report_storage(&StoreError::Corrupt("page 7".to_owned()));
        let waiting = ready(world).await;
        assert_eq!(waiting.refused(), (503, "storage_corrupt".to_owned()));
        assert!(waiting.text.contains("restore a backup") && !waiting.text.contains("page 7"), "{}", waiting.text);
    }

    async fn a_full_disk_makes_the_server_not_ready_until_something_can_be_written(world: &ServerFixture) {
        world.engine.report_storage(&StoreError::DiskFull);
        assert!(world.store.storage_status().is_full);
        // There is room, and asking finds out.
        assert_eq!(ready(world).await.status, 200);
        assert!(!world.store.storage_status().is_full);
    }
}
