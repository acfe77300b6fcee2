//! The vault: where its master keys are kept, which one is current, and the request for a new one.
//!
//! The database names the current key (`skein_store::vault`); keys themselves are with a [`KeyKeeper`]. How values get
//! under a new key is in `rotation`.

use std::sync::{Mutex, PoisonError};

use serde_json::Map;
use skein_connect::vault::{KeyId, MasterKey, Vault, VaultError};
use skein_core::OperationId;
use skein_core::garden::event::EventName;
use skein_store::jobs::exclusive_act::ExclusiveAct;
use skein_store::operations::OperationState;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::SYSTEM;
use crate::catalog::rotation::Rotation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::fault::halt_at;
use crate::jobs::catalog::{self, Task};
use crate::request::{CommittedChange, Request};

/// The kind of an operation that brings all values under a new master key.
pub const VAULT_ROTATION: &str = "vault.rotate";
/// Attempts to seal under the current key while rotations replace it.
const SEALINGS_MAX: usize = 3;

/// Where master keys are kept, outside the database. Every change is durable when its method returns, and made under a
/// lock that other processes respect.
pub trait KeyKeeper: Send + Sync {
    /// The keys as they are kept now, the current one first.
    fn keys(&self) -> Result<Vec<MasterKey>, String>;

    /// Adds a fresh key after the others and returns its id. A keeper that cannot add keys returns its first one.
    fn add(&self) -> Result<KeyId, String>;

    /// Puts a key before the others; refuses a key that is not there.
    fn put_first(&self, key: &KeyId) -> Result<(), String>;

    /// Removes keys; the first one always stays.
    fn remove(&self, keys: &[KeyId]) -> Result<(), String>;

    /// The place of the keys, in words.
    fn place(&self) -> String;
}

/// Keys that live as long as this process: for tests, and for whoever keeps no secrets.
pub struct EphemeralKeys(Mutex<Vec<MasterKey>>);

impl EphemeralKeys {
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

impl KeyKeeper for EphemeralKeys {
    fn keys(&self) -> Result<Vec<MasterKey>, String> {
        Ok(self.changed(|_| {}))
    }

    fn add(&self) -> Result<KeyId, String> {
        let fresh = MasterKey::random().map_err(|error| error.to_string())?;
        let id = fresh.id();
        self.changed(|keys| keys.push(fresh));
        Ok(id)
    }

    fn put_first(&self, key: &KeyId) -> Result<(), String> {
        let keys = self.changed(|keys| keys.sort_by_key(|held| held.id() != *key));
        let is_first = keys.first().is_some_and(|first| first.id() == *key);
        if is_first { Ok(()) } else { Err(format!("the master key {key} is not there")) }
    }

    fn remove(&self, removed: &[KeyId]) -> Result<(), String> {
        self.changed(|keys| remove_keys(keys, removed, MasterKey::id));
        Ok(())
    }

    fn place(&self) -> String {
        "this process".to_owned()
    }
}

/// Takes keys out of a list, whose first one always stays.
pub fn remove_keys<K>(keys: &mut Vec<K>, removed: &[KeyId], id: impl Fn(&K) -> KeyId) {
    let mut is_first = true;
    keys.retain(|key| std::mem::take(&mut is_first) || !removed.contains(&id(key)));
}

/// The vault of some keys, the current one first.
pub(crate) fn vault_of(mut keys: Vec<MasterKey>) -> Result<Vault, String> {
    if keys.is_empty() {
        return Err("there is no master key".to_owned());
    }
    let current = keys.remove(0);
    Ok(Vault::new(current, keys))
}

/// How the values of secrets are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultState {
    /// The master key that seals new values.
    pub key_id: String,
    /// All values.
    pub secrets: i64,
    /// Values that another master key seals.
    pub under_other_keys: i64,
    /// Values under a master key that this server does not have.
    pub unreadable: i64,
    /// The master keys that are in use, and the current one.
    pub keys: Vec<KeyState>,
    /// The last rotation, until its operation is swept.
    pub rotation: Option<RotationState>,
}

/// A master key in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyState {
    /// The beginning of its hash.
    pub key_id: String,
    /// Values it seals.
    pub values: i64,
    /// Whether this server has it.
    pub is_held: bool,
}

/// A rotation and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationState {
    /// The operation that tells its progress and result.
    pub operation: OperationId,
    /// The state of that operation.
    pub state: OperationState,
}

impl VaultState {
    fn new(current: String, vault: &Vault, mut values: Vec<(String, i64)>, rotation: Option<RotationState>) -> Self {
        if !values.iter().any(|(key, _)| *key == current) {
            values.insert(0, (current.clone(), 0));
        }
        let state = |(key_id, values)| {
            let is_held = vault.holds(&KeyId::stored(&key_id));
            KeyState { key_id, values, is_held }
        };
        let keys: Vec<KeyState> = values.into_iter().map(state).collect();
        let sum = |counts: fn(&KeyState, &str) -> bool| {
            keys.iter().filter(|key| counts(key, &current)).map(|key| key.values).sum()
        };
        let secrets = sum(|_, _| true);
        let under_other_keys = sum(|key, current| key.key_id != current);
        let unreadable = sum(|key, _| !key.is_held);
        Self { secrets, under_other_keys, unreadable, key_id: current, keys, rotation }
    }
}

impl Engine {
    /// How the values of secrets are kept, for administrators.
    pub async fn vault_state(&self, caller: &Caller) -> Result<VaultState, EngineError> {
        caller.require_admin()?;
        let look = |tx: &mut Tx<'_>| {
            let values = tx.values_by_key(&SYSTEM)?.into_iter().map(|key| (key.key_id, key.values)).collect();
            let rotation = tx.last_operation_of(&SYSTEM, ExclusiveAct::VaultRotation)?;
            let rotation = rotation.map(|operation| RotationState { operation: operation.id, state: operation.state });
            Ok((tx.vault_key(&SYSTEM)?, values, rotation))
        };
        let (current, values, rotation): (_, Vec<(String, i64)>, _) = self.parts().store.read(look).await?;
        let mut vault = self.parts().gateway.vault();
        if !values.iter().all(|(key, _)| vault.holds(&KeyId::stored(key))) {
            vault = self.parts().gateway.reload_keys().unwrap_or(vault);
        }
        let current = current.unwrap_or_else(|| vault.current_key().to_string());
        Ok(VaultState::new(current, &vault, values, rotation))
    }

    /// Queues bringing every value under a new master key, for administrators. One rotation at a time on a database.
    pub async fn rotate_vault(&self, caller: &Caller, request: Request) -> Result<CommittedChange<()>, EngineError> {
        caller.require_admin()?;
        // No key is added beside a rotation that runs, and one that was added before another rotation ran is not used.
        let last = self.parts().store.read(|tx| tx.last_exclusive_act(&SYSTEM, ExclusiveAct::VaultRotation)).await?;
        let to = if last.has_ended() { Some(self.with_keeper(|keeper| keeper.add()).await?) } else { None };
        halt_at("vault.key-added");
        let rotation = to.as_ref().map(Rotation::new);
        let admitted = caller.clone();
        let queued = self.queue(caller, request, VAULT_ROTATION, move |tx, viewer, operation| {
            admitted.refuse_if_ended(tx)?;
            tx.begin_exclusive_act_after(&SYSTEM, ExclusiveAct::VaultRotation, operation, last)?;
            let rotation = rotation.clone().expect("a rotation that has begun has a key");
            catalog::enqueue(tx, viewer, operation, &Task::VaultRotation(rotation))?;
            tx.tell_own(viewer, EventName::VaultRotationRequested, Some(&operation.to_string()), Map::new())
        });
        let queued = queued.await;
        let is_key_in_use = match &queued {
            Ok(queued) => !queued.is_replay,
            // It may have been committed: a key too many does no harm.
            Err(error) => matches!(error, EngineError::Store(StoreError::OutcomeUnknown)),
        };
        if let Some(to) = to.filter(|_| !is_key_in_use) {
            let _ = self.with_keeper(move |keeper| keeper.remove(&[to])).await;
        }
        let queued = queued?;
        self.parts().called.notify_one();
        Ok(queued)
    }

    /// Changes kept keys on a thread that may wait for the disk.
    pub(crate) async fn with_keeper<T: Send + 'static>(
        &self,
        change: impl FnOnce(&dyn KeyKeeper) -> Result<T, String> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gateway = self.parts().gateway.clone();
        let changing = tokio::task::spawn_blocking(move || change(gateway.keeper()));
        let changed = changing.await.map_err(|error| StoreError::Panicked(error.to_string()))?;
        changed.map_err(StoreError::Unavailable)
    }

    /// The vault that seals with the current key of the database.
    pub(crate) async fn sealing_vault(&self) -> Result<std::sync::Arc<Vault>, EngineError> {
        let current = self.parts().store.read(|tx| tx.vault_key(&SYSTEM)).await?;
        if current.is_none() {
            // The first value decides the key. Another database may have retired the one that was first at the start.
            self.parts().gateway.reload_keys().map_err(StoreError::Unavailable)?;
        }
        let vault = self.parts().gateway.vault_sealing_with(current.as_deref().map(KeyId::stored));
        if vault.is_err()
            && let Some(now) = self.parts().store.read(|tx| tx.vault_key(&SYSTEM)).await?
            && current.as_ref() != Some(&now)
        {
            // A rotation ended in between and took the key with it.
            return Err(StoreError::VaultKeyChanged(now).into());
        }
        Ok(vault?)
    }

    /// Seals and stores, again when a rotation replaced the key in between.
    pub(crate) async fn while_key_changes<T, F>(&self, store: impl Fn() -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        for _ in 1..SEALINGS_MAX {
            match store().await {
                Err(EngineError::Store(StoreError::VaultKeyChanged(_))) => {}
                stored => return stored,
            }
        }
        store().await
    }
}
