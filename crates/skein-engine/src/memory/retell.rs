//! Telling the index again what somebody said who is called otherwise now: who is named in a question is found by the name
//! that people know.

use std::sync::Arc;

use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, UserId};
use skein_recall::Index;
use skein_store::memory::{Followed, INGESTED_ITEMS_MAX};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::follow::{blocking, changes, spoken_name, unusable};
use crate::memory::{Memory, SYSTEM};

impl Engine {
    /// [`Self::retell`] for whoever was renamed among these.
    pub(super) async fn retell_renamed(
        &self,
        memory: &Memory,
        index: &Arc<Index>,
        followed: &[Followed],
    ) -> Result<(), EngineError> {
        for followed in followed {
            if let Followed::Renamed { owner, actor } = followed {
                self.retell(memory, index, *owner, *actor).await?;
            }
        }
        Ok(())
    }

    /// Files everything that an actor said under the name it has now; where that is so already, nothing is done. Whoever dies
    /// meanwhile begins again, and what was filed before stays as it is.
    async fn retell(
        &self,
        memory: &Memory,
        index: &Arc<Index>,
        owner: UserId,
        actor: ActorId,
    ) -> Result<(), EngineError> {
        let store = &self.parts().store;
        let names = store.read(move |tx| tx.actor_names(&SYSTEM, &[actor])).await?;
        if index.is_named(owner, actor, &spoken_name(names.get(&actor).cloned().unwrap_or_default())) {
            return Ok(());
        }
        let mut after: Option<EpisodeId> = None;
        loop {
            let told = store.read(move |tx| tx.episodes_by(&SYSTEM, owner, actor, after, INGESTED_ITEMS_MAX)).await?;
            let last = told.iter().rev().find_map(|told| match told {
                Followed::Made(made) => Some(made.state.episode.id),
                _ => None,
            });
            if last.is_none() {
                return Ok(());
            }
            after = last;
            let names = names.clone();
            let told = blocking(move || changes(told, &names)).await?;
            let (index, told) = (Arc::clone(index), self.with_vectors(memory, index, told).await?);
            if let Err(error) = blocking(move || index.apply(&told, index.cursor())).await? {
                memory.close();
                return Err(unusable(error));
            }
        }
    }
}
