//! Processes made ready, by version: parsing one is work, and a version never changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::catalog::sharing::SharingRefusal;
use skein_core::flow::plan::Plan;
use skein_core::flow::process::Process;
use skein_core::flow::process_permissions;
use skein_core::{RecordId, Viewer};
use skein_store::flow::call_dependencies::RecordRevision;
use skein_store::{StoreError, Tx};

use crate::catalog::StoredEntry;
use crate::flow::SYSTEM;

/// Most that are remembered; when there are more, all are forgotten.
const REMEMBERED_MAX: usize = 1_000;

/// A version of a process, and what it means.
#[derive(Debug)]
pub(crate) struct ReadyProcess {
    pub(crate) edition: RecordRevision,
    pub(crate) process: Process,
    pub(crate) plan: Plan,
}

#[derive(Default)]
pub(crate) struct Plans(Mutex<HashMap<(RecordId, i64), Arc<ReadyProcess>>>);

impl Plans {
    /// A version of a process, whoever's it is: who may run it was judged before.
    pub(crate) fn of(&self, tx: &mut Tx<'_>, id: RecordId, version: i64) -> Result<Arc<ReadyProcess>, StoreError> {
        if let Some(known) = self.known(id, version) {
            return Ok(known);
        }
        let record = tx.record_version(&SYSTEM, id, version)?;
        self.keep(record.try_into()?)
    }

    /// A process of the viewer's as it is now (rule BR-PROCESS-010).
    pub(crate) fn own(&self, tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<Arc<ReadyProcess>, StoreError> {
        let (owner, edition) = tx.edition(&SYSTEM, id)?;
        match process_permissions::check_owner(viewer, owner, tx.now()) {
            // In the words for an id that nothing has.
            Err(SharingRefusal::NotFound) => return Err(StoreError::NotFound(id.to_string())),
            checked => checked?,
        }
        let known = self.known(id, edition.version).filter(|known| known.edition == edition);
        match known {
            Some(known) => Ok(known),
            None => self.keep(tx.record(&SYSTEM, id)?.try_into()?),
        }
    }

    fn keep(&self, shown: StoredEntry<Process>) -> Result<Arc<ReadyProcess>, StoreError> {
        let edition = RecordRevision { id: shown.id, version: shown.version, hash: shown.hash };
        let plan = Plan::of(&shown.entry)?;
        let ready = Arc::new(ReadyProcess { edition, process: shown.entry, plan });
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert((edition.id, edition.version), Arc::clone(&ready));
        Ok(ready)
    }

    fn known(&self, id: RecordId, version: i64) -> Option<Arc<ReadyProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(id, version)).cloned()
    }
}
