//! An engine with a worker over a store of its own, on either database, and what tests of runs do with it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::process::{Process, ProcessDraft};
use skein_core::garden::item::ItemType;
use skein_core::tree::conversation::ConversationDraft;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, ExecutionId, NodeId, RecordId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::flow::{
    AnswerTarget, ExecutionRequest, NewAnswers, PoolSizes, ShownExecution, ShownReview, Telemetry,
};
use skein_engine::tree::{NewTurn, conversation_id};
use skein_engine::{Caller, Engine, EngineError, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::catalog::entries::VisibleQuery;
use skein_store::timeline::items::ItemQuery;
use skein_store::{Location, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database, ensure_template};
use tempfile::TempDir;

const TEMPLATE: &str = "skein_engine_template";

/// Declares tests that run on both databases: those in which it matters how things are kept.
macro_rules! both {
    ($($(#[$meta:meta])* async fn $name:ident($world:ident: &EngineFixture) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "not every test needs everything its file imports")]
            use super::*;

            $(#[$meta])*
            async fn check($world: &EngineFixture) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                check(&EngineFixture::new().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                check(&EngineFixture::postgres().await).await;
            }
        }
    )*};
}
pub(crate) use both;

pub(crate) struct EngineFixture {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) caller: Caller,
    _worker: Worker,
    dir: TempDir,
    database: Option<Database>,
}

impl EngineFixture {
    pub(crate) async fn new() -> Self {
        Self::telling(None).await
    }

    /// On SQLite, with so many calls at once.
    pub(crate) async fn sqlite_with(pools: &PoolSizes) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = engine_at(Location::Directory(dir.path().to_owned()), &dir, None);
        Self::open(made, dir, None, pools).await
    }

    /// One whose runs are told to a collector.
    pub(crate) async fn telling(telemetry: Option<Telemetry>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = engine_at(Location::Directory(dir.path().to_owned()), &dir, telemetry);
        Self::open(made, dir, None, &PoolSizes::default()).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::postgres_with(&PoolSizes::default()).await
    }

    /// On PostgreSQL, with so many calls at once.
    pub(crate) async fn postgres_with(pools: &PoolSizes) -> Self {
        let cluster = Cluster::shared();
        ensure_template(cluster, TEMPLATE, |url| {
            drop(Store::open(StoreOptions::at(Location::Postgres(url.to_owned()))).unwrap());
        });
        let database = Database::from_template(cluster, TEMPLATE);
        let location = Location::Postgres(database.url().to_owned());
        let dir = tempfile::tempdir().unwrap();
        Self::open(engine_at(location, &dir, None), dir, Some(database), pools).await
    }

    /// Where the database is, on PostgreSQL.
    pub(crate) fn url(&self) -> &str {
        self.database.as_ref().unwrap().url()
    }

    /// Another server of the same database, at which nobody works.
    pub(crate) fn another(&self) -> Engine {
        let location = Location::Postgres(self.database.as_ref().unwrap().url().to_owned());
        engine_at(location, &self.dir, None).0
    }

    async fn open(
        (engine, store): (Engine, Store),
        dir: TempDir,
        database: Option<Database>,
        pools: &PoolSizes,
    ) -> Self {
        engine.prepare().await.unwrap();
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap();
        let worker = Worker::with_pools(engine.clone(), "test".to_owned(), pools);
        Self { engine, store, caller, _worker: worker, dir, database }
    }

    pub(crate) async fn tool(&self, name: &'static str) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(skein_core::catalog::tool::Tool::record_type(), 100);
        let tools = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap();
        tools.rows.into_iter().find(|tool| tool.content.name() == Some(name)).unwrap().id
    }

    pub(crate) async fn process(&self, definition: Value) -> RecordId {
        let draft: ProcessDraft = serde_json::from_value(definition).unwrap();
        let content = Process::create(draft).unwrap().to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let made = self.store.write(move |tx| tx.create_entry(&viewer, content.clone(), None));
        made.await.unwrap().value.id
    }

    pub(crate) async fn run(&self, process: RecordId, context: Value) -> ExecutionId {
        let Value::Object(context) = context else { unreachable!() };
        let new = ExecutionRequest { context, priority: 0 };
        self.engine.execute(&self.caller, fresh(&self.caller), process, new).await.unwrap().value
    }

    pub(crate) async fn process_named(&self, name: &'static str) -> RecordId {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(Process::record_type(), 100);
        let found = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap().rows;
        found.into_iter().find(|process| process.content.name() == Some(name)).unwrap().id
    }

    /// A conversation in which something was said.
    pub(crate) async fn talk(&self, text: &str) -> (ConversationId, NodeId) {
        let draft: ConversationDraft = serde_json::from_value(json!({ "title": "Herons" })).unwrap();
        let made = self.engine.create_conversation(&self.caller, fresh(&self.caller), draft).await.unwrap();
        let conversation = conversation_id(made.value.shown.id);
        (conversation, self.say(conversation, None, text).await)
    }

    /// Appends a message of the caller's.
    pub(crate) async fn say(&self, conversation: ConversationId, parent: Option<NodeId>, text: &str) -> NodeId {
        let said = NewTurn {
            parent,
            parent_turn: None,
            speaker: Speaker::User,
            turn_type: None,
            content: json!({ "type": "text", "text": text }),
            sources: Vec::new(),
            make_active: true,
            process: None,
        };
        let grown = self.engine.append_turn(&self.caller, fresh(&self.caller), conversation, said).await.unwrap();
        grown.value.node.seen.row.id
    }

    /// Has a process answer in a conversation; the kept place, and the run that fills it.
    pub(crate) async fn answer(&self, conversation: ConversationId, process: RecordId) -> (NodeId, ExecutionId) {
        let new = NewAnswers {
            wanted: AnswerTarget::After { turn: None, parent: None, sources: Vec::new() },
            processes: vec![process],
            samples: 1,
            make_active: true,
            remember_process: true,
            context: serde_json::Map::new(),
        };
        let begun = self.engine.answer(&self.caller, fresh(&self.caller), conversation, new).await.unwrap().value;
        (begun.begun[0].0.node.seen.row.id, begun.begun[0].1)
    }

    /// What a node says.
    pub(crate) async fn said(&self, node: NodeId) -> String {
        let node = self.engine.node(&self.caller, node).await.unwrap();
        node.seen.content.unwrap()["text"].as_str().unwrap().to_owned()
    }

    /// The first open question, once there is one.
    pub(crate) async fn review(&self) -> ShownReview {
        let mut rung = self.store.wake().subscribe();
        loop {
            let open = self.engine.reviews(&self.caller, true, None, 10).await.unwrap().rows;
            if let Some(review) = open.into_iter().next() {
                return review;
            }
            heard(&mut rung).await;
        }
    }

    pub(crate) async fn decide(&self, review: &ShownReview, decision: Decision) {
        self.engine.decide(&self.caller, fresh(&self.caller), review.row.id, decision).await.unwrap();
    }

    /// What is on record of a kind, of somebody's.
    pub(crate) async fn facts(&self, caller: &Caller, item_type: ItemType) -> Vec<Value> {
        let viewer = Viewer::User(caller.user);
        let query = ItemQuery { item_type: Some(item_type), limit: 500, ..ItemQuery::default() };
        let items = self.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap().rows;
        items.iter().filter_map(|stored| stored.item.document()).map(Value::Object).collect()
    }

    /// Waits until a run has ended.
    pub(crate) async fn ended(&self, run: ExecutionId) -> ShownExecution {
        let mut rung = self.store.wake().subscribe();
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if shown.row.status.has_ended() {
                return shown;
            }
            heard(&mut rung).await;
        }
    }
}

fn engine_at(location: Location, dir: &TempDir, telemetry: Option<Telemetry>) -> (Engine, Store) {
    let store = Store::open(StoreOptions { connections: 8, ..StoreOptions::at(location) }).unwrap();
    let blobs = Blobs::directory(&dir.path().join("blobs")).unwrap();
    let gateway = Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default());
    (Engine::new(store.clone(), blobs, gateway.unwrap().telling(telemetry)), store)
}

/// Something happened; in a test it happens soon.
pub(crate) async fn heard(rung: &mut tokio::sync::watch::Receiver<u64>) {
    tokio::time::timeout(Duration::from_secs(30), rung.changed()).await.unwrap().unwrap();
}

pub(crate) fn fresh(caller: &Caller) -> Request {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
    Request::new(caller, &key.parse().unwrap(), "POST", "/test", b"")
}

/// The rule that a refusal names.
pub(crate) fn broken_rule(error: &EngineError) -> Option<&str> {
    match error {
        EngineError::Store(StoreError::Rule(violation)) => Some(violation.rule()),
        _ => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
pub(crate) fn step(id: &str, tool: RecordId, inputs: Value) -> Value {
    json!({ "id": id, "toolId": tool, "inputs": inputs, "output": { "variable": id } })
}

#[expect(clippy::needless_pass_by_value, reason = "a test states what it means in place")]
pub(crate) fn process(name: &str, steps: Vec<Value>, output: &str) -> Value {
    json!({ "name": name, "initialContext": ["x"], "steps": steps, "outputTemplate": output })
}
