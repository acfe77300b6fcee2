//! Tools that go on doing what a version of them did, for steps that name one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::catalog::tool::Tool;
use skein_core::flow::step::Reference;
use skein_core::{RecordId, RuleViolation, UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::catalog::{SYSTEM, StoredEntry, load};

/// Most that are remembered; when there are more, all are forgotten.
const REMEMBERED_MAX: usize = 1_000;

/// What versions of tools said: they never change, and reading one is work.
#[derive(Default)]
pub(crate) struct PastTools(Mutex<HashMap<(RecordId, i64), Arc<Tool>>>);

impl PastTools {
    /// A tool as somebody's step names it: as it is now, or as a version defined it.
    pub(crate) fn load(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        by: UserId,
        named: Reference,
    ) -> Result<StoredEntry<Tool>, StoreError> {
        let tool = load(tx, viewer, named.id)?;
        self.defined_as(tx, tool, by, named.version)
    }

    /// A tool that goes on doing what a version of it did, if one is named. Only its owner names any: what is shared is the tool as it
    /// is now (BR-PROCESS-011).
    pub(crate) fn defined_as(
        &self,
        tx: &mut Tx<'_>,
        tool: StoredEntry<Tool>,
        by: UserId,
        version: Option<i64>,
    ) -> Result<StoredEntry<Tool>, StoreError> {
        let Some(version) = version else { return Ok(tool) };
        if tool.owner != by {
            let problem = format!("version {version} of the tool is somebody else's");
            let remedy = "leave toolVersion out: what is shared is the tool as it is now";
            return Err(RuleViolation::new("BR-PROCESS-011", problem, remedy).into());
        }
        if version == tool.version {
            return Ok(tool);
        }
        let past = self.past(tx, tool.id, version)?;
        Ok(StoredEntry { version, entry: tool.entry.defined_as(Tool::clone(&past))?, ..tool })
    }

    fn past(&self, tx: &mut Tx<'_>, id: RecordId, version: i64) -> Result<Arc<Tool>, StoreError> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(id, version)) {
            return Ok(Arc::clone(known));
        }
        let past = match tx.record_version(&SYSTEM, id, version).and_then(StoredEntry::<Tool>::try_from) {
            Ok(past) => past,
            Err(StoreError::NotFound(_)) => {
                let remedy = "name a version of the tool's history, or leave toolVersion out";
                return Err(RuleViolation::new("BR-STEP-007", format!("there is no version {version}"), remedy).into());
            }
            Err(error) => return Err(error),
        };
        let past = Arc::new(past.entry);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert((id, version), Arc::clone(&past));
        Ok(past)
    }
}
