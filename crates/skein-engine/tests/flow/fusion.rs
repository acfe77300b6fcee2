//! One answer made of several: by a process that is shown them, beside them, and with what it was made from on record.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use skein_core::garden::relation::{Endpoint, RelationKind};
use skein_core::{ConversationId, ExecutionId, NodeId, RecordId, Viewer};
use skein_engine::EngineError;
use skein_engine::flow::{AnswerTarget, NewAnswers};
use skein_store::timeline::relations::RelationSide;
use skein_store::tree::conversations::ConversationQuery;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh};
use crate::tool_runs;

/// A model that says how often it was asked, and what it was told each time.
fn counting() -> (HostileServer, Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let rogue = HostileServer::start(move |request| {
        let told: Value = serde_json::from_slice(&request.body).unwrap();
        let mut heard = heard.lock().unwrap();
        heard.push(told["messages"].clone());
        let message = json!({ "role": "assistant", "content": format!("Answer {}.", heard.len()) });
        let chunk = |delta: Value, finish: Value| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
            format!(
                "data: {}\n\n",
                json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice] })
            )
        };
        if told["stream"] != true {
            let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
            return Behaviour::json(
                &json!({ "id": "c", "object": "chat.completion", "model": "m", "choices": [choice] }).to_string(),
            );
        }
        let body = [chunk(message, Value::Null), chunk(json!({}), json!("stop")), "data: [DONE]\n\n".to_owned()];
        Behaviour::answer(200, &[("content-type", "text/event-stream")], body.concat())
    });
    (rogue, asked)
}

async fn fuse(
    world: &EngineFixture,
    conversation: ConversationId,
    process: RecordId,
    of: Vec<NodeId>,
) -> Result<(NodeId, ExecutionId), EngineError> {
    let turn = world.engine.node(&world.caller, of[0]).await?.seen.row.turn().unwrap();
    let wanted = AnswerTarget::Fused { turn, parent: None, of };
    let new = NewAnswers {
        wanted,
        processes: vec![process],
        samples: 1,
        make_active: true,
        remember_process: true,
        context: Map::new(),
    };
    let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await?.value.begun;
    Ok((begun[0].0.node.seen.row.id, begun[0].1))
}

both! {
    async fn br_turn_013_several_answers_become_one_that_tells_what_it_was_made_from(world: &EngineFixture) {
        let (rogue, asked) = counting();
        let process = tool_runs::process(world, &rogue, "never", 1).await;
        let (conversation, _) = world.talk("How many herons were there?").await;
        let (first, run) = world.answer(conversation, process).await;
        world.ended(run).await;
        let turn = world.engine.node(&world.caller, first).await.unwrap().seen.row.turn().unwrap();
        let new = NewAnswers { wanted: AnswerTarget::Beside { turn, parent: None }, processes: vec![process], samples: 1,
            make_active: false, remember_process: true, context: Map::new() };
        let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await.unwrap().value.begun;
        let second = begun[0].0.node.seen.row.id;
        world.ended(begun[0].1).await;

        let (fused, run) = fuse(world, conversation, process, vec![first, second]).await.unwrap();
        world.ended(run).await;
        assert_eq!(world.said(fused).await, "Answer 3.");
        let told = asked.lock().unwrap()[2].to_string();
        assert!(told.contains("How many herons") && told.contains("Answer 1.") && told.contains("Answer 2."), "{told}");
        let made = world.engine.node(&world.caller, fused).await.unwrap();
        assert_eq!((made.seen.row.turn(), made.seen.is_selected), (Some(turn), true));
        let viewer = Viewer::User(world.caller.user);
        let cited = world.store.read(move |tx| {
            tx.relations(&viewer, Endpoint::Item(fused.into()), RelationSide::Outgoing, Some(RelationKind::DerivedFrom), None, 9)
        });
        let cited: Vec<Endpoint> = cited.await.unwrap().rows.iter().map(|relation| relation.target).collect();
        assert_eq!(cited.len(), 2);
        assert!([first, second].iter().all(|node| cited.contains(&Endpoint::Item((*node).into()))), "{cited:?}");

        // Nobody's list shows where it was asked for, and nothing of it is told later.
        let query = ConversationQuery { limit: 10, ..ConversationQuery::default() };
        let listed = world.engine.conversations(&world.caller, query).await.unwrap().rows;
        assert_eq!(listed.len(), 1, "{listed:?}");
        let (_, run) = world.answer(conversation, process).await;
        world.ended(run).await;
        let told = asked.lock().unwrap()[3].to_string();
        assert!(told.contains("Answer 3.") && !told.contains("Below are several answers"), "{told}");
    }

    async fn br_turn_013_one_answer_or_an_empty_one_is_not_made_into_one_refuses(world: &EngineFixture) {
        let chat = world.process_named("Chat").await;
        let (conversation, _) = world.talk("How many herons were there? There were eleven herons.").await;
        let (first, run) = world.answer(conversation, chat).await;
        world.ended(run).await;
        let refused = fuse(world, conversation, chat, vec![first]).await.unwrap_err().to_string();
        assert!(refused.contains("two to eight"), "{refused}");
        let unknown = fuse(world, conversation, chat, vec![first, NodeId::from_bytes([7; 16])]).await;
        assert!(unknown.is_err());
    }
}
