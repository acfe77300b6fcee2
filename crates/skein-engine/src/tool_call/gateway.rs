//! Opens outgoing calls: the vault that decrypts secrets, and the guarded client.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use skein_connect::guard::Guard;
use skein_connect::http::{Http, HttpOptions};
use skein_connect::vault::{KeyId, Vault, VaultError};

use crate::catalog::vault::{KeyKeeper, vault_of};
use crate::flow::Telemetry;

/// What an engine needs to reach the outside. Clones share it.
#[derive(Clone)]
pub struct Gateway(Arc<GatewayParts>);

struct GatewayParts {
    http: Http,
    keeper: Box<dyn KeyKeeper>,
    vault: RwLock<Arc<Vault>>,
    telemetry: OnceLock<Telemetry>,
}

impl Gateway {
    /// Calls under the rules of `guard`, with secrets sealed under the keys of `keeper`.
    pub fn new(keeper: Box<dyn KeyKeeper>, guard: Guard, options: HttpOptions) -> Result<Self, String> {
        let vault = RwLock::new(Arc::new(vault_of(keeper.keys()?)?));
        let telemetry = OnceLock::new();
        Ok(Self(Arc::new(GatewayParts { http: Http::new(guard, options), keeper, vault, telemetry })))
    }

    /// Has runs told from now on; whoever is told first stays the one.
    #[must_use]
    pub fn telling(self, telemetry: Option<Telemetry>) -> Self {
        if let Some(telemetry) = telemetry {
            let _ = self.0.telemetry.set(telemetry);
        }
        self
    }

    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.get()
    }

    pub(crate) fn guard(&self) -> &Guard {
        self.0.http.guard()
    }

    pub(crate) fn http(&self) -> &Http {
        &self.0.http
    }

    pub(crate) fn vault(&self) -> Arc<Vault> {
        Arc::clone(&self.0.vault.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where keys are kept.
    pub(crate) fn keeper(&self) -> &dyn KeyKeeper {
        &*self.0.keeper
    }

    /// Reads the keys again: another server may have made one. Nobody gets older keys after newer ones.
    pub(crate) fn reload_keys(&self) -> Result<Arc<Vault>, String> {
        let mut held = self.0.vault.write().unwrap_or_else(PoisonError::into_inner);
        let vault = Arc::new(vault_of(self.0.keeper.keys()?)?);
        *held = Arc::clone(&vault);
        Ok(vault)
    }

    /// The vault that seals with `key`; with the first of the keys where none is named.
    pub(crate) fn vault_sealing_with(&self, key: Option<KeyId>) -> Result<Arc<Vault>, VaultError> {
        let vault = self.vault();
        let Some(key) = key.filter(|key| vault.current_key() != *key) else { return Ok(vault) };
        let again = || self.reload_keys().ok().and_then(|vault| vault.sealing_with(&key));
        let vault = vault.sealing_with(&key).or_else(again);
        vault.map(Arc::new).ok_or_else(|| VaultError::UnknownKey(key.to_string()))
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outside(…)")
    }
}
