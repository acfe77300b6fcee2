//! Edges: made, looked for, followed, changed and removed where their kind allows it.

use skein_core::RelationId;
use skein_core::garden::relation::{Endpoint, Relation, RelationAttributes, RelationDraft, RelationKind};
use skein_store::StoreError;
use skein_store::timeline::items::Page;
use skein_store::timeline::relations::{RelationPathStep, RelationSide};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// Which edges to list.
#[derive(Debug, Clone, Copy)]
pub struct RelationQuery {
    /// The thing they meet at.
    pub of: Endpoint,
    /// Whether they lead away from it or to it.
    pub side: RelationSide,
    /// Of which kind, if not of all.
    pub kind: Option<RelationKind>,
    /// Where the last page ended.
    pub after: Option<RelationId>,
    /// How many.
    pub limit: usize,
}

impl Engine {
    /// Makes an edge between two things the caller may see.
    pub async fn relate(
        &self,
        caller: &Caller,
        request: Request,
        (kind, source, target): (RelationKind, Endpoint, Endpoint),
        qualities: RelationAttributes,
    ) -> Result<CommittedChange<Relation>, EngineError> {
        kind.check_stated().map_err(StoreError::from)?;
        let draft = RelationDraft::new(kind, source, target, qualities).map_err(StoreError::Item)?;
        self.change(caller, request, "relation.create", move |tx, viewer| tx.relate(viewer, &draft)).await
    }

    /// Changes confidence and metadata of an edge that is not frozen.
    pub async fn edit_relation(
        &self,
        caller: &Caller,
        request: Request,
        id: RelationId,
        qualities: RelationAttributes,
    ) -> Result<CommittedChange<Relation>, EngineError> {
        self.change(caller, request, "relation.edit", move |tx, viewer| {
            tx.edit_relation(viewer, id, &qualities)?;
            tx.relation(viewer, id)
        })
        .await
    }

    /// Removes an edge that is not frozen; what comes out is how it was.
    pub async fn remove_relation(
        &self,
        caller: &Caller,
        request: Request,
        id: RelationId,
        reason: String,
    ) -> Result<CommittedChange<Relation>, EngineError> {
        self.change(caller, request, "relation.remove", move |tx, viewer| {
            let before = tx.relation(viewer, id)?;
            tx.remove_relation(viewer, id, &reason)?;
            Ok(before)
        })
        .await
    }

    /// One edge.
    pub async fn relation(&self, caller: &Caller, id: RelationId) -> Result<Relation, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.relation(&viewer, id)).await?)
    }

    /// The caller's edges at a thing.
    pub async fn relations(
        &self,
        caller: &Caller,
        query: RelationQuery,
    ) -> Result<Page<Relation, RelationId>, EngineError> {
        let viewer = caller.viewer();
        let RelationQuery { of, side, kind, after, limit } = query;
        Ok(self.parts().store.read(move |tx| tx.relations(&viewer, of, side, kind, after, limit)).await?)
    }

    /// Everything reached from a thing along one kind of edge, nearest first.
    pub async fn chain(
        &self,
        caller: &Caller,
        from: Endpoint,
        side: RelationSide,
        kind: RelationKind,
        steps_max: usize,
    ) -> Result<Vec<RelationPathStep>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.chain(&viewer, from, side, kind, steps_max)).await?)
    }
}
