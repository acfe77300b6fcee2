//! What is judged right before every call: whose tool it is, whether it and its service may be called, and at whose
//! expense it is.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::flow::execution::fact::Failure;
use skein_core::flow::execution::state::RunStatus;
use skein_core::{Digest, RecordId, Viewer};
use skein_engine::account::Presented;
use skein_engine::catalog::SecretValue;
use skein_engine::{Caller, KeyText};
use skein_store::items::ItemQuery;
use skein_testkit::rogue::{Behaviour, Rogue};

use crate::world::{World, both, fresh, process, step};

impl World {
    /// Somebody else, with everything they are given.
    async fn other(&self, name: &str) -> Caller {
        let (key, named) = (KeyText::draw(), name.to_owned());
        let hash = Digest::of(key.reveal().as_bytes());
        let made = self.store.write(move |tx| {
            let user = tx.create_user(&Viewer::System("test"), &named, Role::User)?;
            tx.create_key(&Viewer::User(user), "test", Scope::Write, hash)
        });
        made.await.unwrap();
        self.engine.authenticate(&Presented::Key(key), None).await.unwrap()
    }

    /// A tool of somebody's that asks an HTTP service, with their secret.
    async fn rest_tool(&self, caller: &Caller, rogue: &Rogue) -> RecordId {
        let address = rogue.address();
        let host = address.ip().to_string();
        self.engine.allow_endpoint(&self.caller, fresh(&self.caller), &host, address.port()).await.unwrap();
        let service = json!({ "name": "Weather", "type": "rest_api", "protocol": "http", "requiresSecret": false,
            "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } } });
        let service = serde_json::from_value(service).unwrap();
        let service = self.engine.create_service(caller, fresh(caller), service).await.unwrap().value.id;
        let draft = serde_json::from_value(json!({ "name": "weather key", "type": "api_key" })).unwrap();
        let value = SecretValue::text("k-7f9c24e53b1a".to_owned());
        let secret = self.engine.create_secret(caller, fresh(caller), draft, value).await.unwrap().value.id;
        let tool = json!({ "name": "Weather now", "serviceId": service, "secretId": secret,
            "connectionParams": { "endpoint": rogue.endpoint() },
            "operation": { "type": "rest_call", "method": "GET", "path": "/now/{{value}}" },
            "inputSchema": { "type": "object", "required": ["value"], "properties": { "value": { "type": "string" } } },
            "outputSchema": {} });
        let tool = serde_json::from_value(tool).unwrap();
        self.engine.create_tool(caller, fresh(caller), tool).await.unwrap().value.id
    }

    /// A process of one step.
    async fn one_step(&self, tool: RecordId) -> RecordId {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let steps = vec![step("now", tool, json!({ "value": "{x}" }))];
        self.process(process(&format!("weather {number}"), steps, "{{now}}")).await
    }

    /// Runs a process of one step and says why it failed.
    async fn fails(&self, tool: RecordId) -> Failure {
        let process = self.one_step(tool).await;
        self.run_fails(process).await
    }

    async fn run_fails(&self, process: RecordId) -> Failure {
        let run = self.run(process, json!({ "x": "Oslo" })).await;
        let shown = self.ended(run).await;
        assert!(shown.calls.is_empty(), "what is refused is not called");
        shown.row.failure.unwrap()
    }
}

fn weather() -> Rogue {
    Rogue::start(|_| Behaviour::json(r#"{"celsius":7}"#))
}

fn told(failure: &Failure) -> (&str, Option<&str>) {
    (failure.fault.message.as_str(), failure.fault.rule.as_deref())
}

both! {
    async fn br_exec_003_a_tool_that_is_not_there_not_shared_or_taken_back_refuses(world: &World) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let gone = world.rest_tool(&world.caller, &rogue).await;
        let (process, viewer) = (world.one_step(gone).await, Viewer::User(world.caller.user));
        world.store.write(move |tx| tx.delete_record(&viewer, gone, None, None)).await.unwrap();
        let failure = world.run_fails(process).await;
        assert_eq!(told(&failure), (format!("Tool {gone} does not exist").as_str(), Some("BR-EXEC-003")));
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let process = world.one_step(tool).await;
        let taken_back = world.engine.share_tool(&bert, fresh(&bert), tool, false).await.unwrap().value;
        let failure = world.run_fails(process).await;
        assert_eq!(told(&failure), ("Tool Weather now access revoked by owner", Some("BR-EXEC-003")));
        assert_eq!((failure.step, failure.step_id.as_deref()), (Some(1), Some("now")));
        assert_eq!(failure.fault.details["toolName"], "Weather now");
        assert!(!failure.suggested_action.is_empty());
        // That it was shared once is forgotten after a while.
        let mut hash = taken_back.shown.hash;
        for number in 0..20 {
            let change = serde_json::from_value(json!({ "description": format!("Change {number}") })).unwrap();
            let changed = world.engine.change_tool(&bert, fresh(&bert), tool, change, hash).await.unwrap();
            hash = changed.value.shown.hash;
        }
        let failure = world.run_fails(process).await;
        let not_shared = format!("Tool Weather now owned by {} is not shared", bert.user);
        assert_eq!(told(&failure), (not_shared.as_str(), Some("BR-EXEC-003")));
        assert!(rogue.requests().is_empty());
    }

    async fn br_share_008_and_010_a_shared_tool_is_paid_by_its_owner_who_learns_who_used_it_holds(world: &World) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let steps = vec![step("now", tool, json!({ "value": "{x}" }))];
        let id = world.process(process("weather", steps, "{{now.body.celsius}}{{now.celsius}}")).await;
        let run = world.run(id, json!({ "x": "Oslo" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, RunStatus::Completed, "{:?}", shown.row.failure);
        let sent = &rogue.requests()[0];
        assert!(format!("{:?}", sent.headers).contains("k-7f9c24e53b1a"), "the owner's key was used");
        let call = &shown.calls[0];
        assert_eq!((&call.said["executorId"], &call.said["payerId"]), (&json!(world.caller.user), &json!(bert.user)));
        assert_eq!(call.said["owners"]["secret"], json!(bert.user));
        assert!(!format!("{shown:?}").contains("k-7f9c24e53b1a"), "nobody is shown the key");
        let owner = Viewer::User(bert.user);
        let query = ItemQuery { limit: 500, ..ItemQuery::default() };
        let items = world.store.read(move |tx| tx.items(&owner, &query)).await.unwrap().rows;
        let said: Vec<Value> = items.iter().filter_map(|stored| stored.item.document()).map(Value::Object).collect();
        let used = said.iter().find(|document| document.to_string().contains(&call.id.to_string())).unwrap().to_string();
        for part in [world.caller.user.to_string(), bert.user.to_string(), tool.to_string()] {
            assert!(used.contains(&part), "{used}");
        }
        assert!(!said.iter().any(|document| document.to_string().contains("Oslo")), "not what was asked");
    }

    async fn br_tool_005_a_disabled_tool_refuses(world: &World) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let hash = world.hash(tool).await;
        let change = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_tool(&world.caller, fresh(&world.caller), tool, change, hash).await.unwrap();
        assert_eq!(world.fails(tool).await.fault.rule.as_deref(), Some("BR-TOOL-005"));
    }

    async fn br_tool_006_a_tool_whose_service_is_down_or_disabled_refuses(world: &World) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let service = world.service_of(tool).await;
        let hash = world.hash(service).await;
        let change = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_service(&world.caller, fresh(&world.caller), service, change, hash).await.unwrap();
        assert_eq!(world.fails(tool).await.fault.rule.as_deref(), Some("BR-TOOL-006"));
        assert!(rogue.requests().is_empty());
    }

    async fn br_service_004_a_service_that_a_tool_stands_on_is_not_deleted_refuses(world: &World) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let service = world.service_of(tool).await;
        let refused = world.engine.delete_service(&world.caller, fresh(&world.caller), service).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-SERVICE-004"), "{refused:?}");
    }

    async fn br_cross_001_a_process_that_is_disabled_or_anothers_refuses(world: &World) {
        let echo = world.tool("Echo").await;
        let mut definition = process("off", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}");
        definition["enabled"] = json!(false);
        let id = world.process(definition).await;
        let new = || skein_engine::flow::NewRun { context: json!({ "x": 1 }).as_object().unwrap().clone(), priority: 0 };
        let refused = world.engine.execute(&world.caller, fresh(&world.caller), id, new()).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-CROSS-001"), "{refused:?}");
        let bert = world.other("bert").await;
        assert!(world.engine.execute(&bert, fresh(&bert), id, new()).await.is_err());
    }
}

impl World {
    async fn hash(&self, record: RecordId) -> Digest {
        let viewer = Viewer::User(self.caller.user);
        self.store.read(move |tx| tx.record(&viewer, record)).await.unwrap().hash
    }

    async fn service_of(&self, tool: RecordId) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let record = self.store.read(move |tx| tx.record(&viewer, tool)).await.unwrap();
        json!(record.content.data)["serviceId"].as_str().unwrap().parse().unwrap()
    }
}
