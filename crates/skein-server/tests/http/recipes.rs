//! Valid requests for every change of the API document; a missing one fails the tests that walk it.

use axum::body::{Body, Bytes};
use axum::http::Request;
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::{Role, Scope};

use crate::server_fixture::{Answer, HOST, START, ServerFixture, fresh_key};
use crate::tree_fixture::{conversation, conversation_in, make_project};

const CONVERSATIONS: &str = "/api/v1/conversations";

/// A request that will change something.
pub(crate) struct Recipe {
    path: String,
    body: Bytes,
    media_type: &'static str,
    /// In place of the key.
    cookie: Option<String>,
    /// Whose things it is about, if not the caller's.
    pub(crate) teller: Option<Viewer>,
}

fn plain(path: impl Into<String>, body: &Value) -> Recipe {
    let body = Bytes::from(body.to_string());
    Recipe { path: path.into(), body, media_type: "application/json", cookie: None, teller: None }
}

fn bytes(path: &str, media_type: &'static str, body: impl Into<Bytes>) -> Recipe {
    Recipe { path: path.to_owned(), body: body.into(), media_type, cookie: None, teller: None }
}

/// Brings about what has to be there first, and gives back the request itself.
pub(crate) async fn recipe(world: &ServerFixture, change: &str) -> Recipe {
    let item = async |what: &str| format!("/api/v1/items/{}{what}", text(&world.note("a").await, "id"));
    match change {
        "POST /api/v1/items" => plain("/api/v1/items", &json!({ "_type": "Thought", "data": {} })),
        "POST /api/v1/items/{id}/undo" => plain(item("/undo").await, &json!({})),
        "POST /api/v1/items/{id}/redact" => plain(item("/redact").await, &json!({ "reason": "asked to" })),
        "PUT /api/v1/items/{id}/canonical-time" => {
            plain(item("/canonical-time").await, &json!({ "canonicalAt": "2020-01-01T00:00:00Z" }))
        }
        "POST /api/v1/records/{id}/restore" => {
            let tool = text(&tool(world).await, "id");
            world.changed("DELETE", &format!("/api/v1/tools/{tool}"), &json!({})).await;
            plain(format!("/api/v1/records/{tool}/restore"), &json!({}))
        }
        "POST /api/v1/relations" => plain("/api/v1/relations", &mention(world).await),
        "PUT /api/v1/relations/{id}" => {
            plain(relation(world).await, &json!({ "confidence": null, "metadata": { "seen": 2 } }))
        }
        "DELETE /api/v1/relations/{id}" => plain(relation(world).await, &json!({})),
        "POST /api/v1/episodes" => plain("/api/v1/episodes", &json!({ "source": "text", "content": "Herons nest." })),
        "POST /api/v1/index/rebuilds" => plain("/api/v1/index/rebuilds", &json!({})),
        "POST /api/v1/blobs" => bytes("/api/v1/blobs", "text/plain", "bytes"),
        "POST /api/v1/exports" => plain("/api/v1/exports", &json!({})),
        "POST /api/v1/imports" => {
            let made = world.made("/api/v1/exports", &json!({})).await;
            bytes("/api/v1/imports", "application/zip", world.download(&text(&made, "downloadUrl")).await)
        }
        "POST /api/v1/verifications" => plain("/api/v1/verifications", &json!({})),
        "POST /api/v1/operations/{id}/cancel" => {
            let queued = world.post("/api/v1/verifications", "{}").await.json();
            plain(format!("/api/v1/operations/{}/cancel", text(&queued, "operationId")), &json!({}))
        }
        room if is_of_rooms(room) => room_recipe(world, room).await,
        talk if talk.contains("/api/v1/conversations") || talk.contains("/api/v1/nodes") => {
            talk_recipe(world, talk).await
        }
        process if process.contains("/api/v1/processes") => process_recipe(world, process).await,
        run if run.contains("/api/v1/executions") || run.contains("/api/v1/reviews") => run_recipe(world, run).await,
        "DELETE /api/v1/approvals/{id}" => plain(format!("/api/v1/approvals/{}", approval(world).await), &json!({})),
        catalogue if is_of_catalogue(catalogue) => catalogue_recipe(world, catalogue).await,
        account => account_recipe(world, account).await,
    }
}

fn is_of_rooms(change: &str) -> bool {
    ["/projects", "/actors", "/conversations/{id}/project"]
        .iter()
        .any(|part| change.contains(&format!("/api/v1{part}")))
}

async fn room_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let made = async |path: &str, body: Value| world.made(&format!("/api/v1{path}"), &body).await;
    let named = json!({ "name": "Herons" });
    let hugin = json!({ "name": "Hugin", "type": "model", "modelRef": format!("local:{}", fresh_key()) });
    match change {
        "POST /api/v1/projects" => plain("/api/v1/projects", &named),
        "PUT /api/v1/projects/{id}" => {
            let project = made("/projects", named).await;
            let change = json!({ "name": "Egrets", "basedOnHash": project["hash"] });
            plain(format!("/api/v1/projects/{}", text(&project, "id")), &change)
        }
        "PUT /api/v1/projects/{id}/frames/{actorId}" => {
            let (project, me) = (make_project(world, &world.admin, "frames").await, world.admin.owner());
            let conversation = conversation_in(world, &world.admin, project, "frames").await;
            let path = format!("/api/v1/projects/{project}/frames/{me}");
            plain(path, &json!({ "conversationId": conversation }))
        }
        "PUT /api/v1/conversations/{id}/project" => {
            let (moved, project) = (conversation(world, &world.admin, "moved").await, made("/projects", named).await);
            plain(format!("/api/v1/conversations/{moved}/project"), &json!({ "projectId": project["id"] }))
        }
        "POST /api/v1/actors" => plain("/api/v1/actors", &hugin),
        "PUT /api/v1/actors/{id}" => {
            let actor = made("/actors", hugin).await;
            let change = json!({ "archived": true, "basedOnHash": actor["hash"] });
            plain(format!("/api/v1/actors/{}", text(&actor, "id")), &change)
        }
        unknown => panic!("{unknown} has no recipe here: say how to ask for it, and it is checked that it is told"),
    }
}

fn is_of_catalogue(change: &str) -> bool {
    ["/services", "/tools", "/secrets", "/service-templates", "/tool-templates", "/allowed-endpoints", "/vault"]
        .iter()
        .any(|part| change.contains(&format!("/api/v1{part}")))
}

async fn catalogue_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let made = async |path: &str, body: Value| world.made(&format!("/api/v1{path}"), &body).await;
    let at = |path: &str, thing: &Value, end: &str| format!("/api/v1{path}/{}{end}", text(thing, "id"));
    let (share, key) =
        (json!({ "shared": true }), json!({ "name": "key", "type": "api_key", "value": "k-7f9c24e53b1a" }));
    match change {
        "POST /api/v1/services" => plain("/api/v1/services", &weather()),
        "PUT /api/v1/services/{id}" => {
            let service = made("/services", weather()).await;
            plain(at("/services", &service, ""), &json!({ "enabled": false, "basedOnHash": service["hash"] }))
        }
        "DELETE /api/v1/services/{id}" => plain(at("/services", &made("/services", weather()).await, ""), &json!({})),
        "PUT /api/v1/services/{id}/share" => {
            plain(at("/services", &made("/services", weather()).await, "/share"), &share)
        }
        "POST /api/v1/services/{id}/discover" => {
            let document = json!({ "openapi": "3.1.0", "info": { "title": "W", "version": "1" },
                "paths": { "/now": { "get": { "operationId": "now", "responses": {} } } } });
            let body = json!({ "document": document, "connectionParams": { "endpoint": "https://weather.example" } });
            plain(at("/services", &made("/services", weather()).await, "/discover"), &body)
        }
        "POST /api/v1/tools" => plain("/api/v1/tools", &now(&made("/services", weather()).await)),
        "PUT /api/v1/tools/{id}" => {
            let tool = tool(world).await;
            plain(at("/tools", &tool, ""), &json!({ "name": "later", "basedOnHash": tool["hash"] }))
        }
        "DELETE /api/v1/tools/{id}" => plain(at("/tools", &tool(world).await, ""), &json!({})),
        "PUT /api/v1/tools/{id}/share" => plain(at("/tools", &tool(world).await, "/share"), &share),
        "POST /api/v1/tools/{id}/test" => {
            plain(at("/tools", &tool(world).await, "/test"), &json!({ "inputs": { "city": "Bern" } }))
        }
        "PUT /api/v1/tools/{id}/secret" => {
            let (tool, secret) = (foreign_tool(world).await, made("/secrets", key).await);
            plain(at("/tools", &tool, "/secret"), &json!({ "secretId": secret["id"] }))
        }
        "DELETE /api/v1/tools/{id}/secret" => {
            let (tool, secret) = (foreign_tool(world).await, made("/secrets", key).await);
            let path = at("/tools", &tool, "/secret");
            world.changed("PUT", &path, &json!({ "secretId": secret["id"] })).await;
            plain(path, &json!({}))
        }
        "POST /api/v1/secrets" => plain("/api/v1/secrets", &key),
        "PUT /api/v1/secrets/{id}" => {
            plain(at("/secrets", &made("/secrets", key).await, ""), &json!({ "value": "k-0d6f0a1b2c3d" }))
        }
        "DELETE /api/v1/secrets/{id}" => plain(at("/secrets", &made("/secrets", key).await, ""), &json!({})),
        "PUT /api/v1/secrets/{id}/share" => {
            plain(at("/secrets", &made("/secrets", key).await, "/share"), &json!({ "shared": true }))
        }
        template => template_recipe(world, template).await,
    }
}

async fn talk_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let conversation = world.made(CONVERSATIONS, &json!({ "title": "Herons" })).await;
    let path = format!("{CONVERSATIONS}/{}", text(&conversation, "id"));
    let said = world.made(&format!("{path}/turns"), &json!({ "text": "How many?" })).await;
    let (node, turn) = (text(&said["node"], "id"), format!("{path}/turns/{}", text(&said["turn"], "id")));
    let fold = json!({ "summary": "Eleven.", "cites": [node] });
    match change.replace("/api/v1/conversations", "").as_str() {
        "POST " => plain(CONVERSATIONS, &json!({ "title": "Herons" })),
        "PUT /{id}" => plain(path, &json!({ "status": "archived", "basedOnHash": conversation["hash"] })),
        "POST /{id}/turns" => {
            plain(format!("{path}/turns"), &json!({ "parentAlternativeId": node, "text": "Eleven." }))
        }
        "POST /{id}/turns/{turnId}/fork" => plain(format!("{turn}/fork"), &json!({})),
        "POST /{id}/turns/{turnId}/alternatives" => {
            plain(format!("{turn}/alternatives"), &json!({ "text": "How many herons?", "editedFrom": node }))
        }
        "PUT /{id}/turns/{turnId}/alternatives/{nodeId}/activate" => {
            let other = world.made(&format!("{turn}/alternatives"), &json!({ "text": "Where?" })).await;
            plain(format!("{turn}/alternatives/{}/activate", text(&other["node"], "id")), &json!({}))
        }
        "POST /{id}/turns/{turnId}/alternatives/{nodeId}/regenerate" => {
            let answer = answered(world, &path).await;
            let (turn, node) = (text(&answer["turn"], "id"), text(&answer["node"], "id"));
            plain(format!("{path}/turns/{turn}/alternatives/{node}/regenerate"), &json!({}))
        }
        "POST /{id}/fork" => plain(format!("{path}/fork"), &json!({ "nodeId": node })),
        "POST /{id}/fold" => plain(format!("{path}/fold"), &fold),
        "POST /{id}/reopen" => {
            world.changed("POST", &format!("{path}/fold"), &fold).await;
            plain(format!("{path}/reopen"), &json!({}))
        }
        "POST /{id}/summary" => plain(format!("{path}/summary"), &json!({})),
        other => node_recipe(&node, other),
    }
}

fn node_recipe(node: &str, change: &str) -> Recipe {
    let path = format!("/api/v1/nodes/{node}");
    match change.replace("/api/v1/nodes/{id}", "").as_str() {
        "POST /annotations" => plain(format!("{path}/annotations"), &json!({ "text": "Counted twice." })),
        "POST /summary" => plain(format!("{path}/summary"), &json!({})),
        "PUT /marks" => plain(format!("{path}/marks"), &json!({ "bookmarked": true, "label": "herons" })),
        _ => panic!("{change} is new: say here how it is asked for"),
    }
}

async fn process_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let process = world.made("/api/v1/processes", &counting()).await;
    let path = format!("/api/v1/processes/{}", text(&process, "id"));
    match change.replace("/api/v1/processes", "").as_str() {
        "POST " => plain("/api/v1/processes", &counting()),
        "PUT /{id}" => plain(path, &json!({ "name": "Count egrets", "basedOnHash": process["hash"] })),
        "DELETE /{id}" => plain(path, &json!({})),
        "POST /{id}/execute" => plain(format!("{path}/execute"), &json!({ "initialContext": { "place": "the lake" } })),
        unknown => panic!("{unknown} has no recipe here: say how to ask for it, and it is checked that it is told"),
    }
}

/// A run that waits for a person.
pub(crate) async fn waiting(world: &ServerFixture) -> String {
    let process = world.made("/api/v1/processes", &counting()).await;
    let path = format!("/api/v1/processes/{}/execute", text(&process, "id"));
    let begun = world.post(&path, json!({ "initialContext": { "place": "the lake" } }).to_string()).await.json();
    text(&begun, "executionId")
}

async fn run_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let run = waiting(world).await;
    let path = format!("/api/v1/executions/{run}");
    match change {
        "POST /api/v1/executions/{id}/cancel" => plain(format!("{path}/cancel"), &json!({})),
        "PUT /api/v1/executions/{id}/paused" => plain(format!("{path}/paused"), &json!({ "paused": true })),
        "POST /api/v1/executions/{id}/resume" => {
            world.changed("POST", &format!("{path}/cancel"), &json!({})).await;
            plain(format!("{path}/resume"), &json!({}))
        }
        "POST /api/v1/executions/{id}/branch" => plain(format!("{path}/branch"), &json!({ "stepId": "ask" })),
        review => {
            let shown = world.get(&path).await.json();
            review_recipe(world, review, shown["reviewIds"][0].as_str().unwrap()).await
        }
    }
}

async fn review_recipe(world: &ServerFixture, change: &str, review: &str) -> Recipe {
    let path = format!("/api/v1/reviews/{review}");
    match change {
        "POST /api/v1/reviews/{id}/decide" => {
            plain(format!("{path}/decide"), &json!({ "decision": "answer", "value": 11 }))
        }
        "PUT /api/v1/reviews/{id}/delegate" => {
            let other = world.joined_by("delegate", Role::User, Scope::Write).await;
            plain(format!("{path}/delegate"), &json!({ "userId": other.admin.owner() }))
        }
        unknown => panic!("{unknown} has no recipe here: say how to ask for it, and it is checked that it is told"),
    }
}

/// A process whose step calls a tool once a person has approved.
pub(crate) fn looking(tool: &Value) -> Value {
    let step = json!({ "id": "call", "toolId": tool["id"], "inputs": { "city": "{place}" }, "output": { "variable": "sky" },
        "execution": { "interactionMode": "manual" } });
    json!({ "name": "Look at a place", "initialContext": ["place"], "steps": [step], "outputTemplate": "{{sky}}" })
}

/// Calls of a tool that are approved for good.
pub(crate) async fn approval(world: &ServerFixture) -> String {
    let process = world.made("/api/v1/processes", &looking(&tool(world).await)).await;
    let path = format!("/api/v1/processes/{}/execute", text(&process, "id"));
    let begun = world.post(&path, json!({ "initialContext": { "place": "the lake" } }).to_string()).await.json();
    let shown = world.get(&format!("/api/v1/executions/{}", text(&begun, "executionId"))).await.json();
    let path = format!("/api/v1/reviews/{}/decide", shown["reviewIds"][0].as_str().unwrap());
    world.changed("POST", &path, &json!({ "decision": "approve", "scope": "always" })).await;
    let listed = world.get("/api/v1/approvals").await.json();
    text(&listed["data"][0], "id")
}

/// An answer of a process to something that was said, still being made.
async fn answered(world: &ServerFixture, path: &str) -> Value {
    let process = world.made("/api/v1/processes", &counting()).await;
    let body = json!({ "speaker": "agent", "processId": process["id"], "initialContext": { "place": "the lake" } });
    world.post(&format!("{path}/turns"), body.to_string()).await.json()["answers"][0].clone()
}

/// A process that asks a person and needs nothing else.
pub(crate) fn counting() -> Value {
    let step = json!({ "id": "ask", "ask": { "prompt": "How many at {place}?" }, "output": { "variable": "count" } });
    json!({ "name": "Count herons", "initialContext": ["place"], "steps": [step], "outputTemplate": "{{count}}" })
}

async fn template_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let made = async |path: &str, body: Value| world.made(&format!("/api/v1{path}"), &body).await;
    let at = |path: &str, thing: &Value, end: &str| format!("/api/v1{path}/{}{end}", text(thing, "id"));
    let share = json!({ "shared": true });
    match change {
        "POST /api/v1/service-templates" => plain("/api/v1/service-templates", &weather()),
        "PUT /api/v1/service-templates/{id}" => {
            plain(at("/service-templates", &made("/service-templates", weather()).await, ""), &share)
        }
        "DELETE /api/v1/service-templates/{id}" => {
            plain(at("/service-templates", &made("/service-templates", weather()).await, ""), &json!({}))
        }
        "POST /api/v1/tool-templates" => plain("/api/v1/tool-templates", &blueprint()),
        "PUT /api/v1/tool-templates/{id}" => {
            plain(at("/tool-templates", &made("/tool-templates", blueprint()).await, ""), &share)
        }
        "DELETE /api/v1/tool-templates/{id}" => {
            plain(at("/tool-templates", &made("/tool-templates", blueprint()).await, ""), &json!({}))
        }
        "POST /api/v1/allowed-endpoints" => {
            plain("/api/v1/allowed-endpoints", &json!({ "host": "127.0.0.1", "port": 11434 }))
        }
        "DELETE /api/v1/allowed-endpoints/{id}" => {
            let allowed = made("/allowed-endpoints", json!({ "host": "localhost", "port": 8080 })).await;
            plain(at("/allowed-endpoints", &allowed, ""), &json!({}))
        }
        "POST /api/v1/vault/rotations" => plain("/api/v1/vault/rotations", &json!({})),
        unknown => panic!("{unknown} has no recipe here: say how to ask for it, and it is checked that it is told"),
    }
}

/// A service, or a template of one.
pub(crate) fn weather() -> Value {
    json!({ "name": "Weather", "type": "rest_api", "protocol": "https", "requiresSecret": false,
        "connectionSchema": { "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } } })
}

/// A tool on it, or a template of one.
fn blueprint() -> Value {
    json!({ "name": "Weather now", "operation": { "type": "rest_call", "method": "GET", "path": "/now/{{city}}" },
        "inputSchema": { "type": "object", "required": ["city"], "properties": { "city": { "type": "string" } } },
        "outputSchema": {} })
}

pub(crate) fn now(service: &Value) -> Value {
    let mut tool = blueprint();
    tool["serviceId"] = service["id"].clone();
    tool["connectionParams"] = json!({ "endpoint": "https://weather.example" });
    tool
}

pub(crate) async fn tool(world: &ServerFixture) -> Value {
    let service = world.made("/api/v1/services", &weather()).await;
    world.made("/api/v1/tools", &now(&service)).await
}

/// A tool that somebody else shares, on their own private service.
async fn foreign_tool(world: &ServerFixture) -> Value {
    let bert = world.joined_by("bert", Role::User, Scope::Write).await;
    let shared = tool(&bert).await;
    bert.changed("PUT", &format!("/api/v1/tools/{}/share", text(&shared, "id")), &json!({ "shared": true })).await
}

async fn account_recipe(world: &ServerFixture, change: &str) -> Recipe {
    let key = json!({ "name": "laptop", "scope": "read" });
    match change {
        "PUT /api/v1/account/default-process" => {
            plain("/api/v1/account/default-process", &json!({ "processId": null }))
        }
        "POST /api/v1/account/sign-in-links" => plain("/api/v1/account/sign-in-links", &json!({})),
        "DELETE /api/v1/account/session" => {
            Recipe { cookie: Some(browser(world).await), ..plain("/api/v1/account/session", &json!({})) }
        }
        "DELETE /api/v1/account/sessions/{id}" => {
            browser(world).await;
            let sessions = world.get("/api/v1/account/sessions").await.json();
            plain(format!("/api/v1/account/sessions/{}", text(&sessions["data"][0], "id")), &json!({}))
        }
        "POST /api/v1/keys" => plain("/api/v1/keys", &key),
        "DELETE /api/v1/keys/{id}" => {
            let made = world.made("/api/v1/keys", &key).await;
            plain(format!("/api/v1/keys/{}", text(&made, "id")), &json!({}))
        }
        "POST /api/v1/users" => plain("/api/v1/users", &json!({ "name": "carl", "role": "user" })),
        "PUT /api/v1/users/{id}" => {
            let user = world.made("/api/v1/users", &json!({ "name": "dora", "role": "user" })).await;
            let change = json!({ "name": "dorothea", "basedOnHash": user["hash"] });
            plain(format!("/api/v1/users/{}", text(&user, "id")), &change)
        }
        "POST /api/v1/users/{id}/sign-in-links" => {
            let anna = world.joined_by("annika", Role::User, Scope::Write).await;
            let path = format!("/api/v1/users/{}/sign-in-links", anna.admin.owner());
            Recipe { teller: Some(anna.admin.clone()), ..plain(path, &json!({})) }
        }
        "POST /api/v1/grants" => {
            let anna = world.joined_by("anna", Role::User, Scope::Write).await;
            Recipe { teller: Some(anna.admin.clone()), ..plain("/api/v1/grants", &grant(&anna)) }
        }
        "DELETE /api/v1/grants/{id}" => {
            let anna = world.joined_by("anne", Role::User, Scope::Write).await;
            let given = world.made("/api/v1/grants", &grant(&anna)).await;
            let path = format!("/api/v1/grants/{}", text(&given, "id"));
            Recipe { teller: Some(anna.admin.clone()), ..plain(path, &json!({})) }
        }
        "PUT /api/v1/settings/{name}" => plain("/api/v1/settings/events.replayDays", &json!({ "value": 8 })),
        unknown => panic!("{unknown} has no recipe here: say how to ask for it, and it is checked that it is told"),
    }
}

pub(crate) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}

async fn mention(world: &ServerFixture) -> Value {
    let (a, b) = (world.note("a").await, world.note("b").await);
    json!({ "kind": "mentions", "source": a["id"], "target": b["id"] })
}

async fn relation(world: &ServerFixture) -> String {
    let made = world.made("/api/v1/relations", &mention(world).await).await;
    format!("/api/v1/relations/{}", text(&made, "id"))
}

/// The cookie of a browser that has just signed in.
pub(crate) async fn browser(world: &ServerFixture) -> String {
    let link = world.made("/api/v1/account/sign-in-links", &json!({})).await;
    let path = text(&link, "url").replace("http://localhost:7420", "");
    let signed_in = world.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await;
    signed_in.header("set-cookie").split(';').next().unwrap().to_owned()
}

fn grant(owner: &ServerFixture) -> Value {
    json!({ "ownerId": owner.admin.owner(), "name": "ticket", "reason": "asked", "until": START.plus(3_600_000) })
}

/// Asks for a change, under a key where one is given.
pub(crate) async fn carry_out(world: &ServerFixture, change: &str, recipe: &Recipe, key: Option<&str>) -> Answer {
    let Recipe { path, body, media_type, cookie, .. } = recipe;
    let method = change.split(' ').next().unwrap();
    let request = match cookie {
        Some(cookie) => Request::builder().method(method).uri(path).header("host", HOST).header("cookie", cookie),
        None => world.request(method, path),
    };
    let request = request.header("content-type", *media_type);
    let request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
    world.send(request.body(Body::from(body.clone())).unwrap()).await
}

/// `METHOD path` of everything that is no reading, from the document.
pub(crate) fn changes() -> Vec<String> {
    let document: Value = serde_json::from_str(&skein_server::http::openapi::text()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    // Asking whether a service is there changes nothing, nor does comparing, searching or validating.
    let questions = ["/health", "/compare", "/search", "/validate"];
    let is_change = |operation: &String| {
        !operation.starts_with("GET ") && !questions.iter().any(|question| operation.ends_with(question))
    };
    let changes: Vec<String> = operations.filter(is_change).collect();
    assert!(changes.len() >= 20, "{changes:?}");
    changes
}
