//! Calls that are made again, and those that are not: nobody knows whether they were carried out.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

const DONE: &str = r#"{"sent":true}"#;

/// A service that breaks the first connections off after it has read what it was asked, so often.
fn breaking_off(times: usize) -> HostileServer {
    let seen = AtomicUsize::new(0);
    HostileServer::start(move |_| match seen.fetch_add(1, Ordering::SeqCst) {
        number if number < times => Behaviour::Reset(Vec::new()),
        _ => Behaviour::json(DONE),
    })
}

/// A tool that sends letters, and whether it may send one twice.
async fn letters(world: &EngineFixture, rogue: &HostileServer, method: &str, retry: Option<&str>) -> RecordId {
    let address = rogue.address();
    let host = address.ip().to_string();
    world.engine.allow_endpoint(&world.caller, fresh(&world.caller), &host, address.port()).await.unwrap();
    let service = json!({ "name": "Post", "type": "rest_api", "protocol": "http", "requiresSecret": false,
        "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } } });
    let service = serde_json::from_value(service).unwrap();
    let service = world.engine.create_service(&world.caller, fresh(&world.caller), service).await.unwrap().value.id;
    let mut tool = json!({ "name": "Letters", "serviceId": service, "connectionParams": { "endpoint": rogue.endpoint() },
        "operation": { "type": "rest_call", "method": method, "path": "/letters" },
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "required": ["sent"], "properties": { "sent": { "type": "boolean" } } } });
    if let Some(retry) = retry {
        tool["retry"] = json!(retry);
    }
    let tool = serde_json::from_value(tool).unwrap();
    world.engine.create_tool(&world.caller, fresh(&world.caller), tool).await.unwrap().value.id
}

/// A process whose only step may be repeated.
async fn sending(world: &EngineFixture, tool: RecordId) -> RecordId {
    let mut send = step("send", tool, json!({}));
    send["retry"] = json!({ "maxRetries": 2, "backoffMs": 1 });
    world.process(process("send", vec![send], "{{send.sent}}")).await
}

fn statuses(shown: &skein_engine::flow::ShownExecution) -> Vec<Value> {
    shown.calls.iter().map(|call| call.result.as_ref().unwrap().said["status"].clone()).collect()
}

both! {
    async fn what_must_not_be_done_twice_and_may_have_been_done_is_left_to_a_person(world: &EngineFixture) {
        let rogue = breaking_off(1);
        let id = sending(world, letters(world, &rogue, "POST", None).await).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        let asked = world.review().await;
        assert!(matches!(asked.row.asked, ReviewRequest::Unknown { .. }), "{:?}", asked.row.asked);
        let shown = world.engine.run(&world.caller, run).await.unwrap();
        assert_eq!((shown.steps[0].row.state.phase, statuses(&shown)), (Phase::Unknown, vec![json!("unknown")]));
        assert_eq!(rogue.requests().len(), 1, "it was not sent again");

        // What a person says came of it fits what the tool promises.
        let said = |value: Value| Decision::Answer { value };
        let refused = world.engine.decide(&world.caller, fresh(&world.caller), asked.row.id, said(json!("yes"))).await;
        assert!(refused.unwrap_err().to_string().contains("outputSchema"));
        world.decide(&asked, said(json!({ "sent": true }))).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.status, shown.row.output), (ExecutionStatus::Completed, Some(json!("true"))));
        assert_eq!(rogue.requests().len(), 1);
    }

    async fn a_person_may_have_it_made_again(world: &EngineFixture) {
        let rogue = breaking_off(1);
        let id = sending(world, letters(world, &rogue, "POST", None).await).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        world.decide(&world.review().await, Decision::Approve { inputs: None, scope: None }).await;
        let shown = world.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert_eq!((statuses(&shown), rogue.requests().len()), (vec![json!("unknown"), json!("success")], 2));
    }

    async fn a_tool_that_is_never_repeated_is_called_once_whatever_its_method(world: &EngineFixture) {
        let rogue = breaking_off(9);
        let id = sending(world, letters(world, &rogue, "GET", Some("never")).await).await;
        world.run(id, json!({ "x": 1 })).await;
        assert!(matches!(world.review().await.row.asked, ReviewRequest::Unknown { .. }));
        assert_eq!(rogue.requests().len(), 1);
    }

    async fn what_a_service_knows_again_is_repeated_under_one_name(world: &EngineFixture) {
        let rogue = breaking_off(2);
        let id = sending(world, letters(world, &rogue, "POST", Some("keyed")).await).await;
        let shown = world.ended(world.run(id, json!({ "x": 1 })).await).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        assert_eq!(statuses(&shown), ["error", "error", "success"], "each attempt is a call of its own");
        let requests = rogue.requests();
        let names: Vec<_> = requests.iter().map(|request| request.header("idempotency-key").unwrap()).collect();
        assert_eq!(names.len(), 3);
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        // Another run is another letter.
        world.ended(world.run(id, json!({ "x": 1 })).await).await;
        assert_ne!(rogue.requests()[3].header("idempotency-key"), Some(names[0]));
    }

    async fn what_the_service_refused_for_now_is_repeated_and_then_another_stands_in(world: &EngineFixture) {
        let rogue = HostileServer::start(|_| Behaviour::answer(503, &[], "closed"));
        let tool = letters(world, &rogue, "POST", None).await;
        let mut send = step("send", tool, json!({}));
        send["retry"] = json!({ "maxRetries": 1, "backoffMs": 1 });
        let mut pigeon = step("pigeon", world.tool("Echo").await, json!({ "value": "by pigeon" }));
        pigeon["output"]["variable"] = json!("send");
        send["fallback"] = json!([pigeon]);
        let id = world.process(process("send", vec![send], "{{send.value}}")).await;
        let shown = world.ended(world.run(id, json!({ "x": 1 })).await).await;
        assert_eq!(shown.row.output, Some(json!("by pigeon")), "{:?}", shown.row.failure);
        assert_eq!((rogue.requests().len(), statuses(&shown)), (2, vec![json!("error"), json!("error"), json!("success")]));
    }
}
