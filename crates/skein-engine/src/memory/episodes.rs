//! Episodes themselves: brought from elsewhere, listed, and how far remembering has come.

use skein_core::memory::episode::{Brought, Episode};
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, RuleViolation};
use skein_store::items::{Page, StoredItem};
use skein_store::memory::EpisodeState;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::SYSTEM;
use crate::request::{Changed, Request};

/// Content somebody brings, and when it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct BroughtEpisode {
    /// What it is.
    pub brought: Brought,
    /// When it was said, if not now.
    pub said_at: Option<Millis>,
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
}

impl From<EpisodeState> for ShownEpisode {
    fn from(state: EpisodeState) -> Self {
        let EpisodeState { episode, text, speaker } = state;
        Self { name: episode.name(text.as_deref().unwrap_or_default()), episode, text, speaker }
    }
}

impl Engine {
    /// Keeps content that an agent brings: an item, which is remembered a moment later under the same bits.
    pub async fn bring_episode(
        &self,
        caller: &Caller,
        request: Request,
        brought: BroughtEpisode,
    ) -> Result<Changed<StoredItem>, EngineError> {
        let draft = brought.brought.to_draft(brought.said_at).map_err(StoreError::from)?;
        self.change(caller, request, "episode.bring", move |tx, viewer| {
            if let Some(node) = brought.brought.node_id {
                let row = tx.node(viewer, node)?;
                if row.owner != viewer.owner() {
                    return Err(StoreError::NotFound(node.to_string()));
                }
                if row.label().is_none() {
                    let problem = "a remark stands beside the conversation's course";
                    return Err(RuleViolation::new("AG-EDGE-004", problem, "name the node it is about").into());
                }
            }
            tx.append_item(viewer, &draft)
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
        Ok(Page { rows: page.rows.into_iter().map(ShownEpisode::from).collect(), next: page.next })
    }

    /// One of the caller's episodes.
    pub async fn episode(&self, caller: &Caller, id: EpisodeId) -> Result<ShownEpisode, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.episode(&viewer, id)).await?.into())
    }

    /// Nodes of anybody's that have no episode yet, the oldest first; for administrators.
    pub async fn unbound_nodes(&self, caller: &Caller, limit: usize) -> Result<Vec<NodeId>, EngineError> {
        caller.require_admin()?;
        Ok(self.parts().store.read(move |tx: &mut Tx<'_>| tx.unbound_nodes(&SYSTEM, limit)).await?)
    }
}
