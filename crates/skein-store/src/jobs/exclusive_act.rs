//! Lets one administrative act of a kind run at a time on a database, whichever thread, process or server is asked.
//!
//! The database names the last operation of each act. Another begins once that operation has ended; the check and the
//! entry are in the transaction that begins it. Knows nothing of the acts themselves. Why:
//! `docs/decisions/0040-one-act-at-a-time.md`.

use std::fmt;

use skein_core::account::idempotency::SILENT_MS_MAX;
use skein_core::{OperationId, UserId, Viewer};

use crate::error::StoreError;
use crate::operations::Operation;
use crate::tx::{Tx, system_only};

/// The entry of `meta` for rotations; a restore copies it.
pub(crate) const VAULT_ROTATION: &str = "vault_rotation";

/// An act of which only one runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExclusiveAct {
    /// All values of secrets go under a new master key.
    VaultRotation,
    /// A bundle of one owner is taken in: the check of a second one would find half of the first.
    Import(UserId),
}

impl ExclusiveAct {
    fn entry(self) -> String {
        match self {
            Self::VaultRotation => VAULT_ROTATION.to_owned(),
            Self::Import(owner) => format!("import {owner}"),
        }
    }

    /// Whether its work ends with the process that began it. A rotation is a job, which another server takes over.
    fn is_bound_to_its_process(self) -> bool {
        matches!(self, Self::Import(_))
    }
}

impl fmt::Display for ExclusiveAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VaultRotation => f.write_str("the vault is being rotated"),
            Self::Import(owner) => write!(f, "a bundle of {owner} is being imported"),
        }
    }
}

/// The last operation of an act as it was before something was prepared for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastExclusiveAct {
    operation: Option<OperationId>,
    has_ended: bool,
}

impl LastExclusiveAct {
    /// Whether another operation of the act could begin then.
    pub fn has_ended(self) -> bool {
        self.has_ended
    }
}

impl Tx<'_> {
    /// The last operation of an act, to be compared by [`Self::begin_exclusive_act_after`]; for Skein.
    pub fn last_exclusive_act(&mut self, viewer: &Viewer, act: ExclusiveAct) -> Result<LastExclusiveAct, StoreError> {
        let last = self.last_operation_of(viewer, act)?;
        let has_ended = last.as_ref().is_none_or(|operation| operation.state.has_ended());
        Ok(LastExclusiveAct { operation: last.map(|operation| operation.id), has_ended })
    }

    /// [`Self::begin_exclusive_act`] for an act that something outside the database was prepared for after `last` was read. An operation
    /// that ran since then may have undone the preparation, so it is refused as if that operation still ran.
    pub fn begin_exclusive_act_after(
        &mut self,
        viewer: &Viewer,
        act: ExclusiveAct,
        operation: OperationId,
        last: LastExclusiveAct,
    ) -> Result<(), StoreError> {
        let now = self.last_exclusive_act(viewer, act)?;
        match now.operation.or(last.operation) {
            Some(earlier) if now != last || !last.has_ended => Err(StoreError::ActRunning { act, operation: earlier }),
            _ => self.begin_exclusive_act(viewer, act, operation),
        }
    }

    /// Registers the operation of an act; refuses it while another operation of the act has not ended. For Skein.
    pub fn begin_exclusive_act(
        &mut self,
        viewer: &Viewer,
        act: ExclusiveAct,
        operation: OperationId,
    ) -> Result<(), StoreError> {
        if let Some(earlier) = self.last_operation_of(viewer, act)?.filter(|earlier| !earlier.state.has_ended()) {
            if !act.is_bound_to_its_process() || earlier.updated_at.plus(SILENT_MS_MAX) > self.now() {
                return Err(StoreError::ActRunning { act, operation: earlier.id });
            }
            self.cut_off(earlier.id)?;
        }
        self.set_meta(&act.entry(), &operation.to_string())
    }

    /// The last operation of an act, unless it was swept; for Skein.
    pub fn last_operation_of(&mut self, viewer: &Viewer, act: ExclusiveAct) -> Result<Option<Operation>, StoreError> {
        system_only(viewer)?;
        let id = self.meta_text(&act.entry())?.and_then(|id| id.parse::<OperationId>().ok());
        let Some(id) = id else { return Ok(None) };
        match self.operation(viewer, id) {
            Err(StoreError::NotFound(_)) => Ok(None),
            found => found.map(Some),
        }
    }
}
