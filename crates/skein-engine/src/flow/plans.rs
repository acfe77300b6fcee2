//! Processes made ready, by version: parsing one is work, and a version never changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::RecordId;
use skein_core::flow::plan::Plan;
use skein_core::flow::process::Process;
use skein_store::{StoreError, Tx};

use crate::catalog::Shown;
use crate::flow::SYSTEM;

/// Most that are remembered; when there are more, all are forgotten.
const REMEMBERED_MAX: usize = 1_000;

/// A version of a process, and what it means.
#[derive(Debug)]
pub(crate) struct ReadyProcess {
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
        self.ready(&Shown::try_from(record)?)
    }

    /// A process as it was just read.
    pub(crate) fn ready(&self, shown: &Shown<Process>) -> Result<Arc<ReadyProcess>, StoreError> {
        if let Some(known) = self.known(shown.id, shown.version) {
            return Ok(known);
        }
        let process = shown.entry.clone();
        let plan = Plan::of(&process)?;
        let ready = Arc::new(ReadyProcess { process, plan });
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert((shown.id, shown.version), Arc::clone(&ready));
        Ok(ready)
    }

    fn known(&self, id: RecordId, version: i64) -> Option<Arc<ReadyProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(id, version)).cloned()
    }
}
