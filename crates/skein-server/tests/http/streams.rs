//! Streams of a model's text: their audience, cursors and servers; events carry none of it.

use std::time::Duration;

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::conversation_fixture::{ConversationFixture, id};
use crate::feed::{Feed, FeedEvent, names};
use crate::server_fixture::{ServerFixture, both};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const WORDS: [&str; 4] = ["Three ", "herons ", "by the ", "weir."];

fn piece(text: Option<&str>) -> Vec<u8> {
    let delta = text.map_or_else(|| json!({}), |text| json!({ "role": "assistant", "content": text }));
    let finish = if text.is_some() { Value::Null } else { json!("stop") };
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] }))
        .into_bytes()
}

/// A model that answers in four pieces and takes its time.
fn model() -> HostileServer {
    HostileServer::start(|_| Behaviour::Drip {
        head: HEAD.into(),
        pieces: WORDS.into_iter().map(Some).chain([None]).map(piece).collect(),
        pause: Duration::from_millis(20),
    })
}

/// A model that begins and does not end.
fn stalling() -> HostileServer {
    HostileServer::start(|_| Behaviour::Stall([HEAD.as_bytes(), &piece(Some("Three "))].concat()))
}

/// Has a model answer in a conversation; where its answer is listened to.
async fn asked(world: &ServerFixture, rogue: &HostileServer) -> String {
    begun(world, rogue).await.0
}

/// The same, with the node that is to hold the answer.
async fn begun(world: &ServerFixture, rogue: &HostileServer) -> (String, Value) {
    let address = rogue.address();
    let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
    world.made("/api/v1/allowed-endpoints", &allowed).await;
    let service = json!({ "name": "Model server", "type": "llm_provider", "protocol": "http", "requiresSecret": false,
        "connectionSchema": { "type": "object", "required": ["endpoint", "model"], "properties": {
            "endpoint": { "type": "string" }, "model": { "type": "string" } } } });
    let service = world.made("/api/v1/services", &service).await;
    let tool = json!({ "name": "Hugin", "serviceId": service["id"],
        "connectionParams": { "endpoint": rogue.endpoint(), "model": "m" },
        "operation": { "type": "llm_call", "promptTemplate": "{{message}}" },
        "inputSchema": { "type": "object", "properties": { "message": { "type": "string" } } },
        "outputSchema": { "type": "object" } });
    let tool = world.made("/api/v1/tools", &tool).await;
    let step = json!({ "id": "answer", "toolId": tool["id"], "inputs": { "message": "{message}" }, "output": { "variable": "answer" } });
    let process =
        json!({ "name": "Count", "initialContext": ["message"], "steps": [step], "outputTemplate": "{{answer.text}}" });
    let process = world.made("/api/v1/processes", &process).await;
    let talk = ConversationFixture::new(world).await;
    let said = talk.say(None, "How many?").await;
    let answer =
        json!({ "parentAlternativeId": said["node"]["id"], "speaker": "agent", "processIds": [process["id"]] });
    let answer = talk.ask("POST", "/turns", &answer).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let answer = &answer.json()["answers"][0];
    let path = format!("/api/v1/executions/{}/stream", answer["executionId"].as_str().unwrap());
    (path, answer["node"]["id"].clone())
}

fn is_end(heard: &FeedEvent) -> bool {
    heard.name == "end"
}

fn numbers(heard: &[FeedEvent]) -> Vec<Option<&str>> {
    heard.iter().map(|heard| heard.id.as_deref()).collect()
}

fn text(heard: &[FeedEvent]) -> String {
    heard.iter().filter_map(|heard| heard.data["text"].as_str()).collect()
}

both! {
    async fn an_answer_is_heard_piece_by_piece_and_from_any_piece_on(world: &ServerFixture) {
        let (rogue, _worker) = (model(), Worker::start(world.engine.clone(), "test".to_owned()));
        let path = asked(world, &rogue).await;
        let heard = Feed::open(world, &path, None).await.until(is_end).await;
        assert_eq!(names(&heard), ["text", "text", "text", "text", "end"]);
        assert_eq!(numbers(&heard), [Some("1"), Some("2"), Some("3"), Some("4"), None]);
        assert_eq!((text(&heard), &heard[4].data), (WORDS.concat(), &json!({ "status": "completed" })));

        // It has ended: what was said is still heard, from after any piece, by header or by parameter.
        for after in 0..=4_usize {
            let by_header = Feed::open(world, &path, Some(&after.to_string())).await.until(is_end).await;
            assert_eq!(text(&by_header), WORDS[after..].concat());
            let by_parameter = Feed::open(world, &format!("{path}?after={after}"), None).await.until(is_end).await;
            assert_eq!(by_parameter, by_header);
        }
        assert_eq!(world.get(&format!("{path}?after=soon")).await.refused(), (400, "invalid_query".to_owned()));
    }

    async fn others_hear_nothing_of_it_and_events_tell_no_words(world: &ServerFixture) {
        let (rogue, _worker) = (model(), Worker::start(world.engine.clone(), "test".to_owned()));
        let (path, node) = begun(world, &rogue).await;
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(other.get(&path).await.status, 404);
        Feed::open(world, &path, None).await.until(is_end).await;
        let ended = |heard: &FeedEvent| heard.name == "node.created" && heard.data["subject"] == node;
        let told = Feed::whole(world).await.until(ended).await;
        for heard in told {
            let said = heard.data.to_string();
            assert!(WORDS.iter().all(|word| !said.contains(word.trim())), "{said}");
        }
    }

    async fn a_key_that_is_revoked_hears_no_more(world: &ServerFixture) {
        let (rogue, _worker) = (stalling(), Worker::start(world.engine.clone(), "test".to_owned()));
        let path = asked(world, &rogue).await;
        let key = world.made("/api/v1/keys", &json!({ "name": "phone", "scope": "read" })).await;
        let listener = world.with_key(key["key"].as_str().unwrap().parse().unwrap());
        let mut feed = Feed::open(&listener, &path, None).await;
        assert_eq!(text(&feed.take(1).await), WORDS[0]);
        world.change("DELETE", &format!("/api/v1/keys/{}", id(&key)), "").await;
        assert_eq!(feed.rest().await, "", "the stream ends without another word");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_heard_at_another_server() {
    let world = ServerFixture::postgres().await;
    let other = world.beside().await;
    let (rogue, _worker) = (model(), Worker::start(world.engine.clone(), "test".to_owned()));
    let path = asked(&world, &rogue).await;
    let heard = Feed::open(&other, &path, None).await.until(is_end).await;
    assert_eq!(text(&heard), WORDS.concat());
}
