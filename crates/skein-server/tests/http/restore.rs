//! Earlier states of the catalogue's records taken up again over HTTP, on both databases.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};

use crate::recipes::{approval, counting, looking, now, weather};
use crate::server_fixture::{Answer, ServerFixture, both};

fn id(thing: &Value) -> &str {
    thing["id"].as_str().unwrap_or_else(|| panic!("no id in {thing}"))
}

async fn service(world: &ServerFixture) -> Value {
    world.made("/api/v1/services", &weather()).await
}

async fn tool(world: &ServerFixture) -> Value {
    world.made("/api/v1/tools", &now(&service(world).await)).await
}

async fn deleted(world: &ServerFixture, path: &str, thing: &Value) {
    world.changed("DELETE", &format!("/api/v1/{path}/{}", id(thing)), &json!({})).await;
}

async fn restore(world: &ServerFixture, thing: &Value, body: &Value) -> Answer {
    world.post(&format!("/api/v1/records/{}/restore", id(thing)), body.to_string()).await
}

async fn restored(world: &ServerFixture, thing: &Value) -> Value {
    let answer = restore(world, thing, &json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

both! {
    async fn mg_core_004_a_deleted_tool_is_there_again_as_it_was_holds(world: &ServerFixture) {
        let tool = tool(world).await;
        let path = format!("/api/v1/tools/{}", id(&tool));
        world.changed("PUT", &format!("{path}/share"), &json!({ "shared": true })).await;
        let before = world.get(&path).await.json();
        deleted(world, "tools", &tool).await;
        assert_eq!(world.get(&path).await.refused(), (404, "not_found".to_owned()));
        let again = restored(world, &tool).await;
        assert_eq!((&again["id"], &again["shared"], again["version"].as_i64()), (&tool["id"], &json!(true), Some(4)));
        let after = world.get(&path).await.json();
        for field in ["name", "operation", "inputSchema", "connectionParams", "shared", "enabled", "definitionVersion"] {
            assert_eq!(after[field], before[field], "{field}");
        }
        // What stands on something keeps it from being deleted again.
        let kept = world.change("DELETE", &format!("/api/v1/services/{}", tool["serviceId"].as_str().unwrap()), "{}").await;
        assert_eq!(kept.breaks(), (409, "BR-SERVICE-004".to_owned()));
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(bert.get(&path).await.status, 200);
    }

    async fn mg_core_004_a_change_is_taken_back_as_a_further_one_holds(world: &ServerFixture) {
        let tool = tool(world).await;
        let change = json!({ "name": "later", "operation": { "type": "rest_call", "method": "GET", "path": "/later/{{city}}" },
            "basedOnHash": tool["hash"] });
        let changed = world.changed("PUT", &format!("/api/v1/tools/{}", id(&tool)), &change).await;
        assert_eq!(changed["definitionVersion"], 2);
        let stale = restore(world, &tool, &json!({ "version": 1, "basedOnHash": tool["hash"] })).await;
        assert_eq!(stale.breaks(), (409, "MG-CORE-002".to_owned()));
        let body = json!({ "version": 1, "basedOnHash": changed["hash"] });
        let back = restore(world, &tool, &body).await.json();
        assert_eq!((&back["data"]["name"], &back["data"]["operation"]), (&tool["name"], &tool["operation"]));
        // What does something else by now is not what was approved before.
        assert_eq!((&back["data"]["definitionVersion"], &back["version"]), (&json!(3), &json!(3)));
        assert_eq!(restored(world, &tool).await["data"]["name"], "later");
    }

    async fn mg_core_004_what_an_entry_needs_comes_before_it_refuses(world: &ServerFixture) {
        let tool = tool(world).await;
        let service = json!({ "id": tool["serviceId"] });
        deleted(world, "tools", &tool).await;
        deleted(world, "services", &service).await;
        let refused = restore(world, &tool, &json!({})).await;
        assert_eq!(refused.breaks(), (409, "MG-CORE-004".to_owned()));
        assert!(refused.text.contains(id(&service)), "{}", refused.text);
        restored(world, &service).await;
        restored(world, &tool).await;
        for path in [format!("services/{}", id(&service)), format!("tools/{}", id(&tool))] {
            assert_eq!(world.get(&format!("/api/v1/{path}")).await.status, 200, "{path}");
        }
    }

    async fn mg_core_004_what_a_change_would_not_be_asked_is_not_asked_on_the_way_back_holds(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let service = service(&bert).await;
        let share = format!("/api/v1/services/{}/share", id(&service));
        bert.changed("PUT", &share, &json!({ "shared": true })).await;
        let tool = world.made("/api/v1/tools", &now(&service)).await;
        let path = format!("/api/v1/tools/{}", id(&tool));
        let renamed = world.changed("PUT", &path, &json!({ "name": "later", "basedOnHash": tool["hash"] })).await;
        bert.changed("PUT", &share, &json!({ "shared": false })).await;
        assert_eq!(restored(world, &tool).await["data"]["name"], tool["name"], "{renamed}");
        // Sharing has an act of its own, which says who loses by it.
        let shared = world.changed("PUT", &format!("{path}/share"), &json!({ "shared": true })).await;
        let body = json!({ "version": 2, "basedOnHash": shared["hash"] });
        let again = restore(world, &tool, &body).await.json();
        assert_eq!((&again["data"]["name"], &again["shared"]), (&json!("later"), &json!(true)));
        deleted(world, "tools", &tool).await;
        assert_eq!(restore(world, &tool, &json!({})).await.breaks(), (409, "MG-CORE-004".to_owned()));
    }

    async fn mg_core_004_what_counts_upwards_does_so_on_the_way_back_holds(world: &ServerFixture) {
        let service = service(world).await;
        let mut schema = service["connectionSchema"].clone();
        schema["properties"]["region"] = json!({ "type": "string" });
        let change = json!({ "connectionSchema": schema, "basedOnHash": service["hash"] });
        let changed = world.changed("PUT", &format!("/api/v1/services/{}", id(&service)), &change).await;
        assert_eq!(changed["schemaVersion"], 2);
        let back = restored(world, &service).await;
        assert_eq!((&back["data"]["schemaVersion"], &back["data"]["connectionSchema"]), (&json!(3), &service["connectionSchema"]));
    }

    async fn br_process_008_an_archived_process_is_run_again_once_restored_holds(world: &ServerFixture) {
        let process = world.made("/api/v1/processes", &counting()).await;
        deleted(world, "processes", &process).await;
        let run = format!("/api/v1/processes/{}/execute", id(&process));
        let body = json!({ "initialContext": { "place": "the lake" } }).to_string();
        assert_eq!(world.post(&run, body.clone()).await.status, 422);
        let again = restored(world, &process).await;
        assert_eq!((&again["data"]["archived"], &again["data"]["enabled"]), (&json!(false), &json!(true)));
        assert_eq!(world.post(&run, body).await.status, 202);
    }

    async fn br_process_008_a_process_whose_tool_is_gone_refuses(world: &ServerFixture) {
        let tool = tool(world).await;
        let process = world.made("/api/v1/processes", &looking(&tool)).await;
        deleted(world, "processes", &process).await;
        // An archived process holds on to nothing.
        deleted(world, "tools", &tool).await;
        let refused = restore(world, &process, &json!({})).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        restored(world, &tool).await;
        restored(world, &process).await;
    }

    async fn br_secret_001_a_secret_that_was_destroyed_stays_so_refuses(world: &ServerFixture) {
        let secret = world.made("/api/v1/secrets", &json!({ "name": "key", "type": "api_key", "value": "k-7f9c24e53b1a" })).await;
        deleted(world, "secrets", &secret).await;
        assert_eq!(restore(world, &secret, &json!({})).await.breaks(), (422, "BR-SECRET-001".to_owned()));
        assert_eq!(restore(world, &secret, &json!({ "version": 1 })).await.breaks(), (422, "BR-SECRET-001".to_owned()));
    }

    async fn br_share_003_what_others_deleted_is_not_found_and_what_they_share_is_theirs_refuses(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let tool = tool(world).await;
        world.changed("PUT", &format!("/api/v1/tools/{}/share", id(&tool)), &json!({ "shared": true })).await;
        assert_eq!(restore(&bert, &tool, &json!({ "version": 1 })).await.refused(), (404, "not_found".to_owned()));
        deleted(world, "tools", &tool).await;
        assert_eq!(restore(&bert, &tool, &json!({})).await.refused(), (404, "not_found".to_owned()));
    }

    async fn versions_that_never_were_and_states_in_which_it_was_deleted_are_refused(world: &ServerFixture) {
        let service = service(world).await;
        for version in [0, -1, 2, i64::MAX] {
            assert_eq!(restore(world, &service, &json!({ "version": version })).await.refused(), (404, "not_found".to_owned()));
        }
        // Before its first version it was nothing.
        assert_eq!(restore(world, &service, &json!({})).await.refused(), (404, "not_found".to_owned()));
        deleted(world, "services", &service).await;
        restored(world, &service).await;
        assert_eq!(restore(world, &service, &json!({ "version": 2 })).await.breaks(), (422, "MG-CORE-004".to_owned()));
        assert_eq!(restore(world, &service, &json!({ "version": "2" })).await.status, 400);
    }

    async fn br_step_006_a_revoked_approval_counts_again_unless_another_stands_refuses(world: &ServerFixture) {
        let approval = json!({ "id": approval(world).await });
        deleted(world, "approvals", &approval).await;
        restored(world, &approval).await;
        let listed = world.get("/api/v1/approvals").await.json();
        assert_eq!((&listed["data"][0]["id"], &listed["data"][0]["counts"]), (&approval["id"], &json!(true)));
        deleted(world, "approvals", &approval).await;
        let tool = world.get("/api/v1/tools?limit=100").await.json();
        let tool = tool["data"].as_array().unwrap().iter().find(|one| one["name"] == "Weather now").unwrap().clone();
        let change = json!({ "outputSchema": { "type": "object" }, "basedOnHash": tool["hash"] });
        world.changed("PUT", &format!("/api/v1/tools/{}", id(&tool)), &change).await;
        assert_eq!(restore(world, &approval, &json!({})).await.breaks(), (409, "BR-STEP-006".to_owned()));
        // The same process asks again, and is approved again.
        let process = world.get("/api/v1/processes?limit=100").await.json();
        let process = process["data"].as_array().unwrap().iter().find(|one| one["name"] == "Look at a place").unwrap().clone();
        let begun = world.post(&format!("/api/v1/processes/{}/execute", id(&process)),
            json!({ "initialContext": { "place": "the lake" } }).to_string()).await.json();
        let shown = world.get(&format!("/api/v1/executions/{}", begun["executionId"].as_str().unwrap())).await.json();
        let path = format!("/api/v1/reviews/{}/decide", shown["reviewIds"][0].as_str().unwrap());
        world.changed("POST", &path, &json!({ "decision": "approve", "scope": "always" })).await;
        assert_eq!(restore(world, &approval, &json!({})).await.breaks(), (409, "BR-STEP-006".to_owned()));
    }
}
