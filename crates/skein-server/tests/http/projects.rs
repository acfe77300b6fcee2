//! Projects, the branches they gather, where their participants are, and who these are.

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::{ConversationId, RecordId};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, id, turn_path};
use crate::server_fixture::{ServerFixture, both};
use crate::tree_fixture::{conversation, conversation_in, make_project, say};

async fn data(world: &ServerFixture, path: &str) -> Vec<Value> {
    let answer = world.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()["data"].as_array().unwrap().clone()
}

async fn stack(world: &ServerFixture, project: RecordId) -> Vec<Value> {
    data(world, &format!("/api/v1/projects/{project}/stack")).await
}

async fn project_of(world: &ServerFixture, conversation: ConversationId) -> RecordId {
    let admin = world.admin.clone();
    let row = world.store.read(move |tx| tx.conversation(&admin, conversation)).await.unwrap();
    row.project.unwrap()
}

fn ids(entries: &[Value], name: &str) -> Vec<String> {
    entries.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

both! {
    async fn mg_proj_003_everybody_starts_with_one_project_holds(world: &ServerFixture) {
        let own = data(world, "/api/v1/projects").await;
        assert_eq!((own.len(), &own[0]["isDefault"], &own[0]["name"]), (1, &json!(true), &json!("My project")));
        let made = world.made("/api/v1/users", &json!({ "name": "carl", "role": "user" })).await;
        let carl = skein_core::Viewer::User(made["id"].as_str().unwrap().parse().unwrap());
        let carl = world.clone().asked_by(carl, Scope::Write).await;
        assert_eq!(data(&carl, "/api/v1/projects").await.len(), 1);
        // Somebody from before there were projects gets theirs when they first need one.
        let old = world.joined_by("old", Role::User, Scope::Write).await;
        let second = old.made("/api/v1/projects", &json!({ "name": "Herons" })).await;
        let listed = data(&old, "/api/v1/projects").await;
        let default = listed.iter().filter(|project| project["isDefault"] == true && project["id"] != second["id"]);
        assert_eq!((listed.len(), default.count()), (2, 1));
        let change = json!({ "name": "Egrets", "description": "white", "basedOnHash": second["hash"] });
        let path = format!("/api/v1/projects/{}", second["id"].as_str().unwrap());
        let changed = old.changed("PUT", &path, &change).await;
        assert_eq!((&changed["name"], &changed["isDefault"]), (&json!("Egrets"), &json!(false)));
        assert_eq!(old.get(&path).await.json()["description"], "white");
    }

    async fn mg_proj_003_another_default_or_an_old_state_refuses(world: &ServerFixture) {
        let first = data(world, "/api/v1/projects").await.remove(0);
        let path = format!("/api/v1/projects/{}", first["id"].as_str().unwrap());
        let before = world.count().await;
        let change = json!({ "isDefault": false, "basedOnHash": first["hash"] });
        assert_eq!(world.change("PUT", &path, change.to_string()).await.breaks(), (422, "MG-PROJ-003".to_owned()));
        let change = json!({ "name": "x", "basedOnHash": "0".repeat(64) });
        assert_eq!(world.change("PUT", &path, change.to_string()).await.status, 409);
        assert_eq!(world.change("PUT", &path, r#"{"name":"x"}"#).await.refused(), (400, "invalid_body".to_owned()));
        assert_eq!(world.post("/api/v1/projects", r#"{"name":""}"#).await.status, 400);
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(other.get(&path).await.status, 404);
        assert_eq!(world.count().await, before);
    }

    async fn mg_proj_001_the_stack_has_every_branch_once_in_creation_order_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = conversation_in(world, &world.admin, project, "first").await;
        let second = conversation_in(world, &world.admin, project, "second").await;
        say(world, &world.admin, first, None, "hello").await;
        let listed = stack(world, project).await;
        assert_eq!(ids(&listed, "conversationId"), [first.to_string(), second.to_string()]);
        assert_eq!((&listed[0]["nodes"], &listed[0]["folded"], &listed[0]["kind"]), (&json!(1), &json!(false), &json!("main")));
        let page = world.get(&format!("/api/v1/projects/{project}/stack?limit=1")).await.json();
        let next = page["pagination"]["next"].as_str().unwrap();
        let rest = data(world, &format!("/api/v1/projects/{project}/stack?limit=1&cursor={next}")).await;
        assert_eq!(ids(&rest, "conversationId"), [second.to_string()]);
    }

    async fn mg_proj_001_forks_folded_and_reopened_branches_stay_in_the_stack_once_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let main = world.made(CONVERSATIONS, &json!({ "title": "Herons", "projectId": project })).await;
        let talk = ConversationFixture::of(world, &main);
        talk.say(None, "How many?").await;
        world.clock.advance(1);
        let fork = talk.made("/fork", &json!({})).await;
        world.clock.advance(1);
        world.changed("POST", &format!("{}/fold", ConversationFixture::of(world, &fork).path), &json!({ "summary": "Eleven." })).await;
        let reopened = ConversationFixture::of(world, &fork).made("/reopen", &json!({})).await;
        let listed = stack(world, project).await;
        assert_eq!(ids(&listed, "conversationId"), [id(&main), id(&fork), id(&reopened)]);
        let folded: Vec<&Value> = listed.iter().map(|branch| &branch["folded"]).collect();
        assert_eq!(folded, [&json!(false), &json!(true), &json!(false)]);
        // Leaving a project and coming back does not move a branch.
        let (place, elsewhere) = (format!("{}/project", talk.path), make_project(world, &world.admin, "q").await);
        for to in [elsewhere, project] {
            world.changed("PUT", &place, &json!({ "projectId": to })).await;
        }
        assert_eq!(stack(world, project).await, listed);
    }

    async fn mg_proj_001_a_stack_written_by_hand_refuses(world: &ServerFixture) {
        let project = world.made("/api/v1/projects", &json!({ "name": "p" })).await;
        let path = format!("/api/v1/projects/{}", project["id"].as_str().unwrap());
        let change = json!({ "stack": [], "basedOnHash": project["hash"] });
        assert_eq!(world.change("PUT", &path, change.to_string()).await.breaks(), (422, "MG-PROJ-001".to_owned()));
    }

    async fn mg_proj_003_a_conversation_is_of_one_project_at_a_time_holds(world: &ServerFixture) {
        let moved = conversation(world, &world.admin, "herons").await;
        let (from, to) = (project_of(world, moved).await, make_project(world, &world.admin, "to").await);
        let path = format!("/api/v1/conversations/{moved}/project");
        let answer = world.changed("PUT", &path, &json!({ "projectId": to })).await;
        assert_eq!(answer["conversationId"], json!(moved));
        assert_eq!((stack(world, from).await.len(), stack(world, to).await.len()), (0, 1));
        assert_eq!(data(world, &format!("/api/v1/projects/{from}/frames")).await.len(), 0);
        // Again, to where it is: nothing is written but the operation.
        let before = world.count().await;
        world.changed("PUT", &path, &json!({ "projectId": to })).await;
        assert_eq!(world.count().await, before);
    }

    async fn mg_proj_003_a_project_of_somebody_else_refuses(world: &ServerFixture) {
        let own = conversation(world, &world.admin, "herons").await;
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        let theirs = make_project(world, &other.admin, "theirs").await;
        let path = format!("/api/v1/conversations/{own}/project");
        let asked = json!({ "projectId": theirs }).to_string();
        assert_eq!(world.change("PUT", &path, asked.clone()).await.breaks(), (422, "MG-PROJ-003".to_owned()));
        assert_eq!(other.change("PUT", &path, asked).await.status, 404);
        // A record that is no project is none.
        let asked = json!({ "projectId": RecordId::from(own) }).to_string();
        assert_eq!(world.change("PUT", &path, asked).await.breaks(), (422, "MG-PROJ-003".to_owned()));
    }

    async fn mg_frame_001_every_participant_has_one_frame_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = conversation_in(world, &world.admin, project, "first").await;
        let second = conversation_in(world, &world.admin, project, "second").await;
        let node = say(world, &world.admin, first, None, "hello").await;
        let model = json!({ "name": "Hugin", "type": "model", "modelRef": "local:x" });
        let actor = world.made("/api/v1/actors", &model).await["id"].as_str().unwrap().to_owned();
        let path = |who: &str| format!("/api/v1/projects/{project}/frames/{who}");
        let turned = world.changed("PUT", &path(&actor), &json!({ "conversationId": first, "nodeId": node })).await;
        assert_eq!((&turned["actorId"], &turned["headNodeId"]), (&json!(actor), &json!(node)));
        let me = world.admin.owner().to_string();
        let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
        assert_eq!(frames.len(), 2);
        let mine = frames.iter().find(|frame| frame["actorId"] == json!(me)).unwrap();
        assert_eq!((&mine["conversationId"], &mine["headNodeId"]), (&json!(second), &Value::Null));
        world.changed("PUT", &path(&me), &json!({ "conversationId": first })).await;
        let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
        assert!(frames.iter().all(|frame| frame["conversationId"] == json!(first)), "{frames:?}");
    }

    async fn mg_frame_001_a_place_outside_the_project_refuses(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let here = conversation_in(world, &world.admin, project, "here").await;
        let elsewhere = conversation(world, &world.admin, "elsewhere").await;
        let me = format!("/api/v1/projects/{project}/frames/{}", world.admin.owner());
        let before = world.count().await;
        let turn = async |path: &str, body: Value| world.change("PUT", path, body.to_string()).await;
        let refused = turn(&me, json!({ "conversationId": elsewhere })).await;
        assert_eq!(refused.breaks(), (422, "MG-FRAME-001".to_owned()));
        let nobody = format!("/api/v1/projects/{project}/frames/user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z");
        assert_eq!(turn(&nobody, json!({ "conversationId": here })).await.status, 404);
        let no_actor = format!("/api/v1/projects/{project}/frames/{project}");
        assert_eq!(turn(&no_actor, json!({ "conversationId": here })).await.status, 404);
        let bad = format!("/api/v1/projects/{project}/frames/me");
        assert_eq!(turn(&bad, json!({ "conversationId": here })).await.refused(), (400, "invalid_id".to_owned()));
        assert_eq!(world.count().await, before);
    }

    async fn mg_frame_002_whoever_writes_is_there_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = conversation_in(world, &world.admin, project, "first").await;
        let node = say(world, &world.admin, first, None, "hello").await;
        let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
        assert_eq!((&frames[0]["conversationId"], &frames[0]["headNodeId"]), (&json!(first), &json!(node)));
    }

    async fn mg_frame_002_writing_in_one_branch_and_staying_in_another_or_leading_others_along_refuses(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({ "projectId": project })).await);
        let said = first.say(None, "hello").await;
        let second = world.made(CONVERSATIONS, &json!({ "projectId": project })).await;
        let model = world.made("/api/v1/actors", &json!({ "name": "Hugin", "type": "model", "modelRef": "local:x" })).await;
        let (me, model) = (json!(world.admin.owner()), model["id"].clone());
        let turn_back = async |who: &Value| {
            let path = format!("/api/v1/projects/{project}/frames/{}", who.as_str().unwrap());
            world.changed("PUT", &path, &json!({ "conversationId": second["id"] })).await
        };
        let place = async |who: &Value| {
            let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
            frames.into_iter().find(|frame| frame["actorId"] == *who).unwrap()["conversationId"].clone()
        };
        turn_back(&model).await;
        let shown = first.shown().await;
        for (path, body) in [
            (format!("{}/turns", first.path), json!({ "parentAlternativeId": said["node"]["id"], "text": "and?" })),
            (format!("{}{}/alternatives", first.path, turn_path(&said)), json!({ "text": "good morning" })),
            (format!("/api/v1/nodes/{}/annotations", id(&said["node"])), json!({ "text": "hm" })),
        ] {
            turn_back(&me).await;
            assert_eq!(place(&me).await, second["id"]);
            world.made(&path, &body).await;
            assert_eq!((place(&me).await, place(&model).await), (shown["id"].clone(), second["id"].clone()), "{path}");
        }
        world.changed("POST", &format!("{}/fold", first.path), &json!({ "summary": "greetings" })).await;
        turn_back(&me).await;
        first.refuses("/turns", &json!({ "parentAlternativeId": said["node"]["id"], "text": "more" }), 409, "MG-CONV-005").await;
        assert_eq!(place(&me).await, second["id"]);
    }

    async fn mg_frame_003_whoever_turns_to_a_new_branch_has_no_head_there_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = conversation_in(world, &world.admin, project, "first").await;
        say(world, &world.admin, first, None, "hello").await;
        let second = conversation_in(world, &world.admin, project, "second").await;
        let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
        assert_eq!((&frames[0]["conversationId"], &frames[0]["headNodeId"]), (&json!(second), &Value::Null));
    }

    async fn mg_frame_004_the_head_is_what_was_written_or_turned_to_last_holds(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let talk = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({ "projectId": project })).await);
        let first = talk.say(None, "hello").await;
        let second = talk.say(Some(&first), "How are you?").await;
        let me = json!(world.admin.owner());
        let head = async || {
            let frames = data(world, &format!("/api/v1/projects/{project}/frames")).await;
            frames.into_iter().find(|frame| frame["actorId"] == me).unwrap()["headNodeId"].clone()
        };
        assert_eq!(head().await, second["node"]["id"]);
        let beside = json!({ "parentAlternativeId": first["node"]["id"], "text": "Another thing.", "makeActive": false });
        talk.made("/turns", &beside).await;
        assert_eq!(head().await, second["node"]["id"], "who stays where they are stands there");
        let path = format!("/api/v1/projects/{project}/frames/{}", me.as_str().unwrap());
        let turn = json!({ "conversationId": talk.shown().await["id"], "nodeId": first["node"]["id"] });
        world.changed("PUT", &path, &turn).await;
        assert_eq!(head().await, first["node"]["id"]);
    }

    async fn mg_frame_004_a_head_of_another_branch_refuses(world: &ServerFixture) {
        let project = make_project(world, &world.admin, "p").await;
        let first = conversation_in(world, &world.admin, project, "first").await;
        let second = conversation_in(world, &world.admin, project, "second").await;
        let node = say(world, &world.admin, first, None, "hello").await;
        let me = format!("/api/v1/projects/{project}/frames/{}", world.admin.owner());
        let asked = json!({ "conversationId": second, "nodeId": node });
        assert_eq!(world.change("PUT", &me, asked.to_string()).await.breaks(), (422, "MG-FRAME-004".to_owned()));
        let asked = json!({ "conversationId": first, "nodeId": node });
        assert_eq!(world.changed("PUT", &me, &asked).await["headNodeId"], json!(node));
    }

    async fn ag_node_003_actors_are_described_and_changed_holds(world: &ServerFixture) {
        let draft = json!({ "name": "Hugin", "type": "model", "modelRef": "local:x",
            "configuration": { "systemPrompt": "Be brief.", "temperature": 0.5 }, "permissions": { "loomAware": false } });
        let made = world.made("/api/v1/actors", &draft).await;
        assert_eq!((&made["type"], &made["permissions"]["loomAware"]), (&json!("model"), &json!(false)));
        let path = format!("/api/v1/actors/{}", made["id"].as_str().unwrap());
        let change = json!({ "archived": true, "basedOnHash": made["hash"] });
        assert_eq!(world.changed("PUT", &path, &change).await["archived"], true);
        assert_eq!(world.get(&path).await.json()["version"], 2);
        assert_eq!(data(world, "/api/v1/actors").await.len(), 1);
    }

    async fn ag_node_003_what_has_no_effect_refuses(world: &ServerFixture) {
        let model = json!({ "name": "Hugin", "type": "model", "modelRef": "local:x" });
        let made = world.made("/api/v1/actors", &model).await;
        let path = format!("/api/v1/actors/{}", made["id"].as_str().unwrap());
        let scribe = json!({ "name": "Scribe", "type": "system" });
        let with = |mut actor: Value, field: &str, value: Value| {
            actor[field] = value;
            actor
        };
        let based_on = json!({ "basedOnHash": made["hash"] });
        for (method, path, body) in [
            ("POST", "/api/v1/actors", with(model.clone(), "permissions", json!({ "loomAware": true }))),
            ("POST", "/api/v1/actors", with(json!({ "name": "Ada", "type": "human" }), "permissions", json!({}))),
            ("PUT", path.as_str(), with(based_on.clone(), "permissions", json!({ "docRead": true }))),
            ("POST", "/api/v1/actors", with(scribe, "configuration", json!({ "temperature": 1 }))),
            ("PUT", &path, with(based_on.clone(), "configuration", json!({ "customParameters": { "model": "another" } }))),
        ] {
            let refused = world.change(method, path, body.to_string()).await;
            assert_eq!(refused.breaks(), (422, "AG-NODE-003".to_owned()), "{body}: {}", refused.text);
        }
        let same = with(based_on, "permissions", made["permissions"].clone());
        assert_eq!(world.change("PUT", &path, same.to_string()).await.status, 200);
    }

    async fn ag_node_003_an_actor_of_another_kind_refuses(world: &ServerFixture) {
        let model = json!({ "name": "Hugin", "type": "model" });
        assert_eq!(world.post("/api/v1/actors", model.to_string()).await.breaks(), (422, "AG-NODE-003".to_owned()));
        let human = world.made("/api/v1/actors", &json!({ "name": "Ada", "type": "human" })).await;
        let path = format!("/api/v1/actors/{}", human["id"].as_str().unwrap());
        let change = json!({ "type": "model", "basedOnHash": human["hash"] });
        assert_eq!(world.change("PUT", &path, change.to_string()).await.breaks(), (422, "AG-NODE-003".to_owned()));
        let other = world.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(other.get(&path).await.status, 404);
    }
}
