//! Schemas of users: what takes long to judge is a computation, never part of a transaction, so nobody else waits for it.

use axum::http::StatusCode;
use futures::future::join_all;
use futures::poll;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::{COMPUTATIONS_PER_USER, Worker};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::computing::{hold, until_computing};
use crate::conversation_fixture::id;
use crate::recipes::{now, weather};
use crate::server_fixture::{ServerFixture, both};

/// A pattern of 2,000 states: a schema with it is compiled on the spot.
const DIGITS: &str = "^([0-9]{999})*[0-9]*$";

/// A text for which that pattern may take 40 million steps.
fn digits() -> String {
    "0".repeat(20 << 10)
}

fn text_of_digits() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string", "pattern": DIGITS } } })
}

/// A schema that is not compiled on the spot: it has 400 parts.
fn large() -> Value {
    let part = |number: usize| (format!("p{number}"), json!({ "type": "string" }));
    json!({ "type": "object", "properties": (0..400).map(part).collect::<Value>() })
}

/// A process whose context, and whose only question, are texts of digits.
fn asking() -> Value {
    let ask = json!({ "prompt": "How many at {city}?", "schema": { "type": "string", "pattern": DIGITS } });
    let step = json!({ "id": "ask", "ask": ask, "output": { "variable": "count" } });
    json!({ "name": "Count", "initialContext": text_of_digits(), "steps": [step], "outputTemplate": "{{count}}" })
}

/// A user who has taken all their places is refused by each act that judges for long: so none does it in its transaction.
#[tokio::test]
async fn every_act_that_judges_for_long_takes_a_place() {
    let world = ServerFixture::new().await;
    let service = world.made("/api/v1/services", &weather()).await;
    let tool = world.made("/api/v1/tools", &now(&service)).await;
    let with = |part: &str, schema: Value, mut of: Value| {
        of[part] = schema;
        of
    };
    let judging = world.made("/api/v1/tools", &with("inputSchema", text_of_digits(), now(&service))).await;
    let process = world.made("/api/v1/processes", &asking()).await;
    let execute = format!("/api/v1/processes/{}/execute", id(&process));
    let run = world.post(&execute, json!({ "initialContext": { "city": "1" } }).to_string()).await.json();
    let run = world.get(&format!("/api/v1/executions/{}", run["executionId"].as_str().unwrap())).await.json();
    let review = run["reviewIds"][0].as_str().unwrap();
    let blueprint = json!({ "name": "Weather", "operation": tool["operation"], "inputSchema": tool["inputSchema"],
        "outputSchema": large() });
    let connecting = |mut service: Value| {
        service["connectionSchema"]["properties"]["more"] = large();
        service
    };
    let schema = connecting(weather())["connectionSchema"].clone();
    let (_end, _held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER).await;
    let refused = (429, "too_many_at_once".to_owned());
    for (method, path, body) in [
        ("POST", "/api/v1/tools".to_owned(), with("outputSchema", large(), now(&service))),
        (
            "PUT",
            format!("/api/v1/tools/{}", id(&tool)),
            json!({ "outputSchema": large(), "basedOnHash": tool["hash"] }),
        ),
        ("POST", "/api/v1/tool-templates".to_owned(), blueprint),
        ("POST", "/api/v1/services".to_owned(), connecting(weather())),
        (
            "PUT",
            format!("/api/v1/services/{}", id(&service)),
            json!({ "connectionSchema": schema, "basedOnHash": service["hash"] }),
        ),
        ("POST", "/api/v1/service-templates".to_owned(), connecting(weather())),
        ("POST", format!("/api/v1/tools/{}/test", id(&judging)), json!({ "inputs": { "city": digits() } })),
        ("POST", execute.clone(), json!({ "initialContext": { "city": digits() } })),
        ("POST", format!("/api/v1/reviews/{review}/decide"), json!({ "decision": "answer", "value": digits() })),
    ] {
        assert_eq!(world.change(method, &path, body.to_string()).await.refused(), refused, "{method} {path}");
    }
    let brief = json!({ "initialContext": { "city": "1" } }).to_string();
    assert_eq!(world.post(&execute, brief).await.status, StatusCode::ACCEPTED, "it is judged on the spot");
}

both! {
    async fn others_write_while_a_value_is_judged(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let process = world.made("/api/v1/processes", &asking()).await;
        let execute = format!("/api/v1/processes/{}/execute", id(&process));
        let (end, held) = hold(world, world.admin.owner(), COMPUTATIONS_PER_USER - 1).await;
        let mut begun = Box::pin(world.post(&execute, json!({ "initialContext": { "city": digits() } }).to_string()));
        until_computing(world, &mut begun).await;
        bert.note("written meanwhile").await;
        assert!(poll!(begun.as_mut()).is_pending());
        drop(end);
        join_all(held).await;
        assert_eq!(begun.await.status, StatusCode::ACCEPTED);
    }

    async fn a_verdict_by_a_schema_that_changed_meanwhile_does_not_count(world: &ServerFixture) {
        let service = world.made("/api/v1/services", &weather()).await;
        let mut tool = now(&service);
        tool["inputSchema"] = text_of_digits();
        let tool = world.made("/api/v1/tools", &tool).await;
        let (end, held) = hold(world, world.admin.owner(), COMPUTATIONS_PER_USER - 1).await;
        let inputs = json!({ "inputs": { "city": digits() } }).to_string();
        let path = format!("/api/v1/tools/{}/test", id(&tool));
        let mut tested = Box::pin(world.post(&path, inputs));
        until_computing(world, &mut tested).await;
        let brief = json!({ "type": "object", "properties": { "city": { "maxLength": 3 } } });
        let change = json!({ "inputSchema": brief, "basedOnHash": tool["hash"] });
        world.changed("PUT", &format!("/api/v1/tools/{}", id(&tool)), &change).await;
        drop(end);
        join_all(held).await;
        let refused = tested.await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
        assert_eq!(refused.json()["error"]["rule"], "BR-TOOL-002");
    }
}

/// The answer of a tool waits for a place; other calls do not wait for it.
#[tokio::test]
async fn an_answer_that_takes_long_to_judge_is_judged_by_a_computation() {
    let world = ServerFixture::new().await;
    let peer = HostileServer::start(|_| Behaviour::json(&json!({ "city": "0".repeat(20 << 10) }).to_string()));
    let _worker = Worker::start(world.engine.clone(), "test".to_owned());
    let address = peer.address();
    let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &allowed).await;
    let mut service = weather();
    service["protocol"] = json!("http");
    let mut plain = now(&world.made("/api/v1/services", &service).await);
    plain["connectionParams"] = json!({ "endpoint": peer.endpoint() });
    let mut judged = plain.clone();
    judged["outputSchema"] = text_of_digits();
    let (plain, judged) = (world.made("/api/v1/tools", &plain).await, world.made("/api/v1/tools", &judged).await);
    let (end, held) = hold(&world, world.admin.owner(), COMPUTATIONS_PER_USER).await;
    let test = async |tool: &Value| {
        let answer = world.post(&format!("/api/v1/tools/{}/test", id(tool)), r#"{"inputs":{"city":"Bern"}}"#).await;
        answer.json()["statusUrl"].as_str().unwrap().to_owned()
    };
    let judging = test(&judged).await;
    while peer.requests().is_empty() {
        skein_testkit::wait::moment().await;
    }
    assert_eq!(ended(&world, &test(&plain).await).await["status"], "completed");
    assert_eq!(world.get(&judging).await.json()["status"], "processing", "it waits for a place");
    drop(end);
    join_all(held).await;
    assert_eq!(ended(&world, &judging).await["status"], "completed");
}

async fn ended(world: &ServerFixture, path: &str) -> Value {
    loop {
        let operation = world.get(path).await.json();
        if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
            return operation;
        }
        skein_testkit::wait::moment().await;
    }
}
