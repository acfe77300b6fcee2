//! The way out: the vault that opens secrets, and the guarded client that every call goes through.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use skein_connect::guard::Guard;
use skein_connect::http::{Http, HttpOptions};
use skein_connect::vault::{MasterKey, Vault};

use crate::catalog::vault::{KeyKeeper, vault_of};
use crate::flow::Telemetry;

/// What an engine needs to reach the outside. Clones share it.
#[derive(Clone)]
pub struct Outside(Arc<Parts>);

struct Parts {
    http: Http,
    keeper: Box<dyn KeyKeeper>,
    vault: RwLock<Arc<Vault>>,
    telemetry: OnceLock<Telemetry>,
}

impl Outside {
    /// Calls under the rules of `guard`, with secrets sealed under the keys of `keeper`.
    pub fn new(keeper: Box<dyn KeyKeeper>, guard: Guard, options: HttpOptions) -> Result<Self, String> {
        let vault = RwLock::new(Arc::new(vault_of(keeper.keys()?)?));
        let telemetry = OnceLock::new();
        Ok(Self(Arc::new(Parts { http: Http::new(guard, options), keeper, vault, telemetry })))
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

    /// Looks at the keys again: another server may have made one.
    pub(crate) fn reload_keys(&self) -> Result<Arc<Vault>, String> {
        self.take(self.0.keeper.keys()?)
    }

    /// Has a fresh key made and seals with it from now on.
    pub(crate) fn renew_keys(&self) -> Result<Arc<Vault>, String> {
        self.take(self.0.keeper.renew()?)
    }

    /// Forgets all keys but the current one and the one before it.
    pub(crate) fn retire_keys(&self) -> Result<Arc<Vault>, String> {
        self.take(self.0.keeper.retire_older()?)
    }

    fn take(&self, keys: Vec<MasterKey>) -> Result<Arc<Vault>, String> {
        let vault = Arc::new(vault_of(keys)?);
        *self.0.vault.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&vault);
        Ok(vault)
    }
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outside(…)")
    }
}
