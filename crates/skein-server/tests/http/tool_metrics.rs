//! Metrics of tools over HTTP: their fields, their audience and their refusals.

use serde_json::{Value, json};
use skein_core::RecordId;
use skein_core::account::{Role, Scope};
use skein_store::metrics::Measurement;

use crate::recipes::{now, weather};
use crate::server_fixture::{Answer, ServerFixture, both};

async fn tool(world: &ServerFixture) -> Value {
    let service = world.made("/api/v1/services", &weather()).await;
    world.made("/api/v1/tools", &now(&service)).await
}

fn id(tool: &Value) -> &str {
    tool["id"].as_str().unwrap()
}

async fn asked(world: &ServerFixture, ids: &[&str]) -> Answer {
    world.get(&format!("/api/v1/tools/metrics?toolIds={}", ids.join(","))).await
}

/// Calls of a tool that took so long, of which some failed.
async fn called(world: &ServerFixture, tool: &Value, took_ms: &'static [f64], failed: usize) {
    let (owner, entity): (_, RecordId) = (world.admin.owner(), id(tool).parse().unwrap());
    let calls = move |tx: &mut skein_store::Tx<'_>| {
        let of = |name, value| Measurement { name, scope: "tool", entity, run: None, value };
        took_ms.iter().try_for_each(|took| tx.measure(owner, &of("latency_ms", *took)))?;
        (0..failed).try_for_each(|_| tx.measure(owner, &of("errors", 1.0)))
    };
    world.store.write(calls).await.unwrap();
}

both! {
    async fn ones_own_calls_are_told_and_nobody_elses(world: &ServerFixture) {
        let tool = tool(world).await;
        world.changed("PUT", &format!("/api/v1/tools/{}/share", id(&tool)), &json!({ "shared": true })).await;
        let bert = world.joined_by("bert", Role::User, Scope::Read).await;
        called(world, &tool, &[10.0, 20.0, 30.0, 40.0], 1).await;
        called(&bert, &tool, &[700.0], 0).await;
        let mine = asked(world, &[id(&tool)]).await.json()["data"][0].clone();
        let told = ["calls", "failures", "successPercent", "p50Ms"].map(|name| mine[name].clone());
        assert_eq!(told, [json!(4), json!(1), json!(75.0), json!(20.0)], "{mine}");
        let berts = asked(&bert, &[id(&tool)]).await.json()["data"][0].clone();
        let told = ["calls", "failures", "p50Ms", "lastFailure"].map(|name| berts[name].clone());
        assert_eq!(told, [json!(1), json!(0), json!(700.0), json!(null)], "{berts}");
    }

    async fn what_does_not_exist_and_what_is_somebody_elses_are_left_out_alike(world: &ServerFixture) {
        let (tool, process) = (tool(world).await, world.made("/api/v1/processes", &crate::recipes::counting()).await);
        called(world, &tool, &[10.0], 0).await;
        let nowhere = RecordId::from_bytes([7; 16]).to_string();
        let asked_for = [nowhere.as_str(), id(&tool), id(&process)];
        let told = asked(world, &asked_for).await.json();
        assert_eq!((told["data"].as_array().unwrap().len(), &told["data"][0]["toolId"]), (1, &tool["id"]), "{told}");
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(asked(&bert, &asked_for).await.json(), json!({ "data": [] }));
    }

    async fn tools_that_are_not_named_rightly_are_refused(world: &ServerFixture) {
        let one = RecordId::from_bytes([7; 16]).to_string();
        for query in [String::new(), "?toolIds=".into(), "?toolIds=Weather".into(), format!("?toolIds={one},"),
            format!("?toolIds={one}&toolIds={one}"), format!("?toolIds={one}&since=2026-01-01"),
            format!("?toolIds={}", vec![one.as_str(); 101].join(","))]
        {
            let refused = world.get(&format!("/api/v1/tools/metrics{query}")).await;
            assert_eq!(refused.refused(), (400, "invalid_query".to_owned()), "{query}");
        }
        assert_eq!(asked(world, &vec![one.as_str(); 100]).await.json(), json!({ "data": [] }));
    }
}
