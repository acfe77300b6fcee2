//! Allows services to call addresses on this machine: one recorded decision of an administrator each (decision Z24).
//!
//! The decisions are records of the installation. The network guard of each server follows them: at its start, with
//! each change made here, and by looking again every few seconds for what other servers decided.

use std::collections::BTreeSet;

use skein_connect::guard::{Endpoint, Guard};
use skein_core::catalog::endpoint::AllowedEndpoint;
use skein_core::catalog::entry::Entry as _;
use skein_core::garden::event::EventName;
use skein_core::{RecordId, RuleViolation};
use skein_store::catalog::entries::{OwnershipFilter, VisibleQuery};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{SYSTEM, StoredEntry, load, make, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// Decisions read at once.
const PAGE: usize = 1_000;

impl Engine {
    /// What is allowed, for administrators.
    pub async fn allowed_endpoints(
        &self,
        caller: &Caller,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<StoredEntry<AllowedEndpoint>, RecordId>, EngineError> {
        caller.require_admin()?;
        Ok(self.parts().store.read(move |tx| allowed(tx, after, limit)).await?)
    }

    /// Allows services to call an address on this machine, unless the decision would have no effect.
    pub async fn allow_endpoint(
        &self,
        caller: &Caller,
        request: Request,
        host: &str,
        port: u16,
    ) -> Result<CommittedChange<StoredEntry<AllowedEndpoint>>, EngineError> {
        caller.require_admin()?;
        let entry = AllowedEndpoint::create(host, port).map_err(StoreError::from)?;
        let guard = self.parts().gateway.guard().clone();
        let made = self.change_admitted(caller, request, "endpoint.allow", move |tx, viewer| {
            check_effect(&guard, &entry)?;
            let named = tx.record_named(&SYSTEM, &AllowedEndpoint::record_type(), &entry.name)?;
            let shown = match named {
                Some(record) => record.try_into()?,
                None => make(tx, &SYSTEM, &entry, false)?,
            };
            tx.tell_own(viewer, EventName::EndpointAllowed, Some(&shown.id.to_string()), told(&entry))?;
            Ok(shown)
        });
        let made = made.await?;
        self.follow_endpoints().await?;
        Ok(made)
    }

    /// Refuses an address again.
    pub async fn refuse_endpoint(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<AllowedEndpoint>>, EngineError> {
        caller.require_admin()?;
        let refused = self.change_admitted(caller, request, "endpoint.refuse", move |tx, viewer| {
            let current: StoredEntry<AllowedEndpoint> = load(tx, &SYSTEM, id)?;
            tx.tell_own(viewer, EventName::EndpointRefused, Some(&id.to_string()), told(&current.entry))?;
            tx.delete_record(&SYSTEM, id, None, None)?.try_into()
        });
        let refused = refused.await?;
        self.follow_endpoints().await?;
        Ok(refused)
    }

    /// Makes the network guard follow the decisions as they stand.
    pub async fn follow_endpoints(&self) -> Result<(), EngineError> {
        let read = |tx: &mut Tx<'_>| {
            let (mut found, mut after) = (BTreeSet::new(), None);
            loop {
                let page = allowed(tx, after, PAGE)?;
                found.extend(page.rows.iter().map(|row| Endpoint::new(&row.entry.host, row.entry.port)));
                after = page.next;
                if after.is_none() {
                    return Ok(found);
                }
            }
        };
        // One at a time: what was read first must not be followed last.
        let _turn = self.parts().following.lock().await;
        let found = self.parts().store.read(read).await?;
        self.parts().gateway.guard().change(|policy| policy.loopback = found);
        Ok(())
    }
}

/// Z24: refuses to record a decision about an address that is never called, or that is called without one.
fn check_effect(guard: &Guard, entry: &AllowedEndpoint) -> Result<(), RuleViolation> {
    let remedy = "name a host and port on this machine other than Skein's own: 127.0.0.1 and 11434";
    let checked = guard.check_decision(&Endpoint::new(&entry.host, entry.port));
    checked.map_err(|ineffective| RuleViolation::new("Z24", ineffective.to_string(), remedy))
}

fn allowed(
    tx: &mut Tx<'_>,
    after: Option<RecordId>,
    limit: usize,
) -> Result<Page<StoredEntry<AllowedEndpoint>, RecordId>, StoreError> {
    let of_all = VisibleQuery::of(AllowedEndpoint::record_type(), limit);
    shown_page(tx.records_visible(&SYSTEM, &VisibleQuery { whose: OwnershipFilter::Own, after, ..of_all })?)
}

fn told(entry: &AllowedEndpoint) -> serde_json::Map<String, serde_json::Value> {
    serde_json::Map::from_iter([("endpoint".to_owned(), serde_json::json!(entry.name))])
}
