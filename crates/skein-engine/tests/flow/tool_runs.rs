//! Tools a model asks for while it answers: a server that speaks the protocol of chat completions asks for them.

use serde_json::{Value, json};
use skein_core::fence::tool_output;
use skein_core::flow::execution::review::{ApprovalScope, Decision};
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::garden::item::ItemType;
use skein_core::memory::episode::episode_of;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::conversation::ConversationKind;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::TurnType;
use skein_core::{ConversationId, ItemId, PathId, RecordId, Viewer};
use skein_engine::memory::{EpisodeStatus, RecallQuery};
use skein_store::tree::conversations::ConversationQuery;
use skein_store::tree::read::SeenNode;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};

use crate::engine_fixture::{EngineFixture, both, fresh};

/// A model that asks for `echo` once, or forever, and then tells what it was told.
pub(crate) fn model(is_insatiable: bool) -> HostileServer {
    HostileServer::start(move |request| answer(request, is_insatiable))
}

fn answer(request: &Request, is_insatiable: bool) -> Behaviour {
    let asked: Value = serde_json::from_slice(&request.body).unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let told = messages.iter().rfind(|message| message["role"] == "tool");
    let has_tools = asked["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let (message, finish) = match told {
        Some(told) if !is_insatiable => {
            (json!({ "role": "assistant", "content": format!("The tool says {}", unfenced(told)) }), "stop")
        }
        _ if has_tools => {
            let function = json!({ "name": "echo", "arguments": "{\"value\":\"pancakes\"}" });
            let call = json!({ "index": 0, "id": format!("call_{}", messages.len()), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": "Let me look.", "tool_calls": [call] }), "tool_calls")
        }
        _ => (json!({ "role": "assistant", "content": "No tools." }), "stop"),
    };
    reply(&asked, message, finish)
}

/// The output inside its fence; a person's words have none.
fn unfenced(told: &Value) -> String {
    let content = told["content"].as_str().unwrap();
    tool_output(content).unwrap_or_else(|| content.to_owned())
}

/// A message in the form that was asked for: whole, or as a stream.
pub(crate) fn reply(asked: &Value, message: Value, finish: &str) -> Behaviour {
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12 });
    if asked["stream"] != true {
        let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
        let body =
            json!({ "id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage });
        return Behaviour::json(&body.to_string());
    }
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!(
            "data: {}\n\n",
            json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] })
        )
    };
    let last = json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage });
    let body =
        [chunk(message, Value::Null), chunk(json!({}), json!(finish)), format!("data: {last}\n\ndata: [DONE]\n\n")];
    Behaviour::answer(200, &[("content-type", "text/event-stream")], body.concat())
}

/// A process whose model may call `echo`.
pub(crate) async fn process(world: &EngineFixture, rogue: &HostileServer, approval: &str, rounds: u8) -> RecordId {
    let model = model_tool(world, rogue).await;
    process_of(world, model, approval, rounds).await
}

/// The same with a model that is there already.
pub(crate) async fn process_of(world: &EngineFixture, model: RecordId, approval: &str, rounds: u8) -> RecordId {
    let echo = world.tool("Echo").await;
    let context = world.tool("Conversation context").await;
    let steps = json!([
        { "id": "context", "toolId": context, "inputs": { "nodeId": "{nodeId}" }, "output": { "variable": "window" } },
        { "id": "answer", "toolId": model, "inputs": { "messages": "{step.window.messages}" }, "output": { "variable": "answer" },
            "tools": [{ "toolId": echo, "approval": approval }], "toolLimits": { "rounds": rounds } },
    ]);
    let definition =
        json!({ "name": "Cook", "initialContext": ["nodeId"], "steps": steps, "outputTemplate": "{{answer.text}}" });
    world.process(definition).await
}

pub(crate) async fn model_tool(world: &EngineFixture, rogue: &HostileServer) -> RecordId {
    let address = rogue.address();
    let host = address.ip().to_string();
    let allowed = world.engine.allow_endpoint(&world.caller, fresh(&world.caller), &host, address.port());
    allowed.await.unwrap();
    let service = json!({ "name": "Model server", "type": "llm_provider", "protocol": "http", "requiresSecret": false,
        "connectionSchema": { "type": "object", "required": ["endpoint", "model"], "properties": {
            "endpoint": { "type": "string" }, "model": { "type": "string" } } } });
    let service = serde_json::from_value(service).unwrap();
    let service = world.engine.create_service(&world.caller, fresh(&world.caller), service).await.unwrap().value.id;
    let tool = json!({ "name": "Hugin", "serviceId": service,
        "connectionParams": { "endpoint": rogue.endpoint(), "model": "m" },
        "operation": { "type": "llm_call", "promptTemplate": "", "messagesFrom": "messages" },
        "inputSchema": { "type": "object", "required": ["messages"], "properties": { "messages": { "type": "array" } } },
        "outputSchema": { "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } } });
    let tool = serde_json::from_value(tool).unwrap();
    world.engine.create_tool(&world.caller, fresh(&world.caller), tool).await.unwrap().value.id
}

/// The only tool run of a conversation, and what was said in it.
async fn tool_run(
    world: &EngineFixture,
    conversation: ConversationId,
) -> (skein_engine::tree::ShownConversation, Vec<SeenNode>) {
    let forks = world.engine.forks(&world.caller, conversation, None, 10).await.unwrap().rows;
    assert_eq!(forks.len(), 1);
    let fork = forks.into_iter().next().unwrap();
    let viewer = Viewer::User(world.caller.user);
    let (id, end) = (fork.row.id, fork.cursor.unwrap());
    let nodes = world.store.read(move |tx| tx.path_to(&viewer, PathId::main_of(id), end, 100)).await.unwrap();
    let nodes = nodes.into_iter().filter(|node| node.row.conversation == id).collect();
    (fork, nodes)
}

fn text(node: &SeenNode) -> &str {
    node.content.as_ref().unwrap()["text"].as_str().unwrap()
}

/// Told by a person, and by the model to its tool.
const SAID: &str = "My number is \"0151\",\nor rather 2345678.";

/// A model that hands on what it was told.
fn repeating() -> HostileServer {
    HostileServer::start(|request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let is_told = asked["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
        if is_told {
            return reply(&asked, json!({ "role": "assistant", "content": "It is noted." }), "stop");
        }
        let function = json!({ "name": "echo", "arguments": json!({ "value": SAID }).to_string() });
        let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
        reply(&asked, json!({ "role": "assistant", "content": "Let me note it.", "tool_calls": [call] }), "tool_calls")
    })
}

both! {
    async fn br_turn_episode_001_a_redaction_reaches_the_messages_of_tool_runs_holds(world: &EngineFixture) {
        let rogue = repeating();
        let process = process(world, &rogue, "never", 4).await;
        let (conversation, asked) = world.talk(SAID).await;
        let (node, run) = world.answer(conversation, process).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        let (_, before) = tool_run(world, conversation).await;
        assert!(text(&before[0]).contains("2345678") && text(&before[1]).contains("2345678"), "{before:?}");
        let reason = "said by mistake".to_owned();
        let redacted = world.engine.redact_item(&world.caller, fresh(&world.caller), asked.into(), reason).await.unwrap();
        assert!(redacted.value.quotes.is_empty(), "nobody else wrote it: {redacted:?}");
        let (_, after) = tool_run(world, conversation).await;
        let left: Vec<bool> = after.iter().map(|node| node.content.is_some()).collect();
        assert_eq!(left, [false, false, true]);
        assert_eq!((text(&after[2]), world.said(node).await.as_str()), ("It is noted.", "It is noted."));
        for item_type in [ItemType::TOOL_CALL, ItemType::TOOL_RESULT, ItemType::EXECUTION_BEGUN, ItemType::NODE_CONTENT] {
            let kept = world.facts(&world.caller, item_type.clone()).await;
            assert!(!kept.iter().any(|fact| fact.to_string().contains("2345678")), "{item_type}: {kept:?}");
        }
        let viewer = Viewer::User(world.caller.user);
        let raw = world.store.read(move |tx| {
            let raw = tx.node(&viewer, node)?.raw_response.expect("a model answered").item_id;
            tx.item(&viewer, raw)
        });
        assert!(raw.await.unwrap().item.payload.is_some(), "the answer says nothing of it, and stays whole");
    }

    async fn br_episode_003_the_main_thread_gets_the_answer_and_the_tool_run_all_of_it_holds(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "never", 4).await;
        let (conversation, asked) = world.talk("What shall we eat?").await;
        let (node, run) = world.answer(conversation, process).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert_eq!(world.said(node).await, "The tool says {\"value\":\"pancakes\"}");
        let (fork, said) = tool_run(world, conversation).await;
        assert_eq!((fork.shown.entry.kind, fork.row.origin), (ConversationKind::ToolRun, Some(asked)));
        assert!(fork.title.starts_with("Tool run in ") && fork.shown.entry.title.is_none(), "{}", fork.title);
        let authors: Vec<AuthorType> = said.iter().map(|node| node.row.author_type).collect();
        assert_eq!(authors, [AuthorType::Model, AuthorType::System, AuthorType::Model]);
        let types: Vec<TurnType> = said.iter().map(|node| node.spoken.unwrap().1).collect();
        assert_eq!(types, [TurnType::Message, TurnType::ToolResult, TurnType::Message]);
        let made_by = said.iter().map(|node| node.row.executed_by.map(|by| by.process_id));
        assert!(made_by.eq([Some(process); 3]), "what the system says names its process, too");
        assert_eq!(text(&said[0]), "Let me look.\necho({\"value\":\"pancakes\"})");
        assert_eq!(text(&said[1]), "echo: {\"value\":\"pancakes\"}");
        assert_eq!(text(&said[2]), world.said(node).await);
        let summary = fork.shown.entry.summary.unwrap();
        let cited: Vec<ItemId> = summary.cites.iter().map(|cite| cite.node).collect();
        assert!(fork.row.folded && !summary.text.contains("pancakes"), "no copy that a redaction would leave: {summary:?}");
        assert_eq!(cited, [said[2].row.id.into()]);
        let viewer = Viewer::User(world.caller.user);
        let query = ConversationQuery { archived: false, project: None, after: None, limit: 10 };
        let listed = world.store.read(move |tx| tx.conversations(&viewer, &query)).await.unwrap().rows;
        assert_eq!(listed.len(), 1, "tool runs are not listed");
        let window =
            world.engine.context_at(&world.caller, node, skein_engine::tree::ContextQuery::default()).await.unwrap();
        assert!(!format!("{:?}", window.window.prompt).contains("echo("), "{:?}", window.window.prompt);
        let callers: Vec<&str> = shown.calls.iter().map(|call| call.said["caller"].as_str().unwrap()).collect();
        assert_eq!(callers, ["process", "process", "model", "process"]);
    }

    async fn br_episode_003_what_was_said_while_a_tool_worked_is_kept_and_never_found_holds(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "never", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (_, run) = world.answer(conversation, process).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        let (_, said) = tool_run(world, conversation).await;
        let folder = tempfile::tempdir().unwrap();
        world.engine.remember_in(folder.path().join("index"));
        let status = loop {
            world.engine.remember_all().await.unwrap();
            let episode = world.engine.episode(&world.caller, episode_of(said[0].row.id)).await.unwrap();
            if episode.status != EpisodeStatus::Waiting {
                break (episode.status, episode.reason);
            }
            skein_testkit::wait::moment().await;
        };
        assert_eq!(status, (EpisodeStatus::Kept, Some("it was said while a tool worked")));
        let query = RecallQuery { text: "Let me look".to_owned(), strict: true, limit: 10, ..RecallQuery::default() };
        let found = world.engine.recall(&world.caller, query).await.unwrap().page.rows;
        assert!(found.iter().all(|hit| hit.episode.place.unwrap().conversation == conversation), "{found:?}");
    }

    async fn a_call_that_is_to_be_approved_waits_and_is_made_as_it_was_edited(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "always", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (node, run) = world.answer(conversation, process).await;
        let asked = world.review().await;
        assert_eq!(json!(asked.row.asked)["inputs"], json!({ "value": "pancakes" }), "{:?}", asked.row.asked);
        let Value::Object(inputs) = json!({ "value": "waffles" }) else { unreachable!() };
        let approve = Decision::Approve { inputs: Some(inputs), scope: None };
        world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, approve).await.unwrap();
        world.ended(run).await;
        assert_eq!(world.said(node).await, "The tool says {\"value\":\"waffles\"}");
    }

    async fn z14_a_model_that_was_trusted_with_a_tool_for_good_is_not_asked_about_again(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "always", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (_, run) = world.answer(conversation, process).await;
        let always = Decision::Approve { inputs: None, scope: Some(ApprovalScope::Always) };
        world.decide(&world.review().await, always).await;
        world.ended(run).await;
        let (elsewhere, _) = world.talk("And what tomorrow?").await;
        let (node, run) = world.answer(elsewhere, process).await;
        assert!(world.ended(run).await.reviews.is_empty());
        assert_eq!(world.said(node).await, "The tool says {\"value\":\"pancakes\"}");
    }

    async fn a_call_that_is_denied_is_told_to_the_model(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "always", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (node, run) = world.answer(conversation, process).await;
        let asked = world.review().await;
        let deny = Decision::Deny { reason: Some("not before noon".to_owned()) };
        world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, deny).await.unwrap();
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert!(world.said(node).await.contains("denied this call: not before noon"), "{}", world.said(node).await);
        let (_, said) = tool_run(world, conversation).await;
        assert!(text(&said[1]).contains("not before noon"));
        assert!(shown.calls.iter().all(|call| call.said["caller"] == "process"), "nothing was called");
    }

    async fn br_step_006_a_model_that_is_asked_back_answers_and_nothing_is_called_holds(world: &EngineFixture) {
        let rogue = model(false);
        let process = process(world, &rogue, "always", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (node, run) = world.answer(conversation, process).await;
        let asked = world.review().await;
        let ask = Decision::Ask { question: "Who is hungry?".to_owned() };
        world.decide(&asked, ask.clone()).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert!(world.said(node).await.contains("the person asks: Who is hungry?"), "{}", world.said(node).await);
        let (_, said) = tool_run(world, conversation).await;
        assert!(text(&said[1]).contains("Who is hungry?"), "it is on record where the tools worked");
        assert!(shown.calls.iter().all(|call| call.said["caller"] == "process"), "nothing was called");
        let decided = world.facts(&world.caller, ItemType::REVIEW_DECIDED).await;
        assert_eq!(decided[0]["decided"], json!({ "decision": "ask", "question": "Who is hungry?" }));
        assert_eq!(shown.reviews[0].decision, Some(ask));
    }

    async fn z14_a_model_that_never_stops_asking_is_stopped_refuses(world: &EngineFixture) {
        let rogue = model(true);
        let process = process(world, &rogue, "never", 2).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (node, run) = world.answer(conversation, process).await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!((failure.fault.code.as_str(), failure.fault.rule.as_deref()), ("tool_limit_exceeded", Some("Z14")));
        assert_eq!(rogue.requests().len(), 3, "two rounds, and the one that was too many");
        let node = world.engine.node(&world.caller, node).await.unwrap();
        assert_eq!(node.seen.row.status, GenerationStatus::Failed);
        let (fork, said) = tool_run(world, conversation).await;
        assert_eq!(said.len(), 4, "two wishes and two results");
        assert!(fork.shown.entry.summary.unwrap().text.contains("limit of rounds"));
    }

    async fn br_episode_003_what_tools_said_refuses_to_enter_the_main_thread(world: &EngineFixture) {
        let (rogue, insatiable) = (model(false), model(true));
        let cook = process(world, &rogue, "never", 4).await;
        let (conversation, asked) = world.talk("What shall we eat?").await;
        let (answer, run) = world.answer(conversation, cook).await;
        world.ended(run).await;
        let path = world.engine.path(&world.caller, conversation, None, 100).await.unwrap().rows;
        let path: Vec<_> = path.into_iter().map(|node| node.seen.row.id).collect();
        assert_eq!(path, [asked, answer], "the main thread has the question and the answer");
        // A later answer is given nothing of it either, and a run that fails leaves no more than that it failed.
        let hungry = process(world, &insatiable, "never", 1).await;
        let (failed, run) = world.answer(conversation, hungry).await;
        world.ended(run).await;
        let sent: Value = serde_json::from_slice(&insatiable.requests()[0].body).unwrap();
        let sent = sent["messages"].to_string();
        assert!(sent.contains("The tool says") && !sent.contains("Let me look") && !sent.contains("echo("), "{sent}");
        let failed = world.engine.node(&world.caller, failed).await.unwrap();
        assert_eq!((failed.seen.row.status, failed.seen.content), (GenerationStatus::Failed, None));
        let forks = world.engine.forks(&world.caller, conversation, None, 10).await.unwrap().rows;
        assert_eq!(forks.len(), 2, "what the tools did is kept for each");
        assert!(forks.iter().all(|fork| fork.shown.entry.kind == ConversationKind::ToolRun && fork.row.folded));
        for fork in forks {
            let nodes = world.engine.path(&world.caller, fork.row.id, None, 100).await.unwrap().rows;
            assert!(format!("{nodes:?}").contains("echo("), "{nodes:?}");
        }
    }
}
