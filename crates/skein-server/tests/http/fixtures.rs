//! People, and one of everything that one of them owns: what an attack aims at.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::{Digest, Millis, UserId, Viewer};
use skein_engine::KeyText;
use skein_store::timeline::sealer::seal_all;

use crate::blobs::PNG;
use crate::document::Operation;
use crate::recipes::{counting, looking, now, weather};
use crate::server_fixture::{Answer, HOST, ServerFixture, fresh_key};

/// Words that stand in everything of the owner's and nowhere else.
pub(crate) const SECRET: &str = "heronry";

/// Somebody with a key.
pub(crate) struct Person {
    pub(crate) user: UserId,
    pub(crate) bearer: String,
}

impl Person {
    pub(crate) async fn new(world: &ServerFixture, name: &str, role: Role, scope: Scope) -> Self {
        let name = name.to_owned();
        let create = move |tx: &mut skein_store::Tx<'_>| tx.create_user(&Viewer::System("test"), &name, role);
        let user = world.store.write(create).await.unwrap().value;
        Self { user, bearer: new_bearer(world, user, scope).await }
    }

    /// A request of theirs, still to be finished.
    pub(crate) fn request(&self, method: &str, target: &str) -> axum::http::request::Builder {
        let request = Request::builder().method(method).uri(target).header("host", HOST);
        request.header("authorization", &self.bearer).header("idempotency-key", fresh_key())
    }

    pub(crate) async fn get(&self, world: &ServerFixture, target: &str) -> Answer {
        world.send(self.request("GET", target).body(Body::empty()).unwrap()).await
    }

    /// A change that has to succeed.
    pub(crate) async fn change(&self, world: &ServerFixture, method: &str, target: &str, body: &Value) -> Value {
        let request = self.request(method, target).header("content-type", "application/json");
        let answer = world.send(request.body(body.to_string().into()).unwrap()).await;
        assert!(answer.status.is_success(), "{method} {target}: {}", answer.text);
        answer.json()
    }
}

/// A key of `user`, as it is sent.
pub(crate) async fn new_bearer(world: &ServerFixture, user: UserId, scope: Scope) -> String {
    let (viewer, key) = (Viewer::User(user), KeyText::draw());
    let hash = Digest::of(key.reveal().as_bytes());
    world.store.write(move |tx| tx.create_key(&viewer, "test", scope, hash)).await.unwrap();
    format!("Bearer {}", key.reveal())
}

/// A key of `user` that has expired, as it is sent.
pub(crate) async fn expired_bearer(world: &ServerFixture, user: UserId) -> String {
    let (viewer, key) = (Viewer::User(user), KeyText::draw());
    let hash = Digest::of(key.reveal().as_bytes());
    let create = move |tx: &mut skein_store::Tx<'_>| {
        tx.create_key_until(&viewer, "expired", Scope::Write, hash, Some(Millis(0)))
    };
    world.store.write(create).await.unwrap();
    format!("Bearer {}", key.reveal())
}

/// One of each kind.
pub(crate) struct Estate {
    pub(crate) owner: Person,
    pub(crate) item: String,
    pub(crate) other_item: String,
    pub(crate) relation: String,
    pub(crate) record: String,
    pub(crate) blob: String,
    pub(crate) key: String,
    pub(crate) session: String,
    pub(crate) operation: String,
    pub(crate) export: String,
    pub(crate) bundle: Vec<u8>,
    pub(crate) grant: String,
    pub(crate) catalogue: Catalogue,
    pub(crate) talk: OwnedConversation,
    pub(crate) rooms: Rooms,
    pub(crate) run: Run,
}

/// What the owner has under way.
pub(crate) struct Run {
    execution: String,
    review: String,
    approval: String,
}

impl Run {
    async fn new(world: &ServerFixture, owner: &Person, catalogue: &Catalogue) -> Self {
        let path = format!("/api/v1/processes/{}/execute", catalogue.process);
        let body = json!({ "initialContext": { "place": SECRET } });
        let execution = text(&owner.change(world, "POST", &path, &body).await, "executionId");
        let shown = owner.get(world, &format!("/api/v1/executions/{execution}")).await.json();
        let review = shown["reviewIds"][0].as_str().unwrap().to_owned();
        Self { execution, review, approval: Self::approval(world, owner, &catalogue.service).await }
    }

    /// Calls of a tool that the owner approved for good.
    async fn approval(world: &ServerFixture, owner: &Person, service: &str) -> String {
        let tool = owner.change(world, "POST", "/api/v1/tools", &now(&json!({ "id": service }))).await;
        let process = text(&owner.change(world, "POST", "/api/v1/processes", &looking(&tool)).await, "id");
        let body = json!({ "initialContext": { "place": SECRET } });
        let path = format!("/api/v1/processes/{process}/execute");
        let run = text(&owner.change(world, "POST", &path, &body).await, "executionId");
        let shown = owner.get(world, &format!("/api/v1/executions/{run}")).await.json();
        let path = format!("/api/v1/reviews/{}/decide", shown["reviewIds"][0].as_str().unwrap());
        owner.change(world, "POST", &path, &json!({ "decision": "approve", "scope": "always" })).await;
        text(&owner.get(world, "/api/v1/approvals").await.json()["data"][0], "id")
    }
}

/// Where the owner talks, and who with.
pub(crate) struct Rooms {
    project: String,
    actor: String,
}

impl Rooms {
    async fn new(world: &ServerFixture, owner: &Person, talk: &OwnedConversation) -> Self {
        let conversation = owner.get(world, &format!("/api/v1/conversations/{}", talk.conversation)).await.json();
        let actor = json!({ "name": format!("{SECRET} model"), "type": "model", "modelRef": "local:x" });
        let actor = text(&owner.change(world, "POST", "/api/v1/actors", &actor).await, "id");
        Self { project: text(&conversation, "projectId"), actor }
    }
}

/// What the owner talks about.
pub(crate) struct OwnedConversation {
    pub(crate) conversation: String,
    pub(crate) turn: String,
    pub(crate) node: String,
    local_id: String,
}

impl OwnedConversation {
    async fn new(world: &ServerFixture, owner: &Person) -> Self {
        let make = async |path: &str, body: Value| owner.change(world, "POST", path, &body).await;
        let title = json!({ "title": format!("{SECRET} talk") });
        let conversation = text(&make("/api/v1/conversations", title).await, "id");
        let path = format!("/api/v1/conversations/{conversation}/turns");
        let said = make(&path, json!({ "text": format!("Of the {SECRET}.") })).await;
        let [turn, node] = ["turn", "node"].map(|name| text(&said[name], "id"));
        world.engine.remember_all().await.unwrap();
        Self { conversation, turn, node, local_id: text(&said["node"], "localId") }
    }
}

/// What the owner can have called.
pub(crate) struct Catalogue {
    service: String,
    tool: String,
    secret: String,
    service_template: String,
    tool_template: String,
    process: String,
    /// Of the installation.
    endpoint: String,
}

impl Catalogue {
    async fn new(world: &ServerFixture, owner: &Person, admin: &Person) -> Self {
        let make = async |path: &str, body: Value| text(&owner.change(world, "POST", path, &body).await, "id");
        let named = |mut body: Value, name: &str| {
            body["name"] = json!(format!("{SECRET} {name}"));
            body
        };
        let service = make("/api/v1/services", named(weather(), "service")).await;
        let key = json!({ "name": format!("{SECRET} key"), "type": "api_key", "value": "k-of-the-heronry" });
        let secret = make("/api/v1/secrets", key).await;
        let mut tool = named(now(&json!({ "id": service })), "tool");
        tool["connectionParams"] = json!({ "endpoint": "https://127.0.0.1:1" });
        tool["secretId"] = json!(secret);
        let blueprint =
            ["operation", "inputSchema", "outputSchema", "name"].map(|name| (name.to_owned(), tool[name].clone()));
        let allowed = json!({ "host": "localhost", "port": 2 });
        Self {
            process: make("/api/v1/processes", named(counting(), "process")).await,
            tool: make("/api/v1/tools", tool).await,
            service,
            secret,
            service_template: make("/api/v1/service-templates", named(weather(), "template")).await,
            tool_template: make("/api/v1/tool-templates", Value::Object(blueprint.into_iter().collect())).await,
            endpoint: text(&admin.change(world, "POST", "/api/v1/allowed-endpoints", &allowed).await, "id"),
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {value}")).to_owned()
}

impl Estate {
    pub(crate) async fn new(world: &ServerFixture) -> Self {
        let owner = Person::new(world, "Anna of the heronry", Role::User, Scope::Write).await;
        let note = |n: i64| json!({ "_type": "Note", "data": { "description": format!("{SECRET} {n}") } });
        let make = async |path: &str, body: Value| owner.change(world, "POST", path, &body).await;
        let first = make("/api/v1/items", note(1)).await;
        let (item, operation) = (text(&first, "id"), text(&first, "operationId"));
        let other_item = text(&make("/api/v1/items", note(2)).await, "id");
        let ends = json!({ "kind": "mentions", "source": item, "target": other_item, "metadata": { "why": SECRET } });
        let relation = text(&make("/api/v1/relations", ends).await, "id");
        let key = text(&make("/api/v1/keys", json!({ "name": SECRET, "scope": "read" })).await, "id");
        for at in ["2001-01-01T00:00:00.000Z", "2002-02-02T00:00:00.000Z"] {
            let path = format!("/api/v1/items/{item}/canonical-time");
            owner.change(world, "PUT", &path, &json!({ "canonicalAt": at })).await;
        }
        let link = make("/api/v1/account/sign-in-links", json!({})).await;
        let path = text(&link, "url").replace("http://localhost:7420", "");
        world.send(Request::get(path).header("host", HOST).body(Body::empty()).unwrap()).await;
        let sessions = owner.get(world, "/api/v1/account/sessions").await.json();
        let session = text(&sessions["data"][0], "id");
        let records = owner.get(world, "/api/v1/records?type=TimeOverride").await.json();
        let record = text(&records["data"][0], "id");
        let request = owner.request("POST", "/api/v1/blobs").header("content-type", "image/png");
        let bytes = [PNG, SECRET.as_bytes()].concat();
        let blob = world.send(request.body(bytes.into()).unwrap()).await.json();
        world.settled().await;
        let store = world.store.clone();
        tokio::task::spawn_blocking(move || seal_all(&store, "test")).await.unwrap().unwrap();
        let export = text(&make("/api/v1/exports", json!({})).await, "id");
        let request = owner.request("GET", &format!("/api/v1/exports/{export}")).body(Body::empty()).unwrap();
        let bundle = to_bytes(world.begin(request).await.into_body(), usize::MAX).await.unwrap().to_vec();
        let giver = Person::new(world, "giver", Role::Admin, Scope::Admin).await;
        let grant = give_grant(world, &giver, owner.user).await;
        let blob = text(&blob, "hash");
        let catalogue = Catalogue::new(world, &owner, &giver).await;
        let talk = OwnedConversation::new(world, &owner).await;
        let rooms = Rooms::new(world, &owner, &talk).await;
        let run = Run::new(world, &owner, &catalogue).await;
        Self {
            owner,
            item,
            other_item,
            relation,
            record,
            blob,
            key,
            session,
            operation,
            export,
            bundle,
            grant,
            catalogue,
            talk,
            rooms,
            run,
        }
    }

    /// Where the operation is asked for, with ids of this estate. An operation that is new here has to be added.
    pub(crate) fn target(&self, operation: &Operation) -> String {
        let mut path = operation.path.clone();
        while let Some((before, rest)) = path.split_once('{') {
            let (name, after) = rest.split_once('}').unwrap();
            path = format!("{before}{}{after}", self.path_parameter(before, name, operation));
        }
        let query = operation.query.iter().map(|(name, example)| format!("{name}={}", self.filled(name, example)));
        let query = query.collect::<Vec<_>>().join("&");
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }

    fn path_parameter(&self, before: &str, name: &str, operation: &Operation) -> String {
        match (before, name) {
            ("/api/v1/projects/", "id") => self.rooms.project.clone(),
            ("/api/v1/actors/", "id") => self.rooms.actor.clone(),
            ("/api/v1/items/", "id") => self.item.clone(),
            ("/api/v1/relations/", "id") => self.relation.clone(),
            ("/api/v1/records/", "id") => self.record.clone(),
            ("/api/v1/blobs/", "hash") => self.blob.clone(),
            ("/api/v1/keys/", "id") => self.key.clone(),
            ("/api/v1/account/sessions/", "id") => self.session.clone(),
            ("/api/v1/operations/", "id") => self.operation.clone(),
            ("/api/v1/exports/", "id") => self.export.clone(),
            ("/api/v1/grants/", "id") => self.grant.clone(),
            ("/api/v1/users/", "id") | (_, "actorId") => self.owner.user.to_string(),
            ("/api/v1/services/", "id") => self.catalogue.service.clone(),
            ("/api/v1/processes/", "id") => self.catalogue.process.clone(),
            ("/api/v1/executions/", "id") => self.run.execution.clone(),
            ("/api/v1/reviews/", "id") => self.run.review.clone(),
            ("/api/v1/approvals/", "id") => self.run.approval.clone(),
            ("/api/v1/tools/", "id") => self.catalogue.tool.clone(),
            ("/api/v1/secrets/", "id") => self.catalogue.secret.clone(),
            ("/api/v1/service-templates/", "id") => self.catalogue.service_template.clone(),
            ("/api/v1/tool-templates/", "id") => self.catalogue.tool_template.clone(),
            ("/api/v1/allowed-endpoints/", "id") => self.catalogue.endpoint.clone(),
            ("/api/v1/conversations/", "id") => self.talk.conversation.clone(),
            ("/api/v1/episodes/", "id") => self.talk.node.replacen("item", "episode", 1),
            ("/api/v1/nodes/", "id") | (_, "nodeId") => self.talk.node.clone(),
            (_, "turnId") => self.talk.turn.clone(),
            (_, "localId") => self.talk.local_id.clone(),
            ("/api/v1/settings/", "name") => "operations.keptDays".to_owned(),
            _ => panic!("{} has a path the attack does not know: say here what to put in it", operation.id),
        }
    }

    /// The example, with ids of this estate in place of made-up ones.
    fn filled(&self, name: &str, example: &str) -> String {
        match example.split_once('_').map(|(kind, _)| kind) {
            Some("item") if name == "target" => self.other_item.clone(),
            Some("item")
                if ["parentAlternativeId", "nodeId", "nodeIds", "editedFrom", "left", "right"].contains(&name) =>
            {
                self.talk.node.clone()
            }
            Some("item") => self.item.clone(),
            Some("turn") => self.talk.turn.clone(),
            Some("user") => self.owner.user.to_string(),
            Some("entity") if name == "projectId" => self.rooms.project.clone(),
            Some("entity") if name == "conversationId" => self.talk.conversation.clone(),
            Some("entity") if name == "secretId" => self.catalogue.secret.clone(),
            Some("entity") if name == "serviceId" => self.catalogue.service.clone(),
            _ => example.to_owned(),
        }
    }

    /// The example body of an operation, with ids of this estate.
    pub(crate) fn json_body(&self, operation: &Operation) -> Value {
        let mut body = operation.body.as_ref().map_or_else(|| json!({}), |body| body.example.clone());
        for (name, value) in body.as_object_mut().into_iter().flatten() {
            if let Some(text) = value.as_str() {
                *value = json!(self.filled(name, text));
            }
        }
        body
    }

    /// What is sent for an operation, and what it is labelled as.
    pub(crate) fn body(&self, operation: &Operation) -> (String, Vec<u8>) {
        let label = operation.body.as_ref().map_or("application/json", |body| &body.content_type);
        let bytes = match label {
            "application/json" if operation.method != "GET" => self.json_body(operation).to_string().into_bytes(),
            "application/json" => Vec::new(),
            "application/zip" => self.bundle.clone(),
            _ => b"any bytes".to_vec(),
        };
        (label.to_owned(), bytes)
    }

    /// The names under which requests refer to something, each with an id of this estate.
    pub(crate) fn references(&self) -> Vec<(&'static str, &String)> {
        let Catalogue { service, tool, secret, service_template, tool_template, process, .. } = &self.catalogue;
        let OwnedConversation { conversation, turn, node, .. } = &self.talk;
        let (nodes, conversations) =
            (["nodeId", "nodeIds", "alternativeId", "parentAlternativeId"], ["conversationId", "within"]);
        let rooms =
            [("projectId", &self.rooms.project), ("actorId", &self.rooms.actor), ("actorIds", &self.rooms.actor)];
        let named = [
            ("serviceId", service),
            ("toolId", tool),
            ("toolIds", tool),
            ("secretId", secret),
            ("serviceTemplateId", service_template),
            ("toolTemplateId", tool_template),
            ("processId", process),
            ("processIds", process),
            ("parentTurnId", turn),
            ("author", &self.rooms.actor),
            ("conversation", conversation),
            ("supersedes", &self.item),
        ];
        let talked = nodes.map(|name| (name, node)).into_iter().chain(conversations.map(|name| (name, conversation)));
        named.into_iter().chain(rooms).chain(talked).collect()
    }

    /// Everything that may be told to nobody else: ids, hashes and words.
    pub(crate) fn secrets(&self) -> Vec<String> {
        [self.ids(), vec![SECRET.to_owned()]].concat()
    }

    /// One id of every kind, in the same order in every estate.
    pub(crate) fn ids(&self) -> Vec<String> {
        let ids = [&self.item, &self.other_item, &self.relation, &self.record, &self.blob, &self.key];
        let others = [&self.session, &self.operation, &self.export, &self.grant];
        let Catalogue { service, tool, secret, service_template, tool_template, process, endpoint: _ } =
            &self.catalogue;
        let catalogue = [service, tool, secret, service_template, tool_template, process];
        let talk = [&self.talk.conversation, &self.talk.turn, &self.talk.node];
        let rooms = [&self.rooms.project, &self.rooms.actor];
        let run = [&self.run.execution, &self.run.review, &self.run.approval];
        let all = ids.into_iter().chain(others).chain(catalogue).chain(talk).chain(rooms).chain(run);
        all.cloned().chain([self.owner.user.to_string()]).collect()
    }
}

/// A grant on the things of `owner`, for a day.
pub(crate) async fn give_grant(world: &ServerFixture, admin: &Person, owner: UserId) -> String {
    let until = world.store.read(|tx| Ok(tx.now())).await.unwrap().plus(24 * 60 * 60 * 1_000);
    let body = json!({ "ownerId": owner, "name": "a look", "reason": "asked for", "until": until });
    text(&admin.change(world, "POST", "/api/v1/grants", &body).await, "id")
}
