//! Processes over HTTP, on both databases: what may be made, changed, judged and put away, and by whom.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::flow::execution::state::{Execution, ExecutionStatus};
use skein_core::{ExecutionId, RecordId};
use skein_store::flow::NewExecution;

use crate::accounts::{grant_body, under};
use crate::recipes::{counting, now, weather};
use crate::server_fixture::{Answer, ServerFixture, both, fresh_key};

const PROCESSES: &str = "/api/v1/processes";

fn path(process: &Value) -> String {
    format!("{PROCESSES}/{}", process["id"].as_str().unwrap())
}

async fn tool(world: &ServerFixture) -> Value {
    let service = world.made("/api/v1/services", &weather()).await;
    world.made("/api/v1/tools", &now(&service)).await
}

/// Asks a tool about the place it is started with.
fn forecast(tool: &Value) -> Value {
    let step = json!({ "id": "forecast", "toolId": tool["id"], "inputs": { "city": "{place}" }, "output": { "variable": "now" } });
    json!({ "name": "Forecast", "initialContext": ["place"], "steps": [step], "outputTemplate": "{{now}}" })
}

/// Calls another process.
fn calling(process: &Value) -> Value {
    let step = json!({ "id": "call", "processId": process["id"], "inputs": { "place": "Bern" }, "output": { "variable": "told" } });
    json!({ "name": "Caller", "steps": [step], "outputTemplate": "{{told}}" })
}

/// A run that nobody carries out.
async fn run(world: &ServerFixture, process: &Value) -> String {
    let begun = world.post(&format!("{}/execute", path(process)), r#"{"initialContext":{"place":"Bern"}}"#).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    begun.json()["executionId"].as_str().unwrap().to_owned()
}

async fn delete(world: &ServerFixture, process: &Value) -> Answer {
    world.change("DELETE", &path(process), "{}").await
}

async fn change(world: &ServerFixture, process: &Value, change: Value) -> Answer {
    let mut body = change;
    body["basedOnHash"] = process["hash"].clone();
    world.change("PUT", &path(process), body.to_string()).await
}

async fn share(world: &ServerFixture, tool: &Value, shared: bool) -> Value {
    let path = format!("/api/v1/tools/{}/share", tool["id"].as_str().unwrap());
    world.changed("PUT", &path, &json!({ "shared": shared })).await
}

/// A run of a process that does not end.
async fn begin_run(world: &ServerFixture, process: &Value) {
    let id: RecordId = process["id"].as_str().unwrap().parse().unwrap();
    let (owner, version) = (world.admin.owner(), process["version"].as_i64().unwrap());
    let begin = move |tx: &mut skein_store::Tx<'_>| {
        let new = NewExecution {
            id: ExecutionId::from_bytes([7; 16]),
            owner,
            process: id,
            process_version: version,
            process_name: "p".to_owned(),
            parent: None,
            target: None,
            session: ExecutionId::from_bytes([7; 16]),
            cause: skein_core::ItemId::from_bytes([7; 16]),
            operation: None,
            branched_from: None,
            priority: 0,
            paused_at: None,
        };
        let state = Execution {
            status: ExecutionStatus::Running,
            context: serde_json::Map::new(),
            steps: Vec::new(),
            levels_left: 3,
            stack: Vec::new(),
            token_budget: None,
        };
        tx.insert_execution(new.clone(), &state)
    };
    world.store.write(begin).await.unwrap();
}

both! {
    async fn a_process_is_made_read_in_any_version_changed_and_listed(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        assert_eq!((&made["version"], &made["definitionVersion"], &made["enabled"]), (&json!(1), &json!(1), &json!(true)));
        assert!(made.get("shared").is_none() && made["maxRecursionDepth"] == 3, "{made}");
        let renamed = change(world, &made, json!({ "name": "Count egrets" })).await.json();
        assert_eq!((&renamed["version"], &renamed["definitionVersion"]), (&json!(2), &json!(1)));
        let longer = change(world, &renamed, json!({ "tokenBudget": 100, "enabled": false })).await.json();
        assert_eq!((&longer["definitionVersion"], &longer["tokenBudget"]), (&json!(2), &json!(100)));
        let first = world.get(&format!("{}?version=1", path(&made))).await.json();
        assert_eq!((&first["name"], &first["hash"], &first["steps"]), (&made["name"], &made["hash"], &made["steps"]));
        assert_eq!(world.get(&path(&made)).await.json()["name"], "Count egrets");
        assert_eq!(world.get(&format!("{}?version=9", path(&made))).await.status, 404);
        assert_eq!(world.get(&format!("{}?version=0", path(&made))).await.status, 400);
        world.made(PROCESSES, &counting()).await;
        for (query, count) in [("", 2), ("?enabled=true", 1), ("?enabled=false", 1), ("?limit=1", 1)] {
            let listed = world.get(&format!("{PROCESSES}{query}")).await.json();
            assert_eq!(listed["data"].as_array().unwrap().len(), count, "{query}: {listed}");
        }
    }

    async fn a_change_is_based_on_what_was_looked_at(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        change(world, &made, json!({ "name": "Count egrets" })).await;
        assert_eq!(change(world, &made, json!({ "name": "Count storks" })).await.refused(), (409, "record_changed".to_owned()));
        let unbased = world.change("PUT", &path(&made), json!({ "name": "Count storks" }).to_string()).await;
        assert_eq!(unbased.status, 400);
        for fixed in ["shared", "ownerId", "archived"] {
            assert_eq!(change(world, &made, json!({ fixed: true })).await.status, 422, "{fixed}");
        }
    }

    async fn every_breach_is_named_without_keeping_anything(world: &ServerFixture) {
        let validate = async |body: &Value| {
            let request = world.request("POST", &format!("{PROCESSES}/validate")).header("content-type", "application/json");
            world.send(request.body(body.to_string().into()).unwrap()).await
        };
        let mark = world.mark().await;
        let sound = validate(&counting()).await.json();
        assert_eq!(sound, json!({ "valid": true, "breaches": [], "truncated": false }));
        let mut unsound = counting();
        unsound["steps"][0]["ask"]["prompt"] = json!("{nobody}");
        unsound["maxRecursionDepth"] = json!(11);
        let found = validate(&unsound).await.json();
        let rules: Vec<&Value> = found["breaches"].as_array().unwrap().iter().map(|breach| &breach["rule"]).collect();
        assert_eq!((&found["valid"], rules.len()), (&json!(false), 2), "{found}");
        assert!(rules.contains(&&json!("BR-PROCESS-007")) && rules.contains(&&json!("BR-STEP-002")), "{found}");
        assert_eq!(validate(&json!({ "name": "n", "unknown": 1 })).await.status, 400);
        assert_eq!(world.written_since(mark).await, 0);
    }

    async fn br_process_008_what_nothing_holds_on_to_is_archived_holds(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        let archived = delete(world, &made).await.json();
        assert_eq!((&archived["archived"], &archived["enabled"]), (&json!(true), &json!(false)));
        assert_eq!(world.get(&path(&made)).await.json()["archived"], true);
        let listed = async |query: &str| world.get(&format!("{PROCESSES}{query}")).await.json()["data"].as_array().unwrap().len();
        assert_eq!((listed("").await, listed("?includeArchived=true").await), (0, 1));
        assert_eq!(change(world, &archived, json!({ "enabled": true })).await.breaks(), (422, "BR-PROCESS-008".to_owned()));
        assert_eq!(delete(world, &made).await.breaks(), (422, "BR-PROCESS-008".to_owned()));
    }

    async fn br_process_008_what_is_hinted_called_or_run_refuses_to_be_deleted(world: &ServerFixture) {
        let held = (409, "BR-PROCESS-008".to_owned());
        let made = world.made(PROCESSES, &counting()).await;
        let hint = json!({ "title": "Herons", "processId": made["id"] });
        let conversation = world.made("/api/v1/conversations", &hint).await;
        assert_eq!(delete(world, &made).await.breaks(), held);
        let unhinted = json!({ "processId": null, "basedOnHash": conversation["hash"] });
        world.changed("PUT", &format!("/api/v1/conversations/{}", conversation["id"].as_str().unwrap()), &unhinted).await;
        let caller = world.made(PROCESSES, &calling(&made)).await;
        assert_eq!(delete(world, &made).await.breaks(), held);
        assert_eq!(delete(world, &caller).await.status, 200);
        begin_run(world, &made).await;
        assert_eq!(delete(world, &made).await.breaks(), held);
    }

    async fn br_process_010_whoever_makes_it_owns_it_holds(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        assert_eq!(made["ownerId"], json!(world.admin.owner()));
        assert_eq!(change(world, &made, json!({ "enabled": false })).await.status, 200);
    }

    async fn br_process_010_somebody_elses_process_refuses(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let not_found = (404, "not_found".to_owned());
        assert_eq!(change(&bert, &made, json!({ "enabled": false })).await.refused(), not_found);
        assert_eq!(delete(&bert, &made).await.refused(), not_found);
        let executed = bert.post(&format!("{}/execute", path(&made)), r#"{"initialContext":{}}"#).await;
        assert_eq!(executed.refused(), not_found);
        assert_eq!(bert.get(&path(&made)).await.refused(), not_found);
        assert_eq!(bert.get(&format!("{}/health", path(&made))).await.status, 404);
        assert_eq!(bert.get(PROCESSES).await.json()["data"], json!([]));
        let called = bert.post(PROCESSES, calling(&made).to_string()).await;
        assert_eq!(called.breaks(), (422, "BR-PROCESS-010".to_owned()));
        assert!(!called.text.contains("Count herons"), "{}", called.text);
    }

    async fn br_process_010_a_process_seen_by_a_grant_refuses_to_be_changed_and_run(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let made = bert.made(PROCESSES, &counting()).await;
        let grant = world.made("/api/v1/grants", &grant_body(&bert, 1)).await["id"].as_str().unwrap().to_owned();
        assert_eq!(under(world, &grant, &path(&made)).await.status, 200);
        let execute = format!("{}/execute", path(&made));
        let changed = json!({ "enabled": false, "basedOnHash": made["hash"] });
        let context = json!({ "initialContext": {} });
        for (method, target, body) in
            [("PUT", &path(&made), changed), ("DELETE", &path(&made), json!({})), ("POST", &execute, context)]
        {
            let request = world.request(method, target).header("idempotency-key", fresh_key());
            let request = request.header("skein-grant", &grant).header("content-type", "application/json");
            let refused = world.send(request.body(body.to_string().into()).unwrap()).await;
            assert_eq!(refused.status, 403, "{method} {target}: {}", refused.text);
        }
        assert_eq!(bert.get(&path(&made)).await.json()["enabled"], true);
    }

    async fn br_process_011_own_and_shared_tools_are_used_holds(world: &ServerFixture) {
        let own = tool(world).await;
        world.made(PROCESSES, &forecast(&own)).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        share(world, &own, true).await;
        let made = bert.made(PROCESSES, &forecast(&own)).await;
        // One whose tool was taken back can still be renamed and switched off.
        share(world, &own, false).await;
        let renamed = change(&bert, &made, json!({ "name": "Broken", "enabled": false })).await;
        assert_eq!(renamed.status, 200, "{}", renamed.text);
        let refused = change(&bert, &renamed.json(), json!({ "enabled": true })).await;
        assert_eq!(refused.breaks(), (422, "BR-PROCESS-011".to_owned()));
    }

    async fn br_process_011_tools_out_of_reach_refuses_with_all_of_them(world: &ServerFixture) {
        let (one, other) = (tool(world).await, tool(world).await);
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let mut body = forecast(&one);
        let mut second = forecast(&other)["steps"][0].clone();
        (second["id"], second["output"]["variable"]) = (json!("second"), json!("later"));
        body["steps"].as_array_mut().unwrap().push(second);
        let refused = bert.post(PROCESSES, body.to_string()).await;
        assert_eq!(refused.breaks(), (422, "BR-PROCESS-011".to_owned()));
        for tool in [&one, &other] {
            assert!(refused.text.contains(tool["id"].as_str().unwrap()), "{}", refused.text);
        }
        assert!(!refused.text.contains("Weather now"), "{}", refused.text);
    }

    async fn br_process_009_enabled_tools_hold_an_enabled_process_and_disabling_one_warns_holds(world: &ServerFixture) {
        let tool = tool(world).await;
        share(world, &tool, true).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        world.made(PROCESSES, &forecast(&tool)).await;
        bert.made(PROCESSES, &forecast(&tool)).await;
        let place = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
        let hash = world.get(&place).await.json()["hash"].clone();
        let off = world.changed("PUT", &place, &json!({ "enabled": false, "basedOnHash": hash })).await;
        let warning = &off["warning"];
        assert_eq!((&warning["affectedProcessCount"], &warning["affectedUserCount"]), (&json!(2), &json!(2)), "{off}");
        assert_eq!(off["enabled"], false);
    }

    async fn br_process_009_a_disabled_tool_refuses_an_enabled_process(world: &ServerFixture) {
        let tool = tool(world).await;
        let place = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
        world.changed("PUT", &place, &json!({ "enabled": false, "basedOnHash": tool["hash"] })).await;
        let refused = world.post(PROCESSES, forecast(&tool).to_string()).await;
        assert_eq!(refused.breaks(), (422, "BR-PROCESS-009".to_owned()));
        let mut disabled = forecast(&tool);
        disabled["enabled"] = json!(false);
        let made = world.made(PROCESSES, &disabled).await;
        assert_eq!(change(world, &made, json!({ "enabled": true })).await.breaks(), (422, "BR-PROCESS-009".to_owned()));
    }

    async fn br_share_009_unsharing_counts_processes_and_their_owners_holds(world: &ServerFixture) {
        let tool = tool(world).await;
        share(world, &tool, true).await;
        let service = format!("/api/v1/services/{}/share", tool["serviceId"].as_str().unwrap());
        world.changed("PUT", &service, &json!({ "shared": true })).await;
        let (bert, carl) = (world.joined_by("bert", Role::User, Scope::Write).await, world.joined_by("carl", Role::User, Scope::Write).await);
        world.made(PROCESSES, &forecast(&tool)).await;
        bert.made(PROCESSES, &forecast(&tool)).await;
        bert.made(PROCESSES, &forecast(&tool)).await;
        carl.made(PROCESSES, &forecast(&tool)).await;
        let warning = share(world, &tool, false).await["warning"].clone();
        assert_eq!((&warning["affectedProcessCount"], &warning["affectedUserCount"]), (&json!(3), &json!(2)), "{warning}");
        assert!(warning["message"].as_str().unwrap().starts_with("3 processes owned by 2 users depend"), "{warning}");
        // Below a service there are tools of others, and processes on those.
        let own = bert.made("/api/v1/tools", &now(&json!({ "id": tool["serviceId"] }))).await;
        bert.made(PROCESSES, &forecast(&own)).await;
        let warning = world.changed("PUT", &service, &json!({ "shared": false })).await["warning"].clone();
        let counts = ["affectedProcessCount", "affectedToolCount", "affectedUserCount"].map(|name| &warning[name]);
        assert_eq!(counts, [&json!(1), &json!(1), &json!(1)], "{warning}");
    }

    async fn br_tool_004_a_tool_that_no_process_uses_any_more_is_deleted_holds(world: &ServerFixture) {
        let tool = tool(world).await;
        let process = world.made(PROCESSES, &forecast(&tool)).await;
        assert_eq!(delete(world, &process).await.status, 200);
        let place = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
        assert_eq!(world.change("DELETE", &place, "{}").await.status, 200);
    }

    async fn br_tool_004_a_tool_of_a_step_or_of_an_open_run_refuses_to_be_deleted(world: &ServerFixture) {
        let tool = tool(world).await;
        let place = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
        let process = world.made(PROCESSES, &forecast(&tool)).await;
        let held = (409, "BR-TOOL-004".to_owned());
        assert_eq!(world.change("DELETE", &place, "{}").await.breaks(), held);
        // The run goes on as its process was when it began.
        begin_run(world, &process).await;
        let without = change(world, &process, json!({ "steps": counting()["steps"], "outputTemplate": "{{count}}" })).await;
        assert_eq!(without.status, 200, "{}", without.text);
        assert_eq!(world.change("DELETE", &place, "{}").await.breaks(), held);
    }

    async fn br_conv_001_an_enabled_process_of_ones_own_is_hinted_holds(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        let conversation = world.made("/api/v1/conversations", &json!({ "title": "Herons", "processId": made["id"] })).await;
        assert_eq!(conversation["processId"], made["id"]);
    }

    async fn br_conv_001_a_process_that_is_disabled_archived_or_anothers_refuses(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let hint = async |world: &ServerFixture, process: &Value| {
            world.post("/api/v1/conversations", json!({ "processId": process["id"] }).to_string()).await.breaks()
        };
        let refused = (422, "BR-CONV-001".to_owned());
        let made = world.made(PROCESSES, &counting()).await;
        assert_eq!(hint(&bert, &made).await, refused);
        assert_eq!(hint(world, &tool(world).await).await, refused);
        let disabled = change(world, &made, json!({ "enabled": false })).await.json();
        assert_eq!(hint(world, &disabled).await, refused);
        delete(world, &disabled).await;
        assert_eq!(hint(world, &disabled).await, refused);
    }

    async fn br_conv_001_a_hint_at_a_process_that_was_disabled_refuses_to_be_shown_or_taken_along(world: &ServerFixture) {
        let made = world.made(PROCESSES, &counting()).await;
        let conversation = world.made("/api/v1/conversations", &json!({ "title": "Herons", "processId": made["id"] })).await;
        let place = format!("/api/v1/conversations/{}", conversation["id"].as_str().unwrap());
        world.made(&format!("{place}/turns"), &json!({ "text": "How many?" })).await;
        let disabled = change(world, &made, json!({ "enabled": false })).await.json();
        let shown = world.get(&place).await.json();
        assert_eq!((&shown["processId"], &shown["hash"]), (&Value::Null, &conversation["hash"]));
        let listed = world.get("/api/v1/conversations").await.json();
        assert_eq!(listed["data"][0]["processId"], Value::Null);
        let fork = world.made(&format!("{place}/fork"), &json!({})).await;
        change(world, &disabled, json!({ "enabled": true })).await;
        let fork = world.get(&format!("/api/v1/conversations/{}", fork["id"].as_str().unwrap())).await.json();
        assert_eq!(fork["processId"], Value::Null, "a fork does not take a disabled process along");
        assert_eq!(world.get(&place).await.json()["processId"], made["id"], "it is offered again");
    }

    async fn health_says_what_a_run_would_meet(world: &ServerFixture) {
        let tool = tool(world).await;
        let inner = world.made(PROCESSES, &forecast(&tool)).await;
        let outer = world.made(PROCESSES, &calling(&inner)).await;
        let health = async |process: &Value| world.get(&format!("{}/health", path(process))).await.json();
        let found = health(&inner).await;
        assert_eq!(found["status"], "warning", "{found}");
        let kinds: Vec<&Value> = found["dependencies"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
        assert_eq!(kinds, ["tool", "service"], "{found}");
        let first = &found["dependencies"][0];
        assert_eq!((&first["id"], &first["steps"]), (&tool["id"], &json!(["forecast"])));
        assert_eq!(first["reasons"], json!(["it was never checked"]));
        let place = format!("/api/v1/tools/{}", tool["id"].as_str().unwrap());
        world.changed("PUT", &place, &json!({ "enabled": false, "basedOnHash": tool["hash"] })).await;
        let found = health(&outer).await;
        assert_eq!((&found["status"], &found["dependencies"][0]["kind"]), (&json!("error"), &json!("process")), "{found}");
        let reasons = found["dependencies"][0]["reasons"].to_string();
        assert!(reasons.contains("Weather now") && reasons.contains("it is disabled"), "{found}");
        let alone = world.made(PROCESSES, &counting()).await;
        assert_eq!(health(&alone).await["status"], "healthy");
        change(world, &alone, json!({ "enabled": false })).await;
        assert_eq!(health(&alone).await["reasons"], json!(["it is disabled"]));
    }

    async fn whoever_asks_is_told_how_many_calls_of_their_own_runs_wait(world: &ServerFixture) {
        let tool = tool(world).await;
        share(world, &tool, true).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let waiting = async |world: &ServerFixture| world.get("/api/v1/queue").await.json()["waiting"].clone();
        let process = world.made(PROCESSES, &forecast(&tool)).await;
        let first = run(world, &process).await;
        run(world, &process).await;
        assert_eq!((waiting(world).await, waiting(&bert).await), (json!(2), json!(0)));
        let theirs = bert.made(PROCESSES, &forecast(&tool)).await;
        run(&bert, &theirs).await;
        assert_eq!((waiting(world).await, waiting(&bert).await), (json!(2), json!(1)));
        world.changed("POST", &format!("/api/v1/executions/{first}/cancel"), &json!({})).await;
        assert_eq!((waiting(world).await, waiting(&bert).await), (json!(1), json!(1)));
        assert_eq!(world.get("/api/v1/queue?owner=bert").await.refused(), (400, "invalid_query".to_owned()));
    }
}
