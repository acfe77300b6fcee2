//! Carries out a rotation of the vault: every value goes under a new master key while calls go on.
//!
//! The new key is kept durably before the operation exists, and its id is part of the order, so a worker that takes an
//! interrupted rotation up goes on with the same key or not at all. Each step can be repeated. A rotation removes no key:
//! another database may keep its keys in the same place. Why: `docs/decisions/0031-vault-rotation.md`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skein_connect::vault::{KeyId, Vault};
use skein_core::garden::event::EventName;
use skein_core::{OperationId, RecordId};
use skein_store::catalog::vault::SealedSecret;
use skein_store::jobs::Job;
use skein_store::{StoreError, Tx};

use crate::catalog::SYSTEM;
use crate::catalog::secrets::{open, stored};
use crate::catalog::vault::vault_of;
use crate::engine::Engine;
use crate::fault::halt_at;
use crate::jobs::catalog::{self, LEASE_MS, TaskDemand, TaskOutcome, told};

const PAGE: usize = 16;
/// Secrets that a failure names.
const NAMED_MAX: usize = 100;

/// The key that values get, by its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rotation {
    #[serde(default)]
    to: String,
}

impl Rotation {
    pub(crate) fn new(to: &KeyId) -> Self {
        Self { to: to.to_string() }
    }

    fn target(&self) -> KeyId {
        KeyId::stored(&self.to)
    }
}

/// A rotation under way.
struct Run<'a> {
    engine: &'a Engine,
    job: &'a Job,
    operation: OperationId,
    rotation: &'a Rotation,
}

/// Values that do not open, by the key they are under.
#[derive(Default)]
struct Unreadable(BTreeMap<String, BTreeSet<RecordId>>);

impl Unreadable {
    fn add(&mut self, sealed: &SealedSecret) {
        self.0.entry(sealed.value.key_id.clone()).or_default().insert(sealed.secret);
    }

    fn count(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }
}

pub(crate) async fn rotate(
    engine: &Engine,
    job: &Job,
    operation: OperationId,
    rotation: &Rotation,
) -> Result<TaskOutcome, StoreError> {
    let run = Run { engine, job, operation, rotation };
    let vault = engine.parts().gateway.reload_keys().map_err(StoreError::Unavailable)?;
    let Some(vault) = vault.sealing_with(&rotation.target()) else { return run.end_without_key().await };
    halt_at("vault.claimed");
    run.make_current().await?;
    let (mut rewrapped, mut total) = (0, 0);
    let unreadable = loop {
        let Some((wrapped, unreadable)) = run.wrap_all(&vault, rewrapped, &mut total).await? else {
            return Ok(TaskOutcome::Taken);
        };
        rewrapped += wrapped;
        halt_at("vault.rewrapped");
        if unreadable.count() > 0 {
            break unreadable;
        }
        // A value that came in between under another key goes round again.
        let Some(unreadable) = run.open_all().await? else { continue };
        break unreadable;
    };
    halt_at("vault.opened");
    if unreadable.count() > 0 {
        let error = unreadable_values(&unreadable, &run.place(), &rotation.to, rewrapped);
        return Ok(TaskOutcome::Failed(error, EventName::VaultRotationFailed));
    }
    if catalog::go_on(engine, job, operation, 99).await? != TaskDemand::Still {
        return Ok(TaskOutcome::Taken);
    }
    let result = json!({ "keyId": rotation.to, "rewrapped": rewrapped, "unreadable": [], "keyPlace": run.place() });
    Ok(TaskOutcome::Completed(result, EventName::VaultRotated))
}

impl Run<'_> {
    fn place(&self) -> String {
        self.engine.parts().gateway.keeper().place()
    }

    /// The new key is with another server. That one comes first for as long as it may be about to begin; once it has
    /// begun, its lease keeps the job from others.
    async fn end_without_key(&self) -> Result<TaskOutcome, StoreError> {
        let operation = self.operation;
        let age = self.engine.parts().store.read(move |tx| {
            let asked_at = tx.operation(&SYSTEM, operation)?.created_at;
            Ok(tx.now().0 - asked_at.0)
        });
        if age.await? < LEASE_MS {
            return Ok(TaskOutcome::NotHere);
        }
        Ok(TaskOutcome::Failed(absent_key(&self.rotation.to, &self.place()), EventName::VaultRotationFailed))
    }

    /// From here on nothing is stored under another key.
    async fn make_current(&self) -> Result<(), StoreError> {
        let target = self.rotation.target();
        self.engine.with_keeper(move |keeper| keeper.put_first(&target)).await?;
        self.engine.parts().gateway.reload_keys().map_err(StoreError::Unavailable)?;
        halt_at("vault.key-first");
        let (job, operation, to) = (self.job.clone(), self.operation, self.rotation.to.clone());
        let set = move |tx: &mut Tx<'_>| {
            hold(tx, &job, operation)?;
            tx.set_vault_key(&SYSTEM, &to)
        };
        self.engine.parts().store.write(set).await?;
        halt_at("vault.key-current");
        Ok(())
    }

    /// One pass over every value under another key: how many were wrapped again, and which did not open. `None` when the
    /// rotation was cancelled or another worker has it.
    async fn wrap_all(
        &self,
        vault: &Vault,
        before: i64,
        total: &mut i64,
    ) -> Result<Option<(i64, Unreadable)>, StoreError> {
        let (store, to) = (&self.engine.parts().store, self.rotation.to.clone());
        let left = {
            let to = to.clone();
            store.read(move |tx| tx.count_sealed(&SYSTEM, &to)).await?.1
        };
        *total = (*total).max(before + left);
        let (mut wrapped, mut unreadable, mut after) = (0, Unreadable::default(), None);
        loop {
            let current = to.clone();
            let page = store.read(move |tx| tx.sealed_under_other_key(&SYSTEM, &current, after, PAGE)).await?;
            let mut changes = Vec::with_capacity(page.rows.len());
            for sealed in page.rows {
                match vault.rewrap(&stored(&sealed.value)) {
                    Ok(rewrapped) => changes.push((sealed, rewrapped.wrapped_key)),
                    Err(_) => unreadable.add(&sealed),
                }
            }
            wrapped += match self.wrap(changes).await {
                Err(StoreError::Ended(_) | StoreError::LeaseLost(_)) => return Ok(None),
                wrapped => wrapped?,
            };
            let percent = (before + wrapped) * 100 / (*total).max(1);
            if catalog::go_on(self.engine, self.job, self.operation, percent).await? != TaskDemand::Still {
                return Ok(None);
            }
            halt_at("vault.page-rewrapped");
            after = page.next;
            if after.is_none() {
                return Ok(Some((wrapped, unreadable)));
            }
        }
    }

    /// In one transaction, which commits only while this job holds the rotation.
    async fn wrap(&self, changes: Vec<(SealedSecret, Vec<u8>)>) -> Result<i64, StoreError> {
        if changes.is_empty() {
            return Ok(0);
        }
        let (job, operation, to) = (self.job.clone(), self.operation, self.rotation.to.clone());
        let wrap = move |tx: &mut Tx<'_>| {
            hold(tx, &job, operation)?;
            let mut wrapped = 0;
            for (sealed, wrapped_key) in &changes {
                wrapped += i64::from(tx.rewrap_sealed(&SYSTEM, sealed, &to, wrapped_key)?);
            }
            Ok(wrapped)
        };
        Ok(self.engine.parts().store.write(wrap).await?.value)
    }

    /// Opens every value with the new key alone, as it is kept now; `None` when one is under another key.
    async fn open_all(&self) -> Result<Option<Unreadable>, StoreError> {
        let kept = self.engine.with_keeper(|keeper| keeper.keys().and_then(vault_of)).await?;
        let gone = || StoreError::Unavailable(format!("the master key {} is no longer kept", self.rotation.to));
        let vault = kept.only(&self.rotation.target()).ok_or_else(gone)?;
        let (mut unreadable, mut after) = (Unreadable::default(), None);
        loop {
            // No key has an empty id, so this is all of them.
            let read = move |tx: &mut Tx<'_>| tx.sealed_under_other_key(&SYSTEM, "", after, PAGE);
            let page = self.engine.parts().store.read(read).await?;
            for sealed in &page.rows {
                if sealed.value.key_id != self.rotation.to {
                    return Ok(None);
                }
                if open(&vault, sealed).is_err() {
                    unreadable.add(sealed);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(Some(unreadable));
            }
        }
    }
}

/// Commits only while this job is held and its operation has not ended.
fn hold(tx: &mut Tx<'_>, job: &Job, operation: OperationId) -> Result<(), StoreError> {
    tx.heartbeat(&SYSTEM, job, LEASE_MS)?;
    if tx.operation(&SYSTEM, operation)?.state.has_ended() {
        return Err(StoreError::Ended(operation));
    }
    Ok(())
}

fn unreadable_values(unreadable: &Unreadable, place: &str, to: &str, rewrapped: i64) -> Value {
    let keys: Vec<String> =
        unreadable.0.iter().map(|(key, secrets)| format!("{key} ({} values)", secrets.len())).collect();
    let message = format!(
        "{} values do not open, under the master keys {}. No key was removed, and the other values are under {to}. \
         Add the missing keys to the keys in {place} and rotate again; if a key is lost, give those secrets new values.",
        unreadable.count(),
        keys.join(", "),
    );
    let mut error = told("vault_values_unreadable", &message);
    let secrets: Vec<&RecordId> = unreadable.0.values().flatten().take(NAMED_MAX).collect();
    error["details"] = json!({ "keyId": to, "rewrapped": rewrapped, "unreadable": secrets,
        "unreadableCount": unreadable.count(), "missingKeys": unreadable.0.keys().collect::<Vec<_>>() });
    error
}

fn absent_key(to: &str, place: &str) -> Value {
    let message = format!(
        "the server that began this rotation is gone, and its new master key {to} is not among the keys in {place}. \
         Nothing is lost: add the keys of that server's key file to this one, or start that server, and rotate again."
    );
    let mut error = told("vault_key_missing", &message);
    error["details"] = json!({ "missingKeys": [to] });
    error
}
