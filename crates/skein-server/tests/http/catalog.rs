//! The catalogue over HTTP, on both databases: what may be made, seen, shared, called and deleted, and by whom.

use std::time::Duration;

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::recipes::{now, weather};
use crate::server_fixture::{Answer, ServerFixture, both, fresh_key};

const KEY: &str = "k-7f9c24e53b1a0d6f";

fn id(thing: &Value) -> &str {
    thing["id"].as_str().unwrap_or_else(|| panic!("no id in {thing}"))
}

/// A peer that says which path and key it was sent.
fn peer() -> HostileServer {
    HostileServer::start(|request| {
        let key = request.header("x-api-key").unwrap_or_default();
        Behaviour::json(&json!({ "path": request.path, "key": key, "plain": key.is_empty() }).to_string())
    })
}

/// A service at a peer, on which tools with and without a key stand.
async fn service(world: &ServerFixture) -> Value {
    let mut service = weather();
    service["protocol"] = json!("http");
    world.made("/api/v1/services", &service).await
}

async fn secret(world: &ServerFixture, value: &str) -> Value {
    world.made("/api/v1/secrets", &json!({ "name": "key", "type": "api_key", "value": value })).await
}

async fn tool(world: &ServerFixture, peer: &HostileServer, secret: Option<&Value>) -> Value {
    let mut tool = now(&service(world).await);
    tool["connectionParams"] = json!({ "endpoint": peer.endpoint() });
    if let Some(secret) = secret {
        tool["secretId"] = secret["id"].clone();
        tool["secretUse"] = json!({ "in": "header", "name": "X-Api-Key" });
    }
    world.made("/api/v1/tools", &tool).await
}

/// An administrator's decision that the peer may be called.
async fn allow(world: &ServerFixture, peer: &HostileServer) -> Value {
    let address = peer.address();
    let body = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &body).await
}

async fn share(world: &ServerFixture, path: &str, shared: bool) -> Value {
    world.changed("PUT", &format!("/api/v1/{path}/share"), &json!({ "shared": shared })).await
}

/// The operation of a test, once it has ended.
async fn tested(world: &ServerFixture, tool: &Value) -> Value {
    let answer = world.post(&format!("/api/v1/tools/{}/test", id(tool)), r#"{"inputs":{"city":"Bern"}}"#).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let path = answer.json()["statusUrl"].as_str().unwrap().to_owned();
    loop {
        let operation = world.get(&path).await.json();
        if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
            return operation;
        }
        skein_testkit::wait::moment().await;
    }
}

/// Where the operation of a test is found, once the peer has heard of it.
async fn begun(world: &ServerFixture, tool: &Value, peer: &HostileServer) -> String {
    let answer = world.post(&format!("/api/v1/tools/{}/test", id(tool)), r#"{"inputs":{"city":"Bern"}}"#).await;
    while peer.requests().is_empty() {
        skein_testkit::wait::moment().await;
    }
    answer.json()["statusUrl"].as_str().unwrap().to_owned()
}

/// The results of calls, once there are so many.
async fn results(world: &ServerFixture, count: usize) -> Vec<Value> {
    loop {
        let found = world.get("/api/v1/items?type=ToolResult").await.json()["data"].as_array().unwrap().clone();
        if found.len() >= count {
            return found;
        }
        skein_testkit::wait::moment().await;
    }
}

async fn delete(world: &ServerFixture, path: &str) -> Answer {
    world.change("DELETE", &format!("/api/v1/{path}"), "{}").await
}

both! {
    async fn a_tool_is_tested_for_real_and_leaves_its_call_and_result(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        allow(world, &peer).await;
        let tool = tool(world, &peer, Some(&secret(world, KEY).await)).await;
        assert_eq!(tool["status"], "degraded");
        let done = tested(world, &tool).await;
        assert_eq!(done["status"], "completed", "{done}");
        let result = &done["result"];
        assert_eq!(result["output"], json!({ "path": "/now/Bern", "key": "[secret withheld]", "plain": false }));
        assert_eq!((&result["response"]["status"], &result["response"]["scrubbed"]), (&json!(200), &json!(true)));
        assert!(result["latencyMs"].is_i64() && result["request"]["url"].as_str().unwrap().ends_with("/now/Bern"));
        let call = world.get(&format!("/api/v1/items/{}", result["callId"].as_str().unwrap())).await.json();
        assert_eq!((&call["_type"], &call["data"]["inputs"]), (&json!("ToolCall"), &json!({ "city": "Bern" })));
        assert_eq!((&call["data"]["toolId"], &call["data"]["caller"]), (&tool["id"], &json!("person")));
        let written = world.get(&format!("/api/v1/items/{}", result["resultId"].as_str().unwrap())).await.json();
        assert_eq!((&written["data"]["status"], &written["data"]["callId"]), (&json!("success"), &call["id"]));
        assert_eq!(world.get(&format!("/api/v1/tools/{}", id(&tool))).await.json()["status"], "healthy");
        assert_eq!(peer.requests()[0].header("x-api-key"), Some(KEY));
    }

    async fn an_output_larger_than_a_document_is_kept_whole_beside_its_result(world: &ServerFixture) {
        let large = json!({ "text": "x".repeat(3 << 20) }).to_string();
        let (answer, _worker) = (large.clone(), Worker::start(world.engine.clone(), "test".to_owned()));
        let peer = HostileServer::start(move |_| Behaviour::json(&answer));
        allow(world, &peer).await;
        let done = tested(world, &tool(world, &peer, None).await).await;
        assert_eq!(done["status"], "completed", "{done}");
        let item = async |name: &str| {
            let path = format!("/api/v1/items/{}", done["result"][name].as_str().unwrap());
            (world.get(&path).await.json(), path)
        };
        let ((result, _), (output, path)) = (item("resultId").await, item("outputIn").await);
        assert_eq!((&result["data"]["outputId"], &result["data"]["output"]), (&output["id"], &Value::Null));
        assert_eq!((&output["_type"], &output["data"]), (&json!("ToolOutput"), &Value::Null));
        let payload = world.get(&format!("{path}/payload")).await;
        assert_eq!((payload.header("content-type"), payload.text == large), ("application/octet-stream", true));
        assert_eq!(json!(skein_core::Digest::of(payload.text.as_bytes())), output["payloadHash"]);
        let stranger = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(stranger.get(&format!("{path}/payload")).await.refused(), (404, "not_found".to_owned()));
        world.changed("POST", &format!("{path}/redact"), &json!({ "reason": "asked to" })).await;
        assert_eq!(world.get(&format!("{path}/payload")).await.refused(), (404, "not_found".to_owned()));
    }

    async fn an_output_larger_than_any_payload_fails_the_call(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let peer = HostileServer::start(|_| Behaviour::json(&json!({ "text": "x".repeat(17 << 20) }).to_string()));
        allow(world, &peer).await;
        let done = tested(world, &tool(world, &peer, None).await).await;
        assert_eq!((&done["status"], &done["error"]["code"]), (&json!("failed"), &json!("answer_too_large")), "{done}");
    }

    async fn cancelling_a_test_ends_the_call_that_is_under_way(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let peer = HostileServer::start(|_| Behaviour::Silence);
        allow(world, &peer).await;
        let path = begun(world, &tool(world, &peer, None).await, &peer).await;
        world.changed("POST", &format!("{path}/cancel"), &json!({})).await;
        let result = results(world, 1).await.remove(0);
        assert_eq!(result["data"]["status"], "cancelled", "{result}");
        assert_eq!(world.get(&path).await.json()["status"], "cancelled");
    }

    async fn a_worker_that_is_stopped_gives_back_its_call_at_once(world: &ServerFixture) {
        let worker = Worker::start(world.engine.clone(), "first".to_owned());
        let peer = HostileServer::start(|_| Behaviour::Silence);
        allow(world, &peer).await;
        let path = begun(world, &tool(world, &peer, None).await, &peer).await;
        worker.stop(Duration::ZERO).await;
        // The clock stands still: no lease runs out.
        let _next = Worker::start(world.engine.clone(), "second".to_owned());
        while peer.requests().len() < 2 {
            skein_testkit::wait::moment().await;
        }
        assert_eq!(world.get(&path).await.json()["status"], "processing");
    }

    async fn z24_a_loopback_address_is_called_by_a_recorded_decision_holds(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        let tool = tool(world, &peer, None).await;
        let refused = tested(world, &tool).await;
        assert_eq!((&refused["status"], &refused["error"]["code"]), (&json!("failed"), &json!("address_refused")));
        let allowed = allow(world, &peer).await;
        assert_eq!(tested(world, &tool).await["status"], "completed");
        assert_eq!(delete(world, &format!("allowed-endpoints/{}", id(&allowed))).await.status, 200);
        assert_eq!(tested(world, &tool).await["error"]["code"], "address_refused");
        assert_eq!(peer.requests().len(), 1);
    }

    async fn z16_a_shared_tool_runs_with_its_owners_secret_or_with_ones_own_holds(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        allow(world, &peer).await;
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let hers = secret(&anna, KEY).await;
        let tool = tool(&anna, &peer, Some(&hers)).await;
        let path = format!("/api/v1/tools/{}", id(&tool));
        assert_eq!(bert.get(&path).await.refused(), (404, "not_found".to_owned()));
        share(&anna, &format!("tools/{}", id(&tool)), true).await;
        let seen = bert.get(&path).await.json();
        assert_eq!((&seen["ownerId"], &seen["secretId"]), (&tool["ownerId"], &Value::Null));
        let record = bert.get(&format!("/api/v1/records/{}", id(&tool))).await;
        assert_eq!(record.refused(), (404, "not_found".to_owned()));
        let by_delegation = tested(&bert, &tool).await;
        assert_eq!(by_delegation["result"]["payerId"], tool["ownerId"], "{by_delegation}");
        let response = &by_delegation["result"]["response"];
        assert_eq!((&response["body"], &response["bodyWithheld"]), (&Value::Null, &json!(true)), "{response}");
        let foreign = bert.change("PUT", &format!("{path}/secret"), json!({ "secretId": hers["id"] }).to_string()).await;
        assert_eq!(foreign.breaks(), (422, "Z34".to_owned()));
        let his = secret(&bert, "k-of-bert-himself").await;
        bert.changed("PUT", &format!("{path}/secret"), &json!({ "secretId": his["id"] })).await;
        let by_himself = tested(&bert, &tool).await;
        assert_eq!(by_himself["result"]["payerId"], his["ownerId"], "{by_himself}");
        assert!(by_himself["result"]["response"]["body"].is_string(), "{by_himself}");
        let keys: Vec<_> = peer.requests().iter().map(|request| request.header("x-api-key").unwrap().to_owned()).collect();
        assert_eq!(keys, [KEY, "k-of-bert-himself"]);
        for told in [by_delegation.to_string(), by_himself.to_string(), seen.to_string()] {
            assert!(!told.contains(KEY) && !told.contains("k-of-bert"), "{told}");
        }
        // Anna sees who used it, and not what for.
        let told = anna.get("/api/v1/items?type=SystemEvent&limit=100").await.text;
        assert!(told.contains("tool.used") && told.contains(bert.admin.owner().to_string().as_str()), "{told}");
        assert!(!told.contains("Bern"), "{told}");
    }

    async fn z16_ones_own_secret_does_not_follow_a_changed_tool_refuses(world: &ServerFixture) {
        let (peer, elsewhere) = (peer(), HostileServer::start(|_| Behaviour::json("{}")));
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        for called in [&peer, &elsewhere] {
            allow(world, called).await;
        }
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let tool = tool(world, &peer, Some(&secret(world, KEY).await)).await;
        let path = format!("/api/v1/tools/{}", id(&tool));
        let shared = share(world, &format!("tools/{}", id(&tool)), true).await;
        let his = secret(&bert, "k-of-bert-himself").await;
        bert.changed("PUT", &format!("{path}/secret"), &json!({ "secretId": his["id"] })).await;
        let change = json!({ "connectionParams": { "endpoint": elsewhere.endpoint() }, "basedOnHash": shared["hash"] });
        world.changed("PUT", &path, &change).await;
        let refused = bert.post(&format!("{path}/test"), r#"{"inputs":{"city":"Bern"}}"#).await;
        assert_eq!(refused.breaks(), (422, "BR-SECRET-002B".to_owned()));
        assert!(elsewhere.requests().is_empty());
        bert.changed("PUT", &format!("{path}/secret"), &json!({ "secretId": his["id"] })).await;
        assert_eq!(tested(&bert, &tool).await["status"], "completed");
    }

    async fn a_tool_that_goes_takes_what_others_bound_to_it(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let tool = tool(world, &peer(), None).await;
        share(world, &format!("tools/{}", id(&tool)), true).await;
        let his = secret(&bert, KEY).await;
        bert.changed("PUT", &format!("/api/v1/tools/{}/secret", id(&tool)), &json!({ "secretId": his["id"] })).await;
        let held = delete(&bert, &format!("secrets/{}", id(&his))).await;
        assert_eq!(held.breaks(), (409, "BR-SECRET-002".to_owned()));
        assert_eq!(delete(world, &format!("tools/{}", id(&tool))).await.status, 200);
        assert_eq!(delete(&bert, &format!("secrets/{}", id(&his))).await.status, 200);
    }

    async fn an_answer_that_cannot_be_kept_is_reported_and_not_asked_for_again(world: &ServerFixture) {
        let answers = ["\"a\\u0000b\"".to_owned(), format!("{}{}", "[".repeat(70), "]".repeat(70))];
        for answer in answers {
            let peer = HostileServer::start(move |_| Behaviour::json(&answer));
            let _worker = Worker::start(world.engine.clone(), "test".to_owned());
            allow(world, &peer).await;
            let done = tested(world, &tool(world, &peer, None).await).await;
            assert_eq!((&done["status"], &done["error"]["code"]), (&json!("failed"), &json!("output_not_storable")));
            let result = world.get(&format!("/api/v1/items/{}", done["error"]["resultId"].as_str().unwrap())).await.json();
            assert_eq!(result["data"]["status"], "error");
            assert_eq!(peer.requests().len(), 1);
        }
    }

    async fn a_repeat_finds_its_call_also_when_the_tool_is_gone(world: &ServerFixture) {
        let tool = tool(world, &peer(), None).await;
        let (path, key) = (format!("/api/v1/tools/{}/test", id(&tool)), fresh_key());
        let first = world.change_under(&key, "POST", &path, r#"{"inputs":{"city":"Bern"}}"#).await;
        assert_eq!(delete(world, &format!("tools/{}", id(&tool))).await.status, 200);
        let again = world.change_under(&key, "POST", &path, r#"{"inputs":{"city":"Bern"}}"#).await;
        assert_eq!((first.status.as_u16(), again.status.as_u16()), (202, 200));
        assert_eq!(again.json(), first.json());
    }

    async fn a_call_that_was_cancelled_is_not_made_and_says_so(world: &ServerFixture) {
        let peer = peer();
        allow(world, &peer).await;
        let tool = tool(world, &peer, None).await;
        let queued = world.post(&format!("/api/v1/tools/{}/test", id(&tool)), r#"{"inputs":{"city":"Bern"}}"#).await.json();
        world.post(&format!("{}/cancel", queued["statusUrl"].as_str().unwrap()), "").await;
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        loop {
            let results = world.get("/api/v1/items?type=ToolResult").await.json();
            if let Some(result) = results["data"].as_array().unwrap().first() {
                assert_eq!(result["data"]["status"], "cancelled");
                break;
            }
            skein_testkit::wait::moment().await;
        }
        assert!(peer.requests().is_empty());
    }

    async fn a_tool_that_fits_its_service_no_more_is_down(world: &ServerFixture) {
        let tool = tool(world, &peer(), None).await;
        let path = format!("/api/v1/services/{}", tool["serviceId"].as_str().unwrap());
        let service = world.get(&path).await.json();
        let schema = json!({ "type": "object", "required": ["endpoint", "region"],
            "properties": { "endpoint": { "type": "string" }, "region": { "type": "string" } } });
        let changed = world.changed("PUT", &path, &json!({ "connectionSchema": schema, "basedOnHash": service["hash"] })).await;
        assert_eq!(changed["schemaVersion"], 2);
        let seen = world.get(&format!("/api/v1/tools/{}", id(&tool))).await.json();
        assert_eq!(seen["status"], "down");
        assert!(seen["errorMessage"].as_str().unwrap().contains("region"), "{seen}");
    }

    async fn br_share_007_a_tool_that_is_shared_no_more_refuses(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        allow(world, &peer).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let tool = tool(world, &peer, None).await;
        let (path, place) = (format!("tools/{}", id(&tool)), format!("services/{}", tool["serviceId"].as_str().unwrap()));
        share(world, &path, true).await;
        assert_eq!(tested(&bert, &tool).await["status"], "completed");
        share(world, &path, false).await;
        let refused = bert.post(&format!("/api/v1/{path}/test"), r#"{"inputs":{"city":"Bern"}}"#).await;
        assert_eq!(refused.refused(), (404, "not_found".to_owned()));
        // A tool of Bert's on the administrator's service lives and falls with its being shared.
        share(world, &place, true).await;
        let mut own = now(&json!({ "id": tool["serviceId"] }));
        own["connectionParams"] = json!({ "endpoint": peer.endpoint() });
        let own = bert.made("/api/v1/tools", &own).await;
        assert_eq!(tested(&bert, &own).await["status"], "completed");
        let warned = share(world, &place, false).await;
        assert_eq!((&warned["warning"]["affectedToolCount"], &warned["warning"]["affectedUserCount"]), (&json!(1), &json!(1)));
        let refused = bert.post(&format!("/api/v1/tools/{}/test", id(&own)), r#"{"inputs":{"city":"Bern"}}"#).await;
        assert_eq!(refused.breaks(), (422, "BR-SHARE-007".to_owned()));
    }

    async fn z24_addresses_that_no_decision_opens_refuses(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let place = service(world).await;
        // Metadata, a private network, nobody's address, this machine in other spellings.
        for address in ["169.254.169.254", "10.0.0.1", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]"] {
            let mut tool = now(&place);
            tool["connectionParams"] = json!({ "endpoint": format!("http://{address}:2") });
            let refused = tested(world, &world.made("/api/v1/tools", &tool).await).await;
            assert_eq!(refused["error"]["code"], "address_refused", "{address}: {refused}");
        }
    }

    async fn z19_runtime_state_is_beside_the_record_and_a_value_in_the_vault_alone_holds(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        allow(world, &peer).await;
        let key = secret(world, KEY).await;
        let tool = tool(world, &peer, Some(&key)).await;
        assert_eq!(tested(world, &tool).await["status"], "completed");
        let seen = world.get(&format!("/api/v1/tools/{}", id(&tool))).await.json();
        assert_eq!((&seen["status"], &seen["version"], &seen["hash"]), (&json!("healthy"), &json!(1), &tool["hash"]));
        let record = world.get(&format!("/api/v1/records/{}", id(&key))).await.json();
        assert_eq!(record["data"], json!({ "name": "key", "type": "api_key", "valueVersion": 1 }));
        assert_eq!(world.get("/api/v1/vault").await.json()["secrets"], 1);
        delete(world, &format!("tools/{}", id(&tool))).await;
        assert_eq!(delete(world, &format!("secrets/{}", id(&key))).await.status, 200);
        assert_eq!(world.get("/api/v1/vault").await.json()["secrets"], 0);
    }

    async fn z19_a_status_or_a_version_set_by_hand_refuses(world: &ServerFixture) {
        let tool = tool(world, &peer(), None).await;
        let status = json!({ "status": "healthy", "basedOnHash": tool["hash"] }).to_string();
        let refused = world.change("PUT", &format!("/api/v1/tools/{}", id(&tool)), status).await;
        assert_eq!(refused.breaks(), (422, "BR-TOOL-009".to_owned()));
        let path = format!("/api/v1/secrets/{}", id(&secret(world, KEY).await));
        let refused = world.change("PUT", &path, r#"{"valueVersion":7}"#).await;
        assert_eq!(refused.breaks(), (422, "BR-SECRET-001".to_owned()));
    }

    async fn what_is_used_is_not_deleted(world: &ServerFixture) {
        let peer = peer();
        let key = secret(world, KEY).await;
        let tool = tool(world, &peer, Some(&key)).await;
        let service = format!("services/{}", tool["serviceId"].as_str().unwrap());
        assert_eq!(delete(world, &service).await.breaks(), (409, "BR-SERVICE-004".to_owned()));
        assert_eq!(delete(world, &format!("secrets/{}", id(&key))).await.breaks(), (409, "BR-SECRET-002".to_owned()));
        assert_eq!(delete(world, &format!("tools/{}", id(&tool))).await.status, 200);
        assert_eq!(delete(world, &service).await.status, 200);
        assert_eq!(delete(world, &format!("secrets/{}", id(&key))).await.status, 200);
        assert_eq!(world.get(&format!("/api/v1/{service}")).await.refused(), (404, "not_found".to_owned()));
        // That it was there can still be read by its owner.
        let history = world.get(&format!("/api/v1/records/{}/history", id(&tool))).await.json();
        assert_eq!(history["data"].as_array().unwrap().len(), 2, "{history}");
    }

    async fn br_share_004_what_others_stand_on_refuses_to_be_deleted(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let place = service(world).await;
        share(world, &format!("services/{}", id(&place)), true).await;
        bert.made("/api/v1/tools", &now(&place)).await;
        let refused = delete(world, &format!("services/{}", id(&place))).await;
        assert_eq!(refused.breaks(), (409, "BR-SHARE-004".to_owned()));
        assert_eq!(delete(&bert, &format!("services/{}", id(&place))).await.breaks(), (403, "BR-SHARE-003".to_owned()));
    }

    async fn br_template_007_instances_are_listed_to_who_may_see_them_holds(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let template = world.made("/api/v1/service-templates", &weather()).await;
        let path = format!("service-templates/{}", id(&template));
        world.changed("PUT", &format!("/api/v1/{path}"), &json!({ "shared": true })).await;
        let from = json!({ "name": "mine", "serviceTemplateId": template["id"] });
        let his = bert.made("/api/v1/services", &from).await;
        let hers = world.made("/api/v1/services", &from).await;
        assert_eq!((&his["type"], &his["serviceTemplateId"]), (&json!("rest_api"), &template["id"]));
        let listed = async |world: &ServerFixture| {
            let page = world.get(&format!("/api/v1/{path}/instances")).await.json();
            page["data"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!((listed(world).await, listed(&bert).await), (vec![hers["id"].clone()], vec![his["id"].clone()]));
        share(&bert, &format!("services/{}", id(&his)), true).await;
        assert_eq!(listed(world).await.len(), 2);
    }

    async fn br_template_007_the_instances_of_a_hidden_template_refuses(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let template = world.made("/api/v1/service-templates", &weather()).await;
        let hidden = bert.get(&format!("/api/v1/service-templates/{}/instances", id(&template))).await;
        assert_eq!(hidden.refused(), (404, "not_found".to_owned()));
    }

    async fn templates_are_archived_and_never_altered(world: &ServerFixture) {
        let template = world.made("/api/v1/service-templates", &weather()).await;
        let path = format!("/api/v1/service-templates/{}", id(&template));
        let altered = world.change("PUT", &path, r#"{"name":"other","protocol":"http"}"#).await;
        assert_eq!(altered.breaks(), (422, "BR-TEMPLATE-003".to_owned()));
        assert!(altered.text.contains("name, protocol"), "{}", altered.text);
        assert_eq!(delete(world, &path["/api/v1/".len()..]).await.json()["archived"], true);
        let from = json!({ "name": "late", "serviceTemplateId": template["id"] }).to_string();
        assert_eq!(world.post("/api/v1/services", from.clone()).await.breaks(), (422, "BR-TEMPLATE-006".to_owned()));
        let listed = async |query: &str| world.get(&format!("/api/v1/service-templates{query}")).await.text;
        assert!(!listed("").await.contains(id(&template)));
        assert!(listed("?includeArchived=true").await.contains(id(&template)));
        assert_eq!(world.get(&path).await.status, 200);
        world.changed("PUT", &path, &json!({ "archived": false })).await;
        assert_eq!(world.post("/api/v1/services", from).await.status, 201);
    }

    async fn tools_are_made_from_an_openapi_document(world: &ServerFixture) {
        let service = service(world).await;
        let document = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": {
            "/pets/{petId}": { "get": { "operationId": "readPet",
                "parameters": [{ "name": "petId", "in": "path", "required": true, "schema": { "type": "integer" } }],
                "responses": { "200": { "description": "A pet", "content": { "application/json": {
                    "schema": { "type": "object", "properties": { "name": { "type": "string" } } } } } } } } } } });
        let body = json!({ "document": document, "connectionParams": { "endpoint": "http://pets.example" } });
        let found = world.made(&format!("/api/v1/services/{}/discover", id(&service)), &body).await;
        let tool = &found["data"][0];
        assert_eq!((&tool["name"], &found["skipped"]), (&json!("readPet"), &json!([])));
        assert_eq!(tool["inputSchema"]["properties"]["petId"]["type"], "integer");
        assert_eq!(tool["outputSchema"]["properties"]["name"]["type"], "string");
        assert_eq!(world.get(&format!("/api/v1/tools/{}", id(tool))).await.json()["name"], "readPet");
    }

    async fn a_service_is_checked_on_demand(world: &ServerFixture) {
        let peer = peer();
        let place = service(world).await;
        let path = format!("/api/v1/services/{}", id(&place));
        let check = async || world.send(world.request("POST", &format!("{path}/health")).body("".into()).unwrap()).await;
        assert_eq!(check().await.breaks(), (422, "BR-SERVICE-003".to_owned()));
        let mut tool = now(&place);
        tool["connectionParams"] = json!({ "endpoint": peer.endpoint() });
        world.made("/api/v1/tools", &tool).await;
        assert_eq!(check().await.json()["status"], "down");
        allow(world, &peer).await;
        assert_eq!(check().await.json()["status"], "healthy");
        let seen = world.get(&path).await.json();
        assert_eq!((&seen["status"], seen["lastHealthCheck"].is_string()), (&json!("healthy"), true));
        let change = json!({ "enabled": false, "basedOnHash": seen["hash"] });
        assert_eq!(world.changed("PUT", &path, &change).await["status"], "down");
        let healthy = world.get("/api/v1/services?status=healthy&owned=true").await.json();
        assert_eq!(healthy["data"], json!([]));
        let by_hand = world.change("PUT", &path, json!({ "status": "healthy", "basedOnHash": seen["hash"] }).to_string()).await;
        assert_eq!(by_hand.breaks(), (422, "BR-SERVICE-003".to_owned()));
    }

    async fn what_comes_along_is_there_for_everybody_and_nobodys_to_change(world: &ServerFixture) {
        world.engine.prepare().await.unwrap();
        let items = world.count().await;
        world.engine.prepare().await.unwrap();
        assert_eq!(world.count().await, items);
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let services = anna.get("/api/v1/services").await.json();
        let names: Vec<_> = services["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        for name in ["Offline model", "OpenAI", "Anthropic", "OpenRouter", "Ollama", "llama.cpp"] {
            assert!(names.contains(&name), "{name} is missing: {names:?}");
        }
        let offline = services["data"].as_array().unwrap().iter().find(|row| row["builtin"] == "offline_model").unwrap();
        let change = json!({ "enabled": false, "basedOnHash": offline["hash"] }).to_string();
        let refused = world.change("PUT", &format!("/api/v1/services/{}", id(offline)), change).await;
        assert_eq!(refused.status, 403, "{}", refused.text);
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let tools = anna.get("/api/v1/tools").await.json();
        let inputs = json!({ "inputs": { "text": "Herons nest in May. The pond froze in January.", "question": "When do herons nest?" } });
        let offline = tools["data"].as_array().unwrap().iter().find(|row| row["name"] == "Offline answer").unwrap();
        let queued = anna.post(&format!("/api/v1/tools/{}/test", id(offline)), inputs.to_string()).await.json();
        let path = queued["statusUrl"].as_str().unwrap();
        let done = loop {
            let operation = anna.get(path).await.json();
            if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
                break operation;
            }
            skein_testkit::wait::moment().await;
        };
        assert!(done["result"]["output"]["text"].as_str().unwrap().contains("Herons nest in May"), "{done}");
    }

    async fn a_master_key_is_replaced_while_secrets_serve(world: &ServerFixture) {
        let (peer, _worker) = (peer(), Worker::start(world.engine.clone(), "test".to_owned()));
        allow(world, &peer).await;
        let tool = tool(world, &peer, Some(&secret(world, KEY).await)).await;
        let before = world.get("/api/v1/vault").await.json();
        assert_eq!((&before["secrets"], &before["underOtherKeys"]), (&json!(1), &json!(0)));
        let queued = world.post("/api/v1/vault/rotations", "{}").await.json();
        let path = queued["statusUrl"].as_str().unwrap();
        while world.get(path).await.json()["status"] != "completed" {
            skein_testkit::wait::moment().await;
        }
        let after = world.get("/api/v1/vault").await.json();
        assert_ne!(after["keyId"], before["keyId"]);
        assert_eq!((&after["secrets"], &after["underOtherKeys"]), (&json!(1), &json!(0)));
        assert_eq!(tested(world, &tool).await["status"], "completed");
    }

    async fn vault_rotations_run_one_at_a_time(world: &ServerFixture) {
        for _ in 0..20 {
            secret(world, KEY).await;
        }
        // Nobody works yet, so the first one cannot have ended.
        let asked = futures::future::join_all((0..4).map(|_| world.post("/api/v1/vault/rotations", "{}"))).await;
        let accepted: Vec<_> = asked.iter().filter(|answer| answer.status == 202).collect();
        assert_eq!(accepted.len(), 1, "{:?}", asked.iter().map(|answer| &answer.text).collect::<Vec<_>>());
        let operation = accepted[0].json()["operationId"].clone();
        for refused in asked.iter().filter(|answer| answer.status != 202) {
            assert_eq!(refused.refused(), (409, "rotation_running".to_owned()));
            assert_eq!(refused.json()["error"]["details"]["operationId"], operation);
        }
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let path = accepted[0].json()["statusUrl"].as_str().unwrap().to_owned();
        while world.get(&path).await.json()["status"] != "completed" {
            skein_testkit::wait::moment().await;
        }
        let vault = world.get("/api/v1/vault").await.json();
        assert_eq!((&vault["secrets"], &vault["underOtherKeys"], &vault["unreadable"]), (&json!(20), &json!(0), &json!(0)));
        assert_eq!(vault["rotation"], json!({ "operationId": operation, "status": "completed" }));
        assert_eq!(world.post("/api/v1/vault/rotations", "{}").await.status, 202);
    }

    async fn a_cancelled_vault_rotation_makes_room_for_the_next(world: &ServerFixture) {
        secret(world, KEY).await;
        let queued = world.post("/api/v1/vault/rotations", "{}").await.json();
        assert_eq!(world.post("/api/v1/vault/rotations", "{}").await.refused(), (409, "rotation_running".to_owned()));
        let path = format!("{}/cancel", queued["statusUrl"].as_str().unwrap());
        assert_eq!(world.post(&path, "{}").await.status, 200);
        assert_eq!(world.post("/api/v1/vault/rotations", "{}").await.status, 202);
    }

    async fn br_sec_001_a_secret_serves_its_owner_holds(world: &ServerFixture) {
        let key = secret(world, KEY).await;
        let path = format!("/api/v1/secrets/{}", id(&key));
        let rotated = world.changed("PUT", &path, &json!({ "value": "k-another-value" })).await;
        assert_eq!((&rotated["valueVersion"], rotated.get("value")), (&json!(2), None));
        assert!(!world.get(&path).await.text.contains("k-another"));
    }

    async fn br_sec_001_anybody_else_with_or_without_a_grant_refuses(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let path = format!("/api/v1/secrets/{}", id(&secret(&anna, KEY).await));
        anna.changed("PUT", &format!("{path}/share"), &json!({ "shared": true })).await;
        let until = crate::server_fixture::START.plus(3_600_000);
        let grant = json!({ "ownerId": anna.admin.owner(), "name": "a look", "reason": "asked", "until": until });
        let grant = world.made("/api/v1/grants", &grant).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(bert.get(&path).await.refused(), (404, "not_found".to_owned()));
        assert_eq!(world.get(&path).await.refused(), (404, "not_found".to_owned()));
        // A grant shows that there is one, and never its value.
        let looked = world.request("GET", &path).header("skein-grant", id(&grant)).body("".into()).unwrap();
        let looked = world.send(looked).await;
        assert!(!looked.text.contains(KEY), "{}", looked.text);
    }
}
