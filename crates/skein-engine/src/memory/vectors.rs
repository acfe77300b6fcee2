//! Vectors, wherever they come from: on the spot from the built-in table, from what was made before, and behind everybody from
//! whoever is configured.
//!
//! What was said is found by its words at once. What still has no vector is read off the index itself, so a crash, a failure
//! or a deleted index leaves nothing to be remembered: it is looked for again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use skein_connect::embeddings::BATCH_TEXTS_MAX;
use skein_core::{Digest, EpisodeId};
use skein_recall::{Change, Episode, Index, StaticTable, embed_checked, embedded_text, packed, unpacked};
use skein_store::Urgency;
use skein_store::memory::StoredVector;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::embedder::{EmbedderUnavailable, Embedding, EmbeddingPurpose};
use crate::memory::embedder_backoff::EmbeddingCounts;
use crate::memory::follower::{blocking, unusable};
use crate::memory::{Memory, SYSTEM};

/// How long whoever asks waits for the vector of a question.
const QUESTION_TIME_MAX: Duration = Duration::from_secs(2);
/// About what a vector takes in the writer's queue beside its numbers.
const ROW_BYTES: usize = 256;

/// What one step of embedding came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedStep {
    /// Something was done, and there may be more to do.
    Done,
    /// Everything that can have a vector has one.
    Nothing,
    /// Nothing can be done for so long.
    Later(Duration),
}

/// Whether an answer was looked for by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SemanticSearch {
    /// It was.
    Searched,
    /// There was nothing that could have a meaning.
    Nothing,
    /// Whoever made the vectors of the index is not configured any more.
    EmbedderGone,
    /// The embedder gave no vector, or not in time.
    EmbedderFailed,
    /// There was no index to look in.
    NoIndex,
}

/// A text to be embedded, and the episode that says it.
pub(super) struct EmbeddingRequest {
    id: EpisodeId,
    text: String,
    content: Digest,
}

impl EmbeddingRequest {
    pub(super) fn of(episode: &Episode) -> Self {
        let text = embedded_text(&episode.speaker, &episode.text);
        // Nobody is to learn from a vector that is there at once what others said.
        let content = Digest::of(&[episode.owner.as_bytes(), text.as_bytes()].concat());
        Self { id: episode.id, content, text }
    }
}

/// What became of texts: a vector, or none while others have one.
pub(super) type EmbeddedTexts = Result<Vec<Option<Vec<f32>>>, EmbedderUnavailable>;

impl Engine {
    /// What embedders did since this engine was made.
    pub fn embedding_counts(&self) -> EmbeddingCounts {
        self.parts().memory.get().map(|memory| memory.troubles.counts()).unwrap_or_default()
    }

    /// Takes the next step of embedding; `None` where nothing is remembered.
    pub async fn embed_next(&self) -> Result<Option<EmbedStep>, EngineError> {
        match self.parts().memory.get() {
            Some(memory) => self.embed_more(memory).await.map(Some),
            None => Ok(None),
        }
    }

    /// Embeds everything that is indexed, as far as that is possible now.
    pub async fn embed_all(&self) -> Result<EmbedStep, EngineError> {
        loop {
            match self.embed_next().await? {
                Some(EmbedStep::Done) => {}
                other => return Ok(other.unwrap_or(EmbedStep::Nothing)),
            }
        }
    }

    pub(super) async fn embed_more(&self, memory: &Memory) -> Result<EmbedStep, EngineError> {
        let mut next = memory.next.lock().await;
        memory.drop_spoilt(&mut next);
        let index = self.index(memory).await?;
        self.use_vectors(memory, index.fingerprint()).await?;
        match self.embed_some(memory, index, &mut next).await? {
            EmbedStep::Nothing if self.drop_unused(memory).await? => Ok(EmbedStep::Done),
            step => Ok(step),
        }
    }

    async fn embed_some(
        &self,
        memory: &Memory,
        index: Arc<Index>,
        next: &mut Option<Arc<Index>>,
    ) -> Result<EmbedStep, EngineError> {
        let is_settled = *index.fingerprint() == memory.embedding.fingerprint();
        if is_settled && memory.embedding.is_built_in() {
            memory.drop_next(next);
            return Ok(EmbedStep::Nothing);
        }
        if index.is_empty() {
            // For nothing nobody is asked.
            return Ok(EmbedStep::Nothing);
        }
        if let Some(pause) = memory.troubles.pause(Instant::now()) {
            return Ok(EmbedStep::Later(pause));
        }
        if is_settled {
            memory.drop_next(next);
            self.fill(memory, index).await
        } else {
            self.switch(memory, next).await
        }
    }

    /// Makes vectors for some of those who have none.
    async fn fill(&self, memory: &Memory, index: Arc<Index>) -> Result<EmbedStep, EngineError> {
        let (looked_in, passed_over) = (Arc::clone(&index), memory.troubles.passed_over(Instant::now()));
        let find = move || looked_in.waiting(BATCH_TEXTS_MAX, |id| passed_over.contains(&id));
        let waiting = blocking(find).await?.map_err(unusable)?;
        if waiting.is_empty() {
            return Ok(EmbedStep::Nothing);
        }
        let wanted: Vec<EmbeddingRequest> = waiting.iter().map(EmbeddingRequest::of).collect();
        let vectors = match self.make(memory, index.dimensions(), &wanted).await? {
            Ok(vectors) => vectors,
            Err(why) => return Ok(EmbedStep::Later(memory.troubles.failed(why, Instant::now()))),
        };
        let mut made = Vec::with_capacity(waiting.len());
        for (episode, vector) in waiting.into_iter().zip(vectors) {
            match vector {
                Some(vector) => made.push((episode, vector)),
                None => memory.troubles.refused(episode.id, Instant::now()),
            }
        }
        let _one_at_a_time = memory.stepping.lock().await;
        if memory.opened().is_none_or(|opened| !Arc::ptr_eq(&opened, &index)) {
            return Ok(EmbedStep::Done);
        }
        if let Err(error) = blocking(move || index.fill(made)).await? {
            memory.close();
            return Err(unusable(error));
        }
        Ok(EmbedStep::Done)
    }

    /// One vector for each text, or none: those that were made before, and those that whoever is configured makes now.
    pub(super) async fn make(
        &self,
        memory: &Memory,
        dimensions: usize,
        wanted: &[EmbeddingRequest],
    ) -> Result<EmbeddedTexts, EngineError> {
        let maker = &memory.embedding;
        let mut vectors = self.known(maker, dimensions, wanted).await?;
        let known = wanted.iter().filter(|wanted| vectors.contains_key(&wanted.content)).count();
        let mut seen = HashSet::new();
        let missing: Vec<&EmbeddingRequest> = wanted
            .iter()
            .filter(|wanted| !vectors.contains_key(&wanted.content) && !wanted.text.trim().is_empty())
            .filter(|wanted| seen.insert(wanted.content))
            .collect();
        memory.troubles.found(known);
        for some in missing.chunks(BATCH_TEXTS_MAX) {
            let texts: Vec<String> = some.iter().map(|wanted| wanted.text.clone()).collect();
            let checked = match maker.vectors(&texts, dimensions, EmbeddingPurpose::Keeping).await {
                Ok(checked) => checked,
                Err(why) => return Ok(Err(why)),
            };
            let mut made = Vec::with_capacity(some.len());
            for (wanted, checked) in some.iter().zip(checked) {
                match checked {
                    // As it comes back when it is looked up, so that an index is the same however it was built.
                    Ok(vector) => {
                        made.push(StoredVector {
                            episode: wanted.id,
                            content: wanted.content,
                            vector: packed(&vector),
                        });
                    }
                    Err(error) => tracing::debug!(%error, episode = %wanted.id, "a text has no vector"),
                }
            }
            vectors.extend(made.iter().filter_map(|made| Some((made.content, unpacked(&made.vector)?))));
            memory.troubles.worked(made.len());
            self.keep(maker, made).await?;
        }
        Ok(Ok(wanted.iter().map(|wanted| vectors.get(&wanted.content).cloned()).collect()))
    }

    /// Vectors that were made of these texts before.
    async fn known(
        &self,
        maker: &Embedding,
        dimensions: usize,
        wanted: &[EmbeddingRequest],
    ) -> Result<HashMap<Digest, Vec<f32>>, EngineError> {
        let (fingerprint, contents) = (maker.fingerprint(), wanted.iter().map(|wanted| wanted.content));
        let contents: Vec<Digest> = contents.collect();
        let look = move |tx: &mut skein_store::Tx<'_>| tx.vectors(&SYSTEM, fingerprint.as_str(), &contents);
        let kept = self.parts().store.read(look).await?;
        let vectors = kept.into_iter().filter_map(|(content, bytes)| Some((content, unpacked(&bytes)?)));
        Ok(vectors.filter(|(_, vector)| vector.len() == dimensions).collect())
    }

    async fn keep(&self, maker: &Embedding, made: Vec<StoredVector>) -> Result<(), EngineError> {
        if made.is_empty() {
            return Ok(());
        }
        let (store, fingerprint) = (self.parts().store.clone(), maker.fingerprint());
        let weight = made.iter().map(|made| made.vector.len() + ROW_BYTES).sum();
        let keep = move |tx: &mut skein_store::Tx<'_>| tx.store_vectors(&SYSTEM, fingerprint.as_str(), &made);
        blocking(move || store.write_later(keep, weight, Urgency::Background)).await??;
        Ok(())
    }

    /// Gives what is about to be indexed those vectors that need not be waited for.
    pub(super) async fn with_vectors(
        &self,
        memory: &Memory,
        index: &Index,
        changes: Vec<Change>,
    ) -> Result<Vec<Change>, EngineError> {
        match memory.maker_of(index.fingerprint()) {
            None => Ok(changes),
            Some(Embedding::BuiltIn) => blocking(move || on_the_spot(changes)).await,
            Some(maker) => {
                let wanted: Vec<EmbeddingRequest> = made(&changes).map(EmbeddingRequest::of).collect();
                let known = self.known(&maker, index.dimensions(), &wanted).await?;
                memory.troubles.found(known.len());
                let vectors = wanted.iter().map(|wanted| known.get(&wanted.content).cloned()).collect();
                Ok(given(changes, vectors))
            }
        }
    }

    /// The vector of a question, and whether it has one.
    pub(super) async fn vector_of(
        &self,
        memory: &Memory,
        index: &Index,
        text: &str,
    ) -> (Option<Vec<f32>>, SemanticSearch) {
        let Some(maker) = memory.maker_of(index.fingerprint()) else { return (None, SemanticSearch::EmbedderGone) };
        if text.trim().is_empty() {
            return (None, SemanticSearch::Nothing);
        }
        let is_slow = !maker.is_built_in();
        let asked = || memory.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = is_slow.then(|| asked().find(index, text)).flatten() {
            return (Some(vector), SemanticSearch::Searched);
        }
        if is_slow && memory.troubles.keeps_questions(Instant::now()) {
            return (None, SemanticSearch::EmbedderFailed);
        }
        let purpose = EmbeddingPurpose::Asking(QUESTION_TIME_MAX);
        let vectors = maker.vectors(&[text.to_owned()], index.dimensions(), purpose).await;
        match vectors.map(|mut vectors| vectors.pop()) {
            Ok(Some(Ok(vector))) => {
                if is_slow {
                    asked().keep(index, text, vector.clone());
                }
                (Some(vector), SemanticSearch::Searched)
            }
            // The table knows none of the words.
            Ok(_) if maker.is_built_in() => (None, SemanticSearch::Nothing),
            Ok(_) => (None, SemanticSearch::EmbedderFailed),
            Err(error) => {
                tracing::debug!(%error, "a question has no vector; it is answered by words");
                if error.is_lasting {
                    memory.troubles.failed(error, Instant::now());
                } else {
                    memory.troubles.question_failed(Instant::now());
                }
                (None, SemanticSearch::EmbedderFailed)
            }
        }
    }
}

/// The episodes that changes bring.
pub(super) fn made(changes: &[Change]) -> impl Iterator<Item = &Episode> {
    changes.iter().filter_map(|change| match change {
        Change::Upsert(episode) => Some(&**episode),
        Change::Delete { .. } => None,
    })
}

/// Changes whose episodes have these vectors, one for each of them.
pub(super) fn given(mut changes: Vec<Change>, vectors: Vec<Option<Vec<f32>>>) -> Vec<Change> {
    let episodes = changes.iter_mut().filter_map(|change| match change {
        Change::Upsert(episode) => Some(episode),
        Change::Delete { .. } => None,
    });
    for (episode, vector) in episodes.zip(vectors) {
        episode.vector = vector;
    }
    changes
}

fn on_the_spot(changes: Vec<Change>) -> Vec<Change> {
    let texts: Vec<String> = made(&changes).map(|made| embedded_text(&made.speaker, &made.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed_checked(&StaticTable, &texts).unwrap_or_else(|error| {
        tracing::warn!(%error, "texts have no vectors for now; words find them");
        Vec::new()
    });
    given(changes, vectors.into_iter().map(Result::ok).collect())
}

#[cfg(test)]
mod tests {
    use skein_core::{Millis, UserId};

    use super::*;

    #[test]
    fn what_two_owners_say_alike_is_known_apart() {
        let said_by = |owner: u8| Episode {
            id: EpisodeId::from_bytes([1; 16]),
            owner: UserId::from_bytes([owner; 16]),
            place: None,
            previous: None,
            actor: None,
            speaker: "Ada".to_owned(),
            kind: "text".to_owned(),
            valid_at: Millis(0),
            created_at: Millis(0),
            text: "My number is 1234.".to_owned(),
            vector: None,
        };
        let (one, other) = (EmbeddingRequest::of(&said_by(1)), EmbeddingRequest::of(&said_by(2)));
        assert_eq!((one.text == other.text, one.content == other.content), (true, false));
        assert_eq!(one.content, EmbeddingRequest::of(&said_by(1)).content);
    }
}
