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
use skein_core::tree::conversation::ConversationDraft;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, RecordId, Viewer};
use skein_store::blobs::Blobs;
use skein_store::catalogue::VisibleQuery;
use skein_store::clock::StoppedClock;
use skein_store::{Location, Store, StoreOptions};
use tempfile::TempDir;

use crate::account::{Caller, KeyText, Presented};
use crate::catalog::{Outside, Passing};
use crate::engine::Engine;
use crate::flow::simulation::Bug;
use crate::request::Request;
use crate::tree::{NewTurn, conversation_id};

pub(super) struct World {
    pub(super) store: Store,
    pub(super) clock: Arc<StoppedClock>,
    pub(super) engine: Engine,
    pub(super) caller: Caller,
    pub(super) processes: Vec<RecordId>,
    pub(super) never: RecordId,
    outside: Outside,
    bug: Option<Bug>,
    dir: TempDir,
}

impl World {
    pub(super) async fn new(bug: Option<Bug>) -> Self {
        // Nothing is to outlive this: where there is memory to be written to, no disk is waited for.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let dir = dir.unwrap();
        let clock = Arc::new(StoppedClock::at(Millis(1_800_000_000_000)));
        let options = StoreOptions::at(Location::Directory(dir.path().to_owned()));
        let store = Store::open(StoreOptions { clock: Some(Arc::clone(&clock) as _), ..options }).unwrap();
        let outside = Outside::new(Box::new(Passing::draw().unwrap()), Guard::default(), HttpOptions::default());
        let outside = outside.unwrap();
        let engine = Self::engine(&store, dir.path(), &outside, bug);
        engine.prepare().await.unwrap();
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&Presented::Key(key), None).await.unwrap();
        let (processes, never) = (Vec::new(), RecordId::from_bytes([0; 16]));
        let mut world = Self { store, clock, engine, caller, processes, never, outside, bug, dir };
        world.furnish().await;
        world
    }

    fn engine(store: &Store, dir: &Path, outside: &Outside, bug: Option<Bug>) -> Engine {
        let blobs = Blobs::directory(&dir.join("blobs")).unwrap();
        let engine = Engine::new(store.clone(), blobs, outside.clone());
        if let Some(bug) = bug {
            engine.parts().crew.planted.set(bug).unwrap();
        }
        engine
    }

    /// The process dies, and another begins where it left off.
    pub(super) async fn restart(&mut self) {
        self.engine = Self::engine(&self.store, self.dir.path(), &self.outside, self.bug);
        self.store.begin_epoch().await.unwrap();
    }

    async fn furnish(&mut self) {
        let viewer = Viewer::User(self.caller.user);
        let query = VisibleQuery::of(Tool::record_type(), 100);
        let tools = self.store.read(move |tx| tx.records_visible(&viewer, &query)).await.unwrap();
        let echo = tools.rows.into_iter().find(|tool| tool.content.name() == Some("Echo")).unwrap();
        let (mut content, viewer) = (echo.content.clone(), Viewer::User(self.caller.user));
        content.data.insert("name".to_owned(), json!("Once"));
        content.data.insert("retry".to_owned(), json!("never"));
        let make = self.store.write(move |tx| tx.create_catalogued(&viewer, content.clone(), None));
        self.never = make.await.unwrap().value.id;
        let (safe, never) = (echo.id, self.never);
        let chain = self.process("chain", [step("a", safe), after("b", never, "a"), after("c", safe, "b")]).await;
        let mut parallel = [after("b", never, "a"), after("c", safe, "a")];
        for step in &mut parallel {
            step["execution"] = json!({ "mode": "parallel" });
        }
        let [b, c] = parallel;
        let diamond = self.process("diamond", [step("a", safe), b, c, after("d", never, "b")]).await;
        let mut a = step("a", never);
        a["output"]["required"] = json!(false);
        a["retry"] = json!({ "maxRetries": 2, "backoffMs": 700 });
        let mut b = step("b", safe);
        b["fallback"] =
            json!([{ "id": "e", "toolId": never, "inputs": { "value": 1 }, "output": { "variable": "b" } }]);
        let mut c = step("c", never);
        c["retry"] = json!({ "maxRetries": 2, "backoff": "exponential", "backoffMs": 400 });
        let trouble = self.process("trouble", [a, b, c]).await;
        let sub = json!({ "id": "s", "processId": chain, "inputs": { "x": "{x}" }, "output": { "variable": "s" } });
        let nested = self.process("nested", [sub, step("z", safe)]).await;
        self.processes = vec![chain, diamond, trouble, nested];
    }

    pub(super) async fn process<const N: usize>(&self, name: &str, steps: [Value; N]) -> RecordId {
        let output = steps.iter().map(|step| match step["id"].as_str().unwrap() {
            "s" => "{{s}}".to_owned(),
            id => format!("{{{{{id}.value}}}}"),
        });
        let output: Vec<String> = output.collect();
        let definition = json!({ "name": name, "initialContext": ["x"], "steps": steps.to_vec(),
            "outputTemplate": format!("{name}: {}", output.join(" ")) });
        let content = Process::create(serde_json::from_value(definition).unwrap()).unwrap().to_content(false);
        let viewer = Viewer::User(self.caller.user);
        let made = self.store.write(move |tx| tx.create_catalogued(&viewer, content.clone(), None));
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

fn step(id: &str, tool: RecordId) -> Value {
    json!({ "id": id, "toolId": tool, "inputs": { "value": "{x}" }, "output": { "variable": id } })
}

fn after(id: &str, tool: RecordId, before: &str) -> Value {
    json!({ "id": id, "toolId": tool, "inputs": { "value": format!("{{step.{before}.value}}") },
        "output": { "variable": id } })
}
