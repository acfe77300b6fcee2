//! The state of the vault, for `doctor` and `verify`: values by master key, values that do not open, the last rotation.
//!
//! Every value is opened with the keys that are kept here. Nothing is changed.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skein_connect::vault::{KeyId, MasterKey, SealedBytes, SealedFor, Vault};
use skein_core::{OperationId, RecordId, Viewer};
use skein_store::catalog::vault::{SealedSecret, SealedValue};
use skein_store::jobs::exclusive_act::ExclusiveAct;
use skein_store::operations::{Operation, OperationState};
use skein_store::{Store, StoreError};

use crate::failure::Failure;
use crate::master_key::KeySource;

const SYSTEM: Viewer = Viewer::System("the state of the vault");
const VALUES_PER_PAGE: usize = 100;
const NAMED_MAX: usize = 3;
/// What to do about values that do not open.
pub(crate) const REMEDY: &str = "add the missing key to the key file from a copy of it and run skein vault rotate; if it is lost, give those secrets new values: skein secret rotate";

/// What was found.
#[derive(Default)]
pub(crate) struct VaultReport {
    current: Option<String>,
    keys: BTreeMap<String, KeyCount>,
    unreadable: Vec<RecordId>,
    rotation: Option<Operation>,
    /// The ids of the keys that are kept, the first one first.
    kept: Vec<KeyId>,
    /// Why no key could be read.
    no_keys: Option<String>,
}

#[derive(Default)]
struct KeyCount {
    values: usize,
    unreadable: usize,
}

impl VaultReport {
    /// Reads and opens every value.
    pub(crate) fn read(store: &Store, source: &KeySource) -> Result<Self, StoreError> {
        let mut report = store.read_blocking(|tx| {
            let (current, rotation) =
                (tx.vault_key(&SYSTEM)?, tx.last_operation_of(&SYSTEM, ExclusiveAct::VaultRotation)?);
            Ok(Self { current, rotation, ..Self::default() })
        })?;
        let vault = source.read().map(|keys| keys.all().iter().copied().map(MasterKey::from).collect::<Vec<_>>());
        report.no_keys = vault.as_ref().err().map(Failure::error);
        let vault = vault
            .ok()
            .and_then(|keys| keys.split_first().map(|(current, older)| Vault::new(current.clone(), older.to_vec())));
        report.kept = vault.as_ref().map(Vault::key_ids).unwrap_or_default();
        report.open_all(store, vault.as_ref())?;
        Ok(report)
    }

    fn open_all(&mut self, store: &Store, vault: Option<&Vault>) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            // No key has an empty id, so this is all of them.
            let page = store.read_blocking(move |tx| tx.sealed_under_other_key(&SYSTEM, "", after, VALUES_PER_PAGE))?;
            for sealed in page.rows {
                let count = self.keys.entry(sealed.value.key_id.clone()).or_default();
                count.values += 1;
                if !vault.is_some_and(|vault| opens(vault, &sealed)) {
                    count.unreadable += 1;
                    self.unreadable.push(sealed.secret);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn values(&self) -> usize {
        self.keys.values().map(|key| key.values).sum()
    }

    /// Whether values do not open although there are keys. A copy of a database without its keys is no problem.
    pub(crate) fn has_lost_values(&self) -> bool {
        self.no_keys.is_none() && !self.unreadable.is_empty()
    }

    /// Whether every value opens.
    pub(crate) fn is_readable(&self) -> bool {
        self.unreadable.is_empty()
    }

    /// Whether new values or values that are there are under a key.
    pub(crate) fn needs(&self, key: &KeyId) -> bool {
        self.current.as_deref() == Some(key.as_str()) || self.keys.contains_key(key.as_str())
    }

    /// Whether every value is under the current key.
    pub(crate) fn is_under_one_key(&self) -> bool {
        self.keys.keys().all(|key| self.current.as_ref() == Some(key))
    }

    /// The last rotation, if it has not ended.
    pub(crate) fn unended_rotation(&self) -> Option<OperationId> {
        self.rotation.as_ref().filter(|rotation| !rotation.state.has_ended()).map(|rotation| rotation.id)
    }

    /// Keys after the first that this database does not need, in one sentence; `None` when there are none.
    pub(crate) fn retired_told(&self) -> Option<String> {
        let retired: Vec<&str> = self.kept.iter().skip(1).filter(|key| !self.needs(key)).map(KeyId::as_str).collect();
        if retired.is_empty() {
            return None;
        }
        Some(format!(
            "no value of this database is under {}; if no other database and no backup needs them, skein vault \
             remove-keys removes them",
            retired.join(", ")
        ))
    }

    /// The values, in one sentence.
    pub(crate) fn values_told(&self) -> String {
        if self.keys.is_empty() {
            return "there are none".to_owned();
        }
        let values = self.values();
        let keys: Vec<String> = self.keys.iter().map(|(key, count)| self.key_told(key, count)).collect();
        let keys = keys.join(", ");
        if self.unreadable.is_empty() {
            return format!("{values}, and each opens: {keys}");
        }
        let named: Vec<String> = self.unreadable.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        format!("{} of {values} do not open, such as {}: {keys}", self.unreadable.len(), named.join(", "))
    }

    fn key_told(&self, key: &str, count: &KeyCount) -> String {
        let current = if self.current.as_deref() == Some(key) { " (current)" } else { "" };
        let unreadable =
            if count.unreadable > 0 { format!(", {} unreadable", count.unreadable) } else { String::new() };
        format!("{} under {key}{current}{unreadable}", count.values)
    }

    /// The last rotation, in one sentence; `None` when it ended well or there was none.
    pub(crate) fn rotation_told(&self, is_served: bool) -> Option<String> {
        let rotation = self.rotation.as_ref()?;
        match &rotation.state {
            OperationState::Queued | OperationState::Processing { .. } if is_served => {
                Some(format!("{} has not ended; a server is running, or finishes it after its lease", rotation.id))
            }
            OperationState::Queued | OperationState::Processing { .. } => {
                Some(format!("{} was interrupted; skein serve or skein vault rotate finishes it", rotation.id))
            }
            OperationState::Failed { error } => {
                let error: Value = serde_json::from_str(error).unwrap_or_default();
                Some(format!("{} failed: {}", rotation.id, error["message"].as_str().unwrap_or("no reason is known")))
            }
            OperationState::Completed { .. } | OperationState::Cancelled => None,
        }
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        let key = |(key, count): (&String, &KeyCount)| json!({ "keyId": key, "values": count.values, "unreadable": count.unreadable });
        let rotation = self.rotation.as_ref().map(|rotation| {
            json!({ "operationId": rotation.id, "status": rotation.state.status(),
                "isInterrupted": !rotation.state.has_ended() })
        });
        json!({ "keyId": self.current, "values": self.values(), "unreadable": self.unreadable.len(),
            "keys": self.keys.iter().map(key).collect::<Vec<_>>(), "rotation": rotation, "noKeys": self.no_keys })
    }
}

fn opens(vault: &Vault, sealed: &SealedSecret) -> bool {
    let (owner, secret) = (sealed.owner.bare(), sealed.secret.bare());
    let SealedValue { value_version, key_id, wrapped_key, ciphertext } = sealed.value.clone();
    let value_version = u32::try_from(value_version).unwrap_or_default();
    let place = SealedFor { owner: &owner, secret: &secret, value_version };
    vault.open(&SealedBytes { key_id: KeyId::stored(key_id), wrapped_key, ciphertext }, place).is_ok()
}
