//! Following the timeline: into episodes, and from there into the index.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_recall::{ApplyError, Change, Episode, EpisodePlace, Index, TEXT_BYTES_MAX};
use skein_store::memory::{INGESTED_ITEMS_MAX, IndexChange, IndexedEpisode};
use skein_store::{StoreError, Tx, Urgency};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::vectors::EmbedStep;
use crate::memory::{Memory, SYSTEM};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After a step others come first: what is said meanwhile is taken together.
const REST: Duration = Duration::from_millis(100);
/// While others are at what they began.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// A cursor alone is written down only after so many items that say nothing to the index.
const UNTOLD_ITEMS_MAX: i64 = 1_000;
/// About what an episode takes in the writer's queue.
const EPISODE_BYTES: usize = 256;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowStep {
    /// Episodes that were carried into the index.
    pub episodes: usize,
    /// How far it has come.
    pub cursor: Cursor,
    /// Whether there is more to do.
    pub is_more: bool,
}

/// Follows the timeline for as long as it is polled. Whoever makes vectors is not waited for.
pub(crate) async fn follow(engine: Engine) {
    let Some(memory) = engine.parts().memory.get() else { return };
    memory.is_followed.store(true, Ordering::Relaxed);
    let _unfollowed = FollowerEnd(memory);
    tokio::join!(index_on(&engine, memory), embed_on(&engine, memory));
}

/// Makes vectors for what has none, again and again.
async fn embed_on(engine: &Engine, memory: &Memory) {
    let mut rung = engine.parts().store.wake().subscribe();
    loop {
        match engine.embed_more(memory).await {
            Ok(EmbedStep::Done) => {}
            Ok(EmbedStep::Later(pause)) => tokio::time::sleep(pause).await,
            Ok(EmbedStep::Nothing) => {
                tokio::time::sleep(REST).await;
                let _ = tokio::time::timeout(LOOK_EVERY, rung.changed()).await;
            }
            Err(error) => {
                tracing::warn!(%error, "vectors could not be kept; they will be tried again");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

async fn index_on(engine: &Engine, memory: &Memory) {
    let mut rung = engine.parts().store.wake().subscribe();
    loop {
        let step = engine.remember_more(memory).await;
        *memory.stuck() = step.as_ref().err().map(ToString::to_string);
        match step {
            Ok(FollowStep { is_more: true, .. }) => {}
            Ok(_) => {
                tokio::time::sleep(REST).await;
                let _ = tokio::time::timeout(LOOK_EVERY, rung.changed()).await;
            }
            Err(error) => {
                if let EngineError::Store(error) = &error {
                    engine.report_storage(error);
                }
                tracing::warn!(%error, "what was said could not be indexed; it will be tried again");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// Says that nobody follows any more, however following ended.
struct FollowerEnd<'a>(&'a Memory);

impl Drop for FollowerEnd<'_> {
    fn drop(&mut self) {
        self.0.is_followed.store(false, Ordering::Relaxed);
    }
}

impl Engine {
    /// Takes the next step of remembering; `None` where nothing is remembered.
    pub async fn remember_next(&self) -> Result<Option<FollowStep>, EngineError> {
        match self.parts().memory.get() {
            Some(memory) => self.remember_more(memory).await.map(Some),
            None => Ok(None),
        }
    }

    /// Remembers everything that was said so far. Where others write, it waits until they are done with what they began before.
    pub async fn remember_all(&self) -> Result<(), EngineError> {
        let store = &self.parts().store;
        let end = store.read(|tx| tx.end(&SYSTEM)).await?;
        loop {
            let settled = store.read(|tx| tx.latest(&SYSTEM)).await?;
            while self.remember_next().await?.is_some_and(|progressed| progressed.is_more) {}
            if settled >= end {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    pub(crate) async fn remember_more(&self, memory: &Memory) -> Result<FollowStep, EngineError> {
        let _one_at_a_time = memory.stepping.lock().await;
        let is_ingesting = self.ingest().await?;
        let index = self.index(memory).await?;
        let is_retelling = self.retell_some(memory, &index).await?;
        let after = memory.looked_at();
        let (followed, cursor, names) = self.parts().store.read(move |tx| next(tx, after, INGESTED_ITEMS_MAX)).await?;
        self.note_renamed(memory, &index, &followed).await?;
        let episodes = followed.iter().filter(|followed| matches!(followed, IndexChange::Made(_))).count();
        let is_told = cursor.position - index.cursor().position >= UNTOLD_ITEMS_MAX;
        let is_destroyed = followed.iter().any(|followed| matches!(followed, IndexChange::Destroyed { .. }));
        if episodes > 0 || is_destroyed || is_told {
            let changes = blocking(move || changes(followed, &names)).await?;
            let changes = self.with_vectors(memory, &index, changes).await?;
            if is_destroyed {
                self.forget_next().await?;
            }
            let applying = Arc::clone(&index);
            // What was destroyed is not to lie in files that are never written again.
            let applied = blocking(move || {
                if is_destroyed { applying.apply_for_good(&changes, cursor) } else { applying.apply(&changes, cursor) }
            });
            self.usable(memory, &index, applied.await?).await?;
        }
        memory.look_on(cursor);
        let is_behind = is_ingesting || cursor != after;
        if !is_behind {
            memory.has_caught_up.store(true, Ordering::Relaxed);
        }
        let is_more = is_behind || is_retelling || index.reindexing().is_some();
        Ok(FollowStep { episodes, cursor, is_more })
    }

    /// What came of using the index. One that failed is opened again when it is needed, and one that is damaged is begun anew.
    /// Whoever steps calls this.
    pub(crate) async fn usable<T>(
        &self,
        memory: &Memory,
        index: &Arc<Index>,
        came: Result<T, ApplyError>,
    ) -> Result<T, EngineError> {
        match came {
            Ok(value) => Ok(value),
            Err(error) if !memory.serves(index) => Err(unusable(error)),
            Err(error) if error.asks_for_rebuild() => {
                tracing::warn!(%error, "the index is damaged and is built again from the timeline");
                self.remove_index().await?;
                Err(unusable(error))
            }
            Err(error) => {
                memory.close();
                Err(unusable(error))
            }
        }
    }

    /// Takes the index away; whoever steps calls this.
    pub(crate) async fn remove_index(&self) -> Result<(), EngineError> {
        let engine = self.clone();
        let remove = move || engine.parts().memory.get().map_or(Ok(()), Memory::remove);
        blocking(remove).await?.map_err(unusable)
    }

    /// Makes episodes of the next stretch; whether there was one.
    async fn ingest(&self) -> Result<bool, EngineError> {
        let store = self.parts().store.clone();
        if !store.read(|tx| tx.is_ingestion_due(&SYSTEM)).await? {
            return Ok(false);
        }
        let write =
            move || store.write_later(|tx| tx.ingest(&SYSTEM), INGESTED_ITEMS_MAX * EPISODE_BYTES, Urgency::Background);
        let ingested = blocking(write).await??.value;
        Ok(ingested.is_some())
    }

    pub(crate) async fn index(&self, memory: &Memory) -> Result<Arc<Index>, EngineError> {
        if let Some(index) = memory.opened() {
            return Ok(index);
        }
        let engine = self.clone();
        let end = self.parts().store.read(|tx| tx.end(&SYSTEM)).await?;
        let dimensions = self.proven_dimensions(memory).await?;
        let open = move || engine.parts().memory.get().map(|memory| memory.open(end, dimensions));
        match blocking(open).await? {
            Some(opened) => opened.map_err(unusable),
            None => Err(StoreError::Unavailable("nothing is remembered here".to_owned()).into()),
        }
    }
}

/// What the index is to be told next, and the names of those who spoke.
pub(crate) type IndexBatch = (Vec<IndexChange>, Cursor, HashMap<ActorId, String>);

pub(crate) fn next(tx: &mut Tx<'_>, after: Cursor, limit: usize) -> Result<IndexBatch, StoreError> {
    let (followed, cursor) = tx.follow_episodes(&SYSTEM, after, limit)?;
    let speaking = followed.iter().filter_map(|followed| match followed {
        IndexChange::Made(made) => made.state.episode.actor,
        IndexChange::Destroyed { .. } | IndexChange::Renamed { .. } => None,
    });
    let mut actors: Vec<ActorId> = speaking.collect();
    actors.sort_unstable();
    actors.dedup();
    Ok((followed, cursor, tx.actor_names(&SYSTEM, &actors)?))
}

/// What changes in the index, without vectors.
pub(crate) fn changes(followed: Vec<IndexChange>, names: &HashMap<ActorId, String>) -> Vec<Change> {
    followed.into_iter().filter_map(|followed| change(followed, names)).collect()
}

/// What was said while a tool worked is kept and never found (rule BR-EPISODE-003); nor is what was destroyed meanwhile.
fn change(followed: IndexChange, names: &HashMap<ActorId, String>) -> Option<Change> {
    let IndexedEpisode { state, is_of_tool_run } = match followed {
        IndexChange::Destroyed { owner, id } => return Some(Change::Delete { owner, id }),
        IndexChange::Renamed { .. } => return None,
        IndexChange::Made(made) => *made,
    };
    let mut text = state.text.filter(|_| !is_of_tool_run)?;
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    let episode = state.episode;
    let actor = episode.actor.and_then(|actor| names.get(&actor).cloned());
    let speaker = spoken_name(state.speaker.or(actor).unwrap_or_default());
    Some(Change::Upsert(Box::new(Episode {
        id: episode.id,
        owner: episode.owner,
        place: episode.place.map(|place| EpisodePlace { conversation: place.conversation, label: place.label }),
        previous: episode.place.and_then(|place| place.previous),
        actor: episode.actor,
        speaker,
        kind: episode.source.as_str().to_owned(),
        valid_at: episode.valid_at,
        created_at: episode.created_at,
        text,
        vector: None,
    })))
}

/// A name as far as an index keeps it.
pub(crate) fn spoken_name(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(skein_recall::SPEAKER_BYTES_MAX));
    name
}

/// Runs what blocks on a thread of its own; a panic there is a failure here.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(unusable)
}

pub(crate) fn unusable(error: impl std::error::Error + 'static) -> EngineError {
    if StoreError::has_full_disk_among_causes(&error) {
        return StoreError::DiskFull.into();
    }
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    StoreError::Unavailable(format!("the index cannot be used: {error}{cause}")).into()
}
