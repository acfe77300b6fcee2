//! Signed-in browsers over HTTP: listed by their person, ended from elsewhere, and links that end with a key.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};

use crate::recipes::browser;
use crate::server_fixture::{Answer, HOST, ServerFixture, both};

const SESSIONS: &str = "/api/v1/account/sessions";

async fn as_browser(world: &ServerFixture, cookie: &str, path: &str) -> Answer {
    let request = Request::get(path).header("host", HOST).header("cookie", cookie);
    world.send(request.body(Body::empty()).unwrap()).await
}

async fn sessions(world: &ServerFixture) -> Vec<Value> {
    world.get(SESSIONS).await.json()["data"].as_array().unwrap().clone()
}

async fn open(world: &ServerFixture, link: &Value) -> StatusCode {
    let path = link["url"].as_str().unwrap().replace("http://localhost:7420", "");
    world.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await.status
}

both! {
    async fn browsers_are_listed_and_one_is_ended_from_elsewhere(world: &ServerFixture) {
        let (here, there) = (browser(world).await, browser(world).await);
        let seen = as_browser(world, &here, SESSIONS).await.json();
        assert_eq!(seen["data"].as_array().unwrap().len(), 2, "{seen}");
        let is_current = |session: &&Value| session["current"] == true;
        let own = seen["data"].as_array().unwrap().iter().find(is_current).expect("it sees itself")["id"].clone();
        let all = sessions(world).await;
        assert!(!all.iter().any(|session| session["current"] == true), "a key is no browser: {all:?}");
        let other = all.iter().find(|session| session["id"] != own).unwrap()["id"].clone();
        let path = format!("{SESSIONS}/{}", other.as_str().unwrap());
        let ended = world.change("DELETE", &path, "").await;
        assert_eq!((ended.status, &ended.json()["ended"]), (StatusCode::OK, &json!(true)), "{}", ended.text);
        assert_eq!(as_browser(world, &there, "/api/v1/account").await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(as_browser(world, &here, "/api/v1/account").await.status, StatusCode::OK);
        assert_eq!(world.change("DELETE", &path, "").await.refused(), (404, "not_found".to_owned()));
        assert!(!sessions(world).await.iter().any(|session| session["id"] == other));
    }

    async fn pages_of_sessions_hold_each_once(world: &ServerFixture) {
        for _ in 0..3 {
            browser(world).await;
        }
        let first = world.get(&format!("{SESSIONS}?limit=2")).await.json();
        let next = first["pagination"]["next"].as_str().expect("there is more");
        let rest = world.get(&format!("{SESSIONS}?limit=2&cursor={next}")).await.json();
        let mut paged = first["data"].as_array().unwrap().clone();
        paged.extend(rest["data"].as_array().unwrap().clone());
        assert_eq!((paged, &rest["pagination"]["next"]), (sessions(world).await, &Value::Null));
    }

    async fn sessions_are_their_persons_alone(world: &ServerFixture) {
        let cookie = browser(world).await;
        let path = format!("{SESSIONS}/{}", sessions(world).await[0]["id"].as_str().unwrap());
        for role in [Role::User, Role::Admin] {
            let scope = if role == Role::Admin { Scope::Admin } else { Scope::Write };
            let other = world.joined_by("other", role, scope).await;
            assert_eq!(sessions(&other).await, [Value::Null; 0]);
            assert_eq!(other.change("DELETE", &path, "").await.refused(), (404, "not_found".to_owned()));
        }
        assert_eq!(as_browser(world, &cookie, "/api/v1/account").await.status, StatusCode::OK);
    }

    async fn links_that_were_asked_for_end_with_a_key_that_is_revoked(world: &ServerFixture) {
        let anna = world.made("/api/v1/users", &json!({ "name": "anna", "role": "user" })).await;
        let key = world.made("/api/v1/keys", &json!({ "name": "lost", "scope": "admin" })).await;
        let lost = world.with_key(key["key"].as_str().unwrap().parse().unwrap());
        let by_lost = lost.made("/api/v1/account/sign-in-links", &json!({})).await;
        let used = lost.made("/api/v1/account/sign-in-links", &json!({})).await;
        assert_eq!(open(world, &used).await, StatusCode::SEE_OTHER);
        world.change("DELETE", &format!("/api/v1/keys/{}", key["id"].as_str().unwrap()), "").await;
        assert_eq!(open(world, &by_lost).await, StatusCode::UNAUTHORIZED);
        // Nobody else's, and none that was printed or given to somebody new.
        assert_eq!(open(world, &anna["signInLink"]).await, StatusCode::SEE_OTHER);
        let start = world.engine.start_link().await.unwrap();
        let another = world.made("/api/v1/keys", &json!({ "name": "other", "scope": "read" })).await;
        world.change("DELETE", &format!("/api/v1/keys/{}", another["id"].as_str().unwrap()), "").await;
        let url = json!({ "url": format!("/sign-in/{}", start.reveal()) });
        assert_eq!(open(world, &url).await, StatusCode::SEE_OTHER);
    }
}
