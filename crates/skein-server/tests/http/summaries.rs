//! Summaries of nodes and conversations: what a model is asked for them, which one, and when they are made anew.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::tree::node::TreeSummary;
use skein_core::{ConversationId, NodeId};
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};

use crate::conversation_fixture::{ConversationFixture, id};
use crate::recipes::{now, weather};
use crate::server_fixture::{ServerFixture, both, fresh_key};

const TOOL: &str = "/api/v1/settings/summaries.tool";

/// A provider that answers with these words, or not at all.
fn provider(words: Option<&'static str>) -> HostileServer {
    HostileServer::start(move |_| match words {
        Some(words) => {
            let message = json!({ "role": "assistant", "content": words });
            let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
            Behaviour::json(&json!({ "id": "r1", "model": "tiny-1", "choices": [choice] }).to_string())
        }
        None => Behaviour::answer(400, &[("content-type", "application/json")], r#"{"error":{"message":"no"}}"#),
    })
}

/// A tool that asks the provider, and the setting that says so.
async fn ask_provider(world: &ServerFixture, provider: &HostileServer) -> Value {
    let address = provider.address();
    let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &allowed).await;
    let mut service = weather();
    service["name"] = json!("Models");
    service["type"] = json!("llm_provider");
    service["protocol"] = json!("http");
    service["connectionSchema"]["properties"]["model"] = json!({ "type": "string" });
    let mut tool = now(&world.made("/api/v1/services", &service).await);
    tool["name"] = json!("Ask");
    tool["operation"] = json!({ "type": "llm_call", "promptTemplate": "{{city}}" });
    tool["connectionParams"] = json!({ "endpoint": provider.endpoint(), "model": "tiny-1" });
    let tool = world.made("/api/v1/tools", &tool).await;
    world.changed("PUT", TOOL, &json!({ "value": tool["id"] })).await;
    tool
}

/// What a request asked.
fn prompt(request: &Request) -> String {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["messages"][0]["content"].as_str().unwrap_or_else(|| panic!("no prompt in {body}")).to_owned()
}

async fn renew(talk: &ConversationFixture<'_>, end: &str) -> Value {
    talk.world.changed("POST", &format!("/api/v1{end}/summary"), &json!({})).await
}

fn of_node(said: &Value) -> String {
    format!("/nodes/{}", id(&said["node"]))
}

fn of_tree(talk: &ConversationFixture<'_>) -> String {
    talk.path.trim_start_matches("/api/v1").to_owned()
}

/// A greeting, a question and a short answer to it.
async fn chat(world: &ServerFixture) -> (ConversationFixture<'_>, [Value; 3]) {
    let talk = ConversationFixture::new(world).await;
    let greeting = talk.say(None, "Good morning by the lake.").await;
    let question = talk.say(Some(&greeting), "How many herons nest here?").await;
    let answer = talk.say(Some(&question), "Eleven.").await;
    (talk, [greeting, question, answer])
}

/// The newest summary of the tree, once it counts so many nodes.
async fn renewed(world: &ServerFixture, conversation: ConversationId, nodes: i64) -> TreeSummary {
    loop {
        let admin = world.admin.clone();
        let found = world.store.read(move |tx| tx.summary(&admin, conversation, None)).await.unwrap();
        match found.filter(|summary| summary.nodes == nodes) {
            Some(summary) => return summary,
            None => skein_testkit::wait::moment().await,
        }
    }
}

both! {
    async fn ag_sum_002_a_model_is_told_the_title_the_parent_and_the_grandparent_holds(world: &ServerFixture) {
        let provider = provider(Some("Ada says there are eleven. And more."));
        ask_provider(world, &provider).await;
        let (talk, said) = chat(world).await;
        let made = renew(&talk, &of_node(&said[2])).await;
        assert_eq!((&made["text"], &made["model"]), (&json!("Ada says there are eleven."), &json!("tiny-1")));
        let asked = prompt(&provider.requests()[0]);
        let context = "Tree: Herons\nBefore that: Good morning by the lake.\nPrevious: How many herons nest here?\n";
        assert!(asked.contains(context) && asked.ends_with("Message: Eleven."), "{asked}");
        // What has a summary is told by it.
        renew(&talk, &of_node(&said[1])).await;
        renew(&talk, &of_node(&said[2])).await;
        let asked = prompt(&provider.requests()[2]);
        assert!(asked.contains("Previous: Ada says there are eleven.\n"), "{asked}");
    }

    async fn br_tool_006_a_summary_by_a_tool_that_was_never_checked_logs_a_warning_holds(world: &ServerFixture) {
        let provider = provider(Some("A sentence."));
        let tool = ask_provider(world, &provider).await;
        let (talk, said) = chat(world).await;
        crate::log_lines::capture();
        renew(&talk, &of_node(&said[2])).await;
        let logged = crate::log_lines::logged_by_all();
        let warned = |line: &str| ["WARN", "BR-TOOL-006", id(&tool)].iter().all(|part| line.contains(part));
        assert!(logged.lines().any(warned), "{logged}");
    }

    async fn ag_sum_002_the_grandparent_of_a_long_node_and_what_was_destroyed_refuses(world: &ServerFixture) {
        let provider = provider(Some("A sentence."));
        ask_provider(world, &provider).await;
        let (talk, said) = chat(world).await;
        let long = talk.say(Some(&said[1]), &"Herons, and herons again. ".repeat(20)).await;
        renew(&talk, &of_node(&long)).await;
        let asked = prompt(&provider.requests()[0]);
        assert!(asked.contains("How many herons") && !asked.contains("Good morning"), "{asked}");
        // Destroying what a summary was made with destroys the summary.
        let kept = renew(&talk, &of_node(&said[2])).await;
        let path = format!("/api/v1/items/{}/redact", id(&said[0]["node"]));
        world.changed("POST", &path, &json!({ "reason": "asked to" })).await;
        let item = world.get(&format!("/api/v1/items/{}", kept["itemId"].as_str().unwrap())).await.json();
        assert_eq!(item["data"], Value::Null, "{item}");
        renew(&talk, &of_node(&said[2])).await;
        let asked = prompt(provider.requests().last().unwrap());
        assert!(asked.contains("How many herons") && !asked.contains("Good morning"), "{asked}");
    }

    async fn ag_sum_003_the_model_that_is_set_is_asked_once_and_its_calls_are_on_record_holds(world: &ServerFixture) {
        let provider = provider(Some("Herons are counted. There are eleven. And more."));
        let tool = ask_provider(world, &provider).await;
        let (talk, said) = chat(world).await;
        let lazily = world.get(&format!("/api/v1{}/summary", of_node(&said[0]))).await.json();
        assert_eq!((&lazily["text"], &lazily["model"]), (&json!("Herons are counted."), &json!("tiny-1")));
        let tree = renew(&talk, &of_tree(&talk)).await;
        assert_eq!(tree["text"], "Herons are counted. There are eleven.");
        let asked = prompt(&provider.requests()[1]);
        assert!(asked.contains("- Herons are counted.") && asked.contains("Branch points explored: 0"), "{asked}");
        let calls = world.get("/api/v1/items?type=ToolCall").await.json()["data"].clone();
        let call = &calls[0]["data"];
        assert_eq!((&call["toolId"], &call["inputs"]["conversationId"]), (&tool["id"], &json!(talk.path.rsplit('/').next())));
        assert!(!calls.to_string().contains("Good morning"), "what was said is not copied: {calls}");
        let results = world.get("/api/v1/items?type=ToolResult").await.json()["data"].clone();
        assert_eq!((results.as_array().unwrap().len(), &results[0]["data"]["status"]), (2, &json!("success")));
        // A repeat of the request costs no other call.
        let key = fresh_key();
        let again = |key: &str| {
            let request = world.request("POST", &format!("/api/v1{}/summary", of_tree(&talk)));
            request.header("idempotency-key", key).header("content-type", "application/json").body("{}".into()).unwrap()
        };
        let first = world.send(again(&key)).await.json();
        assert_eq!(world.send(again(&key)).await.json(), first);
        assert_eq!(provider.requests().len(), 3);
    }

    async fn ag_sum_003_a_tool_that_asks_no_model_or_does_not_answer_refuses(world: &ServerFixture) {
        let service = world.made("/api/v1/services", &weather()).await;
        let plain = world.made("/api/v1/tools", &now(&service)).await;
        let refused = world.change("PUT", TOOL, json!({ "value": plain["id"] }).to_string()).await;
        assert_eq!(refused.breaks(), (422, "AG-SUM-003".to_owned()));
        for value in [json!("Ask"), json!(7), json!([])] {
            let refused = world.change("PUT", TOOL, json!({ "value": value }).to_string()).await;
            assert_eq!(refused.refused(), (422, "invalid_setting".to_owned()), "{value}");
        }
        let provider = provider(None);
        ask_provider(world, &provider).await;
        let (talk, said) = chat(world).await;
        let made = renew(&talk, &of_node(&said[1])).await;
        assert_eq!(made["model"], "skein-offline-1", "the built-in model answers where another does not: {made}");
        let results = world.get("/api/v1/items?type=ToolResult").await.json()["data"].clone();
        assert_eq!((provider.requests().len(), &results[0]["data"]["status"]), (1, &json!("error")));
        // Somebody who may not call the tool is not made to.
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let (talk, said) = chat(&bert).await;
        assert_eq!(renew(&talk, &of_node(&said[1])).await["model"], "skein-offline-1");
        assert_eq!(provider.requests().len(), 1);
        world.changed("PUT", TOOL, &json!({ "value": null })).await;
        assert_eq!(world.get(TOOL).await.json()["value"], Value::Null);
    }

    async fn ag_sum_004_closing_a_conversation_renews_its_summary_holds(world: &ServerFixture) {
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        for is_folded in [true, false] {
            let (talk, said) = chat(world).await;
            let conversation: ConversationId = talk.path.rsplit('/').next().unwrap().parse().unwrap();
            let other = talk.say(Some(&said[0]), "How many storks?").await;
            if is_folded {
                talk.ask("POST", "/fold", &json!({ "summary": "Eleven herons." })).await;
            } else {
                let hash = talk.shown().await["hash"].clone();
                talk.ask("PUT", "", &json!({ "status": "archived", "basedOnHash": hash })).await;
            }
            let summary = renewed(world, conversation, 4).await;
            assert!(summary.text.contains("heron") || summary.text.contains("stork") || summary.text.contains("lake"), "{summary:?}");
            assert!(id(&other["node"]).parse::<NodeId>().is_ok());
        }
    }

    async fn ag_sum_004_closing_what_has_nothing_new_refuses(world: &ServerFixture) {
        let (talk, _) = chat(world).await;
        let conversation: ConversationId = talk.path.rsplit('/').next().unwrap().parse().unwrap();
        let first = renew(&talk, &of_tree(&talk)).await;
        talk.ask("POST", "/fold", &json!({ "summary": "Eleven herons." })).await;
        let (other, _) = chat(world).await;
        let other_id: ConversationId = other.path.rsplit('/').next().unwrap().parse().unwrap();
        other.ask("POST", "/fold", &json!({ "summary": "Eleven herons." })).await;
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        // Jobs are taken in their order: the first was taken up before the second, and has less to do.
        renewed(world, other_id, 3).await;
        let admin = world.admin.clone();
        let kept = world.store.read(move |tx| tx.summary(&admin, conversation, None)).await.unwrap().unwrap();
        assert_eq!(json!(kept.text), first["text"]);
        let summaries = world.get("/api/v1/items?type=TreeSummary&limit=100").await.json();
        let of_it = summaries["data"].as_array().unwrap().iter().filter(|item| {
            item["data"]["conversationId"] == json!(conversation) && item["data"]["nodeId"].is_null()
        });
        assert_eq!(of_it.count(), 1);
    }
}
