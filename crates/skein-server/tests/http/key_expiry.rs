//! API keys that expire: refused from that moment on, wherever they are used, and nothing made with one outlives it.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::Millis;

use crate::feed::Feed;
use crate::server_fixture::{Answer, START, ServerFixture, both, fresh_key};

const KEYS: &str = "/api/v1/keys";
const HOUR_MS: i64 = 3_600_000;

fn body(scope: &str, expires_at: Option<Millis>) -> Value {
    json!({ "name": "phone", "scope": scope, "expiresAt": expires_at })
}

/// A key of the world's user, and the same server asked with it.
async fn expiring(world: &ServerFixture, scope: &str) -> (Value, ServerFixture) {
    let made = world.made(KEYS, &body(scope, Some(START.plus(HOUR_MS)))).await;
    let phone = world.with_key(made["key"].as_str().unwrap().parse().unwrap());
    (made, phone)
}

async fn listed(world: &ServerFixture, key: &Value) -> Value {
    let listed = world.get(KEYS).await.json();
    listed["data"].as_array().unwrap().iter().find(|one| one["id"] == key["id"]).unwrap().clone()
}

fn message(answer: &Answer) -> String {
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

both! {
    async fn mg_core_007_a_key_works_until_it_expires_holds(world: &ServerFixture) {
        let (made, phone) = expiring(world, "write").await;
        assert_eq!((&made["expiresAt"], &made["isExpired"]), (&json!(START.plus(HOUR_MS)), &json!(false)));
        assert_eq!(phone.get("/api/v1/account").await.json()["keyId"], made["id"]);
        world.clock.advance(HOUR_MS - 1);
        phone.note("just in time").await;
        world.clock.advance(1);
        for refused in [phone.get("/api/v1/account").await, phone.post("/api/v1/items", "{}").await] {
            assert_eq!(refused.refused(), (401, "unauthenticated".to_owned()));
            assert_eq!(refused.json()["error"]["details"]["expiredAt"], json!(START.plus(HOUR_MS)));
            assert!(message(&refused).contains("this key expired at 2023-11-14T23:13:20.000Z; make another"), "{}", refused.text);
        }
        let shown = listed(world, &made).await;
        assert_eq!((&shown["expiresAt"], &shown["isExpired"]), (&json!(START.plus(HOUR_MS)), &json!(true)));
        assert_eq!(shown["revokedAt"], Value::Null);
    }

    async fn a_key_without_an_end_is_listed_without_one(world: &ServerFixture) {
        for sent in [json!({ "name": "laptop", "scope": "read" }), body("read", None)] {
            let made = world.made(KEYS, &sent).await;
            let laptop = world.with_key(made["key"].as_str().unwrap().parse().unwrap());
            let shown = listed(world, &made).await;
            assert_eq!((&shown["expiresAt"], &shown["isExpired"]), (&Value::Null, &json!(false)));
            world.clock.advance(100 * 365 * 24 * HOUR_MS);
            assert_eq!(laptop.get("/api/v1/account").await.status, StatusCode::OK);
        }
    }

    async fn mg_core_007_a_time_that_has_passed_refuses(world: &ServerFixture) {
        for past in [START, START.plus(-1), Millis(0)] {
            let refused = world.post(KEYS, body("read", Some(past)).to_string()).await;
            assert_eq!(refused.breaks(), (422, "MG-CORE-007".to_owned()), "{past}: {}", refused.text);
            assert!(message(&refused).contains("expiresAt"), "{}", refused.text);
        }
        let malformed = world.post(KEYS, r#"{"name":"phone","scope":"read","expiresAt":"tomorrow"}"#).await;
        assert_eq!(malformed.refused(), (400, "invalid_body".to_owned()));
        assert_eq!(world.get(KEYS).await.json()["data"], json!([]));
    }

    async fn a_repeated_request_answers_also_after_the_key_expired(world: &ServerFixture) {
        let (key, body) = (fresh_key(), body("read", Some(START.plus(HOUR_MS))).to_string());
        let made = world.change_under(&key, "POST", KEYS, body.clone()).await.json();
        world.clock.advance(2 * HOUR_MS);
        let again = world.change_under(&key, "POST", KEYS, body).await;
        assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &made["id"]), "{}", again.text);
        assert_eq!(again.json()["isExpired"], true);
    }

    async fn a_stream_ends_when_its_key_expires(world: &ServerFixture) {
        let (_, phone) = expiring(world, "read").await;
        let mut feed = Feed::open(&phone, "/api/v1/events", None).await;
        let note = world.note("a").await;
        feed.until(|heard| heard.data["subject"] == note["id"]).await;
        world.clock.advance(HOUR_MS);
        world.note("not for it").await;
        assert_eq!(feed.rest().await, "");
    }

    async fn a_key_that_expires_makes_nothing_that_outlives_it(world: &ServerFixture) {
        let (_, phone) = expiring(world, "admin").await;
        for later in [None, Some(START.plus(HOUR_MS + 1))] {
            let refused = phone.post(KEYS, body("read", later).to_string()).await;
            assert_eq!(refused.refused(), (403, "permission_denied".to_owned()), "{later:?}");
            assert!(message(&refused).contains("your key expires at 2023-11-14T23:13:20.000Z"), "{}", refused.text);
        }
        phone.made(KEYS, &body("read", Some(START.plus(HOUR_MS)))).await;
        let link = phone.post("/api/v1/account/sign-in-links", "{}").await;
        assert_eq!(link.refused(), (403, "permission_denied".to_owned()));
        assert!(message(&link).contains("a browser would stay signed in"), "{}", link.text);
    }

    async fn what_happens_to_a_key_is_told_with_its_end(world: &ServerFixture) {
        let (made, _) = expiring(world, "read").await;
        world.changed("DELETE", &format!("{KEYS}/{}", made["id"].as_str().unwrap()), &json!({})).await;
        let told = world.get("/api/v1/items?type=SystemEvent&order=desc&limit=2").await.json();
        for (told, name) in told["data"].as_array().unwrap().iter().zip(["key.revoked", "key.created"]) {
            assert_eq!((&told["data"]["event"], &told["data"]["expiresAt"]), (&json!(name), &made["expiresAt"]), "{told}");
        }
    }
}
