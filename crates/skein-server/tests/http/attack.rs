//! Every operation of the API document, asked for by people who should not get it: refused, and never with data.
//!
//! The walk reads the served document, so an operation that is added later is attacked without a line here, and one
//! whose path is unknown to [`Estate`] fails the walk until somebody says what to put into it.

use std::collections::BTreeMap;

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;
use futures::StreamExt as _;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_engine::KeyText;

use crate::document::{Operation, operations, served};
use crate::fixtures::{Estate, Person, SECRET, expired_bearer, give_grant, new_bearer};
use crate::server_fixture::{HOST, ServerFixture, both, fresh_key};

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
async fn ask(
    world: &ServerFixture,
    headers: &[(&str, &str)],
    estate: &Estate,
    operation: &Operation,
) -> (StatusCode, String) {
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
async fn belongings(world: &ServerFixture, estate: &Estate) -> BTreeMap<String, String> {
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
    async fn without_a_credential_that_counts_every_operation_is_closed(world: &ServerFixture) {
        let estate = Estate::new(world).await;
        world.clock.advance(1);
        let revoked = new_bearer(world, estate.owner.user, Scope::Write).await;
        let keys = estate.owner.get(world, "/api/v1/keys").await.json();
        let key = keys["data"].as_array().unwrap().iter().rfind(|key| key["name"] == "test").unwrap()["id"].clone();
        estate.owner.change(world, "DELETE", &format!("/api/v1/keys/{}", key.as_str().unwrap()), &json!({})).await;
        let expired = expired_bearer(world, estate.owner.user).await;
        let unknown = format!("Bearer {}", KeyText::draw().reveal());
        let before = belongings(world, &estate).await;
        for operation in operations(&served(world).await) {
            for headers in [
                &[][..],
                &[("authorization", "Bearer sk_malformed")],
                &[("authorization", "Basic YTpi")],
                &[("authorization", unknown.as_str())],
                &[("authorization", revoked.as_str())],
                &[("authorization", expired.as_str())],
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

    async fn a_key_for_reading_reads_everything_and_changes_nothing(world: &ServerFixture) {
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
        // Whether there is such a user is for administrators to know, and so is bringing somebody's bundle.
        "read_user" | "import_bundle" => Some(StatusCode::FORBIDDEN),
        "read_setting" | "validate_process" => None,
        "compare" | "create_relation" | "create_tool" => Some(StatusCode::UNPROCESSABLE_ENTITY),
        _ => is_by_id.then_some(StatusCode::NOT_FOUND),
    }
}

both! {
    async fn somebody_else_finds_nothing_there(world: &ServerFixture) {
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

    async fn somebody_elses_stream_tells_nothing_of_it(world: &ServerFixture) {
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

/// Headers that differ between any two answers.
const OF_EACH_ANSWER: [&str; 5] = ["date", "skein-cursor", "x-correlation-id", "x-request-id", "x-response-time"];

/// A request of somebody's, as it is sent.
struct Sent {
    target: String,
    label: String,
    bytes: Vec<u8>,
}

impl Sent {
    fn of(estate: &Estate, operation: &Operation) -> Self {
        let (label, bytes) = estate.body(operation);
        Self { target: estate.target(operation), label, bytes }
    }

    /// The request of an operation's example, and one for each further thing it may refer to.
    fn all_of(estate: &Estate, operation: &Operation) -> Vec<Self> {
        let plain = Self::of(estate, operation);
        let referring = estate.references();
        let referring = referring.iter().filter_map(|(name, id)| plain.referring(operation, name, id));
        let using = ["toolId", "processId"].into_iter().filter_map(|name| plain.with_step(estate, operation, name));
        let all: Vec<Self> = referring.chain(using).collect();
        [plain].into_iter().chain(all).collect()
    }

    /// The same request with one more reference, where the operation takes one of this name.
    fn referring(&self, operation: &Operation, name: &str, id: &str) -> Option<Self> {
        let mut queried = operation.described["parameters"].as_array().into_iter().flatten();
        if queried.any(|one| one["in"] == "query" && one["name"] == name) {
            let mark = if self.target.contains('?') { '&' } else { '?' };
            let target = format!("{}{mark}{name}={id}", self.target);
            return Some(Self { target, label: self.label.clone(), bytes: self.bytes.clone() });
        }
        let schema = operation.body.as_ref().filter(|_| operation.takes_json())?.schema["properties"].get(name)?;
        let is_list = schema["items"].is_object();
        self.saying(name, if is_list { json!([id]) } else { json!(id) })
    }

    /// A process with a step that names something, where a process is sent.
    fn with_step(&self, estate: &Estate, operation: &Operation, name: &str) -> Option<Self> {
        operation.body.as_ref()?.schema["properties"].get("steps")?;
        let referring = estate.references();
        let (_, id) = referring.iter().find(|(named, _)| *named == name)?;
        self.saying("steps", json!([{ "id": "a", name: id, "inputs": {}, "output": { "variable": "count" } }]))
    }

    /// The same request with another value of one field.
    fn saying(&self, name: &str, value: Value) -> Option<Self> {
        let mut body: Value = serde_json::from_slice(&self.bytes).ok()?;
        body[name] = value;
        let bytes = body.to_string().into_bytes();
        Some(Self { target: self.target.clone(), label: self.label.clone(), bytes })
    }

    fn names(&self, id: &str) -> bool {
        self.target.contains(id) || self.bytes.windows(id.len()).any(|part| part == id.as_bytes())
    }

    /// The same request about something else.
    fn with(&self, id: &str, other: &str) -> Self {
        let bytes = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.replace(id, other).into_bytes(),
            Err(_) => self.bytes.clone(),
        };
        Self { target: self.target.replace(id, other), label: self.label.clone(), bytes }
    }

    /// The whole answer to somebody, without what is new in every answer: ids, hashes and where the timeline stands.
    async fn answer_to(&self, world: &ServerFixture, person: &Person, operation: &Operation) -> String {
        let request = person.request(&operation.method, &self.target).header("content-type", &self.label);
        let (parts, body) = world.begin(request.body(self.bytes.clone().into()).unwrap()).await.into_parts();
        let is_endless = parts.headers.get("content-type").is_some_and(|label| label == "text/event-stream");
        let body = if is_endless { Body::empty() } else { body };
        let told = to_bytes(body, usize::MAX).await.unwrap();
        let is_compared = |name: &str| !OF_EACH_ANSWER.contains(&name);
        let headers = parts.headers.iter().filter(|(name, _)| is_compared(name.as_str()));
        let headers = headers.map(|head| format!("{head:?}"));
        let headers = headers.collect::<Vec<_>>().join("\n");
        without_ids(&format!("{}\n{headers}\n{}", parts.status, String::from_utf8_lossy(&told)))
    }
}

/// A text with `…` in place of ids and hashes, wherever they stand.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| {
        let is_ulid = word.len() == 26 && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        is_ulid || ([32, 64].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, word) = rest.split_at(begin);
        let (word, after) = word.split_at(word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len()));
        shown.push_str(before);
        shown.push_str(if is_id(word) { "…" } else { word });
        rest = after;
    }
    shown + rest
}

/// An id of the same form that nothing has.
fn absent(id: &str) -> String {
    let end = if id.contains('_') { "ZZZZZZZZ" } else { "ffffffff" };
    format!("{}{end}", &id[..id.len() - end.len()])
}

/// How an answer about a thing of another's differs from one about nothing, if somebody can tell them apart.
async fn difference(
    world: &ServerFixture,
    person: &Person,
    operation: &Operation,
    (sent, own, foreign): (&Sent, &str, &str),
) -> Option<String> {
    let of_other = sent.with(own, foreign).answer_to(world, person, operation).await;
    let of_nobody = sent.with(own, &absent(foreign)).answer_to(world, person, operation).await;
    let named = || format!("{} {}", operation.id, sent.with(own, foreign).target);
    (of_other != of_nobody).then(|| format!("{}\n{of_other}\n--- and of nobody:\n{of_nobody}\n", named()))
}

both! {
    async fn nobody_tells_a_thing_of_somebody_else_from_none(world: &ServerFixture) {
        let anna = Estate::new(world).await;
        let bert = Estate::new(world).await;
        let everything = operations(&served(world).await);
        let (mut tried, mut differences) = (0, Vec::new());
        // A review is put into the hands of whom one names, who is told (decision 0027).
        for operation in everything.iter().filter(|operation| operation.id != "delegate_review") {
            for sent in Sent::all_of(&bert, operation) {
                // The same bytes have the same hash whoever keeps them.
                let named = |(own, foreign): &(&String, &String)| own != foreign && sent.names(own);
                for (own, foreign) in bert.ids().iter().zip(&anna.ids()).filter(named) {
                    differences.extend(difference(world, &bert.owner, operation, (&sent, own, foreign)).await);
                    tried += 1;
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        assert!(tried > everything.len(), "{tried}");
    }

    async fn no_administrator_without_a_grant_tells_a_thing_of_somebody_else_from_none(world: &ServerFixture) {
        let estate = Estate::new(world).await;
        let admin = Person::new(world, "Ada", Role::Admin, Scope::Admin).await;
        let user = estate.owner.user.to_string();
        let mut differences = Vec::new();
        for operation in operations(&served(world).await) {
            let sent = Sent::of(&estate, &operation);
            for id in estate.ids().iter().filter(|id| sent.names(id) && **id != user) {
                differences.extend(difference(world, &admin, &operation, (&sent, id, id)).await);
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
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
    async fn an_administrator_without_a_grant_sees_no_content(world: &ServerFixture) {
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

    async fn a_grant_opens_reading_and_redacting_until_it_ends(world: &ServerFixture) {
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
