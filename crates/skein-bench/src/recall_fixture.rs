//! An owner who has very many episodes: brought and said through the product itself, and asked for through its engine.
//!
//! Three quarters are messages that somebody brings, each durable before the next of its bringer; the rest is said in
//! conversations, some of them with a second branch.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use skein_connect::guard::Guard;
use skein_connect::http::HttpOptions;
use skein_core::account::Scope;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
use skein_core::{Digest, EpisodeId, Millis, PathId, RecordId, UserId, Viewer};
use skein_engine::account::PresentedCredential;
use skein_engine::catalog::{EphemeralKeys, Gateway};
use skein_engine::memory::{EpisodeImport, RecallQuery, Recalled, SearchedBy};
use skein_engine::{Caller, Engine, KeyText, Request, Worker};
use skein_store::blobs::Blobs;
use skein_store::timeline::sealer::Sealer;
use skein_store::{Location, Store, StoreOptions, Tx};
use tokio::task::JoinSet;

use crate::appends::rate;
use crate::client::uuid;
use crate::recall_texts::EpisodeText;
use crate::tree_fixture::{after, begin_conversation, begin_project, placing, said};

/// What a page of `POST /search` has unless it is told otherwise.
pub(crate) const RESULTS: usize = 20;
/// Who bring at once.
const BRINGERS: usize = 64;
/// Episodes a bringer takes up at a time; the last quarter of them is a conversation.
const STRETCH: usize = 80;
/// In one of so many conversations the last turn answers the one before the last, and opens a branch.
const BRANCHED_EVERY: usize = 10;
/// As in a server.
const SEAL_EVERY: Duration = Duration::from_secs(10);
const SYSTEM: Viewer = Viewer::System("bench");
/// What is brought was said a minute apart, from here on.
const FIRST_SAID: Millis = Millis(1_577_836_800_000);
const MINUTE_MS: usize = 60_000;

/// An engine with the memory of one owner.
pub(crate) struct Memory {
    key: KeyText,
    store: Store,
    bringer: Bringer,
    background: Option<(Worker, Sealer)>,
    /// An episode of every stretch.
    witnesses: Vec<Witness>,
    episodes: usize,
}

/// What is left to know when a memory is closed.
pub(crate) struct RecallSummary {
    /// For whoever may ask its owner's questions.
    pub(crate) key: KeyText,
    pub(crate) witness: Witness,
    pub(crate) episodes: usize,
}

/// An episode that has to be found by what it says.
#[derive(Clone, Copy)]
pub(crate) struct Witness {
    number: usize,
    id: EpisodeId,
}

/// Episodes per second.
pub(crate) struct Rates {
    /// From the first write until all can be found, as in a server.
    pub(crate) together: f64,
    /// Written while nobody indexes.
    pub(crate) writing: f64,
    /// Made episodes of and indexed while nobody writes.
    pub(crate) indexing: f64,
}

impl Memory {
    pub(crate) async fn begin(directory: PathBuf) -> Result<Self> {
        let store = Store::open(StoreOptions::at(Location::Directory(directory.clone())))?;
        let gateway = Gateway::new(Box::new(EphemeralKeys::draw()?), Guard::default(), HttpOptions::default());
        let blobs = Blobs::directory(&directory.join("blobs"))?;
        let engine = Engine::new(store.clone(), blobs, gateway.map_err(anyhow::Error::msg)?);
        engine.remember_in(directory.join("index"));
        engine.prepare().await?;
        let key = KeyText::draw();
        engine.admit_start_key(&key).await?;
        let caller = Arc::new(engine.authenticate(&PresentedCredential::Key(key), None).await?);
        // The key of a start is gone with it; this one is for the server that is measured later.
        let (key, viewer) = (KeyText::draw(), caller.viewer());
        let hash = Digest::of(key.reveal().as_bytes());
        store.write(move |tx| tx.create_key(&viewer, "bench", Scope::Write, hash)).await?;
        let owner = caller.user;
        let project = store.write(move |tx| begin_project(tx, owner)).await?.value;
        let bringer = Bringer { engine, caller, store: store.clone(), project };
        let mut memory = Self { key, store, bringer, background: None, witnesses: Vec::new(), episodes: 0 };
        memory.work();
        Ok(memory)
    }

    /// Has done in the background what a server does there.
    fn work(&mut self) {
        let worker = Worker::start(self.bringer.engine.clone(), "bench".to_owned());
        let sealer = Sealer::start(self.store.clone(), "bench".to_owned(), SEAL_EVERY);
        self.background = Some((worker, sealer));
    }

    pub(crate) async fn close(mut self) -> Result<RecallSummary> {
        self.rest().await?;
        let witness = *self.witnesses.last().context("nothing was brought")?;
        Ok(RecallSummary { key: self.key, witness, episodes: self.episodes })
    }

    /// Ends that; what is not sealed yet is sealed.
    async fn rest(&mut self) -> Result<()> {
        let Some((worker, sealer)) = self.background.take() else { return Ok(()) };
        worker.stop(Duration::ZERO).await;
        Ok(tokio::task::spawn_blocking(move || drop(sealer)).await?)
    }

    /// Adds these episodes: one half while they are indexed, the other before.
    pub(crate) async fn grow(&mut self, numbers: Range<usize>) -> Result<Rates> {
        let middle = numbers.start + numbers.len() / 2;
        let started = Instant::now();
        self.write(numbers.start..middle).await?;
        self.until_found().await?;
        let together = rate(middle - numbers.start, started.elapsed().as_secs_f64());
        self.rest().await?;
        let started = Instant::now();
        self.write(middle..numbers.end).await?;
        let writing = rate(numbers.end - middle, started.elapsed().as_secs_f64());
        let started = Instant::now();
        self.bringer.engine.remember_all().await?;
        let indexing = rate(numbers.end - middle, started.elapsed().as_secs_f64());
        self.work();
        self.episodes = numbers.end;
        self.check().await?;
        Ok(Rates { together, writing, indexing })
    }

    async fn write(&mut self, numbers: Range<usize>) -> Result<()> {
        let next = Arc::new(AtomicUsize::new(numbers.start));
        let mut bringers = JoinSet::new();
        for _ in 0..BRINGERS {
            bringers.spawn(self.bringer.clone().bring_all(Arc::clone(&next), numbers.end));
        }
        for witnesses in bringers.join_all().await {
            self.witnesses.extend(witnesses?);
        }
        Ok(())
    }

    /// Waits until the index knows all that was written by now.
    async fn until_found(&self) -> Result<()> {
        let written = self.store.read(|tx| tx.latest(&SYSTEM)).await?;
        let witness = self.witnesses.last().context("nothing was written")?;
        loop {
            // A question waits a while for what it is to know, so that the index is not asked over and over.
            let query = RecallQuery { at_least: Some(written), ..query(&witness.question()) };
            let recalled = self.recall(query).await?;
            if recalled.searched.by == SearchedBy::Index && recalled.searched.cursor >= written {
                return Ok(());
            }
        }
    }

    /// Whether the index holds them all, and finds some by what they say.
    async fn check(&self) -> Result<()> {
        let episodes = self.episodes;
        let state = self.bringer.engine.index_state(&self.bringer.caller).await?.context("there is no index")?;
        ensure!(usize::try_from(state.episodes)? == episodes, "{} of {episodes} are indexed", state.episodes);
        for witness in self.witnesses.iter().step_by(self.witnesses.len().div_ceil(20)) {
            let recalled = self.recall(query(&witness.question())).await?;
            let is_found = recalled.page.rows.iter().any(|found| found.episode.id == witness.id);
            ensure!(is_found, "episode {} is not found by what it says", witness.number);
        }
        Ok(())
    }

    /// Milliseconds until a question is answered, with default options.
    pub(crate) async fn ask(&self, question: &str) -> Result<f64> {
        let started = Instant::now();
        let recalled = self.recall(query(question)).await?;
        let took = started.elapsed().as_secs_f64() * 1_000.0;
        ensure!(recalled.searched.by == SearchedBy::Index, "the index did not answer");
        ensure!(!recalled.page.rows.is_empty(), "nothing is found for {question:?}");
        Ok(took)
    }

    async fn recall(&self, query: RecallQuery) -> Result<Recalled> {
        Ok(self.bringer.engine.recall(&self.bringer.caller, query).await?)
    }
}

fn query(text: &str) -> RecallQuery {
    RecallQuery { text: text.to_owned(), limit: RESULTS, ..RecallQuery::default() }
}

impl Witness {
    /// All it says.
    pub(crate) fn question(self) -> String {
        EpisodeText::of(self.number).text
    }

    pub(crate) fn id(self) -> EpisodeId {
        self.id
    }
}

/// Somebody who brings what was said elsewhere.
#[derive(Clone)]
struct Bringer {
    engine: Engine,
    caller: Arc<Caller>,
    store: Store,
    project: RecordId,
}

impl Bringer {
    /// Takes up one stretch after the other until all are taken.
    async fn bring_all(self, next: Arc<AtomicUsize>, end: usize) -> Result<Vec<Witness>> {
        let mut witnesses = Vec::new();
        loop {
            let first = next.fetch_add(STRETCH, Ordering::Relaxed);
            if first >= end {
                return Ok(witnesses);
            }
            let stretch = first..end.min(first + STRETCH);
            let talk = stretch.end - stretch.len() / 4;
            for number in first..talk {
                let id = self.bring(number).await?;
                if number == first {
                    witnesses.push(Witness { number, id });
                }
            }
            self.say(talk..stretch.end).await?;
        }
    }

    /// What `POST /episodes` does.
    async fn bring(&self, number: usize) -> Result<EpisodeId> {
        let EpisodeText { speaker, text } = EpisodeText::of(number);
        let key = uuid(number as u128).parse()?;
        let request = Request::new(&self.caller, &key, "POST", "/api/v1/episodes", text.as_bytes());
        let brought = ImportedEpisode {
            source: EpisodeSource::Message,
            content: json!(text),
            speaker: Some(speaker.to_owned()),
            node_id: None,
        };
        let said_at = Some(FIRST_SAID.plus(i64::try_from(number * MINUTE_MS)?));
        let kept = self.engine.import_episode(&self.caller, request, EpisodeImport { brought, said_at }).await?;
        Ok(EpisodeId::from_bytes(*kept.value.stored.item.header.id.as_bytes()))
    }

    /// A conversation in one transaction, as one that is brought whole.
    async fn say(&self, numbers: Range<usize>) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = numbers.clone().map(|number| EpisodeText::of(number).text).collect();
        let is_branched = (numbers.start / STRETCH).is_multiple_of(BRANCHED_EVERY);
        let (owner, project) = (self.caller.user, self.project);
        self.store.write(move |tx| converse(tx, owner, project, &texts, is_branched)).await?;
        Ok(())
    }
}

fn converse(
    tx: &mut Tx<'_>,
    owner: UserId,
    project: RecordId,
    texts: &[String],
    is_branched: bool,
) -> Result<(), skein_store::StoreError> {
    let conversation = begin_conversation(tx, owner, project)?;
    let (mut last, mut before) = (None, None);
    for (place, text) in texts.iter().enumerate() {
        let parent = if is_branched && place + 1 == texts.len() { before } else { last };
        let placing = placing(owner, conversation, after(parent), Some(PathId::main_of(conversation)));
        let (row, _) = tx.append_node(&Viewer::User(owner), &placing, &said(text))?;
        (before, last) = (last, Some(row.id));
    }
    Ok(())
}
