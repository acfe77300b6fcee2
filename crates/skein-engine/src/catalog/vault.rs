//! The vault's master key: which one is in use, and bringing every value under a new one while calls go on.
//!
//! A rotation has a new key put in front of the others where keys are kept, and wraps the data keys of all values
//! anew, page by page; older keys open what is not yet wrapped. A value that was sealed under the key before while the
//! rotation ran is found by its last pass or by the next rotation, so the key before the current one is always kept.
//! Where this process is the only one on the database, older ones are taken away at the end.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, json};
use skein_connect::vault::{MasterKey, Vault, VaultError};
use skein_core::garden::event::EventName;
use skein_core::{OperationId, RecordId};
use skein_store::jobs::Job;
use skein_store::{Location, StoreError, Tx};

use crate::account::Caller;
use crate::catalog::SYSTEM;
use crate::catalog::secrets::stored;
use crate::catalog::work::{self, Ended, Task, Wanted};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Request};

/// The kind of an operation that brings all values under a new master key.
pub const VAULT_ROTATION: &str = "vault.rotate";
const PAGE: usize = 100;
/// Values sealed under the key before while a pass ran are found by the next.
const PASSES_MAX: usize = 5;

/// Where master keys are kept, outside the database.
pub trait KeyKeeper: Send + Sync {
    /// The keys as they are kept now, the current one first.
    fn keys(&self) -> Result<Vec<MasterKey>, String>;

    /// Puts a fresh key before the others, durably, and gives all of them. Keys that others keep stay as they are.
    fn renew(&self) -> Result<Vec<MasterKey>, String>;

    /// Drops all but the current key and the one before it.
    fn retire_older(&self) -> Result<Vec<MasterKey>, String>;
}

/// Keys that live as long as this process: for tests, and for whoever keeps no secrets.
pub struct Passing(Mutex<Vec<MasterKey>>);

impl Passing {
    /// A fresh one.
    pub fn draw() -> Result<Self, VaultError> {
        Ok(Self(Mutex::new(vec![MasterKey::random()?])))
    }

    fn changed(&self, change: impl FnOnce(&mut Vec<MasterKey>)) -> Vec<MasterKey> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut keys);
        keys.clone()
    }
}

impl KeyKeeper for Passing {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        Ok(self.changed(|_| {}))
    }

    fn renew(&self) -> Result<Vec<MasterKey>, String> {
        let fresh = MasterKey::random().map_err(|error| error.to_string())?;
        Ok(self.changed(|keys| keys.insert(0, fresh)))
    }

    fn retire_older(&self) -> Result<Vec<MasterKey>, String> {
        Ok(self.changed(|keys| keys.truncate(2)))
    }
}

/// The vault of some keys, the current one first.
pub(super) fn vault_of(mut keys: Vec<MasterKey>) -> Result<Vault, String> {
    if keys.is_empty() {
        return Err("there is no master key".to_owned());
    }
    let current = keys.remove(0);
    Ok(Vault::new(current, keys))
}

/// How the values of secrets are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultState {
    /// Which master key seals new values.
    pub key_id: String,
    /// How many values there are.
    pub secrets: i64,
    /// How many of them another master key seals.
    pub under_other_keys: i64,
}

impl Engine {
    /// How the values of secrets are kept, for administrators.
    pub async fn vault_state(&self, caller: &Caller) -> Result<VaultState, EngineError> {
        caller.require_admin()?;
        let key_id = self.parts().outside.vault().current_key().to_string();
        let current = key_id.clone();
        let count = move |tx: &mut Tx<'_>| tx.count_sealed(&SYSTEM, &current);
        let (secrets, under_other_keys) = self.parts().store.read(count).await?;
        Ok(VaultState { key_id, secrets, under_other_keys })
    }

    /// Queues bringing every value under a new master key, for administrators.
    pub async fn rotate_vault(&self, caller: &Caller, request: Request) -> Result<Changed<()>, EngineError> {
        caller.require_admin()?;
        let from = self.parts().outside.vault().current_key().to_string();
        let queued = self.queue(caller, request, VAULT_ROTATION, move |tx, viewer, operation| {
            work::enqueue(tx, viewer, operation, &Task::VaultRotation { from: from.clone() })?;
            tx.tell_own(viewer, EventName::VaultRotationRequested, Some(&operation.to_string()), Map::new())
        });
        let queued = queued.await?;
        self.parts().called.notify_one();
        Ok(queued)
    }
}

/// Carries a rotation out; one that was interrupted goes on under the key it had made.
pub(super) async fn rotate(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    from: &str,
) -> Result<Ended, StoreError> {
    let outside = &engine.parts().outside;
    if outside.reload_keys().map_err(StoreError::Unavailable)?.current_key().as_str() == from {
        outside.renew_keys().map_err(StoreError::Unavailable)?;
    }
    let key_id = outside.vault().current_key().to_string();
    let (mut done, mut unreadable) = (0, BTreeSet::new());
    for _ in 0..PASSES_MAX {
        let left = under_other_keys(engine, &key_id).await?;
        if left <= i64::try_from(unreadable.len()).unwrap_or(i64::MAX) {
            break;
        }
        match wrap_all(engine, job, operation, &key_id, left).await? {
            Some((wrapped, failed)) => {
                done += wrapped;
                unreadable.extend(failed);
            }
            None => return Ok(Ended::Taken),
        }
    }
    let is_alone = matches!(engine.parts().store.location(), Location::Directory(_));
    if is_alone && unreadable.is_empty() {
        outside.retire_keys().map_err(StoreError::Unavailable)?;
    }
    let result = json!({ "keyId": key_id, "rewrapped": done, "unreadable": unreadable });
    Ok(Ended::Completed(result, EventName::VaultRotated))
}

async fn under_other_keys(engine: &Engine, key_id: &str) -> Result<i64, StoreError> {
    let key_id = key_id.to_owned();
    Ok(engine.parts().store.read(move |tx| tx.count_sealed(&SYSTEM, &key_id)).await?.1)
}

/// One pass over everything that another key wraps: how many were wrapped anew, and which could not be opened. Nothing
/// when the rotation was cancelled or taken over.
async fn wrap_all(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    key_id: &str,
    total: i64,
) -> Result<Option<(i64, Vec<RecordId>)>, StoreError> {
    let (mut wrapped, mut failed, mut after) = (0, Vec::new(), None);
    loop {
        let (vault, current) = (engine.parts().outside.vault(), key_id.to_owned());
        let page =
            engine.parts().store.read(move |tx| tx.sealed_under_other_key(&SYSTEM, &current, after, PAGE)).await?;
        for sealed in page.rows {
            let Ok(rewrapped) = vault.rewrap(&stored(&sealed.value)) else {
                failed.push(sealed.secret);
                continue;
            };
            let current = key_id.to_owned();
            let wrap = move |tx: &mut Tx<'_>| tx.rewrap_sealed(&SYSTEM, &sealed, &current, &rewrapped.wrapped_key);
            engine.parts().store.write(wrap).await?;
            wrapped += 1;
        }
        if work::go_on(engine, job, operation, wrapped * 100 / total.max(1)).await? != Wanted::Still {
            return Ok(None);
        }
        after = page.next;
        if after.is_none() {
            return Ok(Some((wrapped, failed)));
        }
    }
}
