//! Authorization right before every call: ownership, health and cost.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::item_payload::Failure;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::flow::process::Process;
use skein_core::garden::item::ItemType;
use skein_core::{Digest, RecordId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::SecretValue;
use skein_engine::flow::ExecutionRequest;
use skein_engine::{Caller, KeyText};
use skein_store::Tx;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, heard, process, step};
use crate::log;

impl EngineFixture {
    /// Somebody else, with everything they are given.
    pub(crate) async fn other(&self, name: &str) -> Caller {
        let (key, named) = (KeyText::draw(), name.to_owned());
        let hash = Digest::of(key.reveal().as_bytes());
        let made = self.store.write(move |tx| {
            let user = tx.create_user(&Viewer::System("test"), &named, Role::User)?;
            tx.create_key(&Viewer::User(user), "test", Scope::Write, hash)
        });
        made.await.unwrap();
        self.engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap()
    }

    /// A tool of somebody's that asks an HTTP service, with their secret.
    pub(crate) async fn rest_tool(&self, caller: &Caller, rogue: &HostileServer) -> RecordId {
        let address = rogue.address();
        let host = address.ip().to_string();
        self.engine.allow_endpoint(&self.caller, fresh(&self.caller), &host, address.port()).await.unwrap();
        let service = json!({ "name": "Weather", "type": "rest_api", "protocol": "http", "requiresSecret": false,
            "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } } });
        let service = serde_json::from_value(service).unwrap();
        let service = self.engine.create_service(caller, fresh(caller), service).await.unwrap().value.id;
        let secret = self.secret(caller, "k-7f9c24e53b1a").await;
        let tool = json!({ "name": "Weather now", "serviceId": service, "secretId": secret,
            "connectionParams": { "endpoint": rogue.endpoint() },
            "operation": { "type": "rest_call", "method": "GET", "path": "/now/{{value}}" },
            "inputSchema": { "type": "object", "required": ["value"], "properties": { "value": { "type": "string" } } },
            "outputSchema": {} });
        let tool = serde_json::from_value(tool).unwrap();
        self.engine.create_tool(caller, fresh(caller), tool).await.unwrap().value.id
    }

    pub(crate) async fn secret(&self, caller: &Caller, value: &str) -> RecordId {
        let draft = serde_json::from_value(json!({ "name": "weather key", "type": "api_key" })).unwrap();
        let value = SecretValue::text(value.to_owned());
        self.engine.create_secret(caller, fresh(caller), draft, value).await.unwrap().value.id
    }

    /// What an owner was told about others who used their things.
    async fn uses(&self, owner: &Caller) -> Vec<Value> {
        let told = self.facts(owner, ItemType::SYSTEM_EVENT).await;
        told.into_iter().filter(|told| told["event"] == "tool.used").collect()
    }

    /// A process of one step.
    pub(crate) async fn one_step(&self, tool: RecordId) -> RecordId {
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

pub(crate) fn weather() -> HostileServer {
    HostileServer::start(|_| Behaviour::json(r#"{"celsius":7}"#))
}

fn told(failure: &Failure) -> (&str, Option<&str>) {
    (failure.fault.message.as_str(), failure.fault.rule.as_deref())
}

both! {
    async fn br_exec_003_a_tool_that_is_not_there_not_shared_or_taken_back_refuses(world: &EngineFixture) {
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
        let not_shared = format!("Tool {tool} owned by {} is not shared", bert.user);
        assert_eq!(told(&failure), (not_shared.as_str(), Some("BR-EXEC-003")));
        assert!(rogue.requests().is_empty());
    }

    async fn br_share_001_the_new_name_of_what_was_taken_back_refuses_to_be_told(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let process = world.one_step(tool).await;
        let taken_back = world.engine.share_tool(&bert, fresh(&bert), tool, false).await.unwrap().value;
        let change = serde_json::from_value(json!({ "name": "Private name" })).unwrap();
        world.engine.change_tool(&bert, fresh(&bert), tool, change, taken_back.shown.hash).await.unwrap();
        let failure = world.run_fails(process).await;
        assert_eq!(told(&failure), ("Tool Weather now access revoked by owner", Some("BR-EXEC-003")));
        assert_eq!((&failure.fault.details["toolName"], failure.fault.details.get("serviceName")), (&json!("Weather now"), None));
        let fitness = format!("{:?}", world.engine.process_health(&world.caller, process).await.unwrap());
        let failure = format!("{failure:?}");
        assert!(fitness.contains("Weather now") && !fitness.contains("Private") && !failure.contains("Private"), "{fitness} {failure}");
    }

    async fn br_exec_003_own_and_shared_tools_with_the_secrets_that_belong_are_called_holds(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let (own, shared) = (world.rest_tool(&world.caller, &rogue).await, world.rest_tool(&bert, &rogue).await);
        world.engine.share_tool(&bert, fresh(&bert), shared, true).await.unwrap();
        for tool in [own, shared] {
            let process = world.one_step(tool).await;
            let run = world.run(process, json!({ "x": "Oslo" })).await;
            let shown = world.ended(run).await;
            assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
            assert_eq!(shown.calls[0].said["toolId"], json!(tool));
        }
        assert_eq!(rogue.requests().len(), 2);
    }

    async fn br_exec_003_a_tool_that_is_taken_back_between_two_steps_refuses_at_the_second(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let mut first = step("first", world.tool("Echo").await, json!({ "value": "{x}" }));
        first["execution"] = json!({ "interactionMode": "manual" });
        let mut now = step("now", tool, json!({ "value": "{x}" }));
        // Neither a repeat nor what stands in makes a tool of somebody else's usable again.
        now["retry"] = json!({ "maxRetries": 3, "backoff": "fixed", "backoffMs": 0 });
        let after = step("after", world.tool("Echo").await, json!({ "value": "{x}" }));
        let id = world.process(process("two", vec![first, now, after], "{{after.value}}")).await;
        let run = world.run(id, json!({ "x": "Oslo" })).await;
        let review = world.review().await;
        world.engine.share_tool(&bert, fresh(&bert), tool, false).await.unwrap();
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        let shown = world.ended(run).await;
        let failure = shown.row.failure.unwrap();
        assert_eq!(told(&failure), ("Tool Weather now access revoked by owner", Some("BR-EXEC-003")));
        assert_eq!((failure.step, shown.calls.len()), (Some(2), 1), "the step before was called, none after");
        assert!(rogue.requests().is_empty());
    }

    async fn br_exec_003_a_secret_that_is_gone_refuses_and_is_named(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (process, viewer) = (world.one_step(tool).await, Viewer::User(world.caller.user));
        let secret = world.part_of(tool, "secretId").await;
        world.store.write(move |tx| tx.delete_record(&viewer, secret, None, None)).await.unwrap();
        let failure = world.run_fails(process).await;
        let message = format!("Tool Weather now references non-existent Secret {secret}");
        assert_eq!(told(&failure), (message.as_str(), Some("BR-EXEC-003")));
        let bert = world.other("bert").await;
        let shared = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), shared, true).await.unwrap();
        let (process, own) = (world.one_step(shared).await, world.secret(&world.caller, "mine").await);
        world.engine.bind_secret(&world.caller, fresh(&world.caller), shared, own).await.unwrap();
        let viewer = Viewer::User(world.caller.user);
        world.store.write(move |tx| tx.delete_record(&viewer, own, None, None)).await.unwrap();
        let failure = world.run_fails(process).await;
        assert_eq!(told(&failure), ("Secret weather key no longer accessible", Some("BR-EXEC-003")));
        assert!(rogue.requests().is_empty());
    }

    async fn br_share_008_what_a_shared_tool_uses_is_paid_by_its_owner_holds(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let steps = vec![step("now", tool, json!({ "value": "{x}" }))];
        let id = world.process(process("weather", steps, "{{now.body.celsius}}{{now.celsius}}")).await;
        let run = world.run(id, json!({ "x": "Oslo" })).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        let sent = &rogue.requests()[0];
        assert!(format!("{:?}", sent.headers).contains("k-7f9c24e53b1a"), "the owner's key was used");
        let call = &shown.calls[0];
        assert_eq!((&call.said["executorId"], &call.said["payerId"]), (&json!(world.caller.user), &json!(bert.user)));
        assert_eq!(call.said["owners"]["secret"], json!(bert.user));
        assert!(!format!("{shown:?}").contains("k-7f9c24e53b1a"), "nobody is shown the key");
    }

    async fn br_share_008_a_call_that_fails_or_is_paid_by_an_own_key_refuses_to_shift_the_cost(world: &EngineFixture) {
        let rogue = HostileServer::start(|_| Behaviour::answer(503, &[], "closed"));
        let bert = world.other("bert").await;
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let process = world.one_step(tool).await;
        let run = world.run(process, json!({ "x": "Oslo" })).await;
        let failed = world.ended(run).await;
        assert_eq!(failed.row.status, ExecutionStatus::Failed);
        assert_eq!(failed.calls[0].said["payerId"], json!(bert.user), "nothing is given back");
        let own = world.secret(&world.caller, "own-key-1").await;
        world.engine.bind_secret(&world.caller, fresh(&world.caller), tool, own).await.unwrap();
        let run = world.run(process, json!({ "x": "Oslo" })).await;
        let paid = world.ended(run).await;
        assert_eq!(paid.calls[0].said["payerId"], json!(world.caller.user));
        assert_eq!(paid.calls[0].said["secretId"], json!(own));
        let last = rogue.requests().pop().unwrap();
        assert!(format!("{:?}", last.headers).contains("own-key-1"), "{:?}", last.headers);
    }

    async fn br_share_010_every_use_is_recorded_with_who_whose_what_and_when_holds(world: &EngineFixture) {
        let rogue = HostileServer::start(|request| match request.path.as_str() {
            "/now/never" => Behaviour::Silence,
            _ => Behaviour::json(r#"{"celsius":7}"#),
        });
        let bert = world.other("bert").await;
        let tool = world.rest_tool(&bert, &rogue).await;
        world.engine.share_tool(&bert, fresh(&bert), tool, true).await.unwrap();
        let process = world.one_step(tool).await;
        let run = world.run(process, json!({ "x": "Oslo" })).await;
        let answered = world.ended(run).await;
        // One that is broken off used what it used.
        let run = world.run(process, json!({ "x": "never" })).await;
        world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
        let broken_off = world.ended(run).await;
        let used = world.uses(&bert).await;
        assert_eq!(used.len(), 2, "{used:?}");
        for (used, run) in used.iter().zip([&answered, &broken_off]) {
            assert_eq!((&used["subject"], &used["callId"]), (&json!(tool), &json!(run.calls[0].id)));
            assert_eq!((&used["executorId"], &used["ownerId"]), (&json!(world.caller.user), &json!(bert.user)));
            assert!(!used.to_string().contains("Oslo"), "not what was asked");
        }
    }

    async fn br_share_010_telling_own_use_and_refused_calls_as_foreign_use_refuses(world: &EngineFixture) {
        let (rogue, bert) = (weather(), world.other("bert").await);
        let own = world.rest_tool(&bert, &rogue).await;
        let draft = process("own", vec![step("now", own, json!({ "value": "{x}" }))], "{{now}}");
        let content = Process::create(serde_json::from_value(draft).unwrap()).unwrap().to_content(false);
        let viewer = Viewer::User(bert.user);
        let process = world.store.write(move |tx| tx.create_entry(&viewer, content.clone(), None)).await.unwrap();
        let new = ExecutionRequest { context: json!({ "x": "Oslo" }).as_object().unwrap().clone(), priority: 0 };
        let run = world.engine.execute(&bert, fresh(&bert), process.value.id, new).await.unwrap().value;
        let mut rung = world.store.wake().subscribe();
        while !world.engine.run(&bert, run).await.unwrap().row.status.has_ended() {
            heard(&mut rung).await;
        }
        assert_eq!(rogue.requests().len(), 1);
        world.engine.share_tool(&bert, fresh(&bert), own, true).await.unwrap();
        let foreign = world.one_step(own).await;
        world.engine.share_tool(&bert, fresh(&bert), own, false).await.unwrap();
        world.run_fails(foreign).await;
        assert_eq!(world.uses(&bert).await, Vec::<Value>::new());
    }

    async fn br_service_004_a_service_that_nothing_uses_any_more_is_deleted_holds(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (service, caller) = (world.service_of(tool).await, &world.caller);
        let process = world.one_step(tool).await;
        let run = world.run(process, json!({ "x": "Oslo" })).await;
        world.ended(run).await;
        world.engine.delete_process(caller, fresh(caller), process).await.unwrap();
        world.engine.delete_tool(caller, fresh(caller), tool).await.unwrap();
        world.engine.delete_service(caller, fresh(caller), service).await.unwrap();
    }

    async fn br_service_004_a_service_of_an_open_run_refuses_to_go_until_it_has_ended(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (service, caller) = (world.service_of(tool).await, &world.caller);
        let ask = json!({ "id": "wanted", "ask": { "prompt": "?" }, "output": { "variable": "wanted" } });
        let steps = vec![ask, step("now", tool, json!({ "value": "{x}" }))];
        let id = world.process(process("asks first", steps, "{{now}}")).await;
        let run = world.run(id, json!({ "x": "Oslo" })).await;
        // The process does without the tool by now; the run that is open does not.
        let hash = world.hash(id).await;
        let steps = json!({ "steps": [step("a", world.tool("Echo").await, json!({ "value": "{x}" }))], "outputTemplate": "{{a}}" });
        let change = serde_json::from_value(steps).unwrap();
        world.engine.change_process(caller, fresh(caller), id, change, hash).await.unwrap();
        let refused = world.engine.delete_tool(caller, fresh(caller), tool).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-TOOL-004"), "{refused:?}");
        let refused = world.engine.delete_service(caller, fresh(caller), service).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-SERVICE-004"), "{refused:?}");
        world.engine.cancel_run(caller, fresh(caller), run).await.unwrap();
        world.engine.delete_tool(caller, fresh(caller), tool).await.unwrap();
        world.engine.delete_service(caller, fresh(caller), service).await.unwrap();
    }

    async fn br_cross_001_a_chain_that_is_enabled_and_not_down_is_run_holds(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (service, inner) = (world.service_of(tool).await, world.one_step(tool).await);
        let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
        let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
        for found in ["healthy", "degraded"] {
            let set = move |tx: &mut Tx<'_>| tx.set_health(&Viewer::System("test"), service, found, None, None);
            world.store.write(set).await.unwrap();
            let run = world.run(outer, json!({ "x": "Oslo" })).await;
            let shown = world.ended(run).await;
            assert_eq!(shown.row.status, ExecutionStatus::Completed, "{found}: {:?}", shown.row.failure);
        }
    }

    async fn br_cross_001_a_link_that_is_down_or_disabled_refuses_wherever_it_is(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (service, inner) = (world.service_of(tool).await, world.one_step(tool).await);
        let call = json!({ "id": "sub", "processId": inner, "inputs": { "x": "{x}" }, "output": { "variable": "sub" } });
        let outer = world.process(process("outer", vec![call], "{{sub}}")).await;
        let set = move |tx: &mut Tx<'_>| tx.set_health(&Viewer::System("test"), service, "down", None, None);
        world.store.write(set).await.unwrap();
        assert_eq!(world.run_fails(outer).await.fault.rule.as_deref(), Some("BR-TOOL-006"));
        let (caller, hash) = (&world.caller, world.hash(inner).await);
        let off = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_process(caller, fresh(caller), inner, off, hash).await.unwrap();
        assert_eq!(world.run_fails(outer).await.fault.rule.as_deref(), Some("BR-CROSS-001"));
        assert!(rogue.requests().is_empty());
    }

    async fn br_tool_005_a_disabled_tool_refuses(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let hash = world.hash(tool).await;
        let change = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_tool(&world.caller, fresh(&world.caller), tool, change, hash).await.unwrap();
        assert_eq!(world.fails(tool).await.fault.rule.as_deref(), Some("BR-TOOL-005"));
    }

    async fn br_tool_006_a_tool_whose_service_is_down_or_disabled_refuses(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let service = world.service_of(tool).await;
        let hash = world.hash(service).await;
        let change = serde_json::from_value(json!({ "enabled": false })).unwrap();
        world.engine.change_service(&world.caller, fresh(&world.caller), service, change, hash).await.unwrap();
        assert_eq!(world.fails(tool).await.fault.rule.as_deref(), Some("BR-TOOL-006"));
        assert!(rogue.requests().is_empty());
    }

    async fn br_tool_006_each_call_of_a_degraded_tool_logs_a_warning_holds(world: &EngineFixture) {
        log::capture();
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let (service, process) = (world.service_of(tool).await, world.one_step(tool).await);
        let warnings = || log::count_lines(&["WARN", "BR-TOOL-006", &tool.to_string()]);
        for health in ["degraded", "healthy", "degraded"] {
            let set = move |tx: &mut Tx<'_>| {
                [tool, service].into_iter().try_for_each(|id| tx.set_health(&Viewer::System("test"), id, health, None, None).map(drop))
            };
            world.store.write(set).await.unwrap();
            let before = warnings();
            let run = world.ended(world.run(process, json!({ "x": "Oslo" })).await).await;
            assert_eq!((run.row.failure, warnings() > before), (None, health == "degraded"), "{health}");
        }
        assert_eq!(rogue.requests().len(), 3);
    }

    async fn br_service_004_a_service_that_a_tool_stands_on_is_not_deleted_refuses(world: &EngineFixture) {
        let rogue = weather();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let service = world.service_of(tool).await;
        let refused = world.engine.delete_service(&world.caller, fresh(&world.caller), service).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-SERVICE-004"), "{refused:?}");
    }

    async fn br_cross_001_a_process_that_is_disabled_or_anothers_refuses(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let mut definition = process("off", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}");
        definition["enabled"] = json!(false);
        let id = world.process(definition).await;
        let new = || ExecutionRequest { context: json!({ "x": 1 }).as_object().unwrap().clone(), priority: 0 };
        let refused = world.engine.execute(&world.caller, fresh(&world.caller), id, new()).await.unwrap_err();
        assert!(format!("{refused:?}").contains("BR-CROSS-001"), "{refused:?}");
        let bert = world.other("bert").await;
        assert!(world.engine.execute(&bert, fresh(&bert), id, new()).await.is_err());
    }
}

impl EngineFixture {
    async fn hash(&self, record: RecordId) -> Digest {
        let viewer = Viewer::User(self.caller.user);
        self.store.read(move |tx| tx.record(&viewer, record)).await.unwrap().hash
    }

    pub(crate) async fn service_of(&self, tool: RecordId) -> RecordId {
        self.part_of(tool, "serviceId").await
    }

    async fn part_of(&self, tool: RecordId, name: &str) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let record = self.store.read(move |tx| tx.record(&viewer, tool)).await.unwrap();
        json!(record.content.data)[name].as_str().unwrap().parse().unwrap()
    }
}
