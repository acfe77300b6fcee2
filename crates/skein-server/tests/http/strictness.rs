//! Refusals of every operation: malformed bodies, parameters, keys and cursors.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Builder;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_server::http::limits::{BLOB_BYTES_MAX, BODY_BYTES_MAX};

use crate::document::{Operation, operations, served};
use crate::fixtures::{Estate, Person};
use crate::server_fixture::{Answer, HOST, ServerFixture, fresh_key};

/// Everything that is served, and somebody who owns one of each.
async fn walk(kind: impl Fn(&Operation) -> bool) -> (ServerFixture, Estate, Vec<Operation>) {
    let world = ServerFixture::new().await;
    let estate = Estate::new(&world).await;
    let all = operations(&served(&world).await).into_iter().filter(kind).collect();
    (world, estate, all)
}

/// The owner's request, without an idempotency key and a body.
fn begun(estate: &Estate, operation: &Operation) -> Builder {
    let request = axum::http::Request::builder().method(operation.method.as_str()).uri(estate.target(operation));
    request.header("host", HOST).header("authorization", &estate.owner.bearer)
}

fn refused(answer: &Answer, status: u16, codes: &[&str], operation: &Operation) {
    assert_eq!(answer.status.as_u16(), status, "{}: {}", operation.id, answer.text);
    assert!(codes.contains(&answer.code().as_str()), "{}: {}", operation.id, answer.text);
}

#[tokio::test]
async fn br_idemp_001_every_change_carries_a_key_holds() {
    let (world, estate, changes) = walk(Operation::is_keyed).await;
    let document = served(&world).await;
    for operation in changes {
        let mut parameters = operation.parameters(&document);
        let declared = parameters.find(|parameter| parameter["name"] == "Idempotency-Key");
        assert_eq!(declared.map(|declared| &declared["required"]), Some(&json!(true)), "{}", operation.id);
        for key in [fresh_key(), format!("01K9ZQ4T3V6M8N2P5R7W{}", &fresh_key().replace('-', "")[26..])] {
            let (label, bytes) = estate.body(&operation);
            let request = begun(&estate, &operation).header("idempotency-key", key).header("content-type", label);
            let answer = world.send(request.body(bytes.into()).unwrap()).await;
            assert!(!answer.text.contains("BR-IDEMP-001"), "{}: {}", operation.id, answer.text);
        }
    }
}

#[tokio::test]
async fn br_idemp_001_a_change_without_or_with_a_bad_key_refuses() {
    let (world, estate, changes) = walk(Operation::is_keyed).await;
    let before = world.count().await;
    let twice = [fresh_key(), fresh_key()];
    let bad: [&[String]; 5] = [&[], &[String::new()], &["1".to_owned()], &["x".repeat(4_000)], &twice];
    for operation in changes {
        for keys in bad {
            let (label, bytes) = estate.body(&operation);
            let request = begun(&estate, &operation).header("content-type", label);
            let request = keys.iter().fold(request, |request, key| request.header("idempotency-key", key));
            let answer = world.send(request.body(bytes.into()).unwrap()).await;
            let code = if keys.is_empty() { "idempotency_key_required" } else { "idempotency_key_invalid" };
            refused(&answer, 400, &[code], &operation);
            assert_eq!(answer.json()["error"]["rule"], "BR-IDEMP-001");
        }
    }
    assert_eq!(world.count().await, before);
}

async fn change(
    world: &ServerFixture,
    estate: &Estate,
    operation: &Operation,
    label: &str,
    body: impl Into<Body>,
) -> Answer {
    let request = begun(estate, operation).header("idempotency-key", fresh_key()).header("content-type", label);
    world.send(request.body(body.into()).unwrap()).await
}

/// Takes a JSON body, be it an empty one.
fn takes_json(operation: &Operation) -> bool {
    operation.is_keyed() && (operation.body.is_none() || operation.takes_json())
}

#[tokio::test]
async fn unknown_fields_in_any_body() {
    let (world, estate, changes) = walk(takes_json).await;
    for operation in changes {
        let mut body = estate.json_body(&operation);
        body["unheardOf"] = json!(1);
        let answer = change(&world, &estate, &operation, "application/json", body.to_string()).await;
        refused(&answer, 400, &["invalid_body"], &operation);
        assert!(answer.text.contains("unheardOf"), "{}", answer.text);
    }
}

#[tokio::test]
async fn bodies_that_are_no_object_too_deep_too_large_or_labelled_as_something_else() {
    let (world, estate, changes) = walk(takes_json).await;
    let deep = format!("{{\"metadata\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let large = " ".repeat(BODY_BYTES_MAX + 1);
    for operation in changes {
        for body in ["[]", "null", "\"x\"", "{", "{\"a\":1,\"a\":2}", "\u{0}", &deep] {
            let answer = change(&world, &estate, &operation, "application/json", body.to_owned()).await;
            refused(&answer, 400, &["invalid_body", "invalid_document"], &operation);
        }
        for label in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
            let answer = change(&world, &estate, &operation, label, "{}").await;
            refused(&answer, 415, &["unsupported_media_type"], &operation);
        }
        let answer = change(&world, &estate, &operation, "application/json", large.clone()).await;
        refused(&answer, 413, &["too_large"], &operation);
    }
}

#[tokio::test]
async fn uploads_that_are_announced_too_large_or_labelled_as_something_else() {
    let (world, estate, changes) = walk(|operation| operation.is_keyed() && !takes_json(operation)).await;
    for operation in changes {
        let request = begun(&estate, &operation).header("idempotency-key", fresh_key());
        match operation.id.as_str() {
            "upload_blob" => {
                let answer =
                    world.send(request.header("content-length", BLOB_BYTES_MAX + 1).body(Body::empty()).unwrap());
                refused(&answer.await, 413, &["too_large"], &operation);
            }
            "import_bundle" => {
                let answer = world.send(request.header("content-type", "text/plain").body("x".into()).unwrap()).await;
                refused(&answer, 415, &["unsupported_media_type"], &operation);
                let answer = change(&world, &estate, &operation, "application/zip", "no zip").await;
                refused(&answer, 400, &["invalid_bundle"], &operation);
            }
            other => panic!("{other} takes a body of a new kind: say here what it refuses"),
        }
    }
}

/// The refusal of the owner's request with one more query parameter. A stream that begins instead has no end to wait for.
async fn asked_with(world: &ServerFixture, estate: &Estate, operation: &Operation, name: &str, value: &str) -> Answer {
    let target = estate.target(operation);
    let mark = if target.contains('?') { '&' } else { '?' };
    let target = format!("{target}{mark}{name}={value}");
    let (label, bytes) = estate.body(operation);
    let request = || {
        let request = estate.owner.request(&operation.method, &target).header("content-type", &label);
        request.body(Body::from(bytes.clone())).unwrap()
    };
    assert_eq!(world.status_of(request()).await, StatusCode::BAD_REQUEST, "{} {target}", operation.id);
    world.send(request()).await
}

#[tokio::test]
async fn unknown_parameters_of_any_request() {
    let (world, estate, all) = walk(|_| true).await;
    for operation in all {
        let answer = asked_with(&world, &estate, &operation, "unheardOf", "1").await;
        refused(&answer, 400, &["invalid_query"], &operation);
        assert!(answer.text.contains("unheardOf"), "{}: {}", operation.id, answer.text);
    }
}

/// Values that a query parameter does not take, by what the document says of it.
fn unfit_values(schema: &Value) -> Vec<String> {
    let types =
        |name: &str| schema["type"] == name || schema["type"].as_array().is_some_and(|all| all.contains(&json!(name)));
    let beyond = |bound: &str, by: i64| schema[bound].as_i64().map(|bound| (bound + by).to_string());
    let mut unfit: Vec<String> = beyond("minimum", -1).into_iter().chain(beyond("maximum", 1)).collect();
    if types("integer") {
        unfit.extend(["x", "1.5", "-1", "99999999999999999999"].map(str::to_owned));
    }
    if types("boolean") {
        unfit.extend(["maybe", "1"].map(str::to_owned));
    }
    unfit
}

#[tokio::test]
async fn numbers_and_flags_outside_their_limits_are_refused_and_never_bent() {
    let (world, estate, all) = walk(|_| true).await;
    let document = served(&world).await;
    let mut tried = 0;
    for operation in all {
        let own: Vec<Value> = operation.parameters(&document).filter(|one| one["in"] == "query").cloned().collect();
        for parameter in own {
            let name = parameter["name"].as_str().unwrap();
            for unfit in unfit_values(&parameter["schema"]) {
                let answer = asked_with(&world, &estate, &operation, name, &unfit).await;
                assert_eq!(answer.refused(), (400, "invalid_query".to_owned()), "{} {name}={unfit}", operation.id);
                assert!(answer.text.contains(name), "{} {name}={unfit}: {}", operation.id, answer.text);
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

#[tokio::test]
async fn more_similar_nodes_than_a_hundred_are_refused() {
    let (world, estate, _) = walk(|_| false).await;
    let target = format!("/api/v1/nodes/{}/similar", estate.talk.node);
    for (limit, expected) in [("?limit=100", 100), ("?limit=1", 1), ("", 10)] {
        let listed = estate.owner.get(&world, &format!("{target}{limit}")).await.json();
        assert_eq!(listed["pagination"]["limit"], json!(expected), "{listed}");
    }
    let refused = estate.owner.get(&world, &format!("{target}?limit=101")).await;
    assert_eq!(refused.refused(), (400, "invalid_query".to_owned()));
    assert!(refused.text.contains("limit is between 1 and 100"), "{}", refused.text);
}

/// Where each listing of the owner's goes on, as its cursor.
async fn cursors(world: &ServerFixture, estate: &Estate, listings: &[Operation]) -> Vec<String> {
    let mut found = estate.secrets();
    for listing in listings {
        let target = estate.target(listing);
        let mark = if target.contains('?') { '&' } else { '?' };
        let page = estate.owner.get(world, &format!("{target}{mark}limit=1")).await;
        let page: Value = serde_json::from_str(&page.text).unwrap();
        found.extend(
            [&page["pagination"]["next"], &page["next"]].iter().filter_map(|next| next.as_str().map(str::to_owned)),
        );
    }
    found
}

#[tokio::test]
async fn forged_cursors_are_refused_or_lead_to_ones_own() {
    let is_listing = |operation: &Operation| {
        let names = operation.described["parameters"].as_array().into_iter().flatten();
        !["watch_events", "stream_execution"].contains(&operation.id.as_str())
            && names.into_iter().any(|one| one["name"] == "cursor" || one["name"] == "after")
    };
    let (world, estate, listings) = walk(is_listing).await;
    assert!(listings.len() > 7);
    let stranger = Person::new(&world, "Bert", Role::User, Scope::Write).await;
    let mut forged = cursors(&world, &estate, &listings).await;
    assert!(forged.len() > 15, "{forged:?}");
    let garbage =
        ["", "x", "0", "-1", "0.0", "ra0.0", "9223372036854775807.9223372036854775807", "%00", "%27%20OR%201=1--"];
    forged.extend(garbage.map(str::to_owned));
    for operation in listings {
        let named =
            operation.described["parameters"].as_array().unwrap().iter().find_map(|one| {
                one["name"].as_str().filter(|name| ["cursor", "after"].contains(name)).map(str::to_owned)
            });
        let (named, target) = (named.unwrap(), estate.target(&operation));
        let mark = if target.contains('?') { '&' } else { '?' };
        for cursor in &forged {
            let target = format!("{target}{mark}{named}={cursor}");
            let answer = stranger.get(&world, &target).await;
            let is_expected = [200, 400, 403, 404].contains(&answer.status.as_u16());
            assert!(is_expected, "{target}: {}", answer.text);
            let news =
                estate.secrets().into_iter().find(|secret| answer.text.contains(secret) && !target.contains(secret));
            assert_eq!(news, None, "{target}: {}", answer.text);
        }
    }
}
