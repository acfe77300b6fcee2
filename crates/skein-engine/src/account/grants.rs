//! Grants: an administrator asks for a look at somebody's things, on the record (decision Z23).

use serde_json::{Value, json};
use skein_core::account::GrantDraft;
use skein_core::{ItemId, Viewer};
use skein_store::account::grants::GivenGrant;
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request, referred};

impl Outcome for GivenGrant {
    fn reference(&self) -> Value {
        json!({ "grant": self.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        tx.grant(viewer, referred(reference, "grant")?)
    }
}

impl Engine {
    /// Gives the caller, an administrator, a look at another user's things. That user sees it at once.
    pub async fn give_grant(
        &self,
        caller: &Caller,
        request: Request,
        draft: GrantDraft,
    ) -> Result<CommittedChange<GivenGrant>, EngineError> {
        caller.require_admin()?;
        let acting = caller.acting();
        self.change_admitted(caller, request, "grant.give", move |tx, _| tx.give_grant(&acting, &draft)).await
    }

    /// Ends a grant the caller holds, or one on the caller's things.
    pub async fn end_grant(
        &self,
        caller: &Caller,
        request: Request,
        id: ItemId,
    ) -> Result<CommittedChange<GivenGrant>, EngineError> {
        let acting = caller.acting();
        self.change(caller, request, "grant.end", move |tx, _| tx.end_grant(&acting, id)).await
    }

    /// Grants on the caller's things and grants the caller holds.
    pub async fn grants(
        &self,
        caller: &Caller,
        before: Option<ItemId>,
        limit: usize,
    ) -> Result<Page<GivenGrant, ItemId>, EngineError> {
        let acting = caller.acting();
        Ok(self.parts().store.read(move |tx| tx.grants(&acting, before, limit)).await?)
    }
}
