//! Facts, beliefs and edges over HTTP: what may become of them, and what is refused.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::garden::proof::Proof;
use skein_core::garden::undo::UNDO_WINDOW_MS;
use skein_core::{Digest, Viewer};
use skein_store::StoreError;
use skein_store::timeline::items::ItemQuery;
use skein_store::timeline::sealer::seal_all;

use crate::server_fixture::{ServerFixture, both, fresh_key};

fn path(item: &Value, what: &str) -> String {
    format!("/api/v1/items/{}{what}", item["id"].as_str().unwrap())
}

async fn listed(world: &ServerFixture) -> usize {
    world.get("/api/v1/items?type=Note").await.json()["data"].as_array().unwrap().len()
}

both! {
    async fn an_item_is_taken_back_within_five_minutes_by_its_author(world: &ServerFixture) {
        let (first, second) = (world.note("a").await, world.note("b").await);
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        assert_eq!(anna.post(&path(&first, "/undo"), "").await.refused(), (404, "not_found".to_owned()));
        world.clock.advance(UNDO_WINDOW_MS);
        let undone = world.post(&path(&first, "/undo"), "").await;
        assert_eq!((undone.status, &undone.json()["_type"]), (StatusCode::CREATED, &json!("Tombstone")));
        assert_eq!(undone.json()["data"]["itemId"], first["id"]);
        assert_eq!(world.get(&path(&first, "")).await.json()["supersededBy"], undone.json()["id"]);
        assert_eq!(listed(world).await, 1);
        world.clock.advance(1);
        assert_eq!(world.post(&path(&second, "/undo"), "").await.breaks(), (422, "MG-SOIL-005".to_owned()));
        assert_eq!(listed(world).await, 1);
    }

    async fn a_time_is_corrected_and_the_correction_withdrawn(world: &ServerFixture) {
        let note = world.note("a").await;
        let at = path(&note, "/canonical-time");
        let moved = world.change("PUT", &at, r#"{"canonicalAt":"2020-01-31T12:00:00+01:00"}"#).await;
        assert_eq!((moved.status, &moved.json()["canonicalAt"]), (StatusCode::OK, &json!("2020-01-31T11:00:00.000Z")));
        assert_eq!((&moved.json()["realizedAt"], &moved.json()["hash"]), (&note["realizedAt"], &note["hash"]));
        let found = world.get("/api/v1/items?clock=canonical&until=2021-01-01T00:00:00Z").await.json();
        assert_eq!(found["data"][0]["id"], note["id"]);
        let back = world.change("PUT", &at, r#"{"canonicalAt":null}"#).await;
        assert_eq!(back.json()["canonicalAt"], note["canonicalAt"]);
        let unsaid = world.change("PUT", &at, "{}").await;
        assert_eq!(unsaid.refused(), (400, "invalid_body".to_owned()));
    }

    async fn br_sec_003_what_only_skein_writes_refuses_another_time_undo_and_change(world: &ServerFixture) {
        let note = world.note("a").await;
        world.changed("POST", &path(&note, "/redact"), &json!({ "reason": "asked to" })).await;
        world.post(&path(&world.note("b").await, "/undo"), "").await;
        world.made("/api/v1/keys", &json!({ "name": "k", "scope": "read" })).await;
        let conversation = world.made("/api/v1/conversations", &json!({ "title": "Herons" })).await;
        let turns = format!("/api/v1/conversations/{}/turns", conversation["id"].as_str().unwrap());
        world.made(&turns, &json!({ "text": "How many?" })).await;
        let store = world.store.clone();
        tokio::task::spawn_blocking(move || seal_all(&store, "test").unwrap()).await.unwrap();
        let query = ItemQuery { limit: 500, include_hidden: true, ..ItemQuery::default() };
        let viewer = Viewer::User(world.admin.owner());
        let items = world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap().rows;
        let mut kinds = BTreeSet::new();
        for header in items.into_iter().map(|stored| stored.item.header).filter(|header| header.item_type.is_system()) {
            let (at, kind) = (format!("/api/v1/items/{}", header.id), &header.item_type);
            let moved = world.change("PUT", &format!("{at}/canonical-time"), r#"{"canonicalAt":"2020-01-01T00:00:00Z"}"#).await;
            if kind.has_stated_time() {
                assert_eq!(moved.status, StatusCode::OK, "{kind}: {}", moved.text);
            } else {
                assert_eq!(moved.breaks(), (422, "MG-SOIL-006".to_owned()), "{kind}");
            }
            assert_eq!(world.post(&format!("{at}/undo"), "").await.breaks(), (422, "MG-SOIL-005".to_owned()), "{kind}");
            for method in ["PUT", "DELETE", "PATCH"] {
                assert_eq!(world.change(method, &at, "{}").await.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {kind}");
            }
            kinds.insert(kind.to_string());
        }
        for kind in ["Seal", "Redaction", "SystemEvent", "EntityDelta", "Tombstone", "Node", "NodeContent"] {
            assert!(kinds.contains(kind), "{kind} in {kinds:?}");
        }
    }

    async fn a_redaction_destroys_the_payload_and_needs_a_reason(world: &ServerFixture) {
        let note = world.note("a secret").await;
        let blank = world.post(&path(&note, "/redact"), r#"{"reason":" "}"#).await;
        assert_eq!(blank.breaks(), (422, "MG-SOIL-010".to_owned()));
        let redacted = world.post(&path(&note, "/redact"), r#"{"reason":"asked to"}"#).await.json();
        assert_eq!((&redacted["data"], &redacted["redacted"]), (&Value::Null, &json!(true)));
        assert_eq!(redacted["hash"], note["hash"]);
        assert!(!world.get("/api/v1/items").await.text.contains("a secret"));
        let again = world.post(&path(&note, "/redact"), r#"{"reason":"asked to"}"#).await;
        assert_eq!(again.breaks(), (422, "MG-SOIL-010".to_owned()));
    }

    async fn an_administrator_redacts_under_a_grant_only(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let note = anna.note("hers").await;
        let blind = world.post(&path(&note, "/redact"), r#"{"reason":"asked to"}"#).await;
        assert_eq!(blind.refused(), (404, "not_found".to_owned()));
        let grant = json!({ "ownerId": anna.admin.owner(), "name": "ticket 42", "reason": "she asked",
            "until": crate::server_fixture::START.plus(3_600_000) });
        let grant = world.made("/api/v1/grants", &grant).await;
        let request = world.request("POST", &path(&note, "/redact")).header("idempotency-key", fresh_key());
        let request = request.header("skein-grant", grant["id"].as_str().unwrap());
        let redacted = world.send(request.body(Body::from(r#"{"reason":"she asked"}"#)).unwrap()).await;
        let told = (redacted.status, &redacted.json()["redacted"]);
        assert_eq!(told, (StatusCode::OK, &json!(true)), "{}", redacted.text);
        assert_eq!(anna.get(&path(&note, "")).await.json()["data"], Value::Null);
    }

    async fn bytes_go_with_their_last_attachment_and_stay_while_somebody_has_them(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let mut attached = Vec::new();
        for one in [world, &anna] {
            let blob = one.upload("/api/v1/blobs", "text/plain", "shared bytes").await;
            assert_eq!(blob.status, StatusCode::CREATED, "{}", blob.text);
            attached.push(blob.json());
        }
        let hash: Digest = attached[0]["hash"].as_str().unwrap().parse().unwrap();
        let download = format!("/api/v1/blobs/{hash}");
        let redact = |blob: &Value| format!("/api/v1/items/{}/redact", blob["itemId"].as_str().unwrap());

        assert_eq!(world.post(&redact(&attached[0]), r#"{"reason":"gone"}"#).await.status, StatusCode::OK);
        assert_eq!(world.get(&download).await.refused(), (404, "not_found".to_owned()));
        assert_eq!(anna.get(&download).await.text, "shared bytes");
        assert_eq!(anna.post(&redact(&attached[1]), r#"{"reason":"gone"}"#).await.status, StatusCode::OK);
        assert_eq!(anna.get(&download).await.refused(), (404, "not_found".to_owned()));
        assert!(matches!(world.blobs.get(hash).await, Err(StoreError::NotFound(_))));
    }

    async fn a_proof_is_there_after_sealing_and_verifies_by_itself(world: &ServerFixture) {
        let note = world.note("a").await;
        let early = world.get(&path(&note, "/proof")).await;
        assert_eq!(early.refused(), (409, "not_sealed".to_owned()));
        assert_eq!(early.json()["error"]["retryable"], true);
        world.settled().await;
        let store = world.store.clone();
        tokio::task::spawn_blocking(move || seal_all(&store, "test").unwrap()).await.unwrap();
        let answer = world.get(&path(&note, "/proof")).await.json();
        let proof: Proof = serde_json::from_value(answer.clone()).unwrap();
        let proven = proof.verify().unwrap();
        assert_eq!(json!(proven.item), note["id"]);
        assert_eq!(json!(proven.item_hash), note["hash"]);
        let mut forged = answer;
        forged["payload"] = json!(r#"{"description":"b"}"#);
        assert!(serde_json::from_value::<Proof>(forged).unwrap().verify().is_err());
    }
}

async fn relate(world: &ServerFixture, kind: &str, source: &Value, target: &Value) -> crate::server_fixture::Answer {
    let body = json!({ "kind": kind, "source": source["id"], "target": target["id"] });
    world.post("/api/v1/relations", body.to_string()).await
}

both! {
    async fn relations_are_made_found_and_followed_both_ways(world: &ServerFixture) {
        let [a, b, c] = [world.note("a").await, world.note("b").await, world.note("c").await];
        let first = relate(world, "triggers", &a, &b).await;
        assert_eq!(first.status, StatusCode::CREATED, "{}", first.text);
        let made = first.json();
        assert_eq!((&made["source"], &made["target"], &made["sourceType"]), (&a["id"], &b["id"], &json!("item")));
        relate(world, "triggers", &b, &c).await;
        let one = world.get(&format!("/api/v1/relations/{}", made["id"].as_str().unwrap())).await.json();
        assert_eq!(one["createdAt"], made["createdAt"]);

        let list = async |of: &Value, side: &str| {
            let query = format!("of={}&side={side}&kind=triggers", of["id"].as_str().unwrap());
            world.get(&format!("/api/v1/relations?{query}")).await.json()["data"].as_array().unwrap().len()
        };
        assert_eq!((list(&a, "source").await, list(&a, "target").await, list(&b, "target").await), (1, 0, 1));
        let follow = async |from: &Value, direction: &str| {
            let query = format!("from={}&kind=triggers&direction={direction}", from["id"].as_str().unwrap());
            let steps = world.get(&format!("/api/v1/relations/chain?{query}")).await.json();
            let steps = steps["data"].as_array().unwrap().clone();
            steps.into_iter().map(|step| (step["id"].clone(), step["distance"].as_i64().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(follow(&a, "forward").await, [(b["id"].clone(), 1), (c["id"].clone(), 2)]);
        assert_eq!(follow(&c, "backward").await, [(b["id"].clone(), 1), (a["id"].clone(), 2)]);
    }

    async fn refused_relations_name_the_rule(world: &ServerFixture) {
        let [a, b, c] = [world.note("a").await, world.note("b").await, world.note("c").await];
        assert_eq!(relate(world, "triggers", &a, &c).await.status, StatusCode::CREATED);
        let refused = |answer: crate::server_fixture::Answer, rule: &str| assert_eq!(answer.breaks(), (422, rule.to_owned()));
        let second = relate(world, "triggers", &b, &c).await;
        assert_eq!((second.breaks(), second.code()), ((409, "MG-REL-001".to_owned()), "relation_exists".to_owned()));
        refused(relate(world, "triggers", &c, &a).await, "MG-REL-005");
        refused(relate(world, "likes", &a, &b).await, "MG-REL-010");
        refused(relate(world, "triggers", &json!({ "id": "nothing" }), &b).await, "MG-REL-005");
        let body = json!({ "kind": "mentions", "source": a["id"], "target": b["id"], "confidence": 0.5 });
        refused(world.post("/api/v1/relations", body.to_string()).await, "MG-REL-009");
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        refused(relate(&anna, "mentions", &a, &b).await, "MG-REL-005");
    }

    async fn an_inferred_relation_is_edited_and_removed_and_a_cause_is_not(world: &ServerFixture) {
        let [a, b] = [world.note("a").await, world.note("b").await];
        let body = json!({ "kind": "mentions", "source": a["id"], "target": b["id"], "confidence": 0.5,
            "metadata": { "inferred": true } });
        let made = world.made("/api/v1/relations", &body).await;
        let at = format!("/api/v1/relations/{}", made["id"].as_str().unwrap());
        let edit = r#"{"confidence":0.9,"metadata":{"inferred":true,"seen":2}}"#;
        let edited = world.change("PUT", &at, edit).await.json();
        assert_eq!((&edited["confidence"], &edited["metadata"]["seen"]), (&json!(0.9), &json!(2)));
        assert_eq!(world.get(&at).await.json()["confidence"], 0.9);
        let removed = world.change("DELETE", &format!("{at}?reason=it%20did%20not"), "").await;
        assert_eq!((removed.status, &removed.json()["confidence"]), (StatusCode::OK, &json!(0.9)));
        assert_eq!(world.get(&at).await.refused(), (404, "not_found".to_owned()));

        let frozen = relate(world, "triggers", &a, &b).await.json();
        let at = format!("/api/v1/relations/{}", frozen["id"].as_str().unwrap());
        let edit = world.change("PUT", &at, r#"{"metadata":{}}"#).await;
        assert_eq!(edit.breaks(), (422, "MG-REL-004".to_owned()));
        assert_eq!(world.change("DELETE", &at, "").await.breaks(), (422, "MG-REL-004".to_owned()));
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        assert_eq!(anna.get(&at).await.refused(), (404, "not_found".to_owned()));
    }

    async fn a_record_is_read_as_it_is_as_it_was_and_by_what_changed(world: &ServerFixture) {
        let note = world.note("a").await;
        for (moment, year) in [(1_000, 2001), (2_000, 2002)] {
            world.clock.advance(moment);
            let body = json!({ "canonicalAt": format!("{year}-01-01T00:00:00Z") }).to_string();
            assert_eq!(world.change("PUT", &path(&note, "/canonical-time"), body).await.status, StatusCode::OK);
        }
        let list = world.get("/api/v1/records?type=TimeOverride").await.json();
        let now = &list["data"][0];
        let at = format!("/api/v1/records/{}", now["id"].as_str().unwrap());
        assert_eq!((&now["version"], list["data"].as_array().unwrap().len()), (&json!(2), 1));

        let history = world.get(&format!("{at}/history?limit=1")).await.json();
        let next = history["pagination"]["next"].as_str().unwrap();
        let later = world.get(&format!("{at}/history?cursor={next}")).await.json();
        assert_eq!((&history["data"][0]["version"], &later["data"][0]["version"]), (&json!(1), &json!(2)));
        assert_eq!(later["data"][0]["oldHash"], history["data"][0]["newHash"]);

        let first = world.get(&format!("{at}?version=1")).await;
        assert_eq!(first.header("etag"), format!("\"{}\"", history["data"][0]["newHash"].as_str().unwrap()));
        let then = world.get(&format!("{at}?at={}", crate::server_fixture::START.plus(1_500))).await.json();
        assert_eq!((then["version"].clone(), then["data"].clone()), (json!(1), first.json()["data"].clone()));
        let diff = world.get(&format!("{at}/diff?from=1&to=2")).await.json();
        let changed: Vec<&Value> = diff["changes"].as_array().unwrap().iter().collect();
        assert_eq!(changed.len(), 1, "{diff}");
        assert!(changed[0]["before"].to_string().contains("2001") || changed[0]["before"].is_number(), "{diff}");
    }

    async fn states_a_record_never_had_and_other_owners_records_are_not_found(world: &ServerFixture) {
        let note = world.note("a").await;
        let body = r#"{"canonicalAt":"2001-01-01T00:00:00Z"}"#;
        world.change("PUT", &path(&note, "/canonical-time"), body).await;
        let list = world.get("/api/v1/records?type=TimeOverride").await.json();
        let at = format!("/api/v1/records/{}", list["data"][0]["id"].as_str().unwrap());
        for query in ["?version=9", "?at=2001-01-01T00:00:00Z", "/diff?from=1&to=9"] {
            assert_eq!(world.get(&format!("{at}{query}")).await.refused(), (404, "not_found".to_owned()), "{query}");
        }
        for query in ["?version=0", "?version=1&at=2001-01-01T00:00:00Z", "?at=noon", "/diff?from=1"] {
            let refused = world.get(&format!("{at}{query}")).await.refused();
            assert_eq!(refused, (400, "invalid_query".to_owned()), "{query}");
        }
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        for what in ["", "?version=1", "/history", "/diff?from=1&to=1"] {
            assert_eq!(anna.get(&format!("{at}{what}")).await.refused(), (404, "not_found".to_owned()), "{what}");
        }
    }
}
