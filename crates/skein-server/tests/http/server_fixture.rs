//! A server over a store in a temporary directory, or on PostgreSQL, asked without a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use skein_connect::guard::{Guard, Policy};
use skein_connect::http::HttpOptions;
use skein_core::account::{Role, Scope};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::{Digest, Millis, Viewer};
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::{Engine, KeyText};
use skein_server::{AllowedHosts, Context};
use skein_store::blobs::Blobs;
use skein_store::clock::StoppedClock;
use skein_store::timeline::items::ItemQuery;
use skein_store::{Location, Store, StoreOptions, Tx};
use skein_testkit::postgres::{Cluster, Database, ensure_template};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::contract::{RequestCase, check_body, check_head};

pub(crate) const HOST: &str = "localhost:7420";
/// Where the server would listen.
const LISTENING: &str = "127.0.0.1:7420";
const PUBLIC_URL: &str = "http://localhost:7420";
/// Where stopped clocks stand.
pub(crate) const START: Millis = Millis(1_700_000_000_000);
const INDEX: &str = "index";
const TEMPLATE: &str = "skein_server_template";

/// Declares tests that run on both databases, with a stopped clock.
macro_rules! both {
    ($($(#[$meta:meta])* async fn $name:ident($world:ident: &ServerFixture) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "not every test needs everything its file imports")]
            use super::*;

            $(#[$meta])*
            async fn check($world: &ServerFixture) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn on_sqlite() {
                check(&ServerFixture::stopped().await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                check(&ServerFixture::postgres().await).await;
            }
        }
    )*};
}
pub(crate) use both;

/// An idempotency key nobody has used.
pub(crate) fn fresh_key() -> String {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed))
}

#[derive(Clone)]
pub(crate) struct ServerFixture {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    pub(crate) blobs: Blobs,
    pub(crate) key: KeyText,
    pub(crate) admin: Viewer,
    router: Router,
    /// Moves in worlds whose clock is stopped.
    pub(crate) clock: Arc<StoppedClock>,
    dir: Arc<TempDir>,
    database: Option<Arc<Database>>,
}

/// A way out of a server at [`LISTENING`] that allows only the wide world, with a key that lives as long as the test.
fn gateway() -> Gateway {
    let policy = Policy { own_addresses: [LISTENING.parse().unwrap()].into(), ..Policy::default() };
    Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::new(policy), HttpOptions::default()).unwrap()
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

    /// Status and code of a refusal.
    pub(crate) fn refused(&self) -> (u16, String) {
        (self.status.as_u16(), self.code())
    }

    /// Status and rule of a refusal.
    pub(crate) fn breaks(&self) -> (u16, String) {
        self.code();
        (self.status.as_u16(), self.json()["error"]["rule"].as_str().unwrap_or_default().to_owned())
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

impl ServerFixture {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::open(StoreOptions::at(Location::Directory(dir.path().to_owned())), dir, None).await
    }

    /// With a stopped clock.
    pub(crate) async fn stopped() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::open_stopped(Location::Directory(dir.path().to_owned()), dir, None).await
    }

    /// On PostgreSQL, with a stopped clock.
    pub(crate) async fn postgres() -> Self {
        let cluster = Cluster::shared();
        ensure_template(cluster, TEMPLATE, |url| {
            drop(Store::open(StoreOptions::at(Location::Postgres(url.to_owned()))).unwrap());
        });
        let database = Database::from_template(cluster, TEMPLATE);
        let location = Location::Postgres(database.url().to_owned());
        Self::open_stopped(location, tempfile::tempdir().unwrap(), Some(database)).await
    }

    /// Another server over a store of its own, on the same kind of database.
    pub(crate) async fn another(&self) -> Self {
        if self.database.is_some() { Self::postgres().await } else { Self::stopped().await }
    }

    /// Another server over the same store, on PostgreSQL.
    pub(crate) async fn beside(&self) -> Self {
        let location = Location::Postgres(self.database.as_ref().unwrap().url().to_owned());
        Self::open(StoreOptions::at(location), tempfile::tempdir().unwrap(), None).await
    }

    async fn open_stopped(location: Location, dir: TempDir, database: Option<Database>) -> Self {
        let clock = Arc::new(StoppedClock::at(START));
        let options = StoreOptions { clock: Some(clock.clone()), connections: 8, ..StoreOptions::at(location) };
        Self { clock, ..Self::open(options, dir, database).await }
    }

    async fn open(options: StoreOptions, dir: TempDir, database: Option<Database>) -> Self {
        let store = Store::open(options).unwrap();
        let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
        let engine = Engine::new(store.clone(), blobs.clone(), gateway());
        engine.remember_in(dir.path().join(INDEX));
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let admin = Viewer::User(engine.ensure_first_admin().await.unwrap());
        let hosts = AllowedHosts::new(LISTENING.parse().unwrap(), Vec::new());
        let router = skein_server::router(Context::new(engine.clone(), PUBLIC_URL), hosts);
        let clock = Arc::new(StoppedClock::at(START));
        let (dir, database) = (Arc::new(dir), database.map(Arc::new));
        Self { store, engine, blobs, key, admin, router, clock, dir, database }
    }

    /// The same server, asked by somebody new.
    pub(crate) async fn joined_by(&self, name: &'static str, role: Role, scope: Scope) -> Self {
        let create = move |tx: &mut Tx<'_>| tx.create_user(&Viewer::System("test"), name, role);
        let user = self.store.write(create).await.unwrap().value;
        self.clone().asked_by(Viewer::User(user), scope).await
    }

    /// The same server, asked by `user` with a key of their own.
    pub(crate) async fn asked_by(self, user: Viewer, scope: Scope) -> Self {
        let world = Self { admin: user, ..self };
        Self { key: world.new_key(scope).await, ..world }
    }

    /// The same server, asked with another key.
    pub(crate) fn with_key(&self, key: KeyText) -> Self {
        Self { key, ..self.clone() }
    }

    /// Another key of the same user.
    pub(crate) async fn new_key(&self, scope: Scope) -> KeyText {
        let (admin, key) = (self.admin.clone(), KeyText::draw());
        let hash = Digest::of(key.reveal().as_bytes());
        self.store.write(move |tx| tx.create_key(&admin, "test", scope, hash)).await.unwrap();
        key
    }

    pub(crate) fn is_on_postgres(&self) -> bool {
        self.database.is_some()
    }

    /// Where the index is kept.
    pub(crate) fn index_folder(&self) -> std::path::PathBuf {
        self.dir.path().join(INDEX)
    }

    pub(crate) fn context(&self) -> Context {
        Context::new(self.engine.clone(), PUBLIC_URL)
    }

    /// The answer with its body still to come; what the API document does not say of it is a fault.
    pub(crate) async fn begin(&self, request: Request<Body>) -> Response {
        let asked = RequestCase::of(&request);
        let response = self.router.clone().oneshot(request).await.unwrap();
        check_head(&asked, response.status(), response.headers());
        response
    }

    /// Only how it ended, whatever the body is.
    pub(crate) async fn status_of(&self, request: Request<Body>) -> StatusCode {
        self.begin(request).await.status()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let asked = RequestCase::of(&request);
        let (parts, body) = self.begin(request).await.into_parts();
        let text = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().into()).unwrap();
        check_body(&asked, parts.status, &parts.headers, &text);
        Answer { status: parts.status, headers: parts.headers, text }
    }

    /// The bytes of an answer that has to be there.
    pub(crate) async fn download(&self, path: &str) -> Bytes {
        let response = self.begin(self.request("GET", path).body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        to_bytes(response.into_body(), usize::MAX).await.unwrap()
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

    /// Bytes of some type, sent under a key of their own.
    pub(crate) async fn upload(&self, path: &str, media_type: &str, bytes: impl Into<Body>) -> Answer {
        let request = self.request("POST", path).header("content-type", media_type);
        self.send(request.header("idempotency-key", fresh_key()).body(bytes.into()).unwrap()).await
    }

    /// What was made by a change that has to succeed.
    pub(crate) async fn made(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body.to_string()).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{path} {body}: {}", answer.text);
        answer.json()
    }

    /// What came of a change that has to succeed.
    pub(crate) async fn changed(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.change(method, path, body.to_string()).await;
        assert_eq!(answer.status, StatusCode::OK, "{method} {path} {body}: {}", answer.text);
        answer.json()
    }

    pub(crate) async fn state(&self, body: &Value) -> Value {
        self.made("/api/v1/items", body).await
    }

    pub(crate) async fn note(&self, description: &str) -> Value {
        self.state(&json!({ "_type": "Note", "data": { "description": description } })).await
    }

    /// Waits until the timeline is settled: transactions of other tests on the same PostgreSQL may hold it back.
    pub(crate) async fn settled(&self) {
        let is_settled = |tx: &mut Tx<'_>| Ok(tx.latest(&Viewer::System("test"))? == tx.end(&Viewer::System("test"))?);
        while !self.store.read(is_settled).await.unwrap() {
            skein_testkit::wait::moment().await;
        }
    }

    /// States something and waits until the timeline is settled up to there.
    pub(crate) async fn mark(&self) -> Cursor {
        let mark = self.note("so far").await["cursor"].as_str().unwrap().parse().unwrap();
        self.settled().await;
        mark
    }

    /// On PostgreSQL, a transaction in which somebody has written a note and that stays open until the result is
    /// dropped.
    pub(crate) async fn hold_back(&self, writer: Viewer) -> Option<Sender<()>> {
        self.database.as_ref()?;
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let slow = ItemDraft::recorded(ItemType::NOTE, &serde_json::Map::new());
        let store = self.store.clone();
        std::thread::spawn(move || {
            store.write_blocking(move |tx| {
                tx.append_item(&writer, &slow)?;
                let _ = begun.send(());
                let _ = released.recv();
                Ok(())
            })
        });
        tokio::task::spawn_blocking(move || has_begun.recv()).await.unwrap().unwrap();
        Some(release)
    }

    /// Changes the first byte of a blob where it is kept.
    pub(crate) fn alter_blob(&self, hash: &str) {
        let path = self.blob_file(hash);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[0] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }

    /// Where the bytes of a blob are kept.
    pub(crate) fn blob_file(&self, hash: &str) -> std::path::PathBuf {
        self.dir.path().join("blobs").join(&hash[..2]).join(hash)
    }

    /// How many items of anybody's were written since a mark.
    pub(crate) async fn written_since(&self, mark: Cursor) -> usize {
        let end = self.mark().await;
        let written = self.store.read(move |tx| tx.follow(&Viewer::System("test"), mark, 1_000)).await.unwrap();
        written.iter().filter(|item| item.cursor < end).count()
    }

    /// How many items there are, of every type.
    pub(crate) async fn count(&self) -> usize {
        let admin = self.admin.clone();
        let query = ItemQuery { limit: 1_000, include_hidden: true, ..ItemQuery::default() };
        self.store.read(move |tx| tx.items(&admin, &query)).await.unwrap().rows.len()
    }
}
