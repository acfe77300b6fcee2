//! Whatever a body names has to exist, be visible to the caller and be of its kind: anything else is refused alike (Z34).

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::{ConversationId, RecordId, TurnId};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, id};
use crate::recipes::{now, weather};
use crate::server_fixture::{ServerFixture, both};

const REF: &str = "REF";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";

/// Things of one user, one of each kind that bodies name.
struct Things {
    conversation: Value,
    turn: String,
    node: String,
    note: String,
    blob: String,
    project: String,
    process: String,
    service: String,
    tool: String,
    secret: String,
    template: String,
    tool_template: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no id")).to_owned()
}

impl Things {
    async fn of(world: &ServerFixture, tools: &Value) -> Self {
        let echo = tools["data"].as_array().unwrap().iter().find(|tool| tool["name"] == "Echo").unwrap();
        let conversation = world.made(CONVERSATIONS, &json!({ "title": "Herons" })).await;
        let said = ConversationFixture::of(world, &conversation).say(None, "How many?").await;
        let made = async |path: &str, body: Value| text(&world.made(path, &body).await["id"]);
        let step =
            json!({ "id": "a", "toolId": echo["id"], "inputs": { "value": "x" }, "output": { "variable": "a" } });
        let process = json!({ "name": "Echoes", "steps": [step], "outputTemplate": "{{a}}" });
        let service = world.made("/api/v1/services", &weather()).await;
        let tool_template = json!({ "name": "t", "operation": { "type": "rest_call", "method": "GET", "path": "/" },
            "inputSchema": { "type": "object" }, "outputSchema": { "type": "object" } });
        Self {
            turn: text(&said["turn"]["id"]),
            node: text(&said["node"]["id"]),
            note: text(&world.note("a note").await["id"]),
            blob: text(&world.upload("/api/v1/blobs", "image/png", PNG.to_vec()).await.json()["itemId"]),
            project: made("/api/v1/projects", json!({ "name": "p" })).await,
            process: made("/api/v1/processes", process).await,
            tool: made("/api/v1/tools", now(&service)).await,
            service: text(&service["id"]),
            secret: made("/api/v1/secrets", json!({ "name": "key", "type": "api_key", "value": "k-1234" })).await,
            template: made("/api/v1/service-templates", weather()).await,
            tool_template: made("/api/v1/tool-templates", tool_template).await,
            conversation,
        }
    }
}

/// A place where a body names something.
struct ReferencePlace {
    method: &'static str,
    path: String,
    body: Value,
    rule: &'static str,
    /// Missing, another user's, and of another kind.
    unusable: [String; 3],
    /// What it takes, where trying that does no harm to the rest.
    usable: Option<String>,
}

fn filled(body: &Value, id: &str) -> String {
    body.to_string().replace(REF, id)
}

/// The same bits under another prefix.
fn other_kind(id: &str, prefix: &str) -> String {
    format!("{prefix}{}", &id[id.find('_').unwrap() + 1..])
}

impl ReferencePlace {
    async fn check(&self, world: &ServerFixture) {
        let mark = world.mark().await;
        let mut told = Vec::new();
        for id in &self.unusable {
            let body = filled(&self.body, id);
            let answer = world.change(self.method, &self.path, body.clone()).await;
            assert_eq!(answer.breaks(), (422, self.rule.to_owned()), "{} {body}: {}", self.path, answer.text);
            let error = &answer.json()["error"];
            told.push((text(&error["message"]).replace(id, REF), error["details"].to_string().replace(id, REF)));
        }
        assert!(told.iter().all(|answer| *answer == told[0]), "{} {}: {told:?}", self.path, self.body);
        assert_eq!(world.written_since(mark).await, 0, "{} {}", self.path, self.body);
        if let Some(id) = &self.usable {
            let answer = world.change(self.method, &self.path, filled(&self.body, id)).await;
            assert!(answer.status.is_success(), "{} {}: {}", self.path, self.body, answer.text);
        }
    }
}

/// Unusable ids of a kind: none, theirs, and one of mine that is something else.
fn unusable(missing: &impl ToString, theirs: &str, other: &str) -> [String; 3] {
    [missing.to_string(), theirs.to_owned(), other.to_owned()]
}

fn nowhere(prefix: &str) -> String {
    format!("{prefix}01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")
}

/// A place that a method reaches.
fn at(method: &'static str) -> impl Fn(&str, Value, &'static str, [String; 3], Option<&str>) -> ReferencePlace {
    move |path, body, rule, unusable, usable| ReferencePlace {
        method,
        path: path.to_owned(),
        body,
        rule,
        unusable,
        usable: usable.map(str::to_owned),
    }
}

fn unusable_records(theirs: &str, other: &str) -> [String; 3] {
    unusable(&RecordId::from_bytes([9; 16]), theirs, other)
}

/// Places where nodes and turns are named in what is said.
fn in_turns(mine: &Things, theirs: &Things) -> Vec<ReferencePlace> {
    let talk = format!("{CONVERSATIONS}/{}", id(&mine.conversation));
    let turns = format!("{talk}/turns");
    let beside = format!("{turns}/{}/alternatives", mine.turn);
    let nodes = || unusable(&nowhere("item_"), &theirs.node, &mine.note);
    let blobs = || unusable(&nowhere("item_"), &theirs.blob, &mine.note);
    let foreign_turns = || unusable(&TurnId::from_bytes([9; 16]), &theirs.turn, &other_kind(&mine.node, "turn_"));
    let after = |field: &str, value: Value| {
        let mut body = json!({ "text": "a", "parentAlternativeId": mine.node });
        body[field] = value;
        body
    };
    let image = |field: &str| {
        let mut image = json!({ "type": "image", "ref": mine.blob, "mimeType": "image/png", "width": 1, "height": 1 });
        image[field] = json!(REF);
        json!({ "content": image, "parentAlternativeId": mine.node })
    };
    let agent = |field: &str, value: Value| {
        let mut body = json!({ "speaker": "agent", "parentAlternativeId": mine.node, "processId": mine.process });
        body[field] = value;
        body
    };
    let source = |role: &str| json!([{ "nodeId": REF, "role": role }]);
    let place = at("POST");
    vec![
        place(&turns, after("parentAlternativeId", json!(REF)), "AG-EDGE-003", nodes(), Some(&mine.node)),
        place(&turns, json!({ "text": "a", "parentTurnId": REF }), "BR-TURN-003", foreign_turns(), Some(&mine.turn)),
        place(&turns, after("sources", source("context")), "AG-EDGE-003", nodes(), None),
        place(&turns, agent("sources", source("instruction")), "AG-EDGE-003", nodes(), None),
        place(&turns, image("ref"), "AG-CONTENT-004", blobs(), Some(&mine.blob)),
        place(&turns, image("thumbnailRef"), "AG-CONTENT-004", blobs(), None),
        place(
            &turns,
            agent("processId", json!(REF)),
            "BR-TURN-013",
            unusable_records(&theirs.process, &mine.project),
            None,
        ),
        place(
            &turns,
            agent("processIds", json!([REF])),
            "BR-TURN-013",
            unusable_records(&theirs.process, &mine.tool),
            None,
        ),
        place(&turns, agent("parentAlternativeId", json!(REF)), "AG-EDGE-003", nodes(), None),
        place(&beside, json!({ "text": "b", "editedFrom": REF }), "AG-EDIT-001", nodes(), Some(&mine.node)),
        place(&beside, json!({ "text": "b", "parentAlternativeId": REF }), "AG-EDGE-003", nodes(), None),
        place(&beside, json!({ "keptFrom": REF }), "BR-ALT-002", nodes(), None),
    ]
}

/// Places where conversations, their forks and their contents are named.
fn in_conversations(mine: &Things, theirs: &Things) -> Vec<ReferencePlace> {
    let talk = format!("{CONVERSATIONS}/{}", id(&mine.conversation));
    let turns = format!("{talk}/turns");
    let nodes = || unusable(&nowhere("item_"), &theirs.node, &mine.note);
    let (place, records) = (at("POST"), unusable_records);
    vec![
        place(&format!("{talk}/fork"), json!({ "nodeId": REF }), "BR-CONV-003", nodes(), Some(&mine.node)),
        place(
            &format!("{turns}/{}/fork", mine.turn),
            json!({ "alternativeId": REF }),
            "BR-CONV-003",
            nodes(),
            Some(&mine.node),
        ),
        place(&format!("{talk}/fold"), json!({ "summary": "s", "cites": [REF] }), "MG-CONV-004", nodes(), None),
        place(&format!("{talk}/fold"), json!({ "summary": "s", "nodeId": REF }), "MG-CONV-006", nodes(), None),
        place(
            CONVERSATIONS,
            json!({ "projectId": REF }),
            "MG-PROJ-003",
            records(&theirs.project, &mine.service),
            Some(&mine.project),
        ),
        place(
            CONVERSATIONS,
            json!({ "processId": REF }),
            "BR-CONV-001",
            records(&theirs.process, &mine.project),
            Some(&mine.process),
        ),
        place(
            "/api/v1/episodes",
            json!({ "source": "text", "content": "a", "nodeId": REF }),
            "Z34",
            nodes(),
            Some(&mine.node),
        ),
        place(
            "/api/v1/exports",
            json!({ "conversationId": REF }),
            "Z34",
            unusable(&ConversationId::from_bytes([9; 16]), id(&theirs.conversation), &mine.project),
            Some(id(&mine.conversation)),
        ),
    ]
}

/// Places where relations and projects name something.
fn in_relations(mine: &Things, theirs: &Things) -> Vec<ReferencePlace> {
    let (talk, relations) = (format!("{CONVERSATIONS}/{}", id(&mine.conversation)), "/api/v1/relations");
    let edge = |kind: &str, end: &str, name: &str| {
        let mut body = json!({ "kind": kind, "source": mine.note, "target": mine.node });
        body[end] = json!(REF);
        body[format!("{end}Type")] = json!(name);
        body
    };
    let grouped = json!({ "kind": "groups_with", "source": id(&mine.conversation), "target": REF });
    let projects = |other: &str| unusable_records(&theirs.project, other);
    let (put, post) = (at("PUT"), at("POST"));
    let moved = json!({ "projectId": REF });
    let mut all = vec![
        put(&format!("{talk}/project"), moved, "MG-PROJ-003", projects(id(&mine.conversation)), Some(&mine.project)),
        post(relations, grouped, "MG-REL-005", projects(&mine.service), Some(&mine.project)),
    ];
    for (name, theirs, other) in [
        ("item", &theirs.note, None),
        ("entity", &theirs.service, None),
        ("log", &text(&theirs.conversation["id"]), Some(&mine.service)),
    ] {
        let missing = if name == "item" { nowhere("item_") } else { nowhere("entity_") };
        for end in ["source", "target"] {
            let unusable = [missing.clone(), theirs.clone(), other.cloned().unwrap_or_else(|| missing.clone())];
            all.push(post(relations, edge("mentions", end, name), "MG-REL-005", unusable, None));
        }
    }
    all
}

/// Places where the catalogue and processes name something.
fn in_catalog(mine: &Things, theirs: &Things) -> Vec<ReferencePlace> {
    let records = |theirs: &str| unusable_records(theirs, &mine.project);
    let place = at("POST");
    let with = |mut body: Value, field: &str| {
        body["name"] = json!(field);
        body[field] = json!(REF);
        body
    };
    let mut on_service = now(&json!({ "id": REF }));
    on_service["name"] = json!("another");
    let tool = now(&json!({ "id": mine.service }));
    let step = |field: &str| {
        let mut step = json!({ "id": "a", "output": { "variable": "a" } });
        step[field] = json!(REF);
        json!({ "name": field, "steps": [step], "outputTemplate": "{{a}}" })
    };
    let (tools, processes) = ("/api/v1/tools", "/api/v1/processes");
    let service = json!({ "name": "s", "serviceTemplateId": REF });
    let discovery = format!("/api/v1/services/{}/discover", mine.service);
    let discovered = json!({ "document": {}, "secretId": REF });
    vec![
        place(tools, on_service, "Z34", records(&theirs.service), Some(&mine.service)),
        place(tools, with(tool.clone(), "secretId"), "Z34", records(&theirs.secret), None),
        place(tools, with(tool, "toolTemplateId"), "Z34", records(&theirs.tool_template), None),
        place("/api/v1/services", service, "Z34", records(&theirs.template), Some(&mine.template)),
        place(&discovery, discovered, "Z34", records(&theirs.secret), None),
        place(processes, step("toolId"), "BR-PROCESS-011", records(&theirs.tool), None),
        place(processes, step("processId"), "BR-PROCESS-010", records(&theirs.process), None),
    ]
}

/// Places where a question or a choice names something.
fn in_questions(mine: &Things, theirs: &Things) -> Vec<ReferencePlace> {
    let nodes = || unusable(&nowhere("item_"), &theirs.node, &mine.note);
    let talks = || unusable(&ConversationId::from_bytes([9; 16]), id(&theirs.conversation), &mine.project);
    let (place, own) = (at("POST"), id(&mine.conversation));
    let search = |field: &str, value: Value| {
        let mut body = json!({ "text": "herons" });
        body[field] = value;
        body
    };
    let compare = |other: &str, kind: &str| {
        let mut body = json!({ "left": REF, "right": REF, "as": kind });
        body[other] = json!(mine.node);
        body
    };
    let path = "/api/v1/search";
    let mut all = vec![
        place(path, search("nodeId", json!(REF)), "Z34", nodes(), Some(&mine.node)),
        place(path, search("conversationId", json!(REF)), "Z34", talks(), Some(own)),
        place(path, search("within", json!([REF])), "Z34", talks(), Some(own)),
        place(
            path,
            search("projectId", json!(REF)),
            "Z34",
            unusable_records(&theirs.project, &mine.service),
            Some(&mine.project),
        ),
        at("PUT")(
            "/api/v1/account/default-process",
            json!({ "processId": REF }),
            "Z34",
            unusable_records(&theirs.process, &mine.tool),
            Some(&mine.process),
        ),
    ];
    for kind in ["nodes", "paths"] {
        for other in ["left", "right"] {
            all.push(place("/api/v1/compare", compare(other, kind), "Z34", nodes(), Some(&mine.node)));
        }
    }
    all
}

both! {
    async fn z34_what_is_missing_foreign_or_of_another_kind_is_refused_alike_refuses(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        world.engine.prepare().await.unwrap();
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let (mine, theirs) = (Things::of(&anna, &tools).await, Things::of(&bert, &tools).await);
        let groups = [in_turns, in_conversations, in_relations, in_catalog, in_questions];
        for place in groups.into_iter().flat_map(|places| places(&mine, &theirs)) {
            place.check(&anna).await;
        }
    }

    async fn z34_what_administrators_name_refuses(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        world.engine.prepare().await.unwrap();
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let (mine, theirs) = (Things::of(world, &tools).await, Things::of(&bert, &tools).await);
        let grant = json!({ "ownerId": REF, "name": "look", "reason": "asked for", "until": "2023-11-20T00:00:00.000Z" });
        let users = [nowhere("user_"), other_kind(&theirs.service, "user_"), other_kind(&mine.project, "user_")];
        for (method, path, body, rule, unusable) in [
            ("PUT", "/api/v1/settings/summaries.tool", json!({ "value": REF }), "AG-SUM-003",
                unusable(&RecordId::from_bytes([9; 16]), &theirs.tool, &mine.project)),
            ("POST", "/api/v1/grants", grant, "Z34", users),
        ] {
            ReferencePlace { method, path: path.to_owned(), body, rule, unusable, usable: None }.check(world).await;
        }
    }

    async fn z34_what_exists_and_is_of_its_kind_holds(world: &ServerFixture) {
        world.engine.prepare().await.unwrap();
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let mine = Things::of(world, &tools).await;
        let talk = ConversationFixture::of(world, &mine.conversation);
        let thumbnail = json!({ "type": "image", "ref": mine.blob, "mimeType": "image/png", "width": 1, "height": 1 });
        talk.made("/turns", &json!({ "parentAlternativeId": mine.node, "content": thumbnail,
            "sources": [{ "nodeId": mine.node, "role": "primary" }] })).await;
        for (kind, target, name) in [("mentions", &mine.note, "item"), ("mentions", &mine.service, "entity"), ("linked_with", &text(&mine.conversation["id"]), "log")] {
            world.made("/api/v1/relations", &json!({ "kind": kind, "source": mine.node, "target": target, "targetType": name })).await;
        }
        world.changed("POST", &format!("{}/fold", talk.path), &json!({ "summary": "s", "cites": [mine.node] })).await;
    }

    async fn z34_a_transcript_is_a_node_refuses(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let talk = ConversationFixture::new(&anna).await;
        let said = talk.say(None, "Eleven herons.").await;
        let foreign = ConversationFixture::new(&bert).await.say(None, "Mine.").await;
        let wav = [b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0".as_slice()].concat();
        let blob = anna.upload("/api/v1/blobs", "audio/wav", wav).await.json()["itemId"].clone();
        let heard = json!({ "type": "audio", "ref": blob, "mimeType": "audio/wav", "durationMs": 10, "transcriptRef": REF });
        let note = anna.note("no node").await;
        let place = ReferencePlace {
            method: "POST",
            path: format!("{}/turns", talk.path),
            body: json!({ "parentAlternativeId": said["node"]["id"], "content": heard }),
            rule: "AG-CONTENT-004",
            unusable: unusable(&nowhere("item_"), id(&foreign["node"]), id(&note)),
            usable: Some(text(&said["node"]["id"])),
        };
        place.check(&anna).await;
    }

    async fn z34_fragments_and_artifacts_refuses(world: &ServerFixture) {
        world.engine.prepare().await.unwrap();
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let mine = Things::of(world, &tools).await;
        let (fragment, talk) = (format!("{}#0", mine.node), ConversationFixture::of(world, &mine.conversation));
        for body in [
            json!({ "kind": "linked_with", "source": mine.note, "target": fragment }),
            json!({ "kind": "mentions", "source": mine.note, "target": mine.project, "targetType": "artifact" }),
            json!({ "kind": "mentions", "source": mine.project, "sourceType": "artifact", "target": mine.note }),
        ] {
            let refused = world.post("/api/v1/relations", body.to_string()).await;
            assert_eq!(refused.breaks(), (422, "MG-REL-005".to_owned()), "{body}");
        }
        talk.refuses("/fold", &json!({ "summary": "s", "cites": [fragment] }), 422, "MG-CONV-004").await;
    }

    async fn mg_proj_003_project_id_is_read_from_groups_with_holds(world: &ServerFixture) {
        let first = world.made("/api/v1/projects", &json!({ "name": "first" })).await;
        let second = world.made("/api/v1/projects", &json!({ "name": "second" })).await;
        let made = world.made(CONVERSATIONS, &json!({ "title": "Herons", "projectId": first["id"] })).await;
        let talk = ConversationFixture::of(world, &made);
        talk.say(None, "The bittern booms.").await;
        assert!(world.get(&format!("/api/v1/records/{}", id(&made))).await.json()["data"].get("projectId").is_none());
        let of = |project: &Value| format!("{CONVERSATIONS}?projectId={}", id(project));
        let check = async |expected: Option<&Value>| {
            let project = expected.map_or(Value::Null, |project| project["id"].clone());
            assert_eq!(talk.shown().await["projectId"], project);
            let all = world.get(CONVERSATIONS).await.json();
            assert_eq!(all["data"][0]["projectId"], project);
            for project in [&first, &second] {
                let listed = world.get(&of(project)).await.json()["data"].as_array().unwrap().len();
                let stack = world.get(&format!("/api/v1/projects/{}/stack", id(project))).await.json();
                let is_in = expected.is_some_and(|expected| expected["id"] == project["id"]);
                assert_eq!((listed, stack["data"].as_array().unwrap().len()), (usize::from(is_in), usize::from(is_in)));
            }
        };
        check(Some(&first)).await;
        let group = |project: &Value| json!({ "kind": "groups_with", "source": made["id"], "target": project["id"] });
        world.clock.advance(1);
        let newer = world.made("/api/v1/relations", &group(&second)).await;
        check(Some(&second)).await;
        world.changed("DELETE", &format!("/api/v1/relations/{}", id(&newer)), &json!({})).await;
        check(Some(&first)).await;
        let listed = world.get(&format!("/api/v1/relations?of={}&kind=groups_with", id(&made))).await.json();
        world.changed("DELETE", &format!("/api/v1/relations/{}", id(&listed["data"][0])), &json!({})).await;
        check(None).await;
        let as_log = json!({ "kind": "groups_with", "source": made["id"], "sourceType": "log", "target": second["id"] });
        let as_log = world.made("/api/v1/relations", &as_log).await;
        check(Some(&second)).await;
        let listed = world.get(&format!("/api/v1/relations?of={}&kind=groups_with", id(&made))).await.json();
        assert_eq!((id(&listed["data"][0]), &listed["data"][0]["sourceType"]), (id(&as_log), &json!("log")));
        world.changed("DELETE", &format!("/api/v1/relations/{}", id(&as_log)), &json!({})).await;
        check(None).await;
        // A fork of a conversation that is in no project goes to the default one.
        let fork = talk.made("/fork", &json!({})).await;
        let projects = world.get("/api/v1/projects").await.json();
        let default = projects["data"].as_array().unwrap().iter().find(|project| project["isDefault"] == true).unwrap();
        assert_eq!(fork["projectId"], default["id"]);
    }

    async fn mg_proj_003_a_project_of_another_owner_refuses(world: &ServerFixture) {
        let bert = world.joined_by("bert", Role::User, Scope::Write).await;
        let theirs = bert.made("/api/v1/projects", &json!({ "name": "theirs" })).await;
        let made = world.made(CONVERSATIONS, &json!({ "title": "Herons" })).await;
        let body = json!({ "kind": "groups_with", "source": made["id"], "target": theirs["id"] });
        assert_eq!(world.post("/api/v1/relations", body.to_string()).await.breaks(), (422, "MG-REL-005".to_owned()));
        assert_eq!(bert.post("/api/v1/relations", body.to_string()).await.breaks(), (422, "MG-REL-005".to_owned()));
        assert_eq!(ConversationFixture::of(world, &made).shown().await["projectId"], made["projectId"]);
    }
}
