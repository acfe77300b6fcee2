//! The default process: the first with a connected model, changed by its owner, replaced in sight while it cannot answer.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, id, ids};
use crate::fixtures::Person;
use crate::server_fixture::{ServerFixture, both};

const DEFAULT: &str = "/api/v1/account/default-process";

/// A connected model, and the process that answers with it.
struct Connected {
    tool: Value,
    process: Value,
}

/// Connects a model as the page does: a service, a tool that is sent the conversation, a process like Chat. Nothing is called.
async fn connect(world: &ServerFixture, name: &str) -> Connected {
    let service = json!({ "name": format!("Models of {name}"), "type": "llm_provider", "protocol": "http",
        "requiresSecret": false, "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": {
        "endpoint": { "type": "string" }, "model": { "type": "string" }, "dialect": { "const": "openai" } } } });
    let service = world.made("/api/v1/services", &service).await;
    let tool = json!({ "name": name, "serviceId": service["id"],
        "connectionParams": { "endpoint": "http://127.0.0.1:9/v1", "model": name, "dialect": "openai" },
        "operation": { "type": "llm_call", "promptTemplate": "", "messagesFrom": "messages" },
        "inputSchema": { "type": "object", "properties": { "messages": { "type": "array" } } }, "outputSchema": { "type": "object" } });
    let tool = world.made("/api/v1/tools", &tool).await;
    let process = world.made("/api/v1/processes", &answering(&format!("Chat with {name}"), &tool)).await;
    Connected { tool, process }
}

fn answering(name: &str, tool: &Value) -> Value {
    let message = json!([{ "role": "user", "content": "{message}" }]);
    json!({ "name": name, "initialContext": ["message"], "outputTemplate": "{{answer.text}}", "steps": [{
        "id": "answer", "toolId": tool["id"], "inputs": { "messages": message }, "output": { "variable": "answer" } }] })
}

async fn prepared(world: &ServerFixture) {
    world.engine.prepare().await.unwrap();
}

async fn default(world: &ServerFixture) -> Value {
    let shown = world.get(DEFAULT).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    shown.json()
}

async fn choose(world: &ServerFixture, process: &Value) -> Value {
    world.changed("PUT", DEFAULT, &json!({ "processId": process })).await
}

async fn switch(world: &ServerFixture, path: &str, thing: &Value, enabled: bool) {
    let path = format!("/api/v1/{path}/{}", id(thing));
    let hash = world.get(&path).await.json()["hash"].clone();
    world.changed("PUT", &path, &json!({ "enabled": enabled, "basedOnHash": hash })).await;
}

async fn begun(world: &ServerFixture) -> Value {
    world.made(CONVERSATIONS, &json!({ "title": "Herons" })).await
}

/// Has an agent answer a new question without naming a process.
async fn answered(world: &ServerFixture) -> Value {
    let talk = ConversationFixture::new(world).await;
    let said = talk.say(None, "How many herons?").await;
    let body = json!({ "speaker": "agent", "parentAlternativeId": said["node"]["id"] });
    let answer = talk.ask("POST", "/turns", &body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()
}

fn made_by(answer: &Value) -> &Value {
    &answer["answers"][0]["node"]["executedBy"]["processId"]
}

both! {
    async fn without_a_connected_model_chat_answers_and_conversations_offer_nothing(world: &ServerFixture) {
        prepared(world).await;
        let shown = default(world).await;
        assert_eq!((&shown["process"]["name"], &shown["adoptsNext"]), (&json!("Chat"), &json!(true)), "{shown}");
        for absent in ["chosen", "problem", "recordId", "hash", "version"] {
            assert_eq!(shown[absent], Value::Null, "{absent}: {shown}");
        }
        assert_eq!(begun(world).await["processId"], Value::Null);
    }

    async fn the_first_connected_model_answers_in_new_conversations_and_a_second_changes_nothing(world: &ServerFixture) {
        prepared(world).await;
        // A process that asks no connected model leaves the choice open.
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let offline = tools["data"].as_array().unwrap().iter().find(|tool| tool["name"] == "Offline chat").unwrap();
        world.made("/api/v1/processes", &answering("Offline", offline)).await;
        assert_eq!(default(world).await["chosen"], Value::Null);
        let first = connect(world, "heron").await;
        let shown = default(world).await;
        assert_eq!((&shown["process"]["id"], &shown["chosen"]["id"]), (&first.process["id"], &first.process["id"]), "{shown}");
        assert_eq!((&shown["problem"], &shown["adoptsNext"]), (&Value::Null, &json!(false)));
        let second = connect(world, "stork").await;
        assert_eq!(default(world).await, shown);
        assert_eq!(begun(world).await["processId"], first.process["id"]);
        let named = json!({ "title": "Herons", "processId": second.process["id"] });
        assert_eq!(world.made(CONVERSATIONS, &named).await["processId"], second.process["id"]);
        let none = json!({ "title": "Herons", "processId": null });
        assert_eq!(world.made(CONVERSATIONS, &none).await["processId"], Value::Null);
    }

    async fn an_agent_turn_that_names_no_process_is_answered_by_the_default(world: &ServerFixture) {
        prepared(world).await;
        let first = connect(world, "heron").await;
        let answer = answered(world).await;
        assert_eq!((made_by(&answer), &answer["fallback"]), (&first.process["id"], &Value::Null), "{answer}");
    }

    async fn a_default_changes_to_another_process_and_to_the_built_in_model_and_keeps_its_history(world: &ServerFixture) {
        prepared(world).await;
        let (first, second) = (connect(world, "heron").await, connect(world, "stork").await);
        let before = default(world).await;
        let shown = choose(world, &second.process["id"]).await;
        assert_eq!((&shown["process"]["id"], &shown["version"]), (&second.process["id"], &json!(2)), "{shown}");
        assert_eq!(begun(world).await["processId"], second.process["id"]);
        let stale = json!({ "processId": null, "basedOnHash": before["hash"] });
        assert_eq!(world.change("PUT", DEFAULT, stale.to_string()).await.status, 409);
        let shown = choose(world, &Value::Null).await;
        assert_eq!((&shown["process"]["name"], &shown["chosen"]), (&json!("Chat"), &Value::Null), "{shown}");
        assert_eq!(made_by(&answered(world).await), &shown["process"]["id"]);
        // The built-in model was chosen: another connected model changes nothing.
        connect(world, "crane").await;
        assert_eq!(default(world).await, default_part(&shown));
        let history = world.get(&format!("/api/v1/records/{}/history", shown["recordId"].as_str().unwrap())).await.json();
        assert_eq!(history["data"].as_array().unwrap().len(), 3, "{history}");
        assert_ne!(first.process["id"], second.process["id"]);
    }

    async fn a_default_that_cannot_answer_gives_way_in_sight_and_comes_back(world: &ServerFixture) {
        prepared(world).await;
        let first = connect(world, "heron").await;
        for (path, thing) in [("tools", &first.tool), ("processes", &first.process)] {
            switch(world, path, thing, false).await;
            let shown = default(world).await;
            assert_eq!((&shown["process"]["name"], &shown["chosen"]["id"]), (&json!("Chat"), &first.process["id"]), "{shown}");
            assert!(shown["problem"].as_str().unwrap().contains("disabled"), "{shown}");
            assert_eq!(begun(world).await["processId"], Value::Null);
            let answer = answered(world).await;
            assert_eq!((made_by(&answer), &answer["fallback"]), (&shown["process"]["id"], &shown["problem"]), "{answer}");
            switch(world, path, thing, true).await;
            assert_eq!(default(world).await["process"]["id"], first.process["id"]);
        }
        // Found down by a check.
        let tool = id(&first.tool).parse().unwrap();
        let down = move |tx: &mut skein_store::Tx<'_>| {
            tx.set_health(&skein_core::Viewer::System("test"), tool, "down", Some("it refused the connection"), None)
        };
        world.store.write(down).await.unwrap();
        let shown = default(world).await;
        assert_eq!(shown["process"]["name"], "Chat", "{shown}");
        assert!(shown["problem"].as_str().unwrap().contains("it refused the connection"), "{shown}");
    }

    async fn a_deleted_default_gives_way_until_another_model_is_connected(world: &ServerFixture) {
        prepared(world).await;
        let first = connect(world, "heron").await;
        world.changed("DELETE", &format!("/api/v1/processes/{}", id(&first.process)), &json!({})).await;
        let shown = default(world).await;
        assert_eq!((&shown["process"]["name"], &shown["adoptsNext"]), (&json!("Chat"), &json!(true)), "{shown}");
        assert!(shown["problem"].as_str().unwrap().contains("deleted"), "{shown}");
        let second = connect(world, "stork").await;
        assert_eq!(default(world).await["process"]["id"], second.process["id"]);
    }

    async fn br_conv_001_a_default_that_cannot_be_chosen_refuses(world: &ServerFixture) {
        prepared(world).await;
        let first = connect(world, "heron").await;
        let broken = async |body: Value| world.change("PUT", DEFAULT, body.to_string()).await;
        assert_eq!(broken(json!({})).await.status, 400);
        assert_eq!(broken(json!({ "processId": first.tool["id"] })).await.breaks(), (422, "Z34".to_owned()));
        switch(world, "processes", &first.process, false).await;
        assert_eq!(broken(json!({ "processId": first.process["id"] })).await.breaks(), (422, "BR-CONV-001".to_owned()));
        let needy = json!({ "name": "Count", "initialContext": ["place"], "outputTemplate": "{{n}}", "steps": [{
            "id": "ask", "ask": { "prompt": "How many at {place}?" }, "output": { "variable": "n" } }] });
        let needy = world.made("/api/v1/processes", &needy).await;
        assert_eq!(broken(json!({ "processId": needy["id"] })).await.breaks(), (422, "BR-CONV-001".to_owned()));
        assert_eq!(default(world).await["chosen"]["id"], first.process["id"]);
    }

    async fn a_second_user_has_a_default_of_their_own(world: &ServerFixture) {
        prepared(world).await;
        let bert = Person::new(world, "Bert", Role::User, Scope::Write).await;
        let first = connect(world, "heron").await;
        let shown = bert.get(world, DEFAULT).await.json();
        assert_eq!((&shown["chosen"], &shown["adoptsNext"]), (&Value::Null, &json!(true)), "{shown}");
        let taken = bert.request("PUT", DEFAULT).header("content-type", "application/json");
        let body = json!({ "processId": first.process["id"] }).to_string();
        assert_eq!(world.send(taken.body(body.into()).unwrap()).await.breaks(), (422, "Z34".to_owned()));
        let seen = bert.get(world, "/api/v1/records?type=DefaultProcess").await.json();
        assert!(ids(&seen).is_empty(), "{seen}");
    }
}

/// The view without what a change adds to it.
fn default_part(changed: &Value) -> Value {
    let mut part = changed.clone();
    part.as_object_mut().unwrap().remove("operationId");
    part
}
