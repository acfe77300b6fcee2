//! Where schedules are played: one store, one user, a few processes, and engines that come and go.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::tool::Tool;
use skein_core::flow::process::Process;
use skein_core::garden::record::RecordContent;
use skein_core::tree::conversation::ConversationDraft;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, RecordId, Viewer};
use skein_store::blobs::Blobs;
use skein_store::catalog::entries::VisibleQuery;
use skein_store::clock::StoppedClock;
use skein_store::{Location, Store, StoreOptions};
use tempfile::TempDir;

use crate::account::{Caller, KeyText, PresentedCredential};
use crate::catalog::{EphemeralKeys, Gateway};
use crate::engine::Engine;
use crate::flow::simulation::definitions::{self, Tools};
use crate::flow::simulation::observations::Definitions;
use crate::flow::simulation::{PlantedBug, SeededRandom};
use crate::request::Request;
use crate::tree::{NewTurn, conversation_id};

/// How many processes there are that others start.
const INNER_PROCESSES: usize = 24;

pub(super) struct Environment {
    pub(super) store: Store,
    pub(super) clock: Arc<StoppedClock>,
    pub(super) engine: Engine,
    pub(super) caller: Caller,
    /// One step after the other.
    pub(super) chain: RecordId,
    pub(super) tools: Tools,
    /// The processes that others start.
    pub(super) library: Definitions,
    gateway: Gateway,
    bug: Option<PlantedBug>,
    dir: TempDir,
}

impl Environment {
    pub(super) async fn new(bug: Option<PlantedBug>) -> Self {
        // Nothing is to outlive this: where there is memory to be written to, no disk is waited for.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let dir = dir.unwrap();
        let clock = Arc::new(StoppedClock::at(Millis(1_800_000_000_000)));
        let options = StoreOptions::at(Location::Directory(dir.path().to_owned()));
        let store = Store::open(StoreOptions { clock: Some(Arc::clone(&clock) as _), ..options }).unwrap();
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default());
        let gateway = gateway.unwrap();
        let engine = Self::engine(&store, dir.path(), &gateway, bug);
        engine.prepare().await.unwrap();
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap();
        let none = RecordId::from_bytes([0; 16]);
        let tools = Tools { safe: none, once: none, asked: none, model: none, processes: Vec::new() };
        let library = Definitions::new();
        let mut world = Self { store, clock, engine, caller, chain: none, tools, library, gateway, bug, dir };
        world.furnish().await;
        world
    }

    fn engine(store: &Store, dir: &Path, gateway: &Gateway, bug: Option<PlantedBug>) -> Engine {
        let blobs = Blobs::directory(&dir.join("blobs")).unwrap();
        let engine = Engine::new(store.clone(), blobs, gateway.clone());
        if let Some(bug) = bug {
            engine.parts().worker_pool.planted.set(bug).unwrap();
        }
        engine
    }

    /// The process dies, and another begins where it left off.
    pub(super) async fn restart(&mut self) {
        self.engine = Self::engine(&self.store, self.dir.path(), &self.gateway, self.bug);
        self.store.begin_epoch().await.unwrap();
    }

    async fn furnish(&mut self) {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(Tool::record_type(), 100);
        let found = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap().rows;
        let named = |name: &str| found.iter().find(|tool| tool.content.name() == Some(name)).unwrap();
        let echo = named("Echo");
        let (once, asked) = (self.once("Once", &echo.content).await, self.once("Asked", &echo.content).await);
        let model = named("Offline chat").id;
        self.tools = Tools { safe: echo.id, once, asked, model, processes: Vec::new() };
        let after = |id: &str, tool: RecordId, value: &str| json!({ "id": id, "toolId": tool, "inputs": { "value": value }, "output": { "variable": id } });
        let steps = [after("a", echo.id, "{x}"), after("b", once, "{a.value}"), after("c", echo.id, "{b.value}")];
        self.chain = self.process("chain", steps).await;
        let (mut dice, mut inner) = (SeededRandom(0), Vec::new());
        for number in 0..INNER_PROCESSES {
            let definition = Arc::new(definitions::process(&mut dice, &self.tools, &format!("inner {number}")));
            inner.push(self.define(&definition).await);
            self.library.insert(inner[number].to_string(), definition);
        }
        // What others start starts no others.
        self.tools.processes = inner;
    }

    /// A tool like another, whose calls must not be repeated.
    async fn once(&self, name: &str, content: &RecordContent) -> RecordId {
        let (mut content, viewer) = (content.clone(), Viewer::User(self.caller.user));
        content.data.insert("name".to_owned(), json!(name));
        content.data.insert("retry".to_owned(), json!("never"));
        let made = self.store.write(move |tx| tx.create_entry(&viewer, content.clone(), None));
        made.await.unwrap().value.id
    }

    pub(super) async fn process<const N: usize>(&self, name: &str, steps: [Value; N]) -> RecordId {
        let definition =
            json!({ "name": name, "initialContext": ["x"], "steps": steps.to_vec(), "outputTemplate": "{{x}}" });
        self.define(&definition).await
    }

    pub(super) async fn define(&self, definition: &Value) -> RecordId {
        let draft = serde_json::from_value(definition.clone()).unwrap();
        let content = Process::create(draft).unwrap_or_else(|error| panic!("{error}: {definition}")).to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let made = self.store.write(move |tx| tx.create_entry(&viewer, content.clone(), None));
        made.await.unwrap().value.id
    }

    /// A conversation in which something was asked.
    pub(super) async fn conversation(&self) -> ConversationId {
        let draft: ConversationDraft = serde_json::from_value(json!({ "title": "Herons" })).unwrap();
        let made = self.engine.create_conversation(&self.caller, self.request(), draft).await.unwrap();
        let conversation = conversation_id(made.value.shown.id);
        let said = NewTurn {
            parent: None,
            parent_turn: None,
            speaker: Speaker::User,
            turn_type: None,
            content: json!({ "type": "text", "text": "Where did the heron stand?" }),
            sources: Vec::new(),
            make_active: true,
            process: None,
        };
        self.engine.append_turn(&self.caller, self.request(), conversation, said).await.unwrap();
        conversation
    }

    pub(super) fn request(&self) -> Request {
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
        Request::new(&self.caller, &key.parse().unwrap(), "POST", "/test", b"")
    }
}
