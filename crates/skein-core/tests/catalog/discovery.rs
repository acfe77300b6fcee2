//! Tools from OpenAPI documents: names, inputs, bodies, answers, and what is left out.

use serde_json::{Value, json};
use skein_core::catalog::discovery::{DiscoveredTools, DiscoveryRefusal, DiscoveryTarget, discover};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::schema::Schema;
use skein_core::catalog::secret::{SecretPlace, SecretType};
use skein_core::catalog::tool::{Tool, ToolDraft};

use crate::samples::{ANNA, SERVICE, inputs, object, secret, service, with};

fn document() -> Value {
    json!({
        "openapi": "3.0.3",
        "servers": [{ "url": "https://{region}.shop.example/v1/", "variables": { "region": { "default": "eu" } } }],
        "paths": {
            "/orders/{order-id}": {
                "parameters": [{ "$ref": "#/components/parameters/OrderId" }],
                "get": {
                    "operationId": "readOrder",
                    "summary": "Read an order",
                    "description": "With all its lines.",
                    "parameters": [
                        { "in": "query", "name": "fields", "schema": { "type": "array", "items": { "type": "string" } } },
                        { "in": "header", "name": "X-Trace", "description": "For support.", "schema": { "type": "string" } },
                        { "in": "header", "name": "Authorization", "required": true, "schema": {} },
                        { "in": "cookie", "name": "theme", "schema": {} }
                    ],
                    "responses": { "200": { "$ref": "#/components/responses/Order" }, "404": {} }
                },
                "put": {
                    "operationId": "readOrder",
                    "requestBody": { "required": true, "content": {
                        "application/merge-patch+json": { "schema": { "$ref": "#/components/schemas/Order" } } } },
                    "responses": { "204": { "description": "done" } }
                }
            },
            "/report": { "get": { "responses": { "default": { "content": { "text/csv": {} } } } } },
            "/upload": { "post": { "requestBody": { "required": true, "content": { "multipart/form-data": {} } } } }
        },
        "components": {
            "parameters": { "OrderId": {
                "in": "path", "name": "order-id", "required": true, "schema": { "type": "integer", "minimum": 0, "exclusiveMinimum": true } } },
            "responses": { "Order": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Order" } } } } },
            "schemas": {
                "Order": { "type": "object", "required": ["id"], "properties": {
                    "id": { "type": "integer" },
                    "note": { "type": "string", "nullable": true, "pattern": "(?!x)" },
                    "$ref": { "type": "string" },
                    "parent": { "$ref": "#/components/schemas/Order" },
                    "lines": { "type": "array", "items": { "$ref": "#/components/schemas/Line%3CItem%3E" } } } },
                "Line<Item>": { "type": "object", "properties": { "amount": { "type": "number" } } }
            },
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Api-Key" } }
        }
    })
}

fn discovered(document: &Value) -> DiscoveredTools {
    let key = secret(SecretType::ApiKey);
    let connection_params = object(json!({ "endpoint": "https://own.example" }));
    discover(document, &DiscoveryTarget { service_id: SERVICE, connection_params, secret: Some(&key) }).unwrap()
}

fn tool_of(document: &Value, name: &str) -> ToolDraft {
    discovered(document).tools.into_iter().find(|tool| tool.name.as_str() == name).unwrap()
}

fn target(draft: &ToolDraft, given: Value) -> String {
    let Operation::RestCall(call) = Operation::parse(draft.operation.as_ref().unwrap()).unwrap() else {
        panic!("not a rest call")
    };
    call.render(&inputs(given)).unwrap().target()
}

fn single(path: &str, method: &str, operation: Value) -> Value {
    with(document(), json!({ "paths": { path: { method: operation } } }))
}

#[test]
fn every_operation_becomes_a_tool_with_a_name_of_its_own() {
    let DiscoveredTools { tools, skipped } = discovered(&document());
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["readOrder", "readOrder (2)", "GET /report"]);
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].operation, "POST /upload");
    assert_eq!(tools[0].description.as_ref().unwrap().as_str(), "Read an order\n\nWith all its lines.");
}

#[test]
fn the_tools_can_be_made() {
    let (service, key) = (service(json!({})), secret(SecretType::ApiKey));
    for draft in discovered(&document()).tools {
        let tool = Tool::create(draft, ANNA, &service, Some(&key)).unwrap();
        assert_eq!(tool.connection_params["endpoint"], "https://own.example");
        let secret_use = tool.secret_use.unwrap();
        assert_eq!((secret_use.place, secret_use.name.as_str()), (SecretPlace::Header, "X-Api-Key"));
    }
}

#[test]
fn the_first_server_is_the_endpoint_only_where_no_secret_would_go_to_it() {
    let connection_params = object(json!({}));
    let open = DiscoveryTarget { service_id: SERVICE, connection_params, secret: None };
    let tool = discover(&document(), &open).unwrap().tools.remove(0);
    assert_eq!(tool.connection_params["endpoint"], "https://eu.shop.example/v1");
    for secret_type in SecretType::ALL {
        let secret = secret(secret_type);
        let refused = discover(&document(), &DiscoveryTarget { secret: Some(&secret), ..open.clone() }).unwrap_err();
        assert_eq!(refused, DiscoveryRefusal::NoEndpointForSecret);
        assert!(refused.to_string().contains("connectionParams.endpoint"));
    }
}

#[test]
fn an_endpoint_that_is_given_is_kept_and_another_type_of_secret_has_no_place_to_go() {
    let password = secret(SecretType::Password);
    let connection_params = object(json!({ "endpoint": "https://own.example" }));
    let ground = DiscoveryTarget { service_id: SERVICE, connection_params, secret: Some(&password) };
    let tool = discover(&document(), &ground).unwrap().tools.remove(0);
    assert_eq!(tool.connection_params["endpoint"], "https://own.example");
    assert_eq!((tool.secret_id, tool.secret_use), (Some(password.id), None));
}

#[test]
fn parameters_become_inputs() {
    let draft = tool_of(&document(), "readOrder");
    let schema = draft.input_schema.clone().unwrap();
    assert_eq!(schema["required"], json!(["order_id"]));
    assert_eq!(schema["properties"]["order_id"], json!({ "type": "integer", "exclusiveMinimum": 0 }));
    assert_eq!(schema["properties"]["X_Trace"]["description"], "For support.");
    assert_eq!(schema["properties"].as_object().unwrap().len(), 3);
    assert_eq!(target(&draft, json!({ "order_id": 7, "fields": ["a", "b"] })), "/orders/7?fields=a&fields=b");
    assert_eq!(target(&draft, json!({ "order_id": 7 })), "/orders/7");
}

#[test]
fn schemas_are_carried_over_and_stand_alone() {
    let schema = tool_of(&document(), "readOrder").output_schema.unwrap();
    let properties = &schema["properties"];
    assert_eq!(properties["lines"]["items"]["properties"]["amount"]["type"], "number");
    assert_eq!(properties["note"], json!({ "type": ["string", "null"] }));
    assert_eq!(properties["parent"], json!({}), "what contains itself is cut");
    assert_eq!(properties["$ref"], json!({ "type": "string" }), "a property may be called so");
    let schema = Schema::compile(&schema).unwrap();
    assert!(schema.check(&json!({ "id": 1, "note": null })).is_ok() && schema.check(&json!({})).is_err());
}

#[test]
fn bodies_and_answers_say_their_media() {
    let put = tool_of(&document(), "readOrder (2)");
    let operation = put.operation.unwrap();
    assert_eq!(
        (&operation["body"], &operation["headers"]["content-type"]),
        (&json!("{{body}}"), &json!("application/merge-patch+json"))
    );
    assert_eq!(put.input_schema.unwrap()["required"], json!(["order_id", "body"]));
    assert_eq!(put.output_schema, Some(json!(true)));
    let report = tool_of(&document(), "GET /report");
    assert_eq!(
        (report.operation.unwrap()["accept"].clone(), report.output_schema),
        (json!("text"), Some(json!({ "type": "string" })))
    );
}

#[test]
fn what_cannot_be_a_tool_is_named_with_the_reason() {
    let reason = |document: Value| discovered(&document).skipped.remove(0).reason;
    let cookie = json!({ "parameters": [{ "in": "cookie", "name": "sid", "required": true }] });
    assert!(reason(single("/a", "get", cookie)).contains("sid"));
    let lost = json!({ "parameters": [{ "in": "path", "name": "id" }] });
    assert!(reason(single("/a", "get", lost)).contains("no place for id"));
    assert!(reason(single("/a#b", "get", json!({}))).contains("path"));
    assert!(reason(single("/a/{id}", "get", json!({}))).contains("path"));
}

#[test]
fn other_documents_are_refused() {
    let refused = |document: Value| {
        let ground = DiscoveryTarget { service_id: SERVICE, connection_params: object(json!({})), secret: None };
        discover(&document, &ground).unwrap_err()
    };
    assert_eq!(refused(json!({ "swagger": "2.0", "paths": {} })), DiscoveryRefusal::NotOpenApi3);
    assert_eq!(refused(json!([])), DiscoveryRefusal::NotOpenApi3);
    assert_eq!(
        refused(json!({ "openapi": "3.1.0", "paths": { "/a": { "trace": {} } } })),
        DiscoveryRefusal::NoOperations
    );
    let paths: Value = (0..1_001).map(|n| (format!("/{n}"), json!({ "get": {} }))).collect();
    assert_eq!(refused(json!({ "openapi": "3.1.0", "paths": paths })), DiscoveryRefusal::TooMany(1_001));
}

#[test]
fn schemas_that_multiply_are_cut() {
    let level = |n: usize| {
        let next = json!({ "$ref": format!("#/components/schemas/L{}", n + 1) });
        (format!("L{n}"), json!({ "properties": { "a": next, "b": next, "c": next, "d": next } }))
    };
    let schemas: Value = (0..20).map(level).collect();
    let answer = json!({ "content": { "application/json": { "schema": { "$ref": "#/components/schemas/L0" } } } });
    let operation = json!({ "operationId": "x", "responses": { "200": answer } });
    let document = with(single("/a", "get", operation), json!({ "components": { "schemas": schemas } }));
    let tool = tool_of(&document, "x");
    assert!(tool.output_schema.unwrap().to_string().len() < 256 << 10);
    let circle = json!({ "$ref": "#/paths/~1a/get" });
    assert_eq!(discovered(&single("/a", "get", circle)).tools.len(), 1);
}
