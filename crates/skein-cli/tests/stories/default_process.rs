//! The default process by the real binary: a connected model answers in `skein chat`, and another choice is one command.

use serde_json::{Value, json};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::runs::chat;
use crate::server::Home;

/// A model that answers everything the same.
fn heron() -> HostileServer {
    let message = json!({ "role": "assistant", "content": "Eleven herons." });
    let answer =
        json!({ "id": "r1", "model": "m", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] });
    HostileServer::start(move |_| Behaviour::json(&answer.to_string()))
}

/// Connects the model from the command line: an address, a tool on the service for it, a process.
fn connect(home: &Home, model: &HostileServer) {
    home.run(&["endpoint", "allow", &model.address().to_string()]).assert_ok();
    let params = json!({ "endpoint": format!("{}/v1", model.endpoint()) }).to_string();
    let operation = json!({ "type": "llm_call", "promptTemplate": "", "messagesFrom": "messages" }).to_string();
    let inputs = json!({ "type": "object", "properties": { "messages": { "type": "array" } } }).to_string();
    let tool = ["tool", "create", "heron", "--service", "llama.cpp", "--params", &params, "--operation", &operation];
    let schemas = ["--input-schema", &inputs, "--output-schema", r#"{"type": "object"}"#];
    home.run(&[&tool[..], &schemas[..]].concat()).assert_ok();
    let process = json!({ "name": "Chat with heron", "initialContext": ["message"], "outputTemplate": "{{answer.text}}",
        "steps": [{ "id": "answer", "toolId": "heron", "output": { "variable": "answer" },
            "inputs": { "messages": [{ "role": "user", "content": "{message}" }] } }] });
    let file = home.dir.with_extension("json");
    std::fs::write(&file, process.to_string()).unwrap();
    home.run(&["process", "new", "--file", file.to_str().unwrap()]).assert_ok();
}

#[test]
fn a_chat_is_answered_by_the_first_connected_model_until_another_default_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    assert_eq!(home.run(&["process", "default"]).assert_ok(), "Chat answers in new conversations.\n");
    let model = heron();
    connect(&home, &model);
    let told = home.run(&["process", "default"]).assert_ok();
    assert_eq!(told, "Chat with heron answers in new conversations.\n");
    let talk = chat(&home, r"How many herons?\n", &[]);
    assert_eq!((talk.code(), talk.out.as_str()), (Some(0), "Eleven herons.\n"), "{}", talk.err);
    assert_eq!(model.requests().len(), 1);

    // A default that cannot answer is never replaced silently.
    home.run(&["process", "edit", "Chat with heron", "--disable"]).assert_ok();
    let talk = chat(&home, r"How many storks?\n", &[]);
    assert_eq!((talk.code(), model.requests().len()), (Some(0), 1), "{}", talk.err);
    assert!(talk.err.contains("Chat with heron cannot answer") && talk.err.contains("is disabled"), "{}", talk.err);
    home.run(&["process", "edit", "Chat with heron", "--enable"]).assert_ok();

    // A conversation goes on with the process that answered in it.
    assert_eq!(home.run(&["process", "default", "--built-in"]).assert_ok(), "Chat answers in new conversations.\n");
    let talk = chat(&home, r"And by night?\n", &["How many herons?"]);
    assert_eq!((talk.out.as_str(), model.requests().len()), ("Eleven herons.\n", 2), "{}", talk.err);
    let talk = chat(&home, r"How many cranes?\n", &[]);
    assert_eq!((talk.code(), model.requests().len()), (Some(0), 2), "{}", talk.err);
    let chosen: Value =
        serde_json::from_str(&home.run(&["process", "default", "Chat with heron", "--json"]).assert_ok()).unwrap();
    assert_eq!((&chosen["process"]["name"], &chosen["version"]), (&"Chat with heron".into(), &3.into()), "{chosen}");
    let refused = home.run(&["process", "default", "Nobody"]);
    assert!(refused.err.contains("there is no process called Nobody"), "{}", refused.err);
}
