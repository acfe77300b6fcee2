//! Processes as entries of the catalogue: made, changed, judged, put away.
//!
//! A process is its owner's alone. What it names may be others', if they share it, and is judged whenever what the process
//! does changes or it is switched on; one whose tools were taken back can still be renamed and switched off.

use skein_core::account::Viewer;
use skein_core::flow::breaches::{self, Breach};
use skein_core::flow::custody::{self, Ties};
use skein_core::flow::process::{Process, ProcessChange, ProcessDraft};
use skein_core::garden::record::Act;
use skein_core::{Digest, RecordId};
use skein_store::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{Restoring, Saving, Shown, load, make, references, save};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::targets::Targets;
use crate::request::{Changed, Request};

impl Engine {
    /// A process of the caller's, as it is or as it was in a version.
    pub async fn process(
        &self,
        caller: &Caller,
        id: RecordId,
        version: Option<i64>,
    ) -> Result<Shown<Process>, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| match version {
            None => load(tx, &viewer, id),
            Some(version) => tx.record_version(&viewer, id, version)?.try_into(),
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// Makes a process of the caller's.
    pub async fn create_process(
        &self,
        caller: &Caller,
        request: Request,
        draft: ProcessDraft,
    ) -> Result<Changed<Shown<Process>>, EngineError> {
        self.change(caller, request, "process.create", move |tx, viewer| {
            let process = Process::create(draft.clone())?;
            Targets::load(tx, &process, viewer.owner(), None)?.check(&process)?;
            make(tx, viewer, &process, false)
        })
        .await
    }

    /// Changes a process; what runs goes on as it was when it began.
    pub async fn change_process(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: ProcessChange,
        based_on: Digest,
    ) -> Result<Changed<Shown<Process>>, EngineError> {
        self.change(caller, request, "process.change", move |tx, viewer| {
            let current = own_process(tx, viewer, id)?;
            let next = current.entry.change(change.clone())?;
            let is_switched_on = next.enabled && !current.entry.enabled;
            if next.definition_version > current.entry.definition_version || is_switched_on {
                let mut targets = Targets::load(tx, &next, current.owner, Some(&current.entry))?;
                targets.put(id, &next);
                targets.check(&next)?;
            }
            save(tx, viewer, &current, &next, Saving::based_on(&current, Some(based_on)))
        })
        .await
    }

    /// Puts a process away that nothing holds on to; its id stands in what it did (decision Z17).
    pub async fn delete_process(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<Changed<Shown<Process>>, EngineError> {
        self.change(caller, request, "process.delete", move |tx, viewer| {
            let current = own_process(tx, viewer, id)?;
            custody::check_deletion(&current.entry, ties(tx, &current)?)?;
            let saving = Saving { act: Act::Archived, ..Saving::of(&current) };
            save(tx, viewer, &current, &current.entry.archive(), saving)
        })
        .await
    }

    /// All that keeps a draft from being a process of the caller's; nothing if it could be made.
    pub async fn validate_process(&self, caller: &Caller, draft: ProcessDraft) -> Result<Vec<Breach>, EngineError> {
        let found = breaches::of_draft(&draft);
        if !found.is_empty() {
            return Ok(found);
        }
        let owner = caller.viewer().subject();
        let look = move |tx: &mut Tx<'_>| {
            let process = Process::create(draft.clone())?;
            Ok(Targets::load(tx, &process, owner, None)?.breaches(&process))
        };
        Ok(self.parts().store.read(look).await?)
    }
}

/// A process that the viewer may alter. One they cannot see is not there (decision A16).
fn own_process(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<Shown<Process>, StoreError> {
    let process: Shown<Process> = load(tx, viewer, id)?;
    custody::check_owner(viewer, process.owner, tx.now())?;
    Ok(process)
}

fn ties(tx: &mut Tx<'_>, process: &Shown<Process>) -> Result<Ties, StoreError> {
    Ok(Ties {
        conversations: u64::try_from(tx.hints_at(process.id)?).unwrap_or_default(),
        callers: references(tx.referring_processes(process.id, ReferenceKind::Process, process.owner)?).all,
        has_open_run: tx.has_open_execution(process.id)?,
    })
}

/// Whether a process may be again what it was, judged as a change that says the same.
pub(crate) fn check_restored_process(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    restoring: &Restoring<'_, Process>,
) -> Result<(), StoreError> {
    let Restoring { current, next, is_gone } = restoring;
    custody::check_owner(viewer, current.owner, tx.now())?;
    let is_switched_on = next.enabled && !current.entry.enabled;
    if !(*is_gone || is_switched_on || next.definition_version > current.entry.definition_version) {
        return Ok(());
    }
    let mut targets = Targets::load(tx, next, current.owner, Some(&current.entry))?;
    targets.put(current.id, next);
    Ok(targets.check(next)?)
}
