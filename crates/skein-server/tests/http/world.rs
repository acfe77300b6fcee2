//! A server over a store in a temporary directory, asked without a socket.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use skein_core::account::Scope;
use skein_core::{Digest, Viewer};
use skein_engine::{Engine, KeyText};
use skein_server::{AllowedHosts, Context};
use skein_store::blobs::Blobs;
use skein_store::items::ItemQuery;
use skein_store::{Location, Store, StoreOptions};
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) const HOST: &str = "localhost:7420";
const PUBLIC_URL: &str = "http://localhost:7420";

/// An idempotency key nobody has used.
pub(crate) fn fresh_key() -> String {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed))
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) key: KeyText,
    pub(crate) admin: Viewer,
    router: Router,
    _dir: TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The code in the envelope, which must be whole.
    pub(crate) fn code(&self) -> String {
        let error = &self.json()["error"];
        let names: Vec<&String> = error.as_object().expect("an envelope").keys().collect();
        assert_eq!(names, ["code", "correlationId", "details", "message", "retryable", "rule"]);
        assert_eq!(error["correlationId"], self.header("x-correlation-id"));
        error["code"].as_str().unwrap().to_owned()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreOptions::at(Location::Directory(dir.path().to_owned()))).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        let engine = Engine::new(store.clone(), blobs);
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let admin = Viewer::User(engine.ensure_first_admin().await.unwrap());
        let hosts = AllowedHosts::new("127.0.0.1:7420".parse().unwrap(), Vec::new());
        let router = skein_server::router(Context::new(engine.clone(), PUBLIC_URL), hosts);
        Self { store, engine, key, admin, router, _dir: dir }
    }

    /// The same server, asked by `user` with a key of their own.
    pub(crate) async fn asked_by(self, user: Viewer, scope: Scope) -> Self {
        let world = Self { admin: user, ..self };
        Self { key: world.new_key(scope).await, ..world }
    }

    /// Another key of the same user.
    pub(crate) async fn new_key(&self, scope: Scope) -> KeyText {
        let (admin, key) = (self.admin.clone(), KeyText::draw());
        let hash = Digest::of(key.reveal().as_bytes());
        self.store.write(move |tx| tx.create_key(&admin, "test", scope, hash)).await.unwrap();
        key
    }

    pub(crate) fn context(&self) -> Context {
        Context::new(self.engine.clone(), PUBLIC_URL)
    }

    /// The answer with its body still to come.
    pub(crate) async fn begin(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Only how it ended, whatever the body is.
    pub(crate) async fn status_of(&self, request: Request<Body>) -> StatusCode {
        self.begin(request).await.status()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.begin(request).await.into_parts();
        let text = to_bytes(body, usize::MAX).await.unwrap();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(text.into()).unwrap() }
    }

    /// A request with the key, still to be finished.
    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let bearer = format!("Bearer {}", self.key.reveal());
        Request::builder().method(method).uri(path).header("host", HOST).header("authorization", bearer)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.change("POST", path, body).await
    }

    /// A change under a key of its own.
    pub(crate) async fn change(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        self.change_under(&fresh_key(), method, path, body).await
    }

    pub(crate) async fn change_under(&self, key: &str, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        let request = self.request(method, path).header("content-type", "application/json");
        self.send(request.header("idempotency-key", key).body(body.into()).unwrap()).await
    }

    pub(crate) async fn state(&self, body: &Value) -> Value {
        let answer = self.post("/api/v1/items", body.to_string()).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn note(&self, description: &str) -> Value {
        self.state(&json!({ "_type": "Note", "data": { "description": description } })).await
    }

    /// How many items there are, of every type.
    pub(crate) async fn count(&self) -> usize {
        let admin = self.admin.clone();
        let query = ItemQuery { limit: 1_000, include_hidden: true, ..ItemQuery::default() };
        self.store.read(move |tx| tx.items(&admin, &query)).await.unwrap().rows.len()
    }
}
