//! Every operation of the API document, asked for by people who should not get it: refused, and never with data.
//!
//! The walk reads the served document, so an operation that is added later is attacked without a line here, and one
//! whose path is unknown to [`Estate`] fails the walk until somebody says what to put into it.

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use futures::StreamExt as _;
use serde_json::json;
use skein_core::account::{Role, Scope};
use skein_engine::KeyText;

use crate::document::{Operation, operations, served};
use crate::estate::{Estate, Person, SECRET, give_grant, new_bearer};
use crate::world::{HOST, World, both, fresh_key};

/// What only administrators may ask for.
const FOR_ADMINS: [&str; 17] = [
    "allow_endpoint",
    "change_setting",
    "change_user",
    "create_link_for_user",
    "create_user",
    "give_grant",
    "list_endpoints",
    "list_unbound",
    "list_users",
    "list_workers",
    "read_index",
    "read_storage",
    "read_vault",
    "rebuild_index",
    "refuse_endpoint",
    "request_verification",
    "rotate_vault",
];

/// How an answer ended and all that it told. A stream of events has no end, so it is not read here.
async fn ask(world: &World, headers: &[(&str, &str)], estate: &Estate, operation: &Operation) -> (StatusCode, String) {
    let (label, bytes) = estate.body(operation);
    let request = axum::http::Request::builder().method(operation.method.as_str()).uri(estate.target(operation));
    let request = request.header("host", HOST).header("content-type", label).header("idempotency-key", fresh_key());
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let (parts, body) = world.begin(request.body(bytes.into()).unwrap()).await.into_parts();
    let is_endless = parts.headers.get("content-type").is_some_and(|label| label == "text/event-stream");
    let body = if is_endless { Body::empty() } else { body };
    let text = String::from_utf8_lossy(&to_bytes(body, usize::MAX).await.unwrap()).into_owned();
    (parts.status, format!("{:?} {text}", parts.headers))
}

/// Fails when an answer tells anything of the estate that the request did not say itself.
fn tells_nothing(estate: &Estate, but: &[&str], operation: &Operation, told: &str) {
    let asked = format!("{} {}", estate.target(operation), String::from_utf8_lossy(&estate.body(operation).1));
    for secret in estate.secrets() {
        let is_news = !asked.contains(&secret) && !but.contains(&secret.as_str());
        assert!(!(is_news && told.contains(&secret)), "{} tells {secret}: {told}", operation.id);
    }
}

/// What the owner has, as the owner reads it.
async fn belongings(world: &World, estate: &Estate) -> BTreeMap<String, String> {
    world.settled().await;
    let mut found = BTreeMap::new();
    let single = [
        format!("items/{}", estate.item),
        format!("relations/{}", estate.relation),
        format!("conversations/{}/tree", estate.talk.conversation),
    ];
    for path in ["items?limit=1000", "deltas?limit=1000", "operations", "conversations"]
        .map(str::to_owned)
        .into_iter()
        .chain(single)
    {
        let answer = estate.owner.get(world, &format!("/api/v1/{path}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        found.insert(path, answer.text);
    }
    found
}

both! {
    async fn without_a_credential_that_counts_every_operation_is_closed(world: &World) {
        let estate = Estate::new(world).await;
        world.clock.advance(1);
        let revoked = new_bearer(world, estate.owner.user, Scope::Write).await;
        let keys = estate.owner.get(world, "/api/v1/keys").await.json();
        let key = keys["data"].as_array().unwrap().iter().rfind(|key| key["name"] == "test").unwrap()["id"].clone();
        estate.owner.change(world, "DELETE", &format!("/api/v1/keys/{}", key.as_str().unwrap()), &json!({})).await;
        let unknown = format!("Bearer {}", KeyText::draw().reveal());
        let before = belongings(world, &estate).await;
        for operation in operations(&served(world).await) {
            for headers in [
                &[][..],
                &[("authorization", "Bearer sk_malformed")],
                &[("authorization", "Basic YTpi")],
                &[("authorization", unknown.as_str())],
                &[("authorization", revoked.as_str())],
                &[("cookie", "skein_session=ss_malformed")],
            ] {
                let (status, told) = ask(world, headers, &estate, &operation).await;
                assert_eq!(status, StatusCode::UNAUTHORIZED, "{} with {headers:?}: {told}", operation.id);
                assert!(told.contains(r#""code":"unauthenticated""#), "{told}");
                tells_nothing(&estate, &[], &operation, &told);
            }
        }
        assert_eq!(belongings(world, &estate).await, before);
    }

    async fn a_key_for_reading_reads_everything_and_changes_nothing(world: &World) {
        let estate = Estate::new(world).await;
        let reader = new_bearer(world, estate.owner.user, Scope::Read).await;
        let before = belongings(world, &estate).await;
        for operation in operations(&served(world).await) {
            let (status, told) = ask(world, &[("authorization", &reader)], &estate, &operation).await;
            if operation.is_change() || FOR_ADMINS.contains(&operation.id.as_str()) {
                assert_eq!(status, StatusCode::FORBIDDEN, "{}: {told}", operation.id);
                assert!(told.contains(r#""code":"permission_denied""#), "{told}");
            } else {
                assert_eq!(status, StatusCode::OK, "{}: {told}", operation.id);
            }
        }
        assert_eq!(belongings(world, &estate).await, before);
    }
}

/// What somebody else hears about a thing of the owner's; nothing where the operation is about their own things.
fn refusal(operation: &Operation) -> Option<StatusCode> {
    let is_by_id = operation.path.contains('{');
    match operation.id.as_str() {
        id if FOR_ADMINS.contains(&id) => Some(StatusCode::FORBIDDEN),
        // Whether there is such a user is for administrators to know, and so is bringing somebody's bundle. That a process
        // is somebody else's is told to whoever would change it (BR-PROCESS-010), and nothing more of it.
        "read_user" | "import_bundle" | "change_process" | "delete_process" | "execute_process" => {
            Some(StatusCode::FORBIDDEN)
        }
        "read_setting" | "validate_process" => None,
        "create_relation" | "create_tool" | "compare" => Some(StatusCode::NOT_FOUND),
        _ => is_by_id.then_some(StatusCode::NOT_FOUND),
    }
}

both! {
    async fn somebody_else_finds_nothing_there(world: &World) {
        let estate = Estate::new(world).await;
        let stranger = Person::new(world, "Bert", Role::User, Scope::Write).await;
        let before = belongings(world, &estate).await;
        for operation in operations(&served(world).await) {
            let (status, told) = ask(world, &[("authorization", &stranger.bearer)], &estate, &operation).await;
            match refusal(&operation) {
                Some(refusal) => assert_eq!(status, refusal, "{}: {told}", operation.id),
                None => assert!(!status.is_server_error(), "{}: {told}", operation.id),
            }
            tells_nothing(&estate, &[], &operation, &told);
            let grant = [("authorization", stranger.bearer.as_str()), ("skein-grant", &estate.grant)];
            let (status, told) = ask(world, &grant, &estate, &operation).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{} under another's grant: {told}", operation.id);
            tells_nothing(&estate, &[], &operation, &told);
        }
        assert_eq!(belongings(world, &estate).await, before);
    }

    async fn somebody_elses_stream_tells_nothing_of_it(world: &World) {
        let estate = Estate::new(world).await;
        let stranger = Person::new(world, "Bert", Role::User, Scope::Write).await;
        let streams = ["/api/v1/events", "/api/v1/events?after=0.0"];
        let mut bodies = Vec::new();
        for target in streams {
            let response = world.begin(stranger.request("GET", target).body(Body::empty()).unwrap()).await;
            assert_eq!(response.status(), StatusCode::OK);
            bodies.push(response.into_body().into_data_stream());
        }
        for operation in operations(&served(world).await).iter().filter(|operation| operation.is_change()) {
            ask(world, &[("authorization", &estate.owner.bearer)], &estate, operation).await;
        }
        let note = json!({ "_type": "Note", "data": { "description": "Bert's own" } });
        let last = stranger.change(world, "POST", "/api/v1/items", &note).await;
        for mut body in bodies {
            let mut told = String::new();
            while !told.contains(last["id"].as_str().unwrap()) {
                told.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
            }
            let secrets = estate.secrets();
            assert!(!secrets.iter().any(|secret| told.contains(secret)), "{told}");
            assert!(told.lines().filter(|line| line.starts_with("event: ")).count() < 5, "{told}");
        }
    }
}

/// What a grant opens, as far as it is read by the id of a thing.
fn is_content(operation: &Operation) -> bool {
    let places = ["items", "relations", "records", "blobs", "projects", "conversations", "nodes", "actors"];
    places.iter().any(|place| operation.path.starts_with(&format!("/api/v1/{place}/{{")))
}

/// What an administrator may know of everybody without a grant, or names in asking for one.
fn known(estate: &Estate) -> [String; 1] {
    [estate.owner.user.to_string()]
}

both! {
    async fn an_administrator_without_a_grant_sees_no_content(world: &World) {
        let estate = Estate::new(world).await;
        let admin = Person::new(world, "Ada", Role::Admin, Scope::Admin).await;
        let before = belongings(world, &estate).await;
        let known = known(&estate);
        // To give a grant is to be told to its owner; what comes of it is another story.
        for operation in operations(&served(world).await).into_iter().filter(|operation| operation.id != "give_grant") {
            let (status, told) = ask(world, &[("authorization", &admin.bearer)], &estate, &operation).await;
            if is_content(&operation) {
                assert_eq!(status, StatusCode::NOT_FOUND, "{}: {told}", operation.id);
            }
            assert!(!status.is_server_error(), "{}: {told}", operation.id);
            // The names of users are an administrator's business; this one's has the word in it.
            let told = told.replace(&format!("Anna of the {SECRET}"), "Anna");
            tells_nothing(&estate, &known.each_ref().map(String::as_str), &operation, &told);
        }
        assert_eq!(belongings(world, &estate).await, before);
    }

    async fn a_grant_opens_reading_and_redacting_until_it_ends(world: &World) {
        let estate = Estate::new(world).await;
        let admin = Person::new(world, "Ada", Role::Admin, Scope::Admin).await;
        let grant = give_grant(world, &admin, estate.owner.user).await;
        let under = [("authorization", admin.bearer.as_str()), ("skein-grant", grant.as_str())];
        let before = belongings(world, &estate).await;
        let all = operations(&served(world).await);
        for operation in all.iter().filter(|operation| is_content(operation) && operation.id != "redact_item") {
            let (status, told) = ask(world, &under, &estate, operation).await;
            let expected: &[u16] = if operation.is_change() { &[403, 404] } else { &[200] };
            assert!(expected.contains(&status.as_u16()), "{}: {status} {told}", operation.id);
        }
        let listed = all.iter().find(|operation| operation.id == "list_items").unwrap();
        assert!(ask(world, &under, &estate, listed).await.1.contains(&estate.item));
        assert_eq!(belongings(world, &estate).await, before);
        let redact = all.iter().find(|operation| operation.id == "redact_item").unwrap();
        assert_eq!(ask(world, &under, &estate, redact).await.0, StatusCode::OK);
        estate.owner.change(world, "DELETE", &format!("/api/v1/grants/{grant}"), &json!({})).await;
        for operation in &all {
            let (status, told) = ask(world, &under, &estate, operation).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{} under a grant that ended: {told}", operation.id);
            assert!(told.contains(r#""code":"invalid_grant""#), "{told}");
            if is_content(operation) {
                let (status, told) = ask(world, &under[..1], &estate, operation).await;
                assert_eq!(status, StatusCode::NOT_FOUND, "{}: {told}", operation.id);
            }
        }
    }
}
