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
    /// Files everything that an actor said under the name it has now; where that is so already, nothing is done. Whoever dies
    /// meanwhile begins again, and what was filed before stays as it is.
    pub(super) async fn retell(
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
            let (index, embedder, names) = (Arc::clone(index), Arc::clone(&memory.embedder), names.clone());
            let applied = blocking(move || index.apply(&changes(told, &names, &*embedder), index.cursor()));
            if let Err(error) = applied.await? {
                memory.close();
                return Err(unusable(error));
            }
        }
    }
}
