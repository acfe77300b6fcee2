//! Decision Z22: every change that can be asked for is told to whoever's things it is about, and to nobody else.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::{Role, Scope};
use skein_core::garden::cursor::Cursor;

use crate::world::{HOST, START, World, both, fresh_key};

/// A request that will change something.
struct Recipe {
    path: String,
    body: Body,
    media_type: &'static str,
    /// In place of the key.
    cookie: Option<String>,
    /// Whose things it is about, if not the caller's.
    teller: Option<Viewer>,
}

fn plain(path: impl Into<String>, body: &Value) -> Recipe {
    let body = Body::from(body.to_string());
    Recipe { path: path.into(), body, media_type: "application/json", cookie: None, teller: None }
}

fn bytes(path: &str, media_type: &'static str, body: impl Into<Body>) -> Recipe {
    Recipe { path: path.to_owned(), body: body.into(), media_type, cookie: None, teller: None }
}

/// What has to be there first, and the request itself; a change nobody wrote down here fails the test.
async fn recipe(world: &World, change: &str) -> Recipe {
    let item = async |what: &str| format!("/api/v1/items/{}{what}", text(&world.note("a").await, "id"));
    match change {
        "POST /api/v1/items" => plain("/api/v1/items", &json!({ "_type": "Thought", "data": {} })),
        "POST /api/v1/items/{id}/undo" => plain(item("/undo").await, &json!({})),
        "POST /api/v1/items/{id}/redact" => plain(item("/redact").await, &json!({ "reason": "asked to" })),
        "PUT /api/v1/items/{id}/canonical-time" => {
            plain(item("/canonical-time").await, &json!({ "canonicalAt": "2020-01-01T00:00:00Z" }))
        }
        "POST /api/v1/relations" => plain("/api/v1/relations", &mention(world).await),
        "PUT /api/v1/relations/{id}" => {
            plain(relation(world).await, &json!({ "confidence": null, "metadata": { "seen": 2 } }))
        }
        "DELETE /api/v1/relations/{id}" => plain(relation(world).await, &json!({})),
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
        account => account_recipe(world, account).await,
    }
}

async fn account_recipe(world: &World, change: &str) -> Recipe {
    let key = json!({ "name": "laptop", "scope": "read" });
    match change {
        "POST /api/v1/account/sign-in-links" => plain("/api/v1/account/sign-in-links", &json!({})),
        "DELETE /api/v1/account/session" => {
            Recipe { cookie: Some(browser(world).await), ..plain("/api/v1/account/session", &json!({})) }
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

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}

async fn mention(world: &World) -> Value {
    let (a, b) = (world.note("a").await, world.note("b").await);
    json!({ "kind": "mentions", "source": a["id"], "target": b["id"] })
}

async fn relation(world: &World) -> String {
    let made = world.made("/api/v1/relations", &mention(world).await).await;
    format!("/api/v1/relations/{}", text(&made, "id"))
}

/// The cookie of a browser that has just signed in.
async fn browser(world: &World) -> String {
    let link = world.made("/api/v1/account/sign-in-links", &json!({})).await;
    let path = text(&link, "url").replace("http://localhost:7420", "");
    let signed_in = world.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await;
    signed_in.header("set-cookie").split(';').next().unwrap().to_owned()
}

fn grant(owner: &World) -> Value {
    json!({ "ownerId": owner.admin.owner(), "name": "ticket", "reason": "asked", "until": START.plus(3_600_000) })
}

async fn carry_out(world: &World, method: &str, recipe: Recipe) -> crate::world::Answer {
    let Recipe { path, body, media_type, cookie, .. } = recipe;
    let request = match cookie {
        Some(cookie) => Request::builder().method(method).uri(path).header("host", HOST).header("cookie", cookie),
        None => world.request(method, &path),
    };
    let request = request.header("content-type", media_type).header("idempotency-key", fresh_key());
    world.send(request.body(body).unwrap()).await
}

/// The names a viewer is told after a place.
async fn told(world: &World, viewer: &Viewer, after: Cursor) -> Vec<&'static str> {
    let viewer = viewer.clone();
    let events = world.store.read(move |tx| tx.events(&viewer, after, 4_096)).await.unwrap();
    events.told.iter().map(|told| told.event.name.as_str()).collect()
}

/// `METHOD path` of everything that is no reading, from the document.
fn changes(document: &Value) -> Vec<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    operations.filter(|operation| !operation.starts_with("GET ")).collect()
}

both! {
    async fn z22_every_change_is_told_to_its_owner_by_a_listed_name_and_to_nobody_else(world: &World) {
        let document: Value = serde_json::from_str(&skein_server::openapi::text()).unwrap();
        let changes = changes(&document);
        assert!(changes.len() >= 20, "{changes:?}");
        let bystander = world.joined_by("bystander", Role::Admin, Scope::Admin).await;
        for change in &changes {
            let recipe = recipe(world, change).await;
            let teller = recipe.teller.clone().unwrap_or_else(|| world.admin.clone());
            let before = world.store.read(|tx| tx.latest(&Viewer::System("test"))).await.unwrap();
            let method = change.split(' ').next().unwrap();
            let answer = carry_out(world, method, recipe).await;
            let ok = [StatusCode::OK, StatusCode::CREATED, StatusCode::ACCEPTED];
            assert!(ok.contains(&answer.status), "{change}: {} {}", answer.status, answer.text);
            let names = told(world, &teller, before).await;
            assert!(!names.is_empty(), "{change} is told to nobody");
            for name in names {
                assert!(document["x-events"][name].is_object(), "{change} tells {name}, which the document does not list");
            }
            assert_eq!(told(world, &bystander.admin, before).await, [""; 0], "{change} is told to a bystander");
        }
    }
}
