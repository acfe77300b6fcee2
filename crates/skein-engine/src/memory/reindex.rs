//! Reindexes the episodes of a speaker whose name changed.

use std::sync::Arc;

use skein_recall::Index;
use skein_store::Tx;
use skein_store::memory::IndexChange;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::follower::{blocking, changes, spoken_name};
use crate::memory::{Memory, SYSTEM};

/// Episodes of one page: whoever says something meanwhile waits for no more than that.
const RETOLD_MAX: usize = 256;

impl Engine {
    /// Notes who was renamed among these, as far as the index calls them otherwise.
    pub(super) async fn note_renamed(
        &self,
        memory: &Memory,
        index: &Arc<Index>,
        followed: &[IndexChange],
    ) -> Result<(), EngineError> {
        let renamed = followed.iter().filter_map(|followed| match followed {
            IndexChange::Renamed { owner, actor } => Some((*owner, *actor)),
            _ => None,
        });
        let renamed: Vec<_> = renamed.collect();
        if renamed.is_empty() {
            return Ok(());
        }
        let actors: Vec<_> = renamed.iter().map(|(_, actor)| *actor).collect();
        let names = self.parts().store.read(move |tx| tx.actor_names(&SYSTEM, &actors)).await?;
        let noting = Arc::clone(index);
        let note = move || {
            let mut others = Vec::new();
            for (owner, actor) in renamed {
                let name = spoken_name(names.get(&actor).cloned().unwrap_or_default());
                if !noting.is_named(owner, actor, &name)? {
                    others.push((owner, actor));
                }
            }
            if others.is_empty() { Ok(()) } else { noting.reindex(&others) }
        };
        self.usable(memory, index, blocking(note).await?).await
    }

    /// Files a page of what somebody said under the name they have now; whether anybody was to be told anew.
    pub(super) async fn retell_some(&self, memory: &Memory, index: &Arc<Index>) -> Result<bool, EngineError> {
        let Some(told) = index.reindexing() else { return Ok(false) };
        let look = move |tx: &mut Tx<'_>| {
            let page = tx.episodes_by(&SYSTEM, told.owner, told.actor, told.after, RETOLD_MAX)?;
            Ok((page, tx.actor_names(&SYSTEM, &[told.actor])?))
        };
        let (page, names) = self.parts().store.read(look).await?;
        let last = page.iter().rev().find_map(|followed| match followed {
            IndexChange::Made(made) => Some(made.state.episode.id),
            _ => None,
        });
        let page = blocking(move || changes(page, &names)).await?;
        let (telling, page) = (Arc::clone(index), self.with_vectors(memory, index, page).await?);
        let applied = blocking(move || telling.apply_reindexed(told, &page, last)).await?;
        self.usable(memory, index, applied).await?;
        Ok(true)
    }
}
