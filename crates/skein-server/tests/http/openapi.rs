//! The API document: current, whole, and true about every route; and the viewer, which loads nothing from elsewhere.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::Value;
use skein_core::garden::event::EventName;

use crate::document::{followed, operations, served};
use crate::server_fixture::ServerFixture;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/skein.json");
const ROUTER: &str = include_str!("../../src/router.rs");

fn made() -> Value {
    serde_json::from_str(&skein_server::http::openapi::text()).unwrap()
}

#[test]
fn the_committed_document_is_current() {
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    assert!(committed == skein_server::http::openapi::text(), "openapi/skein.json is not current: run `make openapi`");
}

#[tokio::test]
async fn the_document_is_served_as_it_is_committed_and_needs_no_key() {
    let world = ServerFixture::new().await;
    let request = axum::http::Request::get("/api/v1/openapi.json").header("host", crate::server_fixture::HOST);
    let answer = world.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "application/json"));
    assert_eq!(answer.text, skein_server::http::openapi::text());
}

#[test]
fn the_document_has_the_shape_of_openapi_3_1() {
    let document = made();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(["title", "version", "description"].iter().all(|name| document["info"][name].is_string()));
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    for requirement in document["security"].as_array().unwrap() {
        assert!(requirement.as_object().unwrap().keys().all(|name| schemes.contains_key(name)));
    }
    let tags: Vec<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(tags.iter().collect::<BTreeSet<_>>().len(), tags.len(), "a tag is listed twice: {tags:?}");
    for operation in operations(&document) {
        for tag in operation.described["tags"].as_array().unwrap() {
            assert!(tags.contains(&tag.as_str().unwrap()), "{} has the unlisted tag {tag}", operation.id);
        }
        let placed: Vec<&str> = operation.parameters(&document).map(|one| one["in"].as_str().unwrap()).collect();
        assert!(placed.iter().all(|place| ["path", "query", "header"].contains(place)), "{}", operation.id);
    }
}

#[test]
fn what_happens_in_some_places_only_is_said_there() {
    let document = made();
    let answers =
        |path: &str, method: &str, status: &str| document["paths"][path][method]["responses"].get(status).is_some();
    assert!(answers("/api/v1/blobs/{hash}", "get", "416") && !answers("/api/v1/items/{id}", "get", "416"));
    assert!(answers("/api/v1/items", "post", "507") && !answers("/api/v1/items", "get", "507"));
    assert!(operations(&document).iter().all(|operation| answers(
        &operation.path,
        &operation.method.to_lowercase(),
        "421"
    )));
    let grant = "#/components/parameters/Grant";
    let is_under_grant = |path: &str, method: &str| {
        let parameters = document["paths"][path][method]["parameters"].as_array().unwrap();
        parameters.iter().any(|parameter| parameter["$ref"] == grant)
    };
    assert!(is_under_grant("/api/v1/items/{id}/redact", "post") && !is_under_grant("/api/v1/items/{id}/undo", "post"));
    let body = &document["paths"]["/api/v1/verifications"]["post"]["requestBody"];
    assert_ne!(body["required"], true, "{body}");
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(document: &Value, value: &Value) {
        followed(document, value);
        match value {
            Value::Object(fields) => fields.values().for_each(|value| walk(document, value)),
            Value::Array(values) => values.iter().for_each(|value| walk(document, value)),
            _ => {}
        }
    }
    let document = made();
    walk(&document, &document);
}

/// The handlers the router names, by what stands in `routes!(…)`.
fn routed() -> BTreeSet<String> {
    let lists = ROUTER.split("routes!(").skip(1).map(|rest| rest.split(')').next().unwrap());
    let handlers = lists.flat_map(|list| list.split(',')).map(|handler| handler.rsplit("::").next().unwrap().trim());
    handlers.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_route_is_in_the_document_under_a_name_of_its_own() {
    let listed: Vec<String> = operations(&made()).into_iter().map(|operation| operation.id).collect();
    let named: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(named.len(), listed.len(), "an operationId is there twice");
    assert_eq!(named, routed());
}

#[tokio::test]
async fn every_operation_of_the_document_is_routed() {
    let world = ServerFixture::new().await;
    for operation in operations(&served(&world).await) {
        let request = axum::http::Request::builder().method(operation.method.as_str()).uri(&operation.path);
        let request = request.header("host", crate::server_fixture::HOST);
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{} {}", operation.method, operation.path);
    }
}

#[test]
fn every_operation_says_what_it_is_and_how_it_fails() {
    let document = made();
    for operation in operations(&document) {
        let (id, described) = (&operation.id, &operation.described);
        assert!(described["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{id} has no summary");
        assert_eq!(described["tags"].as_array().map(Vec::len), Some(1), "{id}");
        for status in ["400", "401", "403", "429", "500", "503"] {
            let response = followed(&document, &described["responses"][status]);
            let content = &response["content"]["application/json"];
            assert!(content["example"]["error"]["code"].is_string(), "{id} has no example of a {status}");
            assert_eq!(content["schema"]["$ref"], "#/components/schemas/ErrorEnvelope", "{id} {status}");
        }
    }
}

#[test]
fn every_operation_says_what_it_answers_with() {
    let document = made();
    for operation in operations(&document) {
        let responses = operation.described["responses"].as_object().unwrap();
        let done: Vec<_> = responses.iter().filter(|(status, _)| status.starts_with('2')).collect();
        assert!(!done.is_empty(), "{} never succeeds", operation.id);
        for (status, response) in done {
            let contents = response["content"].as_object().into_iter().flatten();
            let schemas: Vec<&Value> = contents.map(|(_, content)| followed(&document, &content["schema"])).collect();
            let are_there = !schemas.is_empty() && schemas.iter().all(|schema| schema.is_object());
            assert!(are_there, "{} does not say what a {status} holds", operation.id);
            assert!(response["description"].is_string(), "{} {status}", operation.id);
        }
    }
}

#[test]
fn every_body_has_a_schema_that_knows_its_fields_and_an_example_of_it() {
    for operation in operations(&made()) {
        let Some(body) = &operation.body else { continue };
        assert!(body.schema.is_object(), "{} has a body without a schema", operation.id);
        if !operation.takes_json() {
            continue;
        }
        for shape in body.schema["oneOf"].as_array().unwrap_or(&vec![body.schema.clone()]) {
            let shape = followed_in_made(shape);
            assert_eq!(shape["additionalProperties"], false, "{} takes unknown fields", operation.id);
        }
    }
}

fn followed_in_made(schema: &Value) -> Value {
    followed(&made(), schema).clone()
}

#[test]
fn every_parameter_of_a_path_is_described() {
    let document = made();
    for operation in operations(&document) {
        let in_path = operation.path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap());
        let described = |name: &str| {
            let parameters = operation.parameters(&document);
            let mut found =
                parameters.filter(|one| one["in"] == "path" && one["name"] == name && one["required"] == true);
            found.any(|one| !one["example"].is_null())
        };
        assert!(in_path.into_iter().all(described), "{}", operation.path);
    }
}

#[test]
fn every_event_is_listed_with_what_it_holds() {
    let document = made();
    let events = document["x-events"].as_object().unwrap();
    let names = EventName::ALL.iter().map(|name| name.as_str()).chain(["operation.progress", "resync"]);
    let names: BTreeSet<&str> = names.collect();
    assert_eq!(events.keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
    for (name, event) in events {
        assert!(event["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        assert!(followed(&document, &event["data"])["properties"].is_object(), "{name} has no schema");
    }
}

#[tokio::test]
async fn the_viewer_comes_from_this_binary_alone() {
    let world = ServerFixture::new().await;
    let redirect = world.get("/api/docs").await;
    assert!(redirect.status.is_redirection());
    let page = world.get(redirect.header("location")).await;
    assert_eq!((page.status, page.header("content-type")), (StatusCode::OK, "text/html"));
    let policy = page.header("content-security-policy").to_owned();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("http"), "{policy}");
    assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let loaded = |text: &str, mark: &str| -> Vec<String> {
        text.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let files: Vec<String> = [" src=\"", " href=\""].iter().flat_map(|mark| loaded(&page.text, mark)).collect();
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        assert!(!file.contains("//"), "{file} is loaded from elsewhere");
        let path = format!("/api/docs/{}", file.trim_start_matches("./"));
        let request = world.request("GET", &path).body(Body::empty()).unwrap();
        assert_eq!(world.status_of(request).await, StatusCode::OK, "{path}");
    }
    let script = world.get("/api/docs/swagger-initializer.js").await;
    assert!(script.text.contains("/api/v1/openapi.json") && script.text.contains("SwaggerUIBundle"), "{}", script.text);
    assert!(!script.text.contains("http://") && !script.text.contains("https://"), "{}", script.text);
    assert_eq!(world.get("/api/docs/nothing.js").await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.get("/api/docs/..%2f..%2fCargo.toml").await.status, StatusCode::NOT_FOUND);
}
