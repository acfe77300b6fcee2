//! Accounts over HTTP: sign-in links and sessions, keys, users, grants.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use skein_core::KeyId;
use skein_core::account::{Role, Scope};

use crate::feed::Feed;
use crate::server_fixture::{Answer, HOST, START, ServerFixture, both, fresh_key};

const NOTE: &str = r#"{"_type":"Note","data":{"description":"a"}}"#;

/// Opens a link as a browser would.
async fn follow(world: &ServerFixture, url: &str) -> Answer {
    let path = url.strip_prefix("http://localhost:7420").expect("links lead here");
    world.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await
}

/// The cookie a link was exchanged for, as it is sent back.
async fn cookie_by(world: &ServerFixture, url: &str) -> String {
    let signed_in = follow(world, url).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (StatusCode::SEE_OTHER, "/"));
    let cookie = signed_in.header("set-cookie");
    for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

async fn as_browser(world: &ServerFixture, cookie: &str, method: &str, path: &str, body: &'static str) -> Answer {
    let request = Request::builder().method(method).uri(path).header("host", HOST).header("cookie", cookie);
    let request = request.header("content-type", "application/json").header("idempotency-key", fresh_key());
    world.send(request.body(Body::from(body)).unwrap()).await
}

/// The same server, asked with a key that was made over HTTP.
fn with_key(world: &ServerFixture, made: &Value) -> ServerFixture {
    world.with_key(made["key"].as_str().unwrap().parse().unwrap())
}

both! {
    async fn everybody_can_ask_who_they_are(world: &ServerFixture) {
        let account = world.get("/api/v1/account").await.json();
        assert_eq!((&account["credential"], &account["scope"]), (&json!("start"), &json!("admin")));
        assert_eq!((&account["user"]["name"], &account["user"]["role"]), (&json!("admin"), &json!("admin")));
        let anna = world.joined_by("anna", Role::User, Scope::Read).await;
        let account = anna.get("/api/v1/account").await.json();
        assert_eq!((&account["credential"], &account["scope"]), (&json!("key"), &json!("read")));
        assert_eq!(account["user"]["id"], anna.admin.owner().to_string());
        assert!(account["keyId"].as_str().unwrap().parse::<KeyId>().is_ok());
    }

    async fn a_link_signs_a_browser_in_once_and_signing_out_ends_it(world: &ServerFixture) {
        let link = world.made("/api/v1/account/sign-in-links", &json!({})).await;
        let url = link["url"].as_str().unwrap();
        let cookie = cookie_by(world, url).await;
        assert_eq!(follow(world, url).await.refused(), (401, "unauthenticated".to_owned()));

        let account = as_browser(world, &cookie, "GET", "/api/v1/account", "").await.json();
        assert_eq!((&account["credential"], &account["scope"]), (&json!("session"), &json!("admin")));
        assert_eq!(as_browser(world, &cookie, "POST", "/api/v1/items", NOTE).await.status, StatusCode::CREATED);

        let ended = as_browser(world, &cookie, "DELETE", "/api/v1/account/session", "").await;
        assert_eq!((ended.status, &ended.json()["ended"]), (StatusCode::OK, &json!(true)));
        assert!(ended.header("set-cookie").contains("Max-Age=0"));
        let after = as_browser(world, &cookie, "GET", "/api/v1/account", "").await;
        assert_eq!(after.refused(), (401, "unauthenticated".to_owned()));
    }

    async fn a_link_is_told_once_and_only_browsers_sign_out(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", "/api/v1/account/sign-in-links", "").await;
        let again = world.change_under(&key, "POST", "/api/v1/account/sign-in-links", "").await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"));
        assert_eq!(again.json()["url"], Value::Null);
        assert_eq!(again.json()["operationId"], first.json()["operationId"]);
        let refused = world.change("DELETE", "/api/v1/account/session", "").await;
        assert_eq!(refused.refused(), (409, "not_a_browser".to_owned()));
        let nobodys = follow(world, "http://localhost:7420/sign-in/sl_nothing").await;
        assert_eq!(nobodys.refused(), (401, "unauthenticated".to_owned()));
    }

    async fn a_link_needs_a_credential_as_wide_as_the_role_it_becomes(world: &ServerFixture) {
        let narrow = world.with_key(world.new_key(Scope::Write).await);
        let refused = narrow.post("/api/v1/account/sign-in-links", "{}").await;
        assert_eq!(refused.refused(), (403, "permission_denied".to_owned()));
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        assert_eq!(anna.post("/api/v1/account/sign-in-links", "{}").await.status, StatusCode::CREATED);
    }

    async fn a_link_for_another_is_made_on_the_machine_itself_only(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let path = format!("/api/v1/users/{}/sign-in-links", anna.admin.owner());
        let made = world.post(&path, "{}").await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
        let cookie = cookie_by(world, made.json()["url"].as_str().unwrap()).await;
        let account = as_browser(world, &cookie, "GET", "/api/v1/account", "").await;
        assert_eq!(account.json()["user"]["name"], "anna");
        let admin = world.joined_by("root", Role::Admin, Scope::Admin).await;
        assert_eq!(admin.post(&path, "{}").await.refused(), (403, "permission_denied".to_owned()));
    }

    async fn a_change_under_a_grant_is_refused_but_for_redacting_what_it_opens(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let (hers, mine) = (anna.note("hers").await, world.note("mine").await);
        let until = START.plus(3_600_000).to_string();
        let draft = json!({ "ownerId": anna.admin.owner(), "name": "ticket", "reason": "asked to", "until": until });
        let grant = world.made("/api/v1/grants", &draft).await;
        let under = async |path: String, body: &'static str| {
            let request = world.request("POST", &path).header("skein-grant", grant["id"].as_str().unwrap());
            let request = request.header("idempotency-key", fresh_key());
            world.send(request.body(body.into()).unwrap()).await
        };
        let stated = under("/api/v1/items".to_owned(), r#"{"_type":"Note","data":{"description":"a"}}"#).await;
        assert_eq!(stated.refused(), (403, "permission_denied".to_owned()));
        assert_eq!(under("/api/v1/exports".to_owned(), "{}").await.refused().0, 403);
        let reason = r#"{"reason":"asked to"}"#;
        let own = under(format!("/api/v1/items/{}/redact", mine["id"].as_str().unwrap()), reason).await;
        assert_eq!(own.refused().0, 403);
        let opened = under(format!("/api/v1/items/{}/redact", hers["id"].as_str().unwrap()), reason).await;
        assert_eq!(opened.status, StatusCode::OK, "{}", opened.text);
    }

    async fn a_key_is_shown_once_and_a_replay_leaves_it_out(world: &ServerFixture) {
        let (key, body) = (fresh_key(), r#"{"name":"laptop","scope":"write"}"#);
        let first = world.change_under(&key, "POST", "/api/v1/keys", body).await;
        assert_eq!(first.status, StatusCode::CREATED);
        let made = first.json();
        assert!(made["key"].as_str().unwrap().starts_with("sk_"));
        assert_eq!(first.header("location"), format!("/api/v1/keys/{}", made["id"].as_str().unwrap()));
        let again = world.change_under(&key, "POST", "/api/v1/keys", body).await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"));
        let mut expected = made.clone();
        expected.as_object_mut().unwrap().remove("key");
        assert_eq!(again.json(), expected);
        let listed = world.get("/api/v1/keys").await;
        assert!(!listed.text.contains(made["key"].as_str().unwrap()));
        assert_eq!(listed.json()["data"].as_array().unwrap().len(), 1);
    }

    async fn a_key_works_shows_its_use_and_ends_at_once(world: &ServerFixture) {
        let made = world.made("/api/v1/keys", &json!({ "name": "laptop", "scope": "write" })).await;
        assert_eq!(made["lastUsedAt"], Value::Null);
        let laptop = with_key(world, &made);
        assert_eq!(laptop.post("/api/v1/items", NOTE).await.status, StatusCode::CREATED);
        // Noted by a task of its own: nobody waits for it.
        while world.get("/api/v1/keys").await.json()["data"][0]["lastUsedAt"].is_null() {
            skein_testkit::wait::moment().await;
        }
        let path = format!("/api/v1/keys/{}", made["id"].as_str().unwrap());
        let revoked = world.change("DELETE", &path, "").await;
        assert_eq!(revoked.status, StatusCode::OK);
        assert!(revoked.json()["revokedAt"].is_string());
        assert_eq!(laptop.get("/api/v1/account").await.refused(), (401, "unauthenticated".to_owned()));
        let again = world.change("DELETE", &path, "").await;
        assert_eq!(again.json()["revokedAt"], revoked.json()["revokedAt"]);
    }

    async fn a_key_that_is_revoked_while_its_request_arrives_makes_no_other_key(world: &ServerFixture) {
        let made = world.made("/api/v1/keys", &json!({ "name": "stolen", "scope": "write" })).await;
        let (stolen, revoking) = (with_key(world, &made), world.clone());
        let path = format!("/api/v1/keys/{}", made["id"].as_str().unwrap());
        // The body comes once the key is revoked; who asks was known before.
        let body = Body::from_stream(futures::stream::once(async move {
            assert_eq!(revoking.change("DELETE", &path, "").await.status, StatusCode::OK);
            Ok::<_, std::io::Error>(r#"{"name":"left behind","scope":"write"}"#)
        }));
        assert_eq!(stolen.post("/api/v1/keys", body).await.refused(), (401, "unauthenticated".to_owned()));
        assert!(!world.get("/api/v1/keys").await.text.contains("left behind"));
    }

    async fn an_administrator_who_is_demoted_while_their_request_arrives_makes_no_user(world: &ServerFixture) {
        let root = world.joined_by("root", Role::Admin, Scope::Admin).await;
        let users = world.get("/api/v1/users").await.json();
        let user = users["data"].as_array().unwrap().iter().find(|user| user["name"] == "root").unwrap().clone();
        let (path, demoting) = (format!("/api/v1/users/{}", user["id"].as_str().unwrap()), world.clone());
        let change = json!({ "basedOnHash": user["hash"], "role": "user" }).to_string();
        let body = Body::from_stream(futures::stream::once(async move {
            assert_eq!(demoting.change("PUT", &path, change).await.status, StatusCode::OK);
            Ok::<_, std::io::Error>(r#"{"name":"left behind","role":"admin"}"#)
        }));
        assert_eq!(root.post("/api/v1/users", body).await.refused(), (401, "unauthenticated".to_owned()));
        assert!(!world.get("/api/v1/users").await.text.contains("left behind"));
    }

    async fn a_key_is_no_wider_than_what_asks_for_it_and_nobody_elses(world: &ServerFixture) {
        let made = world.made("/api/v1/keys", &json!({ "name": "laptop", "scope": "write" })).await;
        let laptop = with_key(world, &made);
        let wider = laptop.post("/api/v1/keys", r#"{"name":"more","scope":"admin"}"#).await;
        assert_eq!(wider.refused(), (403, "permission_denied".to_owned()));
        let reader = with_key(world, &laptop.made("/api/v1/keys", &json!({ "name": "r", "scope": "read" })).await);
        let refused = reader.post("/api/v1/keys", r#"{"name":"r","scope":"read"}"#).await;
        assert_eq!(refused.refused(), (403, "permission_denied".to_owned()));
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let path = format!("/api/v1/keys/{}", made["id"].as_str().unwrap());
        assert_eq!(anna.change("DELETE", &path, "").await.refused(), (404, "not_found".to_owned()));
        assert_eq!(laptop.get("/api/v1/account").await.status, StatusCode::OK);
        let unnamed = world.post("/api/v1/keys", r#"{"name":"  ","scope":"read"}"#).await;
        assert_eq!(unnamed.breaks(), (422, "MG-CORE-007".to_owned()));
    }

    async fn users_are_made_and_listed_by_administrators_alone(world: &ServerFixture) {
        world.clock.advance(1);
        let anna = world.made("/api/v1/users", &json!({ "name": "anna", "role": "user" })).await;
        let cookie = cookie_by(world, anna["signInLink"]["url"].as_str().unwrap()).await;
        let account = as_browser(world, &cookie, "GET", "/api/v1/account", "").await.json();
        assert_eq!((&account["user"]["id"], &account["scope"]), (&anna["id"], &json!("write")));
        let names: Vec<Value> = world.get("/api/v1/users").await.json()["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|user| user["name"].clone())
            .collect();
        assert_eq!(names, ["admin", "anna"]);

        let own = format!("/api/v1/users/{}", anna["id"].as_str().unwrap());
        assert_eq!(as_browser(world, &cookie, "GET", &own, "").await.json()["name"], "anna");
        let admin = format!("/api/v1/users/{}", world.admin.owner());
        for (method, path, body) in [
            ("GET", "/api/v1/users", ""),
            ("GET", admin.as_str(), ""),
            ("POST", "/api/v1/users", r#"{"name":"bert","role":"user"}"#),
        ] {
            let refused = as_browser(world, &cookie, method, path, body).await;
            assert_eq!(refused.refused(), (403, "permission_denied".to_owned()), "{method} {path}");
        }
        let narrow = world.with_key(world.new_key(Scope::Write).await);
        assert_eq!(narrow.get("/api/v1/users").await.status, StatusCode::FORBIDDEN);
    }

    async fn the_link_of_a_new_user_is_told_once(world: &ServerFixture) {
        let (key, body) = (fresh_key(), r#"{"name":"anna","role":"user"}"#);
        let first = world.change_under(&key, "POST", "/api/v1/users", body).await.json();
        assert!(first["signInLink"]["url"].is_string());
        let again = world.change_under(&key, "POST", "/api/v1/users", body).await;
        assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &first["id"]));
        assert!(!again.text.contains("/sign-in/"), "{}", again.text);
        assert!(!world.get("/api/v1/users").await.text.contains("/sign-in/"));
    }

    async fn a_users_role_changes_from_the_state_that_was_looked_at(world: &ServerFixture) {
        let anna = world.made("/api/v1/users", &json!({ "name": "anna", "role": "user" })).await;
        let path = format!("/api/v1/users/{}", anna["id"].as_str().unwrap());
        let based = json!({ "role": "admin", "basedOnHash": anna["hash"] }).to_string();
        let changed = world.change("PUT", &path, based.clone()).await;
        assert_eq!((changed.status, &changed.json()["role"]), (StatusCode::OK, &json!("admin")));
        assert_eq!(changed.json()["version"], 2);

        let stale = world.change("PUT", &path, based).await;
        assert_eq!(stale.refused(), (409, "record_changed".to_owned()));
        assert_eq!(stale.breaks().1, "MG-CORE-002");
        let details = &stale.json()["error"]["details"];
        assert_eq!((&details["currentHash"], &details["basedOnHash"]), (&changed.json()["hash"], &anna["hash"]));
        assert_eq!(details["currentVersion"], 2);

        let blind = world.change("PUT", &path, r#"{"role":"user"}"#).await;
        assert_eq!(blind.breaks(), (400, "MG-CORE-002".to_owned()));
        let tag = format!("\"{}\"", changed.json()["hash"].as_str().unwrap());
        let request = world.request("PUT", &path).header("if-match", tag).header("idempotency-key", fresh_key());
        let renamed = world.send(request.body(Body::from(r#"{"name":"anne"}"#)).unwrap()).await;
        assert_eq!((&renamed.json()["name"], &renamed.json()["role"]), (&json!("anne"), &json!("admin")));
    }

    async fn the_last_administrator_stays_one(world: &ServerFixture) {
        let path = format!("/api/v1/users/{}", world.admin.owner());
        let hash = world.get(&path).await.json()["hash"].clone();
        let step_down = json!({ "role": "user", "basedOnHash": hash }).to_string();
        let refused = world.change("PUT", &path, step_down.clone()).await;
        assert_eq!(refused.breaks(), (422, "MG-CORE-007".to_owned()));
        let other = world.joined_by("anna", Role::Admin, Scope::Admin).await;
        assert_eq!(other.change("PUT", &path, step_down).await.json()["role"], "user");
    }
}

pub(crate) fn grant_body(owner: &ServerFixture, hours: i64) -> Value {
    let until = START.plus(hours * 3_600_000);
    json!({ "ownerId": owner.admin.owner(), "name": "ticket 42", "reason": "a lost note", "until": until })
}

pub(crate) async fn under(world: &ServerFixture, grant: &str, path: &str) -> Answer {
    world.send(world.request("GET", path).header("skein-grant", grant).body(Body::empty()).unwrap()).await
}

both! {
    async fn a_grant_opens_what_the_owner_has_is_seen_by_both_and_ends(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let note = anna.note("hers").await;
        let path = format!("/api/v1/items/{}", note["id"].as_str().unwrap());
        assert_eq!(world.get(&path).await.status, StatusCode::NOT_FOUND);

        let given = world.made("/api/v1/grants", &grant_body(&anna, 1)).await;
        let grant = given["id"].as_str().unwrap();
        assert_eq!(under(world, grant, &path).await.json()["data"], note["data"]);
        assert_eq!(under(world, grant, "/api/v1/items?type=Note").await.json()["data"].as_array().unwrap().len(), 1);
        assert_eq!(under(world, grant, "/api/v1/account").await.json()["grantId"], grant);
        for both in [world, &anna] {
            assert_eq!(both.get("/api/v1/grants").await.json()["data"][0]["id"], grant);
        }
        let bert = world.joined_by("bert", Role::Admin, Scope::Admin).await;
        assert_eq!(bert.get("/api/v1/grants").await.json()["data"], json!([]));
        assert_eq!(under(&bert, grant, &path).await.refused(), (403, "invalid_grant".to_owned()));

        let ended = anna.change("DELETE", &format!("/api/v1/grants/{grant}"), "").await;
        assert!(ended.json()["endedAt"].is_string(), "{}", ended.text);
        assert_eq!(under(world, grant, &path).await.refused(), (403, "invalid_grant".to_owned()));
    }

    async fn a_change_of_a_user_is_told_to_both_and_names_who_made_it(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let (admin, user) = (world.admin.owner().to_string(), anna.admin.owner().to_string());
        let path = format!("/api/v1/users/{user}");
        let hash = world.get(&path).await.json()["hash"].clone();
        let change = json!({ "name": "annika", "basedOnHash": hash });
        assert_eq!(world.change("PUT", &path, change.to_string()).await.status, StatusCode::OK);
        for told in [world, &anna] {
            let mut feed = Feed::whole(told).await;
            let heard = feed.until(|heard| heard.name == "user.changed").await;
            assert_eq!(heard.last().unwrap().data["subject"], user.as_str());
            let item = heard.last().unwrap().data["itemId"].as_str().unwrap().to_owned();
            assert_eq!(told.get(&format!("/api/v1/items/{item}")).await.json()["data"]["by"], admin.as_str());
        }
        let record = user.replace("user_", "entity_");
        let history = anna.get(&format!("/api/v1/records/{record}/history")).await.json();
        assert_eq!((&history["data"][1]["author"], &history["data"][1]["version"]), (&json!(admin), &json!(2)));
    }

    async fn a_grant_is_refused_without_reason_end_or_rank(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        for (field, value) in [("reason", json!("")), ("name", json!("")), ("ownerId", json!(world.admin.owner()))] {
            let mut body = grant_body(&anna, 1);
            body[field] = value;
            let refused = world.post("/api/v1/grants", body.to_string()).await;
            assert_eq!(refused.breaks(), (422, "BR-SEC-002".to_owned()), "{field}");
        }
        for hours in [-1, 31 * 24] {
            let refused = world.post("/api/v1/grants", grant_body(&anna, hours).to_string()).await;
            assert_eq!(refused.breaks(), (422, "BR-SEC-002".to_owned()), "{hours}");
        }
        let user = anna.post("/api/v1/grants", grant_body(world, 1).to_string()).await;
        assert_eq!(user.refused(), (403, "permission_denied".to_owned()));
        let given = world.made("/api/v1/grants", &grant_body(&anna, 1)).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let path = format!("/api/v1/grants/{}", given["id"].as_str().unwrap());
        assert_eq!(bert.change("DELETE", &path, "").await.refused(), (404, "not_found".to_owned()));
    }
}
