//! Actors: who writes besides people themselves, and what each may do.

use skein_core::catalog::entry::Entry as _;
use skein_core::tree::actor::{Actor, ActorChange, ActorDraft};
use skein_core::{Digest, RecordId, Viewer};
use skein_store::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::Shown;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Request};

impl Engine {
    /// The caller's actors, oldest first, archived ones too.
    pub async fn actors(
        &self,
        caller: &Caller,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<Shown<Actor>, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.records(&viewer, &Actor::record_type(), after, limit)?;
            let rows = page.rows.into_iter().map(Shown::try_from).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// One actor.
    pub async fn actor(&self, caller: &Caller, id: RecordId) -> Result<Shown<Actor>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| load(tx, &viewer, id)).await?)
    }

    /// Describes somebody who can write.
    pub async fn create_actor(
        &self,
        caller: &Caller,
        request: Request,
        draft: ActorDraft,
    ) -> Result<Changed<Shown<Actor>>, EngineError> {
        let actor = Actor::create(draft).map_err(StoreError::from)?;
        self.change(caller, request, "actor.create", move |tx, viewer| {
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
    ) -> Result<Changed<Shown<Actor>>, EngineError> {
        self.change(caller, request, "actor.change", move |tx, viewer| {
            let next = load(tx, viewer, id)?.entry.change(change.clone())?;
            tx.update_of_tree(viewer, id, based_on, next.to_content(false))?.try_into()
        })
        .await
    }
}

fn load(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<Shown<Actor>, StoreError> {
    tx.record(viewer, id)?.try_into()
}
