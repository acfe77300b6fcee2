//! Taking an earlier state of an entry up again: a deletion undone, a change taken back. It is a change like any other, judged as
//! one would be that says the same.

use serde_json::{Map, Value};
use skein_core::catalog::entry::Entry;
use skein_core::catalog::restore;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::catalog::template::{ServiceTemplate, ToolTemplate};
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval::StandingApproval;
use skein_core::flow::process::Process;
use skein_core::garden::record::{DELETED_AT, Record, RecordContent};
use skein_core::{Digest, RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{StoredEntry, load};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::{check_restored_approval, check_restored_process};
use crate::request::{CommittedChange, Request};

impl Engine {
    /// Makes a record say again what it said in an earlier version; without one, what it said before its last change.
    pub async fn restore_record(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        version: Option<i64>,
        based_on: Option<Digest>,
    ) -> Result<CommittedChange<Record>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "record.restore", move |tx, viewer| {
            let current = tx.record_even_deleted(viewer, id)?;
            let past = tx.record_at_version(viewer, id, version.unwrap_or(current.version - 1))?;
            restore::check(&current.content.record_type, &past)?;
            let content = judged(tx, viewer, &engine, &current, past)?;
            tx.restore_entry(viewer, id, based_on.unwrap_or(current.hash), content)
        })
        .await
    }
}

/// The content to take up, if it may be by now.
fn judged(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    engine: &Engine,
    current: &Record,
    past: RecordContent,
) -> Result<RecordContent, StoreError> {
    match current.content.record_type.as_str() {
        Tool::RECORD_TYPE => {
            restored(tx, viewer, current, past, |tx, viewer, restoring| check_tool(tx, viewer, engine, restoring))
        }
        Process::RECORD_TYPE => restored(tx, viewer, current, past, |tx, viewer, restoring| {
            check_restored_process(tx, viewer, engine, restoring)
        }),
        StandingApproval::RECORD_TYPE => restored(tx, viewer, current, past, check_restored_approval),
        Service::RECORD_TYPE => restored::<Service>(tx, viewer, current, past, |_, _, _| Ok(())),
        ServiceTemplate::RECORD_TYPE => restored::<ServiceTemplate>(tx, viewer, current, past, |_, _, _| Ok(())),
        ToolTemplate::RECORD_TYPE => restored::<ToolTemplate>(tx, viewer, current, past, |_, _, _| Ok(())),
        _ => Ok(past),
    }
}

/// An entry as it is and as it will be.
pub(crate) struct Restoration<'a, T> {
    pub(crate) current: &'a StoredEntry<T>,
    pub(crate) next: &'a T,
    /// Whether nobody found it until now.
    pub(crate) is_gone: bool,
}

fn restored<T: Entry>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    current: &Record,
    past: RecordContent,
    judge: impl FnOnce(&mut Tx<'_>, &Viewer, &Restoration<'_, T>) -> Result<(), StoreError>,
) -> Result<RecordContent, StoreError> {
    let is_gone = restore::is_gone(&current.content);
    let mut living = current.clone();
    living.content.data.remove(DELETED_AT);
    let current: StoredEntry<T> = living.try_into()?;
    let next = current.entry.restored(entry_of(&past.data, current.id)?);
    judge(tx, viewer, &Restoration { current: &current, next: &next, is_gone })?;
    // Who may see what is there is settled by an act of its own, which says who loses by it.
    let shared = if is_gone { past.shared } else { current.shared };
    Ok(RecordContent { data: next.to_data(), shared, ..past })
}

fn entry_of<T: Entry>(data: &Map<String, Value>, id: RecordId) -> Result<T, StoreError> {
    T::from_data(data).ok_or_else(|| StoreError::Damaged(format!("an earlier version of {id} cannot be read")))
}

/// As a change is judged: a tool whose service was taken back can still be called what it was called before.
fn check_tool(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    engine: &Engine,
    restoring: &Restoration<'_, Tool>,
) -> Result<(), StoreError> {
    let Restoration { current, next, is_gone } = restoring;
    let does_else = next.definition_version > current.entry.definition_version;
    let is_bound_anew = next.secret_id != current.entry.secret_id;
    let is_switched_on = next.enabled && !current.entry.enabled;
    if !(*is_gone || does_else || is_bound_anew || is_switched_on) {
        return Ok(());
    }
    let service: StoredEntry<Service> = needed(tx, viewer, next.service_id)?;
    let secret: Option<StoredEntry<Secret>> = next.secret_id.map(|secret| needed(tx, viewer, secret)).transpose()?;
    let secret = secret.map(|secret| secret.owned());
    next.check_stands_by(current.owner, &service.owned(), secret.as_ref(), &engine.judge(viewer.owner()))
}

/// What an entry cannot do without.
fn needed<T: Entry>(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<StoredEntry<T>, StoreError> {
    let missing = |name: String| SharingRefusal::Conflict(restore::missing(&T::RECORD_TYPE.to_lowercase(), &name));
    load(tx, viewer, id).map_err(|error| match error {
        StoreError::NotFound(name) => missing(name).into(),
        error => error,
    })
}
