//! Metrics of tools count the caller's own executions only.

use serde_json::json;
use skein_engine::flow::ToolMetrics;
use skein_store::metrics::Measurement;
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, process, step};

fn moody() -> HostileServer {
    HostileServer::start(|request| match request.path.as_str() {
        "/now/broken" => Behaviour::answer(500, &[("content-type", "text/plain")], "the rain gauge is broken"),
        _ => Behaviour::json(r#"{"celsius":7}"#),
    })
}

fn counted(metrics: &[ToolMetrics]) -> Vec<(usize, usize)> {
    metrics.iter().map(|one| (one.calls, one.failures)).collect()
}

both! {
    async fn a_tool_tells_its_calls_how_long_they_took_and_what_went_wrong_last(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let echo = world.tool("Echo").await;
        let steps = vec![step("now", tool, json!({ "value": "{x}" })), step("say", echo, json!({ "value": "{x}" }))];
        let id = world.process(process("Forecast", steps, "{{say.value}}")).await;
        for place in ["bern", "bern", "bern"] {
            let run = world.run(id, json!({ "x": place })).await;
            world.ended(run).await;
        }
        let failed = world.run(id, json!({ "x": "broken" })).await;
        world.ended(failed).await;
        let metrics = world.engine.tool_metrics(&world.caller, vec![echo, tool]).await.unwrap();
        assert_eq!(metrics.iter().map(|one| one.tool).collect::<Vec<_>>(), [echo, tool]);
        assert_eq!(counted(&metrics), [(3, 0), (4, 1)]);
        let latency = metrics[1].latency.unwrap();
        assert!(latency.p50_ms <= latency.p95_ms, "{latency:?}");
        assert!(metrics[1].since.is_some() && metrics[1].since <= metrics[1].last_call_at);
        let last = metrics[1].last_failure.clone().unwrap();
        assert_eq!((last.run, Some(last.at)), (Some(failed), metrics[1].last_call_at));
        assert!(last.message.unwrap().contains("500"));
        assert_eq!(metrics[0].last_failure, None);
    }

    async fn others_learn_nothing_of_ones_calls_nor_of_a_tool_that_is_not_shared(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let echo = world.tool("Echo").await;
        let steps = vec![step("now", tool, json!({ "value": "{x}" })), step("say", echo, json!({ "value": "{x}" }))];
        let id = world.process(process("Forecast", steps, "{{say.value}}")).await;
        let run = world.run(id, json!({ "x": "bern" })).await;
        world.ended(run).await;
        let other = world.other("bert").await;
        let metrics = world.engine.tool_metrics(&other, vec![tool, echo]).await.unwrap();
        assert_eq!(metrics.iter().map(|one| one.tool).collect::<Vec<_>>(), [echo], "what they cannot see is left out");
        assert_eq!(counted(&metrics), [(0, 0)]);
        assert_eq!((metrics[0].latency, metrics[0].since), (None, None));
    }

    async fn what_others_call_does_not_push_out_ones_own_calls(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let id = world.process(process("Say", vec![step("say", echo, json!({ "value": "{x}" }))], "{{say.value}}")).await;
        let run = world.run(id, json!({ "x": "bern" })).await;
        world.ended(run).await;
        let other = world.other("bert").await;
        let crowd = Measurement { name: "latency_ms", scope: "tool", entity: echo, run: None, value: 7.0 };
        let measured = world.store.write(move |tx| (0..600).try_for_each(|_| tx.measure(other.user, &crowd)));
        measured.await.unwrap();
        let metrics = world.engine.tool_metrics(&world.caller, vec![echo]).await.unwrap();
        assert_eq!(counted(&metrics), [(1, 0)]);
        let metrics = world.engine.tool_metrics(&other, vec![echo]).await.unwrap();
        assert_eq!(counted(&metrics), [(500, 0)], "the last ones");
    }

    async fn what_went_wrong_is_told_however_much_its_run_did_afterwards(world: &EngineFixture) {
        let rogue = moody();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let echo = world.tool("Echo").await;
        let mut broken = step("now", tool, json!({ "value": "broken" }));
        broken["output"]["required"] = json!(false);
        let further = (0..40).map(|n| step(&format!("say{n}"), echo, json!({ "value": "{x}" })));
        let steps = std::iter::once(broken).chain(further).collect();
        let id = world.process(process("Forecast", steps, "{{say39.value}}")).await;
        let run = world.run(id, json!({ "x": "bern" })).await;
        world.ended(run).await;
        let metrics = world.engine.tool_metrics(&world.caller, vec![tool, echo]).await.unwrap();
        assert_eq!(counted(&metrics), [(1, 1), (40, 0)]);
        assert!(metrics[0].last_failure.clone().unwrap().message.unwrap().contains("500"));
    }
}
