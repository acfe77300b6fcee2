//! Processes as entries of the catalogue: made, changed, judged, put away.
//!
//! A process is its owner's alone. What it names may be others', if they share it, and is judged whenever what the process
//! does changes or it is switched on; one whose tools were taken back can still be renamed and switched off.

use skein_core::account::Viewer;
use skein_core::flow::process::{Process, ProcessChange, ProcessDraft};
use skein_core::flow::process_permissions;
use skein_core::flow::process_permissions::ProcessDependents;
use skein_core::flow::validation;
use skein_core::flow::validation::Violations;
use skein_core::garden::record::Act;
use skein_core::{Digest, RecordId, RuleViolation, UserId};
use skein_store::catalog::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{NewVersion, Restoration, StoredEntry, load, make, references, save};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::process::default_process::adopt;
use crate::flow::process::targets::{Targets, ValidatedVersions};
use crate::request::{CommittedChange, Request};

impl Engine {
    /// A process of the caller's, as it is or as it was in a version.
    pub async fn process(
        &self,
        caller: &Caller,
        id: RecordId,
        version: Option<i64>,
    ) -> Result<StoredEntry<Process>, EngineError> {
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
    ) -> Result<CommittedChange<StoredEntry<Process>>, EngineError> {
        let made = self.compute().run(caller.user, move || Process::create(draft)).await?;
        let ahead = match &made {
            Ok(process) => Some(self.judge_ahead(caller, process.clone(), None).await?),
            Err(_) => None,
        };
        let engine = self.clone();
        self.change(caller, request, "process.create", move |tx, viewer| {
            let process = made.clone()?;
            check_targets(tx, &engine, viewer.owner(), &process, None, ahead.as_ref())?;
            let made = make(tx, viewer, &process, false)?;
            adopt(tx, viewer, &made)?;
            Ok(made)
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
    ) -> Result<CommittedChange<StoredEntry<Process>>, EngineError> {
        let ahead = self.change_ahead(caller, id, &change).await?;
        let engine = self.clone();
        self.change(caller, request, "process.change", move |tx, viewer| {
            let current = own_process(tx, viewer, id)?;
            let ahead = ahead.as_ref().filter(|ahead| ahead.of == current.hash);
            let next = ahead.map_or_else(|| current.entry.change(change.clone()), |ahead| ahead.next.clone())?;
            if is_judged_anew(&current.entry, &next) {
                let judged = ahead.and_then(|ahead| ahead.judged.as_ref());
                check_targets(tx, &engine, current.owner, &next, Some(&current), judged)?;
            }
            let saved = save(tx, viewer, &current, &next, NewVersion::based_on(&current, Some(based_on)))?;
            adopt(tx, viewer, &saved)?;
            Ok(saved)
        })
        .await
    }

    /// Puts a process away that nothing holds on to; its id stands in what it did (decision Z17).
    pub async fn delete_process(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<Process>>, EngineError> {
        self.change(caller, request, "process.delete", move |tx, viewer| {
            let current = own_process(tx, viewer, id)?;
            process_permissions::check_deletion(&current.entry, ties(tx, &current)?)?;
            let saving = NewVersion { act: Act::Archived, ..NewVersion::of(&current) };
            save(tx, viewer, &current, &current.entry.archive(), saving)
        })
        .await
    }

    /// All that keeps a draft from being a process of the caller's; nothing if it could be made.
    pub async fn validate_process(&self, caller: &Caller, draft: ProcessDraft) -> Result<Violations, EngineError> {
        let judge = move || {
            let found = validation::of_draft(&draft);
            Process::create(draft).map_err(|_| found)
        };
        let process = match self.compute().run(caller.user, judge).await? {
            Ok(process) => process,
            Err(found) => return Ok(found),
        };
        let owner = caller.viewer().subject();
        let look = move |tx: &mut Tx<'_>| Ok((Targets::load(tx, &process, owner, None)?, process));
        let (targets, process) = self.parts().store.read(look).await?;
        Ok(self.compute().run(caller.user, move || targets.breaches(&process)).await?)
    }

    /// Judges a process by its targets before the transaction that keeps it.
    async fn judge_ahead(
        &self,
        caller: &Caller,
        process: Process,
        before: Option<StoredEntry<Process>>,
    ) -> Result<TargetValidation, EngineError> {
        let owner = before.as_ref().map_or_else(|| caller.acting().owner(), |before| before.owner);
        let look = move |tx: &mut Tx<'_>| Ok((load_targets(tx, owner, &process, before.as_ref())?, process));
        let (targets, process) = self.parts().store.read(look).await?;
        let judge = move || TargetValidation { verdict: targets.check(&process), editions: targets.editions(&process) };
        Ok(self.compute().run(caller.user, judge).await?)
    }

    /// A process after a change, before the transaction that keeps it; nothing if it is not the caller's to change, which
    /// the transaction refuses.
    async fn change_ahead(
        &self,
        caller: &Caller,
        id: RecordId,
        change: &ProcessChange,
    ) -> Result<Option<PreparedChange>, EngineError> {
        let viewer = caller.acting();
        let look = move |tx: &mut Tx<'_>| own_process(tx, &viewer, id);
        let Ok(current) = self.parts().store.read(look).await else { return Ok(None) };
        let (before, change) = (current.entry.clone(), change.clone());
        let next = self.compute().run(caller.user, move || before.change(change)).await?;
        let of = current.hash;
        let judged = match &next {
            Ok(next) if is_judged_anew(&current.entry, next) => {
                Some(self.judge_ahead(caller, next.clone(), Some(current)).await?)
            }
            _ => None,
        };
        Ok(Some(PreparedChange { of, next, judged }))
    }
}

/// What came of judging a process by its targets. Judging takes long for large definitions, and the writing thread must not
/// wait for it: the transaction only looks whether the targets are still the same.
struct TargetValidation {
    editions: ValidatedVersions,
    verdict: Result<(), RuleViolation>,
}

/// What a change makes of a process.
struct PreparedChange {
    /// The hash of the process it was worked out from.
    of: Digest,
    next: Result<Process, RuleViolation>,
    judged: Option<TargetValidation>,
}

fn is_judged_anew(current: &Process, next: &Process) -> bool {
    let is_switched_on = next.enabled && !current.enabled;
    next.definition_version > current.definition_version || is_switched_on
}

fn load_targets(
    tx: &mut Tx<'_>,
    owner: UserId,
    process: &Process,
    before: Option<&StoredEntry<Process>>,
) -> Result<Targets, StoreError> {
    let mut targets = Targets::load(tx, process, owner, before.map(|before| &before.entry))?;
    if let Some(before) = before {
        targets.put(before.id, process);
    }
    Ok(targets)
}

/// Whether a process may be kept with its targets, by what was judged ahead if they are still what they were.
fn check_targets(
    tx: &mut Tx<'_>,
    engine: &Engine,
    owner: UserId,
    process: &Process,
    before: Option<&StoredEntry<Process>>,
    ahead: Option<&TargetValidation>,
) -> Result<(), StoreError> {
    if let Some(ahead) = ahead
        && Targets::are_as_judged(tx, &ahead.editions)?
    {
        return Ok(ahead.verdict.clone()?);
    }
    engine.judge(owner).check_targets(process, &load_targets(tx, owner, process, before)?)
}

/// A process that the viewer may alter. One they cannot see is not there (decision A16).
fn own_process(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<StoredEntry<Process>, StoreError> {
    let process: StoredEntry<Process> = load(tx, viewer, id)?;
    process_permissions::check_owner(viewer, process.owner, tx.now())?;
    Ok(process)
}

fn ties(tx: &mut Tx<'_>, process: &StoredEntry<Process>) -> Result<ProcessDependents, StoreError> {
    Ok(ProcessDependents {
        conversations: u64::try_from(tx.hints_at(process.id)?).unwrap_or_default(),
        callers: references(tx.referring_processes(process.id, ReferenceKind::Process, process.owner)?).all,
        has_open_run: tx.has_open_execution(process.id)?,
    })
}

/// Whether a process may be again what it was, judged as a change that says the same.
pub(crate) fn check_restored_process(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    engine: &Engine,
    restoring: &Restoration<'_, Process>,
) -> Result<(), StoreError> {
    let Restoration { current, next, is_gone } = restoring;
    process_permissions::check_owner(viewer, current.owner, tx.now())?;
    if !*is_gone && !is_judged_anew(&current.entry, next) {
        return Ok(());
    }
    check_targets(tx, engine, current.owner, next, Some(current), None)
}
