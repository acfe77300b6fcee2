//! Services: made in full or from a template, changed by their owner, deleted once no tool stands on them.

use skein_core::catalog::service::{Service, ServiceChange, ServiceDraft};
use skein_core::catalog::sharing::{self, AffectedEntries, ImpactWarning};
use skein_core::catalog::template::ServiceTemplate;
use skein_core::{Digest, RecordId, ReferenceField, Viewer};
use skein_store::catalog::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{NewVersion, SharingChange, StoredEntry, load, load_named, make, references, save};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// What a service may be made of.
const TEMPLATE: ReferenceField = ReferenceField::new("Z34", "serviceTemplateId", "service template");

impl Engine {
    /// Makes a service, in full or from a template.
    pub async fn create_service(
        &self,
        caller: &Caller,
        request: Request,
        draft: ServiceDraft,
    ) -> Result<CommittedChange<StoredEntry<Service>>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "service.create", move |tx, viewer| {
            let draft = filled_in(tx, viewer, draft.clone())?;
            let shared = draft.shared;
            make(tx, viewer, &Service::create_by(draft, &engine.judge(viewer.owner()))?, shared)
        })
        .await
    }

    /// Changes a service; its tools are judged by the new schema when they are next used or checked.
    pub async fn change_service(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: ServiceChange,
        based_on: Digest,
    ) -> Result<CommittedChange<StoredEntry<Service>>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "service.change", move |tx, viewer| {
            let current: StoredEntry<Service> = load(tx, viewer, id)?;
            let next = current.entry.change_by(change.clone(), &engine.judge(viewer.owner()))?;
            save(tx, viewer, &current, &next, NewVersion::based_on(&current, Some(based_on)))
        })
        .await
    }

    /// Lets others stand their tools on a service, or takes it back.
    pub async fn share_service(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        shared: bool,
    ) -> Result<CommittedChange<SharingChange<Service>>, EngineError> {
        self.reshare(caller, request, "service.share", (id, shared), warning).await
    }

    /// Deletes a service that no tool stands on.
    pub async fn delete_service(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<Service>>, EngineError> {
        self.change(caller, request, "service.delete", move |tx, viewer| {
            let current: StoredEntry<Service> = load(tx, viewer, id)?;
            sharing::check_change(viewer, current.standing(), tx.now())?;
            sharing::check_service_deletion(references(tx.referrers(id, ReferenceKind::Service, current.owner)?))?;
            tx.delete_record(viewer, id, None, None)?.try_into()
        })
        .await
    }
}

fn filled_in(tx: &mut Tx<'_>, viewer: &Viewer, draft: ServiceDraft) -> Result<ServiceDraft, StoreError> {
    let Some(template) = draft.service_template_id else { return Ok(draft) };
    let template: StoredEntry<ServiceTemplate> = load_named(tx, viewer, TEMPLATE, template)?;
    Ok(template.owned().instantiate(draft)?)
}

fn warning(tx: &mut Tx<'_>, service: &StoredEntry<Service>) -> Result<Option<ImpactWarning>, StoreError> {
    let tools = references(tx.referrers(service.id, ReferenceKind::Service, service.owner)?).by_others;
    let (processes, users) = tx.processes_above(service.id, service.owner)?;
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    let affected = AffectedEntries { tools, processes: count(processes), users: count(users), bindings: 0 };
    Ok(sharing::unshare_warning(affected))
}
