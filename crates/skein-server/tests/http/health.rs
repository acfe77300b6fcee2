//! Health of services and tools over HTTP, on both databases: set by checks and calls only, the same everywhere.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::recipes::{now, weather};
use crate::server_fixture::{ServerFixture, both};

fn path(kind: &str, thing: &Value) -> String {
    format!("/api/v1/{kind}/{}", thing["id"].as_str().unwrap_or_else(|| panic!("no id in {thing}")))
}

async fn service(world: &ServerFixture) -> Value {
    let mut service = weather();
    service["protocol"] = json!("http");
    world.made("/api/v1/services", &service).await
}

async fn tool(world: &ServerFixture, service: &Value, peer: &HostileServer) -> Value {
    let mut tool = now(service);
    tool["connectionParams"] = json!({ "endpoint": peer.endpoint() });
    world.made("/api/v1/tools", &tool).await
}

/// A peer that may be called if an administrator says so.
async fn peer(world: &ServerFixture, is_allowed: bool) -> HostileServer {
    let peer = HostileServer::start(|_| Behaviour::json("{}"));
    let address = peer.address();
    if is_allowed {
        let body = json!({ "host": address.ip().to_string(), "port": address.port() });
        world.made("/api/v1/allowed-endpoints", &body).await;
    }
    peer
}

async fn checked(world: &ServerFixture, service: &Value) -> Value {
    let place = format!("{}/health", path("services", service));
    world.send(world.request("POST", &place).body("".into()).unwrap()).await.json()
}

async fn status(world: &ServerFixture, place: &str) -> Value {
    world.get(place).await.json()["status"].clone()
}

/// The operation of a test, once it has ended.
async fn tested(world: &ServerFixture, tool: &Value, inputs: &Value) -> Value {
    let queued = world.post(&format!("{}/test", path("tools", tool)), json!({ "inputs": inputs }).to_string()).await;
    assert_eq!(queued.status, 202, "{}", queued.text);
    let place = queued.json()["statusUrl"].as_str().unwrap().to_owned();
    loop {
        let operation = world.get(&place).await.json();
        if !["queued", "processing"].contains(&operation["status"].as_str().unwrap()) {
            return operation;
        }
        skein_testkit::wait::moment().await;
    }
}

both! {
    async fn br_service_003_a_status_follows_checks_and_switches_holds(world: &ServerFixture) {
        let (place, peer) = (service(world).await, peer(world, true).await);
        assert_eq!(place["status"], "degraded");
        tool(world, &place, &peer).await;
        assert_eq!(checked(world, &place).await["status"], "healthy");
        let at = path("services", &place);
        let switch = async |enabled: bool| {
            let hash = world.get(&at).await.json()["hash"].clone();
            world.changed("PUT", &at, &json!({ "enabled": enabled, "basedOnHash": hash })).await
        };
        assert_eq!(switch(false).await["status"], "down");
        // What is switched on again is as it was found: nothing else was checked since.
        let again = switch(true).await;
        assert_eq!((&again["status"], again["lastHealthCheck"].is_string()), (&json!("healthy"), true));
        assert_eq!(status(world, &at).await, "healthy");
    }

    async fn br_service_003_a_status_by_hand_refuses(world: &ServerFixture) {
        let place = service(world).await;
        let at = path("services", &place);
        let by_hand = json!({ "status": "healthy", "basedOnHash": place["hash"] });
        assert_eq!(world.change("PUT", &at, by_hand.to_string()).await.breaks(), (422, "BR-SERVICE-003".to_owned()));
        let mut made = weather();
        made["status"] = json!("healthy");
        assert_eq!(world.post("/api/v1/services", made.to_string()).await.status.as_u16() / 100, 4);
        assert_eq!(status(world, &at).await, "degraded");
    }

    async fn br_tool_009_a_tool_is_as_its_own_address_is_holds(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let (place, here, nowhere) = (service(world).await, peer(world, true).await, peer(world, false).await);
        let (good, bad) = (tool(world, &place, &here).await, tool(world, &place, &nowhere).await);
        assert_eq!(checked(world, &place).await["status"], "degraded");
        let shown = async || [status(world, &path("tools", &good)).await, status(world, &path("tools", &bad)).await];
        assert_eq!(shown().await, ["degraded", "down"]);
        // It is called all the same, and does not mend what is wrong elsewhere.
        let done = tested(world, &good, &json!({ "city": "Bern" })).await;
        assert_eq!(done["status"], "completed", "{done}");
        assert_eq!(shown().await, ["degraded", "down"]);
        assert_eq!(status(world, &path("services", &place)).await, "degraded");
        // Once the other answers too, both are as their calls showed.
        let address = nowhere.address();
        world.made("/api/v1/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() })).await;
        assert_eq!(checked(world, &place).await["status"], "healthy");
        assert_eq!(shown().await, ["healthy", "degraded"]);
    }

    async fn br_tool_006_a_test_of_a_degraded_tool_logs_a_warning_holds(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let (place, peer) = (service(world).await, peer(world, true).await);
        let tool = tool(world, &place, &peer).await;
        crate::log_lines::capture();
        let done = tested(world, &tool, &json!({ "city": "Bern" })).await;
        assert_eq!(done["status"], "completed", "{done}");
        let logged = crate::log_lines::logged_by_all();
        let warned = |line: &str| ["WARN", "BR-TOOL-006", tool["id"].as_str().unwrap()].iter().all(|part| line.contains(part));
        assert!(logged.lines().any(warned), "{logged}");
    }

    async fn br_tool_009_a_status_by_hand_refuses(world: &ServerFixture) {
        let (place, peer) = (service(world).await, peer(world, false).await);
        let tool = tool(world, &place, &peer).await;
        let by_hand = json!({ "status": "healthy", "basedOnHash": tool["hash"] }).to_string();
        let refused = world.change("PUT", &path("tools", &tool), by_hand).await;
        assert_eq!(refused.breaks(), (422, "BR-TOOL-009".to_owned()));
    }

    async fn br_tool_010_a_tool_follows_its_service_back_up_holds(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let (place, peer) = (service(world).await, peer(world, true).await);
        let tool = tool(world, &place, &peer).await;
        assert_eq!(tested(world, &tool, &json!({ "city": "Bern" })).await["status"], "completed");
        assert_eq!(status(world, &path("tools", &tool)).await, "healthy");
        let shown = world.get("/api/v1/tools?status=healthy&owned=true").await.json();
        assert_eq!(shown["data"][0]["id"], tool["id"], "{shown}");
    }

    async fn br_tool_010_no_answer_shows_a_tool_as_better_than_its_service_refuses(world: &ServerFixture) {
        let (place, peer) = (service(world).await, peer(world, false).await);
        tool(world, &place, &peer).await;
        assert_eq!(checked(world, &place).await["status"], "down");
        // Neither when it is made, nor when it is read, changed, shared or listed.
        let made = tool(world, &place, &peer).await;
        let at = path("tools", &made);
        let change = json!({ "description": "Later", "basedOnHash": made["hash"] });
        let changed = world.changed("PUT", &at, &change).await;
        let shared = world.changed("PUT", &format!("{at}/share"), &json!({ "shared": true })).await;
        let listed = world.get("/api/v1/tools?status=down&owned=true").await.json();
        for shown in [&made, &changed, &shared, &world.get(&at).await.json(), &listed["data"][0], &listed["data"][1]] {
            assert_eq!(shown["status"], "down", "{shown}");
        }
    }

    async fn what_is_built_in_is_healthy_and_its_tools_can_be_tried(world: &ServerFixture) {
        world.engine.prepare().await.unwrap();
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let tools = anna.get("/api/v1/tools?limit=100").await.json();
        let named = |name: &str| tools["data"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
        let echo = named("Echo");
        assert_eq!(echo["status"], "healthy");
        let done = tested(&anna, &echo, &json!({ "value": "heron" })).await;
        assert_eq!((&done["status"], &done["result"]["output"]["value"]), (&json!("completed"), &json!("heron")), "{done}");
    }

    async fn br_cross_002_things_go_one_after_another_holds(world: &ServerFixture) {
        let chain = Chain::make(world).await;
        chain.delete("conversations", 405, world).await;
        let conversation = world.get(&path("conversations", &chain.conversation)).await.json();
        let unhinted = json!({ "processId": null, "basedOnHash": conversation["hash"] });
        world.changed("PUT", &path("conversations", &conversation), &unhinted).await;
        for kind in ["processes", "tools", "services", "secrets"] {
            chain.delete(kind, 200, world).await;
        }
    }

    async fn br_cross_002_what_is_still_referred_to_refuses(world: &ServerFixture) {
        let chain = Chain::make(world).await;
        for kind in ["secrets", "services", "tools", "processes"] {
            chain.delete(kind, 409, world).await;
        }
        assert_eq!(world.get(&path("tools", &chain.tool)).await.status, 200);
    }
}

/// A conversation that hints a process, which uses a tool, which stands on a service and a secret.
struct Chain {
    secret: Value,
    service: Value,
    tool: Value,
    process: Value,
    conversation: Value,
}

impl Chain {
    async fn make(world: &ServerFixture) -> Self {
        let key = json!({ "name": "key", "type": "api_key", "value": "k-1c0d6f7e3b9a" });
        let (secret, service) = (world.made("/api/v1/secrets", &key).await, service(world).await);
        let mut tool = now(&service);
        tool["secretId"] = secret["id"].clone();
        tool["secretUse"] = json!({ "in": "header", "name": "X-Api-Key" });
        tool["connectionParams"] = json!({ "endpoint": "http://weather.example" });
        let tool = world.made("/api/v1/tools", &tool).await;
        let step =
            json!({ "id": "ask", "toolId": tool["id"], "inputs": { "city": "Bern" }, "output": { "variable": "now" } });
        let process = json!({ "name": "Forecast", "steps": [step], "outputTemplate": "{{now}}" });
        let process = world.made("/api/v1/processes", &process).await;
        let conversation = json!({ "title": "Herons", "processId": process["id"] });
        let conversation = world.made("/api/v1/conversations", &conversation).await;
        Self { secret, service, tool, process, conversation }
    }

    async fn delete(&self, kind: &str, expected: u16, world: &ServerFixture) {
        let thing = match kind {
            "secrets" => &self.secret,
            "services" => &self.service,
            "tools" => &self.tool,
            "processes" => &self.process,
            _ => &self.conversation,
        };
        let answer = world.change("DELETE", &path(kind, thing), "{}").await;
        assert_eq!(answer.status.as_u16(), expected, "{kind}: {}", answer.text);
    }
}
