//! Operations over HTTP: every change has one; queued work is carried out, polled, cancelled and asked for twice.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::{Role, Scope};
use skein_core::garden::cursor::Cursor;
use skein_engine::Worker;

use crate::server_fixture::{ServerFixture, both, fresh_key};

async fn operation(world: &ServerFixture, answer: &Value) -> Value {
    world.get(&format!("/api/v1/operations/{}", answer["operationId"].as_str().unwrap())).await.json()
}

/// The operation once it has ended.
async fn ended(world: &ServerFixture, answer: &Value) -> Value {
    loop {
        let operation = operation(world, answer).await;
        if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
            return operation;
        }
        skein_testkit::wait::moment().await;
    }
}

both! {
    async fn every_change_is_on_record_as_a_completed_operation(world: &ServerFixture) {
        let note = world.note("a").await;
        let key = world.made("/api/v1/keys", &json!({ "name": "laptop", "scope": "read" })).await;
        let setting = world.change("PUT", "/api/v1/settings/operations.keptDays", r#"{"value":9}"#).await.json();
        world.clock.advance(1);
        let blob = world.upload("/api/v1/blobs", "text/plain", "abc").await.json();
        let changes =
            [(&note, "item.append"), (&key, "key.create"), (&setting, "setting.change"), (&blob, "blob.attach")];
        for (answer, kind) in changes {
            let operation = operation(world, answer).await;
            assert_eq!((&operation["kind"], &operation["status"]), (&json!(kind), &json!("completed")));
            assert_eq!((&operation["progress"], &operation["error"]), (&json!(100), &Value::Null));
        }
        assert_eq!(operation(world, &note).await["result"], json!({ "item": note["id"] }));
        assert!(!operation(world, &key).await.to_string().contains("sk_"));
        let list = world.get("/api/v1/operations?limit=2").await.json();
        assert_eq!(list["data"][0]["id"], blob["operationId"]);
        let next = list["pagination"]["next"].as_str().unwrap();
        let rest = world.get(&format!("/api/v1/operations?cursor={next}")).await.json();
        assert_eq!(rest["data"].as_array().unwrap().len(), 2);
    }

    async fn an_operation_is_its_owners_alone(world: &ServerFixture) {
        let note = world.note("a").await;
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let path = format!("/api/v1/operations/{}", note["operationId"].as_str().unwrap());
        assert_eq!(anna.get(&path).await.refused(), (404, "not_found".to_owned()));
        assert_eq!(anna.post(&format!("{path}/cancel"), "").await.refused(), (404, "not_found".to_owned()));
        assert_eq!(anna.get("/api/v1/operations").await.json()["data"], json!([]));
    }

    async fn a_verification_is_queued_carried_out_and_reported(world: &ServerFixture) {
        world.note("a").await;
        let queued = world.post("/api/v1/verifications", r#"{"deep":true}"#).await;
        assert_eq!(queued.status, StatusCode::ACCEPTED);
        let queued = queued.json();
        assert_eq!(queued["statusUrl"], format!("/api/v1/operations/{}", queued["operationId"].as_str().unwrap()));
        assert_eq!(operation(world, &queued).await["status"], "queued");
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let done = ended(world, &queued).await;
        assert_eq!((&done["status"], &done["progress"]), (&json!("completed"), &json!(100)), "{done}");
        assert_eq!((&done["result"]["ok"], &done["result"]["breaks"]), (&json!(true), &json!([])));
        assert!(done["result"]["items"].as_u64().unwrap() >= 1);
    }

    async fn work_that_is_asked_for_without_a_body_says_where_on_the_timeline_it_is(world: &ServerFixture) {
        let request = world.request("POST", "/api/v1/verifications").header("idempotency-key", fresh_key());
        let queued = world.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(queued.status, StatusCode::ACCEPTED, "{}", queued.text);
        let cursor = queued.header("skein-cursor").parse::<Cursor>().unwrap();
        assert_eq!(cursor, world.store.read(|tx| tx.end(&Viewer::System("test"))).await.unwrap());
    }

    async fn br_idemp_005_a_repeat_of_queued_work_answers_200_and_queues_nothing_holds(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.change_under(&key, "POST", "/api/v1/verifications", "{}").await;
        let items = world.count().await;
        let again = world.change_under(&key, "POST", "/api/v1/verifications", "{}").await;
        assert_eq!((first.status, again.status), (StatusCode::ACCEPTED, StatusCode::OK));
        assert_eq!((again.json(), again.header("idempotent-replayed")), (first.json(), "true"));
        assert_eq!(world.count().await, items);
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        assert_eq!(ended(world, &first.json()).await["status"], "completed");
        let later = world.change_under(&key, "POST", "/api/v1/verifications", "{}").await;
        assert_eq!((later.status, later.json()), (StatusCode::OK, first.json()));
        let list = world.get("/api/v1/operations").await.json();
        assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
    }

    async fn queued_work_is_cancelled_and_not_carried_out(world: &ServerFixture) {
        let queued = world.post("/api/v1/verifications", "{}").await.json();
        let path = format!("/api/v1/operations/{}/cancel", queued["operationId"].as_str().unwrap());
        let cancelled = world.post(&path, "").await;
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (StatusCode::OK, &json!("cancelled")));
        assert_ne!(cancelled.json()["operationId"], queued["operationId"]);
        assert_eq!(world.post(&path, "").await.refused(), (409, "cannot_cancel".to_owned()));
        // Whatever is queued later is taken up later.
        let later = world.post("/api/v1/verifications", "{}").await.json();
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        assert_eq!(ended(world, &later).await["status"], "completed");
        let still = operation(world, &queued).await;
        assert_eq!((&still["status"], &still["result"]), (&json!("cancelled"), &Value::Null));
    }

    async fn verifying_is_for_administrators(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let refused = anna.post("/api/v1/verifications", "{}").await;
        assert_eq!(refused.refused(), (403, "permission_denied".to_owned()));
        let note = world.note("a").await;
        let path = format!("/api/v1/operations/{}/cancel", note["operationId"].as_str().unwrap());
        assert_eq!(world.post(&path, "").await.refused(), (409, "cannot_cancel".to_owned()));
    }
}
