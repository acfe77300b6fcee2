//! Steps that go on calling a version of a tool, whatever it becomes.

use serde_json::{Value, json};
use skein_core::flow::execution::review::{ApprovalScope, Decision};
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::flow::health_report::HealthLevel;
use skein_core::garden::item::ItemType;
use skein_core::{RecordId, Viewer};
use skein_store::Tx;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};
use crate::{log, tool_runs};

impl EngineFixture {
    async fn change(&self, tool: RecordId, change: Value) {
        let viewer = Viewer::User(self.caller.user);
        let hash = self.store.read(move |tx| tx.record(&viewer, tool)).await.unwrap().hash;
        let change = serde_json::from_value(change).unwrap();
        self.engine.change_tool(&self.caller, fresh(&self.caller), tool, change, hash).await.unwrap();
    }

    /// A tool that asks for today's weather in its first version and for tomorrow's in its second.
    async fn changed_weather(&self, rogue: &HostileServer) -> RecordId {
        let weather = self.rest_tool(&self.caller, rogue).await;
        self.change(weather, tomorrow()).await;
        weather
    }

    async fn looks(&self, name: &str, look: Value) -> RecordId {
        self.process(process(name, vec![look], "{{look}}")).await
    }
}

fn weather() -> HostileServer {
    HostileServer::start(|_| Behaviour::json(r#"{ "sky": "clear" }"#))
}

fn tomorrow() -> Value {
    let inputs = json!({ "type": "object", "required": ["value", "hour"],
        "properties": { "value": { "type": "string" }, "hour": { "type": "integer", "default": 12 } } });
    let operation = json!({ "type": "rest_call", "method": "GET", "path": "/tomorrow/{{value}}/{{hour}}" });
    json!({ "name": "Weather then", "operation": operation, "inputSchema": inputs })
}

fn look(tool: RecordId, version: Option<i64>) -> Value {
    let mut look = step("look", tool, json!({ "value": "{x}" }));
    look["toolVersion"] = json!(version);
    look
}

fn manual(mut step: Value) -> Value {
    step["execution"] = json!({ "interactionMode": "manual" });
    step
}

fn paths(rogue: &HostileServer) -> Vec<String> {
    rogue.requests().into_iter().map(|request| request.path).collect()
}

both! {
    async fn br_step_007_a_step_goes_on_calling_the_version_it_names(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.changed_weather(&rogue).await;
        let (then, now) = (world.looks("then", look(tool, Some(1))).await, world.looks("now", look(tool, None)).await);
        for process in [then, now] {
            let shown = world.ended(world.run(process, json!({ "x": "Oslo" })).await).await;
            assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        }
        assert_eq!(paths(&rogue), ["/now/Oslo", "/tomorrow/Oslo/12"]);
        let calls = world.facts(&world.caller, ItemType::TOOL_CALL).await;
        let called: Vec<&Value> = calls.iter().map(|call| &call["toolVersion"]).collect();
        assert_eq!(called, [1, 2]);
        // Whether it may be called at all is said by what it is now.
        world.change(tool, json!({ "enabled": false })).await;
        let refused = world.ended(world.run(then, json!({ "x": "Oslo" })).await).await;
        assert_eq!(refused.row.failure.unwrap().fault.rule.as_deref(), Some("BR-TOOL-005"));
        assert_eq!(paths(&rogue).len(), 2);
    }

    async fn br_process_011_a_version_that_never_was_or_of_somebody_elses_tool_refuses(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.changed_weather(&rogue).await;
        world.engine.share_tool(&world.caller, fresh(&world.caller), tool, true).await.unwrap();
        let draft = |version| serde_json::from_value(process("looks", vec![look(tool, version)], "{{look}}")).unwrap();
        let make = async |caller, version| world.engine.create_process(caller, fresh(caller), draft(version)).await;
        assert!(make(&bert, None).await.is_ok());
        let refused = make(&bert, Some(1)).await.unwrap_err().to_string();
        assert!(refused.contains("BR-PROCESS-011") && refused.contains("Weather then"), "{refused}");
        let refused = make(&world.caller, Some(4)).await.unwrap_err().to_string();
        assert!(refused.contains("BR-STEP-007") && refused.contains("version 4"), "{refused}");
        assert!(make(&world.caller, Some(1)).await.is_ok());
    }

    async fn br_step_006_what_is_approved_for_good_is_the_tool_as_it_is_now(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.changed_weather(&rogue).await;
        let now = world.looks("now", manual(look(tool, None))).await;
        let approve = |scope| Decision::Approve { inputs: None, scope: Some(scope) };
        let run = world.run(now, json!({ "x": "Bern" })).await;
        world.decide(&world.review().await, approve(ApprovalScope::Always)).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        let then = world.looks("then", manual(look(tool, Some(1)))).await;
        let run = world.run(then, json!({ "x": "Bern" })).await;
        let question = world.review().await;
        let always = approve(ApprovalScope::Always);
        let refused = world.engine.decide(&world.caller, fresh(&world.caller), question.row.id, always).await;
        assert!(refused.unwrap_err().to_string().contains("BR-STEP-006"));
        world.decide(&question, approve(ApprovalScope::Once)).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        assert_eq!(paths(&rogue), ["/tomorrow/Bern/12", "/now/Bern"]);
    }

    async fn br_step_006_an_approval_for_what_a_tool_was_does_not_count_for_that_version(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let run = world.run(world.looks("now", manual(look(tool, None))).await, json!({ "x": "Bern" })).await;
        let always = Decision::Approve { inputs: None, scope: Some(ApprovalScope::Always) };
        world.decide(&world.review().await, always).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        world.change(tool, tomorrow()).await;
        world.run(world.looks("then", manual(look(tool, Some(1)))).await, json!({ "x": "Chur" })).await;
        let asked = json!(world.review().await.row.asked);
        assert_eq!((&asked["toolVersion"], &asked["inputs"]["value"]), (&json!(1), &json!("Chur")));
        assert_eq!(paths(&rogue), ["/now/Bern"]);
    }

    async fn br_step_007_no_secret_goes_where_it_was_never_bound(world: &EngineFixture) {
        let (old, new) = (weather(), weather());
        let tool = world.rest_tool(&world.caller, &old).await;
        let process = world.looks("then", look(tool, Some(1))).await;
        let address = new.address();
        let (caller, host) = (&world.caller, address.ip().to_string());
        world.engine.allow_endpoint(caller, fresh(caller), &host, address.port()).await.unwrap();
        let moved = json!({ "endpoint": new.endpoint() });
        world.change(tool, json!({ "connectionParams": moved })).await;
        let run = world.ended(world.run(process, json!({ "x": "Oslo" })).await).await;
        assert_eq!(run.row.status, ExecutionStatus::Completed, "{:?}", run.row.failure);
        world.change(tool, json!({ "secretId": world.secret(caller, "k-of-the-new").await })).await;
        let failure = world.ended(world.run(process, json!({ "x": "Oslo" })).await).await.row.failure.unwrap();
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-STEP-007"), "{}", failure.fault.message);
        assert_eq!((old.requests().len(), new.requests().len()), (1, 0));
    }

    async fn br_process_011_a_version_of_somebody_elses_tool_is_not_called_whoever_wrote_it_down_refuses(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let process = world.looks("then", look(tool, Some(1))).await;
        let fitness = world.engine.process_health(&world.caller, process).await.unwrap();
        assert_eq!(fitness.fitness, HealthLevel::Error, "{fitness:?}");
        let failure = world.ended(world.run(process, json!({ "x": "Oslo" })).await).await.row.failure.unwrap();
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-PROCESS-011"), "{}", failure.fault.message);
        assert!(rogue.requests().is_empty());
    }

    async fn br_tool_006_what_checks_found_of_a_tool_is_not_about_what_it_was(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.changed_weather(&rogue).await;
        let down = move |tx: &mut Tx<'_>| tx.set_health(&Viewer::System("test"), tool, "down", Some("no answer"), None);
        world.store.write(down).await.unwrap();
        let (then, now) = (world.looks("then", look(tool, Some(1))).await, world.looks("now", look(tool, None)).await);
        let fitness = async |process| world.engine.process_health(&world.caller, process).await.unwrap().fitness;
        assert_eq!((fitness(then).await, fitness(now).await), (HealthLevel::Warning, HealthLevel::Error));
        let run = world.ended(world.run(then, json!({ "x": "Oslo" })).await).await;
        assert_eq!(run.row.status, ExecutionStatus::Completed, "{:?}", run.row.failure);
        let failure = world.ended(world.run(now, json!({ "x": "Oslo" })).await).await.row.failure.unwrap();
        assert_eq!(failure.fault.rule.as_deref(), Some("BR-TOOL-006"), "that it went well then changes nothing");
        assert_eq!(paths(&rogue), ["/now/Oslo"]);
    }

    async fn br_tool_006_a_past_version_on_a_service_that_was_never_checked_logs_a_warning_holds(world: &EngineFixture) {
        log::capture();
        let rogue = weather();
        let tool = world.changed_weather(&rogue).await;
        let (service, then) = (world.service_of(tool).await, world.looks("then", look(tool, Some(1))).await);
        let warnings = || log::count_lines(&["WARN", "BR-TOOL-006", &tool.to_string()]);
        for (health, warns) in [(None, true), (Some("healthy"), false), (Some("degraded"), true)] {
            if let Some(health) = health {
                let set = move |tx: &mut Tx<'_>| tx.set_health(&Viewer::System("test"), service, health, None, None);
                world.store.write(set).await.unwrap();
            }
            let before = warnings();
            let run = world.ended(world.run(then, json!({ "x": "Oslo" })).await).await;
            assert_eq!((run.row.failure, warnings() > before), (None, warns), "{health:?}");
        }
    }

    async fn br_step_007_a_model_is_offered_the_version_that_is_named_and_is_one_itself(world: &EngineFixture) {
        let rogue = tool_runs::model(false);
        let model = tool_runs::model_tool(world, &rogue).await;
        world.change(model, json!({ "connectionParams": { "endpoint": rogue.endpoint(), "model": "n" } })).await;
        let sky = weather();
        let tool = world.rest_tool(&world.caller, &sky).await;
        // The first version is called as the model calls it.
        world.change(tool, json!({ "name": "Echo" })).await;
        world.change(tool, json!({ "name": "Echo", "operation": tomorrow()["operation"], "inputSchema": tomorrow()["inputSchema"] })).await;
        let context = world.tool("Conversation context").await;
        let steps = json!([
            { "id": "context", "toolId": context, "inputs": { "nodeId": "{nodeId}" }, "output": { "variable": "window" } },
            { "id": "answer", "toolId": model, "toolVersion": 1, "inputs": { "messages": "{step.window.messages}" },
                "output": { "variable": "answer" }, "tools": [{ "toolId": tool, "toolVersion": 2, "approval": "never" }] },
        ]);
        let id = world.process(json!({ "name": "Sky", "initialContext": ["nodeId"], "steps": steps, "outputTemplate": "{{answer.text}}" }));
        let (conversation, _) = world.talk("And the sky?").await;
        let (node, run) = world.answer(conversation, id.await).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        let asked: Value = serde_json::from_slice(&rogue.requests()[0].body).unwrap();
        assert_eq!(asked["model"], "m");
        assert_eq!(asked["tools"][0]["function"]["parameters"]["required"], json!(["value"]));
        assert_eq!(paths(&sky), ["/now/pancakes"]);
        let writer = world.engine.node(&world.caller, node).await.unwrap().seen.row.author;
        let viewer = Viewer::User(world.caller.user);
        let writer = world.store.read(move |tx| tx.record(&viewer, RecordId::from_bytes(*writer.as_bytes()))).await.unwrap();
        assert_eq!(writer.content.name(), Some("m"), "it is the model that answered");
    }
}
