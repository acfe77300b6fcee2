//! The whole story of a run, as one person lives it: an answer without a key, one by a model, a question, a kill, a trace.

use serde_json::{Value, json};
use skein_testkit::litellm::Litellm;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::wait::until;

use crate::interrupted::{Slow, ask, ended, lease_as_ever, lease_shortly, made};
use crate::server::{Home, Server};

const EDITED: &str = "The launch moved to 14 March.";

fn id(thing: &Value) -> &str {
    thing["id"].as_str().unwrap_or_else(|| panic!("no id in {thing}"))
}

fn look(server: &Server, path: &str) -> Value {
    ask(server, "GET", path, &Value::Null)
}

/// The id of something by its name.
pub(crate) fn named(server: &Server, path: &str, name: &str) -> String {
    let listed = look(server, &format!("{path}?limit=100"));
    let found = listed["data"].as_array().unwrap().iter().find(|one| one["name"] == name);
    id(found.unwrap_or_else(|| panic!("no {name} in {listed}"))).to_owned()
}

/// Has a process answer where the conversation stands; the run and the node it fills.
pub(crate) fn answer(server: &Server, conversation: &str, process: &str) -> (String, String) {
    let body = json!({ "speaker": "agent", "processId": process });
    let begun = ask(server, "POST", &format!("/conversations/{conversation}/turns"), &body);
    let answer = &begun["answers"][0];
    (answer["executionId"].as_str().unwrap().to_owned(), id(&answer["node"]).to_owned())
}

fn say(server: &Server, conversation: &str, parent: Option<&str>, text: &str) {
    let body = json!({ "parentAlternativeId": parent, "text": text });
    ask(server, "POST", &format!("/conversations/{conversation}/turns"), &body);
}

fn text_of(server: &Server, node: &str) -> String {
    let node = look(server, &format!("/nodes/{node}"));
    node["content"]["text"].as_str().unwrap_or_else(|| panic!("it says nothing: {node}")).to_owned()
}

/// A tool that asks the model behind an OpenAI-compatible server.
fn model_tool(server: &Server, litellm: &Litellm) -> String {
    let address = litellm.address();
    made(server, "/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() }));
    let schema = json!({ "type": "object", "required": ["endpoint", "model"],
        "properties": { "endpoint": { "type": "string" }, "model": { "type": "string" } } });
    let service = json!({ "name": "Models", "type": "llm_provider", "protocol": "http", "requiresSecret": true, "connectionSchema": schema });
    let service = made(server, "/services", &service);
    let secret = json!({ "name": "model key", "type": "api_key", "value": Litellm::KEY });
    let secret = made(server, "/secrets", &secret);
    let tool = json!({ "name": "Hugin", "serviceId": service, "secretId": secret,
        "connectionParams": { "endpoint": litellm.endpoint(), "model": Litellm::MODEL },
        "operation": { "type": "llm_call", "promptTemplate": "", "messagesFrom": "messages" },
        "inputSchema": { "type": "object", "required": ["messages"], "properties": { "messages": { "type": "array" } } },
        "outputSchema": { "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } } });
    made(server, "/tools", &tool)
}

fn slow_tool(server: &Server, slow: &Slow) -> String {
    let address = slow.rogue.address();
    made(server, "/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() }));
    let schema =
        json!({ "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } });
    let service = json!({ "name": "slow", "type": "rest_api", "protocol": "http", "connectionSchema": schema });
    let service = made(server, "/services", &service);
    let tool = json!({ "name": "word", "serviceId": service, "connectionParams": { "endpoint": slow.rogue.endpoint() },
        "operation": { "type": "rest_call", "method": "GET", "path": "/word" }, "inputSchema": { "type": "object" } });
    made(server, "/tools", &tool)
}

/// The model answers, a person sees and edits what it said, and a slow service has the last word.
fn careful(server: &Server, litellm: &Litellm, slow: &Slow) -> String {
    let step = |id: &str, tool: &str, inputs: Value| json!({ "id": id, "toolId": tool, "inputs": inputs, "output": { "variable": id } });
    let context = named(server, "/tools", "Conversation context");
    let echo = named(server, "/tools", "Echo");
    let mut approved = step("approved", &echo, json!({ "value": "{step.answer.text}" }));
    approved["execution"] = json!({ "interactionMode": "manual" });
    let steps = [
        step("window", &context, json!({ "nodeId": "{nodeId}" })),
        step("answer", &model_tool(server, litellm), json!({ "messages": "{step.window.messages}" })),
        approved,
        step("last", &slow_tool(server, slow), json!({})),
    ];
    let process = json!({ "name": "Careful", "initialContext": ["nodeId"], "steps": steps,
        "outputTemplate": "{{approved.value}} {{last.word}}" });
    made(server, "/processes", &process)
}

/// What the trace of the careful answer has to tell.
fn check_trace(run: &Value, node: &str) {
    let happened: Vec<&str> =
        run["timeline"].as_array().unwrap().iter().map(|moment| moment["what"].as_str().unwrap()).collect();
    let count = |what: &str| happened.iter().filter(|happened| **happened == what).count();
    assert_eq!((happened.first(), happened.last()), (Some(&"began"), Some(&"ended")), "{happened:?}");
    assert_eq!([count("called"), count("returned"), count("asked"), count("decided")], [4, 4, 1, 1], "{happened:?}");
    let calls = run["calls"].as_array().unwrap();
    let steps: Vec<&Value> = calls.iter().map(|call| &call["stepId"]).collect();
    assert_eq!(steps, ["window", "answer", "approved", "last"]);
    for pair in calls.windows(2) {
        assert_eq!(pair[1]["causedBy"], pair[0]["id"], "each led to the next");
        assert_eq!(pair[1]["call"]["predecessor"], pair[0]["id"]);
    }
    assert!(calls.iter().all(|call| call["result"]["result"]["status"] == "success"), "{run}");
    let model = &calls[1]["result"]["result"];
    assert_eq!(model["output"]["text"], Litellm::ANSWER);
    assert!(model["usage"]["outputTokens"].as_u64().unwrap() > 0 && model["rawResponseId"].is_string(), "{model}");
    assert_eq!(calls[2]["call"]["inputs"]["value"], EDITED);
    assert_eq!((&run["nodeId"], &run["status"]), (&json!(node), &json!("completed")));
    assert!(!run.to_string().contains(Litellm::KEY), "nobody is shown the key");
}

fn lived_through(home: &Home, litellm: &Litellm) {
    let mut server = home.serve();

    // With no key.
    let conversation = made(&server, "/conversations", &json!({ "title": "The launch" }));
    say(&server, &conversation, None, "The launch is on 3 March. When is the launch?");
    let chat = named(&server, "/processes", "Chat");
    let (run, node) = answer(&server, &conversation, &chat);
    let first = ended(&server, &run);
    assert_eq!(first["status"], "completed", "{first}");
    assert!(text_of(&server, &node).contains("3 March"), "{}", text_of(&server, &node));

    // With a model, and a step that asks.
    say(&server, &conversation, Some(&node), "Ask somebody who knows.");
    let slow = Slow::start();
    let process = careful(&server, litellm, &slow);
    let (run, node) = answer(&server, &conversation, &process);
    let review = until("somebody is asked", || look(&server, "/reviews")["data"].get(0).cloned());
    assert_eq!((&review["stepId"], &review["asked"]["inputs"]["value"]), (&json!("approved"), &json!(Litellm::ANSWER)));
    assert_eq!(look(&server, &format!("/nodes/{node}"))["status"], "pending");

    // The question outlives the server. Only whoever is to die has short leases: the model may take its time.
    lease_shortly(&server);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    let mut server = home.serve();
    let approve = json!({ "decision": "approve", "inputs": { "value": EDITED } });
    ask(&server, "POST", &format!("/reviews/{}/decide", id(&review)), &approve);

    // Killed in the middle of a call.
    slow.wait_for_requests(1);
    lease_as_ever(&server);
    server.process.kill_nine();
    let mut server = home.serve();
    let whole = ended(&server, &run);
    assert_eq!((&whole["status"], slow.arrived()), (&json!("completed"), 2), "{whole}");
    assert_eq!(text_of(&server, &node), format!("{EDITED} done"));
    check_trace(&whole, &node);
    let drawn = home.run(&["execution", "show", &run]).assert_ok();
    assert!(drawn.contains("approved: done") && drawn.contains(EDITED), "{drawn}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn a_conversation_answers_asks_me_goes_on_after_a_kill_and_tells_it_all_on_both_databases() {
    let folder = tempfile::tempdir().unwrap();
    let litellm = Litellm::start();
    lived_through(&Home::at(&folder.path().join("sqlite")), &litellm);
    let database = Database::fresh(Cluster::shared());
    let postgres = Home { database: Some(database.url().to_owned()), ..Home::at(&folder.path().join("postgres")) };
    lived_through(&postgres, &litellm);
}
