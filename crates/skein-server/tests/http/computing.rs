//! Requests that compute over their input, on a server with a single thread for answers: whatever they compute, it answers.

use std::pin::Pin;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use axum::body::Body;
use axum::http::StatusCode;
use futures::future::{join_all, select_all};
use futures::{StreamExt as _, poll, stream};
use serde_json::{Value, json};
use skein_core::UserId;
use skein_core::account::{Role, Scope};
use skein_engine::{COMPUTATIONS_MAX, COMPUTATIONS_PER_USER, ComputeError};
use skein_server::http::limits::{BODIES_ARRIVING_PER_USER, PARSED_AT_ONCE_BYTES_MAX};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::conversation_fixture::{ConversationFixture, id};
use crate::recipes::{counting, weather};
use crate::server_fixture::{Answer, ServerFixture};

const VALIDATE: &str = "/api/v1/processes/validate";
const LIVE: &str = "/health/live";

pub(crate) type Computation<'a> = Pin<Box<dyn Future<Output = Result<(), ComputeError>> + Send + 'a>>;

/// Computations of a user that go on, or wait, until the sender is dropped.
pub(crate) async fn hold(world: &ServerFixture, user: UserId, count: usize) -> (Sender<()>, Vec<Computation<'_>>) {
    let (end, ended) = mpsc::channel();
    let ended = Arc::new(Mutex::new(ended));
    let mut held = Vec::new();
    for _ in 0..count {
        let ended = Arc::clone(&ended);
        let work = move || {
            let _ = ended.lock().unwrap().recv();
        };
        let mut computation: Computation = Box::pin(world.engine.compute().run(user, work));
        assert!(poll!(computation.as_mut()).is_pending());
        held.push(computation);
    }
    (end, held)
}

async fn validate(world: &ServerFixture, body: &Value) -> Answer {
    let request = world.request("POST", VALIDATE).header("content-type", "application/json");
    world.send(request.body(body.to_string().into()).unwrap()).await
}

/// As many steps as a process may have, each with a breach.
fn largest() -> Value {
    let step = |number: usize| {
        let id = format!("s{number}");
        json!({ "id": id, "ask": { "prompt": "{nobody}" }, "output": { "variable": id } })
    };
    json!({ "name": "n", "steps": (0..100).map(step).collect::<Vec<_>>(), "outputTemplate": "{{s0}}" })
}

#[tokio::test]
async fn the_server_answers_while_processes_are_validated() {
    let world = ServerFixture::new().await;
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER - 6).await;
    let body = largest();
    let mut validated = Vec::new();
    for _ in 0..6 {
        let mut answer = Box::pin(validate(&world, &body));
        assert!(poll!(answer.as_mut()).is_pending());
        validated.push(answer);
    }
    assert_eq!(world.get(LIVE).await.status, StatusCode::OK);
    drop(end);
    join_all(held).await;
    for answer in join_all(validated).await {
        let found = answer.json();
        assert_eq!((&found["truncated"], found["breaches"].as_array().unwrap().len()), (&json!(false), 100), "{found}");
    }
}

/// A user who has taken all their places is refused by each endpoint that computes: so none computes elsewhere.
#[tokio::test]
async fn every_endpoint_that_computes_takes_a_place() {
    let world = ServerFixture::new().await;
    let process = world.made("/api/v1/processes", &counting()).await;
    let service = world.made("/api/v1/services", &weather()).await;
    let talk = ConversationFixture::new(&world).await;
    let said = talk.say(None, "Three herons.").await;
    let node = id(&said["node"]);
    let process_path = format!("/api/v1/processes/{}", id(&process));
    let change = json!({ "outputTemplate": "{{count}}!", "basedOnHash": process["hash"] });
    let noted = |text: &str| json!({ "_type": "Note", "data": { "description": text } });
    let large = "x".repeat(40 << 10);
    let document = json!({ "document": { "openapi": "3.1.0", "info": { "title": "t", "version": "1" }, "paths": {} } });
    let (_end, _held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER).await;
    let refused = (429, "too_many_at_once".to_owned());
    for (method, path, body) in [
        ("POST", VALIDATE, counting()),
        ("POST", "/api/v1/processes", counting()),
        ("PUT", &process_path, change),
        ("POST", "/api/v1/compare", json!({ "left": node, "right": node, "as": "nodes" })),
        ("POST", "/api/v1/items", json!({ "items": [noted("one")] })),
        ("POST", "/api/v1/items", noted(&large)),
        ("POST", "/api/v1/conversations", json!({ "title": large })),
        ("POST", "/api/v1/search", json!({ "text": large })),
        ("POST", &format!("/api/v1/services/{}/discover", id(&service)), document),
    ] {
        assert_eq!(world.change(method, path, body.to_string()).await.refused(), refused, "{method} {path}");
    }
    for path in [format!("{}/tree", talk.path), format!("/api/v1/nodes/{node}/edits")] {
        assert_eq!(world.get(&path).await.refused(), refused, "{path}");
    }
    for path in [LIVE, "/api/v1/items", "/api/v1/processes"] {
        assert_eq!(world.get(path).await.status, StatusCode::OK, "{path}");
    }
}

/// Waits until a request that is under way is the last computation its user may have.
pub(crate) async fn until_computing<T>(world: &ServerFixture, request: &mut Pin<Box<impl Future<Output = T>>>) {
    loop {
        assert!(poll!(request.as_mut()).is_pending());
        let mut next = Box::pin(world.engine.compute().run(world.admin.owner(), || ()));
        if let Poll::Ready(outcome) = poll!(next.as_mut()) {
            assert_eq!(outcome, Err(ComputeError::OfUser));
            return;
        }
        drop(next);
        skein_testkit::wait::moment().await;
    }
}

#[tokio::test]
async fn a_bundle_is_opened_by_a_computation_that_waits_for_its_turn() {
    let world = ServerFixture::new().await;
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER - 1).await;
    let mut import = Box::pin(world.upload("/api/v1/imports", "application/zip", "no zip"));
    until_computing(&world, &mut import).await;
    assert_eq!(world.get(LIVE).await.status, StatusCode::OK);
    drop(end);
    join_all(held).await;
    assert_eq!(import.await.refused(), (400, "invalid_bundle".to_owned()));
}

#[tokio::test]
async fn a_document_at_an_address_is_read_by_a_computation_that_is_admitted_before_it_is_fetched() {
    let world = ServerFixture::new().await;
    let service = world.made("/api/v1/services", &weather()).await;
    let documents = HostileServer::start(|_| Behaviour::json("] neither JSON nor YAML: ["));
    let address = documents.address();
    let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &allowed).await;
    let path = format!("/api/v1/services/{}/discover", id(&service));
    let body = json!({ "url": format!("http://{address}/openapi.yaml") }).to_string();
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER).await;
    assert_eq!(world.post(&path, body.clone()).await.refused(), (429, "too_many_at_once".to_owned()));
    assert!(documents.requests().is_empty());
    drop(end);
    join_all(held).await;
    assert_eq!(world.post(&path, body).await.refused(), (502, "answer_not_understood".to_owned()));
    assert_eq!(documents.requests().len(), 1);
}

#[tokio::test]
async fn a_user_whose_bodies_are_arriving_leaves_the_server_to_others() {
    let world = ServerFixture::new().await;
    let bert = world.joined_by("bert", Role::User, Scope::Write).await;
    let slow = || {
        let there = stream::iter([Ok::<_, std::io::Error>(" ".repeat(PARSED_AT_ONCE_BYTES_MAX + 1))]);
        let body = Body::from_stream(there.chain(stream::pending()));
        let request = world.request("POST", VALIDATE).header("content-type", "application/json");
        Box::pin(world.send(request.body(body).unwrap()))
    };
    let mut arriving = Vec::new();
    for _ in 0..BODIES_ARRIVING_PER_USER {
        let mut request = slow();
        assert!(poll!(request.as_mut()).is_pending());
        arriving.push(request);
    }
    let (refused, _, _arriving) = select_all(arriving.into_iter().chain([slow()])).await;
    assert_eq!((refused.refused(), refused.header("retry-after")), ((429, "too_many_at_once".to_owned()), "1"));
    assert_eq!(validate(&bert, &largest()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn somebody_who_computes_much_keeps_nobody_else_waiting() {
    let world = ServerFixture::new().await;
    let bert = world.joined_by("bert", Role::User, Scope::Read).await;
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER).await;
    assert_eq!(validate(&bert, &largest()).await.status, StatusCode::OK);
    let refused = validate(&world, &counting()).await;
    assert_eq!((refused.refused(), refused.header("retry-after")), ((429, "too_many_at_once".to_owned()), "1"));
    drop(end);
    join_all(held).await;
    assert_eq!(validate(&world, &counting()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_server_that_computes_as_much_as_it_may_says_when_to_come_back() {
    let world = ServerFixture::new().await;
    let mut held = Vec::new();
    for number in 0..COMPUTATIONS_MAX / COMPUTATIONS_PER_USER {
        let user = UserId::from_bytes([u8::try_from(number).unwrap(); 16]);
        held.push(hold(&world, user, COMPUTATIONS_PER_USER).await);
    }
    let refused = validate(&world, &counting()).await;
    assert_eq!((refused.refused(), refused.header("retry-after")), ((503, "busy".to_owned()), "1"));
    assert_eq!(world.get(LIVE).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_large_document_is_understood_aside() {
    let world = ServerFixture::new().await;
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER - 1).await;
    let large = json!({ "_type": "Note", "data": { "description": "x".repeat(100 << 10) } }).to_string();
    let mut stated = Box::pin(world.post("/api/v1/items", large));
    assert!(poll!(stated.as_mut()).is_pending());
    assert_eq!(world.get(LIVE).await.status, StatusCode::OK);
    drop(end);
    join_all(held).await;
    assert_eq!(stated.await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_definition_that_is_too_large_has_one_breach() {
    let world = ServerFixture::new().await;
    let body = json!({ "name": "n", "steps": vec![json!({}); 8_400], "outputTemplate": "" });
    let found = validate(&world, &body).await.json();
    let breaches = found["breaches"].as_array().unwrap();
    assert_eq!(
        (breaches.len(), &breaches[0]["rule"], &breaches[0]["field"]),
        (1, &json!("BR-PROCESS-001"), &json!("steps"))
    );
}

#[tokio::test]
async fn bodies_are_as_large_as_a_document_and_batches_of_items_alone_larger() {
    let world = ServerFixture::new().await;
    let large = "x".repeat((1 << 20) + 1);
    for path in [VALIDATE, "/api/v1/search", "/api/v1/processes"] {
        assert_eq!(world.post(path, large.clone()).await.refused(), (413, "too_large".to_owned()), "{path}");
    }
    let item = json!({ "_type": "Note", "data": { "description": "x".repeat(600 << 10) } });
    let batch = json!({ "items": [item, item] }).to_string();
    assert_eq!(world.post("/api/v1/items", batch).await.status, StatusCode::CREATED);
}

/// Of a node that many nodes cite, each citation counts: what is laid out at once stays below 64 MiB.
#[tokio::test]
async fn a_source_counts_each_time_it_is_cited() {
    let world = ServerFixture::new().await;
    let talk = ConversationFixture::new(&world).await;
    let cited = talk.say(None, &"x".repeat(1_000_000)).await;
    let mut said = cited.clone();
    for number in 0..70 {
        let source = json!({ "nodeId": id(&cited["node"]), "role": "context" });
        let body = json!({ "parentAlternativeId": said["node"]["id"], "parentTurnId": said["turn"]["id"],
            "text": format!("turn {number}"), "sources": [source] });
        said = talk.made("/turns", &body).await;
    }
    let context = world.get(&format!("/api/v1/nodes/{}/context", id(&said["node"]))).await.json();
    let parts = context["parts"].as_array().unwrap();
    let is_citation = |part: &&Value| part["kind"] == "context" && part["nodeId"] == cited["node"]["id"];
    let citations = parts.iter().filter(is_citation).count();
    assert!((60..68).contains(&citations), "{citations} of 70: {}", context["lookedFromNodeId"]);
    assert!(context["lookedFromNodeId"].is_string());
}
