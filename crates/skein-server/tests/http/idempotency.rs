//! Repeats over HTTP: the same answer with 200, another request refused, one change however often it is asked for.

use axum::http::StatusCode;
use futures::future::join_all;
use serde_json::{Value, json};
use skein_core::account::idempotency::KEY_KEPT_MS;
use skein_core::account::{Role, Scope};

use crate::recipes::{carry_out, changes, recipe};
use crate::server_fixture::{Answer, ServerFixture, both, fresh_key};

const ITEMS: &str = "/api/v1/items";
const NOTE: &str = r#"{"_type":"Note","data":{"description":"once"}}"#;
const OTHER: &str = r#"{"_type":"Note","data":{"description":"other"}}"#;

async fn notes(world: &ServerFixture) -> usize {
    world.get("/api/v1/items?type=Note").await.json()["data"].as_array().unwrap().len()
}

fn assert_replays(again: &Answer, first: &Answer) {
    assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"), "{}", again.text);
    assert_eq!(again.text, first.text);
}

both! {
    async fn br_idemp_001_a_change_under_a_key_holds(world: &ServerFixture) {
        for key in [fresh_key(), "01HQ3K4N7Y8M2P5R6T9W0X1Z2A".to_owned()] {
            assert_eq!(world.change_under(&key, "POST", ITEMS, NOTE).await.status, StatusCode::CREATED);
        }
    }

    async fn br_idemp_001_a_change_without_a_key_or_under_none_refuses(world: &ServerFixture) {
        let request = world.request("POST", ITEMS).body(NOTE.into()).unwrap();
        let without = world.send(request).await;
        assert_eq!(without.refused(), (400, "idempotency_key_required".to_owned()));
        assert_eq!(without.breaks().1, "BR-IDEMP-001");
        for key in ["", "1", "my-key"] {
            let refused = world.change_under(key, "POST", ITEMS, NOTE).await;
            assert_eq!(refused.refused(), (400, "idempotency_key_invalid".to_owned()), "{key}");
        }
        let request = world.request("POST", ITEMS).header("idempotency-key", fresh_key());
        let doubled = world.send(request.header("idempotency-key", fresh_key()).body(NOTE.into()).unwrap()).await;
        assert_eq!(doubled.refused(), (400, "idempotency_key_invalid".to_owned()));
        assert_eq!(notes(world).await, 0);
    }

    async fn br_idemp_001_every_change_of_the_document_without_a_key_refuses(world: &ServerFixture) {
        for change in changes() {
            let recipe = recipe(world, &change).await;
            let before = world.mark().await;
            let refused = carry_out(world, &change, &recipe, None).await;
            assert_eq!(refused.refused(), (400, "idempotency_key_required".to_owned()), "{change}");
            assert_eq!(world.written_since(before).await, 0, "{change} wrote something");
        }
    }

    async fn br_idemp_002_two_users_under_the_same_key_make_two_items_holds(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let key = fresh_key();
        let (ours, hers) = (
            world.change_under(&key, "POST", ITEMS, NOTE).await,
            anna.change_under(&key, "POST", ITEMS, NOTE).await,
        );
        assert_eq!((ours.status, hers.status), (StatusCode::CREATED, StatusCode::CREATED));
        assert_ne!(ours.json()["id"], hers.json()["id"]);
        assert_eq!((notes(world).await, notes(&anna).await), (1, 1));
    }

    async fn br_idemp_002_the_same_key_for_another_path_or_method_refuses(world: &ServerFixture) {
        let key = fresh_key();
        let item = world.change_under(&key, "POST", ITEMS, NOTE).await.json();
        let at = format!("{ITEMS}/{}", item["id"].as_str().unwrap());
        for (method, path, body) in [
            ("POST", format!("{at}/undo"), ""),
            ("POST", "/api/v1/keys".to_owned(), r#"{"name":"a","scope":"read"}"#),
            ("PUT", format!("{at}/canonical-time"), r#"{"canonicalAt":null}"#),
        ] {
            let refused = world.change_under(&key, method, &path, body).await;
            assert_eq!(refused.refused(), (409, "idempotency_payload_mismatch".to_owned()), "{path}");
        }
        assert_eq!(notes(world).await, 1);
    }

    async fn br_idemp_003_a_repeat_within_a_day_gets_the_first_answer_with_200_holds(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", ITEMS, NOTE).await;
        assert_eq!((first.status, first.header("idempotent-replayed")), (StatusCode::CREATED, ""));
        assert_replays(&world.change_under(&key, "POST", ITEMS, NOTE).await, &first);
        world.clock.advance(KEY_KEPT_MS - 1);
        assert_replays(&world.change_under(&key, "POST", ITEMS, NOTE).await, &first);
        assert_eq!(notes(world).await, 1);
    }

    async fn br_idemp_003_every_change_of_the_document_is_made_once_and_answered_twice_holds(world: &ServerFixture) {
        for change in changes() {
            let (recipe, key) = (recipe(world, &change).await, fresh_key());
            let first = carry_out(world, &change, &recipe, Some(&key)).await;
            assert!(first.status.is_success(), "{change}: {}", first.text);
            let before = world.mark().await;
            let again = carry_out(world, &change, &recipe, Some(&key)).await;
            if change == "DELETE /api/v1/account/session" {
                // Whoever signed out is nobody who could be answered.
                assert_eq!(again.refused(), (401, "unauthenticated".to_owned()));
                continue;
            }
            assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"), "{change}");
            assert_eq!(again.json()["operationId"], first.json()["operationId"], "{change}");
            assert_eq!(world.written_since(before).await, 0, "{change} was made twice");
        }
    }

    async fn br_idemp_003_a_day_later_the_old_answer_is_not_given_refuses(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", ITEMS, NOTE).await.json();
        world.clock.advance(KEY_KEPT_MS);
        let later = world.change_under(&key, "POST", ITEMS, OTHER).await;
        assert_eq!((later.status, later.header("idempotent-replayed")), (StatusCode::CREATED, ""));
        assert_ne!(later.json()["id"], first["id"]);
        assert_eq!(notes(world).await, 2);
    }

    async fn br_idemp_004_headers_do_not_count_holds(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", ITEMS, NOTE).await;
        let laptop = world.with_key(world.new_key(Scope::Write).await);
        let request = laptop.request("POST", ITEMS).header("idempotency-key", &key).header("user-agent", "other");
        assert_replays(&laptop.send(request.body(NOTE.into()).unwrap()).await, &first);
    }

    async fn br_idemp_004_another_payload_is_409_and_refuses(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", ITEMS, NOTE).await;
        for body in [OTHER.to_owned(), format!(" {NOTE}")] {
            let refused = world.change_under(&key, "POST", ITEMS, body).await;
            assert_eq!(refused.refused(), (409, "idempotency_payload_mismatch".to_owned()));
            assert_eq!((refused.breaks().1.as_str(), &refused.json()["error"]["retryable"]), ("BR-IDEMP-004", &json!(false)));
        }
        assert_eq!(notes(world).await, 1);
        assert_replays(&world.change_under(&key, "POST", ITEMS, NOTE).await, &first);
    }

    async fn br_idemp_005_queued_work_answers_202_once_and_then_200_holds(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", "/api/v1/verifications", "{}").await;
        assert_eq!(first.status, StatusCode::ACCEPTED);
        assert_replays(&world.change_under(&key, "POST", "/api/v1/verifications", "{}").await, &first);
        world.clock.advance(10 * KEY_KEPT_MS);
        assert_replays(&world.change_under(&key, "POST", "/api/v1/verifications", "{}").await, &first);
        assert_eq!(world.get("/api/v1/operations").await.json()["data"].as_array().unwrap().len(), 1);
    }

    async fn br_idemp_005_queued_work_is_not_changed_by_its_repeat_and_refuses(world: &ServerFixture) {
        let key = fresh_key();
        world.change_under(&key, "POST", "/api/v1/verifications", "{}").await;
        let other = world.change_under(&key, "POST", "/api/v1/verifications", r#"{"deep":true}"#).await;
        assert_eq!(other.refused(), (409, "idempotency_payload_mismatch".to_owned()));
        assert_eq!(world.get("/api/v1/operations").await.json()["data"].as_array().unwrap().len(), 1);
    }

    async fn the_same_request_many_times_at_once_makes_one_item(world: &ServerFixture) {
        let key = fresh_key();
        let answers = join_all((0..16).map(|_| {
            let (world, key) = (world.clone(), key.clone());
            tokio::spawn(async move { world.change_under(&key, "POST", ITEMS, NOTE).await })
        }));
        let answers: Vec<Answer> = answers.await.into_iter().map(Result::unwrap).collect();
        let made: Vec<&Answer> = answers.iter().filter(|answer| answer.status == StatusCode::CREATED).collect();
        assert_eq!(made.len(), 1);
        for answer in &answers {
            assert_eq!(answer.text, made[0].text);
        }
        assert_eq!(notes(world).await, 1);
    }

    async fn a_batch_is_replayed_whole(world: &ServerFixture) {
        let (key, body) = (fresh_key(), format!(r#"{{"items":[{NOTE},{OTHER}]}}"#));
        let first = world.change_under(&key, "POST", ITEMS, body.clone()).await;
        assert_eq!(first.status, StatusCode::CREATED);
        assert_replays(&world.change_under(&key, "POST", ITEMS, body).await, &first);
        assert_eq!(notes(world).await, 2);
    }

    async fn a_replay_after_the_payload_was_destroyed_does_not_bring_it_back(world: &ServerFixture) {
        let key = fresh_key();
        let item = world.change_under(&key, "POST", ITEMS, NOTE).await.json();
        let path = format!("{ITEMS}/{}/redact", item["id"].as_str().unwrap());
        let (reason, redacting) = (r#"{"reason":"asked to"}"#, fresh_key());
        let redacted = world.change_under(&redacting, "POST", &path, reason).await;
        assert_eq!(redacted.status, StatusCode::OK);
        let again = world.change_under(&key, "POST", ITEMS, NOTE).await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"));
        assert_eq!((&again.json()["id"], &again.json()["data"]), (&item["id"], &Value::Null));
        assert!(!again.text.contains("once"));
        assert_replays(&world.change_under(&redacting, "POST", &path, reason).await, &redacted);
    }

    async fn a_refused_request_leaves_its_key_free(world: &ServerFixture) {
        let key = fresh_key();
        let bad = world.change_under(&key, "POST", ITEMS, r#"{"_type":"Seal","data":{}}"#).await;
        assert!(bad.status.is_client_error());
        assert_eq!(world.change_under(&key, "POST", ITEMS, NOTE).await.status, StatusCode::CREATED);
    }
}
