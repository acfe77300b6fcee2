//! Before a person decides about a call that a model wants, they ask it something: it hears that in place of a result.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};

use crate::recipes::{text, tool, waiting};
use crate::server_fixture::{Answer, ServerFixture, both};

const QUESTION: &str = "Why Bern?";

/// A model that wants its tool called, insists when it is asked why, and tells what else it was told.
fn answer(request: &Request) -> Behaviour {
    let asked: Value = serde_json::from_slice(&request.body).unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let told = messages.iter().rfind(|message| message["role"] == "tool").map(|told| told["content"].as_str().unwrap());
    let (message, finish) = match told {
        Some(told) if !told.contains(QUESTION) => {
            (json!({ "role": "assistant", "content": format!("I was told: {told}") }), "stop")
        }
        _ => {
            let function = json!({ "name": asked["tools"][0]["function"]["name"], "arguments": "{\"city\":\"Bern\"}" });
            let id = format!("call_{}", messages.len());
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            (json!({ "role": "assistant", "content": "It rains there.", "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!(
            "data: {}\n\n",
            json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] })
        )
    };
    let body = [chunk(message, Value::Null), chunk(json!({}), json!(finish)), "data: [DONE]\n\n".to_owned()];
    Behaviour::answer(200, &[("content-type", "text/event-stream")], body.concat())
}

/// A run whose model may call a tool once a person has approved.
async fn begun(world: &ServerFixture, rogue: &HostileServer) -> String {
    let address = rogue.address();
    let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &allowed).await;
    let service = json!({ "name": "Model server", "type": "llm_provider", "protocol": "http", "requiresSecret": false,
        "connectionSchema": { "type": "object", "required": ["endpoint", "model"], "properties": {
            "endpoint": { "type": "string" }, "model": { "type": "string" } } } });
    let service = world.made("/api/v1/services", &service).await;
    let model = json!({ "name": "Hugin", "serviceId": service["id"],
        "connectionParams": { "endpoint": rogue.endpoint(), "model": "m" },
        "operation": { "type": "llm_call", "promptTemplate": "{{message}}" },
        "inputSchema": { "type": "object", "properties": { "message": { "type": "string" } } },
        "outputSchema": { "type": "object" } });
    let model = world.made("/api/v1/tools", &model).await;
    let offered = json!([{ "toolId": tool(world).await["id"], "approval": "always" }]);
    let step = json!({ "id": "answer", "toolId": model["id"], "inputs": { "message": "{message}" },
        "output": { "variable": "answer" }, "tools": offered });
    let process =
        json!({ "name": "Look", "initialContext": ["message"], "steps": [step], "outputTemplate": "{{answer.text}}" });
    let path = format!("/api/v1/processes/{}/execute", text(&world.made("/api/v1/processes", &process).await, "id"));
    let begun = world.post(&path, json!({ "initialContext": { "message": "Where does it rain?" } }).to_string()).await;
    text(&begun.json(), "executionId")
}

/// The question that is open, once there is one.
async fn open(world: &ServerFixture) -> String {
    loop {
        let listed = world.get("/api/v1/reviews").await.json();
        if let Some(review) = listed["data"].get(0) {
            return text(review, "id");
        }
        skein_testkit::wait::moment().await;
    }
}

async fn decide(world: &ServerFixture, review: &str, decision: Value) -> Answer {
    world.post(&format!("/api/v1/reviews/{review}/decide"), decision.to_string()).await
}

fn ask(question: &str) -> Value {
    json!({ "decision": "ask", "question": question })
}

both! {
    async fn br_step_006_a_model_that_is_asked_back_may_ask_again_and_is_decided_about_anew_holds(world: &ServerFixture) {
        let rogue = HostileServer::start(answer);
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let run = begun(world, &rogue).await;
        let first = open(world).await;
        for bad in [ask(" "), ask(&"?".repeat(4_001)), json!({ "decision": "ask" })] {
            assert!(matches!(decide(world, &first, bad).await.status.as_u16(), 400 | 422));
        }
        let asked = decide(world, &first, ask(QUESTION)).await;
        assert_eq!((asked.status.as_u16(), &asked.json()["decision"]), (200, &ask(QUESTION)), "{}", asked.text);
        let second = open(world).await;
        assert_ne!(first, second, "it is a new question");
        let sent = String::from_utf8(rogue.requests()[1].body.clone()).unwrap();
        assert!(sent.contains("The call was not made") && sent.contains(QUESTION), "{sent}");
        decide(world, &second, json!({ "decision": "deny", "reason": "not today" })).await;
        let path = format!("/api/v1/executions/{run}");
        let ended = loop {
            let shown = world.get(&path).await.json();
            if shown["status"] != "running" {
                break shown;
            }
            skein_testkit::wait::moment().await;
        };
        assert_eq!(ended["status"], "completed", "{ended}");
        assert!(ended["output"].as_str().unwrap().contains("not today"), "{ended}");
        let facts = world.get("/api/v1/items?type=ReviewDecided").await.json();
        assert!(facts.to_string().contains(QUESTION), "it is on record: {facts}");
    }

    async fn br_step_006_asking_back_where_no_model_is_there_or_in_anothers_place_refuses(world: &ServerFixture) {
        let ben = world.joined_by("Ben", Role::User, Scope::Write).await;
        let shown = world.get(&format!("/api/v1/executions/{}", waiting(world).await)).await.json();
        let question = shown["reviewIds"][0].as_str().unwrap().to_owned();
        let refused = decide(world, &question, ask("Where?")).await;
        assert_eq!(refused.breaks(), (422, "BR-STEP-006".to_owned()));
        assert!(refused.text.contains("deny it and say why"), "{}", refused.text);
        decide(world, &question, json!({ "decision": "answer", "value": 11 })).await;

        let rogue = HostileServer::start(answer);
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        begun(world, &rogue).await;
        let wish = open(world).await;
        let path = format!("/api/v1/reviews/{wish}/delegate");
        world.changed("PUT", &path, &json!({ "userName": "Ben" })).await;
        assert_eq!(decide(&ben, &wish, ask(QUESTION)).await.breaks(), (422, "BR-STEP-006".to_owned()));
        assert_eq!(decide(&ben, &wish, json!({ "decision": "deny" })).await.status, 200);
    }
}
