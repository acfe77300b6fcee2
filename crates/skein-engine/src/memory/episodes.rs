//! Episodes themselves: brought from elsewhere, listed, and how far remembering has come.

use serde_json::{Value, json};
use skein_core::memory::episode::{Episode, ImportedEpisode};
use skein_core::{ConversationId, EpisodeId, Millis, ReferenceField, RuleViolation, Viewer};
use skein_recall::EpisodeKey;
use skein_store::memory::{EpisodeStage, EpisodeState, UnindexableEpisode};
use skein_store::timeline::items::{Page, StoredItem};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::SYSTEM;
use crate::memory::follower::blocking;
use crate::request::{CommittedChange, Outcome, Request};

/// From where what is brought may be visible.
const VISIBLE_FROM: ReferenceField = ReferenceField::new("Z34", "nodeId", "node");

/// Content somebody brings, and when it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeImport {
    /// What it is.
    pub brought: ImportedEpisode,
    /// When it was said, if not now.
    pub said_at: Option<Millis>,
}

/// What was brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeImportResult {
    /// The item it is kept in.
    pub stored: StoredItem,
    /// Whether the same was brought before, and this is that.
    pub was_known: bool,
}

impl Outcome for EpisodeImportResult {
    fn reference(&self) -> Value {
        json!({ "item": self.stored.item.header.id, "known": self.was_known })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let was_known = reference.get("known").and_then(Value::as_bool).unwrap_or(false);
        Ok(Self { stored: StoredItem::recall(tx, viewer, reference)?, was_known })
    }
}

/// Where an episode stands between being said and being found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeStatus {
    /// It will be found once the followers of the timeline have come so far.
    Waiting,
    /// It can be found.
    Indexed,
    /// It is kept and never found.
    Kept,
    /// Its words were destroyed.
    Destroyed,
    /// Nothing can be made of it.
    Unbound,
    /// This server keeps no index.
    Unindexed,
}

impl EpisodeStatus {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Indexed => "indexed",
            Self::Kept => "kept",
            Self::Destroyed => "destroyed",
            Self::Unbound => "unbound",
            Self::Unindexed => "unindexed",
        }
    }
}

/// What is known of an index when it is asked for some episodes.
enum IndexSnapshot {
    Nowhere,
    Unusable,
    Held(Vec<Option<EpisodeKey>>),
}

/// An episode as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownEpisode {
    /// What it is.
    pub episode: Episode,
    /// Its name.
    pub name: String,
    /// What it says; `None` when that was destroyed.
    pub text: Option<String>,
    /// Who said what was brought.
    pub speaker: Option<String>,
    /// Whether it can be found.
    pub status: EpisodeStatus,
    /// Why not, or not by everything.
    pub reason: Option<&'static str>,
}

fn shown(state: EpisodeState, asked: &IndexSnapshot, place: usize) -> ShownEpisode {
    let (status, reason) = status(&state, asked, place);
    let EpisodeState { episode, text, speaker, bound: _ } = state;
    let name = episode.name(text.as_deref().unwrap_or_default());
    ShownEpisode { episode, name, text, speaker, status, reason }
}

fn status(state: &EpisodeState, asked: &IndexSnapshot, place: usize) -> (EpisodeStatus, Option<&'static str>) {
    match (state.bound, &state.text, asked) {
        (EpisodeStage::Never(reason), ..) => (EpisodeStatus::Unbound, Some(reason)),
        (_, None, _) => (EpisodeStatus::Destroyed, Some("what it said was destroyed")),
        (EpisodeStage::OfToolRun, ..) => (EpisodeStatus::Kept, Some("it was said while a tool worked")),
        (EpisodeStage::NotYet, ..) => (EpisodeStatus::Waiting, Some("no episode is made of it yet")),
        (.., IndexSnapshot::Nowhere) => (EpisodeStatus::Unindexed, Some("this server keeps no index")),
        (.., IndexSnapshot::Unusable) => (EpisodeStatus::Waiting, Some("the index cannot be used now")),
        (.., IndexSnapshot::Held(held)) => match held.get(place).copied().flatten() {
            Some(EpisodeKey::ByMeaning) => (EpisodeStatus::Indexed, None),
            Some(EpisodeKey::ByWords) => (EpisodeStatus::Indexed, Some("it has no vector: its words find it")),
            None => (EpisodeStatus::Waiting, Some("the index has not come so far")),
        },
    }
}

impl Engine {
    /// Keeps content that an agent brings: an item, which is remembered a moment later under the same bits. What was brought
    /// before is that one.
    pub async fn import_episode(
        &self,
        caller: &Caller,
        request: Request,
        brought: EpisodeImport,
    ) -> Result<CommittedChange<EpisodeImportResult>, EngineError> {
        let weight = brought.brought.to_draft(brought.said_at).map_err(StoreError::from)?.weight();
        self.change_weighing(caller, request, "episode.bring", weight, move |tx, viewer| {
            if let Some(node) = brought.brought.node_id {
                let row = tx.node(viewer, node).map_err(|error| error.of_reference(VISIBLE_FROM, node))?;
                if row.owner != viewer.owner() {
                    return Err(VISIBLE_FROM.unusable(node).into());
                }
                if row.label().is_none() {
                    let problem = "a remark stands beside the conversation's course";
                    return Err(RuleViolation::new("AG-EDGE-004", problem, "name the node it is about").into());
                }
            }
            let (stored, was_known) = tx.import_episode(viewer, &brought.brought, brought.said_at)?;
            Ok(EpisodeImportResult { stored, was_known })
        })
        .await
    }

    /// The caller's episodes, the newest first.
    pub async fn episodes(
        &self,
        caller: &Caller,
        conversation: Option<ConversationId>,
        after: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Page<ShownEpisode, EpisodeId>, EngineError> {
        let viewer = caller.viewer();
        let page = self.parts().store.read(move |tx| tx.episodes(&viewer, conversation, after, limit)).await?;
        Ok(Page { rows: self.with_status(caller, page.rows).await, next: page.next })
    }

    /// One of the caller's episodes.
    pub async fn episode(&self, caller: &Caller, id: EpisodeId) -> Result<ShownEpisode, EngineError> {
        let viewer = caller.viewer();
        let state = self.parts().store.read(move |tx| tx.episode(&viewer, id)).await?;
        let missing = || EngineError::from(StoreError::NotFound(id.to_string()));
        self.with_status(caller, vec![state]).await.pop().ok_or_else(missing)
    }

    /// Episodes with what the index of this server knows of them.
    async fn with_status(&self, caller: &Caller, states: Vec<EpisodeState>) -> Vec<ShownEpisode> {
        let ids: Vec<EpisodeId> = states.iter().map(|state| state.episode.id).collect();
        let asked = match self.parts().memory.get() {
            None => IndexSnapshot::Nowhere,
            Some(memory) => match self.index(memory).await {
                Ok(index) => {
                    let owner = caller.viewer().subject();
                    let held = blocking(move || index.held(owner, &ids)).await;
                    held.ok().and_then(Result::ok).map_or(IndexSnapshot::Unusable, IndexSnapshot::Held)
                }
                Err(_) => IndexSnapshot::Unusable,
            },
        };
        states.into_iter().enumerate().map(|(place, state)| shown(state, &asked, place)).collect()
    }

    /// What nothing could be made of, of every owner, the oldest first; for administrators.
    pub async fn unbound_episodes(
        &self,
        caller: &Caller,
        after: Option<EpisodeId>,
        limit: usize,
    ) -> Result<Page<UnindexableEpisode, EpisodeId>, EngineError> {
        caller.require_admin()?;
        Ok(self.parts().store.read(move |tx| tx.unindexable_episodes(&SYSTEM, after, limit)).await?)
    }

    /// What has no episode: what nothing could be made of, then what was not looked at yet; for administrators.
    pub async fn without_episode(&self, caller: &Caller, limit: usize) -> Result<Vec<UnindexableEpisode>, EngineError> {
        caller.require_admin()?;
        let look = move |tx: &mut Tx<'_>| {
            let mut unbound = tx.unindexable_episodes(&SYSTEM, None, limit)?.rows;
            unbound.extend(tx.unmade_episodes(&SYSTEM, limit - unbound.len())?);
            Ok(unbound)
        };
        Ok(self.parts().store.read(look).await?)
    }
}
