//! Finding again what was said: the index names the best, the store has the last word on what may be seen.
//!
//! The index may be a moment behind, and branches, marks and redactions change at any time. So every hit is looked up before
//! it is told, and one that may not be seen any more is replaced by the next best. Where there is no index, or one that is
//! being built again, words are looked for in the store itself.

use std::sync::Arc;
use std::time::Duration;

use skein_core::garden::cursor::Cursor;
use skein_core::memory::episode::{Episode, episode_of};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, NodeId, Viewer};
use skein_recall::{HITS_MAX, Hits, Index, Parts, Query, Recency, SearchError, Snippet, Terms};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::follower::{blocking, unusable};
use crate::memory::scope::{QueryScope, RecallQuery};
use crate::memory::vectors::{EmbedStep, SemanticSearch};
use crate::memory::visibility::{Evidence, VisibleHit, judge};
use crate::memory::{Memory, SYSTEM};
use crate::tree::{FoundText, SearchQuery};

/// How long a question waits for what it has to know.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Hits that are looked at for one answer, so that every page of it is cut from the same list; for late pages all there are.
const HITS_LOOKED_AT: usize = 256;
/// How often the index is asked for further hits, when most of those before may not be seen any more.
const ASKED_MAX: usize = 8;
/// What was said so many milliseconds ago is preferred half as much as what was said just now.
const RECENT_HALF_LIFE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
const RECENT_WEIGHT: f32 = 1.0;

/// Where something was found, as seen from where one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitLocation {
    /// On the path one stands on.
    Path,
    /// On the main path of another conversation.
    Elsewhere,
    /// On a branch that no path shows, where those are searched too.
    Aside,
    /// It has no place: it is seen from everywhere.
    Anywhere,
}

/// What answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchedBy {
    /// The index.
    Index,
    /// The store, by words alone.
    Words,
}

/// Something that was found, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEpisode {
    /// What it is.
    pub episode: Episode,
    /// Its name.
    pub name: String,
    /// Who spoke at its turn.
    pub speaker: Option<Speaker>,
    /// Who said what was brought.
    pub said_by: Option<String>,
    /// The sum of its parts.
    pub score: f32,
    /// What each way of finding gave.
    pub parts: Parts,
    /// What it says, around what matched.
    pub snippet: Snippet,
    /// The words that matched, in lower case.
    pub words: Vec<String>,
    /// Where it was found.
    pub found: HitLocation,
}

/// What was searched: told with every answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchExtent {
    /// What answered.
    pub by: SearchedBy,
    /// Whether also by meaning.
    pub meaning: SemanticSearch,
    /// Where the question was asked.
    pub conversation: Option<ConversationId>,
    /// The end of the path it was asked on.
    pub node: Option<NodeId>,
    /// Whether branches that no path shows were searched too.
    pub all_branches: bool,
    /// Only what had been said by then.
    pub as_of: Option<Millis>,
    /// Only what had become known here by then.
    pub known_at: Option<Millis>,
    /// The answer knows everything up to here.
    pub cursor: Cursor,
    /// Whether there is more than that already.
    pub is_behind: bool,
    /// How many episodes could be seen at all.
    pub visible: Option<u32>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The best first.
    pub page: Page<FoundEpisode, usize>,
    /// What was searched.
    pub searched: SearchExtent,
}

impl Engine {
    /// Finds what was said again, as far as it may be seen from where the question is asked.
    pub async fn recall(&self, caller: &Caller, query: RecallQuery) -> Result<Recalled, EngineError> {
        self.recalled(caller, query, None).await
    }

    /// [`Self::recall`] that knows everything said so far.
    pub async fn recall_now(&self, caller: &Caller, query: RecallQuery) -> Result<Recalled, EngineError> {
        let at_least = self.parts().store.read(|tx| tx.latest(&SYSTEM)).await?;
        self.recall(caller, RecallQuery { at_least: Some(at_least), ..query }).await
    }

    /// What resembles a node, as seen from there.
    pub async fn similar(&self, caller: &Caller, node: NodeId, limit: usize) -> Result<Recalled, EngineError> {
        let query = RecallQuery { node: Some(node), limit, ..RecallQuery::default() };
        self.recalled(caller, query, Some(node)).await
    }

    async fn recalled(
        &self,
        caller: &Caller,
        query: RecallQuery,
        like: Option<NodeId>,
    ) -> Result<Recalled, EngineError> {
        let viewer = caller.viewer();
        let (asked, own) = (query.clone(), viewer.clone());
        let paths = self.parts().memory.get().map(|memory| Arc::clone(&memory.paths));
        let look = move |tx: &mut Tx<'_>| {
            // What resembles a node is asked of the node itself: without it there is nothing to answer.
            if let Some(node) = like {
                tx.node(&own, node)?;
            }
            Ok((QueryScope::of(tx, &own, &asked, paths.as_deref())?, QueryTime::of(tx)?))
        };
        let (scope, moment) = self.parts().store.read(look).await?;
        let answered = match self.parts().memory.get() {
            Some(memory) => self.by_index(memory, &viewer, (&query, moment), &scope, like).await?,
            None => None,
        };
        match answered {
            Some(recalled) => Ok(recalled),
            None => self.by_words(caller, &viewer, query, &scope, like).await,
        }
    }

    /// `None` when the index cannot answer now.
    async fn by_index(
        &self,
        memory: &Memory,
        viewer: &Viewer,
        (query, moment): (&RecallQuery, QueryTime),
        scope: &QueryScope,
        like: Option<NodeId>,
    ) -> Result<Option<Recalled>, EngineError> {
        let has_waited = self.await_index(memory, query.at_least, moment.end).await;
        let Some(index) = memory.opened().filter(|_| memory.has_caught_up()) else { return Ok(None) };
        let cursor = memory.looked_at();
        let QueryTime { now, end } = if has_waited { self.parts().store.read(QueryTime::of).await? } else { moment };
        // What resembles something is asked with the vector that has already.
        let (vector, meaning) = match like {
            Some(_) => (None, SemanticSearch::Searched),
            None => self.vector_of(memory, &index, &query.text).await,
        };
        let question = question(vector, viewer, query, scope, now);
        let IndexAnswer { found, terms, visible } =
            match self.judged(&index, viewer, query, scope, (question, like)).await? {
                Ok(answered) => answered,
                Err(SearchError::Unknown(_)) => return Ok(None),
                Err(error) => {
                    tracing::warn!(%error, "the index does not answer; words are looked for in the store");
                    self.leave(memory, &index, error.asks_for_rebuild()).await?;
                    return Ok(None);
                }
            };
        let Page { rows, next } = page(found, query);
        let rows = blocking(move || rows.into_iter().map(|judged| judged.shown(&terms)).collect()).await?;
        let searched = SearchExtent {
            by: SearchedBy::Index,
            meaning,
            conversation: scope.conversation,
            node: scope.node,
            all_branches: scope.is_whole,
            as_of: query.as_of,
            known_at: query.known_at,
            cursor,
            is_behind: cursor < end || index.reindexing().is_some(),
            visible: Some(visible),
        };
        Ok(Some(Recalled { page: Page { rows, next }, searched }))
    }

    /// Asks the index until enough may be told of what it names, or it names nothing more.
    async fn judged(
        &self,
        index: &Arc<Index>,
        viewer: &Viewer,
        query: &RecallQuery,
        scope: &QueryScope,
        (mut question, like): (Query, Option<NodeId>),
    ) -> Result<Result<IndexAnswer, SearchError>, EngineError> {
        let wanted = query.skip.saturating_add(query.limit).min(HITS_MAX).saturating_add(1);
        question.limit = if wanted <= HITS_LOOKED_AT { HITS_LOOKED_AT } else { HITS_MAX };
        let (mut answered, mut evidence) = (IndexAnswer::default(), Evidence::default());
        for _ in 0..ASKED_MAX {
            let Hits { hits, terms, visible, .. } = match ask(index, question.clone(), like).await? {
                Ok(hits) => hits,
                Err(error) => return Ok(Err(error)),
            };
            (answered.terms, answered.visible) = (terms, visible);
            let is_all = hits.len() < question.limit;
            question.filter.besides.extend(hits.iter().map(|hit| hit.id));
            let hits = evidence.sift(hits, query.strict);
            let is_all = is_all || hits.is_empty();
            let (own, scope_of, asked) = (viewer.clone(), scope.clone(), query.clone());
            let wanted_yet = wanted - answered.found.len();
            let look = move |tx: &mut Tx<'_>| judge(tx, &own, &scope_of, hits, (&asked, wanted_yet));
            answered.found.extend(self.parts().store.read(look).await?);
            if is_all || answered.found.len() >= wanted {
                break;
            }
            // What may not be seen any more crowds nobody out.
            question.limit = HITS_MAX;
        }
        Ok(Ok(answered))
    }

    /// Lets go of an index that does not answer; one that is damaged is begun anew, unless somebody did so already.
    async fn leave(&self, memory: &Memory, index: &Arc<Index>, is_damaged: bool) -> Result<(), EngineError> {
        if !is_damaged {
            memory.close();
            return Ok(());
        }
        let _one_at_a_time = memory.stepping.lock().await;
        if memory.serves(index) { self.remove_index().await } else { Ok(()) }
    }

    /// Waits until the index knows what a question has to know; where nobody follows the timeline, this does. Tells whether
    /// anything had to be waited for.
    async fn await_index(&self, memory: &Memory, at_least: Option<Cursor>, end: Cursor) -> bool {
        let mut has_waited = false;
        let wait = async {
            let wanted = if memory.is_followed() { at_least.map(|wanted| wanted.min(end)) } else { Some(end) };
            // While an index is built again, words answer at once whoever asks for no more. One that is only being opened is
            // waited for: looking for words takes longer, the more was said.
            let is_awaited = at_least.is_some() || !memory.is_followed();
            // The timeline may be held back for a moment by others who are still writing.
            let is_due = || {
                let is_late = is_awaited && (!memory.has_caught_up() || memory.is_retelling());
                let is_lacking = wanted.is_some_and(|wanted| memory.looked_at() < wanted);
                is_late || is_lacking || memory.is_nearly_there(end)
            };
            while is_due() {
                has_waited = true;
                let engine = self.clone();
                // A step that was begun is ended, also when nobody waits for it any more.
                let step = tokio::spawn(async move { engine.remember_next().await });
                if !step.await.map_err(unusable)??.is_some_and(|step| step.is_more) {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            }
            while !memory.is_followed() {
                has_waited = true;
                let engine = self.clone();
                let step = tokio::spawn(async move { engine.embed_next().await });
                if step.await.map_err(unusable)?? != Some(EmbedStep::Done) {
                    break;
                }
            }
            Ok::<_, EngineError>(())
        };
        // Whoever has waited long enough is answered with what is there.
        if let Ok(Err(error)) = tokio::time::timeout(PATIENCE, wait).await {
            tracing::debug!(%error, "the index could not be brought up to date");
        }
        has_waited
    }

    /// The store's own search, by words: the newest of what may be seen.
    async fn by_words(
        &self,
        caller: &Caller,
        viewer: &Viewer,
        query: RecallQuery,
        scope: &QueryScope,
        like: Option<NodeId>,
    ) -> Result<Recalled, EngineError> {
        let text = match like {
            Some(node) => {
                let viewer = viewer.clone();
                self.parts().store.read(move |tx| crate::tree::text_at(tx, &viewer, node)).await?
            }
            None => query.text.clone(),
        };
        let plain = SearchQuery {
            text,
            node: query.node,
            conversation: query.conversation,
            elsewhere: query.elsewhere,
            skip: query.skip,
            limit: query.limit,
        };
        let mut found = self.search(caller, plain).await?;
        let nodes: Vec<NodeId> = found.rows.iter().filter_map(said_at_node).collect();
        let look = move |tx: &mut Tx<'_>| Ok((tx.latest(&SYSTEM)?, tx.corrected_times(&nodes)?));
        let (cursor, corrected) = self.parts().store.read(look).await?;
        for found in &mut found.rows {
            let corrected = said_at_node(found).and_then(|node| corrected.get(&node).copied());
            found.said_at = corrected.unwrap_or(found.said_at);
        }
        let like = like.map(episode_of);
        let rows = found.rows.into_iter().filter(|found| Some(found.id) != like && fits(found, &query, scope));
        let owner = viewer.subject();
        let page = Page { rows: rows.map(|found| plainly(found, owner, scope)).collect(), next: found.next };
        let searched = SearchExtent {
            by: SearchedBy::Words,
            meaning: SemanticSearch::NoIndex,
            conversation: scope.conversation,
            node: scope.node,
            all_branches: false,
            as_of: query.as_of,
            known_at: query.known_at,
            cursor,
            is_behind: true,
            visible: None,
        };
        Ok(Recalled { page, searched })
    }
}

/// When a question was asked.
#[derive(Clone, Copy)]
struct QueryTime {
    now: Millis,
    /// The end of all there was to know then.
    end: Cursor,
}

impl QueryTime {
    fn of(tx: &mut Tx<'_>) -> Result<Self, StoreError> {
        Ok(Self { now: tx.now(), end: tx.end(&SYSTEM)? })
    }
}

/// Without a vector words answer.
fn question(vector: Option<Vec<f32>>, viewer: &Viewer, query: &RecallQuery, scope: &QueryScope, now: Millis) -> Query {
    let recent = Recency { now, half_life: RECENT_HALF_LIFE_MS, weight: RECENT_WEIGHT };
    Query {
        vector,
        visibility: scope.visibility.clone(),
        as_of: query.as_of,
        known_at: query.known_at,
        filter: scope.filter.clone(),
        recency: query.recent.then_some(recent),
        weights: query.weights,
        ..Query::new(viewer.subject(), query.text.clone())
    }
}

async fn ask(index: &Arc<Index>, query: Query, like: Option<NodeId>) -> Result<Result<Hits, SearchError>, EngineError> {
    let index = Arc::clone(index);
    blocking(move || match like {
        Some(node) => index.similar(episode_of(node), &query),
        None => index.search(&query),
    })
    .await
}

/// What an index answered, as far as it may be told.
#[derive(Default)]
struct IndexAnswer {
    found: Vec<VisibleHit>,
    terms: Terms,
    visible: u32,
}

fn page<T>(mut found: Vec<T>, query: &RecallQuery) -> Page<T, usize> {
    let end = query.skip.saturating_add(query.limit);
    let next = (found.len() > end && end < HITS_MAX).then_some(end);
    found.truncate(end);
    Page { rows: found.into_iter().skip(query.skip).collect(), next }
}

/// The node that says it, unless it was brought.
fn said_at_node(found: &FoundText) -> Option<NodeId> {
    found.place.map(|place| place.node).filter(|node| episode_of(*node) == found.id)
}

/// Whether what words alone found is what was asked for.
fn fits(found: &FoundText, query: &RecallQuery, scope: &QueryScope) -> bool {
    let conversation = found.place.map(|place| place.conversation);
    let within = scope.filter.conversations.as_ref();
    let is_in = within.is_none_or(|within| conversation.is_some_and(|conversation| within.contains(&conversation)));
    let is_in_time = query.from.is_none_or(|from| found.said_at >= from)
        && query.until.is_none_or(|until| found.said_at <= until)
        && query.as_of.is_none_or(|as_of| found.said_at <= as_of);
    let is_of_kind = query.sources.is_empty() || query.sources.contains(&found.source);
    let is_known = query.known_at.is_none_or(|known_at| found.known_at <= known_at);
    let is_by = query.actors.is_empty() || found.author.is_some_and(|author| query.actors.contains(&author));
    is_in && is_in_time && is_of_kind && is_known && is_by
}

fn plainly(found: FoundText, owner: skein_core::UserId, scope: &QueryScope) -> FoundEpisode {
    let where_to = match found.place {
        None => HitLocation::Anywhere,
        Some(place) if scope.is_on_path(place.conversation, place.label) => HitLocation::Path,
        Some(_) => HitLocation::Elsewhere,
    };
    let episode = Episode {
        id: found.id,
        owner,
        item: found.item,
        place: found.place,
        actor: found.author,
        source: found.source,
        valid_at: found.said_at,
        created_at: found.known_at,
    };
    FoundEpisode {
        name: episode.name(&found.snippet.text),
        episode,
        speaker: found.speaker,
        said_by: found.said_by,
        score: 0.0,
        parts: Parts::default(),
        snippet: found.snippet,
        words: found.words,
        found: where_to,
    }
}
