//! Actors: who writes besides people themselves, and what each may do.

use skein_core::catalog::entry::Entry as _;
use skein_core::tree::actor::{Actor, ActorChange, ActorDraft, ActorId};
use skein_core::{Digest, RecordId, RuleViolation, Viewer};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// How many actors are read at once.
const ACTORS_PER_READ: usize = 100;

impl Engine {
    /// The caller's actors, oldest first, archived ones too.
    pub async fn actors(
        &self,
        caller: &Caller,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<StoredEntry<Actor>, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.records(&viewer, &Actor::record_type(), after, limit)?;
            let rows = page.rows.into_iter().map(StoredEntry::try_from).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// One actor.
    pub async fn actor(&self, caller: &Caller, id: RecordId) -> Result<StoredEntry<Actor>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| load(tx, &viewer, id)).await?)
    }

    /// Describes somebody who can write.
    pub async fn create_actor(
        &self,
        caller: &Caller,
        request: Request,
        draft: ActorDraft,
    ) -> Result<CommittedChange<StoredEntry<Actor>>, EngineError> {
        let actor = Actor::create(draft).map_err(StoreError::from)?;
        self.change(caller, request, "actor.create", move |tx, viewer| {
            refuse_rival(tx, viewer, None, &actor)?;
            tx.create_of_tree(viewer, actor.to_content(false))?.try_into()
        })
        .await
    }

    /// Changes an actor; what it wrote keeps the author it had.
    pub async fn change_actor(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: ActorChange,
        based_on: Digest,
    ) -> Result<CommittedChange<StoredEntry<Actor>>, EngineError> {
        self.change(caller, request, "actor.change", move |tx, viewer| {
            let actor = load(tx, viewer, id)?.entry;
            let has_written = !tx.nodes_by_author(viewer, ActorId::from(id), None, 1)?.rows.is_empty();
            let next = actor.change(change.clone(), has_written)?;
            if next.model_ref != actor.model_ref || (actor.archived && !next.archived) {
                refuse_rival(tx, viewer, Some(id), &next)?;
            }
            tx.update_of_tree(viewer, id, based_on, next.to_content(false))?.try_into()
        })
        .await
    }
}

/// Refuses a second actor of one model: only the first would ever answer.
fn refuse_rival(tx: &mut Tx<'_>, viewer: &Viewer, id: Option<RecordId>, actor: &Actor) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = tx.records(viewer, &Actor::record_type(), after, ACTORS_PER_READ)?;
        for record in page.rows.into_iter().filter(|record| Some(record.id) != id) {
            let other = StoredEntry::<Actor>::try_from(record)?;
            if other.entry.is_rival_of(actor) {
                let problem = format!("{} answers for this model already", other.id);
                return Err(RuleViolation::new("AG-NODE-003", problem, "change or archive that actor instead").into());
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn load(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<StoredEntry<Actor>, StoreError> {
    tx.record(viewer, id)?.try_into()
}
