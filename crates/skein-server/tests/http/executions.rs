//! Runs over HTTP: begun again where they stopped, or with other values; and who works on them.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::{Role, Scope};
use skein_engine::Worker;
use skein_store::Tx;
use skein_store::jobs::{AfterFailure, JobDraft, JobHolder, QueueCapacity};

use crate::accounts::{grant_body, under};
use crate::recipes::{counting, waiting};
use crate::server_fixture::{Answer, ServerFixture, both};

async fn shown(world: &ServerFixture, run: &str) -> Value {
    world.get(&format!("/api/v1/executions/{run}")).await.json()
}

fn reasons(listed: &Value) -> Vec<Option<&str>> {
    listed["data"].as_array().unwrap().iter().map(|job| job["reason"].as_str()).collect()
}

async fn decided(world: &ServerFixture, run: &str, decision: Value) {
    let review = shown(world, run).await["reviewIds"][0].as_str().unwrap().to_owned();
    world.changed("POST", &format!("/api/v1/reviews/{review}/decide"), &decision).await;
}

async fn again(world: &ServerFixture, run: &str, how: &str, body: Value) -> Answer {
    world.post(&format!("/api/v1/executions/{run}/{how}"), body.to_string()).await
}

fn begun(answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()["executionId"].as_str().unwrap().to_owned()
}

both! {
    async fn a_run_that_was_denied_is_resumed_and_comes_to_its_end(world: &ServerFixture) {
        let run = waiting(world).await;
        assert_eq!(again(world, &run, "resume", json!({})).await.status, 422, "it has not stopped");
        decided(world, &run, json!({ "decision": "deny", "reason": "too foggy" })).await;
        let failed = shown(world, &run).await;
        assert_eq!((&failed["status"], &failed["error"]["message"]), (&json!("failed"), &json!("too foggy")));

        let resumed = begun(&again(world, &run, "resume", json!({})).await);
        decided(world, &resumed, json!({ "decision": "answer", "value": 11 })).await;
        let came = shown(world, &resumed).await;
        assert_eq!((&came["status"], &came["branchedFrom"]), (&json!("completed"), &json!(run)), "{came}");
        assert_eq!(shown(world, &run).await["status"], "failed", "the first stays what it was");
        let refused = again(world, &resumed, "resume", json!({})).await;
        assert_eq!((refused.status, &refused.json()["error"]["rule"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("BR-EXEC-006")));
    }

    async fn a_run_is_branched_with_other_values_and_refuses_those_it_cannot_use(world: &ServerFixture) {
        let run = waiting(world).await;
        decided(world, &run, json!({ "decision": "answer", "value": 11 })).await;
        let elsewhere = json!({ "stepId": "ask", "initialContext": { "place": "the river" } });
        let branched = begun(&again(world, &run, "branch", elsewhere).await);
        assert_eq!(shown(world, &branched).await["initialContext"], json!({ "place": "the river" }));
        for body in [json!({ "stepId": "nobody" }), json!({ "stepId": "ask", "outputs": { "nobody": 1 } })] {
            let refused = again(world, &run, "branch", body).await;
            assert_eq!((refused.status, &refused.json()["error"]["rule"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("BR-EXEC-006")), "{}", refused.text);
        }
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(again(&other, &run, "branch", json!({ "stepId": "ask" })).await.status, 404);
    }

    async fn a_run_is_paused_says_so_wherever_it_is_shown_and_goes_on(world: &ServerFixture) {
        let run = waiting(world).await;
        let path = format!("/api/v1/executions/{run}/paused");
        let put = async |world: &ServerFixture, body: Value| world.change("PUT", &path, body.to_string()).await;
        for body in [json!({}), json!({ "paused": "yes" }), json!({ "paused": true, "more": 1 })] {
            assert!(put(world, body.clone()).await.status.is_client_error(), "{body}");
        }
        let paused = put(world, json!({ "paused": true })).await;
        assert_eq!(paused.status, 200, "{}", paused.text);
        let since = shown(world, &run).await["pausedAt"].clone();
        assert!(since.is_string(), "{since}");
        let listed = world.get("/api/v1/executions?status=running").await.json();
        assert_eq!((&listed["data"][0]["id"], &listed["data"][0]["pausedAt"]), (&json!(run), &since));
        assert_eq!(put(world, json!({ "paused": true })).await.status, 200);
        assert_eq!(shown(world, &run).await["pausedAt"], since, "it is so already");
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(put(&other, json!({ "paused": false })).await.status, 404);

        decided(world, &run, json!({ "decision": "answer", "value": 11 })).await;
        let ended = shown(world, &run).await;
        assert_eq!((&ended["status"], &ended["pausedAt"]), (&json!("completed"), &Value::Null), "nothing was left to begin");
        let refused = put(world, json!({ "paused": true })).await;
        assert_eq!((refused.status, &refused.json()["error"]["rule"]), (StatusCode::CONFLICT, &json!("BR-EXEC-001")), "{}", refused.text);
    }

    async fn administrators_see_who_works_and_how_much_waits_is_told_to_everybody_for_themselves(world: &ServerFixture) {
        world.made("/api/v1/processes", &counting()).await;
        assert_eq!(world.get("/api/v1/workers").await.json()["data"], json!([]));
        let worker = Worker::start(world.engine.clone(), "test".to_owned());
        let found = loop {
            let listed = world.get("/api/v1/workers").await.json();
            if let Some(found) = listed["data"].get(0) {
                break found.clone();
            }
            skein_testkit::wait::moment().await;
        };
        assert_eq!((&found["status"], &found["concurrency"]), (&json!("idle"), &json!(128)));
        assert_eq!(found["types"], json!(["graph_query", "llm_call", "rest_call", "mcp_tool"]));
        assert_eq!(found["pid"], std::process::id());
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(other.get("/api/v1/workers").await.status, 403);
        drop(worker);
    }

    async fn what_nobody_could_do_is_listed_for_whose_it_is_and_for_administrators(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let carla = world.joined_by("carla", Role::User, Scope::Write).await;
        for (person, why) in [(world, "its payload cannot be read"), (&bert, "no such key"), (&bert, "no such tool")] {
            let owner = person.admin.clone();
            let job = JobDraft::new("nobodys", "{}".to_owned());
            world.store.write(move |tx| tx.enqueue(&owner, &job)).await.unwrap();
            let holder = JobHolder { worker: "test".to_owned(), lease_ms: 60_000, epoch: 0 };
            let wanted = QueueCapacity { queue: "nobodys".to_owned(), places: 1 };
            let job = world.store.claim_jobs(&holder, &[wanted]).await.unwrap().jobs.remove(0);
            let bury = move |tx: &mut Tx<'_>| tx.fail_job(&Viewer::System("test"), &job, why, AfterFailure::Bury);
            world.store.write(bury).await.unwrap();
        }
        let first = world.get("/api/v1/queue/dead?limit=2").await.json();
        let rest = world.get(&format!("/api/v1/queue/dead?cursor={}", first["pagination"]["next"].as_str().unwrap())).await.json();
        assert_eq!((first["data"].as_array().unwrap().len(), &rest["pagination"]["next"]), (2, &json!(null)));
        let all = [reasons(&first), reasons(&rest)].concat();
        assert_eq!(BTreeSet::from_iter(all), BTreeSet::from([None, Some("its payload cannot be read")]), "only of one's own");
        let his = bert.get("/api/v1/queue/dead").await.json();
        assert_eq!(BTreeSet::from_iter(reasons(&his)), BTreeSet::from([Some("no such key"), Some("no such tool")]));
        assert_eq!((&his["data"][0]["ownerId"], &his["data"][0]["executionId"]), (&json!(bert.admin.owner()), &json!(null)));
        let grant = world.made("/api/v1/grants", &grant_body(&bert, 1)).await["id"].as_str().unwrap().to_owned();
        assert_eq!(under(world, &grant, "/api/v1/queue/dead").await.json()["data"], his["data"], "by a grant as he sees it");
        assert_eq!(carla.get("/api/v1/queue/dead").await.json()["data"], json!([]));
    }
}
