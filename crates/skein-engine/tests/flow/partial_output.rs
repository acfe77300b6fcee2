//! The words of an answer that broke off: kept when a person asks for it, by whoever said them, and gone on from.

use std::ops::Range;
use std::time::Duration;

use serde_json::json;
use skein_core::account::Scope;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, ExecutionId, KeyId, NodeId};
use skein_engine::account::{NewKey, PresentedCredential};
use skein_engine::flow::StreamEvent;
use skein_engine::{Caller, EngineError};
use skein_store::StoreError;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, broken_rule, fresh};
use crate::tool_runs::model_tool;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
/// More than one look at what is written down finds.
const PIECES: usize = 2_500;

fn said(text: &str) -> String {
    let choice = json!({ "index": 0, "delta": { "role": "assistant", "content": text }, "finish_reason": null });
    let chunk = json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] });
    format!("data: {chunk}\n\n")
}

/// A model that begins an answer and then says nothing more.
fn stalling() -> HostileServer {
    HostileServer::start(|_| Behaviour::Stall(format!("{HEAD}{}", said("One heron, two")).into_bytes()))
}

/// A model that goes on and on.
fn talking_on() -> HostileServer {
    HostileServer::start(|_| Behaviour::Drip {
        head: HEAD.into(),
        pieces: vec![said("and so on ").into_bytes(); 1_000],
        pause: Duration::from_millis(50),
    })
}

fn pieces(numbers: Range<usize>) -> impl Iterator<Item = String> {
    numbers.map(|number| format!("{number} "))
}

/// A model that says very much, in many pieces.
fn long_winded() -> HostileServer {
    HostileServer::start(|_| {
        let pieces = pieces(0..PIECES).map(|piece| said(&piece)).collect::<String>();
        let choice = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
        let last = json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] });
        Behaviour::Raw(format!("{HEAD}{pieces}data: {last}\n\ndata: [DONE]\n\n").into_bytes())
    })
}

/// A question that a model answers.
async fn asked(world: &EngineFixture, rogue: &HostileServer) -> (ConversationId, NodeId, ExecutionId) {
    let (model, context) = (model_tool(world, rogue).await, world.tool("Conversation context").await);
    let steps = json!([
        { "id": "context", "toolId": context, "inputs": { "nodeId": "{nodeId}" }, "output": { "variable": "window" } },
        { "id": "answer", "toolId": model, "inputs": { "messages": "{step.window.messages}" }, "output": { "variable": "answer" } },
    ]);
    let definition =
        json!({ "name": "Count", "initialContext": ["nodeId"], "steps": steps, "outputTemplate": "{{answer.text}}" });
    let process = world.process(definition).await;
    let (conversation, _) = world.talk("Count the herons.").await;
    let (node, run) = world.answer(conversation, process).await;
    (conversation, node, run)
}

/// An answer that was stopped in the middle.
async fn broken_off(world: &EngineFixture, rogue: &HostileServer) -> (ConversationId, NodeId, ExecutionId) {
    let (conversation, node, run) = asked(world, rogue).await;
    let mut listening = world.engine.listen(&world.caller, run, 0).await.unwrap();
    while !matches!(listening.next().await.unwrap(), StreamEvent::Piece(piece) if piece.text.contains("two")) {}
    world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Cancelled);
    (conversation, node, run)
}

/// Everything a listener hears after a piece, until the end.
async fn heard(world: &EngineFixture, run: ExecutionId, after: i64) -> (String, ExecutionStatus) {
    let mut listening = world.engine.listen(&world.caller, run, after).await.unwrap();
    let mut text = String::new();
    loop {
        match listening.next().await.unwrap() {
            StreamEvent::Piece(piece) => text.push_str(&piece.text),
            StreamEvent::End(status) => return (text, status),
        }
    }
}

/// Somebody let in by a key of the caller's.
async fn by_key(world: &EngineFixture) -> (Caller, KeyId) {
    let new = NewKey { name: "listener".to_owned(), scope: Scope::Read, expires_at: None };
    let key = world.engine.create_key(&world.caller, fresh(&world.caller), new).await.unwrap().value;
    let caller = world.engine.authenticate(&PresentedCredential::Key(key.text.unwrap()), None).await.unwrap();
    (caller, key.id)
}

both! {
    async fn whoever_may_listen_no_more_hears_no_more(world: &EngineFixture) {
        let rogue = talking_on();
        let (_, _, run) = asked(world, &rogue).await;
        let (listener, key) = by_key(world).await;
        let mut listening = world.engine.listen(&listener, run, 0).await.unwrap();
        assert!(matches!(listening.next().await.unwrap(), StreamEvent::Piece(_)));
        world.engine.revoke_key(&world.caller, fresh(&world.caller), key).await.unwrap();
        let refused = loop {
            match listening.next().await {
                Ok(StreamEvent::Piece(_)) => {}
                Ok(end) => panic!("it went on to its end: {end:?}"),
                Err(refused) => break refused,
            }
        };
        assert!(matches!(refused, EngineError::Store(StoreError::Forbidden)), "{refused:?}");
        let own = world.engine.listen(&world.caller, run, 0).await.unwrap().next().await;
        assert!(matches!(own, Ok(StreamEvent::Piece(_))), "{own:?}");
    }

    async fn who_listens_late_hears_every_piece_of_a_long_answer(world: &EngineFixture) {
        let rogue = long_winded();
        let (_, node, run) = asked(world, &rogue).await;
        let status = world.ended(run).await.row.status;
        let whole: String = pieces(0..PIECES).collect();
        assert_eq!(world.engine.node(&world.caller, node).await.unwrap().seen.content.unwrap()["text"], whole);
        assert_eq!(heard(world, run, 0).await, (whole.clone(), status));
        let rest: String = pieces(1_200..PIECES).collect();
        assert_eq!(heard(world, run, 1_200).await, (rest, status));
    }

    async fn br_exec_001_words_of_a_broken_answer_are_kept_beside_it_holds(world: &EngineFixture) {
        let rogue = stalling();
        let (conversation, broken, _) = broken_off(world, &rogue).await;
        let row = world.engine.node(&world.caller, broken).await.unwrap().seen.row;
        let place = (row.turn().unwrap(), broken);
        let kept = world.engine.keep_words(&world.caller, fresh(&world.caller), conversation, place, true).await.unwrap();
        let kept = kept.value.node.seen;
        assert_eq!(kept.content.as_ref().unwrap()["text"], "One heron, two");
        assert_eq!((kept.row.turn(), kept.row.parent), (row.turn(), row.parent));
        assert_ne!(kept.row.author, row.author, "no whole response proves that the model said it");
        assert_eq!((kept.row.author_type, kept.row.executed_by), (AuthorType::System, row.executed_by));
        assert!(kept.is_selected, "the path goes on there");
        let left = world.engine.node(&world.caller, broken).await.unwrap().seen;
        assert_eq!((left.row.status, left.content), (GenerationStatus::Failed, None), "it is whole or nothing");
        let chat = world.process_named("Chat").await;
        let (after, run) = world.answer(conversation, chat).await;
        world.ended(run).await;
        assert_eq!(world.engine.node(&world.caller, after).await.unwrap().seen.row.parent, Some(kept.row.id));
    }

    async fn br_exec_001_words_of_what_did_not_break_off_or_was_not_heard_refuses(world: &EngineFixture) {
        let rogue = stalling();
        let (conversation, broken, _) = broken_off(world, &rogue).await;
        let row = world.engine.node(&world.caller, broken).await.unwrap().seen.row;
        let turn = row.turn().unwrap();
        let keep = async |node| {
            let kept = world.engine.keep_words(&world.caller, fresh(&world.caller), conversation, (turn, node), true);
            kept.await.map(|kept| kept.value.node.seen.row.id)
        };
        let kept = keep(broken).await.unwrap();
        assert_eq!(broken_rule(&keep(kept).await.unwrap_err()), Some("BR-EXEC-001"), "that one is complete");
        let (silent, run) = {
            let process = row.executed_by.unwrap().process_id;
            let stopped = world.answer(conversation, process).await;
            world.engine.cancel_run(&world.caller, fresh(&world.caller), stopped.1).await.unwrap();
            stopped
        };
        world.ended(run).await;
        assert!(keep(silent).await.is_err(), "it is an answer of another turn");
    }
}
