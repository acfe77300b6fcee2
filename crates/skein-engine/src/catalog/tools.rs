//! Tools: one operation on one service, with the owner's secret where one is needed.

use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::sharing::{self, AffectedEntries, ImpactWarning};
use skein_core::catalog::template::ToolTemplate;
use skein_core::catalog::tool::{Tool, ToolChange, ToolDraft};
use skein_core::flow::process::Process;
use skein_core::{Digest, RecordId, ReferenceField, Viewer};
use skein_store::catalog::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{
    NewVersion, SECRET, SYSTEM, SharingChange, StoredEntry, load, load_named, make, references, save,
};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// What a tool may be made of.
const SERVICE: ReferenceField = ReferenceField::new("Z34", "serviceId", "service");
const TEMPLATE: ReferenceField = ReferenceField::new("Z34", "toolTemplateId", "tool template");

impl Engine {
    /// Makes a tool, in full or from a template.
    pub async fn create_tool(
        &self,
        caller: &Caller,
        request: Request,
        draft: ToolDraft,
    ) -> Result<CommittedChange<StoredEntry<Tool>>, EngineError> {
        let engine = self.clone();
        let create = move |tx: &mut Tx<'_>, viewer: &Viewer| create(tx, viewer, &engine, draft.clone());
        self.change(caller, request, "tool.create", create).await
    }

    /// Changes a tool; its service stays the one it was made on. Whoever switches it off learns which processes use it,
    /// and is never kept from it (decision A64).
    pub async fn change_tool(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: ToolChange,
        based_on: Digest,
    ) -> Result<CommittedChange<SharingChange<Tool>>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "tool.change", move |tx, viewer| {
            let current: StoredEntry<Tool> = load(tx, viewer, id)?;
            sharing::check_change(viewer, current.standing(), tx.now())?;
            let mut change = change.clone();
            let secret = change.take_secret(current.entry.secret_id)?;
            // A service that was taken back is hidden from the tool's owner, who may still switch the tool off.
            let service: StoredEntry<Service> = load(tx, &SYSTEM, current.entry.service_id)?;
            let secret: Option<StoredEntry<Secret>> =
                secret.map(|secret| load_named(tx, viewer, SECRET, secret)).transpose()?;
            let owned = secret.map(|secret| secret.owned());
            let judge = engine.judge(viewer.owner());
            let next = current.entry.change_by(change, current.owner, &service.owned(), owned.as_ref(), &judge)?;
            let is_switched_off = current.entry.enabled && !next.enabled;
            let warning = if is_switched_off { disabling(tx, &current)? } else { None };
            let shown = save(tx, viewer, &current, &next, NewVersion::based_on(&current, Some(based_on)))?;
            Ok(SharingChange { shown, warning })
        })
        .await
    }

    /// Lets others call a tool, at its owner's expense where it has a secret, or takes it back.
    pub async fn share_tool(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        shared: bool,
    ) -> Result<CommittedChange<SharingChange<Tool>>, EngineError> {
        self.reshare(caller, request, "tool.share", (id, shared), warning).await
    }

    /// Deletes a tool that no process uses; what others bound to it goes with it.
    pub async fn delete_tool(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<Tool>>, EngineError> {
        self.change(caller, request, "tool.delete", move |tx, viewer| {
            let current: StoredEntry<Tool> = load(tx, viewer, id)?;
            sharing::check_change(viewer, current.standing(), tx.now())?;
            let processes = tx.referring_processes(id, ReferenceKind::Tool, current.owner)?;
            sharing::check_tool_deletion(references(processes), is_in_open_run(tx, id)?)?;
            // Others bound secrets of theirs to it, which nothing else would ever let go of.
            for binding in tx.dependents(&SYSTEM, id, ReferenceKind::Tool, BINDINGS_MAX)? {
                tx.delete_record(&SYSTEM, binding, None, None)?;
            }
            tx.delete_record(viewer, id, None, None)?.try_into()
        })
        .await
    }
}

/// Most bindings that go with a tool at once.
const BINDINGS_MAX: usize = 1_000;

/// Makes a tool on what the viewer may see.
fn create(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    engine: &Engine,
    draft: ToolDraft,
) -> Result<StoredEntry<Tool>, StoreError> {
    let mut draft = filled_in(tx, viewer, draft)?;
    let secret = draft.take_secret()?;
    let secret: Option<StoredEntry<Secret>> =
        secret.map(|secret| load_named(tx, viewer, SECRET, secret)).transpose()?;
    let service: StoredEntry<Service> = load_named(tx, viewer, SERVICE, draft.service_id)?;
    let (shared, secret) = (draft.shared, secret.map(|secret| secret.owned()));
    let (owner, judge) = (viewer.owner(), engine.judge(viewer.owner()));
    make(tx, viewer, &Tool::create_by(draft, owner, &service.owned(), secret.as_ref(), &judge)?, shared)
}

fn filled_in(tx: &mut Tx<'_>, viewer: &Viewer, draft: ToolDraft) -> Result<ToolDraft, StoreError> {
    let Some(template) = draft.tool_template_id else { return Ok(draft) };
    let template: StoredEntry<ToolTemplate> = load_named(tx, viewer, TEMPLATE, template)?;
    Ok(template.owned().instantiate(draft)?)
}

fn warning(tx: &mut Tx<'_>, tool: &StoredEntry<Tool>) -> Result<Option<ImpactWarning>, StoreError> {
    let all = references(tx.referrers(tool.id, ReferenceKind::Tool, tool.owner)?);
    let processes = references(tx.referring_processes(tool.id, ReferenceKind::Tool, tool.owner)?).by_others;
    let bindings = all.by_others.saturating_sub(processes);
    Ok(sharing::unshare_warning(AffectedEntries { processes, bindings, users: all.other_owners, tools: 0 }))
}

fn disabling(tx: &mut Tx<'_>, tool: &StoredEntry<Tool>) -> Result<Option<ImpactWarning>, StoreError> {
    let found = references(tx.referring_processes(tool.id, ReferenceKind::Tool, tool.owner)?);
    let users = found.other_owners + u64::from(found.all > found.by_others);
    Ok(sharing::disable_warning(AffectedEntries { processes: found.all, users, ..AffectedEntries::default() }))
}

/// A run does what its process said when it began, whatever has become of the process since.
fn is_in_open_run(tx: &mut Tx<'_>, tool: RecordId) -> Result<bool, StoreError> {
    for (process, version) in tx.open_processes(&SYSTEM)? {
        let content = tx.record_at_version(&SYSTEM, process, version)?;
        if Process::from_data(&content.data)
            .is_some_and(|process| process.references().iter().any(|named| named.id == tool))
        {
            return Ok(true);
        }
    }
    Ok(false)
}
