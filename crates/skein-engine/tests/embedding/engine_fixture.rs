//! An engine that remembers, on either database, and an endpoint that knows what a few words mean.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
use skein_core::{ItemId, Millis};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::memory::{Embedding, EndpointOptions, EpisodeImport, IndexState, RecallQuery, Recalled};
use skein_engine::{Caller, Engine, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::clock::{Clock, StoppedClock};
use skein_store::{Location, Store, StoreOptions};
use skein_testkit::hostile_server;
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::postgres::{Cluster, Database, ensure_template};
use skein_testkit::wait::moment;
use tempfile::TempDir;

const TEMPLATE: &str = "skein_embedding_template";
/// How long a server that may hang is waited for, and one that never does: a slow machine is no fault.
const SHORT: Duration = Duration::from_millis(700);
const PATIENCE: Duration = Duration::from_mins(1);

/// Declares tests that run on both databases.
macro_rules! both {
    ($($(#[$meta:meta])* async fn $name:ident($place:ident: FixtureStore) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports, reason = "not every test needs everything its file imports")]
            use super::*;

            $(#[$meta])*
            async fn check($place: FixtureStore) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                check(FixtureStore::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                check(FixtureStore::postgres()).await;
            }
        }
    )*};
}
pub(crate) use both;

/// Where an engine is opened, and opened again.
pub(crate) struct FixtureStore {
    pub(crate) dir: TempDir,
    database: Option<Database>,
    /// Stands in for the database's.
    pub(crate) clock: Option<Arc<StoppedClock>>,
}

impl FixtureStore {
    pub(crate) fn sqlite() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), database: None, clock: None }
    }

    pub(crate) fn postgres() -> Self {
        let cluster = Cluster::shared();
        ensure_template(cluster, TEMPLATE, |url| {
            drop(Store::open(StoreOptions::at(Location::Postgres(url.to_owned()))).unwrap());
        });
        let database = Some(Database::from_template(cluster, TEMPLATE));
        Self { dir: tempfile::tempdir().unwrap(), database, clock: None }
    }

    /// With a clock that only the test moves.
    pub(crate) fn stopped(self) -> Self {
        Self { clock: Some(Arc::new(StoppedClock::at(Millis(1_794_000_000_000)))), ..self }
    }

    pub(crate) fn index(&self) -> std::path::PathBuf {
        self.dir.path().join("index")
    }

    pub(crate) async fn open(&self, embedding: Embedding) -> EngineFixture {
        self.await_index().await;
        self.open_with(Some((embedding, self.index()))).await
    }

    /// A step that a question began is ended also when nobody waits for it any more, and holds the index until then.
    async fn await_index(&self) {
        let Ok(lock) = File::open(self.index().join("lock")) else { return };
        let free = tokio::task::spawn_blocking(move || lock.lock());
        tokio::time::timeout(Duration::from_mins(1), free).await.expect("somebody keeps the index").unwrap().unwrap();
    }

    /// Without an index.
    pub(crate) async fn forgetful(&self) -> EngineFixture {
        self.open_with(None).await
    }

    /// Another server on the same store, with an index of its own.
    pub(crate) async fn elsewhere(&self, embedding: Embedding) -> EngineFixture {
        self.open_with(Some((embedding, self.dir.path().join("elsewhere")))).await
    }

    async fn open_with(&self, remembering: Option<(Embedding, std::path::PathBuf)>) -> EngineFixture {
        let location = match &self.database {
            Some(database) => Location::Postgres(database.url().to_owned()),
            None => Location::Directory(self.dir.path().to_owned()),
        };
        let clock = self.clock.clone().map(|clock| clock as Arc<dyn Clock>);
        let store = Store::open(StoreOptions { connections: 4, clock, ..StoreOptions::at(location) }).unwrap();
        let blobs = Blobs::directory(&self.dir.path().join("blobs")).unwrap();
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw().unwrap()), Guard::default(), HttpOptions::default());
        let engine = Engine::new(store.clone(), blobs, gateway.unwrap());
        if let Some((embedding, index)) = remembering {
            engine.remember_with(index, embedding);
        }
        let key = KeyText::draw();
        engine.admit_start_key(&key).await.unwrap();
        let caller = engine.authenticate(&PresentedCredential::Key(key), None).await.unwrap();
        EngineFixture { engine, store, caller, worker: None }
    }
}

pub(crate) struct EngineFixture {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) caller: Caller,
    worker: Option<Worker>,
}

impl EngineFixture {
    /// With somebody who follows the timeline.
    pub(crate) fn followed(mut self) -> Self {
        self.worker = Some(Worker::start(self.engine.clone(), "test".to_owned()));
        self
    }

    pub(crate) async fn bring(&self, text: &str) -> ItemId {
        self.bring_as(EpisodeSource::Text, text).await
    }

    pub(crate) async fn bring_as(&self, source: EpisodeSource, text: &str) -> ItemId {
        self.bring_it(ImportedEpisode { source, content: json!(text), speaker: None, node_id: None }).await
    }

    pub(crate) async fn bring_it(&self, brought: ImportedEpisode) -> ItemId {
        let brought = EpisodeImport { brought, said_at: None };
        let kept = self.engine.import_episode(&self.caller, fresh(&self.caller), brought).await.unwrap();
        kept.value.stored.item.header.id
    }

    /// Indexes and embeds all there is.
    pub(crate) async fn settle(&self) -> skein_engine::memory::EmbedStep {
        self.engine.remember_all().await.unwrap();
        self.engine.embed_all().await.unwrap()
    }

    pub(crate) async fn index(&self) -> IndexState {
        self.engine.index_state(&self.caller).await.unwrap().unwrap()
    }

    /// Waits until the index stands as wished.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&IndexState) -> bool) -> IndexState {
        for _ in 0..20_000 {
            let state = self.index().await;
            if is_so(&state) {
                return state;
            }
            moment().await;
        }
        panic!("it never happened that {what}: {:?}", self.index().await);
    }

    pub(crate) async fn recall(&self, text: &str) -> Recalled {
        let query = RecallQuery { text: text.to_owned(), limit: 10, ..RecallQuery::default() };
        self.engine.recall_now(&self.caller, query).await.unwrap()
    }

    pub(crate) async fn found(&self, text: &str) -> Vec<String> {
        self.recall(text).await.page.rows.into_iter().map(|found| found.snippet.text).collect()
    }
}

pub(crate) fn fresh(caller: &Caller) -> Request {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let key = format!("00000000-0000-4000-8000-{:012x}", DRAWN.fetch_add(1, Ordering::Relaxed));
    Request::new(caller, &key.parse().unwrap(), "POST", "/test", b"")
}

/// How an endpoint behaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mood {
    Good,
    /// Another model, whose vectors are longer.
    Longer,
    WrongDimensions,
    NotANumber,
    Zero,
    Nothing,
    Fewer,
    Garbled,
    Fails(u16),
    Hangs,
    /// Refuses a whole request for a text with this in it.
    Dislikes(&'static str),
    /// Breaks at such a text, without saying that it is the text.
    BreaksAt(&'static str),
    /// Gives no vector for a text with this in it, and others theirs.
    Omits(&'static str),
}

/// An endpoint, and what it was asked.
pub(crate) struct Server {
    rogue: HostileServer,
    mood: Arc<Mutex<Mood>>,
    time_max: Duration,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::waited_for(PATIENCE)
    }

    /// One that nobody waits for: for those that hang, or fail however often they are asked.
    pub(crate) fn unreliable() -> Self {
        Self::waited_for(SHORT)
    }

    fn waited_for(time_max: Duration) -> Self {
        let mood = Arc::new(Mutex::new(Mood::Good));
        let told = Arc::clone(&mood);
        let rogue = HostileServer::start(move |request| behave(&told.lock().unwrap().clone(), request));
        Self { rogue, mood, time_max }
    }

    pub(crate) fn feel(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    pub(crate) fn options(&self, model: &str) -> EndpointOptions {
        EndpointOptions {
            base_url: self.rogue.endpoint(),
            model: model.to_owned(),
            dimensions: None,
            credential: None,
            time_max: self.time_max,
        }
    }

    pub(crate) fn embedding(&self, model: &str) -> Embedding {
        Embedding::endpoint(self.options(model)).unwrap()
    }

    /// Every text that was sent, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.rogue.requests().iter().flat_map(texts).collect()
    }

    pub(crate) fn count(&self, text: &str) -> usize {
        self.asked().iter().filter(|asked| *asked == text).count()
    }

    pub(crate) fn requests(&self) -> usize {
        self.rogue.requests().len()
    }
}

fn texts(request: &hostile_server::Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// What a text is about: birds, money or music, and a little of everything.
pub(crate) fn meaning(text: &str) -> Vec<f32> {
    const TOPICS: [&[&str]; 3] =
        [&["heron", "bittern", "waterfowl"], &["tax", "invoice", "finances"], &["violin", "sonata", "melody"]];
    let text = text.to_lowercase();
    let about = |words: &[&str]| if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
    TOPICS.iter().map(|words| about(words)).chain([0.1]).collect()
}

fn answered(vectors: &[Value]) -> Behaviour {
    let data = vectors.iter().enumerate().map(|(index, vector)| json!({ "index": index, "embedding": vector }));
    Behaviour::json(&json!({ "data": data.collect::<Vec<_>>() }).to_string())
}

fn behave(mood: &Mood, request: &hostile_server::Request) -> Behaviour {
    let texts = texts(request);
    let all = |vector: Value| answered(&vec![vector; texts.len()]);
    // As some do, it quotes what it was sent.
    let quoted = format!("no: {}", texts.join(" "));
    let refused = json!({ "error": { "message": quoted, "type": "invalid_request_error" } }).to_string();
    match mood {
        Mood::Good => answered(&texts.iter().map(|text| json!(meaning(text))).collect::<Vec<_>>()),
        Mood::Longer => {
            answered(&texts.iter().map(|text| json!([meaning(text), vec![0.2]].concat())).collect::<Vec<_>>())
        }
        Mood::WrongDimensions => all(json!([1.0, 0.0, 0.5])),
        Mood::NotANumber => all(json!([1.0, "NaN", 0.5, 0.1])),
        Mood::Zero => all(json!([0, 0, 0, 0])),
        Mood::Nothing => answered(&[]),
        Mood::Fewer => answered(&vec![json!(meaning("")); texts.len() - 1]),
        Mood::Garbled => Behaviour::answer(200, &[], "<html>"),
        Mood::Fails(status) => Behaviour::answer(*status, &[], refused),
        Mood::Hangs => Behaviour::Silence,
        Mood::Dislikes(word) if texts.iter().any(|text| text.contains(word)) => Behaviour::answer(400, &[], refused),
        Mood::BreaksAt(word) if texts.iter().any(|text| text.contains(word)) => Behaviour::answer(500, &[], refused),
        Mood::Dislikes(_) | Mood::BreaksAt(_) => behave(&Mood::Good, request),
        Mood::Omits(word) => {
            let vector = |text: &String| if text.contains(word) { Value::Null } else { json!(meaning(text)) };
            answered(&texts.iter().map(vector).collect::<Vec<_>>())
        }
    }
}
